/*
description: >
  One row per run of a campaign of wh matrix and metric that it measured, with its cell, its session and whether it counts in the advice: the
  observations that campaign_stacks is a statistic of.
grain: [run_id, metric, point]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  metric: {type: varchar, description: "Column of a fact, or key of an indicator's result", tests: [not_null]}
  point: {type: varchar, description: "Which point of the workload; empty where a run has one", tests: [not_null]}
  campaign_key: {type: varchar, description: "The campaign, as in campaign_dim", tests: [not_null]}
  cell: {type: varchar, description: "The cell: its number in the product of the factors"}
  part: {type: varchar, description: "counted; or why the run does not count: warm-up, screening (it only chose the cells that fresh sessions confirm), replaced (its slot was run again)", tests: [not_null, {accepted_values: [counted, warm-up, screening, replaced]}]}
  session: {type: varchar, description: "The campaign's session, as its spec has them", tests: [not_null]}
  factors: {type: varchar, description: "The cell's values by factor, JSON"}
  is_baseline: {type: boolean, description: "Whether the cell is the one that the others are compared with"}
  is_added: {type: boolean, description: "Whether the run's session was added after the plan, by who had seen results"}
  unlike: {type: varchar, description: "Factors of which the run had another value than was asked for, with commas; empty: none"}
  stack_digest: {type: varchar, description: "What was installed: a digest of names, versions and hashes"}
  benchmark_case_id: {type: varchar, description: "What is measured"}
  workload: {type: varchar, description: "Digest of the frozen workload document"}
  unit: {type: varchar, description: "Unit; NULL: dimensionless, or the source states none"}
  better: {type: varchar, description: "Which direction is better: lower, higher, or neither"}
  value: {type: double, description: "The value in its unit"}
  started_at: {type: timestamptz, unit: UTC, description: "Start of the run"}
  software: {type: varchar, description: "The stack's digest, as what pins the software; NULL: not stated"}
  exit_code: {type: bigint, description: "Exit code of the command"}
  is_host_saturated: {type: boolean, description: "Whether other processes filled the host (staging.recorded_disturbance); NULL: not known"}
  is_throttled: {type: boolean, description: "Whether a CPU limit, heat or a power brake held the run back (staging.recorded_disturbance); NULL: not known"}
  options: {type: "map(varchar, varchar)", description: "The options of the command (staging.run_setting)"}
  environment: {type: "map(varchar, varchar)", description: "The environment variables that set how fast it can be"}
  limits: {type: "map(varchar, varchar)", description: "The GPUs that it could see, its CPU limit, affinity and niceness"}
*/
with confirmed as (
    select distinct campaign_key
    from campaign_cell_fact
    where
        not is_screening
        and run_id is not null
)

select
    measured.run_id,
    measured.metric,
    measured.point,
    'matrix/' || slot.campaign as campaign_key,
    slot.cell,
    case
        when slot.is_warmup then 'warm-up'
        when cell.run_id is null then 'replaced'
        when cell.is_screening and confirmed.campaign_key is not null then 'screening'
        else 'counted'
    end as part,
    'matrix/' || slot.campaign || ' session ' || slot.session as session,
    slot.factors,
    cell.is_baseline,
    cell.is_added,
    cell.unlike,
    slot.stack_digest,
    measured.benchmark_case_id,
    measured.workload,
    measured.unit,
    measured.better,
    measured.value,
    measured.started_at,
    'sha256:' || slot.stack_digest as software,
    run.exit_code,
    recorded_disturbance.is_host_saturated,
    recorded_disturbance.is_throttled,
    run_setting.options,
    run_setting.environment,
    run_setting.limits
from measurement as measured
inner join benchmark_run_fact as run
    on run.run_id = measured.run_id
left join recorded_slot as slot
    on slot.run_id = measured.run_id
left join campaign_cell_fact as cell
    on cell.run_id = measured.run_id
left join confirmed
    on confirmed.campaign_key = cell.campaign_key
left join recorded_disturbance
    on
        recorded_disturbance.run_id = run.run_id
        and recorded_disturbance.artifact_manifest_digest = run.artifact_manifest_digest
left join run_setting
    on
        run_setting.run_id = run.run_id
        and run_setting.artifact_manifest_digest = run.artifact_manifest_digest
-- Not an inner join: the claim of campaign_stacks names this clause, because runs outside campaigns may be of the same work.
where slot.run_id is not null
