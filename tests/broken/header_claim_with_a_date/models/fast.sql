/*
claim: {since: 2025-01-01}
*/
select run_id, speed from run
