-- case: e_parse_0
-- refuse: E_PARSE
-- at: where
select from where

-- case: e_multi_1
-- refuse: E_MULTI
-- at: 2 as b
select 1 as a; select 2 as b

-- case: e_not_query_2
-- refuse: E_NOT_QUERY
-- at: run
drop table run

-- case: e_sample_3
-- refuse: E_SAMPLE
-- at: 3
select id from run using sample 3

-- case: e_node_4
-- refuse: E_NODE
select #1 as x from run

-- case: e_node_5
-- refuse: E_NODE
-- at: id = ?
select id from run where id = ?

-- case: e_window_6
-- refuse: E_WINDOW
-- at: lag(id, -1)
select id, lag(id, -1) over (order by id) as x from run

-- case: e_limit_percent_7
-- refuse: E_LIMIT_PERCENT
-- at: 2)
select id from run order by id limit (select 2)

-- case: e_subquery_place_pair_without_a_row
-- refuse: E_SUBQUERY_PLACE
-- at: id, conc from run)
select (1, 2) in (select id, conc from run) as x

-- case: e_distinct_order_9
-- refuse: E_DISTINCT_ORDER
-- at: id + 1
select id from run union all select id from host order by id + 1

-- case: e_volatile_11
-- refuse: E_VOLATILE
-- at: now()
select now() as t from run

-- case: e_volatile_12
-- refuse: E_VOLATILE
-- at: current_date
select current_date as t from run

-- case: e_volatile_13
-- refuse: E_VOLATILE
select random() as t from run

-- case: e_volatile_14
-- refuse: E_VOLATILE
select uuid() as t from run

-- case: e_volatile_15
-- refuse: E_VOLATILE
select nextval('s') as t from run

-- case: e_volatile_16
-- refuse: E_VOLATILE
select getenv('HOME') as t from run

-- case: e_volatile_17
-- refuse: E_VOLATILE
select current_timestamp as t from run

-- case: e_volatile_18
-- refuse: E_VOLATILE
-- at: today()
select id from run where exists (select 1 from host where today() > date '2026-01-01')

-- case: e_volatile_clock_that_the_engine_calls_consistent
-- refuse: E_VOLATILE
-- at: current_localtimestamp
select current_localtimestamp() as t from run

-- case: e_volatile_age_to_this_day
-- refuse: E_VOLATILE
-- at: age(
select age(timestamp '2026-01-01') as a from run

-- case: e_approx_19
-- refuse: E_APPROX
-- at: approx_count_distinct(id)
select approx_count_distinct(id) as n from run

-- case: e_approx_20
-- refuse: E_APPROX
select approx_quantile(tput, 0.5) as q from run

-- case: e_approx_21
-- refuse: E_APPROX
select reservoir_quantile(tput, 0.5) as q from run

-- case: e_function_22
-- refuse: E_FUNCTION
-- at: my_macro(id)
select my_macro(id) as x from run

-- case: e_aggregate_23
-- refuse: E_AGGREGATE
-- at: lttb(id, tput, 2)
select lttb(id, tput, 2) as g from run

-- case: e_aggregate_24
-- refuse: E_AGGREGATE
select arg_max_null(id, tput) as g from run

-- case: e_unordered_agg_25
-- refuse: E_UNORDERED_AGG
-- at: list(id)
select list(id) as l from run

-- case: e_unordered_agg_26
-- refuse: E_UNORDERED_AGG
select first(id) as l from run

-- case: e_unordered_agg_27
-- refuse: E_UNORDERED_AGG
-- at: host, ','
select string_agg(host, ',') as l from run

-- case: e_sample_28
-- refuse: E_SAMPLE
-- at: 10%
select id from run tablesample 10%

-- case: e_limit_unordered_29
-- refuse: E_LIMIT_UNORDERED
-- at: 3
select id from run limit 3

-- case: e_limit_unordered_30
-- refuse: E_LIMIT_UNORDERED
-- at: 3) t
select max(x) as m from (select id as x from run limit 3) t

-- case: e_limit_percent_31
-- refuse: E_LIMIT_PERCENT
-- at: 10%
select id from run order by id limit 10%

-- case: e_offset_32
-- refuse: E_OFFSET
-- at: 1
select distinct conc from run order by conc limit 3 offset 1

