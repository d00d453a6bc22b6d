/*
description: >
  One row per metric of a documented exporter: dcgm-exporter, vLLM, SGLang, Triton, node exporter, cAdvisor, Kueue and
  probes of nodes and network. Names and units are those of the exporters' documentation. Where versions of an exporter
  differ in the unit (DCGM's violations are in microseconds or nanoseconds), only a unit that the evidence states counts.
grain: [source, source_metric]
feeds: telemetry_metric
*/
with dcgm as (
    select
        'prometheus' as source,
        'DCGM_FI_' || source_metric as source_metric,
        metric,
        unit,
        source_unit,
        kind,
        'gpu' as scope
    from (
        values
        ('DEV_SM_CLOCK', 'gpu_sm_clock_mhz', 'MHz', 'mhz', 'gauge'),
        ('DEV_MEM_CLOCK', 'gpu_memory_clock_mhz', 'MHz', 'mhz', 'gauge'),
        ('DEV_APP_SM_CLOCK', 'gpu_application_clock_mhz', 'MHz', 'mhz', 'gauge'),
        ('DEV_GPU_TEMP', 'gpu_temperature_c', '°C', 'c', 'gauge'),
        ('DEV_MEMORY_TEMP', 'gpu_memory_temperature_c', '°C', 'c', 'gauge'),
        ('DEV_POWER_USAGE', 'gpu_power_w', 'W', 'w', 'gauge'),
        ('DEV_POWER_MGMT_LIMIT', 'gpu_power_limit_w', 'W', 'w', 'gauge'),
        ('DEV_TOTAL_ENERGY_CONSUMPTION', 'gpu_energy_j', 'J', 'mj', 'counter'),
        ('DEV_GPU_UTIL', 'gpu_util_pct', '%', '%', 'gauge'),
        ('DEV_MEM_COPY_UTIL', 'gpu_memory_copy_util_pct', '%', '%', 'gauge'),
        ('DEV_ENC_UTIL', 'gpu_encoder_util_pct', '%', '%', 'gauge'),
        ('DEV_DEC_UTIL', 'gpu_decoder_util_pct', '%', '%', 'gauge'),
        ('DEV_FB_USED', 'gpu_memory_used_bytes', 'bytes', 'mib', 'gauge'),
        ('DEV_FB_FREE', 'gpu_memory_free_bytes', 'bytes', 'mib', 'gauge'),
        ('DEV_FB_TOTAL', 'gpu_memory_total_bytes', 'bytes', 'mib', 'gauge'),
        ('DEV_FB_RESERVED', 'gpu_memory_reserved_bytes', 'bytes', 'mib', 'gauge'),
        ('DEV_FB_USED_PERCENT', 'gpu_memory_used_pct', '%', 'ratio', 'gauge'),
        ('DEV_XID_ERRORS', 'gpu_xid', 'code', 'code', 'state'),
        ('DEV_CLOCK_THROTTLE_REASONS', 'gpu_clock_event_reasons', 'bits', 'bits', 'state'),
        ('DEV_CLOCKS_EVENT_REASONS', 'gpu_clock_event_reasons', 'bits', 'bits', 'state'),
        ('DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS', 'gpu_throttle_power_cap_s', 's', 'ns', 'counter'),
        ('DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN_NS', 'gpu_throttle_software_thermal_s', 's', 'ns', 'counter'),
        ('DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS', 'gpu_throttle_hardware_thermal_s', 's', 'ns', 'counter'),
        ('DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN_NS', 'gpu_throttle_power_brake_s', 's', 'ns', 'counter'),
        ('DEV_CLOCKS_EVENT_REASON_SYNC_BOOST_NS', 'gpu_throttle_sync_boost_s', 's', 'ns', 'counter'),
        ('DEV_POWER_VIOLATION', 'gpu_throttle_power_s', 's', null, 'counter'),
        ('DEV_THERMAL_VIOLATION', 'gpu_throttle_thermal_s', 's', null, 'counter'),
        ('DEV_SYNC_BOOST_VIOLATION', 'gpu_throttle_sync_boost_s', 's', null, 'counter'),
        ('DEV_BOARD_LIMIT_VIOLATION', 'gpu_throttle_board_limit_s', 's', null, 'counter'),
        ('DEV_LOW_UTIL_VIOLATION', 'gpu_throttle_low_utilisation_s', 's', null, 'counter'),
        ('DEV_RELIABILITY_VIOLATION', 'gpu_throttle_reliability_s', 's', null, 'counter'),
        ('DEV_ECC_SBE_VOL_TOTAL', 'gpu_ecc_corrected_count', 'count', 'count', 'counter'),
        ('DEV_ECC_DBE_VOL_TOTAL', 'gpu_ecc_uncorrected_count', 'count', 'count', 'counter'),
        ('DEV_ECC_SBE_AGG_TOTAL', 'gpu_ecc_corrected_lifetime_count', 'count', 'count', 'counter'),
        ('DEV_ECC_DBE_AGG_TOTAL', 'gpu_ecc_uncorrected_lifetime_count', 'count', 'count', 'counter'),
        ('DEV_RETIRED_SBE', 'gpu_retired_pages_corrected_count', 'count', 'count', 'counter'),
        ('DEV_RETIRED_DBE', 'gpu_retired_pages_uncorrected_count', 'count', 'count', 'counter'),
        ('DEV_RETIRED_PENDING', 'gpu_retired_pages_pending_count', 'count', 'count', 'gauge'),
        ('DEV_UNCORRECTABLE_REMAPPED_ROWS', 'gpu_remapped_rows_uncorrected_count', 'count', 'count', 'counter'),
        ('DEV_CORRECTABLE_REMAPPED_ROWS', 'gpu_remapped_rows_corrected_count', 'count', 'count', 'counter'),
        ('DEV_ROW_REMAP_FAILURE', 'gpu_row_remap_failure', 'code', 'code', 'state'),
        ('DEV_PCIE_REPLAY_COUNTER', 'pcie_replay_count', 'count', 'count', 'counter'),
        ('DEV_PCIE_LINK_GEN', 'pcie_generation', 'code', 'code', 'state'),
        ('DEV_PCIE_LINK_WIDTH', 'pcie_width', 'count', 'count', 'state'),
        ('DEV_PCIE_MAX_LINK_GEN', 'pcie_generation_max', 'code', 'code', 'state'),
        ('DEV_PCIE_MAX_LINK_WIDTH', 'pcie_width_max', 'count', 'count', 'state'),
        ('DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL', 'nvlink_crc_flit_error_count', 'count', 'count', 'counter'),
        ('DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL', 'nvlink_crc_data_error_count', 'count', 'count', 'counter'),
        ('DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL', 'nvlink_replay_error_count', 'count', 'count', 'counter'),
        ('DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL', 'nvlink_recovery_error_count', 'count', 'count', 'counter'),
        ('PROF_GR_ENGINE_ACTIVE', 'gpu_graphics_active_pct', '%', 'ratio', 'gauge'),
        ('PROF_SM_ACTIVE', 'gpu_sm_active_pct', '%', 'ratio', 'gauge'),
        ('PROF_SM_OCCUPANCY', 'gpu_sm_occupancy_pct', '%', 'ratio', 'gauge'),
        ('PROF_PIPE_TENSOR_ACTIVE', 'gpu_tensor_active_pct', '%', 'ratio', 'gauge'),
        ('PROF_DRAM_ACTIVE', 'gpu_dram_active_pct', '%', 'ratio', 'gauge'),
        ('PROF_PIPE_FP64_ACTIVE', 'gpu_fp64_active_pct', '%', 'ratio', 'gauge'),
        ('PROF_PIPE_FP32_ACTIVE', 'gpu_fp32_active_pct', '%', 'ratio', 'gauge'),
        ('PROF_PIPE_FP16_ACTIVE', 'gpu_fp16_active_pct', '%', 'ratio', 'gauge'),
        -- Rates, whatever TYPE says: dcgm_fields.h, fields 1009 to 1012.
        ('PROF_PCIE_TX_BYTES', 'pcie_sent_bytes_per_s', 'bytes/s', 'bytes/s', 'gauge'),
        ('PROF_PCIE_RX_BYTES', 'pcie_received_bytes_per_s', 'bytes/s', 'bytes/s', 'gauge'),
        ('PROF_NVLINK_TX_BYTES', 'nvlink_sent_bytes_per_s', 'bytes/s', 'bytes/s', 'gauge'),
        ('PROF_NVLINK_RX_BYTES', 'nvlink_received_bytes_per_s', 'bytes/s', 'bytes/s', 'gauge')
    ) as known (source_metric, metric, unit, source_unit, kind)
),

