/*
description: >
  One row per run and bundle that states it: a digest of the run's own files, and of the run's place in them if they
  contain several runs. Two runs with the same digest are one execution.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {tests: [not_null]}
  artifact_manifest_digest: {tests: [not_null]}
  outcome_digest: {type: varchar, description: "sha256 of the sha256 of each of its own files, in path order, and of raw_section; NULL: it has none"}
*/
with own as (
    select
        run_id,
        artifact_manifest_digest,
        string_agg(sha256, ',' order by raw_path) filter (where is_own) as files
    from run_file
    group by
        run_id,
        artifact_manifest_digest
)

select
    own.run_id,
    own.artifact_manifest_digest,
    sha256(own.files || coalesce(',' || stated.raw_section, '')) as outcome_digest
from own
inner join stated_run as stated
    on
        stated.run_id = own.run_id
        and stated.artifact_manifest_digest = own.artifact_manifest_digest
