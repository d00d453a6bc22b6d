/*
description: rows
*/
select rowid as rowid, run_id from run
