select run_id + 1 as next from run
