-- case: recursive_path
-- values: total
with recursive c as (select id, conc as total from run where id = 1 union all select r.id, c.total + r.conc from c
join run r on r.id = c.id + 1) select id, total from c

-- case: recursive_counter
-- values: v
with recursive n as (select 1 as i union all select i + 1 from n where i < 5) select n.i, r.conc as v from n join run
r on r.id = n.i

-- case: recursive_grouped
-- values: v
with recursive c as (select id, host, 1 as d from run where status = 'ok' union all select r.id, r.host, c.d + 1 from
c join run r on r.id = c.id + 2 where c.d < 3) select host, max(d) as v, count(*) as n from c group by host

-- case: recursive_two_tables
-- values: latency
with recursive c as (select id, conc as latency from run where id <= 2 union all select s.run_id, s.latency from c
join sample s on s.id = c.id where c.id < 8 and s.run_id > c.id) select id, latency from c

-- case: recursive_read_twice
-- values: v
with recursive c as (select id, 1 as d from host where id = 1 union all select h.id, c.d + 1 from c join host h on
h.id = c.id + 1) select a.id, sum(b.d) as v from c a join c b on b.id <= a.id group by a.id
