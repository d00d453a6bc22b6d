/*
description: >
  One row per run, bundle and role that states hardware: which accelerators a price is looked for, and how many. A run
  whose prefill and decode are split has a row for each; any other run has one, for the whole.
grain: [run_id, artifact_manifest_digest, role]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The run's evidence bundle", tests: [not_null]}
  role: {type: varchar, description: "whole, prefill or decode", tests: [not_null, {accepted_values: [whole, prefill, decode]}]}
  started_on: {type: date, description: "Day on which the run started, in UTC; NULL: not known"}
  gpu_model: {type: varchar, description: "Accelerator model as written, of the whole run"}
  accelerator_count: {type: bigint, description: "Accelerators of the role; NULL: not known"}
  system_key: {type: varchar, description: "The machine's name, in the form in which it is matched with price lists"}
  accelerator_family: {type: varchar, description: "The family of the role's accelerators, where a rule knows it"}
  accelerator_key: {type: varchar, description: "The accelerator, in the form in which it is matched with price lists"}
*/
with role as (
    select
        run_id,
        artifact_manifest_digest,
        'prefill' as role,
        prefill_accelerator_count as accelerator_count,
        prefill_accelerator_count + decode_accelerator_count as accelerators_in_all,
        if(prefill_accelerator is null, run_id, run_id || ' prefill') as stated_by
    from feed.serving_configuration
    where prefill_accelerator_count is not null
    union all
    select
        run_id,
        artifact_manifest_digest,
        'decode' as role,
        decode_accelerator_count as accelerator_count,
        prefill_accelerator_count + decode_accelerator_count as accelerators_in_all,
        if(decode_accelerator is null, run_id, run_id || ' decode') as stated_by
    from feed.serving_configuration
    where decode_accelerator_count is not null
),

part as (
    select
        run.run_id,
        run.artifact_manifest_digest,
        coalesce(role.role, 'whole') as role,
        cast(timezone('UTC', run.started_at) as date) as started_on,
        hardware.gpu_model,
        coalesce(role.accelerator_count, hardware.gpu_count) as accelerator_count,
        coalesce(role.stated_by, run.run_id) as stated_by,
        regexp_replace(lower(hardware.system_name), '[^a-z0-9]', '', 'g') as system_key
    from stated_run as run
    inner join run_hardware as hardware
        on
            hardware.run_id = run.run_id
            and hardware.artifact_manifest_digest = run.artifact_manifest_digest
    left join role
        on
            role.run_id = run.run_id
            and role.artifact_manifest_digest = run.artifact_manifest_digest
            and role.accelerators_in_all = hardware.gpu_count
)

select
    part.* exclude (stated_by),
    named.accelerator_family,
    named.accelerator_reason,
    named.accelerator_key
from part
left join named_accelerator as named
    on
        named.artifact_manifest_digest = part.artifact_manifest_digest
        and named.stated_by = part.stated_by
