-- case: ctes_using_and_group_by_all
-- grain: family, is_open_loop
with runs as (from benchmark_run_fact select run_id, family where state = 'admitted'),
loads as (
    select serving_outcome_fact.* exclude (artifact_manifest_digest, workload_point), request_rate_per_s is not null as is_open_loop
    from serving_outcome_fact
)
select family, is_open_loop, count(*) as points, median(ttft_p50_ms) as ttft_p50_ms, sum(completed_count) as completed_count
from loads join runs using (run_id) group by all

-- case: qualify_row_number
-- grain: family
select run.family, run_id, outcome.request_throughput_per_s
from serving_outcome_fact as outcome join benchmark_run_fact as run using (run_id)
where outcome.request_throughput_per_s is not null
qualify row_number() over (partition by run.family order by outcome.request_throughput_per_s desc, run_id, outcome.workload_point) = 1

-- case: skipped_rows
-- grain: run_id
select run_id, family from benchmark_run_fact order by run_id limit 2 offset 1

-- case: windows_named_and_framed
-- grain: run_id, workload_point, concurrency_point, request_rate_per_s
select
    run_id, workload_point, concurrency_point, request_rate_per_s,
    rank() over by_rate as place,
    lag(request_throughput_per_s) over by_rate as before,
    sum(completed_count) over (order by run_id, workload_point rows between 1 preceding and current row) as completed_of_two,
    request_throughput_per_s / max(request_throughput_per_s) over () as share_of_best
from serving_outcome_fact
window by_rate as (order by request_throughput_per_s desc nulls last, run_id, workload_point)

-- case: star_replace_rename
-- grain: run_id, workload_point, concurrency_point, request_rate_per_s
select
    * exclude (artifact_manifest_digest, deployment_model)
    replace (round(error_rate, 3) as error_rate)
    rename (completed_count as completed)
from serving_outcome_fact

-- case: columns_by_pattern
-- grain: workload_point
select workload_point, min(columns('ttft_p.*')) as 'least_\0', max(columns('ttft_p.*')) as 'most_\0'
from serving_outcome_fact group by workload_point

-- case: star_like
-- grain: run_id, workload_point, concurrency_point, request_rate_per_s
select run_id, workload_point, concurrency_point, request_rate_per_s, * like 'e2e%' from serving_outcome_fact

-- case: union_by_name
-- grain: measure, run_id, workload_point
select 'ttft' as measure, run_id, workload_point, ttft_p50_ms as p50_ms, ttft_p99_ms as p99_ms from serving_outcome_fact
union all by name
select 'e2e' as measure, e2e_p50_ms as p50_ms, run_id, workload_point from serving_outcome_fact

-- case: lists
-- grain: family
select
    run.family,
    list(outcome.ttft_p50_ms order by outcome.ttft_p50_ms) as all_ttft_p50_ms,
    list_sum(list(outcome.completed_count order by outcome.completed_count)) as completed_count,
    list_transform(list(outcome.error_rate order by outcome.error_rate), lambda rate: 1 - rate)[1] as best_success_rate,
    len(list_filter(list(outcome.run_id order by outcome.run_id), lambda id: id like '%all%')) as runs_called_all
from serving_outcome_fact as outcome join benchmark_run_fact as run using (run_id) group by run.family

-- case: structs
-- grain: run_id, workload_point
with packed as (
    select run_id, workload_point, struct_pack(p50 := ttft_p50_ms, p99 := ttft_p99_ms) as ttft, {'p50': e2e_p50_ms} as e2e from serving_outcome_fact
)
select run_id, workload_point, ttft.p99 / ttft.p50 as tail_ratio, e2e.p50 as e2e_p50_ms, struct_extract(ttft, 'p50') as ttft_p50_ms from packed

-- case: unnested_lists
-- grain: run_id, workload_point, percentile
select outcome.run_id, outcome.workload_point, u.percentile, list_extract([outcome.ttft_p50_ms, outcome.ttft_p99_ms], u.percentile) as ttft_ms
from serving_outcome_fact as outcome, unnest([1, 2]) as u(percentile)

-- case: aggregates_with_filter
-- grain: family
select
    family,
    count(*) filter (where request_rate_per_s is null) as closed_loop_points,
    avg(e2e_mean_ms) filter (where error_rate = 0) as faultless_e2e_mean_ms,
    count(distinct run_id) filter (error_rate > 0) as runs_with_failures
from serving_outcome_fact join benchmark_run_fact using (run_id) group by family

-- case: arg_max_by_a_key
-- grain: family
select family, arg_max(run_id, (request_throughput_per_s, run_id)) as best_run, max(request_throughput_per_s) as best_throughput
from serving_outcome_fact join benchmark_run_fact using (run_id) group by family

-- case: pivot_with_a_list
-- grain: family
pivot (select family, mode, completed_count from serving_outcome_fact join benchmark_run_fact using (run_id))
on mode in ('performance', 'accuracy') using sum(completed_count) as completed, count(*) as points group by family

