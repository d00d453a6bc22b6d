/*
description: >
  One row per file of every evidence bundle, recognised or not.
grain: [artifact_manifest_digest, raw_path]
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The file's path in its bundle", tests: [not_null]}
  family: {type: varchar, description: "The bundle's family; unrecognised when no ingestor claimed it", tests: [not_null]}
  bytes: {type: bigint, unit: bytes, description: "Size", tests: [not_null]}
  sha256: {type: varchar, description: "sha256 of the file's bytes", tests: [not_null]}
  media_type: {type: varchar, description: "Media type, where the ingestor knows it"}
  role: {type: varchar, description: "What the file is in its family, where the ingestor knows it"}
  copies: {type: bigint, description: "How many files of the warehouse have the same bytes", tests: [not_null]}
  is_recognised: {type: boolean, description: "Whether an ingestor took the same bytes into a bundle, this one or another", tests: [not_null]}
*/
with stored as (
    select
        file.*,
        bundle.family
    from evidence_file as file
    inner join evidence_bundle as bundle
        on bundle.artifact_manifest_digest = file.artifact_manifest_digest
),

content as (
    select
        sha256,
        count(*) as copies,
        bool_or(family <> 'unrecognised') as is_recognised
    from stored
    group by sha256
)

select
    stored.artifact_manifest_digest,
    stored.raw_path,
    stored.family,
    stored.bytes,
    stored.sha256,
    stored.media_type,
    stored.role,
    content.copies,
    content.is_recognised
from stored
inner join content
    on content.sha256 = stored.sha256
