/*
description: >
  One row per run with GPUs and known times: the GPU-hours that it took, and what became of them. Idle are intervals in which a
  GPU's utilisation never exceeded the policy's bound. Throttled is the reason with the most time of each GPU, so a lower bound.
  Waiting is what its GPUs would have given while the run waited for them. What was not sampled is NULL.
grain: [run_id]
columns:
  run_id: {tests: [not_null]}
  gpu_count: {type: bigint, description: "GPUs, by the run's hardware; else those that were sampled", tests: [not_null]}
  allocated_gpu_hours: {type: double, unit: h, description: "GPUs * time from start to end", tests: [not_null]}
  failed_gpu_hours: {type: double, unit: h, description: "The same, if the run failed, was interrupted or is invalid; else 0", tests: [not_null]}
  sampled_gpu_hours: {type: double, unit: h, description: "Intervals in which the utilisation of a GPU was sampled"}
  idle_gpu_hours: {type: double, unit: h, description: "Those in which it was idle"}
  throttled_gpu_hours: {type: double, unit: h, description: "Time in which a GPU's clocks were held back"}
  waiting_gpu_hours: {type: double, unit: h, description: "GPUs * time in the queue and until admission"}
*/
with sampled as (
    select
        run_id,
        count(distinct coalesce(gpu_uuid, scope_name)) as gpu_count
    from telemetry_slice_fact
    where
        scope = 'gpu'
        and is_ambiguous is not true
    group by run_id
),

-- A GPU may have several series: of two servers or exporters, or of one that names the pod on it.
in_interval as (
    select
        run_id,
        coalesce(gpu_uuid, scope_name) as gpu,
        window_start,
        max(duration_s) as duration_s,
        max(value_max) as value_max
    from telemetry_slice_fact
    where
        metric = 'gpu_util_pct'
        and scope = 'gpu'
        and window_kind = 'interval'
        and sample_count > 0
        and duration_s is not null
        and is_ambiguous is not true
    group by
        run_id,
        coalesce(gpu_uuid, scope_name),
        window_start
),

utilised as (
    select
        in_interval.run_id,
        sum(in_interval.duration_s order by in_interval.duration_s) / 3600 as sampled_gpu_hours,
        coalesce(
            sum(in_interval.duration_s order by in_interval.duration_s) filter (where in_interval.value_max <= policy.idle_below_pct), 0
        ) / 3600 as idle_gpu_hours
    from in_interval
    cross join telemetry_policy as policy
    group by in_interval.run_id
),

held_back as (
    select
        run_id,
        sum(throttled_s order by throttled_s) / 3600 as throttled_gpu_hours
    from (
        select
            run_id,
            scope_name,
            max(throttled_s) as throttled_s
        from gpu_throttling
        where is_ambiguous is not true
        group by
            run_id,
            scope_name
    ) as of_gpu
    group by run_id
),

timed as (
    select
        run.run_id,
        run.status,
        coalesce(hardware.gpu_count, sampled.gpu_count) as gpu_count,
        (epoch_us(run.ended_at) - epoch_us(run.started_at)) / 3.6e9 as hours,
        coalesce(run.admission_wait_s, run.queue_wait_s) as waited_s,
        utilised.sampled_gpu_hours,
        utilised.idle_gpu_hours,
        held_back.throttled_gpu_hours
    from benchmark_run_fact as run
    left join hardware_topology_dim as hardware
        on hardware.hardware_topology_key = run.hardware_topology_key
    left join sampled
        on sampled.run_id = run.run_id
    left join utilised
        on utilised.run_id = run.run_id
    left join held_back
        on held_back.run_id = run.run_id
    where
        run.started_at is not null
        and run.ended_at >= run.started_at
)

select
    run_id,
    gpu_count,
    gpu_count * hours as allocated_gpu_hours,
    if(status in ('failed', 'interrupted', 'invalid'), gpu_count * hours, 0) as failed_gpu_hours,
    sampled_gpu_hours,
    idle_gpu_hours,
    throttled_gpu_hours,
    gpu_count * waited_s / 3600 as waiting_gpu_hours
from timed
where gpu_count > 0
