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
  copies: {type: bigint, description: "How many files of the warehouse have these very bytes", tests: [not_null]}
*/
with copies as (
    select
        sha256,
        count(*) as copies
    from evidence_file
    group by sha256
)

select
    file.artifact_manifest_digest,
    file.raw_path,
    bundle.family,
    file.bytes,
    file.sha256,
    file.media_type,
    file.role,
    copies.copies
from evidence_file as file
inner join evidence_bundle as bundle
    on bundle.artifact_manifest_digest = file.artifact_manifest_digest
inner join copies
    on copies.sha256 = file.sha256
