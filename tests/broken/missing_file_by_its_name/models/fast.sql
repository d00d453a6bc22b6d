select run_id, speed
from 'runs/2026.parquet'
where speed > 0
