/*
description: >
  One row per run, workload point and concurrency point: what a client of the served model saw. A latency, rate or
  cost that was not measured is NULL, as it is if every request failed.
materialized: incremental
key: [run_id]
grain: [run_id, workload_point, concurrency_point, request_rate_per_s]
collects: serving_outcome
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, {relationships: main.benchmark_run_fact.run_id}]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  workload_point: {type: varchar, description: "The point of the workload that was driven, e.g. a scenario or a token mix", tests: [not_null]}
  concurrency_point: {type: bigint, description: "Requests in flight, or sessions (conversations, agents) of a load of sessions; NULL when the load is not closed-loop"}
  request_rate_per_s: {type: double, unit: 1/s, description: "Requested arrival rate; NULL when the load is not open-loop"}
  deployment_model: {type: varchar, description: "Parallelism and placement of the server, e.g. TP4 DP2; NULL where unknown"}
  completed_count: {type: bigint, description: "Requests or queries completed"}
  failed_count: {type: bigint, description: "Requests that failed"}
  error_rate: {type: double, description: "failed / (completed + failed)", tests: [{range: {min: 0, max: 1}}]}
  ttft_mean_ms: {type: double, unit: ms, description: "Time to first token, mean"}
  ttft_p50_ms: {type: double, unit: ms, description: "Time to first token, p50"}
  ttft_p90_ms: {type: double, unit: ms, description: "Time to first token, p90"}
  ttft_p95_ms: {type: double, unit: ms, description: "Time to first token, p95"}
  ttft_p99_ms: {type: double, unit: ms, description: "Time to first token, p99"}
  tpot_mean_ms: {type: double, unit: ms, description: "Time per output token, mean"}
  tpot_p50_ms: {type: double, unit: ms, description: "Time per output token, p50"}
  tpot_p90_ms: {type: double, unit: ms, description: "Time per output token, p90"}
  tpot_p95_ms: {type: double, unit: ms, description: "Time per output token, p95"}
  tpot_p99_ms: {type: double, unit: ms, description: "Time per output token, p99"}
  itl_mean_ms: {type: double, unit: ms, description: "Inter-token latency, mean"}
  itl_p50_ms: {type: double, unit: ms, description: "Inter-token latency, p50"}
  itl_p90_ms: {type: double, unit: ms, description: "Inter-token latency, p90"}
  itl_p95_ms: {type: double, unit: ms, description: "Inter-token latency, p95"}
  itl_p99_ms: {type: double, unit: ms, description: "Inter-token latency, p99"}
  e2e_mean_ms: {type: double, unit: ms, description: "End-to-end latency, mean"}
  e2e_p50_ms: {type: double, unit: ms, description: "End-to-end latency, p50"}
  e2e_p90_ms: {type: double, unit: ms, description: "End-to-end latency, p90"}
  e2e_p95_ms: {type: double, unit: ms, description: "End-to-end latency, p95"}
  e2e_p99_ms: {type: double, unit: ms, description: "End-to-end latency, p99"}
  jitter_ms: {type: double, unit: ms, description: "Standard deviation of inter-token latency; NULL where that was not measured"}
  stated_latencies: {type: varchar, description: "Latencies that the evidence states of other requests than the percentiles that only its requests give, by column, as a JSON object; the row has those of the requests"}
  early_stopping_latency_ms: {type: double, unit: ms, description: "MLPerf early-stopping estimate of the scenario's latency percentile"}
  request_throughput_per_s: {type: double, unit: 1/s, description: "Requests or queries completed per second"}
  sample_throughput_per_s: {type: double, unit: samples/s, description: "Samples completed per second"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens completed per second"}
  is_token_throughput_inferred: {type: boolean, description: "Whether tokens were computed from samples by a constant, not counted"}
  total_token_throughput_per_s: {type: double, unit: tokens/s, description: "Input and output tokens per second"}
  audio_throughput_s_per_s: {type: double, unit: s/s, description: "Seconds of audio transcribed per second, which benchmarks call RTFx; NULL where no speech was"}
  real_time_factor_mean: {type: double, description: "Processing time of a request / duration of its audio, mean"}
  speculative_acceptance_pct: {type: double, unit: "%", description: "Draft tokens of speculative decoding that were accepted / draft tokens"}
  speculative_acceptance_length: {type: double, unit: tokens, description: "Tokens that a verification of speculative decoding yields, mean: accepted draft tokens and the one of the model itself"}
  queueing_delay_ms: {type: double, unit: ms, description: "Time a request waited before work on it began"}
  power_w: {type: double, unit: W, description: "Mean power of the system under test in the measured window"}
  energy_per_query_mj: {type: double, unit: mJ, description: "Mean energy per query in the measured window"}
  accelerator_power_w: {type: double, unit: W, description: "Mean power of all accelerators together in the measured window, at their boards; hosts and cooling are not in it"}
  accelerator_energy_per_input_token_j: {type: double, unit: J, description: "Energy of all accelerators in the measured window / input tokens"}
  accelerator_energy_per_output_token_j: {type: double, unit: J, description: "Energy of all accelerators in the measured window / output tokens"}
  accelerator_energy_per_total_token_j: {type: double, unit: J, description: "Energy of all accelerators in the measured window / input and output tokens"}
  prefill_accelerator_energy_per_input_token_j: {type: double, unit: J, description: "Energy of the accelerators that prefill, where prefill and decode are split / input tokens"}
  decode_accelerator_energy_per_output_token_j: {type: double, unit: J, description: "Energy of the accelerators that decode, where prefill and decode are split / output tokens"}
  implied_accelerator_count: {type: double, description: "Accelerators by the evidence's own figures: throughput of the system / throughput per accelerator; NULL: it does not state both"}
  accelerator_count_ratio: {type: double, description: "Accelerators by the deployment / implied_accelerator_count: 1 if they agree; if they do not, the run's number of accelerators is NULL"}
  cost_per_request_usd: {type: double, unit: USD, description: "Cost per completed request where the machine's price is known", feed: false}
  cost_per_token_usd: {type: double, unit: USD, description: "Cost per output token where the machine's price is known and tokens were counted", feed: false}
  cost_reason: {type: varchar, description: "Why a cost is NULL (docs/serving.md); NULL: both are known", feed: false}
*/
select
    outcome.* replace (coalesce(outcome.deployment_model, named.deployment_model) as deployment_model),
    price.usd_per_hour / 3600 / nullif(outcome.request_throughput_per_s, 0) as cost_per_request_usd,
    case
        when not coalesce(outcome.is_token_throughput_inferred, false)
            then price.usd_per_hour / 3600 / nullif(outcome.output_token_throughput_per_s, 0)
    end as cost_per_token_usd,
    case
        when price.run_id is null then 'accelerator-not-stated'
        when price.reason = 'accelerator-count-unknown' and outcome.accelerator_count_ratio is not null then 'accelerator-count-contradicted'
        when price.reason is not null then price.reason
        when coalesce(outcome.request_throughput_per_s, 0) = 0 and coalesce(outcome.output_token_throughput_per_s, 0) = 0 then 'no-throughput'
        when outcome.is_token_throughput_inferred then 'tokens-not-counted'
        when coalesce(outcome.request_throughput_per_s, 0) = 0 then 'no-request-throughput'
        when coalesce(outcome.output_token_throughput_per_s, 0) = 0 then 'no-output-token-throughput'
    end as cost_reason
from feed.serving_outcome as outcome
inner join run_bundle
    on
        run_bundle.run_id = outcome.run_id
        and run_bundle.artifact_manifest_digest = outcome.artifact_manifest_digest
left join serving_named as named
    on
        named.run_id = outcome.run_id
        and named.artifact_manifest_digest = outcome.artifact_manifest_digest
left join run_price as price
    on
        price.run_id = outcome.run_id
        and price.artifact_manifest_digest = outcome.artifact_manifest_digest
