select run_id from run, run
