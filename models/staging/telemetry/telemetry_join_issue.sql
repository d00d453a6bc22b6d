/*
description: >
  One row per bundle of telemetry with series of a known metric, sampled while a run ran, that belong to no run: their node, GPU, pod
  or job is none that a run's evidence names. The place is the first such series.
feeds: issue
*/
with ran as (
    select
        min(window_start) as first_start,
        max(window_end) as last_end
    from run_window
    where window_kind = 'run'
),

lost as (
    select
        place.artifact_manifest_digest,
        place.series_number,
        place.node_name
    from telemetry_place as place
    cross join ran
    left join telemetry_run_series as joined
        on
            joined.artifact_manifest_digest = place.artifact_manifest_digest
            and joined.series_number = place.series_number
    where
        place.metric is not null
        and place.first_at < ran.last_end
        and place.last_at > ran.first_start
        and joined.run_id is null
),

counted as (
    select
        artifact_manifest_digest,
        count(*) as series,
        min(series_number) as series_number,
        count(distinct node_name) as nodes,
        min(node_name) as node_name,
        count(*) filter (where node_name is null) as nameless
    from lost
    group by artifact_manifest_digest
)

select
    counted.artifact_manifest_digest,
    series.raw_path,
    series.raw_offset,
    series.raw_length,
    'note' as severity,
    'telemetry-not-joined' as code,
    concat(
        counted.series, if(counted.series = 1, ' series was', ' series were'), ' sampled while runs ran and belong to none: ',
        if(counted.nodes > 0, concat('no run names the node ', counted.node_name, if(counted.nodes > 1, concat(' or ', counted.nodes - 1, ' more'), '')), ''),
        if(counted.nodes > 0 and counted.nameless > 0, '; ', ''),
        if(counted.nameless > 0, concat(counted.nameless, ' state no node'), '')
    ) as message,
    null::bigint as line_number,
    null::varchar as run_id
from counted
inner join telemetry_series as series
    on
        series.artifact_manifest_digest = counted.artifact_manifest_digest
        and series.series_number = counted.series_number
