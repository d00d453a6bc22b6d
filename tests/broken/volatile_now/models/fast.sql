select
    run_id,
    speed,
    now() as built_at
from run
