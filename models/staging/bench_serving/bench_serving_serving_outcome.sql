/*
description: >
  One row per run of vLLM's client or a fork, at its only workload point. If no request was completed, nothing was
  measured, and everything is NULL except the counts and the error rate; that rate is 1 whether or not failures were
  counted. InferenceX's own records state throughput per accelerator, and output throughput per decoding accelerator
  if a deployment separates prefill and decode. Their power is used if they state that it is valid; earlier versions
  averaged readings of unknown completeness, and do not.
grain: [run_id, artifact_manifest_digest]
feeds: serving_outcome
*/
with metric as (
    select
        run_id,
        artifact_manifest_digest,
        completed_count,
        failed_count,
        case when completed_count > 0 or completed_count is null then ttft_mean_ms end as ttft_mean_ms,
        case when completed_count > 0 or completed_count is null then ttft_p50_ms end as ttft_p50_ms,
        case when completed_count > 0 or completed_count is null then ttft_p90_ms end as ttft_p90_ms,
        case when completed_count > 0 or completed_count is null then ttft_p95_ms end as ttft_p95_ms,
        case when completed_count > 0 or completed_count is null then ttft_p99_ms end as ttft_p99_ms,
        case when completed_count > 0 or completed_count is null then tpot_mean_ms end as tpot_mean_ms,
        case when completed_count > 0 or completed_count is null then tpot_p50_ms end as tpot_p50_ms,
        case when completed_count > 0 or completed_count is null then tpot_p90_ms end as tpot_p90_ms,
        case when completed_count > 0 or completed_count is null then tpot_p95_ms end as tpot_p95_ms,
        case when completed_count > 0 or completed_count is null then tpot_p99_ms end as tpot_p99_ms,
        case when completed_count > 0 or completed_count is null then itl_mean_ms end as itl_mean_ms,
        case when completed_count > 0 or completed_count is null then itl_p50_ms end as itl_p50_ms,
        case when completed_count > 0 or completed_count is null then itl_p90_ms end as itl_p90_ms,
        case when completed_count > 0 or completed_count is null then itl_p95_ms end as itl_p95_ms,
        case when completed_count > 0 or completed_count is null then itl_p99_ms end as itl_p99_ms,
        case when completed_count > 0 or completed_count is null then e2e_mean_ms end as e2e_mean_ms,
        case when completed_count > 0 or completed_count is null then e2e_p50_ms end as e2e_p50_ms,
        case when completed_count > 0 or completed_count is null then e2e_p90_ms end as e2e_p90_ms,
        case when completed_count > 0 or completed_count is null then e2e_p95_ms end as e2e_p95_ms,
        case when completed_count > 0 or completed_count is null then e2e_p99_ms end as e2e_p99_ms,
        case when completed_count > 0 or completed_count is null then request_throughput_per_s end as request_throughput_per_s,
        case when completed_count > 0 or completed_count is null then output_token_throughput_per_s end as output_token_throughput_per_s,
        case when completed_count > 0 or completed_count is null then total_token_throughput_per_s end as total_token_throughput_per_s,
        case when completed_count > 0 or completed_count is null then input_token_throughput_per_s end as input_token_throughput_per_s,
        case when coalesce(itl_mean_ms, itl_p50_ms, itl_p99_ms) is not null and (completed_count > 0 or completed_count is null) then itl_std_ms end as jitter_ms,
        case when completed_count > 0 or completed_count is null then real_time_factor_mean end as real_time_factor_mean,
        case when completed_count > 0 or completed_count is null then audio_throughput_s_per_s end as audio_throughput_s_per_s,
        case when completed_count > 0 or completed_count is null then stated_latencies end as stated_latencies,
        case when completed_count > 0 or completed_count is null then speculative_acceptance_pct end as speculative_acceptance_pct,
        case when completed_count > 0 or completed_count is null then speculative_acceptance_length end as speculative_acceptance_length,
        case when is_power_valid then accelerator_power_w end as accelerator_power_w,
        case when is_power_valid then accelerator_energy_per_input_token_j end as accelerator_energy_per_input_token_j,
        case when is_power_valid then accelerator_energy_per_output_token_j end as accelerator_energy_per_output_token_j,
        case when is_power_valid then accelerator_energy_per_total_token_j end as accelerator_energy_per_total_token_j,
        case when is_power_valid then prefill_accelerator_energy_per_input_token_j end as prefill_accelerator_energy_per_input_token_j,
        case when is_power_valid then decode_accelerator_energy_per_output_token_j end as decode_accelerator_energy_per_output_token_j,
        output_token_throughput_per_accelerator,
        total_token_throughput_per_accelerator
    from bench_serving_metric
)

select
    run.run_id,
    run.artifact_manifest_digest,
    run.workload_point,
    run.max_concurrency as concurrency_point,
    run.request_rate_per_s,
    coalesce(run.split_deployment, nullif(concat_ws(
        ' ', run.topology, 'TP' || run.tensor_parallel, 'DP' || run.data_parallel, 'PP' || run.pipeline_parallel, 'EP' || run.expert_parallel
    ), '')) as deployment_model,
    try_cast(metric.completed_count as bigint) as completed_count,
    try_cast(metric.failed_count as bigint) as failed_count,
    case
        when metric.completed_count = 0 and metric.failed_count is null and run.num_prompts > 0 then 1
        else metric.failed_count / nullif(metric.completed_count + metric.failed_count, 0)
    end as error_rate,
    metric.ttft_mean_ms,
    metric.ttft_p50_ms,
    metric.ttft_p90_ms,
    metric.ttft_p95_ms,
    metric.ttft_p99_ms,
    metric.tpot_mean_ms,
    metric.tpot_p50_ms,
    metric.tpot_p90_ms,
    metric.tpot_p95_ms,
    metric.tpot_p99_ms,
    metric.itl_mean_ms,
    metric.itl_p50_ms,
    metric.itl_p90_ms,
    metric.itl_p95_ms,
    metric.itl_p99_ms,
    metric.e2e_mean_ms,
    metric.e2e_p50_ms,
    metric.e2e_p90_ms,
    metric.e2e_p95_ms,
    metric.e2e_p99_ms,
    metric.jitter_ms,
    metric.stated_latencies,
    metric.speculative_acceptance_pct,
    metric.speculative_acceptance_length,
    metric.real_time_factor_mean,
    metric.audio_throughput_s_per_s,
    metric.accelerator_power_w,
    metric.accelerator_energy_per_input_token_j,
    metric.accelerator_energy_per_output_token_j,
    metric.accelerator_energy_per_total_token_j,
    metric.prefill_accelerator_energy_per_input_token_j,
    metric.decode_accelerator_energy_per_output_token_j,
    run.implied_accelerator_count,
    run.accelerator_count_ratio,
    metric.request_throughput_per_s,
    coalesce(
        metric.output_token_throughput_per_s,
        metric.output_token_throughput_per_accelerator * coalesce(run.decode_accelerator_count, run.accelerator_count)
    ) as output_token_throughput_per_s,
    coalesce(
        metric.total_token_throughput_per_s,
        metric.input_token_throughput_per_s + metric.output_token_throughput_per_s,
        metric.total_token_throughput_per_accelerator * run.accelerator_count
    ) as total_token_throughput_per_s
from bench_serving_run as run
inner join metric
    on
        metric.run_id = run.run_id
        and metric.artifact_manifest_digest = run.artifact_manifest_digest