-- case: quantiles_and_moments
-- grain: family
select
    family,
    quantile_cont(ttft_p50_ms, [0.25, 0.5, 0.75]) as quartiles_ms,
    stddev_samp(ttft_p50_ms) as spread_ms,
    mad(ttft_p50_ms) as mad_ms,
    corr(ttft_p50_ms, e2e_p50_ms) as correlation
from serving_outcome_fact join benchmark_run_fact using (run_id) group by family

-- case: grouping_sets
-- grain: family, mode
select family, mode, grouping_id(family, mode) as level, sum(completed_count) as completed_count
from serving_outcome_fact join benchmark_run_fact using (run_id) group by rollup (family, mode)

-- case: subqueries
-- grain: run_id, workload_point
select
    outcome.run_id, outcome.workload_point,
    outcome.ttft_p50_ms / (select median(ttft_p50_ms) from serving_outcome_fact) as relative_ttft
from serving_outcome_fact as outcome
where
    exists (select 1 from benchmark_run_fact as run where run.run_id = outcome.run_id and run.state = 'admitted')
    and outcome.run_id not in (select run_id from benchmark_run_fact where has_conflict)

-- case: lateral_join
-- grain: run_id
select run.run_id, best.request_throughput_per_s
from benchmark_run_fact as run,
    lateral (
        select max(outcome.request_throughput_per_s) as request_throughput_per_s from serving_outcome_fact as outcome where outcome.run_id = run.run_id
    ) as best
where run.mode = 'performance'

-- case: asof_join
-- grain: run_id, workload_point
select slow.run_id, slow.workload_point, fast.run_id as next_run_id, fast.ttft_p50_ms as next_ttft_p50_ms
from (select run_id, workload_point, ttft_p50_ms from serving_outcome_fact where ttft_p50_ms is not null) as slow
asof join (select run_id, max(ttft_p50_ms) as ttft_p50_ms from serving_outcome_fact group by run_id) as fast on slow.ttft_p50_ms > fast.ttft_p50_ms

-- case: anti_and_semi_join
-- grain: run_id, workload_point
select run_id, workload_point, ttft_p50_ms
from serving_outcome_fact
semi join (select run_id from benchmark_run_fact where state = 'admitted') as run using (run_id)
anti join (select run_id from serving_outcome_fact where error_rate = 1) as failed using (run_id)

-- case: set_operations
-- grain: run_id
select run_id, count(*) as points from serving_outcome_fact
where run_id in (select run_id from serving_outcome_fact intersect select run_id from benchmark_run_fact except select run_id from benchmark_run_fact where has_conflict)
group by run_id

-- case: requests_in_buckets
-- grain: run_id, second
select run_id, floor(e2e_ms / 1000)::int as second, count(*) as requests, max(ttft_ms) as ttft_max_ms, bool_and(ttft_ms < e2e_ms) as all_sound
from request_fact group by 1, 2

-- case: recursive
-- grain: step
with recursive steps as (
    select 1 as step, max(completed_count) as completed_count from serving_outcome_fact
    union all
    select step + 1, completed_count // 2 from steps where step < 3
)
select step, completed_count from steps

-- case: recursive_union
-- grain: run_id
with recursive alike as (
    select min(run_id) as run_id, min(family) as family from benchmark_run_fact where state = 'admitted'
    union
    select other.run_id, other.family
    from alike join benchmark_run_fact as run using (run_id) join benchmark_run_fact as other on other.family = run.family
)
select run_id, max(family) as family, count(*) as ways from alike group by run_id

-- case: limited_by_a_total_order
-- grain: run_id, workload_point
select run_id, workload_point, e2e_p99_ms from serving_outcome_fact order by e2e_p99_ms desc nulls last, run_id, workload_point limit 3

-- case: distinct_on
-- grain: workload_point
select distinct on (workload_point) workload_point, run_id, ttft_p50_ms from serving_outcome_fact order by workload_point, ttft_p50_ms, run_id

-- case: text_functions
-- grain: run_id, workload_point
select
    run_id, workload_point,
    regexp_extract(run_id, '[^/]+$') as name,
    upper(split_part(run_id, '/', 2)) as family,
    format('{:.2f}', ttft_p50_ms) as ttft_shown,
    case when error_rate > 0.5 then 'bad' when error_rate is null then 'unknown' else 'good' end as verdict,
    coalesce(*columns('ttft_(mean|p50)_ms')) as any_ttft_ms
from serving_outcome_fact

-- case: dates
-- grain: day
select date_trunc('month', started_at)::date as day, count(*) as runs, max(ended_at - started_at)::varchar as longest
from benchmark_run_fact group by day

-- case: histogram
-- grain: family
select family, map_values(histogram(error_rate))::varchar as h from serving_outcome_fact join benchmark_run_fact using (run_id) group by family

-- case: texts_between_dollars
-- grain: family
select family, count(*) as runs from benchmark_run_fact where state = $$admitted$$ and run_id not like $x$it's%$x$ group by family
