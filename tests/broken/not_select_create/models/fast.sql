create table fast as
select run_id from run
