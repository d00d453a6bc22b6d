/*
description: >
  One row per time slice of AIPerf: what the client saw of the requests in the window.
grain: [run_id, artifact_manifest_digest, window_start]
feeds: telemetry_slice
*/
select
    run_id,
    artifact_manifest_digest,
    'client' as scope,
    to_timestamp(start_ns / 1e9) as window_start,
    to_timestamp(end_ns / 1e9) as window_end,
    (end_ns - start_ns) / 1e9 as duration_s,
    request_count as sample_count,
    request_count,
    request_throughput_per_s,
    output_token_throughput_per_s,
    total_token_throughput_per_s,
    ttft_mean_ms,
    ttft_p99_ms,
    tpot_mean_ms,
    tpot_p99_ms,
    e2e_mean_ms,
    e2e_p99_ms
from genai_perf_slice
where start_ns is not null
