select run_idd from run
