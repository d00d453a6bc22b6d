"""Which series are one measurement: requests, output tokens and all tokens per second of the same runs are one count of time, taken three times."""

from __future__ import annotations

from warehouse.analysis.measurements import Measured

_SHARE = 0.2  # of the differences from run to run of a rate, those of the ratio of two: exact multiples have none, independent ones 1.4


def distinct(found: Measured) -> dict[str, str]:
    """For each rate that goes with another one of the same runs, the series that stands for both. Every other series stands for itself."""
    sql = (
        "with rate as (select series_key, run_id, started_at, indicator, point, ln(value) as level"
        f" from {found.measurements.sql} where better = 'higher' and ends_with(unit, '/s') and value > 0 and started_at is not null),"
        " step as (select *, level - lag(level) over (partition by series_key order by started_at, run_id) as step from rate)"
        " select a.series_key, b.series_key from step as a inner join step as b"
        " on b.run_id = a.run_id and b.indicator = a.indicator and b.point = a.point and b.series_key > a.series_key group by all"
        f" having median(abs(a.step)) > 0 and median(abs(a.step - b.step)) <= {_SHARE} * median(abs(a.step)) order by all"
    )
    stands: dict[str, str] = {}
    for first, second in found.con.execute(sql).fetchall():
        stands.setdefault(second, stands.get(first, first))
    return stands
