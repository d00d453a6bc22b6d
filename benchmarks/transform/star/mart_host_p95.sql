select
    h.hostname,
    h.size_class,
    h.cpu_model,
    m.metric_name,
    quantile_cont(f.value, 0.95) as p95,
    count(*) as n
from fct_sample as f
inner join dim_host as h on f.host_id = h.host_id
inner join dim_metric as m on f.metric_id = m.metric_id
group by h.hostname, h.size_class, h.cpu_model, m.metric_name
