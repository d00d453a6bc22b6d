"""How much the sessions of a testbed differ in one metric, beside the two sides of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from warehouse.analysis.measurements import Measured, Measurement
from warehouse.statistics.interval import SessionNoise
from warehouse.statistics.sessions import Pool, spread_of


def session_noise(found: Measured, base: Sequence[Measurement], head: Sequence[Measurement]) -> SessionNoise | None:
    """What repeats show of the same metric on the testbeds of both sides: of every comparable key that has several sessions other than those
    of the sides; and of each side with itself, unless both have several: these speak for themselves. None where there are none."""
    own = sorted({each.session for each in (*base, *head)})
    testbeds = sorted({each.variables["testbed"] or "" for each in (*base, *head)})
    grouped: dict[str, dict[str, list[float]]] = {}
    for key, session, values in found.con.execute(
        f"select comparable_key, session, list(value order by run_id) from {found.measurements.sql} where indicator = ? and metric = ?"
        " and list_contains(?::varchar[], coalesce(testbed, '')) and not list_contains(?::varchar[], session)"
        " group by comparable_key, session qualify count(*) over (partition by comparable_key) > 1 order by 1, 2",
        [base[0].indicator, base[0].metric, testbeds, own],
    ).fetchall():
        grouped.setdefault(key, {})[session] = values
    are_several = min(len({each.session for each in side}) for side in (base, head)) > 1
    sides = () if are_several else (*_of_side(base), *_of_side(head))
    return Pool(filter(None, map(spread_of, (*grouped.values(), *sides)))).noise


def _of_side(side: Sequence[Measurement]) -> Iterator[Mapping[str, Sequence[float]]]:
    for key in sorted({each.comparable_key for each in side}):
        values: dict[str, list[float]] = {}
        for each in side:
            if each.comparable_key == key:
                values.setdefault(each.session, []).append(each.value)
        yield values
