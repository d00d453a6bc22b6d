select run_id, speed
from run
where random() < 0.1
