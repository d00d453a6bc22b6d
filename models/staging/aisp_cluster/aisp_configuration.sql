/*
description: >
  One row per test of a cluster run that serves a model: sizes and lengths that all of its points share.
grain: [run_id, artifact_manifest_digest]
feeds: serving_configuration
*/
select
    run_id,
    artifact_manifest_digest,
    if(count(distinct tensor_parallel) = 1, min(tensor_parallel), null) as tensor_parallel_size,
    if(count(distinct input_length) = 1, min(input_length), null) as input_length,
    if(count(distinct output_length) = 1, min(output_length), null) as output_length,
    'record' as stated_in
from aisp_serving_point
group by
    run_id,
    artifact_manifest_digest
