/*
description: >
  One row per run that tests collectives: for each collective the lowest average bus bandwidth of its tests in the run, as the tool states it.
  Tests that failed or were waived do not count. Only performance runs that count have rows, and no run that was filed twice.
materialized: view
role: hot_metrics
grain: [run_id]
columns:
  all_reduce_bus_bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Average bus bandwidth of the all-reduce tests; the lowest of the run"}
  all_gather_bus_bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Average bus bandwidth of the all-gather tests; the lowest of the run"}
  reduce_scatter_bus_bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Average bus bandwidth of the reduce-scatter tests; the lowest of the run"}
  alltoall_bus_bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Average bus bandwidth of the all-to-all tests; the lowest of the run"}
  broadcast_bus_bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Average bus bandwidth of the broadcast tests; the lowest of the run"}
  sendrecv_bus_bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Average bus bandwidth of the send-receive tests; the lowest of the run"}
*/
with tested as (
    select
        run_id,
        -- all_reduce_perf, AllReduce and all-reduce are one collective; all_reduce_bias_perf is another.
        regexp_replace(regexp_replace(lower(test), '_perf$', ''), '[^a-z]', '', 'g') as collective,
        avg_bus_bandwidth_gb_per_s
    from fabric_outcome_fact
    where
        scope = 'test'
        and status not in ('failed', 'waived')
        and avg_bus_bandwidth_gb_per_s is not null
)

select
    run_label.*,
    min(tested.avg_bus_bandwidth_gb_per_s) filter (tested.collective = 'allreduce') as all_reduce_bus_bandwidth_gb_per_s,
    min(tested.avg_bus_bandwidth_gb_per_s) filter (tested.collective = 'allgather') as all_gather_bus_bandwidth_gb_per_s,
    min(tested.avg_bus_bandwidth_gb_per_s) filter (tested.collective = 'reducescatter') as reduce_scatter_bus_bandwidth_gb_per_s,
    min(tested.avg_bus_bandwidth_gb_per_s) filter (tested.collective = 'alltoall') as alltoall_bus_bandwidth_gb_per_s,
    min(tested.avg_bus_bandwidth_gb_per_s) filter (tested.collective = 'broadcast') as broadcast_bus_bandwidth_gb_per_s,
    min(tested.avg_bus_bandwidth_gb_per_s) filter (tested.collective = 'sendrecv') as sendrecv_bus_bandwidth_gb_per_s
from tested
inner join run_replicate
    on run_replicate.run_id = tested.run_id
inner join run_label
    on run_label.run_id = tested.run_id
where run_replicate.copy_of is null
group by all
