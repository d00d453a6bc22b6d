select
    run_id,
    speed,
    host as run_id
from run
