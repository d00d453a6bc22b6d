-- case: recursive_union_cycle
-- values: id
with recursive c as (select id from host where id = 1 union select r.id from c join run r on r.conc = c.id or r.id = c.id % 5
+ 1) select id from c

-- case: recursive_union_carried
-- values: v, latency
with recursive c as (select host as k, conc as v, 0 as latency from run where id <= 3 union select c.k, c.v, s.latency from c
join sample s on s.run_id = c.v) select k, v, latency from c

-- case: recursive_union_optional
-- values: v
with recursive c as (select status, max(conc) as v from run group by status union select c.status, r.conc from c left join
run r on r.id = c.v + 1 where exists (select 1 from sample s where s.run_id = c.v)) select status, v from c

-- case: recursive_union_read_twice
-- values: v
with recursive c as (select id from host union select id % 4 + 1 from c where id in (select conc from run)) select a.id,
count(*) as v from c a join c b on b.id <= a.id group by a.id
