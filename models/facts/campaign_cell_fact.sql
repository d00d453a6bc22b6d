/*
description: >
  One row per run that a campaign of wh matrix was to have, whether it had it or not: cell, session and repeat, with its run and how it ended. A cell
  whose stack could not be resolved or built has its rows with the reason. Warm-up runs are not here.
grain: [campaign_key, cell, session, repeat]
columns:
  campaign_key: {type: varchar, description: "The campaign, as in campaign_dim", tests: [not_null]}
  cell: {type: varchar, description: "The cell: its number in the product of the factors", tests: [not_null]}
  session: {type: bigint, description: "The session, from 1", tests: [not_null]}
  is_screening: {type: boolean, description: "Whether the run only chose the cells that later sessions confirm", tests: [not_null]}
  repeat: {type: bigint, description: "The run of the cell in its session, from 1", tests: [not_null]}
  factors: {type: varchar, description: "The cell's values by factor, JSON"}
  is_added: {type: boolean, description: "Whether its session was added after the plan, by who had seen its results", tests: [not_null]}
  is_baseline: {type: boolean, description: "Whether the cell is the one that the others are compared with"}
  run_id: {type: varchar, description: "Its run; NULL: it has none"}
  effective: {type: varchar, description: "What the run had of each factor by its recording, JSON: beside factors, which has what was asked for; null: not known"}
  unlike: {type: varchar, description: "Factors of which the run had another value than was asked for, with commas; empty: none; NULL: no run"}
  status: {type: varchar, description: "How it ended", tests: [not_null, {accepted_values: [succeeded, failed, interrupted, unknown, not resolved, not built, missing]}]}
  status_reason: {type: varchar, description: "Why it did not succeed: a limit, an exit code, the last lines of uv"}
  stack_digest: {type: varchar, description: "What was installed: a digest of names, versions and hashes"}
  limit_mechanisms: {type: varchar, description: "What held each limit, JSON"}
  nodes: {type: varchar, description: "The nodes that recorded it, of a run that a launcher started on several, with commas; NULL: it ran on one"}
  artifact_manifest_digest: {type: varchar, description: "The campaign's evidence bundle", tests: [not_null]}
*/
with campaign as (
    select *
    from matrix_campaign
    qualify row_number() over (partition by campaign_id order by artifact_manifest_digest) = 1
),

stack as (
    select *
    from matrix_stack
    qualify row_number() over (partition by campaign_id, stack order by stack_digest nulls last, artifact_manifest_digest) = 1
),

choice as (
    select *
    from matrix_choice
    qualify row_number() over (partition by campaign_id, session, cell order by artifact_manifest_digest) = 1
),

last_session as (
    select
        campaign_id,
        max(session) as number
    from matrix_choice
    group by campaign_id
),

effective as (
    select
        run_id,
        artifact_manifest_digest,
        to_json(map_from_entries(list({key: factor, value: effective} order by factor)))::varchar as effective,
        coalesce(string_agg(factor, ', ' order by factor) filter (where not is_as_requested), '') as unlike
    from matrix_effective
    group by
        run_id,
        artifact_manifest_digest
),

launched as (
    select
        run_id,
        string_agg(distinct hostname, ', ' order by hostname) as nodes,
        min('ended by its limit of ' || ended_by_limit || coalesce(' on ' || hostname, '')) as ended_by_limit
    from recorded_node
    where is_part
    group by run_id
),

slot as (
    select *
    from recorded_slot
    where not is_warmup
    qualify row_number() over (partition by campaign, slot order by attempt desc, run_id desc, artifact_manifest_digest) = 1
)

select
    'matrix/' || campaign.campaign_id as campaign_key,
    cell.cell,
    session.number as session,
    campaign.confirmation_sessions is not null and session.number <= campaign.sessions as is_screening,
    repeat.number as repeat,
    cell.factors,
    session.number > campaign.sessions + coalesce(campaign.confirmation_sessions, 0) as is_added,
    cell.is_baseline,
    slot.run_id,
    effective.effective,
    effective.unlike,
    case
        when slot.run_id is not null then coalesce(run.status, 'unknown')
        when stack.status in ('not resolved', 'not built') then stack.status
        else 'missing'
    end as status,
    nullif(concat_ws(
        ', ',
        case
            when slot.ended_by_limit is not null then 'ended by its limit of ' || slot.ended_by_limit
            when launched.ended_by_limit is not null and run.status = 'failed' then launched.ended_by_limit
            when slot.run_id is not null then run.status_reason
            when stack.status in ('not resolved', 'not built') then stack.reason
        end,
        case when slot.refused_processes > 0 and run.status = 'failed' then 'its limit of processes refused ' || slot.refused_processes end
    ), '') as status_reason,
    coalesce(slot.stack_digest, stack.stack_digest) as stack_digest,
    slot.limit_mechanisms,
    launched.nodes,
    campaign.artifact_manifest_digest
from campaign
inner join matrix_cell as cell
    on cell.artifact_manifest_digest = campaign.artifact_manifest_digest
left join last_session
    on last_session.campaign_id = campaign.campaign_id
cross join
    range(1, greatest(campaign.sessions + coalesce(campaign.confirmation_sessions, 0), coalesce(last_session.number, 0)) + 1) as session (number)
cross join range(1, campaign.repeats + 1) as repeat (number)
left join choice
    on
        choice.campaign_id = campaign.campaign_id
        and choice.cell = cell.cell
        and (
            choice.session = session.number
            or choice.session is null
            and session.number > campaign.sessions
            and session.number <= campaign.sessions + campaign.confirmation_sessions
        )
left join stack
    on
        stack.campaign_id = campaign.campaign_id
        and stack.stack = cell.stack
left join slot
    on
        slot.campaign = campaign.campaign_id
        and slot.cell = cell.cell
        and slot.session = session.number
        and slot.number = repeat.number
left join benchmark_run_fact as run
    on run.run_id = slot.run_id
left join launched
    on launched.run_id = slot.run_id
left join effective
    on
        effective.run_id = slot.run_id
        and effective.artifact_manifest_digest = slot.artifact_manifest_digest
where
    session.number <= campaign.whole_sessions
    or choice.cell is not null
