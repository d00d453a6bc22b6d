select
    suite_id,
    suite_name,
    team
from stg_suite
