/*
description: >
  One row per run, workload point and load of a served model: figures that say whether the measurement can be trusted. What a figure must
  be is stated in the policy that judges it (queries/policies/serving.toml). A figure that the evidence does not state is NULL; most of
  them need the requests of the run.
grain: [run_id, workload_point, concurrency_point, request_rate_per_s]
columns:
  run_id: {tests: [not_null]}
  is_open_loop: {type: boolean, description: "Whether requests were to be sent at a stated rate, however many are in flight", tests: [not_null]}
  is_closed_loop: {type: boolean, description: "Whether a stated number of requests was to be in flight, and no rate is stated", tests: [not_null]}
  is_load_stated: {type: boolean, description: "Whether the evidence states the load: a rate, which may be unlimited, or a number of requests in flight", tests: [not_null]}
  is_steady: {type: boolean, description: "Whether there is a steady-state window with at least half of the requests (staging.serving_steady_window); NULL: fewer than 200 timed requests are known"}
  steady_from_s: {type: double, unit: s, description: "Start of the steady-state window, counted from the first request; NULL: none"}
  steady_to_s: {type: double, unit: s, description: "End of the steady-state window: the last request was sent"}
  steady_request_count: {type: bigint, description: "Requests that were sent in the window and completed"}
  window_effect: {type: double, description: "By which share the p99 of TTFT or end-to-end latency, or the output throughput, of the whole run differs from that of its steady-state window, the greatest; NULL: no window"}
  contradiction_count: {type: bigint, description: "Figures of the run's evidence that its own requests contradict by more than 5 % (ingest_issue: aggregate-disagrees); NULL: its requests are not known"}
  load_unit: {type: varchar, description: "What the concurrency counts: requests, or sessions (conversations, agents), which have none in flight between their turns", tests: [not_null, {accepted_values: [requests, sessions]}]}
  littles_law_residual: {type: double, description: "Request throughput * mean end-to-end latency / requests that were to be in flight, minus 1; of a load of sessions, the sessions in flight / those asked for, minus 1. Below 0 the client kept fewer in flight; above 0 the figures contradict each other. NULL: open loop, or not stated"}
  coordinated_omission: {type: double, description: "By which share the p99 of TTFT or end-to-end latency is higher if it is counted from when requests were meant to be sent; NULL: intended times are not stated"}
  send_rate_error: {type: double, description: "Rate at which requests were sent / rate asked for, minus 1, beyond chance; NULL: closed loop, a load of sessions, or fewer than 50 send times"}
  unfinished_share: {type: double, description: "Share of the requests that the end of the run cut off, or of those asked for that neither completed nor failed; NULL: neither is known"}
  effective_request_count: {type: double, description: "How many independent requests would determine the latencies as well (staging.serving_effective_request_count); NULL: fewer than 100 timed requests are known"}
  output_length_error: {type: double, description: "Mean output tokens of a request / those that were asked for, minus 1; NULL: no length was asked for"}
  must_miss_prefix_cache: {type: boolean, description: "Whether prompts should find nothing in the prefix cache: they are drawn at random without a shared prefix, and the cache is not off; or it is off, and hits are stated", tests: [not_null]}
  prefix_cache_hit_rate: {type: double, description: "Share of the prompt tokens that the server found in its prefix cache (staging.serving_prefix_cache); NULL: not stated"}
*/
with outcome as (
    select
        *,
        struct_pack(workload_point, concurrency_point, request_rate_per_s) as point,
        coalesce(isfinite(request_rate_per_s), false) as is_open_loop,
        if(concurrency_point > 0, least(concurrency_point, completed_count + coalesce(failed_count, 0)), null) as asked_in_flight
    from serving_outcome_fact
),

contradicted as (
    select
        run_bundle.run_id,
        count(*) as issue_count
    from evidence_issue as issue
    inner join run_bundle
        on
            run_bundle.artifact_manifest_digest = issue.artifact_manifest_digest
            and run_bundle.run_id = coalesce(issue.run_id, run_bundle.run_id)
    where
        issue.severity in ('error', 'warning') -- more than 5 % apart
        and issue.code = 'aggregate-disagrees'
    group by run_bundle.run_id
),

