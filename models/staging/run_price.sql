/*
description: >
  One row per run and bundle that states hardware: the price of its machine and the power that is provisioned for it,
  or why they are not known. Where prefill and decode are split, both are the sums of their parts, and unknown if a
  part is.
grain: [run_id, artifact_manifest_digest]
columns:
  run_id: {tests: [not_null]}
  artifact_manifest_digest: {tests: [not_null]}
  usd_per_hour: {type: double, unit: USD/h, description: "Price of all accelerators of the run for an hour; NULL: none, for the reason", tests: [{range: {min: 0}}]}
  prefill_usd_per_hour: {type: double, unit: USD/h, description: "Price of the accelerators that prefill; NULL: prefill and decode are not split, or there is no price"}
  decode_usd_per_hour: {type: double, unit: USD/h, description: "Price of the accelerators that decode"}
  reason: {type: varchar, description: "Why there is no price; NULL: there is one"}
  effective_date: {type: date, description: "First day on which all prices of the run apply"}
  provider: {type: varchar, description: "Who offers them"}
  source: {type: varchar, description: "Who states them"}
  price_row: {type: varchar, description: "Their rows in price lists, as path:line, separated by commas"}
  price_list: {type: varchar, description: "Digest of the price list's manifest"}
  provisioned_power_w: {type: double, unit: W, description: "Power that is provisioned for all accelerators of the run; NULL: for the reason", tests: [{range: {min: 0}}]}
  provisioned_power_reason: {type: varchar, description: "Why there is no provisioned power; NULL: there is"}
*/
with run as (
    select
        run_id,
        artifact_manifest_digest,
        max(usd_per_hour) filter (where role = 'whole') as usd_per_hour,
        max(usd_per_hour) filter (where role = 'prefill') as prefill_usd_per_hour,
        max(usd_per_hour) filter (where role = 'decode') as decode_usd_per_hour,
        min(reason) as reason,
        max(effective_date) as effective_date,
        string_agg(distinct provider, ', ' order by provider) as provider,
        string_agg(distinct source, ', ' order by source) as source,
        string_agg(distinct price_row, ', ' order by price_row) as price_row,
        string_agg(distinct price_list, ', ' order by price_list) as price_list,
        max(provisioned_power_w) filter (where role = 'whole') as provisioned_power_w,
        max(provisioned_power_w) filter (where role = 'prefill')
        + max(provisioned_power_w) filter (where role = 'decode') as split_provisioned_power_w,
        min(provisioned_power_reason) as provisioned_power_reason
    from run_price_part
    group by
        run_id,
        artifact_manifest_digest
)

select
    run_id,
    artifact_manifest_digest,
    coalesce(usd_per_hour, prefill_usd_per_hour + decode_usd_per_hour) as usd_per_hour,
    prefill_usd_per_hour,
    decode_usd_per_hour,
    reason,
    case when reason is null then effective_date end as effective_date,
    case when reason is null then provider end as provider,
    case when reason is null then source end as source,
    case when reason is null then price_row end as price_row,
    case when reason is null then price_list end as price_list,
    coalesce(provisioned_power_w, split_provisioned_power_w) as provisioned_power_w,
    provisioned_power_reason
from run
