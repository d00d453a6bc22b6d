/*
description: >
  One row per file and metric for which the evidence states another unit than the exporter's documentation: in a UNIT line,
  at the end of the HELP text, or as the ending of the name. The documented unit is used all the same. The place is the
  first line of the metric. A name alone is a note: some exporters chose names that mislead.
feeds: issue
*/
with ending as (
    select
        suffix,
        source_unit
    from (
        values
        ('seconds', 's'),
        ('milliseconds', 'ms'),
        ('microseconds', 'us'),
        ('nanoseconds', 'ns'),
        ('ms', 'ms'),
        ('us', 'us'),
        ('ns', 'ns'),
        ('bytes', 'bytes'),
        ('ratio', 'ratio'),
        ('percent', '%'),
        ('joules', 'j'),
        ('watts', 'w'),
        ('celsius', 'c'),
        ('hertz', 'hz')
    ) as known (suffix, source_unit)
),

-- The unit ends the name, before what the format adds to it: _total, _bucket, _sum, _count.
stated as (
    select
        series.artifact_manifest_digest,
        series.raw_path,
        series.raw_offset,
        series.raw_length,
        known.source_metric,
        known.source_unit as documented,
        if(coalesce(of_unit.source_unit, lower(series.unit)) <> known.source_unit, series.unit, null) as other_unit,
        if(of_name.source_unit <> known.source_unit, of_name.suffix, null) as other_ending
    from telemetry_series as series
    inner join telemetry_metric as known
        on
            known.source = series.source
            and known.source_metric = if(known.kind = 'histogram', regexp_replace(series.metric, '_(bucket|sum|count)$', ''), series.metric)
            and known.source_unit is not null
    left join ending as of_unit
        on of_unit.suffix = lower(series.unit)
    left join ending as of_name
        on of_name.suffix = lower(regexp_extract(regexp_replace(known.source_metric, '_total$', ''), '_([a-zA-Z]+)$', 1))
)

select
    artifact_manifest_digest,
    raw_path,
    min(raw_offset) as raw_offset,
    arg_min(raw_length, raw_offset) as raw_length,
    if(count(other_unit) > 0, 'warning', 'note') as severity,
    'unit-disagrees' as code,
    concat(
        source_metric, ': the documented unit is ', documented, ', and is used; ',
        coalesce('UNIT or HELP states ' || min(other_unit), 'the name ends in ' || min(other_ending))
    ) as message,
    null::bigint as line_number,
    null::varchar as run_id
from stated
where coalesce(other_unit, other_ending) is not null
group by
    artifact_manifest_digest,
    raw_path,
    source_metric,
    documented
