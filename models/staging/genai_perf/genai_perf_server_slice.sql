/*
description: >
  One row per window, metric and server that AIPerf scraped: the gauges that have a canonical name. A server is an
  endpoint with its labels, such as its rank. A file without times covers the whole run: from its first request, for
  the duration that the summary states.
grain: [run_id, artifact_manifest_digest, scope_name, metric, window_kind, window_start]
feeds: telemetry_slice
*/
with measured as (
    select
        run_id,
        artifact_manifest_digest,
        max(value_number) filter (where key = 'min_request_timestamp/avg') as started_ns,
        epoch(try_cast(max(value) filter (where key = 'end_time') as timestamptz))
        - epoch(try_cast(max(value) filter (where key = 'start_time') as timestamptz)) as duration_s
    from genai_perf_entry
    group by
        run_id,
        artifact_manifest_digest
),

clock as (
    select
        run_id,
        artifact_manifest_digest,
        min(started_ns) as started_ns
    from genai_perf_timing_statistic
    group by
        run_id,
        artifact_manifest_digest
),

gauge as (
    select
        metric.run_id,
        metric.artifact_manifest_digest,
        concat_ws(' ', metric.endpoint, metric.labels) as scope_name,
        coalesce(metric.start_ns, clock.started_ns, measured.started_ns) as start_ns,
        coalesce(metric.end_ns, coalesce(clock.started_ns, measured.started_ns) + measured.duration_s * 1e9) as end_ns,
        metric.start_ns is not null as is_windowed,
        metric.metric,
        metric.value_avg
    from genai_perf_server_metric as metric
    left join clock
        on
            clock.run_id = metric.run_id
            and clock.artifact_manifest_digest = metric.artifact_manifest_digest
    left join measured
        on
            measured.run_id = metric.run_id
            and measured.artifact_manifest_digest = metric.artifact_manifest_digest
    where metric.value_avg is not null
)

select
    gauge.run_id,
    gauge.artifact_manifest_digest,
    if(gauge.is_windowed, 'interval', 'run') as window_kind,
    to_timestamp(gauge.start_ns / 1e9) as window_start,
    to_timestamp(max(gauge.end_ns) / 1e9) as window_end,
    'server' as scope,
    gauge.scope_name,
    known.metric,
    known.unit,
    min(gauge.metric) as source_metric,
    max(gauge.value_avg * conversion.factor) as value_mean
from gauge
inner join telemetry_metric as known
    on
        known.source = 'prometheus'
        and known.source_metric = gauge.metric
        and known.kind = 'gauge'
        and known.scope = 'server'
inner join telemetry_unit as conversion
    on
        conversion.unit = known.unit
        and conversion.source_unit = known.source_unit
where gauge.start_ns is not null
group by
    gauge.run_id,
    gauge.artifact_manifest_digest,
    gauge.is_windowed,
    gauge.scope_name,
    gauge.start_ns,
    known.metric,
    known.unit
