/*
description: A GPU reported faults during the run (XID, ECC, remapped rows)
playbook: distributed_straggler
evidence: XID codes, ECC and remapping counters of GPUs (dcgm-exporter)
order: 5
*/
with counter as (
    select *
    from (
        values
        ('gpu_ecc_uncorrected_count', 0.9, 1),
        ('gpu_remapped_rows_uncorrected_count', 0.9, 1),
        ('gpu_remapped_rows_corrected_count', 0.5, 1),
        ('gpu_ecc_corrected_count', 0.3, 10)
    ) as rule (metric, most, least_count)
),

own as (
    select peer.*
    from telemetry_peer as peer
    inner join explained
        on
            explained.run_id = peer.run_id
            and explained.role = 'run'
)

select
    own.subject,
    if(own.is_supported, own.value >= counter.least_count and own.value > 3 * if(own.peer_count > 1, own.peer_median, 0), null) as is_found,
    counter.most as score,
    printf('%s rose by %.0f, in the median of the peers by %.0f', own.metric, own.value, own.peer_median) as statement,
    own.value as observed,
    own.peer_median as expected,
    own.unit,
    own.artifact_manifest_digest,
    own.raw_path
from own
inner join counter
    on counter.metric = own.metric
where own.value is not null
union all
-- The gauge keeps the last code until the driver is loaded again: one that does not change in the run was there before.
-- Codes of faulty programs (NVIDIA's XID catalogue): 13, 31, 43, 45, 68, 69.
select
    own.subject,
    if(own.is_supported, own.value_max > own.value_min, null) as is_found,
    if(own.value_last in (13, 31, 43, 45, 68, 69), 0.3, 0.9) as score,
    case
        when own.value_max > own.value_min then printf('XID %.0f appeared during the run', own.value_last)
        when own.value_last > 0 then printf('XID %.0f is from before the run', own.value_last)
        else 'no XID'
    end as statement,
    own.value_last as observed,
    own.value_min as expected,
    own.unit,
    own.artifact_manifest_digest,
    own.raw_path
from own
where
    own.metric = 'gpu_xid'
    and own.value_last is not null
union all
select
    own.subject,
    if(own.is_supported, own.value_max > 0, null) as is_found,
    0.9 as score,
    if(own.value_max > 0, 'a row could not be remapped', 'no row failed to be remapped') as statement,
    own.value_max as observed,
    0 as expected,
    own.unit,
    own.artifact_manifest_digest,
    own.raw_path
from own
where
    own.metric = 'gpu_row_remap_failure'
    and own.value_max is not null
