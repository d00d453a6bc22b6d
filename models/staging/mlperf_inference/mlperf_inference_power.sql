/*
description: >
  One row per run, bundle and channel of the power meter: mean power in the measured window. A sample counts if
  power_begin <= t <= power_end (MLPerf power rules). Both clocks are UTC since round v1.1; older rounds used local
  clocks and have no row. mlperf_inference_log_source has the run whose power log is used.
grain: [run_id, artifact_manifest_digest, channel]
columns:
  run_id: {tests: [not_null]}
  artifact_manifest_digest: {tests: [not_null]}
  channel: {type: varchar, description: "Channel of the meter; NULL: the whole system"}
  power_w: {type: double, unit: W, description: "Mean power"}
  sample_count: {type: bigint, description: "Samples in the window", tests: [not_null]}
  window_start: {type: timestamptz, unit: UTC, description: "Start of the measured window", tests: [not_null]}
  window_end: {type: timestamptz, unit: UTC, description: "End of the measured window", tests: [not_null]}
*/
with measured as (
    select
        metric.run_id,
        metric.artifact_manifest_digest,
        log.power_run_id,
        log.power_manifest_digest,
        try_strptime(metric.power_begin, '%m-%d-%Y %H:%M:%S.%g') as window_start,
        try_strptime(metric.power_end, '%m-%d-%Y %H:%M:%S.%g') as window_end
    from mlperf_inference_metric as metric
    inner join mlperf_inference_run as run
        on
            run.run_id = metric.run_id
            and run.artifact_manifest_digest = metric.artifact_manifest_digest
    inner join mlperf_inference_log_source as log
        on
            log.run_id = metric.run_id
            and log.artifact_manifest_digest = metric.artifact_manifest_digest
    where
        metric.power_begin is not null
        and metric.power_end is not null
        and coalesce(run.round, '') not in ('v0.7', 'v1.0')
)

select
    measured.run_id,
    measured.artifact_manifest_digest,
    sample.channel,
    avg(sample.watts) as power_w,
    count(*) as sample_count,
    timezone('UTC', measured.window_start) as window_start,
    timezone('UTC', measured.window_end) as window_end
from measured
inner join mlperf_inference_power_sample as sample
    on
        sample.run_id = measured.power_run_id
        and sample.artifact_manifest_digest = measured.power_manifest_digest
where
    sample.sampled_at_local >= measured.window_start
    and sample.sampled_at_local <= measured.window_end
group by
    measured.run_id,
    measured.artifact_manifest_digest,
    sample.channel,
    measured.window_start,
    measured.window_end
