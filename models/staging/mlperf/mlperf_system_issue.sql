/*
description: >
  One row per statement of an MLPerf system description that has no one meaning, and is NULL for that: a count that is not a
  whole number, and a package of which it states several versions.
feeds: issue
*/
with several as (
    select
        stated.artifact_manifest_digest,
        stated.raw_path,
        min({'offset': stated.raw_offset, 'length': stated.raw_length}) as place,
        stated.package,
        several.versions
    from mlperf_several_versions as several
    inner join mlperf_stated_version as stated
        on
            stated.artifact_manifest_digest = several.artifact_manifest_digest
            and stated.package = several.package
    group by
        stated.artifact_manifest_digest,
        stated.raw_path,
        stated.package,
        several.versions
)

select
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length,
    'warning' as severity,
    'not-a-count' as code,
    key || ' is no whole number, and is NULL: ' || left(value, 80) as message,
    null::bigint as line_number,
    null::varchar as run_id
from mlperf_system_entry
where
    lower(key) in ('number_of_nodes', 'accelerators_per_node', 'host_processors_per_node', 'host_processor_core_count')
    and lower(trim(value)) not in ('', '-', 'n/a', 'na', 'none', 'null', 'unknown', 'tbd')
    and (value_number is null or value_number <> floor(value_number) or abs(value_number) >= 1e15)
union all
select
    artifact_manifest_digest,
    raw_path,
    place.offset as raw_offset,
    place.length as raw_length,
    'warning' as severity,
    'several-versions' as code,
    'the description states several versions of ' || package || ', so that none is taken as that of its runs: ' || versions as message,
    null::bigint as line_number,
    null::varchar as run_id
from several
