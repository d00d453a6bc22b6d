/*
description: >
  One row per performance run. The early-stopping latency has the percentile of the scenario that was run, whichever
  folder it is in: p90 for SingleStream (in MLPerf Automotive p99.9) and p99 for MultiStream. It is NULL if the load generator estimated token
  latencies instead.
grain: [run_id, artifact_manifest_digest]
feeds: serving_outcome
*/
with whole_system as (
    select
        run_id,
        artifact_manifest_digest,
        power_w,
        epoch_us(window_end) - epoch_us(window_start) as window_us
    from mlperf_inference_power
    where channel is null
)

select
    run.run_id,
    run.artifact_manifest_digest,
    run.scenario as workload_point,
    case when run.scenario in ('Server', 'Interactive', 'ConstantStream') then metric.target_qps end as request_rate_per_s,
    try_cast(metric.query_count as bigint) as completed_count,
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
    metric.e2e_mean_ms,
    metric.e2e_p50_ms,
    metric.e2e_p90_ms,
    metric.e2e_p95_ms,
    metric.e2e_p99_ms,
    case
        when metric.has_token_early_stopping then null
        when coalesce(run.logged_scenario, run.scenario) = 'SingleStream' then metric.early_stopping_single_ms
        when coalesce(run.logged_scenario, run.scenario) = 'MultiStream' then metric.early_stopping_p99_ms
    end as early_stopping_latency_ms,
    metric.sample_throughput_per_s,
    coalesce(metric.token_throughput_per_s, metric.inferred_token_throughput_per_s) as output_token_throughput_per_s,
    case
        when metric.token_throughput_per_s is not null then false
        when metric.inferred_token_throughput_per_s is not null then true
    end as is_token_throughput_inferred,
    power.power_w,
    power.power_w * power.window_us / 1000 / metric.query_count as energy_per_query_mj
from mlperf_inference_run as run
inner join mlperf_inference_metric as metric
    on
        metric.run_id = run.run_id
        and metric.artifact_manifest_digest = run.artifact_manifest_digest
left join whole_system as power
    on
        power.run_id = run.run_id
        and power.artifact_manifest_digest = run.artifact_manifest_digest
where run.mode in ('performance', 'ranging')
