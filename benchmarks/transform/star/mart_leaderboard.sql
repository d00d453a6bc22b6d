select
    g.author,
    count(*) as regressions,
    min(g.z) as worst_z,
    count(distinct g.metric_name) as metrics
from mart_regression as g
group by g.author
