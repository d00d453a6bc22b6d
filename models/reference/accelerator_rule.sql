/*
description: >
  One row per name and product of an accelerator: the words by which a text names it, and what its maker makes under
  that name. A project adds rules with a staging model that has `feeds: accelerator_rule`.
grain: [name, vendor, family, form_factor, memory_gb, memory_type]
collects: accelerator_rule
columns:
  name: {type: varchar, description: "The words, lower case, letters and digits only, separated by single blanks", tests: [not_null]}
  vendor: {type: varchar, description: "Who makes it", tests: [not_null]}
  family: {type: varchar, description: "The accelerator's model without form factor and memory: H100", tests: [not_null]}
  form_factor: {type: varchar, description: "Form factor of this product; NULL: whichever a text states"}
  memory_gb: {type: bigint, unit: GB, description: "Its memory, as its maker names the product; NULL: whichever a text states"}
  memory_type: {type: varchar, description: "Its memory type, lower case, if that distinguishes it from another product: hbm3"}
  source: {type: varchar, description: "Where that is documented"}
*/
select
    name,
    vendor,
    family,
    form_factor,
    memory_gb,
    memory_type,
    source
from feed.accelerator_rule
