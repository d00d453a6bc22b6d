"""Series that get no data any more."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.alive.row import Known, Row, again
from warehouse.analysis.events.silence import series_states, silences
from warehouse.analysis.measurements import measured
from warehouse.errors import WarehouseError

SILENT = "no new data"


def silent(known: Known) -> Iterator[Row]:
    """Series that are stale, or lack runs that should have their metric, by case and machine, as in `wh changes`; not those that are retired."""
    if known.build is None:
        return
    try:
        with measured(known.build) as found:
            quiet = silences(found, series_states(found, {}, (), known.now))
    except WarehouseError as error:
        if error.code not in ("WH501", "WH504"):  # a project without measurements, or whose series wh changes refuses
            raise
        return
    for each in quiet:
        if each.kind != "retired":
            key = f"{SILENT} {each.kind} {' '.join(each.subjects)}"
            evidence = (each.last_run,) if each.last_run else ()
            yield Row(SILENT, key, each.subjects[0], str(each), again(each.last_run), each.since, evidence, each.runs)
