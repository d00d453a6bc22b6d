select
    run_id,
    'fast as kind
from run
