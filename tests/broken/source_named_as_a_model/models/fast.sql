select run_id from nightly
