select run_id from run where speed > $1