-- case: e_offset_unordered
-- refuse: E_OFFSET
-- at: 1
select id from run offset 1

-- case: e_offset_computed
-- refuse: E_OFFSET
select id from run order by id offset (select 1)

-- case: e_offset_by_a_window
-- refuse: E_OFFSET
select id, rank() over (order by tput) as r from run order by r, id limit 1 offset 1

-- case: e_limit_unordered_of_groups
-- refuse: E_LIMIT_UNORDERED
-- at: 2
select host, count(*) as n from run group by host limit 2

-- case: e_limit_unordered_none
-- refuse: E_LIMIT_UNORDERED
-- at: 0
select count(*) as n from run limit 0

-- case: e_order_all_33
-- refuse: E_ORDER_ALL
-- at: * from run order
select * from run order by all

-- case: e_setop_34
-- refuse: E_SETOP
-- at: id from run except
select id from run except all select id from host

-- case: e_setop_35
-- refuse: E_SETOP
select id from run intersect all select id from host

-- case: e_recursive_by_name
-- refuse: E_RECURSIVE
-- at: t as (select
with recursive t as (select 1 as n union all by name select n + 1 as n from t where n < 3) select n from t

-- case: e_recursive_union_of_what_has_no_partner
-- refuse: E_RECURSIVE
with recursive t as (select 1 as n union select r.id from run r left join t on r.id = t.n) select n from t

-- case: e_recursive_union_kept_by_the_other_side
-- refuse: E_RECURSIVE
with recursive t as (select 1 as n union select r.id from t right join run r on r.id = t.n) select n from t

-- case: e_recursive_union_counted
-- refuse: E_RECURSIVE
with recursive t as (select 1 as a, 2 as n union select n, "2" from t pivot (count(*) for a in (2) group by n)) select n from t

-- case: e_recursive_aggregate
-- refuse: E_RECURSIVE
with recursive t as (select 1 as n union all select max(n) + 1 from t having max(n) < 3) select n from t

-- case: e_recursive_in_subquery
-- refuse: E_RECURSIVE
-- at: id from run where
with recursive t as (select 1 as n union all select id from run where id in (select n + 1 from t)) select n from t

-- case: e_recursive_twice
-- refuse: E_RECURSIVE
with recursive t as (select 1 as n union all select a.n + 1 from t a join t b on a.n = b.n where a.n < 3) select n from t

-- case: e_recursive_anchor
-- refuse: E_RECURSIVE
with recursive t as (select n from t union all select n + 1 from t where n < 3) select n from t

-- case: e_pivot_37
-- refuse: E_PIVOT
-- at: run on conc
pivot run on conc using sum(tput)

-- case: e_pivot_null
-- refuse: E_PIVOT
pivot run on host in ('a', null) using sum(tput) group by conc

-- case: e_pivot_expression
-- refuse: E_PIVOT
-- at: upper(status)
pivot run on conc in (1) using upper(status) group by host

-- case: e_pivot_in_a_subquery
-- refuse: E_PIVOT
select id from run where 10 in (select "1" from run pivot (sum(tput) for conc in (1)))

-- case: e_pivot_of_a_pivot
-- refuse: E_PIVOT
select * from run pivot (sum(tput) for conc in (1)) pivot (max(id) for status in ('ok'))

-- case: e_unpivot_by_a_pattern
-- refuse: E_UNPIVOT
-- at: run on columns
unpivot run on columns('conc|tput')

-- case: e_unpivot_of_pairs
-- refuse: E_UNPIVOT
select * from run unpivot ((a, b) for k in ((conc, tput)))

-- case: e_unpivot_of_an_expression
-- refuse: E_UNPIVOT
unpivot run on conc + 1, tput

-- case: e_unpivot_with_other_names
-- refuse: E_UNPIVOT
select * from run unpivot (v for k in (conc as c, tput))

-- case: e_unpivot_behind_a_list
-- refuse: E_UNPIVOT
select * from run unpivot (v for k in (conc, tput)) as u(a, b, c, d, e)

-- case: e_unpivot_of_no_column
-- refuse: E_RESOLVE
select * from (select 1 as x) unpivot (v for k in (y))

-- case: e_fetch_with_ties
-- refuse: E_LIMIT_PERCENT
select id from run order by id fetch first 50 percent rows only

-- case: e_distinct_on_40
-- refuse: E_DISTINCT_ON
-- at: host) host
select distinct on (host) host, id from run order by host

