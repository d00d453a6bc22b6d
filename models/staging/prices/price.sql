/*
description: >
  One row per stated price of an accelerator's hour, from a date on. Of a machine's price each of its accelerators has an
  equal part. The keys are the names without case, blanks, punctuation and the maker's name.
grain: [artifact_manifest_digest, raw_path, line_number]
columns:
  artifact_manifest_digest: {type: varchar, description: "The price list", tests: [not_null]}
  raw_path: {type: varchar, description: "Its file", tests: [not_null]}
  line_number: {type: bigint, description: "1-based line", tests: [not_null]}
  accelerator: {type: varchar, description: "Accelerator model as written"}
  accelerator_key: {type: varchar, description: "The model as runs are compared with"}
  instance_key: {type: varchar, description: "The machine's name as runs are compared with"}
  provider: {type: varchar, description: "Who offers it"}
  region: {type: varchar, description: "Where"}
  usd_per_accelerator_hour: {type: double, unit: USD/h, description: "Price of one accelerator for an hour", tests: [not_null, {range: {min: 0}}]}
  effective_date: {type: date, description: "From this day on", tests: [not_null]}
  source: {type: varchar, description: "Who says so"}
*/
select
    artifact_manifest_digest,
    raw_path,
    line_number,
    accelerator,
    regexp_replace(lower(accelerator), '^(nvidia|amd|intel|google|aws) |[^a-z0-9]', '', 'g') as accelerator_key,
    regexp_replace(lower(instance), '[^a-z0-9]', '', 'g') as instance_key,
    provider,
    region,
    case unit when 'instance_hour' then price_usd_per_hour / accelerators else price_usd_per_hour end as usd_per_accelerator_hour,
    effective_date,
    source
from price_entry
where
    price_usd_per_hour is not null
    and effective_date is not null
    and (unit = 'accelerator_hour' or (unit = 'instance_hour' and accelerators is not null))
    and (accelerator is not null or instance is not null)
