/*
description: One row per report that names its cluster (its cid).
grain: [run_id, artifact_manifest_digest]
feeds: cluster_region
*/
select
    run_id,
    artifact_manifest_digest,
    max(value) as cluster
from llm_d_report_entry
where key = 'run/cid'
group by
    run_id,
    artifact_manifest_digest
