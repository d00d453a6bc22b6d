/*
description: >
  One row per run: whether its hardware was held back or its host was full of other work, so that it measured less than the machine can do.
  NULL: nothing was sampled that tells.
materialized: view
grain: [run_id]
columns:
  run_id: {tests: [not_null]}
  is_throttled: {type: boolean, description: "Whether heat or a power brake held the clocks of a GPU back for more than 1 % of the run. A power limit is how GPUs are run, and does not count"}
  is_host_saturated: {type: boolean, description: "Whether the CPUs of its host were busy for 95 % of the run or more, and processes other than its own took a tenth of them or more"}
*/
with gpu as (
    select
        run_id,
        max(share_pct) > 1 as is_throttled
    from gpu_throttling
    where
        reason in ('hardware_thermal', 'software_thermal', 'thermal', 'power_brake')
        and coalesce(is_supported, true)
        and not coalesce(is_ambiguous, false)
    group by run_id
),

host as (
    select
        run.run_id,
        max(node.value_mean) >= 95
        and max(node.value_mean) / 100 - max((run.user_cpu_s + run.system_cpu_s) / run.duration_s / hardware.cpu_logical_count) >= 0.1
            as is_host_saturated
    from benchmark_run_fact as run
    inner join telemetry_slice_fact as node
        on
            node.run_id = run.run_id
            and node.metric = 'cpu_util_pct'
            and node.scope = 'node'
            and node.window_kind = 'run'
    inner join hardware_topology_dim as hardware
        on hardware.hardware_topology_key = run.hardware_topology_key
    where
        run.duration_s > 0
        and hardware.cpu_logical_count > 0
    group by run.run_id
)

select
    run.run_id,
    gpu.is_throttled,
    host.is_host_saturated
from benchmark_run_fact as run
left join gpu
    on gpu.run_id = run.run_id
left join host
    on host.run_id = run.run_id