-- case: e_distinct_on_by_position
-- refuse: E_DISTINCT_ON
select distinct on (host) host, id from run order by 1

-- case: e_distinct_on_unordered
-- refuse: E_DISTINCT_ON
select distinct on (host) id from run

-- case: e_distinct_order_41
-- refuse: E_DISTINCT_ORDER
-- at: upper(host)
select distinct host from run order by upper(host)

-- case: e_join_42
-- refuse: E_JOIN
select r.id from run r natural join (select name from host) h

-- case: e_join_natural_in_a_subquery
-- refuse: E_JOIN
with c as (select id from run) select id from host where id in (select a.id from c a natural join c b)

-- case: e_join_43
-- refuse: E_JOIN
-- at: host h
select r.id from run r positional join host h

-- case: e_join_44
-- refuse: E_JOIN
-- at: feed.sample s
select r.id from run r asof right join feed.sample s on r.id >= s.id

-- case: e_comma_join_45
-- refuse: E_COMMA_JOIN
-- at: 1]) as u(x)
select r.id from host h, unnest([1]) as u(x) right join run r on r.id = u.x

-- case: e_semi_join_46
-- refuse: E_SEMI_JOIN
-- at: host h on
select r.id from run r semi join host h on h.name = r.host full join feed.sample s on s.run_id = r.id

-- case: e_semi_join_47
-- refuse: E_SEMI_JOIN
select r.id from (run r anti join host h on h.name = r.host)

-- case: e_lateral_48
-- refuse: E_LATERAL
-- at: range(s.id)
select s.id from feed.sample s, lateral range(s.id) as r(i)

-- case: e_tablefunc_49
-- refuse: E_TABLEFUNC
-- at: read_csv
select x from read_csv('f.csv') t(x)

-- case: e_untracked_50
-- refuse: E_UNTRACKED
-- at: untracked
select a from untracked

-- case: e_resolve_51
-- refuse: E_RESOLVE
-- at: nowhere
select id from nowhere

-- case: e_resolve_52
-- refuse: E_RESOLVE
-- at: missing
select missing from run

-- case: e_resolve_53
-- refuse: E_RESOLVE
select rowid from run

-- case: e_resolve_54
-- refuse: E_RESOLVE
-- at: id from run r
select id from run r join host h on h.name = r.host

-- case: e_resolve_semi_join_of_one_name
-- refuse: E_RESOLVE
select id from run semi join run using (id)

-- case: e_star_excluded_column_that_using_merged
-- refuse: E_STAR
-- at: host.id
select * exclude (host.id) from host join run using (id)

-- case: e_star_of_no_column
-- refuse: E_STAR
-- at: * exclude
select * exclude (nothing), id from run

-- case: e_star_in_an_expression
-- refuse: E_STAR
select id, hash(run.*) as h from run

-- case: e_star_56
-- refuse: E_STAR
-- at: * from c)
with c as (select id from host) select id from run where id in (select * from c)

-- case: e_columns_of_two_kinds
-- refuse: E_COLUMNS
-- at: columns('t.*')
select columns('t.*') + columns('c.*') as s from run

-- case: e_columns_in_order
-- refuse: E_COLUMNS
-- at: columns('t.*')
select id from run order by columns('t.*')

-- case: e_columns_in_join
-- refuse: E_COLUMNS
-- at: columns('id')
select r.tput from run r join host h on columns('id') = 1

-- case: e_columns_in_group
-- refuse: E_COLUMNS
select count(*) as n from run group by columns('host')

-- case: e_columns_in_a_table_function
-- refuse: E_COLUMNS
select u.x from feed.sample s, unnest(columns('tags')) as u(x)

-- case: e_columns_as_fields
-- refuse: E_COLUMNS
select struct_pack(*columns('t.*')) as s from run

-- case: e_columns_in_a_subquery
-- refuse: E_STAR
with r as (select id from run) select id from host where id in (select columns('i.*') from r)

-- case: e_alias_columns_58
-- refuse: E_ALIAS_COLUMNS
-- at: id from run) as r(a, b)
select a from (select id from run) as r(a, b)

