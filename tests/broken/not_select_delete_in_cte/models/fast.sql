with gone as (delete from run returning run_id)
select run_id from gone
