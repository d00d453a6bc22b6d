select run_id from run where host = "Frankfurt"
