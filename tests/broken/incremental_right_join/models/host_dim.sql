select 7 as host_id, 'h1' as host, 'rack 1' as rack
