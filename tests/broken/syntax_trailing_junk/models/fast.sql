select run_id from run order by run_id banana split
