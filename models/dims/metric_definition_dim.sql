/*
description: >
  One row per metric column: what it means, its unit, which direction is better, and since which version of the
  definition. A change of meaning is a new version, never a silent edit.
grain: [metric, version]
columns:
  metric: {type: varchar, description: "Column name in a fact or rollup", tests: [not_null]}
  version: {type: bigint, description: "Version of the definition", tests: [not_null]}
  definition: {type: varchar, description: "What it means", tests: [not_null]}
  unit: {type: varchar, description: "Unit; NULL: dimensionless"}
  better: {type: varchar, description: "Which direction is better", tests: [not_null, {accepted_values: [lower, higher, neither]}]}
  display_name: {type: varchar, description: "Name for people; `*` stands for what the metric's `*` does, a p50 being the median. NULL: the metric's name in words"}
  display_unit: {type: varchar, description: "Unit for people; NULL: dimensionless"}
*/
select
    metric,
    version::bigint as version,
    definition,
    unit,
    better,
    display_name,
    display_unit
from (
    values
    ('*_p50_ms, *_p90_ms, *_p95_ms, *_p99_ms', 1, 'Percentile as the source states it; else of its requests by linear interpolation between order statistics: position (n - 1) * p', 'ms', 'lower', null, 'ms'),
    ('ttft_*_ms', 1, 'Time from sending a request to its first token with content, over requests of one run', 'ms', 'lower', 'TTFT, *', 'ms'),
    ('tpot_*_ms', 1, 'Per request: (end to end - time to first token) / (output tokens - 1); over requests of one run', 'ms', 'lower', 'TPOT, *', 'ms'),
    ('itl_*_ms', 1, 'Time between consecutive tokens of a request, over all gaps of one run', 'ms', 'lower', 'ITL, *', 'ms'),
    ('e2e_*_ms', 1, 'Time from sending a request to its last token or answer, over requests of one run', 'ms', 'lower', 'End-to-end latency, *', 'ms'),
    ('jitter_ms', 1, 'Population standard deviation (divisor n) of inter-token latency over all gaps of one run', 'ms', 'lower', 'Jitter of ITL', 'ms'),
    ('early_stopping_latency_ms', 1, 'MLPerf: 99 % confident upper bound of the scenario''s latency percentile (p90 SingleStream, p99 MultiStream)', 'ms', 'lower', 'Early-stopping latency', 'ms'),
    ('request_throughput_per_s', 1, 'Requests or queries completed / measured time', '1/s', 'higher', 'Request throughput', 'requests/s'),
    ('sample_throughput_per_s', 1, 'Samples completed / measured time', 'samples/s', 'higher', 'Sample throughput', 'samples/s'),
    ('output_token_throughput_per_s', 1, 'Output tokens of completed requests / measured time', 'tokens/s', 'higher', 'Output token throughput', 'tokens/s'),
    ('total_token_throughput_per_s', 1, 'Input and output tokens of completed requests / measured time', 'tokens/s', 'higher', 'Total token throughput', 'tokens/s'),
    ('speculative_acceptance_pct', 1, 'Draft tokens of speculative decoding that were accepted / draft tokens, over one run', '%', 'higher', 'Accepted draft tokens', '%'),
    ('speculative_acceptance_length', 1, 'Tokens that a verification of speculative decoding yields, mean over one run: accepted draft tokens and the one of the model itself', 'tokens', 'higher', 'Acceptance length', 'tokens'),
    ('queueing_delay_ms', 1, 'Time a request waited at the server before work on it began', 'ms', 'lower', 'Queueing delay', 'ms'),
    ('error_rate', 1, 'Failed requests / (completed + failed)', null, 'lower', 'Error rate', null),
    ('power_w', 1, 'Mean of the power meter''s samples with power_begin <= t <= power_end', 'W', 'lower', 'System power', 'W'),
    ('energy_per_query_mj', 1, 'Mean power * (power_end - power_begin) / queries', 'mJ', 'lower', 'Energy per query', 'mJ'),
    ('accelerator_power_w', 1, 'Energy of all accelerators, at their boards, in the measured window / its duration; hosts and cooling are not in it', 'W', 'lower', 'Accelerator power', 'W'),
    ('accelerator_energy_per_output_token_j', 1, 'Energy of all accelerators, at their boards, in the measured window / output tokens of completed requests', 'J', 'lower', 'Accelerator energy per output token', 'J'),
    ('accelerator_energy_per_input_token_j, accelerator_energy_per_total_token_j', 1, 'The same energy / input tokens, and / input and output tokens: all of it each time, so that the three do not add up', 'J', 'lower', null, 'J'),
    ('prefill_accelerator_energy_per_input_token_j', 1, 'Energy of the accelerators that prefill, at their boards, in the measured window / input tokens', 'J', 'lower', 'Prefill energy per input token', 'J'),
    ('decode_accelerator_energy_per_output_token_j', 1, 'Energy of the accelerators that decode, at their boards, in the measured window / output tokens', 'J', 'lower', 'Decode energy per output token', 'J'),
    ('system_energy_per_*_token_j', 1, 'power_w / throughput of input, output or all tokens: a power meter before the whole system under test', 'J', 'lower', 'System energy per * token', 'J'),
    ('provisioned_energy_per_*_token_j', 1, 'Power that a price list says is provisioned for the run''s accelerators / throughput of input, output or all tokens: not measured', 'J', 'lower', 'Provisioned energy per * token', 'J'),
    ('cost_per_request_usd', 1, 'Hourly price of the run''s accelerators / 3600 / request throughput: their price over the measured time / completed requests', 'USD', 'lower', 'Cost per request', 'USD'),
    ('cost_per_token_usd', 1, 'Hourly price of the run''s accelerators / 3600 / output token throughput: their price over the measured time / output tokens', 'USD', 'lower', 'Cost per output token', 'USD'),
    ('cost_per_million_*_tokens_usd', 1, 'Hourly price of the run''s accelerators / 3600 / throughput of input, output or all tokens * 1,000,000: the whole price each time, so that the three do not add up', 'USD', 'lower', 'Cost per million * tokens', 'USD'),
    ('prefill_cost_per_million_input_tokens_usd', 1, 'The same of the accelerators that prefill, over input tokens', 'USD', 'lower', 'Prefill cost per million input tokens', 'USD'),
    ('decode_cost_per_million_output_tokens_usd', 1, 'The same of the accelerators that decode, over output tokens', 'USD', 'lower', 'Decode cost per million output tokens', 'USD'),
    ('accelerator_count_ratio', 1, 'Accelerators by the deployment / (throughput of the system / stated throughput per accelerator); 1 if they agree', null, 'neither', 'Accelerator count ratio', null),
    ('time_to_train_s', 1, 'From run start to run stop with the target quality reached', 's', 'lower', 'Time to train', 's'),
    ('step_time_*_s', 1, 'Time of one optimiser step, over the tracked steps of one run; a mean may be of the means over blocks of steps, a percentile is of single steps only', 's', 'lower', 'Step time, *', 's'),
    ('mfu_pct', 1, 'Tokens per second * parameters * model FLOP per parameter and token (6; 4 where the weights are frozen) / (accelerators * documented dense FP8 peak); attention''s products and recomputation are not counted', '%', 'higher', 'MFU', '%'),
    ('scaling_efficiency_pct', 1, 'Samples per second per accelerator of the run / the mean of that over the succeeded runs at the fewest accelerators of the same round, submitter, benchmark, accelerator and framework; NULL with one scale point', '%', 'higher', 'Scaling efficiency', '%'),
    ('reliability_pct', 1, 'Runs that reached the target / runs started, in the run''s repeat set', '%', 'higher', 'Reliability', '%'),
    ('official_minutes', 1, 'MLPerf Training: mean of a repeat set''s times to train without the fastest and the slowest, failed runs being the slowest, * scaling factor', 'min', 'lower', 'Official time to train', 'min'),
    ('alg_bandwidth_gb_per_s', 1, 'Message size / time of one collective operation', 'GB/s', 'higher', 'Algorithm bandwidth', 'GB/s'),
    ('bus_bandwidth_gb_per_s', 1, 'Algorithm bandwidth * the factor of the collective and its ranks, e.g. 2(n-1)/n for all-reduce', 'GB/s', 'higher', 'Bus bandwidth', 'GB/s'),
    ('avg_bus_bandwidth_gb_per_s', 1, 'Mean of bus bandwidth over all sizes and placements of one test, as nccl-tests states it', 'GB/s', 'higher', 'Bus bandwidth, mean', 'GB/s'),
    ('latency_*_us', 1, 'Time of one operation or message, over the iterations of one test', 'us', 'lower', 'Latency, *', 'µs'),
    ('cpu_util_pct', 2, 'Busy share of all CPUs of the host, weighted by time', '%', 'neither', 'CPU utilisation', '%'),
    ('rank_compute_s', 1, 'Time of a rank''s trace with a kernel that does not communicate: the union over all streams, so that kernels at once count once', 's', 'neither', 'Compute time of a rank', 's'),
    ('rank_communication_s', 1, 'Time of a rank''s trace with a kernel that communicates, likewise; it includes waiting for other ranks', 's', 'lower', 'Communication time of a rank', 's'),
    ('rank_overlap_s', 1, 'Time of a rank''s trace with both', 's', 'higher', 'Overlap of compute and communication', 's'),
    ('rank_idle_s', 1, 'Time of a rank''s trace without activity on the GPU, from the first activity to the last', 's', 'lower', 'Idle time of a rank', 's'),
    ('rank_memcpy_s', 1, 'Time of a rank''s trace in which memory is copied or set', 's', 'lower', 'Copy time of a rank', 's'),
    ('rank_dataloader_s', 1, 'Time of a rank''s trace in which the host waits for its data loader', 's', 'lower', 'Data loader time of a rank', 's'),
    ('own_work_s', 1, 'Time of a step without waiting for others: without communication that no computing overlaps, beyond the least of all ranks in the step', 's', 'lower', 'Own work of a rank', 's'),
    ('relative_score', 1, 'Own work of the median rank / of this rank, in the same step, over the steps of a run', null, 'higher', 'Relative score', null),
    ('own_history_score', 1, 'Own work of a rank in its earlier half of steps / in its later half, medians', null, 'higher', 'Own-history score', null),
    ('queue_wait_s', 1, 'From submission of a job, or creation of a Workload, to the first reservation of quota; for Slurm, which has no quota, to the start of the last attempt', 's', 'lower', 'Queue wait', 's'),
    ('admission_wait_s', 1, 'From the creation of a Workload to its first admission, with the wait for quota: kueue_admission_wait_time_seconds', 's', 'lower', 'Admission wait', 's'),
    ('admission_checks_wait_s', 1, 'From the first reservation of quota to the first admission: the time that admission checks take, and attempts that were evicted before it', 's', 'lower', 'Wait for admission checks', 's'),
    ('cpu_avg_utilization_over20_pct, cpu_avg_utilization_over40_pct, cpu_avg_utilization_over80_pct', 1, 'Share of the observed time in which every CPU of the node is used more than 20, 40 or 80 %', '%', 'neither', null, '%'),
    ('cpu_avg_utilization_at100_pct', 1, 'Share of the observed time in which every CPU of the node is fully used', '%', 'neither', 'Time at full CPU', '%'),
    ('cpu_avg_utilization_pct', 1, 'Use of CPU, mean over CPUs and the observed time', '%', 'neither', 'CPU utilisation, mean', '%'),
    ('max_t_cpu_pct_per_cpu_avg, max_t_cpu_pct_per_cpu_min, max_t_cpu_pct_per_cpu_max', 1, 'Largest over samples: use of CPU, mean over CPUs, of the least and of the most used one', '%', 'neither', null, '%'),
    ('max_t_mem_percent, max_t_disk_usage_percent', 1, 'Largest over samples: use of memory, and of the root file system', '%', 'neither', null, '%'),
    ('node_cpu_hours', 1, 'Observed time of a node * its logical CPUs', 'h', 'neither', 'CPU hours', 'h'),
    ('node_unused_cpu_hours', 1, 'node_cpu_hours * the share of CPU that is not used, over time', 'h', 'neither', 'Unused CPU hours', 'h'),
    ('total_disk_io_read_mb, total_disk_io_write_mb', 1, 'Bytes read from and written to disks while the node was observed / 1024 / 1024; the first second of a perf.py report is not in it', 'MiB', 'neither', null, 'MiB'),
    ('total_net_io_*_mb', 1, 'Bytes sent and received while the node was observed / 1024 / 1024, over loopback (lo) and other interfaces (ext)', 'MiB', 'neither', 'Network I/O, *', 'MiB'),
    ('*_as_reported', 1, 'What the tool reported under this name; for the metrics of perf.py, counters since the host''s boot and plain means over samples', null, 'neither', null, null),
    ('median', 1, 'Median over runs; the run is the unit of replication', null, 'neither', 'Median', null)
) as definition (metric, version, definition, unit, better, display_name, display_unit)
