select run_id, age(timestamp '2026-01-01') as old from run
