/*
description: >
  One row per run and bundle whose machine has one price: by the accelerator's model, or by the system's name where the
  price is a machine's, the latest price effective on the day the run started or before. Prices that differ, of two
  providers say, are none; so is the price of a run without a date, unless only one is known.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The run's evidence bundle", tests: [not_null]}
  usd_per_hour: {type: double, unit: USD/h, description: "Price of all accelerators of the run for an hour", tests: [not_null, {range: {min: 0}}]}
*/
with machine as (
    select
        run.run_id,
        run.artifact_manifest_digest,
        cast(timezone('UTC', run.started_at) as date) as started_on,
        hardware.gpu_count,
        regexp_replace(lower(hardware.gpu_model), '^(nvidia|amd|intel|google|aws) |[^a-z0-9]', '', 'g') as accelerator_key,
        regexp_replace(lower(hardware.system_name), '[^a-z0-9]', '', 'g') as system_key
    from feed.benchmark_run as run
    inner join run_hardware as hardware
        on
            hardware.run_id = run.run_id
            and hardware.artifact_manifest_digest = run.artifact_manifest_digest
    where hardware.gpu_count > 0
),

candidate as (
    select
        machine.run_id,
        machine.artifact_manifest_digest,
        machine.started_on,
        machine.gpu_count,
        price.effective_date,
        price.usd_per_accelerator_hour
    from machine
    inner join price
        on
            (price.accelerator_key = machine.accelerator_key or (price.accelerator_key is null and price.instance_key = machine.system_key))
            and (machine.started_on is null or price.effective_date <= machine.started_on)
),

latest as (
    select
        run_id,
        artifact_manifest_digest,
        max(effective_date) as effective_date
    from candidate
    group by
        run_id,
        artifact_manifest_digest
)

select
    candidate.run_id,
    candidate.artifact_manifest_digest,
    max(candidate.usd_per_accelerator_hour * candidate.gpu_count) as usd_per_hour
from candidate
inner join latest
    on
        latest.run_id = candidate.run_id
        and latest.artifact_manifest_digest = candidate.artifact_manifest_digest
where
    candidate.started_on is null
    or candidate.effective_date = latest.effective_date
group by
    candidate.run_id,
    candidate.artifact_manifest_digest
having
    min(candidate.usd_per_accelerator_hour) = max(candidate.usd_per_accelerator_hour)
    and (min(candidate.started_on) is not null or min(candidate.effective_date) = max(candidate.effective_date))
