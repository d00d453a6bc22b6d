select
    host_id,
    hostname,
    cpu_model,
    cores,
    mem_gib,
    os,
    case when cores >= 32 then 'large' else 'small' end as size_class
from stg_host
