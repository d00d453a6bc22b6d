select host_id
from run
join host on host.host_id = run.host_id
