select run_id, sped from nightly
