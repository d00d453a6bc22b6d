/*
description: >
  One row per run: the benchmarks that have results. The results do not state the settings with which they ran.
grain: [run_id, artifact_manifest_digest]
feeds: workload
*/
select
    run_id,
    artifact_manifest_digest,
    workload_spec_digest,
    workload_document,
    'superbench' as model,
    'superbench' as protocol
from superbench_run
