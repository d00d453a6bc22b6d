/*
description: >
  The points of load curves over runs: one row per curve and load, each figure the mean over its runs. Rows with the same curve_key differ
  only in the load. A figure that a run lacks is not in the mean of the others; NULL: no run has it.
grain: [curve_key, load_kind, load]
claim:
  what: the mean of each figure of one way of serving at one load, over independent runs of the load generator
  population: performance runs of serving benchmarks that did not fail, admitted, without conflict, each measurement once
  unit_of_replication: the run, one execution of the load generator
  policy: serving
  observations: serving_point_run
  numbers:
    request_throughput_per_s: {statistic: mean, of: observation.request_throughput_per_s}
    output_token_throughput_per_s: {statistic: mean, of: observation.output_token_throughput_per_s}
    output_token_throughput_per_accelerator_per_s: {statistic: mean, of: observation.output_token_throughput_per_accelerator_per_s}
    total_token_throughput_per_accelerator_per_s: {statistic: mean, of: observation.total_token_throughput_per_accelerator_per_s}
    interactivity_p50_tokens_per_s: {statistic: mean, of: observation.interactivity_p50_tokens_per_s, percentile: 0.5}
    ttft_p50_ms: {statistic: mean, of: observation.ttft_p50_ms, percentile: 0.5}
    ttft_p99_ms: {statistic: mean, of: observation.ttft_p99_ms, percentile: 0.99}
    tpot_p50_ms: {statistic: mean, of: observation.tpot_p50_ms, percentile: 0.5}
    tpot_p99_ms: {statistic: mean, of: observation.tpot_p99_ms, percentile: 0.99}
    e2e_p50_ms: {statistic: mean, of: observation.e2e_p50_ms, percentile: 0.5}
    e2e_p99_ms: {statistic: mean, of: observation.e2e_p99_ms, percentile: 0.99}
    accelerator_power_w: {statistic: mean, of: observation.accelerator_power_w}
    accelerator_energy_per_output_token_j: {statistic: mean, of: observation.accelerator_energy_per_output_token_j}
    cost_per_million_output_tokens_usd: {statistic: mean, of: observation.cost_per_million_output_tokens_usd}
  exclusions:
    not run.has_conflict: it is not settled which of several bundles is the run's evidence
    copy_of is null: the same measurement was filed twice, and is counted once
columns:
  model: {type: varchar, description: "The served model"}
  framework: {type: varchar, description: "The serving software"}
  framework_version: {type: varchar, description: "Its version"}
  accelerator: {type: varchar, description: "Accelerator under one name for all spellings, else as written"}
  accelerator_count: {type: bigint, description: "Accelerators, of prefill and decode together"}
  deployment_model: {type: varchar, description: "Parallelism and placement"}
  precision: {type: varchar, description: "Quantisation of the served weights, or else their data type"}
  input_length: {type: bigint, unit: tokens, description: "Input tokens asked for in a request, or their mean"}
  output_length: {type: bigint, unit: tokens, description: "Output tokens asked for in a request, or their mean"}
  run_count: {type: bigint, description: "Runs"}
  request_throughput_per_s: {type: double, unit: 1/s, description: "Requests completed per second; mean over runs"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens per second; mean over runs"}
  output_token_throughput_per_accelerator_per_s: {type: double, unit: tokens/s, description: "Output tokens per second / accelerators; mean over runs"}
  total_token_throughput_per_accelerator_per_s: {type: double, unit: tokens/s, description: "Input and output tokens per second / accelerators; mean over runs"}
  interactivity_p50_tokens_per_s: {type: double, unit: tokens/s, description: "Output tokens per second that one user sees after the first token, p50; mean over runs"}
  ttft_p50_ms: {type: double, unit: ms, description: "Time to first token, p50; mean over runs"}
  ttft_p99_ms: {type: double, unit: ms, description: "Time to first token, p99; mean over runs"}
  tpot_p50_ms: {type: double, unit: ms, description: "Time per output token, p50; mean over runs"}
  tpot_p99_ms: {type: double, unit: ms, description: "Time per output token, p99; mean over runs"}
  e2e_p50_ms: {type: double, unit: ms, description: "End-to-end latency, p50; mean over runs"}
  e2e_p99_ms: {type: double, unit: ms, description: "End-to-end latency, p99; mean over runs"}
  accelerator_power_w: {type: double, unit: W, description: "Power of all accelerators together, at their boards; mean over runs"}
  accelerator_energy_per_output_token_j: {type: double, unit: J, description: "Energy of the accelerators per output token, at their boards; mean over runs"}
  cost_per_million_output_tokens_usd: {type: double, unit: USD, description: "Price of the run over a million output tokens; mean over runs"}
*/
select
    curve_key,
    load_kind,
    load,
    min(model) as model,
    min(framework) as framework,
    min(framework_version) as framework_version,
    min(accelerator) as accelerator,
    min(accelerator_count) as accelerator_count,
    min(deployment_model) as deployment_model,
    min(precision) as precision,
    min(input_length) as input_length,
    min(output_length) as output_length,
    count(*) as run_count,
    avg(request_throughput_per_s order by request_throughput_per_s) as request_throughput_per_s,
    avg(output_token_throughput_per_s order by output_token_throughput_per_s) as output_token_throughput_per_s,
    avg(output_token_throughput_per_accelerator_per_s order by output_token_throughput_per_accelerator_per_s) as output_token_throughput_per_accelerator_per_s,
    avg(total_token_throughput_per_accelerator_per_s order by total_token_throughput_per_accelerator_per_s) as total_token_throughput_per_accelerator_per_s,
    avg(interactivity_p50_tokens_per_s order by interactivity_p50_tokens_per_s) as interactivity_p50_tokens_per_s,
    avg(ttft_p50_ms order by ttft_p50_ms) as ttft_p50_ms,
    avg(ttft_p99_ms order by ttft_p99_ms) as ttft_p99_ms,
    avg(tpot_p50_ms order by tpot_p50_ms) as tpot_p50_ms,
    avg(tpot_p99_ms order by tpot_p99_ms) as tpot_p99_ms,
    avg(e2e_p50_ms order by e2e_p50_ms) as e2e_p50_ms,
    avg(e2e_p99_ms order by e2e_p99_ms) as e2e_p99_ms,
    avg(accelerator_power_w order by accelerator_power_w) as accelerator_power_w,
    avg(accelerator_energy_per_output_token_j order by accelerator_energy_per_output_token_j) as accelerator_energy_per_output_token_j,
    avg(cost_per_million_output_tokens_usd order by cost_per_million_output_tokens_usd) as cost_per_million_output_tokens_usd
from serving_point_run
where
    status in ('succeeded', 'unknown')
    and copy_of is null
group by
    curve_key,
    load_kind,
    load
