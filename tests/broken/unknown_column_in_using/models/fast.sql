select run.run_id from run join run as other using (run_idd)
