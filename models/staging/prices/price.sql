/*
description: >
  One row per stated price of an accelerator hour, valid from a date on. The price of a machine is divided equally
  among its accelerators. The accelerator is identified by the same rules as that of a run.
grain: [artifact_manifest_digest, raw_path, line_number]
columns:
  artifact_manifest_digest: {type: varchar, description: "The price list", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  line_number: {type: bigint, description: "1-based line", tests: [not_null]}
  accelerator: {type: varchar, description: "Accelerator model as written"}
  accelerator_family: {type: varchar, description: "Its family, where a rule knows it"}
  accelerator_reason: {type: varchar, description: "Why the product is not known; NULL: it is known, or the price is that of a machine"}
  accelerator_key: {type: varchar, description: "The accelerator, in the form in which it is matched with runs; NULL: the price is that of a machine"}
  instance_key: {type: varchar, description: "The machine's name, in the form in which it is matched with runs: without case, blanks and punctuation"}
  provider: {type: varchar, description: "Who offers it"}
  region: {type: varchar, description: "Where"}
  usd_per_accelerator_hour: {type: double, unit: USD/h, description: "Price of one accelerator for an hour", tests: [not_null, {range: {min: 0}}]}
  provisioned_w_per_accelerator: {type: double, unit: W, description: "Power that is provisioned for one accelerator, an equal part of the machine's; NULL: not stated", tests: [{range: {min: 0}}]}
  effective_date: {type: date, description: "First day on which the price applies", tests: [not_null]}
  source: {type: varchar, description: "Who states it"}
*/
select
    entry.artifact_manifest_digest,
    entry.raw_path,
    entry.line_number,
    entry.accelerator,
    named.accelerator_family,
    named.accelerator_reason,
    named.accelerator_key,
    regexp_replace(lower(entry.instance), '[^a-z0-9]', '', 'g') as instance_key,
    entry.provider,
    entry.region,
    case entry.unit
        when 'instance_hour' then entry.price_usd_per_hour / entry.accelerators
        else entry.price_usd_per_hour
    end as usd_per_accelerator_hour,
    case entry.unit
        when 'instance_hour' then entry.provisioned_power_w / entry.accelerators
        else entry.provisioned_power_w
    end as provisioned_w_per_accelerator,
    entry.effective_date,
    entry.source
from price_entry as entry
left join named_accelerator as named
    on
        named.artifact_manifest_digest = entry.artifact_manifest_digest
        and named.stated_by = entry.raw_path || ':' || entry.line_number
where
    entry.price_usd_per_hour is not null
    and entry.effective_date is not null
    and (entry.unit = 'accelerator_hour' or (entry.unit = 'instance_hour' and entry.accelerators is not null))
    and (entry.accelerator is not null or entry.instance is not null)
