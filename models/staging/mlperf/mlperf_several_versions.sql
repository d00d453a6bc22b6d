/*
description: >
  One row per software package of which a system description states versions that contradict each other: CUDA 12.3 beside
  12.4. A version that goes on from another one, 12.3.1 from 12.3, contradicts nothing. Only the field that decides counts:
  what another one says beside it changes nothing. The package then has no version in software_version_dim.
grain: [artifact_manifest_digest, package]
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  package: {type: varchar, description: "The package, lower case", tests: [not_null]}
  versions: {type: varchar, description: "The versions, in the order of their text", tests: [not_null]}
*/
with stated as (
    select distinct
        artifact_manifest_digest,
        package,
        version
    from mlperf_stated_version
    qualify place = min(place) over (partition by artifact_manifest_digest, package)
),

longest as (
    select
        artifact_manifest_digest,
        package,
        max({'length': length(version), 'version': version}).version as version,
        string_agg(version, ', ' order by version) as versions
    from stated
    group by
        artifact_manifest_digest,
        package
)

select
    stated.artifact_manifest_digest,
    stated.package,
    min(longest.versions) as versions
from stated
inner join longest
    on
        longest.artifact_manifest_digest = stated.artifact_manifest_digest
        and longest.package = stated.package
where
    not starts_with(longest.version, stated.version)
    or regexp_matches(substr(longest.version, length(stated.version) + 1, 1), '[0-9]')
group by
    stated.artifact_manifest_digest,
    stated.package
