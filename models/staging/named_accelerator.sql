/*
description: >
  One row per text that names accelerators: the accelerator that it names, by the rules of accelerator_rule. A name
  inside a longer name does not count (L40 in L40S, RTX 4090 in RTX 4090 D). A text that may name another product as
  well (H100 + Foo9000, H100-Z) names none. The products of a name are narrowed to those that agree with the form
  factor, memory size and memory type that the text states. If several are left, the columns in which they differ are
  NULL, and accelerator_reason says why. Nothing is guessed: H100 alone is a family, without form factor and memory.
grain: [artifact_manifest_digest, stated_by]
columns:
  artifact_manifest_digest: {tests: [not_null]}
  stated_by: {type: varchar, description: "The run; the run and its role, prefill or decode; or the price list's line as path:line", tests: [not_null]}
  accelerator_vendor: {type: varchar, description: "Who makes the accelerator; NULL where no rule knows it"}
  accelerator_form_factor: {type: varchar, description: "SXM, PCIe, NVL, OAM, superchip and so on; NULL where it is not known"}
  accelerator_memory_gb: {type: bigint, unit: GB, description: "Its memory as its maker names the product; NULL where it is not known"}
  accelerator_name: {type: varchar, description: "One name for all spellings: the family, with form factor and memory where it has several; NULL for a part of an accelerator, and for a product that no rule knows"}
  accelerator_reason: {type: varchar, description: "Why the product is not known; NULL: it is known", tests: [{accepted_values: [no-rule, several-accelerators, unknown-word, partition, product-unknown, form-factor-unknown, memory-unknown]}]}
  accelerator_key: {type: varchar, description: "What a run and its price share: accelerator_name or, if no product is known, the text in lower case without punctuation and maker", tests: [not_null]}
*/
with family as (
    select
        family,
        count(distinct form_factor) > 1 as has_form_factors,
        count(distinct memory_gb) > 1 as has_memories
    from accelerator_rule
    group by family
),

rule_name as (
    select distinct name
    from accelerator_rule
),

-- Longer names first: where a text says RTX 4090 D, the expression takes that and not RTX 4090.
pattern as (
    select
        stated.artifact_manifest_digest,
        stated.stated_by,
        stated.words,
        '\b(?:' || string_agg(regexp_escape(rule_name.name), '|' order by length(rule_name.name) desc, rule_name.name) || ')\b' as names
    from stated_accelerator as stated
    inner join rule_name
        on contains(stated.words, ' ' || rule_name.name || ' ')
    group by
        stated.artifact_manifest_digest,
        stated.stated_by,
        stated.words
),

-- Each name is `#`, and each word that makes no other product of it `.`: form factor, memory, power, number, partition, connective, place.
found as (
    select
        artifact_manifest_digest,
        stated_by,
        regexp_extract_all(words, names) as names,
        regexp_matches(regexp_replace(words, names, '\0#', 'g'), '\b(gaudi|trainium|inferentia)# [0-9]') as is_generation_unknown,
        regexp_replace(
            regexp_replace(words, names, '#', 'g'),
            '\b(?:[a-z][a-z0-9]* [0-9]*xlarge|[0-9]*xlarge|metal|[0-9]{1,3}|x[0-9]+|[0-9]+x|[0-9]+w|[0-9]+gpus?'
            || '|sxm[2-9]?|pcie|nvl[0-9]*|oam|hgx|dgxs?|laptop|mobile|[0-9]+[gmt]i?b|hbm[0-9]?e?|gddr[0-9]x?'
            || '|mig|vgpu|grid|shared|[cdqts]px|nps[0-9]|[1-7]g[0-9]{1,3}gb|[0-9]{1,2}(?:[acq]|b4?)|[tdpe]p[0-9]+'
            || '|gpus?|graphics|accelerators?|chips?|cards?|tensor|cores?|generation|edition|founders|developer|kit|module|nvlink|nvswitch'
            || '|superchip|grace|gracehopper|hopper|blackwell|ampere|lovelace|volta|turing|aarch64|arm64|x86|slice|podslice|device'
            || '|and|or|vs|with|plus|per|on|of|each|nodes?|servers?|cluster|nvidia|amds?|intel|google|aws|com|nv|nvs|nb|cw|cr|dgxc|oci|slurm|trt)\b',
            '.',
            'g'
        ) as others
    from pattern
),

