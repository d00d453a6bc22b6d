/*
description: fast
grain: [run_id, hots]
*/
select run_id, host from run
