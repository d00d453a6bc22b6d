/*
materialized: view
grain: [run_id]
*/
select run_id, speed from 'runs/a.csv'
