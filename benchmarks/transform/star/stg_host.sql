select
    host_id,
    lower(hostname) as hostname,
    cpu_model,
    cores,
    mem_gib,
    os
from read_parquet('data/base/hosts.parquet')
