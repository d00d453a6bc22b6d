/*
description: >
  One row per run: the evidence bundle that it is read from. If several bundles state a run, the one that wh settle
  chose is taken, else the one with the most files; the order of arrival does not matter. Bundles are in conflict if
  they have different bytes under the same path or, for a run that is one file, under another name of that file;
  bundles that wh settle set aside do not count. If the chosen bundle is gone, the run is in conflict, too, because
  the others are not its evidence.
grain: [run_id]
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The bundle the run is read from", tests: [not_null]}
  bundle_count: {type: bigint, description: "How many bundles state the run", tests: [not_null]}
  has_conflict: {type: boolean, description: "Whether bundles have different bytes for a file of the run, and it is not settled which of them is its evidence", tests: [not_null]}
  settled_reason: {type: varchar, description: "Why this bundle is the evidence; NULL: nothing was settled"}
  settled_since: {type: timestamptz, unit: UTC, description: "When that was settled; NULL: nothing was settled"}
*/
with stated as (
    select
        run.run_id,
        run.raw_folder,
        bundle.artifact_manifest_digest,
        bundle.file_count,
        coalesce(settlement.is_evidence, false) as is_settled,
        coalesce(not settlement.is_evidence, false) as is_set_aside,
        settlement.reason,
        settlement.decided_at
    from stated_run as run
    inner join evidence_bundle as bundle
        on bundle.artifact_manifest_digest = run.artifact_manifest_digest
    left join run_settlement as settlement
        on
            settlement.run_id = run.run_id
            and settlement.bundle_digest = bundle.artifact_manifest_digest
),

chosen as (
    select
        run_id,
        max({'is_settled': is_settled, 'file_count': file_count, 'digest': artifact_manifest_digest}).digest
            as artifact_manifest_digest,
        count(*) as bundle_count,
        max(is_set_aside) and not max(is_settled) as lacks_evidence,
        max(case when is_settled then reason end) as settled_reason,
        max(case when is_settled then decided_at end) as settled_since
    from stated
    group by run_id
),

path as (
    select
        file.run_id,
        file.raw_path,
        count(distinct file.sha256) as contents
    from run_file as file
    inner join stated
        on
            stated.run_id = file.run_id
            and stated.artifact_manifest_digest = file.artifact_manifest_digest
    where not stated.is_set_aside
    group by
        file.run_id,
        file.raw_path
),

named as (
    select
        run_id,
        max(contents) as contents
    from path
    group by run_id
),

whole as (
    select
        stated.run_id,
        count(distinct file.sha256) as contents
    from stated
    inner join evidence_file as file
        on
            file.artifact_manifest_digest = stated.artifact_manifest_digest
            and file.raw_path = stated.raw_folder
    where not stated.is_set_aside
    group by stated.run_id
)

select
    chosen.run_id,
    chosen.artifact_manifest_digest,
    chosen.bundle_count,
    chosen.lacks_evidence or coalesce(greatest(named.contents, whole.contents) > 1, false) as has_conflict,
    chosen.settled_reason,
    chosen.settled_since
from chosen
left join named
    on named.run_id = chosen.run_id
left join whole
    on whole.run_id = chosen.run_id
