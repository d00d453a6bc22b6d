/*
description: >
  One row per text that names accelerators, from the hardware of runs, the roles of split deployments and price lists. Its words are in one form:
  lower case, letters and digits, separated by single blanks, with a blank at both ends. Words that are written
  together are separated (h100sxm5, 8xH100, l40sx2, RTX4090).
grain: [artifact_manifest_digest, stated_by]
columns:
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  stated_by: {type: varchar, description: "The run; the run and its role, prefill or decode, if each has another accelerator; or the price list's line as path:line", tests: [not_null]}
  stated_name: {type: varchar, description: "The text as written", tests: [not_null]}
  words: {type: varchar, description: "Its words", tests: [not_null]}
  form_factors: {type: "varchar[]", description: "The form factors that it states; an NVL card is a PCIe card, and NVL alone", tests: [not_null]}
  memories_gb: {type: "bigint[]", unit: GB, description: "The memory sizes, in GB, that the text states, or else the evidence beside it"}
  memory_type: {type: varchar, description: "The memory type that it states"}
  is_partition: {type: boolean, description: "Whether it names a part of an accelerator: MIG, vGPU, or a partition mode", tests: [not_null]}
*/
with stated as (
    select
        artifact_manifest_digest,
        run_id as stated_by,
        gpu_model as stated_name,
        gpu_memory as stated_memory
    from feed.hardware_topology
    where gpu_model is not null
    union all
    select
        artifact_manifest_digest,
        run_id || ' prefill' as stated_by,
        prefill_accelerator as stated_name,
        null as stated_memory
    from feed.serving_configuration
    where prefill_accelerator is not null
    union all
    select
        artifact_manifest_digest,
        run_id || ' decode' as stated_by,
        decode_accelerator as stated_name,
        null as stated_memory
    from feed.serving_configuration
    where decode_accelerator is not null
    union all
    select
        artifact_manifest_digest,
        raw_path || ':' || line_number as stated_by,
        accelerator as stated_name,
        null as stated_memory
    from price_entry
    where accelerator is not null
),

-- GB and GiB are one here: makers name sizes in GB that drivers count in GiB. `highgpu 8g` of a cloud's machine is eight accelerators, and
-- `Standard_ND96isr_H100_v5` is a machine with H100.
apart as (
    select
        *,
        regexp_replace(
            regexp_replace(
                regexp_replace(
                    regexp_replace(
                        replace(
                            regexp_replace(
                                regexp_replace(lower(stated_name), '\((r|tm)\)| (x) ([1-9])', ' \2\3', 'g'), '[^a-z0-9]+', ' ', 'g'
                            ),
                            'pci e', 'pcie'
                        ),
                        '\bstandard n[a-z]+[0-9]*[a-z]* ([a-z0-9]+) v[0-9]+\b', '\1', 'g'
                    ),
                    '(high|mega|ultra|edge)gpu [0-9]+g\b', '\1gpu', 'g'
                ),
                '\b([0-9]+) ?g(i?b)?\b', '\1gb', 'g'
            ),
            '([0-9][a-z]?)(sxm|pcie|nvl|oam)', '\1 \2', 'g'
        ) as in_lower_case
    from stated
),

worded as (
    select
        *,
        ' ' || trim(
            regexp_replace(
                regexp_replace(
                    regexp_replace(
                        regexp_replace(in_lower_case, '\b(sxm[2-6]?|pcie|nvl|oam)([0-9]+gb)', '\1 \2', 'g'),
                        '\b(rtx|gaudi|tesla|instinct|trainium|inferentia|tpu|nvidia|geforce|quadro)([a-z]?[0-9])', '\1 \2', 'g'
                    ),
                    '\b[0-9]{1,3} ?x ?([a-z]+[0-9])', '\1', 'g'
                ),
                '\b([a-z]*[0-9]+[a-z]{0,2})x([0-9]+)\b', '\1 x\2', 'g'
            )
        ) || ' ' as words
    from apart
)

select
    artifact_manifest_digest,
    stated_by,
    stated_name,
    words,
    case when regexp_matches(words, ' (sxm[2-6]?|hgx) ') then ['SXM'] else [] end
    || case
        when contains(words, ' nvl ') then ['NVL']
        when contains(words, ' pcie ') then ['PCIe']
        else []
    end
    || case when contains(words, ' oam ') then ['OAM'] else [] end
    || case when regexp_matches(words, ' (laptop|mobile) ') then ['mobile'] else [] end as form_factors,
    list_distinct(
        case
            when regexp_matches(words, ' [1-9][0-9]{0,3}gb ') then regexp_extract_all(words, ' ([1-9][0-9]{0,3})gb', 1)
            else regexp_extract_all(lower(stated_memory), '^ *([1-9][0-9]{0,3})(?:\.0+)? ?gi?b\b', 1)
        end::bigint[]
    ) as memories_gb,
    nullif(regexp_extract(words, ' (hbm[0-9]e?) ', 1), '') as memory_type,
    regexp_matches(words, ' (mig|vgpu|grid|shared|[cdqt]px) ')
    or regexp_matches(lower(stated_name), '(^|[^a-z0-9])[1-7]g[._-]?[0-9]{1,3}gb|[ _-][0-9]{1,2}([acq]|b4?)([^a-z0-9]|$)') as is_partition
from worded
