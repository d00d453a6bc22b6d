with t as (select x from a)
select x from t
