select run_id from run
union all
select run_id, host from run
