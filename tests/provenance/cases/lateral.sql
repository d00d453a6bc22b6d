-- case: lateral
-- values: s
-- row: a | 30 ; why 0 = 1 ; why 1 = 1, 2, 3 ; s 1 = tput@1, tput@2
-- row: b | 30 ; why 0 = 2 ; why 1 = 4, 5 ; s 1 = tput@4, tput@5
-- row: c | None ; why 0 = 3
select h.name, t.s from host h, lateral (select sum(tput) as s from run r where r.host = h.name) t

-- case: lateral_value_of_both
-- values: m
-- row: 5 | 10 ; why 0 = 5 ; why 1 = 2 ; m 0 = conc@5 ; m 1 = gpus@2
-- row: 6 | None ; why 0 = 6
select r.id, t.m from run r, lateral (select max(h.gpus + r.conc) as m from host h where h.name = r.host) t where r.id > 4

-- case: lateral_top_one
-- values: i
-- row: a | 3 ; why 0 = 1 ; why 1 = 3 ; i 1 = id@3
-- row: b | 5 ; why 0 = 2 ; why 1 = 5 ; i 1 = id@5
-- row: c | None ; why 0 = 3
select h.name, t.id as i
from host h left join lateral (select r.id from run r where r.host = h.name order by r.id desc limit 1) t on true

-- case: lateral_without_the_word
-- values: x
-- row: 1 | 7 ; why 0 = 1 ; x 0 = gpus@1, id@1
-- row: 2 | 6 ; why 0 = 2 ; x 0 = gpus@2, id@2
-- row: 3 | -2 ; why 0 = 3 ; x 0 = gpus@3, id@3
select h.id, t.x from host h, (select h.gpus - h.id as x) t

-- case: lateral_after_lateral
-- values: l
-- row: a | 7 ; why 0 = 1 ; why 1 = 1 ; why 2 = 1, 2 ; l 2 = latency@1, latency@2
-- row: b | None ; why 0 = 2 ; why 1 = 4 ; why 2 = 4
select h.name, u.l
from host h,
    lateral (select r.id from run r where r.host = h.name and r.conc = 1) t,
    lateral (select max(s.latency) as l from feed.sample s where s.run_id = t.id) u

-- case: lateral_before_group
-- values: s
-- row: 8 | 5 ; why 0 = 1, 2 ; why 1 = 1, 2, 3, 4, 5 ; s 1 = *@1, *@2, *@3, *@4, *@5
-- row: 1 | 0 ; why 0 = 3
select h.gpus, sum(t.v)::integer as s
from host h, lateral (select count(*) as v from run r where r.host = h.name) t(v) group by h.gpus

-- case: lateral_over_a_cte
-- values: m
-- row: 1 | 0 ; why 0 = 1, 2 ; m 0 = conc@1, conc@2
-- row: 2 | 1 ; why 0 = 1, 2 ; m 0 = conc@1, conc@2
with c as (select id, conc from run where id < 3)
select a.id, t.m from c a, lateral (select a.conc - min(b.conc) as m from c b) t

-- case: lateral_unnest
-- values: tag
-- row: 1 | 1 ; why 0 = 1 ; tag 0 = tags@1
-- row: 1 | 2 ; why 0 = 1 ; tag 0 = tags@1
select s.id, u.tag from feed.sample s, lateral unnest(s.tags) as u(tag) where s.id < 3

-- case: correlated_scalar_of_the_row
-- values: v
-- row: 1 | 1 ; why 0 = 1 ; v 0 = conc@1
select id, (select r.conc) as v from run r where id = 1

-- case: correlated_scalar_of_both
-- values: v
-- row: a | 11 ; why 0 = 1 ; why 1 = 1, 2, 3 ; v 0 = gpus@1 ; v 1 = *@1, *@2, *@3
-- row: b | 10 ; why 0 = 2 ; why 1 = 4, 5 ; v 0 = gpus@2 ; v 1 = *@4, *@5
-- row: c | 1 ; why 0 = 3 ; v 0 = gpus@3
select name, (select count(*) + h.gpus from run r where r.host = h.name) as v from host h

-- case: correlated_derived_table
-- values: v
-- row: a | 20 ; why 0 = 1 ; why 1 = 1, 2, 3 ; v 1 = tput@1, tput@2
-- row: b | 18 ; why 0 = 2 ; why 1 = 4, 5 ; v 1 = tput@4, tput@5
-- row: c | None ; why 0 = 3
select name, (select max(t.tput) from (select tput from run r where r.host = h.name) t) as v from host h

-- case: correlated_using_column
-- values: v
-- row: 1 | 9 ; why 0 = 1 ; why 1 = 1 ; why 2 = 1 ; v 0 = id@1 ; v 2 = gpus@1
select id, (select max(g.gpus) + h.id from host g where g.name = h.name) as v from host h join run using (id) where id = 1
