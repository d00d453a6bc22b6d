/*
description: >
  One row per log of nvidia-smi, of a node that it does not name.
feeds: node_state
*/
select
    'nvidia_smi' as source,
    written_at as observed_at,
    case when written_at is not null then true end as is_zone_assumed,
    gpu_product,
    gpu_count,
    driver as gpu_driver,
    cuda_version,
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length
from nvidia_smi_log
