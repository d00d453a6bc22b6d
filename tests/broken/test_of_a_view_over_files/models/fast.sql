select run_id from recent