server as (
    select
        'prometheus' as source,
        source_metric,
        metric,
        unit,
        source_unit,
        kind,
        'server' as scope
    from (
        values
        ('vllm:num_requests_running', 'requests_running', 'count', 'count', 'gauge'),
        ('vllm:num_requests_waiting', 'requests_waiting', 'count', 'count', 'gauge'),
        ('vllm:kv_cache_usage_perc', 'kv_cache_used_pct', '%', 'ratio', 'gauge'),
        ('vllm:gpu_cache_usage_perc', 'kv_cache_used_pct', '%', 'ratio', 'gauge'),
        ('vllm:num_preemptions_total', 'preemption_count', 'count', 'count', 'counter'),
        ('vllm:prompt_tokens_total', 'input_token_count', 'count', 'count', 'counter'),
        ('vllm:generation_tokens_total', 'output_token_count', 'count', 'count', 'counter'),
        ('vllm:request_success_total', 'request_count', 'count', 'count', 'counter'),
        ('vllm:prefix_cache_queries_total', 'prefix_cache_queried_token_count', 'count', 'count', 'counter'),
        ('vllm:prefix_cache_hits_total', 'prefix_cache_hit_token_count', 'count', 'count', 'counter'),
        ('vllm:time_to_first_token_seconds', 'ttft_ms', 'ms', 's', 'histogram'),
        ('vllm:inter_token_latency_seconds', 'itl_ms', 'ms', 's', 'histogram'),
        ('vllm:time_per_output_token_seconds', 'itl_ms', 'ms', 's', 'histogram'),
        ('vllm:request_time_per_output_token_seconds', 'tpot_ms', 'ms', 's', 'histogram'),
        ('vllm:e2e_request_latency_seconds', 'e2e_ms', 'ms', 's', 'histogram'),
        ('vllm:request_queue_time_seconds', 'request_queue_ms', 'ms', 's', 'histogram'),
        ('vllm:request_prefill_time_seconds', 'request_prefill_ms', 'ms', 's', 'histogram'),
        ('vllm:request_decode_time_seconds', 'request_decode_ms', 'ms', 's', 'histogram'),
        ('sglang:num_running_reqs', 'requests_running', 'count', 'count', 'gauge'),
        ('sglang:num_queue_reqs', 'requests_waiting', 'count', 'count', 'gauge'),
        ('sglang:token_usage', 'kv_cache_used_pct', '%', 'ratio', 'gauge'),
        ('sglang:gen_throughput', 'output_token_throughput_per_s', 'tokens/s', 'tokens/s', 'gauge'),
        ('sglang:cache_hit_rate', 'prefix_cache_hit_pct', '%', 'ratio', 'gauge'),
        ('sglang:prompt_tokens_total', 'input_token_count', 'count', 'count', 'counter'),
        ('sglang:generation_tokens_total', 'output_token_count', 'count', 'count', 'counter'),
        ('sglang:num_requests_total', 'request_count', 'count', 'count', 'counter'),
        ('sglang:time_to_first_token_seconds', 'ttft_ms', 'ms', 's', 'histogram'),
        ('sglang:inter_token_latency_seconds', 'itl_ms', 'ms', 's', 'histogram'),
        ('sglang:e2e_request_latency_seconds', 'e2e_ms', 'ms', 's', 'histogram'),
        ('sglang:queue_time_seconds', 'request_queue_ms', 'ms', 's', 'histogram'),
        ('nv_inference_request_success', 'request_count', 'count', 'count', 'counter'),
        ('nv_inference_request_failure', 'failed_request_count', 'count', 'count', 'counter'),
        ('nv_inference_pending_request_count', 'requests_waiting', 'count', 'count', 'gauge'),
        ('nv_inference_queue_duration_us', 'request_queue_total_s', 's', 'us', 'counter'),
        ('nv_inference_request_duration_us', 'request_duration_total_s', 's', 'us', 'counter'),
        ('nv_inference_compute_infer_duration_us', 'request_compute_total_s', 's', 'us', 'counter'),
        ('coredns_dns_request_duration_seconds', 'dns_request_ms', 'ms', 's', 'histogram')
    ) as known (source_metric, metric, unit, source_unit, kind)
),