-- Benchmarks name the length of a shared prefix in their own words.
workload as (
    select
        run.run_id,
        json_extract_string(workload.workload_document, '$.dataset') = 'random'
        and coalesce(try_cast(json_extract_string(workload.workload_document, '$.random_prefix_len') as bigint), 0) = 0 as is_random,
        -- What the tools of NVIDIA call prompts are the entries of a dataset, of which a run may take some or repeat all.
        try_cast(
            json_extract_string(
                workload.workload_document,
                if(
                    json_extract_string(workload.workload_document, '$.tool') in ('aiperf', 'genai-perf', 'perf_analyzer'),
                    '$.request_count', '$.num_prompts'
                )
            ) as double
        ) as asked_count,
        coalesce(
            json_extract_string(workload.workload_document, '$.load_unit'),
            json_extract_string(workload.workload_document, '$.stated.load_unit')
        ) as load_unit
    from benchmark_run_fact as run
    inner join workload_dim as workload
        on workload.workload_spec_digest = run.workload_spec_digest
),

asked as (
    select
        outcome.run_id,
        outcome.point,
        workload.is_random,
        workload.asked_count,
        if(workload.load_unit = 'sessions' or session.are_of_several_turns, 'sessions', 'requests') as load_unit,
        session.sessions_in_flight
    from outcome
    left join workload
        on workload.run_id = outcome.run_id
    left join serving_session as session
        on
            session.run_id = outcome.run_id
            and session.point = outcome.point
)

select
    outcome.run_id,
    outcome.workload_point,
    outcome.concurrency_point,
    outcome.request_rate_per_s,
    outcome.is_open_loop,
    coalesce(outcome.concurrency_point > 0, false) and not outcome.is_open_loop as is_closed_loop,
    coalesce(outcome.concurrency_point > 0, false) or coalesce(outcome.request_rate_per_s > 0, false) as is_load_stated,
    steady.is_steady,
    steady.from_s as steady_from_s,
    steady.to_s as steady_to_s,
    if(steady.is_steady, steady.request_count, null) as steady_request_count,
    steady.output_token_throughput_per_s as steady_output_token_throughput_per_s,
    steady.ttft_p99_ms as steady_ttft_p99_ms,
    steady.tpot_p99_ms as steady_tpot_p99_ms,
    steady.e2e_p99_ms as steady_e2e_p99_ms,
    greatest(
        abs(outcome.ttft_p99_ms / nullif(steady.ttft_p99_ms, 0) - 1),
        abs(outcome.e2e_p99_ms / nullif(steady.e2e_p99_ms, 0) - 1),
        abs(outcome.output_token_throughput_per_s / nullif(steady.output_token_throughput_per_s, 0) - 1)
    ) as window_effect,
    coalesce(contradicted.issue_count, if(sending.run_id is null, null, 0)) as contradiction_count,
    asked.load_unit,
    case
        when outcome.is_open_loop then null
        when asked.load_unit = 'sessions' then asked.sessions_in_flight / nullif(outcome.concurrency_point, 0) - 1
        else outcome.request_throughput_per_s * outcome.e2e_mean_ms / 1000 / nullif(outcome.asked_in_flight, 0) - 1
    end as littles_law_residual,
    sending.send_lag_p99_ms,
    sending.coordinated_omission,
    if(asked.load_unit = 'sessions', null, sending.send_rate_error) as send_rate_error,
    greatest(
        sending.unfinished_share,
        if(
            asked.load_unit = 'requests'
            and asked.asked_count >= outcome.completed_count + outcome.failed_count,
            1 - (outcome.completed_count + outcome.failed_count) / nullif(asked.asked_count, 0), null
        )
    ) as unfinished_share,
    effective.effective_request_count,
    outcome.output_token_throughput_per_s / nullif(outcome.request_throughput_per_s, 0) / nullif(configuration.output_length, 0) - 1
        as output_length_error,
    sending.cut_stream_share,
    coalesce(
        if(
            configuration.is_prefix_caching_enabled is false,
            prefix_cache.prefix_cache_hit_rate is not null,
            asked.is_random and asked.load_unit = 'requests'
        ),
        false
    ) as must_miss_prefix_cache,
    prefix_cache.prefix_cache_hit_rate
from outcome
left join contradicted
    on contradicted.run_id = outcome.run_id
left join serving_configuration_fact as configuration
    on configuration.run_id = outcome.run_id
inner join asked
    on
        asked.run_id = outcome.run_id
        and asked.point = outcome.point
left join serving_prefix_cache as prefix_cache
    on prefix_cache.run_id = outcome.run_id
left join serving_steady_window as steady
    on
        steady.run_id = outcome.run_id
        and steady.point = outcome.point
left join serving_effective_request_count as effective
    on
        effective.run_id = outcome.run_id
        and effective.point = outcome.point
left join serving_sending as sending
    on
        sending.run_id = outcome.run_id
        and sending.point = outcome.point
