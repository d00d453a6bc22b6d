select
    s.suite_name,
    s.team,
    r.day,
    count(*) as runs,
    avg(case when r.passed then 1.0 else 0.0 end) as pass_rate,
    median(r.duration_s) as med_duration
from fct_run as r
inner join dim_suite as s on r.suite_id = s.suite_id
group by s.suite_name, s.team, r.day
