-- case: approximate
-- grain: family
-- refuse: E_APPROX
-- at: approx_quantile
select family, approx_quantile(ttft_p50_ms, 0.5) as ttft from serving_outcome_fact join benchmark_run_fact using (run_id) group by family

-- case: unordered_list
-- grain: family
-- refuse: E_UNORDERED_AGG
-- at: list(run_id)
select family, list(run_id) as runs from benchmark_run_fact group by family

-- case: limit_without_order
-- grain: run_id
-- refuse: E_LIMIT_UNORDERED
-- at: 3
select run_id, family from benchmark_run_fact limit 3

-- case: limit_in_a_subquery
-- grain: run_id
-- refuse: E_LIMIT_UNORDERED
-- at: 1
select run_id, status from benchmark_run_fact where run_id in (select run_id from serving_outcome_fact limit 1)

-- case: sample
-- grain: run_id
-- refuse: E_SAMPLE
select run_id, family from benchmark_run_fact using sample reservoir(2 rows) repeatable (1)

-- case: unpivoted
-- grain: run_id, name
-- refuse: E_UNPIVOT
unpivot (select run_id, sum(ttft_p50_ms) as ttft, sum(e2e_p50_ms) as e2e from serving_outcome_fact group by run_id) on columns(* exclude run_id) into name name value ms

-- case: summary_of_a_table
-- grain: column_name
-- refuse: E_NODE
select column_name, min from (summarize serving_outcome_fact)

-- case: order_by_all_with_limit
-- grain: run_id
-- refuse: E_ORDER_ALL
select * from benchmark_run_fact order by all limit 2

-- case: skipped_rows_of_distinct_ones
-- grain: run_id
-- refuse: E_OFFSET
select distinct run_id, family from benchmark_run_fact order by run_id limit 2 offset 1

-- case: positional_join
-- grain: run_id
-- refuse: E_JOIN
select a.run_id, b.family from (select run_id from benchmark_run_fact order by run_id) as a positional join (select family from benchmark_run_fact order by run_id) as b

-- case: truth_of_a_membership
-- grain: run_id
-- refuse: E_SUBQUERY_CELL
select run_id, run_id in (select run_id from request_fact) as has_requests from benchmark_run_fact

-- case: rows_of_a_file
-- grain: column0
-- refuse: E_TABLEFUNC
select column0, count(*) as n from read_csv('limits.csv', header = false) group by column0