-- case: e_alias_columns_59
-- refuse: E_ALIAS_COLUMNS
-- at: c(a, b)
with c(a, b) as (select id from run) select a from c

-- case: e_duplicate_column_of_a_list
-- refuse: E_DUPLICATE_COLUMN
-- at: run as r(conc)
select r.conc from run as r(conc)

-- case: e_noalias_60
-- refuse: E_NOALIAS
-- at: range(3)
select range from range(3)

-- case: e_noalias_61
-- refuse: E_NOALIAS
select unnest from unnest([1])

-- case: e_unnamed_respelled
-- refuse: E_UNNAMED
-- at: id::varchar
select id::varchar from run

-- case: e_unnamed_62
-- refuse: E_UNNAMED
select id, (select max(gpus) from host) from run

-- case: e_duplicate_column_63
-- refuse: E_DUPLICATE_COLUMN
-- at: h.id
select r.id, h.id from run r join host h on true

-- case: e_reserved_64
-- refuse: E_RESERVED
-- at: __why_0
select id as __why_0 from run

-- case: e_paren_65
-- refuse: E_PAREN
-- at: id from run) order
(select id from run) order by id

-- case: e_correlated_66
-- values: v
-- refuse: E_CORRELATED
-- at: conc) from
select id, (select max(r.gpus + conc) from host r) as v from run r

-- case: e_subquery_place_67
-- refuse: E_SUBQUERY_PLACE
-- at: id, conc from run)
select host, sum(conc) as s from run group by host having (count(*), max(id)) in (select id, conc from run)

-- case: e_subquery_place_group_without_keys
-- refuse: E_SUBQUERY_PLACE
select count(*) as n from run where conc > 9 having 1 in (select id from host)

-- case: e_subquery_place_rollup
-- refuse: E_SUBQUERY_PLACE
select host from run group by rollup (host) having exists (select 1 from host h where h.name = run.host)

-- case: e_subquery_place_aggregate_of_the_group
-- refuse: E_SUBQUERY_PLACE
select host from run group by host having exists (select 1 from host h where h.gpus < sum(run.conc))

-- case: e_subquery_place_window
-- refuse: E_SUBQUERY_PLACE
select id from run qualify (id, row_number() over (order by id)) in (select id, gpus from host)

-- case: e_subquery_place_68
-- refuse: E_SUBQUERY_PLACE
select r.id from run r left join host h on exists (select 1 from feed.sample s where s.run_id = r.id)

-- case: e_subquery_place_in_parentheses
-- refuse: E_SUBQUERY_PLACE
select r.id from (run r join host h on r.host in (select name from host))

-- case: e_correlated_column_called_like_the_table
-- values: v
-- refuse: E_CORRELATED
-- at: gpus from run r
select name, (select max(tput) + gpus from run r) as v from host

-- case: e_subquery_cell_69
-- values: v
-- refuse: E_SUBQUERY_CELL
-- at: id in (select
select id in (select id from host) as v from run

-- case: e_subquery_form_70
-- refuse: E_SUBQUERY_FORM
-- at: id from host)
select id from run where (id, conc) in (select id from host)

-- case: e_subquery_form_71
-- refuse: E_SUBQUERY_FORM
select id from run where id > all (select id, gpus from host)

-- case: e_window_72
-- refuse: E_WINDOW
-- at: sum(conc) over
select id, sum(conc) over (w rows 1 preceding) as s from run window w as (order by id)

-- case: e_window_row_number_without_order
-- refuse: E_WINDOW
-- at: row_number() over
select id, row_number() over (partition by host) as n from run

-- case: e_window_rows_without_order
-- refuse: E_WINDOW
select id, sum(conc) over (rows between 1 preceding and current row) as s from run

-- case: e_window_73
-- refuse: E_WINDOW
-- at: row_number() over
select id from run order by row_number() over (order by id)

-- case: e_window_shift_by_an_order_of_its_own
-- refuse: E_WINDOW
select id, lag(tput order by conc) over (order by id) as before from run

-- case: e_subquery_place_on_beside_a_right_join
-- refuse: E_SUBQUERY_PLACE
select r.id
from run r join host h on h.name = r.host and exists (select 1 from feed.sample s where s.run_id = r.id) right join host o on o.name = r.host
