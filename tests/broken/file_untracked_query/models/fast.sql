select run_id from query('select * from run')
