/* description: fast runs
select run_id from run
