select run_id
from a
