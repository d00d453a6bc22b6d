/*
description: >
  One row per version that the system description of an MLPerf submission states of a software package, and place: of the
  components of its framework and software strings, of the pairs of a software object, and of CUDA, ROCm, NCCL and RCCL
  wherever a text names them with a version.
grain: [artifact_manifest_digest, raw_path, raw_offset, package, version]
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The system description", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where the text is", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "How long it is", tests: [not_null]}
  package: {type: varchar, description: "The package, lower case", tests: [not_null]}
  version: {type: varchar, description: "The version, without a leading v", tests: [not_null]}
  place: {type: bigint, description: "1: the field that decides. The framework of Inference, the software object of Training; then 2, 3", tests: [not_null]}
*/
with statement as (
    select
        artifact_manifest_digest,
        raw_path,
        raw_offset,
        raw_length,
        lower(key) as key,
        value,
        case
            when benchmark = 'inference' then if(lower(key) = 'framework', 1, 2)
            when starts_with(lower(key), 'other_software_stack/') then 1
            when lower(key) = 'framework' then 2
            else 3
        end as place
    from mlperf_system_entry
),

text as (
    select *
    from statement
    where
        key in ('framework', 'other_software_stack')
        and not starts_with(value, '{')
        and not starts_with(value, '[')
),

piece as (
    select
        artifact_manifest_digest,
        raw_path,
        raw_offset,
        raw_length,
        place,
        trim(unnest(string_split_regex(value, '[,;]'))) as stated_as
    from text
),

split_piece as (
    select
        *,
        regexp_extract(
            stated_as, '^([^ ]*?[^ =:@-])[ =:@-]+(?:(?i:release|version) +)?[vV]?([0-9][^ ]*)$', ['name', 'version']
        ) as part
    from piece
),

named_anywhere as (
    select
        *,
        unnest(regexp_extract_all(value, '(?i)\b((?:cuda|rocm|nccl|rccl)[ -]v?[0-9][^ ,;)]*)', 1)) as named
    from text
),

stated as (
    select
        artifact_manifest_digest,
        raw_path,
        raw_offset,
        raw_length,
        place,
        lower(part.name) as package,
        part.version as version
    from split_piece
    where part.name <> ''
    union all
    select
        artifact_manifest_digest,
        raw_path,
        raw_offset,
        raw_length,
        place,
        regexp_replace(key, '^other_software_stack/(.*?)(_version)?$', '\1') as package,
        regexp_extract(trim(value), '^[vV]?([0-9][^ ]*)$', 1) as version
    from statement
    where starts_with(key, 'other_software_stack/')
    union all
    select
        artifact_manifest_digest,
        raw_path,
        raw_offset,
        raw_length,
        place,
        lower(regexp_extract(named, '^[a-zA-Z]+')) as package,
        regexp_extract(named, '[ -][vV]?(.*)$', 1) as version
    from named_anywhere
)

select distinct
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length,
    package,
    lower(version) as version,
    place::bigint as place
from stated
where version <> ''
