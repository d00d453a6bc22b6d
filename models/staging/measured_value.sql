/*
description: >
  One row per run, indicator, metric and point of the facts: its value as a finite number, and the unit and the better direction that its source
  states. What it is a measurement of, mart.measurement says.
grain: [run_id, indicator, metric, point]
columns:
  run_id: {tests: [not_null]}
  indicator: {type: varchar, description: "What measured: serving, training, a fabric tool, or the indicator's name", tests: [not_null]}
  metric: {type: varchar, description: "Column of a fact, or key of an indicator's result", tests: [not_null]}
  point: {type: varchar, description: "Which point of the workload: scenario and load, scale, or test; empty where a run has one", tests: [not_null]}
  value: {type: double, description: "The value; of several tests of the same point in one run, the median", tests: [not_null]}
  stated_unit: {type: varchar, description: "Unit that the source states; NULL: none"}
  stated_better: {type: varchar, description: "Better direction that the source states; NULL: none"}
*/
with serving as (
    select
        run_id,
        'serving' as indicator,
        concat_ws(' ', workload_point, 'concurrency ' || concurrency_point, 'rate ' || request_rate_per_s) as point,
        metric,
        value
    from serving_outcome_fact
    unpivot (value for metric in (
        ttft_mean_ms, ttft_p50_ms, ttft_p90_ms, ttft_p95_ms, ttft_p99_ms,
        tpot_mean_ms, tpot_p50_ms, tpot_p90_ms, tpot_p95_ms, tpot_p99_ms,
        itl_mean_ms, itl_p50_ms, itl_p90_ms, itl_p95_ms, itl_p99_ms,
        e2e_mean_ms, e2e_p50_ms, e2e_p90_ms, e2e_p95_ms, e2e_p99_ms,
        jitter_ms, early_stopping_latency_ms, queueing_delay_ms, error_rate,
        request_throughput_per_s, sample_throughput_per_s, output_token_throughput_per_s, total_token_throughput_per_s,
        speculative_acceptance_pct, speculative_acceptance_length, audio_throughput_s_per_s, real_time_factor_mean, power_w, energy_per_query_mj,
        accelerator_power_w, accelerator_energy_per_output_token_j
    ))
),

training as (
    select
        run_id,
        'training' as indicator,
        concat_ws(' ', phase, 'nodes ' || node_count, 'accelerators ' || accelerator_count) as point,
        metric,
        value
    from training_outcome_fact
    unpivot (value for metric in (
        duration_s, time_to_train_s, step_time_mean_s, step_time_p50_s, step_time_p95_s, step_time_p99_s,
        samples_per_s, tokens_per_s, mfu_pct, quality
    ))
),

-- A rank repeats its test's figures, and the sizes of a message are averaged in those of their test.
fabric as (
    select
        run_id,
        tool as indicator,
        concat_ws(
            ' ', coalesce(test, tool), case when scope <> 'test' then scope end, scope_name, placement, direction,
            'message ' || message_bytes, 'nodes ' || node_count, 'ranks ' || rank_count, latency_kind
        ) as point,
        metric,
        value
    from fabric_outcome_fact
    unpivot (value for metric in (
        avg_bus_bandwidth_gb_per_s, peak_bus_bandwidth_gb_per_s, bandwidth_gb_per_s, rank_bandwidth_gb_per_s, message_rate_per_s,
        latency_mean_us, latency_p50_us, latency_p99_us, io_per_s, gflop_per_s, temperature_c, power_w
    ))
    where scope <> 'rank'
),

measured as (
    select *
    from serving
    union all by name
    select * from training
    union all by name
    select * from fabric
    union all by name
    select
        run_id,
        indicator,
        coalesce(component, '') as point,
        key as metric,
        value_number as value,
        unit as stated_unit,
        better as stated_better
    from performance_indicator_fact
    where
        kind in ('result', 'score')
        and value_number is not null
)

select
    run_id,
    indicator,
    metric,
    point,
    median(value) as value,
    min(stated_unit) as stated_unit,
    min(stated_better) as stated_better
from measured
where isfinite(value)
group by
    run_id,
    indicator,
    metric,
    point
