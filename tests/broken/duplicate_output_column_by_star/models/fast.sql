select run.*, other.*
from run
join run as other using (run_id)
