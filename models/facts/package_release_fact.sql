/*
description: >
  One row per state of a package index that wh freshness recorded and package in it: its newest release then. Of a package that a state names twice,
  the first release counts.
grain: [artifact_manifest_digest, package]
columns:
  package: {type: varchar, description: "The package, as package indexes spell it: lower case, with -", tests: [not_null]}
  version: {type: varchar, description: "Its newest release; NULL: the index has no such package"}
  asked_at: {type: timestamptz, unit: UTC, description: "When the index was asked, or the file was brought, or the time that it states; NULL: it states none"}
  source: {type: varchar, description: "Who says so: the package index, or a file", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  raw_path: {type: varchar, description: "The document in it", tests: [not_null]}
  raw_offset: {type: bigint, unit: bytes, description: "Where the release is stated", tests: [not_null]}
  raw_length: {type: bigint, unit: bytes, description: "The length of that", tests: [not_null]}
*/
select
    package,
    version,
    asked_at,
    source,
    artifact_manifest_digest,
    raw_path,
    raw_offset,
    raw_length
from package_index_release
qualify row_number() over (partition by artifact_manifest_digest, package order by version is null, raw_offset) = 1
