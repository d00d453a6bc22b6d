select * from staging.run
