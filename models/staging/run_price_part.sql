/*
description: >
  One row per run, bundle and role that states hardware: the price of its accelerators, or why there is none. A run
  whose prefill and decode are split has a row for each; any other run has one, for the whole. The price of an
  accelerator applies if both texts name one product, however they spell it, or if both state the same and nothing
  more (H100 and H100). The price of a machine applies if the system has its name. Of several prices, the latest one
  effective on or before the day on which the run started is taken. If prices differ, between two providers for
  example, there is none. A run without a date has a price only if just one is known. The same rules find the power
  that is provisioned.
grain: [run_id, artifact_manifest_digest, role]
columns:
  run_id: {tests: [not_null]}
  artifact_manifest_digest: {tests: [not_null]}
  role: {tests: [not_null, {accepted_values: [whole, prefill, decode]}]}
  usd_per_hour: {type: double, unit: USD/h, description: "Price of the role's accelerators for an hour; NULL: none, for the reason", tests: [{range: {min: 0}}]}
  reason: {type: varchar, description: "Why there is no price; NULL: there is one"}
  effective_date: {type: date, description: "First day on which the price applies"}
  provider: {type: varchar, description: "Who offers it"}
  source: {type: varchar, description: "Who states it"}
  price_row: {type: varchar, description: "Its row, as path:line; several that state one price are separated by commas"}
  price_list: {type: varchar, description: "Digest of the price list's manifest"}
  provisioned_power_w: {type: double, unit: W, description: "Power that is provisioned for the role's accelerators; NULL: for the reason", tests: [{range: {min: 0}}]}
  provisioned_power_reason: {type: varchar, description: "Why there is no provisioned power; NULL: there is"}
*/
with candidate as (
    select
        machine.run_id,
        machine.artifact_manifest_digest,
        machine.role,
        machine.started_on,
        price.effective_date,
        price.usd_per_accelerator_hour,
        price.provisioned_w_per_accelerator,
        price.provider,
        price.source,
        price.raw_path || ':' || price.line_number as price_row,
        price.artifact_manifest_digest as price_list
    from run_machine as machine
    inner join price
        on
            (price.accelerator_key = machine.accelerator_key or (price.accelerator is null and price.instance_key = machine.system_key))
            and (machine.started_on is null or price.effective_date <= machine.started_on)
),

latest as (
    select
        run_id,
        artifact_manifest_digest,
        role,
        max(effective_date) as effective_date
    from candidate
    group by
        run_id,
        artifact_manifest_digest,
        role
),

found as (
    select
        candidate.run_id,
        candidate.artifact_manifest_digest,
        candidate.role,
        min(candidate.usd_per_accelerator_hour) = max(candidate.usd_per_accelerator_hour) as is_one_price,
        min(candidate.provisioned_w_per_accelerator) = max(candidate.provisioned_w_per_accelerator) as is_one_power,
        min(candidate.started_on) is not null or min(candidate.effective_date) = max(candidate.effective_date) as is_of_the_day,
        max(candidate.usd_per_accelerator_hour) as usd_per_accelerator_hour,
        max(candidate.provisioned_w_per_accelerator) as provisioned_w_per_accelerator,
        max(candidate.effective_date) as effective_date,
        string_agg(distinct candidate.provider, ', ' order by candidate.provider) as provider,
        string_agg(distinct candidate.source, ', ' order by candidate.source) as source,
        string_agg(distinct candidate.price_row, ', ' order by candidate.price_row) as price_row,
        string_agg(distinct candidate.price_list, ', ' order by candidate.price_list) as price_list
    from candidate
    inner join latest
        on
            latest.run_id = candidate.run_id
            and latest.artifact_manifest_digest = candidate.artifact_manifest_digest
            and latest.role = candidate.role
    where
        candidate.started_on is null
        or candidate.effective_date = latest.effective_date
    group by
        candidate.run_id,
        candidate.artifact_manifest_digest,
        candidate.role
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
),

judged as (
    select
        machine.run_id,
        machine.artifact_manifest_digest,
        machine.role,
        machine.accelerator_count,
        found.usd_per_accelerator_hour,
        found.provisioned_w_per_accelerator,
        found.is_one_power,
        found.effective_date,
        found.provider,
        found.source,
        found.price_row,
        found.price_list,
        case
            when found.run_id is not null and coalesce(machine.accelerator_count, 0) <= 0 then 'accelerator-count-unknown'
            when found.run_id is not null and not found.is_of_the_day then 'run-without-date'
            when found.run_id is not null then null
            when machine.gpu_model is null then 'accelerator-not-stated'
            when machine.accelerator_reason = 'several-accelerators' then 'several-accelerators'
            when product_price.prices is not null then 'no-price-by-then'
            when machine.accelerator_reason in ('no-rule', 'unknown-word') then 'accelerator-unknown'
            when family_price.accelerator_family is null then 'no-price'
            when machine.accelerator_reason in ('partition', 'form-factor-unknown', 'memory-unknown', 'product-unknown') then machine.accelerator_reason
            when family_price.reason in ('form-factor-unknown', 'memory-unknown', 'product-unknown') then 'price-' || family_price.reason
            else 'no-price'
        end as no_row_reason,
        case when not found.is_one_price then 'prices-differ' end as price_reason
    from run_machine as machine
    left join found
        on
            found.run_id = machine.run_id
            and found.artifact_manifest_digest = machine.artifact_manifest_digest
            and found.role = machine.role
    left join product_price
        on
            product_price.accelerator_key = machine.accelerator_key
            and found.run_id is null
    left join family_price
        on
            family_price.accelerator_family = machine.accelerator_family
            and found.run_id is null
)

select
    run_id,
    artifact_manifest_digest,
    role,
    case when no_row_reason is null and price_reason is null then usd_per_accelerator_hour * accelerator_count end as usd_per_hour,
    coalesce(no_row_reason, price_reason) as reason,
    case when no_row_reason is null and price_reason is null then effective_date end as effective_date,
    case when no_row_reason is null and price_reason is null then provider end as provider,
    case when no_row_reason is null and price_reason is null then source end as source,
    case when no_row_reason is null and price_reason is null then price_row end as price_row,
    case when no_row_reason is null and price_reason is null then price_list end as price_list,
    case when no_row_reason is null and is_one_power then provisioned_w_per_accelerator * accelerator_count end as provisioned_power_w,
    case
        when no_row_reason is not null then no_row_reason
        when provisioned_w_per_accelerator is null then 'provisioned-power-not-stated'
        when not is_one_power then 'provisioned-powers-differ'
    end as provisioned_power_reason
from judged
