select
    run_id,
    spedd,
    host
from run
