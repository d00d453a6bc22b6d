/*
description: >
  One row per request of a run, at one workload point and load: what the client saw of it. A time that was not
  measured, or is below 0, is NULL. A failed request is a row with that status, and so is an unfinished one. The requests of one run
  are not replicates; the unit of replication is the run.
materialized: incremental
key: [run_id]
grain: [run_id, workload_point, concurrency_point, request_rate_per_s, request_index]
collects: request
role: requests
retention_tier: warm
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, {relationships: main.benchmark_run_fact.run_id}]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  workload_point: {type: varchar, description: "The point of the workload, as in serving_outcome_fact", tests: [not_null]}
  concurrency_point: {type: bigint, description: "Requests in flight, or sessions of a load of sessions; NULL when the load is not closed-loop"}
  request_rate_per_s: {type: double, unit: 1/s, description: "Requested arrival rate; NULL when the load is not open-loop"}
  request_index: {type: bigint, description: "Place in the file, from 0", tests: [not_null, {range: {min: 0}}]}
  status: {type: varchar, description: "How the request ended: unfinished where the load generator stopped waiting for its answer; NULL where the evidence does not say", tests: [{accepted_values: [succeeded, failed, unfinished]}]}
  error: {type: varchar, description: "The evidence's own words for a failure"}
  session: {type: varchar, description: "The session (conversation) that it is a turn of; NULL where the evidence does not say"}
  turn_index: {type: bigint, description: "Which turn of its session, from 0; NULL where the evidence does not say", tests: [{range: {min: 0}}]}
  scheduled_s: {type: double, unit: s, description: "When it was meant to be sent, on the clock of started_s; NULL where the evidence does not say"}
  started_s: {type: double, unit: s, description: "When it was sent, counted from the first request of its point"}
  ttft_ms: {type: double, unit: ms, description: "Time to first token"}
  tpot_ms: {type: double, unit: ms, description: "Time per output token after the first"}
  itl_mean_ms: {type: double, unit: ms, description: "Inter-token latency, mean over the request's gaps"}
  e2e_ms: {type: double, unit: ms, description: "End-to-end latency"}
  queueing_delay_ms: {type: double, unit: ms, description: "Time the request waited at the server before work on it began"}
  input_token_count: {type: bigint, description: "Input tokens"}
  output_token_count: {type: bigint, description: "Output tokens"}
  output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens / end-to-end latency, computed"}
  stated_output_token_throughput_per_s: {type: double, unit: tokens/s, description: "Output tokens per second as the evidence states it"}
*/
select
    request.* replace (
        if(request.ttft_ms >= 0, request.ttft_ms, null) as ttft_ms,
        if(request.tpot_ms >= 0, request.tpot_ms, null) as tpot_ms,
        if(request.itl_mean_ms >= 0, request.itl_mean_ms, null) as itl_mean_ms,
        if(request.e2e_ms >= 0, request.e2e_ms, null) as e2e_ms
    )
from feed.request as request
inner join run_bundle
    on
        run_bundle.run_id = request.run_id
        and run_bundle.artifact_manifest_digest = request.artifact_manifest_digest
