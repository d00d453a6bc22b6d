/*
description: >
  One row per stated price of an accelerator's hour, from a date on. Of a machine's price each of its accelerators has an
  equal part. Which accelerator a price is of is told by the rules that tell it of a run.
grain: [artifact_manifest_digest, raw_path, line_number]
columns:
  artifact_manifest_digest: {type: varchar, description: "The price list", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  line_number: {type: bigint, description: "1-based line", tests: [not_null]}
  accelerator: {type: varchar, description: "Accelerator model as written"}
  accelerator_family: {type: varchar, description: "Its family, where a rule knows it"}
  accelerator_reason: {type: varchar, description: "Why it is not known which product it is; NULL: it is, or the price is a machine's"}
  accelerator_key: {type: varchar, description: "The accelerator as runs are compared with; NULL: the price is a machine's"}
  instance_key: {type: varchar, description: "The machine's name as runs are compared with: without case, blanks and punctuation"}
  provider: {type: varchar, description: "Who offers it"}
  region: {type: varchar, description: "Where"}
  usd_per_accelerator_hour: {type: double, unit: USD/h, description: "Price of one accelerator for an hour", tests: [not_null, {range: {min: 0}}]}
  effective_date: {type: date, description: "From this day on", tests: [not_null]}
  source: {type: varchar, description: "Who says so"}
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
