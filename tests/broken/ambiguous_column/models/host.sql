select 7 as host_id, 'eu' as region
