select run_id
from run
where
