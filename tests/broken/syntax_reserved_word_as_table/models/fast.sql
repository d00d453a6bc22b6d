select run_id
from order
