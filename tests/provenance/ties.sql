-- Queries over `step` (tests/test_ties.py), whose rows tie in `t` and differ in `v`. Those with a `refuse` line hang on that;
-- the text behind E_TIE is what the refusal must tell. In a case called `no_tie` no row can tie.

-- case: e_tie_arg_max
-- refuse: E_TIE 2 groups of rows tie and decide the answer, such as k = 'a', t = 2
-- at: v, t) as x
select k, arg_max(v, t) as x from step group by k

-- case: tie_arg_min_unique_or_equal_or_null
select k, arg_min(v, t) as x from step where k in ('a', 'b', 'c') group by k

-- case: e_tie_first
-- refuse: E_TIE 3 groups of rows tie and decide the answer, such as k = 'a', t = 2
-- at: first(v
select k, first(v order by t desc) as x from step group by k

-- case: tie_first_of_what_the_filter_leaves
select k, first(v order by t) filter (where k in ('a', 'b')) as x from step group by k

-- case: e_tie_last
-- refuse: E_TIE 3 groups of rows tie and decide the answer, such as k = 'a', t = 2
-- at: last(v
select k, last(v order by t) as x from step group by k

-- case: e_tie_any_value
-- refuse: E_TIE 2 groups of rows tie and decide the answer, such as k = 'a':
select k, any_value(v) as x from step group by k

-- case: tie_any_value_of_a_key
select k, any_value(k) as x from step group by k

-- case: e_tie_mode
-- refuse: E_TIE rows tie and decide the answer
-- at: mode(v
select k, mode(v) as x from step group by k

-- case: tie_mode_that_leads
select k, mode(t) as x from step group by k

-- case: e_tie_list
-- refuse: E_TIE 3 groups of rows tie and decide the answer, such as k = 'a', t = 2
-- at: list(v
select k, list(v order by t) as x from step group by k

-- case: e_tie_list_in_a_subtotal
-- refuse: E_TIE
-- at: list(v
select id, list(v order by t) as x from step group by rollup (id)

-- case: e_tie_listed_query
-- refuse: E_TIE
-- at: v from
select k, array(select v from step as other where other.k = step.k order by t)[1] as x from step

-- case: e_tie_listed_query_of_all_rows
-- refuse: E_TIE 2 groups of rows tie and decide the answer, such as t = 1
-- at: v from
select array(select v from step order by t) as x

-- case: tie_listed_query_in_the_order_of_its_values
select k, array(select v from step as other where other.k = step.k order by v)[1] as x from step

-- case: tie_list_ordered_by_itself
select k, list(v order by v) as x from step group by k

-- case: e_tie_string_agg_without_nulls
-- refuse: E_TIE 2 groups of rows tie and decide the answer, such as k = 'a', t = 2
-- at: v, ','
select k, string_agg(v, ',' order by t) as x from step group by k

-- case: e_tie_limit
-- refuse: E_TIE 1 group of rows ties and decides the answer, such as t = 1
-- at: id, k from
select id, k from step order by t limit 2

-- case: tie_limit_of_equal_rows
select t from step order by t limit 2

-- case: tie_limit_between_groups
select * from step order by t limit 8

-- case: e_tie_limit_of_a_star
-- refuse: E_TIE 1 group of rows ties and decides the answer, such as t = 1
-- at: * from
select * from step order by t limit 3

-- case: tie_limit_whose_rows_are_only_counted
select count(*) as n from (select id from step order by t limit 4) as s

-- case: e_tie_limit_that_cuts_nulls
-- refuse: E_TIE 1 group of rows ties and decides the answer, such as k = 'c'
-- at: k, v from
select k, v from step where k = 'c' order by k limit 1

-- case: e_tie_limit_of_a_union
-- refuse: E_TIE rows tie and decide the answer
select k, v from step union all select k, v from step order by k limit 3

-- case: tie_limit_of_distinct_rows
select k from step union select k from step order by k limit 3

-- case: e_tie_limit_of_a_cte
-- refuse: E_TIE 1 group of rows ties and decides the answer, such as t = 2
-- at: v from c
with c as (select * from step where k = 'a') select (select v from c order by t desc limit 1) as x

-- case: e_tie_limit_that_depends_on_the_row
-- refuse: E_TIE rows tie and decide the answer
-- at: v from step s
select id, (select v from step s where s.k = step.k order by t desc limit 1) as x from step

-- case: e_tie_distinct_on
-- refuse: E_TIE 2 groups of rows tie and decide the answer, such as k = 'c', t = 1
select distinct on (k) k, v from step order by k, t

-- case: tie_distinct_on_of_equal_rows
select distinct on (k) k, v from step where k = 'b' order by k, t

-- case: e_tie_distinct_on_a_star
-- refuse: E_TIE 1 group of rows ties and decides the answer, such as k = 'b', t = 1
select distinct on (k) * from step where k = 'b' order by k, t

-- case: e_tie_row_number
-- refuse: E_TIE 4 groups of rows tie and decide the answer, such as k = 'a', t = 2
-- at: row_number()
select k, v from step qualify row_number() over (partition by k order by t) = 1

-- case: e_tie_row_number_in_the_middle
-- refuse: E_TIE 1 group of rows ties and decides the answer, such as k = 'd', t = 1
-- at: row_number()
select v from step where k = 'd' qualify row_number() over (partition by k order by t) = 2

-- case: tie_row_number_of_equal_rows
select v from step where k = 'b' qualify row_number() over (partition by k order by t) = 1

-- case: tie_row_number_that_keeps_whole_groups
select id from step where k = 'd' qualify row_number() over (order by t) <= 3

-- case: e_tie_row_number_of_groups
-- refuse: E_TIE 1 group of rows ties and decides the answer, such as COUNT(*) // 10 = 0
-- at: row_number()
select t, row_number() over (order by count(*) // 10) as n from step group by t

-- case: e_tie_row_number_of_a_named_window
-- refuse: E_TIE 4 groups of rows tie and decide the answer
-- at: row_number()
select id, row_number() over w as n from step window w as (partition by k order by t)

-- case: no_tie_rank
select id, rank() over (partition by k order by t) as n from step

-- case: e_tie_ntile
-- refuse: E_TIE 2 groups of rows tie and decide the answer, such as t = 1
-- at: ntile(2)
select id, ntile(2) over (order by t) as n from step

-- case: e_tie_lag
-- refuse: E_TIE 3 groups of rows tie and decide the answer, such as k = 'a', t = 2
-- at: lag(v)
select id, lag(v) over (partition by k order by t) as x from step

-- case: tie_lead_by_a_key
select id, lead(v) over (partition by k order by t, id) as x from step

-- case: e_tie_last_value
-- refuse: E_TIE 3 groups of rows tie and decide the answer
-- at: last_value(v)
select id, last_value(v) over (partition by k order by t) as x from step

-- case: e_tie_first_value
-- refuse: E_TIE 2 groups of rows tie and decide the answer
-- at: first_value(v ignore
select id, first_value(v ignore nulls) over (partition by k order by t) as x from step

-- case: no_tie_sum_of_peers
select id, sum(v) over (partition by k order by t) as x from step

-- case: e_tie_sum_of_counted_rows
-- refuse: E_TIE 3 groups of rows tie and decide the answer
-- at: sum(v)
select id, sum(v) over (partition by k order by t rows 1 preceding) as x from step

-- case: e_tie_of_joined_rows
-- refuse: E_TIE 1 group of rows ties and decides the answer, such as a.t = 1
select a.id as x from step as a join step as b using (k) where k = 'b' qualify row_number() over (order by a.t) = 1

-- case: e_tie_nth_value_in_the_middle
-- refuse: E_TIE 1 group of rows ties and decides the answer, such as k = 'd', t = 1
-- at: nth_value(v
select id, nth_value(v, 2) over (partition by k order by t) as x from step where k = 'd'

-- case: e_tie_item_of_a_list_in_the_middle
-- refuse: E_TIE 1 group of rows ties and decides the answer, such as t = 1
-- at: list(v
select (list(v order by t))[2] as x from step where k = 'd'

-- case: e_tie_limit_whose_middle_row_is_read
-- refuse: E_TIE 1 group of rows ties and decides the answer, such as t = 1
-- at: id, v from
select v from (select id, v from step where k = 'd' order by t limit 2) as s where id = 9

-- case: tie_distinct_list
select k, list(distinct v order by v) as x from step group by k

-- case: e_tie_asof_join
-- refuse: E_TIE 1 group of rows ties and decides the answer, such as b.k = 'a', b.t = 2
select a.id, b.v as x from step as a asof join (select k, t, v from step where k = 'a') as b on a.k = b.k and a.t >= b.t

-- case: e_tie_asof_join_of_a_table
-- refuse: E_TIE 4 groups of rows tie and decide the answer, such as step.k = 'a', step.t = 2
select a.id, step.v as x from (select id, k, t from step) as a asof left join step on a.k = step.k and a.t >= step.t

-- case: e_tie_asof_join_using
-- refuse: E_TIE 1 group of rows ties and decides the answer, such as b.k = 'a', b.t = 2
select a.id, b.v as x from step as a asof join (select k, t, v from step where k = 'a') as b using (k, t)

-- case: tie_asof_join_of_equal_rows
select a.id, b.v as x from step as a asof join (select k, t, v from step where k = 'b') as b on a.k = b.k and a.t >= b.t

-- case: tie_asof_join_that_is_not_read
select a.id, b.t as x from step as a asof join step as b on a.k = b.k and a.t >= b.t

-- case: e_tie_asof_join_whose_sides_are_not_named
-- refuse: E_TIE an ASOF JOIN whose condition does not name the table of each column
select a.id, w as x from step as a asof join (select k as l, t as u, v as w from step) as b on k = l and t >= u

-- case: e_tie_position_behind_a_star
-- refuse: E_TIE rows tie and decide the answer
-- at: * from step
select * from step order by 2 limit 1

-- case: e_tie_replaced_column
-- refuse: E_TIE
-- at: * replace
select * replace (1 as t) from step order by t limit 1

-- case: e_tie_group_position_behind_a_star
-- refuse: E_TIE a group by position in a list with a star
select *, row_number() over (order by k) as n from step group by 1, 2, 3, 4

-- case: e_tie_the_odd_one_of_many
-- refuse: E_TIE 1 group of rows ties and decides the answer
-- at: row_number
select s.x from (select i, (i = 37)::int as x from range(100) as r(i)) as s qualify row_number() over (order by s.i // 1000) = 1

-- case: e_tie_among_peers_that_are_left_out
-- refuse: E_TIE
-- at: nth_value
select id, nth_value(v, 2) over (partition by k order by t rows between unbounded preceding and unbounded following exclude ties) as x from step

-- case: e_tie_in_an_order_within_a_window
-- refuse: E_TIE
-- at: list
select id, list(v order by k) over (partition by k order by id rows between unbounded preceding and unbounded following) as x from step

-- case: e_tie_among_peers_that_no_order_can_tell
-- refuse: E_TIE
-- at: count(
select k, count(*) over (partition by k order by t rows between unbounded preceding and current row exclude ties) as n from step where k = 'b'

-- case: tie_row_number_over_items_named_like_their_columns
with v as (select distinct k, v from step where v < 9), t as (select distinct k, t, 1 as v from step)
select v.k, row_number() over (partition by v.k order by v.v, t.t) as n from v inner join t on t.k = v.k where v.k = 'd'

-- case: e_tie_row_number_over_items_named_like_their_columns
-- refuse: E_TIE rows tie and decide the answer
-- at: row_number
with v as (select distinct k, v from step where v < 9), t as (select distinct k, t, 1 as v from step)
select v.k, v.v as x, row_number() over (partition by v.k order by t.t) as n from v inner join t on t.k = v.k where v.k = 'd'

-- case: tie_qualified_row_number_over_items_named_like_their_columns
with v as (select distinct k, v from step where v < 9), t as (select distinct k, t, 1 as v from step)
select v.k, v.v as x from v inner join t on t.k = v.k where v.k = 'd' qualify row_number() over (partition by v.k order by v.v, t.t) = 1

-- case: e_tie_list_in_its_own_order_over_a_window
-- refuse: E_TIE
-- at: list(v order by t) over
select id, list(v order by t) over (partition by k order by id rows between unbounded preceding and unbounded following) as x from step

-- case: e_tie_in_a_filtered_list_of_one_cte
-- refuse: E_TIE 1 group of rows ties and decides the answer, such as k = 'a', t = 2
-- at: list(v order by t) filter
with late as (select * from step where t > 1) select k, list(v order by t) filter (where k = 'a') as x from late group by k

-- case: e_tie_in_a_row_number_beside_a_list_that_has_none
-- refuse: E_TIE
-- at: row_number() over
select k, list(distinct n order by n) as x from (select k, v, row_number() over (partition by k order by t) + coalesce(v, 0) as n from step) group by k
