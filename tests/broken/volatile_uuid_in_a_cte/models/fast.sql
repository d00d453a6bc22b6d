with named as (
    select run_id, gen_random_uuid() as id from run
)
select * from named
