select run_id, rowid + 1 as place from run
