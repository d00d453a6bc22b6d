"""Series over time: what the change detector says of each, with its state kept beside the builds.

A series is the measurements of one `series_key` with a start time, in the order of time. The state of the detector is of bounded size, so
a scan after new runs looks at these runs only. It is derived: deleting the file costs one whole scan. A fingerprint of the points that
a state was made of is compared each time, and a series of which one was withdrawn, corrected or came late is scanned anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from warehouse.analysis.measurements import Measured
from warehouse.evidence.durable import replace_durably
from warehouse.statistics.change import Change
from warehouse.statistics.change_points import DETECTOR, SeriesState, advance, merged

STATE_FILE = "changes.json"
_FORM = 1  # of the file
_POINT = "(m.started_at, m.run_id)"
_HASH = "hash(m.run_id, m.started_at, m.value, m.session)"


@dataclass(frozen=True)
class Scanned:
    """One series: how many points, what the detector says of it now, all changes that it settled, the one that is open, and the places
    of outliers. Places count from the first point of the series."""

    series_key: str
    points: int
    status: str
    settled: tuple[Change, ...]
    open: Change | None
    outliers: tuple[int, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return (*self.settled, *([self.open] if self.open else []))


@dataclass(frozen=True)
class _Kept:
    """What the file keeps of a series: what was scanned, up to which point, and the detector's state."""

    scanned: Scanned
    last: tuple[str, str]  # time and run of the last point
    fingerprint: str
    state: SeriesState


def scan(found: Measured, folder: Path) -> dict[str, Scanned]:
    """Every series of a build that has times, by key, in their order. `folder` keeps the state; where it cannot be written, the next scan
    is a whole one."""
    import duckdb

    path = folder / STATE_FILE
    version = f"{_FORM} {DETECTOR} {duckdb.__version__}"
    kept = _read(path, version)
    table = f"(select * from {found.measurements.sql} where started_at is not null) as m"
    found.con.register("known", _known(kept))
    heads = found.con.execute(
        f"select m.series_key, max(m.started_at)::varchar, arg_max(m.run_id, {_POINT}), bit_xor({_HASH})::varchar,"
        f" bit_xor({_HASH}) filter ({_POINT} <= (known.last_at, known.last_run))::varchar from {table}"
        " left join known on known.series_key = m.series_key group by m.series_key order by m.series_key"
    ).fetchall()
    valid = {key: kept[key] for key, *_, fingerprint in heads if key in kept and kept[key].fingerprint == fingerprint}
    found.con.register("known", _known(valid))
    rows = found.con.sql(
        f"select m.series_key, m.value, m.session from {table} left join known on known.series_key = m.series_key"
        f" where known.series_key is null or {_POINT} > (known.last_at, known.last_run) order by m.series_key, m.started_at, m.run_id"
    ).to_arrow_table()
    found.con.unregister("known")
    news = _by_series(rows)
    scans: dict[str, Scanned] = {}
    now: dict[str, _Kept] = {}
    for key, last_at, last_run, fingerprint, _ in heads:
        before = valid.get(key)
        if before and key not in news:
            now[key] = before
        else:
            now[key] = _advanced(key, before, *news[key], (last_at, last_run), fingerprint)
        scans[key] = now[key].scanned
    if now != kept:
        _write(path, version, now)
    return scans


def _advanced(key: str, before: _Kept | None, values: Any, sessions: list[str], last: tuple[str, str], fingerprint: str) -> _Kept:
    found = advance(before.state if before else SeriesState(), values, sessions)
    settled, outliers = (before.scanned.settled, before.scanned.outliers) if before else ((), ())
    scanned = Scanned(key, found.state.points, found.status, merged(settled, found.settled), found.open, (*outliers, *found.outliers))
    return _Kept(scanned, last, fingerprint, found.state)


def _by_series(rows: pa.Table) -> dict[str, tuple[Any, list[str]]]:
    """The values and sessions of each series, of rows in the order of their series."""
    if not rows.num_rows:
        return {}
    keys = rows.column(0).combine_chunks()
    encoded = keys.dictionary_encode()
    codes = encoded.indices.to_numpy()
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    values, sessions = rows.column(1).to_numpy(), rows.column(2).combine_chunks()
    ends = [*starts[1:].tolist(), rows.num_rows]
    names = encoded.dictionary.to_pylist()
    return {names[codes[start]]: (values[start:end], sessions[start:end].to_pylist()) for start, end in zip(starts.tolist(), ends, strict=True)}


def _known(kept: Mapping[str, _Kept]) -> pa.Table:
    times = [datetime.fromisoformat(each.last[0]) for each in kept.values()]
    return pa.table(
        {
            "series_key": pa.array(list(kept), pa.string()), "last_at": pa.array(times, pa.timestamp("us", tz="UTC")),
            "last_run": pa.array([each.last[1] for each in kept.values()], pa.string()),
        }
    )


def _read(path: Path, version: str) -> dict[str, _Kept]:
    """What was kept; nothing where it is of another version or cannot be read, for it is derived."""
    try:
        document = json.loads(path.read_bytes())
        if document["version"] != version:
            return {}
        return {key: _kept(entry) for key, entry in document["series"].items()}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _kept(entry: Mapping[str, Any]) -> _Kept:
    scanned, state = entry["scanned"], entry["state"]
    changes = tuple(Change(**change) for change in scanned["settled"])
    pending = Change(**scanned["open"]) if scanned["open"] else None
    return _Kept(
        Scanned(scanned["series_key"], scanned["points"], scanned["status"], changes, pending, tuple(scanned["outliers"])),
        (entry["last"][0], entry["last"][1]), entry["fingerprint"],
        SeriesState(**state),
    )


def _write(path: Path, version: str, kept: Mapping[str, _Kept]) -> None:
    # `asdict` copies each of the 128 values that a state keeps, which took a third of a scan of 1,000 new points.
    document = json.dumps({"version": version, "series": kept}, separators=(",", ":"), default=vars)
    with suppress(OSError):  # a folder that cannot be written: the next scan is a whole one
        replace_durably(path, document.encode())