product as (
    select distinct
        found.artifact_manifest_digest,
        found.stated_by,
        found.is_generation_unknown
        or regexp_matches(found.others, '# [a-z0-9]|\b(?:[a-z]+[0-9]|[0-9]+[a-z]|[0-9]{4})') as is_beside_unknown,
        rule.vendor,
        rule.family,
        rule.form_factor,
        rule.memory_gb,
        rule.memory_type
    from found
    inner join accelerator_rule as rule
        on list_contains(found.names, rule.name)
),

held as (
    select
        stated.artifact_manifest_digest,
        stated.stated_by,
        stated.stated_name,
        stated.is_partition,
        stated.form_factors,
        stated.memories_gb,
        product.vendor,
        product.family,
        product.form_factor,
        product.memory_gb,
        product.is_beside_unknown,
        (
            case len(stated.form_factors)
                when 0 then true
                when 1 then coalesce(product.form_factor = stated.form_factors[1], true)
                else false
            end
        ) and (
            case coalesce(len(stated.memories_gb), 0)
                when 0 then true
                when 1 then coalesce(product.memory_gb = stated.memories_gb[1], true)
                else false
            end
        ) and coalesce(product.memory_type = stated.memory_type, true) as is_left
    from stated_accelerator as stated
    left join product
        on
            product.artifact_manifest_digest = stated.artifact_manifest_digest
            and product.stated_by = stated.stated_by
),

named as (
    select
        artifact_manifest_digest,
        stated_by,
        min(stated_name) as stated_name,
        bool_or(is_partition) as is_partition,
        bool_or(is_beside_unknown) as is_beside_unknown,
        count(distinct family) as families,
        min(vendor) as vendor,
        min(family) as family,
        count(*) filter (where is_left) as left_over,
        count(distinct coalesce(form_factor, '')) filter (where is_left) as left_form_factors,
        count(distinct coalesce(memory_gb, 0)) filter (where is_left) as left_memories,
        coalesce(
            min(coalesce(form_factor, form_factors[1])) filter (where is_left),
            min(form_factor) filter (where len(form_factors) = 1 and form_factor = form_factors[1]),
            case when len(min(form_factors)) = 0 and count(distinct form_factor) = 1 then min(form_factor) end
        ) as form_factor,
        min(coalesce(memory_gb, memories_gb[1])) filter (where is_left) as memory_gb
    from held
    group by
        artifact_manifest_digest,
        stated_by
),

named_so as (
    select
        named.artifact_manifest_digest,
        named.stated_by,
        named.stated_name,
        case when family.family is not null then named.vendor end as accelerator_vendor,
        family.family as accelerator_family,
        case when family.family is not null and named.left_form_factors < 2 then named.form_factor end as accelerator_form_factor,
        case when family.family is not null and named.left_memories = 1 and not named.is_partition then named.memory_gb end as accelerator_memory_gb,
        family.has_form_factors,
        family.has_memories,
        case
            when named.families = 0 then 'no-rule'
            when named.families > 1 then 'several-accelerators'
            when named.is_beside_unknown then 'unknown-word'
            when named.is_partition then 'partition'
            when named.left_over = 0 then 'product-unknown'
            when named.left_form_factors > 1 then 'form-factor-unknown'
            when named.left_memories > 1 then 'memory-unknown'
        end as accelerator_reason
    from named
    left join family
        on
            named.families = 1
            and not named.is_beside_unknown
            and family.family = named.family
),

spelled as (
    select
        *,
        case when coalesce(accelerator_reason, '') not in ('partition', 'product-unknown') then accelerator_family end
        || case when has_form_factors then coalesce(' ' || accelerator_form_factor, '') else '' end
        || case when has_memories then coalesce(' ' || accelerator_memory_gb || 'GB', '') else '' end as accelerator_name
    from named_so
)

select
    artifact_manifest_digest,
    stated_by,
    accelerator_vendor,
    accelerator_family,
    accelerator_form_factor,
    accelerator_memory_gb,
    accelerator_name,
    accelerator_reason,
    case
        when coalesce(accelerator_reason, 'known') in ('known', 'form-factor-unknown', 'memory-unknown') then accelerator_name
        else regexp_replace(lower(stated_name), '^(nvidia|amd|intel|google|aws) |[^a-z0-9]', '', 'g')
    end as accelerator_key
from spelled
