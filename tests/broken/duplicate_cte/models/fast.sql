with a as (select 1 as x), a as (select 2 as x)
select x from a
