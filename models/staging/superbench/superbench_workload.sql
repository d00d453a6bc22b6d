/*
description: One row per run, the benchmarks that have results. With which settings they ran no result says.
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
