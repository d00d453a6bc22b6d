/*
collects: outcome
columns:
  run_id: {type: varchar}
  speed: {type: double}
  kind: {type: varchar, feed: false}
*/
select run_id, speed, 'x' as kind from feed.outcome
