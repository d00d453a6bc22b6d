/*
description: rows
*/
select host_id as rowid, run_id from run