triton as (
    select
        'prometheus' as source,
        source_metric,
        metric,
        unit,
        source_unit,
        kind,
        'gpu' as scope
    from (
        values
        ('nv_gpu_utilization', 'gpu_util_pct', '%', 'ratio', 'gauge'),
        ('nv_gpu_power_usage', 'gpu_power_w', 'W', 'w', 'gauge'),
        ('nv_gpu_power_limit', 'gpu_power_limit_w', 'W', 'w', 'gauge'),
        ('nv_energy_consumption', 'gpu_energy_j', 'J', 'j', 'counter'),
        ('nv_gpu_memory_used_bytes', 'gpu_memory_used_bytes', 'bytes', 'bytes', 'gauge'),
        ('nv_gpu_memory_total_bytes', 'gpu_memory_total_bytes', 'bytes', 'bytes', 'gauge')
    ) as known (source_metric, metric, unit, source_unit, kind)
),

host as (
    select
        'prometheus' as source,
        source_metric,
        metric,
        unit,
        source_unit,
        kind,
        scope
    from (
        values
        ('node_memory_MemAvailable_bytes', 'memory_available_bytes', 'bytes', 'bytes', 'gauge', 'node'),
        -- A series per CPU and mode (label mode: idle, iowait, user, system and others).
        ('node_cpu_seconds_total', 'cpu_mode_s', 's', 's', 'counter', 'node'),
        ('node_pressure_cpu_waiting_seconds_total', 'cpu_pressure_s', 's', 's', 'counter', 'node'),
        ('node_pressure_io_waiting_seconds_total', 'io_pressure_s', 's', 's', 'counter', 'node'),
        ('node_pressure_memory_waiting_seconds_total', 'memory_pressure_s', 's', 's', 'counter', 'node'),
        ('node_disk_read_bytes_total', 'disk_read_bytes', 'bytes', 'bytes', 'counter', 'disk'),
        ('node_disk_written_bytes_total', 'disk_write_bytes', 'bytes', 'bytes', 'counter', 'disk'),
        ('node_disk_io_time_seconds_total', 'disk_busy_s', 's', 's', 'counter', 'disk'),
        ('node_network_receive_bytes_total', 'net_recv_bytes', 'bytes', 'bytes', 'counter', 'nic'),
        ('node_network_transmit_bytes_total', 'net_sent_bytes', 'bytes', 'bytes', 'counter', 'nic'),
        ('node_network_receive_packets_total', 'nic_received_packet_count', 'count', 'count', 'counter', 'nic'),
        ('node_network_receive_errs_total', 'nic_receive_error_count', 'count', 'count', 'counter', 'nic'),
        ('node_network_transmit_errs_total', 'nic_send_error_count', 'count', 'count', 'counter', 'nic'),
        ('node_network_receive_drop_total', 'nic_receive_drop_count', 'count', 'count', 'counter', 'nic'),
        ('node_network_transmit_drop_total', 'nic_send_drop_count', 'count', 'count', 'counter', 'nic'),
        ('node_infiniband_symbol_error_total', 'nic_symbol_error_count', 'count', 'count', 'counter', 'nic'),
        ('node_infiniband_link_downed_total', 'nic_link_down_count', 'count', 'count', 'counter', 'nic'),
        ('node_infiniband_link_error_recovery_total', 'nic_link_recovery_count', 'count', 'count', 'counter', 'nic'),
        ('ping_rtt_mean_seconds', 'ping_rtt_mean_ms', 'ms', 's', 'gauge', 'nic'),
        ('ping_rtt_worst_seconds', 'ping_rtt_worst_ms', 'ms', 's', 'gauge', 'nic'),
        ('ping_loss_ratio', 'ping_loss_pct', '%', 'ratio', 'gauge', 'nic'),
        ('problem_counter', 'node_problem_count', 'count', 'count', 'counter', 'node'),
        ('problem_gauge', 'node_problem', 'code', 'code', 'state', 'node'),
        ('container_cpu_cfs_throttled_seconds_total', 'pod_cpu_throttled_s', 's', 's', 'counter', 'pod'),
        ('container_cpu_cfs_throttled_periods_total', 'pod_cpu_throttled_period_count', 'count', 'count', 'counter', 'pod'),
        ('container_cpu_cfs_periods_total', 'pod_cpu_period_count', 'count', 'count', 'counter', 'pod'),
        ('container_cpu_usage_seconds_total', 'pod_cpu_s', 's', 's', 'counter', 'pod'),
        ('container_memory_working_set_bytes', 'pod_memory_bytes', 'bytes', 'bytes', 'gauge', 'pod'),
        ('kube_pod_container_status_restarts_total', 'pod_restart_count', 'count', 'count', 'counter', 'pod'),
        ('kueue_pending_workloads', 'queue_pending_workloads', 'count', 'count', 'gauge', 'queue'),
        ('kueue_admitted_active_workloads', 'queue_admitted_workloads', 'count', 'count', 'gauge', 'queue'),
        ('kueue_evicted_workloads_total', 'queue_evicted_workload_count', 'count', 'count', 'counter', 'queue')
    ) as known (source_metric, metric, unit, source_unit, kind, scope)
),

