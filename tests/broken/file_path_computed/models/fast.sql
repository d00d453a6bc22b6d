select run_id, speed
from read_parquet('runs/' || year(date '2026-01-01') || '.parquet')
