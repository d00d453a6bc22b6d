select sum(host) as hosts from run