-- Units are those of the study's queries, so none is known without them.
akamas as (
    select
        'akamas' as source,
        source_metric,
        metric,
        unit,
        null::varchar as source_unit,
        'gauge' as kind,
        scope
    from (
        values
        ('gpu_util', 'gpu_util_pct', '%', 'gpu'),
        ('gpu_sm_active', 'gpu_sm_active_pct', '%', 'gpu'),
        ('gpu_sm_occupancy', 'gpu_sm_occupancy_pct', '%', 'gpu'),
        ('gpu_tensor_core_active', 'gpu_tensor_active_pct', '%', 'gpu'),
        ('gpu_dram_active', 'gpu_dram_active_pct', '%', 'gpu'),
        ('gpu_fb_used', 'gpu_memory_used_bytes', 'bytes', 'gpu'),
        ('gpu_power_usage', 'gpu_power_w', 'W', 'gpu'),
        ('gpu_power_limit', 'gpu_power_limit_w', 'W', 'gpu'),
        ('gpu_temp', 'gpu_temperature_c', '°C', 'gpu'),
        ('gpu_memory_temp', 'gpu_memory_temperature_c', '°C', 'gpu'),
        ('num_requests_running', 'requests_running', 'count', 'server'),
        ('num_requests_waiting', 'requests_waiting', 'count', 'server'),
        ('kv_cache_usage_avg', 'kv_cache_used_pct', '%', 'server'),
        ('prefill_token_throughput', 'input_token_throughput_per_s', 'tokens/s', 'server'),
        ('decode_token_throughput', 'output_token_throughput_per_s', 'tokens/s', 'server'),
        ('time_to_first_token_avg', 'ttft_mean_ms', 'ms', 'server'),
        ('time_to_first_token_p95', 'ttft_p95_ms', 'ms', 'server'),
        ('inter_token_latency_avg', 'itl_mean_ms', 'ms', 'server'),
        ('inter_token_latency_p95', 'itl_p95_ms', 'ms', 'server'),
        ('e2e_request_latency_avg', 'e2e_mean_ms', 'ms', 'server'),
        ('e2e_request_latency_p95', 'e2e_p95_ms', 'ms', 'server')
    ) as known (source_metric, metric, unit, scope)
),

