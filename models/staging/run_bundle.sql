/*
description: >
  One row per run: the evidence bundle it is read from. Of several bundles that state a run, the one that somebody settled on is
  taken, else the one with the most files; which arrived first plays no part. Bundles that hold other bytes under one path, or
  of a run that is one file under another name of that file, are in conflict, but for those that were set aside when it was settled. Where the bundle that was settled on is not there, the
  run is in conflict too: the others are not its evidence.
grain: [run_id]
columns:
  run_id: {type: varchar, description: "One execution of one benchmark case", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The bundle the run is read from", tests: [not_null]}
  bundle_count: {type: bigint, description: "How many bundles state the run", tests: [not_null]}
  has_conflict: {type: boolean, description: "Whether bundles hold different bytes for a file of the run, and nobody settled it", tests: [not_null]}
  settled_reason: {type: varchar, description: "Why this bundle is its evidence and no other; NULL: nobody settled it"}
  settled_since: {type: timestamptz, unit: UTC, description: "When that was settled; NULL: nobody settled it"}
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
    from feed.benchmark_run as run
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
