/*
description: >
  One row per run: where its raw evidence is, and what is known about its integrity.
grain: [run_id]
columns:
  run_id: {tests: [not_null, unique, {relationships: main.benchmark_run_fact.run_id}]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle: its manifest's sha256", tests: [not_null]}
  raw_path_prefix: {type: varchar, description: "Where the bundle is in the store, relative to the store's root", tests: [not_null]}
  file_count: {type: bigint, description: "Files in the bundle", tests: [not_null]}
  raw_bytes: {type: bigint, unit: bytes, description: "Size of all files in the bundle", tests: [not_null]}
  arrived_at: {type: timestamptz, unit: UTC, description: "First arrival in the ledger"}
  source: {type: varchar, description: "Where the bundle was published, JSON", tests: [not_null]}
  is_shared_evidence: {type: boolean, description: "Whether the files of another run have the same bytes, or a run of another family is read from one of them", tests: [not_null]}
  signing_state: {type: varchar, description: "What the build found of the bundle's signatures; NULL: they were not checked, as in a replay", tests: [{accepted_values: [unsigned, valid, untrusted key, invalid]}]}
  signing_key_id: {type: varchar, description: "The key of the signature that signing_state is about; NULL: unsigned"}
  signing_key_name: {type: varchar, description: "The project's name for that key; NULL: the project does not trust it"}
  signing_reason: {type: varchar, description: "What was found about each signature, in words; NULL: unsigned"}
  report_packet_ref: {type: varchar, description: "Where a report packet of this run is; NULL: none"}
*/
with sharing as (
    select
        outcome_digest,
        count(*) > 1 as is_shared_evidence
    from benchmark_run_fact
    group by outcome_digest
),

own_file as (
    select
        run.run_id,
        run.family,
        file.sha256
    from benchmark_run_fact as run
    inner join run_file as file
        on
            file.run_id = run.run_id
            and file.artifact_manifest_digest = run.artifact_manifest_digest
            and file.is_own
),

shared_file as (
    select sha256
    from own_file
    where sha256 <> sha256('')
    group by sha256
    having count(distinct family) > 1
),

sharing_families as (
    select distinct own_file.run_id
    from own_file
    inner join shared_file
        on shared_file.sha256 = own_file.sha256
)

select
    run.run_id,
    run.artifact_manifest_digest,
    'raw/sha256/' || left(run.artifact_manifest_digest, 2) || '/' || run.artifact_manifest_digest as raw_path_prefix,
    bundle.file_count,
    bundle.bytes as raw_bytes,
    bundle.arrived_at,
    bundle.source,
    coalesce(sharing.is_shared_evidence, false) or sharing_families.run_id is not null as is_shared_evidence,
    signing.signing_state,
    signing.key_id as signing_key_id,
    signing.key_name as signing_key_name,
    signing.reason as signing_reason,
    cast(null as varchar) as report_packet_ref
from benchmark_run_fact as run
inner join evidence_bundle as bundle
    on bundle.artifact_manifest_digest = run.artifact_manifest_digest
left join evidence_signing as signing
    on signing.artifact_manifest_digest = run.artifact_manifest_digest
left join sharing
    on sharing.outcome_digest = run.outcome_digest
left join sharing_families
    on sharing_families.run_id = run.run_id
