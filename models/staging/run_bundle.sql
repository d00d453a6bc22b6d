/*
description: >
  One row per run: the evidence bundle that it is read from. If several bundles state a run, the one that wh settle
  chose is taken, else the one that states the most about it, so a file that grew replaces its earlier copies; the order
  of arrival does not matter. Bundles are in conflict if they state different values under one name
  (staging.run_statement); bundles that wh settle set aside do not count. If the chosen bundle is gone, the run is in
  conflict, too, because the others are not its evidence.
grain: [run_id]
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The bundle the run is read from", tests: [not_null]}
  bundle_count: {type: bigint, description: "How many bundles state the run", tests: [not_null]}
  has_conflict: {type: boolean, description: "Whether bundles state different values about the run, and it is not settled which of them is its evidence", tests: [not_null]}
  conflict_reason: {type: varchar, description: "Up to three of the values that differ, each with the first bundle and file that states it; NULL: none differs"}
  settled_reason: {type: varchar, description: "Why this bundle is the evidence; NULL: nothing was settled"}
  settled_since: {type: timestamptz, unit: UTC, description: "When that was settled; NULL: nothing was settled"}
*/
with extent as (
    select
        run_id,
        artifact_manifest_digest,
        count(value) as statement_count
    from run_statement
    group by
        run_id,
        artifact_manifest_digest
),

stated as (
    select
        run.run_id,
        bundle.artifact_manifest_digest,
        bundle.file_count,
        coalesce(extent.statement_count, 0) as statement_count,
        coalesce(settlement.is_evidence, false) as is_settled,
        coalesce(not settlement.is_evidence, false) as is_set_aside,
        settlement.reason,
        settlement.decided_at
    from stated_run as run
    inner join evidence_bundle as bundle
        on bundle.artifact_manifest_digest = run.artifact_manifest_digest
    left join extent
        on
            extent.run_id = run.run_id
            and extent.artifact_manifest_digest = run.artifact_manifest_digest
    left join run_settlement as settlement
        on
            settlement.run_id = run.run_id
            and settlement.bundle_digest = bundle.artifact_manifest_digest
),

chosen as (
    select
        run_id,
        max({
            'is_settled': is_settled,
            'statement_count': statement_count,
            'file_count': file_count,
            'digest': artifact_manifest_digest
        }).digest as artifact_manifest_digest,
        count(*) as bundle_count,
        max(is_set_aside) and not max(is_settled) as lacks_evidence,
        max(case when is_settled then reason end) as settled_reason,
        max(case when is_settled then decided_at end) as settled_since
    from stated
    group by run_id
),

value_stated as (
    select
        statement.run_id,
        statement.name,
        statement.value,
        min({'digest': statement.artifact_manifest_digest, 'raw_path': statement.raw_path}) as first,
        count(*) as bundle_count
    from run_statement as statement
    inner join stated
        on
            stated.run_id = statement.run_id
            and stated.artifact_manifest_digest = statement.artifact_manifest_digest
    where
        not stated.is_set_aside
        and statement.value is not null
    group by
        statement.run_id,
        statement.name,
        statement.value
),

difference as (
    select
        run_id,
        name,
        -- A digest says as much in twelve characters, and a long text in eighty.
        name || ': ' || string_agg(
            left(value, if(starts_with(value, 'sha256 '), 19, 80))
            || ' in bundle ' || left(first.digest, 12) || ', ' || first.raw_path
            || if(bundle_count > 1, ', and ' || (bundle_count - 1)::varchar || ' more', ''),
            ' or ' order by value, first.digest, first.raw_path, bundle_count
        ) as shown
    from value_stated
    group by
        run_id,
        name
    having count(*) > 1
),

numbered as (
    select
        run_id,
        shown,
        rank() over (partition by run_id order by name) as number
    from difference
),

conflict as (
    select
        run_id,
        string_agg(shown, '; ' order by number, shown) filter (where number <= 3)
        || if(count(*) > 3, '; and ' || (count(*) - 3)::varchar || ' more', '') as reason
    from numbered
    group by run_id
)

select
    chosen.run_id,
    chosen.artifact_manifest_digest,
    chosen.bundle_count,
    chosen.lacks_evidence or conflict.run_id is not null as has_conflict,
    conflict.reason as conflict_reason,
    chosen.settled_reason,
    chosen.settled_since
from chosen
left join conflict
    on conflict.run_id = chosen.run_id
