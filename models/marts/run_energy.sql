/*
description: >
  One row per run whose GPUs were sampled: power and energy at the boards of its GPUs; host, network and cooling are not
  in it. Energy is stated twice, by the GPUs' own counters and by integrating their sampled power; each only if all GPUs
  that were sampled have it. Of several series of a GPU the one that covers most of the run counts. Per token and per
  sample is mean power over the run's own rate, where the run states one.
grain: [run_id]
columns:
  run_id: {tests: [not_null]}
  boundary: {type: varchar, description: "What the energy is of", tests: [not_null, {accepted_values: [gpu boards]}]}
  sampled_gpu_count: {type: bigint, description: "GPUs with samples", tests: [not_null]}
  gpu_count: {type: bigint, description: "GPUs of the run, by its hardware; NULL: not stated"}
  is_complete: {type: boolean, description: "Whether all GPUs of the run were sampled, and their samples cover it; NULL: their number is not stated"}
  gpu_power_w: {type: double, unit: W, description: "Mean power over the covered time, of all sampled GPUs together"}
  energy_by_counter_j: {type: double, unit: J, description: "Increase of the GPUs' energy counters between samples of the run"}
  energy_by_integration_j: {type: double, unit: J, description: "Integral of their sampled power over the covered time"}
  counter_to_integration_ratio: {type: double, description: "Mean power by the counters over that by the samples: 1 if they agree. The energies themselves are of different times: a counter says nothing of the time before its first sample in the run"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Of a served run with one load"}
  energy_per_output_token_j: {type: double, unit: J, description: "gpu_power_w / output_token_throughput_per_s; NULL unless all GPUs were sampled"}
  samples_per_s: {type: double, unit: samples/s, description: "Of a training run with one scale point"}
  energy_per_sample_j: {type: double, unit: J, description: "gpu_power_w / samples_per_s; NULL unless all GPUs were sampled"}
*/
-- Exporters name the pod on a GPU, so that its series ends and another begins when a pod comes or goes. The one that covers most counts.
with best as (
    select
        run_id,
        coalesce(gpu_uuid, scope_name) as gpu,
        metric,
        value_mean,
        value_integral,
        value_delta,
        counted_s,
        is_supported
    from telemetry_slice_fact
    where
        metric in ('gpu_power_w', 'gpu_energy_j')
        and scope = 'gpu'
        and window_kind = 'run'
        and is_ambiguous is not true
    qualify
        row_number() over (
            partition by
                run_id,
                coalesce(gpu_uuid, scope_name),
                metric
            order by
                coverage_pct desc nulls last,
                value_mean desc nulls last,
                value_delta desc nulls last,
                artifact_manifest_digest,
                series_number
        ) = 1
),

of_gpu as (
    select
        run_id,
        gpu,
        max(value_mean) filter (where metric = 'gpu_power_w') as power_w,
        max(value_integral) filter (where metric = 'gpu_power_w') as integrated_j,
        max(value_delta) filter (where metric = 'gpu_energy_j') as counted_j,
        max(value_delta / nullif(counted_s, 0)) filter (where metric = 'gpu_energy_j') as counted_w,
        bool_and(coalesce(is_supported, true)) as is_supported
    from best
    group by
        run_id,
        gpu
),

of_run as (
    select
        run_id,
        count(*) as sampled_gpu_count,
        bool_and(is_supported) as is_supported,
        if(count(power_w) = count(*), sum(power_w), null) as gpu_power_w,
        if(count(counted_j) = count(*), sum(counted_j), null) as energy_by_counter_j,
        if(count(counted_w) = count(*), sum(counted_w), null) as counter_power_w,
        if(count(integrated_j) = count(*), sum(integrated_j), null) as energy_by_integration_j
    from of_gpu
    group by run_id
),

served as (
    select
        run_id,
        max(output_token_throughput_per_s) as output_token_throughput_per_s
    from serving_outcome_fact
    group by run_id
    having count(*) = 1
),

trained as (
    select
        run_id,
        max(samples_per_s) as samples_per_s
    from training_outcome_fact
    where samples_per_s is not null
    group by run_id
    having count(*) = 1
),

placed as (
    select
        of_run.*,
        hardware.gpu_count,
        of_run.is_supported and of_run.sampled_gpu_count = hardware.gpu_count as is_complete
    from of_run
    inner join benchmark_run_fact as run
        on run.run_id = of_run.run_id
    left join hardware_topology_dim as hardware
        on hardware.hardware_topology_key = run.hardware_topology_key
)

select
    placed.run_id,
    'gpu boards' as boundary,
    placed.sampled_gpu_count,
    placed.gpu_count,
    placed.is_complete,
    placed.gpu_power_w,
    placed.energy_by_counter_j,
    placed.energy_by_integration_j,
    placed.counter_power_w / nullif(placed.gpu_power_w, 0) as counter_to_integration_ratio,
    served.output_token_throughput_per_s,
    if(placed.is_complete, placed.gpu_power_w / nullif(served.output_token_throughput_per_s, 0), null) as energy_per_output_token_j,
    trained.samples_per_s,
    if(placed.is_complete, placed.gpu_power_w / nullif(trained.samples_per_s, 0), null) as energy_per_sample_j
from placed
left join served
    on served.run_id = placed.run_id
left join trained
    on trained.run_id = placed.run_id
