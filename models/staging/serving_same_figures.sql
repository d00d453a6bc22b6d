/*
description: >
  One row per serving outcome whose figures another run also states: probably one measurement that was filed twice, by
  two tools or in two folders. Only admitted runs without a conflict are compared. Figures are the same if all values
  that both runs state agree to six digits, and both state at least three. Among the runs that share a first figure,
  each is compared with the first by name, and the first with the last, so that the cost does not grow with the square
  of the number of runs.
grain: [run_id, workload_point, concurrency_point, request_rate_per_s]
columns:
  run_id: {tests: [not_null]}
  workload_point: {tests: [not_null]}
  same_figures_as: {type: varchar, description: "The other run", tests: [not_null]}
*/
with figure as (
    select
        outcome.run_id,
        outcome.workload_point,
        outcome.concurrency_point,
        outcome.request_rate_per_s,
        outcome.completed_count,
        printf('%.5e', outcome.ttft_mean_ms) as ttft_mean,
        printf('%.5e', outcome.ttft_p50_ms) as ttft_p50,
        printf('%.5e', outcome.ttft_p90_ms) as ttft_p90,
        printf('%.5e', outcome.ttft_p95_ms) as ttft_p95,
        printf('%.5e', outcome.ttft_p99_ms) as ttft_p99,
        printf('%.5e', outcome.tpot_mean_ms) as tpot_mean,
        printf('%.5e', outcome.tpot_p50_ms) as tpot_p50,
        printf('%.5e', outcome.tpot_p99_ms) as tpot_p99,
        printf('%.5e', outcome.e2e_mean_ms) as e2e_mean,
        printf('%.5e', outcome.e2e_p50_ms) as e2e_p50,
        printf('%.5e', outcome.e2e_p99_ms) as e2e_p99
    from serving_outcome_fact as outcome
    inner join benchmark_run_fact as run
        on run.run_id = outcome.run_id
    where
        run.state = 'admitted'
        and not run.has_conflict
),

lead as (
    select
        *,
        coalesce(ttft_mean, ttft_p50, e2e_mean, e2e_p50) as first_figure
    from figure
),

shared as (
    select
        first_figure,
        min(run_id) as first_run_id,
        max(run_id) as last_run_id
    from lead
    group by first_figure
    having min(run_id) <> max(run_id)
),

pair as (
    select
        one.run_id,
        one.workload_point,
        one.concurrency_point,
        one.request_rate_per_s,
        other.run_id as other_run_id,
        one.completed_count = other.completed_count as is_same_count,
        [
            one.ttft_mean = other.ttft_mean, one.ttft_p50 = other.ttft_p50, one.ttft_p90 = other.ttft_p90,
            one.ttft_p95 = other.ttft_p95, one.ttft_p99 = other.ttft_p99, one.tpot_mean = other.tpot_mean,
            one.tpot_p50 = other.tpot_p50, one.tpot_p99 = other.tpot_p99, one.e2e_mean = other.e2e_mean,
            one.e2e_p50 = other.e2e_p50, one.e2e_p99 = other.e2e_p99
        ] as agreements
    from lead as one
    inner join shared
        on shared.first_figure = one.first_figure
    inner join lead as other
        on
            other.run_id = case when one.run_id = shared.first_run_id then shared.last_run_id else shared.first_run_id end
            and other.first_figure = one.first_figure
)

select
    run_id,
    workload_point,
    concurrency_point,
    request_rate_per_s,
    min(other_run_id) as same_figures_as
from pair
where
    coalesce(is_same_count, true)
    and not list_contains(agreements, false)
    and len(list_filter(agreements, lambda agrees : agrees)) >= 3
group by
    run_id,
    workload_point,
    concurrency_point,
    request_rate_per_s
