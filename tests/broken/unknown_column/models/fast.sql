select
    run_id,
    hostid
from run
