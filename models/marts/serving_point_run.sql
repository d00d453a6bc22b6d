/*
description: >
  One row per performance run, load curve and load, with what makes runs repeats of each other: the observations that serving_points and
  serving_frontier are statistics of. A run with several rows at one load is one observation: their mean. Failed runs and
  copies are in it as well.
materialized: view
grain: [run_id, curve_key, load_kind, load]
columns:
  request_throughput_per_s: {type: double, unit: 1/s, description: "Requests completed per second"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens per second"}
  output_token_throughput_per_accelerator_per_s: {type: double, unit: tokens/s, description: "Output tokens per second / accelerators"}
  total_token_throughput_per_accelerator_per_s: {type: double, unit: tokens/s, description: "Input and output tokens per second / accelerators"}
  interactivity_p50_tokens_per_s: {type: double, unit: tokens/s, description: "Output tokens per second that one user sees after the first token, p50"}
  ttft_p50_ms: {type: double, unit: ms, description: "Time to first token, p50"}
  ttft_p99_ms: {type: double, unit: ms, description: "Time to first token, p99"}
  tpot_p50_ms: {type: double, unit: ms, description: "Time per output token, p50"}
  tpot_p99_ms: {type: double, unit: ms, description: "Time per output token, p99"}
  e2e_p50_ms: {type: double, unit: ms, description: "End-to-end latency, p50"}
  e2e_p99_ms: {type: double, unit: ms, description: "End-to-end latency, p99"}
  accelerator_power_w: {type: double, unit: W, description: "Power of all accelerators together, at their boards"}
  accelerator_energy_per_output_token_j: {type: double, unit: J, description: "Energy of the accelerators per output token, at their boards"}
  cost_per_million_output_tokens_usd: {type: double, unit: USD, description: "Price of the run over a million output tokens"}
  requests: {type: bigint, description: "Requests completed; of several rows, the fewest"}
  error_rate: {type: double, description: "failed / (completed + failed); of several rows, the greatest"}
  is_open_loop: {type: boolean, description: "Whether requests were to be sent at a stated rate (serving_validity defines this and the next columns)"}
  is_closed_loop: {type: boolean, description: "Whether a stated number of requests was to be in flight"}
  is_steady: {type: boolean, description: "Whether there is a steady-state window; of several rows, in all of them"}
  littles_law_residual: {type: double, description: "Request throughput * mean latency / requests to be in flight, minus 1; of several rows, the one furthest from 0"}
  coordinated_omission: {type: double, description: "By which share the p99 is higher counted from when requests were meant to be sent; of several rows, the greatest"}
  send_rate_error: {type: double, description: "Rate at which requests were sent / rate asked for, minus 1; of several rows, the one furthest from 0"}
  is_load_stated: {type: boolean, description: "Whether the evidence states the load"}
  window_effect: {type: double, description: "By which share figures of the whole run differ from those of its steady-state window; of several rows, the greatest"}
  contradiction_count: {type: bigint, description: "Figures of the run's evidence that its own requests contradict"}
  energy_error: {type: double, description: "By which share stated energy contradicts stated power; of several rows, the greatest"}
  unfinished_share: {type: double, description: "Share of the requests that the end of the run cut off; of several rows, the greatest"}
  effective_request_count: {type: double, description: "How many independent requests would determine the latencies as well; of several rows, the fewest"}
  output_length_error: {type: double, description: "Mean output tokens of a request / those that were asked for, minus 1; of several rows, the one furthest from 0"}
  cut_stream_share: {type: double, description: "Share of the completed requests whose stream broke; of several rows, the greatest"}
  must_miss_prefix_cache: {type: boolean, description: "Whether prompts should find nothing in the prefix cache; of several rows, in any"}
  prefix_cache_hit_rate: {type: double, description: "Share of the prompt tokens that the server found in its prefix cache; of several rows, the greatest"}
  is_accuracy_shown: {type: boolean, description: "Whether an accuracy run of the same stack succeeded; NULL: none is known"}
  accelerator_count_error: {type: double, description: "By which share the stated accelerators contradict throughput per accelerator; of several rows, the greatest"}
  mean_prompt_tokens: {type: double, unit: tokens, description: "Input tokens of a request, on average: (total - output token throughput) / request throughput"}
  price_age_days: {type: bigint, description: "Days from the first day on which the run's price applies to the run; of several rows, the most"}
  testbed: {type: varchar, description: "Key in cluster_region_dim: sessions of one testbed say how much its sessions differ"}
  exit_code: {type: bigint, description: "Exit code of the command; NULL: not recorded"}
  missing_repeats: {type: bigint, description: "Repeats of its set that were declared and are not in the evidence"}
  software: {type: varchar, description: "The image's digest; NULL: not stated"}
  figures: {type: "varchar[]", description: "What was measured of the run, as text: request throughput and latencies. Two runs that share most of it are one measurement"}
*/
select
    curve.run_id,
    curve.curve_key,
    curve.load_kind,
    curve.load,
    curve.status,
    curve.copy_of,
    curve.model,
    curve.framework,
    curve.framework_version,
    curve.accelerator,
    curve.accelerator_count,
    curve.deployment_model,
    curve.precision,
    curve.input_length,
    curve.output_length,
    avg(curve.request_throughput_per_s order by curve.request_throughput_per_s) as request_throughput_per_s,
    avg(curve.output_token_throughput_per_s order by curve.output_token_throughput_per_s) as output_token_throughput_per_s,
    avg(curve.output_token_throughput_per_accelerator_per_s order by curve.output_token_throughput_per_accelerator_per_s) as output_token_throughput_per_accelerator_per_s,
    avg(curve.total_token_throughput_per_accelerator_per_s order by curve.total_token_throughput_per_accelerator_per_s) as total_token_throughput_per_accelerator_per_s,
    avg(curve.interactivity_p50_tokens_per_s order by curve.interactivity_p50_tokens_per_s) as interactivity_p50_tokens_per_s,
    avg(curve.ttft_p50_ms order by curve.ttft_p50_ms) as ttft_p50_ms,
    avg(curve.ttft_p99_ms order by curve.ttft_p99_ms) as ttft_p99_ms,
    avg(curve.tpot_p50_ms order by curve.tpot_p50_ms) as tpot_p50_ms,
    avg(curve.tpot_p99_ms order by curve.tpot_p99_ms) as tpot_p99_ms,
    avg(curve.e2e_p50_ms order by curve.e2e_p50_ms) as e2e_p50_ms,
    avg(curve.e2e_p99_ms order by curve.e2e_p99_ms) as e2e_p99_ms,
    avg(curve.accelerator_power_w order by curve.accelerator_power_w) as accelerator_power_w,
    avg(curve.accelerator_energy_per_output_token_j order by curve.accelerator_energy_per_output_token_j) as accelerator_energy_per_output_token_j,
    avg(curve.cost_per_million_output_tokens_usd order by curve.cost_per_million_output_tokens_usd) as cost_per_million_output_tokens_usd,
    min(curve.completed_count) as requests,
    max(curve.error_rate) as error_rate,
    bool_or(curve.is_open_loop) as is_open_loop,
    bool_or(curve.is_closed_loop) as is_closed_loop,
    bool_and(curve.is_steady) as is_steady,
    case
        when -min(curve.littles_law_residual) > max(curve.littles_law_residual) then min(curve.littles_law_residual) else max(curve.littles_law_residual)
    end as littles_law_residual,
    max(curve.coordinated_omission) as coordinated_omission,
    case when -min(curve.send_rate_error) > max(curve.send_rate_error) then min(curve.send_rate_error) else max(curve.send_rate_error) end
        as send_rate_error,
    bool_and(curve.is_load_stated) as is_load_stated,
    max(curve.window_effect) as window_effect,
    max(curve.contradiction_count) as contradiction_count,
    max(curve.energy_error) as energy_error,
    max(curve.unfinished_share) as unfinished_share,
    min(curve.effective_request_count) as effective_request_count,
    case
        when -min(curve.output_length_error) > max(curve.output_length_error) then min(curve.output_length_error) else max(curve.output_length_error)
    end as output_length_error,
    max(curve.cut_stream_share) as cut_stream_share,
    bool_or(curve.must_miss_prefix_cache) as must_miss_prefix_cache,
    max(curve.prefix_cache_hit_rate) as prefix_cache_hit_rate,
    bool_and(curve.is_accuracy_shown) as is_accuracy_shown,
    max(curve.accelerator_count_error) as accelerator_count_error,
    avg(
        (curve.total_token_throughput_per_s - curve.output_token_throughput_per_s) / nullif(curve.request_throughput_per_s, 0)
        order by curve.request_throughput_per_s
    ) as mean_prompt_tokens,
    max(curve.price_age_days) as price_age_days,
    curve.started_at,
    curve.session,
    run.cluster_region_key as testbed,
    run.exit_code,
    run.missing_repeats,
    run.workload_spec_digest as configuration,
    software_version_dim.image_digest as software,
    run.outcome_digest,
    run.benchmark_grade as grade,
    [
        avg(curve.request_throughput_per_s order by curve.request_throughput_per_s)::varchar,
        avg(curve.ttft_p50_ms order by curve.ttft_p50_ms)::varchar,
        avg(curve.ttft_p99_ms order by curve.ttft_p99_ms)::varchar,
        avg(curve.tpot_p50_ms order by curve.tpot_p50_ms)::varchar,
        avg(curve.tpot_p99_ms order by curve.tpot_p99_ms)::varchar,
        avg(curve.e2e_p50_ms order by curve.e2e_p50_ms)::varchar,
        avg(curve.e2e_p99_ms order by curve.e2e_p99_ms)::varchar
    ] as figures
from serving_curve as curve
inner join benchmark_run_fact as run
    on run.run_id = curve.run_id
left join software_version_dim
    on software_version_dim.software_version_key = run.software_version_key
group by all
