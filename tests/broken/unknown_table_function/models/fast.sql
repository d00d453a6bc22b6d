select * from generate_serie(1, 3)
