select table_name from duckdb_tables()
