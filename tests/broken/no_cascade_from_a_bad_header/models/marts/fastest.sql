select run_id from fast
