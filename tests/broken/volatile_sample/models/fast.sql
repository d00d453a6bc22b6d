select run_id, speed
from run
using sample 10%
