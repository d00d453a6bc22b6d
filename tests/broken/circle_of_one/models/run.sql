select 'r' as run_id
union all
select run_id from run
