/*
description: >
  One row per log, GPU and thing that is wrong with it at that moment: clocks that are held down (an idle GPU and clocks that somebody set
  are no fault), uncorrectable memory errors, rows to be remapped, pages to be retired, repairs that are due, fewer PCIe lanes than it has, a reset that the driver
  asks for. Memory errors since the driver was loaded are errors; those over the GPU's life are for the record. A link's generation falls when a GPU idles, and is no fault.
feeds: cluster_event
*/
with lane as (
    select
        artifact_manifest_digest,
        raw_path,
        log_index,
        gpu_index,
        max(value_number) filter (where ends_with(key, '/max_link_width')) as most,
        max(value_number) filter (where ends_with(key, '/current_link_width')) as lanes
    from nvidia_smi_entry
    where key like 'pci/%link_width'
    group by
        artifact_manifest_digest,
        raw_path,
        log_index,
        gpu_index
),

judged as (
    select
        entry.*,
        case
            when
                regexp_matches(entry.key, '^clocks_(?:throttle|event)_reasons/clocks_(?:throttle|event)_reason_')
                and entry.value = 'Active'
                then regexp_extract(entry.key, 'clocks_(?:throttle|event)_reason_(.+)$', 1)
            when
                starts_with(entry.key, 'ecc_errors/')
                and (contains(entry.key, 'uncorrectable') or ends_with(entry.key, '/double_bit/total'))
                and entry.value_number > 0
                then case when starts_with(entry.key, 'ecc_errors/volatile/') then 'ecc-uncorrectable' else 'ecc-uncorrectable-past' end
            when entry.key = 'remapped_rows/remapped_row_pending' and entry.value = 'Yes' then 'row-remap-pending'
            when entry.key = 'remapped_rows/remapped_row_failure' and entry.value = 'Yes' then 'row-remap-failure'
            when entry.key = 'retired_pages/pending_retirement' and entry.value = 'Yes' then 'page-retirement-pending'
            when entry.key in ('ecc_errors/channel_repair_pending', 'ecc_errors/tpc_repair_pending') and entry.value = 'Yes' then 'repair-pending'
            when entry.key = 'ecc_errors/unrepairable_memory' and entry.value = 'Yes' then 'memory-unrepairable'
            when entry.key like 'ecc_errors/%/sram_threshold_exceeded' and entry.value = 'Yes' then 'sram-threshold-exceeded'
            when starts_with(entry.key, 'gpu_reset_status/') and entry.value = 'Yes' then 'recovery-action'
            when entry.value in ('GPU requires reset', 'ERR!') then 'recovery-action'
            when entry.key = 'gpu_recovery_action' and entry.value not in ('None', 'N/A') then 'recovery-action'
            when ends_with(entry.key, '/current_link_width') and lane.lanes < lane.most then 'pcie-width'
        end as code
    from nvidia_smi_entry as entry
    left join lane
        on
            lane.artifact_manifest_digest = entry.artifact_manifest_digest
            and lane.raw_path = entry.raw_path
            and lane.log_index = entry.log_index
            and lane.gpu_index = entry.gpu_index
)

select
    'nvidia_smi' as source,
    entry.code,
    log.written_at as event_at,
    log.written_at as last_seen_at,
    case when log.written_at is not null then true end as is_zone_assumed,
    'stated' as certainty,
    entry.gpu_uuid,
    'gpu' as object_kind,
    entry.key as object_name,
    entry.key || ' is ' || entry.value as message,
    entry.artifact_manifest_digest,
    entry.raw_path,
    entry.raw_offset,
    entry.raw_length
from judged as entry
inner join nvidia_smi_log as log
    on
        log.artifact_manifest_digest = entry.artifact_manifest_digest
        and log.raw_path = entry.raw_path
        and log.log_index = entry.log_index
where
    entry.code is not null
    and entry.code not in ('gpu_idle', 'applications_clocks_setting', 'display_clocks_setting')
