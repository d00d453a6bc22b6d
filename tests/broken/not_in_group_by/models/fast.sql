select host, speed, count(*) as runs
from run
group by host
