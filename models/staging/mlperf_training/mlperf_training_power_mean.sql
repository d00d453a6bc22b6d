/*
description: >
  One row per run and bundle with power logs: the mean power of all its nodes and switches. Of a node it is that of its
  readings between start and stop of the measurement, each over the time since the one before, times the efficiency of the conversion that the
  log states; of a switch its estimate. Source: mlcommons/logging, result_summarizer.py (_compute_power_node,
  _compute_power_sw). NULL if a log has no start, or no log is of a node.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  power_w: {type: double, unit: W, description: "Mean power"}
*/
with meter as (
    select
        run_id,
        artifact_manifest_digest,
        device,
        is_switch,
        min(time_ms) filter (where key = 'power_measurement_start') as start_ms,
        min(time_ms) filter (where key = 'power_measurement_stop') as stop_ms,
        arg_max(value_number, line_number) filter (where key = 'conversion_eff') as efficiency,
        arg_min(value_number, line_number) filter (where key = 'interconnect_power_est') as estimate_w
    from mlperf_training_power
    where run_id is not null
    group by
        run_id,
        artifact_manifest_digest,
        device,
        is_switch
),

reading as (
    select
        power.run_id,
        power.artifact_manifest_digest,
        power.device,
        power.time_ms,
        power.value_number * (
            power.time_ms - lag(power.time_ms, 1, meter.start_ms) over (
                partition by power.run_id, power.artifact_manifest_digest, power.device
                order by power.time_ms, power.line_number
            )
        ) as power_w_ms
    from mlperf_training_power as power
    inner join meter
        on
            meter.run_id = power.run_id
            and meter.artifact_manifest_digest = power.artifact_manifest_digest
            and meter.device = power.device
    where
        power.key = 'power_reading'
        and power.value_number is not null
        and power.time_ms >= meter.start_ms
        and power.time_ms <= coalesce(meter.stop_ms, power.time_ms)
        and not meter.is_switch
),

node as (
    select
        run_id,
        artifact_manifest_digest,
        device,
        sum(power_w_ms) as power_w_ms,
        max(time_ms) as last_ms
    from reading
    group by
        run_id,
        artifact_manifest_digest,
        device
),

measured as (
    select
        meter.run_id,
        meter.artifact_manifest_digest,
        meter.is_switch,
        coalesce(meter.efficiency, 1) * case
            when meter.is_switch then meter.estimate_w
            else node.power_w_ms / nullif(coalesce(meter.stop_ms, node.last_ms) - meter.start_ms, 0)
        end as power_w
    from meter
    left join node
        on
            node.run_id = meter.run_id
            and node.artifact_manifest_digest = meter.artifact_manifest_digest
            and node.device = meter.device
)

select
    run_id,
    artifact_manifest_digest,
    case when count(power_w) = count(*) and min(is_switch::integer) = 0 then sum(power_w) end as power_w
from measured
group by
    run_id,
    artifact_manifest_digest
