select
    suite_id,
    suite_name,
    team
from read_parquet('data/base/suites.parquet')
