/*
tests:
  - expression: "ended_at < now()"
*/
select run_id, timestamp '2026-01-01' as ended_at from run
