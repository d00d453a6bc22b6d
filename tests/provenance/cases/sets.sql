-- case: intersect
-- values: k
-- row: 1 ; why 0 = 1, 4 ; why 1 = 1 ; k 0 = conc@1, conc@4 ; k 1 = id@1
-- row: 2 ; why 0 = 2, 5 ; why 1 = 2 ; k 0 = conc@2, conc@5 ; k 1 = id@2
select conc as k from run intersect select id from host

-- case: intersect_nulls_are_equal
-- values: h
-- row: a ; why 0 = 1, 2, 3 ; why 1 = 3 ; h 0 = host@1, host@2, host@3 ; h 1 = host@3
-- row: None ; why 0 = 6 ; why 1 = 6 ; h 0 = host@6 ; h 1 = host@6
select host as h from run intersect select host from run where conc = 4

-- case: intersect_counted
-- values: n
-- row: 1 ; why 0 = 1, 4 ; why 1 = 3 ; n 0 = *@1, *@4 ; n 1 = *@3
select count(*) as n from (select conc from run intersect select gpus from host) i

-- case: intersect_with_order_and_limit
-- values: k
-- row: 2 ; why 0 = 2, 5 ; why 1 = 2 ; k 0 = conc@2, conc@5 ; k 1 = id@2
select conc as k from run intersect select id from host order by k desc limit 1

-- case: intersect_types_meet
-- values: h
-- row: a | 4.0 ; why 0 = 3 ; why 1 = 3 ; h 0 = host@3 ; h 1 = host@3
-- row: None | 4.0 ; why 0 = 6 ; why 1 = 6 ; h 0 = host@6 ; h 1 = host@6
select host as h, conc as c from run intersect select host, 4.0 from run where conc = 4

-- case: except
-- values: k
-- row: 2 ; why 0 = 2, 5 ; k 0 = conc@2, conc@5
-- row: 4 ; why 0 = 3, 6 ; k 0 = conc@3, conc@6
select conc as k from run except select gpus from host

-- case: except_keeps_null
-- values: h
-- row: None ; why 0 = 6 ; h 0 = host@6
select host as h from run except select name from host

-- case: except_types_meet
-- values: x
-- row: 1.0 ; why 0 = 1 ; x 0 = id@1
-- row: 2.0 ; why 0 = 2 ; x 0 = id@2
select id as x from run where id < 3 except select 2.5

-- case: except_nothing
-- values: s
-- row: ok ; why 0 = 1, 2, 4, 5, 6 ; s 0 = status@1, status@2, status@4, status@5, status@6
-- row: failed ; why 0 = 3 ; s 0 = status@3
select status as s from run except select name from host where id > 9

-- case: except_twice
-- values: k
-- row: 4 ; why 0 = 3, 6 ; k 0 = conc@3, conc@6
select conc as k from run except select gpus from host except select id from host where id = 2

-- case: intersect_binds_stronger_than_union
-- values: k
-- row: 1 ; why 0 = 1 ; k 0 = id@1
-- row: 2 ; why 0 = 2 ; k 0 = id@2
-- row: 3 ; why 0 = 3 ; k 0 = id@3
-- row: 1 ; why 1 = 1 ; why 2 = 3 ; k 1 = conc@1 ; k 2 = gpus@3
select id as k from host union all select conc from run where id < 3 intersect select gpus from host

-- case: in_an_except
-- values: name
-- row: b ; why 0 = 2 ; why 1 = 2, 5 ; name 0 = name@2
select name from host where id in (select conc from run except select gpus from host)

-- case: except_of_one_cte
-- values: id
-- row: 2 ; why 0 = 2 ; id 0 = id@2
with c as (select id, conc from run where id < 3) select id from c except select conc from c where conc = 1
