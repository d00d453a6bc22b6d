select run_id from run where host_id in (select host_id, host from run)
