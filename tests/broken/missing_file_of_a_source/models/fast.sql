select run_id, speed from nightly
