/*
description: >
  One row per software component that the system description of an MLPerf submission names. Components are the pieces
  of its framework and software strings, split at commas and semicolons, each a name followed by a version, and the
  pairs of a software object. A piece with a version elsewhere is a component named by its whole text, without a
  version. A piece that is only a version is not a component. What is stated in several ways (framework "CUDA 12.3" beside
  cuda_version "12.3") is one component.
grain: [run_id, artifact_manifest_digest, component, version]
feeds: software_component
*/
with run as (
    select
        run_id,
        artifact_manifest_digest
    from mlperf_inference_run
    union all
    select
        run_id,
        artifact_manifest_digest
    from mlperf_training_run
),

piece as (
    select
        artifact_manifest_digest,
        trim(unnest(string_split_regex(value, '[,;]'))) as stated_as
    from mlperf_system_entry
    where
        key in ('framework', 'other_software_stack')
        and not starts_with(value, '{')
        and not starts_with(value, '[')
),

split_piece as (
    select
        artifact_manifest_digest,
        stated_as,
        regexp_extract(
            stated_as,
            '^(.*?[^ =:@-])[ =:@-]+(?:(?i:release|version) +)?([vV]?[0-9][^ ]*|[0-9a-f]{7,40})$',
            ['name', 'version']
        ) as part,
        regexp_matches(stated_as, ' [vV]?[0-9][^ ]* ') as has_inner_version
    from piece
    where not regexp_full_match(stated_as, '[vV]?[0-9.]*[0-9][^ ]*')
),

component as (
    select
        artifact_manifest_digest,
        lower(case when part.name = '' or has_inner_version then stated_as else part.name end) as component,
        case when not has_inner_version then nullif(part.version, '') end as version,
        stated_as
    from split_piece
    union all
    select
        artifact_manifest_digest,
        lower(regexp_replace(key, '^other_software_stack/(.*?)(_version)?$', '\1')) as component,
        trim(value) as version,
        regexp_replace(key, '^other_software_stack/', '') || ' ' || trim(value) as stated_as
    from mlperf_system_entry
    where
        starts_with(key, 'other_software_stack/')
        and value is not null
)

select
    run.run_id,
    component.artifact_manifest_digest,
    component.component,
    component.version,
    min(component.stated_as) as stated_as
from component
inner join run
    on run.artifact_manifest_digest = component.artifact_manifest_digest
where lower(coalesce(component.version, component.stated_as)) not in ('', '-', 'n/a', 'na', 'none', 'null', 'unknown', 'tbd')
group by
    run.run_id,
    component.artifact_manifest_digest,
    component.component,
    component.version
