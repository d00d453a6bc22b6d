select path_in_schema, compression
from parquet_metadata('runs/a.parquet')
