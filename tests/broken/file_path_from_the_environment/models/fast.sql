select run_id, speed from read_csv(getenv('RUNS'))
