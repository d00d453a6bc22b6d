/*
description: >
  One row per report of MLPerf Endpoints: what it states. Latencies are in nanoseconds in the report, also those of
  percentiles, whose keys are 50 or 50.0. Failed requests are among the completed ones there.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  completed_count: {type: bigint, description: "Requests that succeeded"}
  failed_count: {type: bigint, description: "Requests that failed"}
  duration_s: {type: double, unit: s, description: "The tracked part of the run"}
  request_throughput_per_s: {type: double, unit: 1/s, description: "Requests that ended / duration"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens / duration"}
  state: {type: varchar, description: "complete, interrupted, or as written"}
  is_complete: {type: boolean, description: "Whether the report has all metrics; NULL where it does not say"}
  tool_version: {type: varchar, description: "Version of the load generator"}
*/
select
    run_id,
    artifact_manifest_digest,
    try_cast(coalesce(
        max(value_number) filter (where key = 'n_samples_succeeded'),
        case
            when max(value_number) filter (where key = 'n_samples_completed') >= max(value_number) filter (where key = 'n_samples_failed')
                then max(value_number) filter (where key = 'n_samples_completed') - max(value_number) filter (where key = 'n_samples_failed')
        end
    ) as bigint) as completed_count,
    try_cast(max(value_number) filter (where key = 'n_samples_failed') as bigint) as failed_count,
    max(value_number) filter (where key = 'duration_ns') / 1e9 as duration_s,
    max(value_number) filter (where key = 'qps') as request_throughput_per_s,
    max(value_number) filter (where key = 'tps') as output_token_throughput_per_s,
    max(value) filter (where key = 'state') as state,
    case max(value) filter (where key = 'complete') when 'true' then true when 'false' then false end as is_complete,
    max(value) filter (where key = 'version') as tool_version
from mlperf_endpoints_entry
group by
    run_id,
    artifact_manifest_digest
