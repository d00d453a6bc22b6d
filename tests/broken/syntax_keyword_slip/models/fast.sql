selct run_id
from run
