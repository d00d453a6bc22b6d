select host_id::bigin as host_id from run
