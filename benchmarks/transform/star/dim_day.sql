select distinct
    day,
    extract(year from day) as year,
    extract(month from day) as month,
    extract(isodow from day) as dow
from stg_run
