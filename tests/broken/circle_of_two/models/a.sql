select run_id from b
