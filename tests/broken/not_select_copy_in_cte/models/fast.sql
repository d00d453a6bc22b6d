with kept as (copy (select * from run) to 'run.csv')
select run_id from run
