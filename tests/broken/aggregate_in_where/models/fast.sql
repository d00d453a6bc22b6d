select host from run where sum(speed) > 1 group by host
