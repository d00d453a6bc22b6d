/*
description: >
  One row per run whose rate * elapsed is not the number of operations that its parameters imply, and per run whose rate
  counts one product or convolution a repetition although a mini_batch is stated. Script versions differ in both.
grain: [run_id]
feeds: issue
*/
with source as (
    select
        run_id,
        artifact_manifest_digest,
        raw_path
    from thoth_run
    union all by name
    select
        run_id,
        artifact_manifest_digest,
        raw_path
    from recorded_run
),

compared as (
    select
        *,
        operations * coalesce(mini_batch, 1) as implied,
        abs(stated_operations - operations) <= 0.001 * operations as counts_one,
        abs(stated_operations - implied) / greatest(stated_operations, implied) as difference
    from indicator_operations
    where
        stated_operations > 0
        and operations > 0
        and coalesce(mini_batch, 1) > 0
)

select
    compared.artifact_manifest_digest,
    source.raw_path,
    0::bigint as raw_offset,
    0::bigint as raw_length,
    case
        when compared.counts_one or compared.difference <= 0.05 then 'note'
        when compared.difference <= 0.5 then 'warning'
        else 'error'
    end as severity,
    case when compared.counts_one then 'mini-batch-not-counted' else 'rate-disagrees' end as code,
    case
        when compared.counts_one
            then 'rate counts one operation of ' || compared.indicator || ' a repetition, though mini_batch is ' || try_cast(compared.mini_batch as bigint)
        else
            'rate * elapsed is ' || compared.stated_operations || ' operations, by the parameters '
            || compared.implied || ': ' || round(100 * compared.difference, 2) || ' % apart'
    end as message,
    cast(null as bigint) as line_number,
    compared.run_id
from compared
inner join source
    on
        source.run_id = compared.run_id
        and source.artifact_manifest_digest = compared.artifact_manifest_digest
where
    not compared.agrees
    or (compared.counts_one and compared.mini_batch > 1)
