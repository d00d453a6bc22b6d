select 'r1' as run_id, 'h1' as host, 7 as host_id, 1.5::double as speed
