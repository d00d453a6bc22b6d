select * from read_parquet('runs/*.parquet')
