/*
description: >
  One row per GPU and pair of metrics that measure one thing in two ways, of which one is 0 in all samples while the other shows that
  the GPU worked: profiling metrics that another profiler or a missing permission blocks read as 0, not as missing.
feeds: issue
*/
with twin as (
    select
        metric,
        other_metric
    from (
        values
        ('gpu_graphics_active_pct', 'gpu_util_pct'),
        ('gpu_util_pct', 'gpu_graphics_active_pct'),
        ('gpu_sm_active_pct', 'gpu_util_pct'),
        ('gpu_dram_active_pct', 'gpu_memory_copy_util_pct')
    ) as known (metric, other_metric)
),

sampled as (
    select
        place.artifact_manifest_digest,
        place.series_number,
        place.source,
        place.node_name,
        place.scope_name,
        place.metric,
        place.source_metric,
        max(sample.value * place.factor) as value_max,
        avg(sample.value * place.factor) as value_mean,
        count(sample.value) as samples,
        min(sample.raw_path) as raw_path
    from telemetry_place as place
    inner join telemetry_sample as sample
        on
            sample.artifact_manifest_digest = place.artifact_manifest_digest
            and sample.series_number = place.series_number
    where
        place.scope = 'gpu'
        and place.kind = 'gauge'
        and place.metric in (select metric from twin union select other_metric from twin)
    group by
        place.artifact_manifest_digest,
        place.series_number,
        place.source,
        place.node_name,
        place.scope_name,
        place.metric,
        place.source_metric
)

select
    zero.artifact_manifest_digest,
    series.raw_path,
    series.raw_offset,
    series.raw_length,
    'warning' as severity,
    'metric-contradicted' as code,
    concat(
        zero.source_metric, ' of ', zero.scope_name, ' is 0 in all ', zero.samples, ' samples, but ', worked.source_metric,
        ' is ', round(worked.value_mean, 1), ' % on average: one of them was not measured'
    ) as message,
    null::bigint as line_number,
    null::varchar as run_id
from sampled as zero
inner join twin
    on twin.metric = zero.metric
inner join sampled as worked
    on
        worked.artifact_manifest_digest = zero.artifact_manifest_digest
        and worked.source = zero.source
        and worked.metric = twin.other_metric
        and worked.scope_name = zero.scope_name
        and worked.node_name is not distinct from zero.node_name
inner join telemetry_series as series
    on
        series.artifact_manifest_digest = zero.artifact_manifest_digest
        and series.series_number = zero.series_number
where
    zero.value_max = 0
    and worked.value_mean >= 10
