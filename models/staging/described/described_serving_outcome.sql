/*
description: >
  One row per run of a described format that states what a client of a served model saw.
grain: [run_id, artifact_manifest_digest]
feeds: serving_outcome
*/
select
    value.run_id,
    value.artifact_manifest_digest,
    coalesce(min(run.serving_point), 'all') as workload_point,
    try_cast(max(value.value_number) filter (where value.key = 'concurrency_point') as bigint) as concurrency_point,
    max(value.value_number) filter (where value.key = 'request_rate_per_s') as request_rate_per_s,
    try_cast(max(value.value_number) filter (where value.key = 'completed_count') as bigint) as completed_count,
    try_cast(max(value.value_number) filter (where value.key = 'failed_count') as bigint) as failed_count,
    max(value.value_number) filter (where value.key = 'ttft_mean_ms') as ttft_mean_ms,
    max(value.value_number) filter (where value.key = 'ttft_p50_ms') as ttft_p50_ms,
    max(value.value_number) filter (where value.key = 'ttft_p90_ms') as ttft_p90_ms,
    max(value.value_number) filter (where value.key = 'ttft_p95_ms') as ttft_p95_ms,
    max(value.value_number) filter (where value.key = 'ttft_p99_ms') as ttft_p99_ms,
    max(value.value_number) filter (where value.key = 'tpot_mean_ms') as tpot_mean_ms,
    max(value.value_number) filter (where value.key = 'tpot_p50_ms') as tpot_p50_ms,
    max(value.value_number) filter (where value.key = 'tpot_p90_ms') as tpot_p90_ms,
    max(value.value_number) filter (where value.key = 'tpot_p95_ms') as tpot_p95_ms,
    max(value.value_number) filter (where value.key = 'tpot_p99_ms') as tpot_p99_ms,
    max(value.value_number) filter (where value.key = 'itl_mean_ms') as itl_mean_ms,
    max(value.value_number) filter (where value.key = 'itl_p50_ms') as itl_p50_ms,
    max(value.value_number) filter (where value.key = 'itl_p90_ms') as itl_p90_ms,
    max(value.value_number) filter (where value.key = 'itl_p95_ms') as itl_p95_ms,
    max(value.value_number) filter (where value.key = 'itl_p99_ms') as itl_p99_ms,
    max(value.value_number) filter (where value.key = 'e2e_mean_ms') as e2e_mean_ms,
    max(value.value_number) filter (where value.key = 'e2e_p50_ms') as e2e_p50_ms,
    max(value.value_number) filter (where value.key = 'e2e_p90_ms') as e2e_p90_ms,
    max(value.value_number) filter (where value.key = 'e2e_p95_ms') as e2e_p95_ms,
    max(value.value_number) filter (where value.key = 'e2e_p99_ms') as e2e_p99_ms,
    max(value.value_number) filter (where value.key = 'request_throughput_per_s') as request_throughput_per_s,
    max(value.value_number) filter (where value.key = 'sample_throughput_per_s') as sample_throughput_per_s,
    max(value.value_number) filter (where value.key = 'output_token_throughput_per_s') as output_token_throughput_per_s,
    max(value.value_number) filter (where value.key = 'total_token_throughput_per_s') as total_token_throughput_per_s,
    max(value.value_number) filter (where value.key = 'queueing_delay_ms') as queueing_delay_ms,
    max(value.value_number) filter (where value.key = 'jitter_ms') as jitter_ms,
    max(value.value_number) filter (where value.key = 'speculative_acceptance_pct') as speculative_acceptance_pct,
    max(value.value_number) filter (where value.key = 'speculative_acceptance_length') as speculative_acceptance_length,
    case
        when
            max(value.value_number) filter (where value.key = 'completed_count') >= 0
            and max(value.value_number) filter (where value.key = 'failed_count') >= 0
            then
                max(value.value_number) filter (where value.key = 'failed_count')
                / nullif(
                    max(value.value_number) filter (where value.key = 'completed_count')
                    + max(value.value_number) filter (where value.key = 'failed_count'), 0
                )
    end as error_rate
from described_value as value
inner join described_run as run
    on
        run.run_id = value.run_id
        and run.artifact_manifest_digest = value.artifact_manifest_digest
where value.kind = 'serving'
group by
    value.run_id,
    value.artifact_manifest_digest