-- Of nvidia-smi -q -x, by the paths of elements. Older drivers have power_readings, newer ones gpu_power_readings.
nvidia_smi as (
    select
        'nvidia_smi' as source,
        source_metric,
        metric,
        unit,
        source_unit,
        kind,
        'gpu' as scope
    from (
        values
        ('clocks/sm_clock', 'gpu_sm_clock_mhz', 'MHz', 'mhz', 'gauge'),
        ('clocks/mem_clock', 'gpu_memory_clock_mhz', 'MHz', 'mhz', 'gauge'),
        ('applications_clocks/graphics_clock', 'gpu_application_clock_mhz', 'MHz', 'mhz', 'gauge'),
        ('temperature/gpu_temp', 'gpu_temperature_c', '°C', 'c', 'gauge'),
        ('temperature/memory_temp', 'gpu_memory_temperature_c', '°C', 'c', 'gauge'),
        ('power_readings/power_draw', 'gpu_power_w', 'W', 'w', 'gauge'),
        ('gpu_power_readings/power_draw', 'gpu_power_w', 'W', 'w', 'gauge'),
        ('gpu_power_readings/instant_power_draw', 'gpu_power_w', 'W', 'w', 'gauge'),
        ('power_readings/enforced_power_limit', 'gpu_power_limit_w', 'W', 'w', 'gauge'),
        ('gpu_power_readings/current_power_limit', 'gpu_power_limit_w', 'W', 'w', 'gauge'),
        ('utilization/gpu_util', 'gpu_util_pct', '%', '%', 'gauge'),
        ('utilization/memory_util', 'gpu_memory_copy_util_pct', '%', '%', 'gauge'),
        ('fb_memory_usage/used', 'gpu_memory_used_bytes', 'bytes', 'mib', 'gauge'),
        ('fb_memory_usage/total', 'gpu_memory_total_bytes', 'bytes', 'mib', 'gauge'),
        ('pci/pci_gpu_link_info/pcie_gen/current_link_gen', 'pcie_generation', 'code', 'code', 'state'),
        ('pci/pci_gpu_link_info/pcie_gen/max_link_gen', 'pcie_generation_max', 'code', 'code', 'state'),
        ('pci/pci_gpu_link_info/link_widths/current_link_width', 'pcie_width', 'count', 'count', 'state'),
        ('pci/pci_gpu_link_info/link_widths/max_link_width', 'pcie_width_max', 'count', 'count', 'state'),
        ('pci/replay_counter', 'pcie_replay_count', 'count', 'count', 'counter'),
        -- Since driver 570, in microseconds.
        ('clocks_event_reasons_counters/clocks_event_reasons_counters_sw_power_cap', 'gpu_throttle_power_cap_s', 's', 'us', 'counter'),
        ('clocks_event_reasons_counters/clocks_event_reasons_counters_sync_boost', 'gpu_throttle_sync_boost_s', 's', 'us', 'counter'),
        ('clocks_event_reasons_counters/clocks_event_reasons_counters_sw_therm_slowdown', 'gpu_throttle_software_thermal_s', 's', 'us', 'counter'),
        ('clocks_event_reasons_counters/clocks_event_reasons_counters_hw_therm_slowdown', 'gpu_throttle_hardware_thermal_s', 's', 'us', 'counter'),
        ('clocks_event_reasons_counters/clocks_event_reasons_counters_hw_power_brake', 'gpu_throttle_power_brake_s', 's', 'us', 'counter')
    ) as known (source_metric, metric, unit, source_unit, kind)
),

all_known as (
    select * from dcgm
    union all
    select * from akamas
    union all
    select * from nvidia_smi
    union all
    select * from server
    union all
    select * from triton
    union all
    select * from host
)

select *
from all_known
