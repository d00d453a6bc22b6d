-- case: literal
-- values: x
-- row: 1 | 1 ; why 0 = 1
select 1 as x, id from run where id = 1

-- case: expression
-- values: v
-- row: 10.0 ; why 0 = 2 ; v 0 = conc@2, tput@2
select tput / conc as v from run where id = 2

-- case: function
-- values: v
-- row: 20 | 20 ; why 0 = 2 ; v 0 = conc@2, tput@2
select greatest(tput, conc) as v, round(tput) as w from run where id = 2

-- case: case_taken_branch
-- values: v
-- row: 1 | 10 ; why 0 = 1 ; v 0 = tput@1
-- row: 3 | 4 ; why 0 = 3 ; v 0 = conc@3
select id, case when status = 'ok' then tput else conc end as v from run where id in (1, 3)

-- case: simple_case
-- values: v
-- row: 1 | 10 ; why 0 = 1 ; v 0 = tput@1
-- row: 3 | 4 ; why 0 = 3 ; v 0 = conc@3
select id, case status when 'ok' then tput when 'failed' then conc end as v from run where id in (1, 3)

-- case: if_function
-- values: v
-- row: 1 | 10 ; why 0 = 1 ; v 0 = tput@1
-- row: 3 | 4 ; why 0 = 3 ; v 0 = conc@3
select id, if(status = 'ok', tput, conc) as v from run where id in (1, 3)

-- case: coalesce
-- values: v
-- row: 2 | 20 ; why 0 = 2 ; v 0 = tput@2
-- row: 3 | 4 ; why 0 = 3 ; v 0 = conc@3
select id, coalesce(tput, conc) as v from run where id in (2, 3)

-- case: ifnull
-- values: v
-- row: 2 | 20 ; why 0 = 2 ; v 0 = tput@2
-- row: 3 | 0 ; why 0 = 3
select id, ifnull(tput, 0) as v from run where id in (2, 3)

-- case: nullif
-- values: v
-- row: 20 ; why 0 = 2 ; v 0 = conc@2, tput@2
select nullif(tput, conc) as v from run where id = 2

-- case: cast_and_operators
-- values: v
-- row: -20.0 | True ; why 0 = 2 ; v 0 = tput@2
select -tput::double as v, conc between 1 and 2 as w from run where id = 2

-- case: lambda
-- values: v
-- row: [2, 3] ; why 0 = 1 ; v 0 = tags@1
select list_transform(tags, lambda t: t + 1) as v from feed.sample where id = 1

-- case: comprehension
-- values: v
-- row: [6, 7] ; why 0 = 1 ; v 0 = latency@1, tags@1
select [t + latency for t in tags] as v from feed.sample where id = 1

-- case: struct_field
-- values: v
-- row: 10 ; why 0 = 1 ; v 0 = conc@1, tput@1
select s.p.q as v from (select {'q': tput, 'z': conc} as p from run where id = 1) s

-- case: sum_of_case
-- values: v
-- row: 90 ; why 0 = 1, 2, 3, 4, 5, 6 ; v 0 = status@3, tput@1, tput@2, tput@4, tput@5, tput@6
select sum(case when status = 'ok' then tput else 0 end) as v from run

-- case: undemanded_columns_have_no_cells
-- row: 10 ; why 0 = 1
select tput as v from run where id = 1

-- case: lambda_parameter_like_a_column
-- values: v
-- row: [2, 3] | 1 ; why 0 = 1 ; v 0 = tags@1
select list_transform(tags, lambda latency: latency + 1) as v, list_transform(tags, lambda id: 0)[1] + id as w from feed.sample where id = 1

-- case: json
-- values: v
-- row: 10 ; why 0 = 1 ; v 0 = tput@1
select json_object('a', tput)->>'a' as v from run where id = 1

-- case: parenthesised_alias
-- values: w
-- row: 21 | 42 ; why 0 = 2 ; w 0 = conc@2, tput@2
select tput + 1 as v, v * conc as w from run where id = 2
