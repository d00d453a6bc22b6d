/*
description: >
  One row per run and bundle that states hardware: the price of its machine, or why there is none. The price of an
  accelerator applies if both texts name one product, however they spell it, or if both state the same and nothing
  more (H100 and H100). The price of a machine applies if the system has its name. Of several prices, the latest one
  effective on or before the day on which the run started is taken. If prices differ, between two providers for
  example, there is none. A run without a date has a price only if just one is known.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null]}
  artifact_manifest_digest: {type: varchar, description: "The run's evidence bundle", tests: [not_null]}
  usd_per_hour: {type: double, unit: USD/h, description: "Price of all accelerators of the run for an hour; NULL: none, for the reason", tests: [{range: {min: 0}}]}
  reason: {type: varchar, description: "Why there is no price; NULL: there is one"}
*/
with machine as (
    select
        run.run_id,
        run.artifact_manifest_digest,
        cast(timezone('UTC', run.started_at) as date) as started_on,
        hardware.gpu_model,
        hardware.gpu_count,
        hardware.accelerator_family,
        hardware.accelerator_reason,
        named.accelerator_key,
        regexp_replace(lower(hardware.system_name), '[^a-z0-9]', '', 'g') as system_key
    from feed.benchmark_run as run
    inner join run_hardware as hardware
        on
            hardware.run_id = run.run_id
            and hardware.artifact_manifest_digest = run.artifact_manifest_digest
    left join named_accelerator as named
        on
            named.artifact_manifest_digest = run.artifact_manifest_digest
            and named.stated_by = run.run_id
),

candidate as (
    select
        machine.run_id,
        machine.artifact_manifest_digest,
        machine.started_on,
        price.effective_date,
        price.usd_per_accelerator_hour
    from machine
    inner join price
        on
            (price.accelerator_key = machine.accelerator_key or (price.accelerator is null and price.instance_key = machine.system_key))
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
),

found as (
    select
        candidate.run_id,
        candidate.artifact_manifest_digest,
        min(candidate.usd_per_accelerator_hour) = max(candidate.usd_per_accelerator_hour) as is_one_price,
        min(candidate.started_on) is not null or min(candidate.effective_date) = max(candidate.effective_date) as is_of_the_day,
        max(candidate.usd_per_accelerator_hour) as usd_per_accelerator_hour
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
),

-- What price lists have of the same product or family, for runs that no price was found for.
product_price as (
    select
        accelerator_key,
        count(*) as prices
    from price
    where accelerator_key is not null
    group by accelerator_key
),

family_price as (
    select
        accelerator_family,
        min(accelerator_reason) as reason
    from price
    where accelerator_family is not null
    group by accelerator_family
)

select
    machine.run_id,
    machine.artifact_manifest_digest,
    case when found.is_one_price and found.is_of_the_day and machine.gpu_count > 0 then found.usd_per_accelerator_hour * machine.gpu_count end
        as usd_per_hour,
    case
        when found.run_id is not null and coalesce(machine.gpu_count, 0) <= 0 then 'accelerator-count-unknown'
        when found.is_one_price and found.is_of_the_day then null
        when found.run_id is not null and not found.is_of_the_day then 'run-without-date'
        when found.run_id is not null then 'prices-differ'
        when machine.gpu_model is null then 'accelerator-not-stated'
        when machine.accelerator_reason = 'several-accelerators' then 'several-accelerators'
        when product_price.prices is not null then 'no-price-by-then'
        when machine.accelerator_reason in ('no-rule', 'unknown-word') then 'accelerator-unknown'
        when family_price.accelerator_family is null then 'no-price'
        when machine.accelerator_reason in ('partition', 'form-factor-unknown', 'memory-unknown', 'product-unknown') then machine.accelerator_reason
        when family_price.reason in ('form-factor-unknown', 'memory-unknown', 'product-unknown') then 'price-' || family_price.reason
        else 'no-price'
    end as reason
from machine
left join found
    on
        found.run_id = machine.run_id
        and found.artifact_manifest_digest = machine.artifact_manifest_digest
left join product_price
    on
        product_price.accelerator_key = machine.accelerator_key
        and found.run_id is null
left join family_price
    on
        family_price.accelerator_family = machine.accelerator_family
        and found.run_id is null
