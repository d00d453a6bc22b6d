select run_id from run
where row_number() over (order by speed) = 1
