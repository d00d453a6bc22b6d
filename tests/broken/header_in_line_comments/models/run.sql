-- The runs of the night.
-- materialized: view
-- description: one row a run
select 'r' as run_id
