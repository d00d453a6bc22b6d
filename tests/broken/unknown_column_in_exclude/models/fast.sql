select * exclude (sped) from run
