/*
tags: nightly
*/
select run_id, speed from run
