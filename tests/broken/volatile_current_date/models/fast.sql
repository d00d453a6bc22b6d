select run_id, current_date - date '2026-01-01' as age_days
from run
