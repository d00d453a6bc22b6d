select 'r1' as run_id
