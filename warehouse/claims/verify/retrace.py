"""A replayed query traced again: what its publication must say of runs, bytes, guarantees and exactness.

A publication's digest shows that it was not changed by accident. Whoever can write into the store can make another one that
holds together, over the same numbers and other runs: only what the raw evidence itself says finds that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from warehouse.claims.own_code import recorded_code
from warehouse.claims.publish.freezing import Facts, frozen_rows
from warehouse.claims.publish.guarantees import UNKNOWN, as_recorded, promises_no_more
from warehouse.claims.publish.publication import read_row
from warehouse.claims.publish.static_facts import Established
from warehouse.claims.publish.why_sets import Run, WhySets, WhySetWriter
from warehouse.trace.catalog import Catalog, rollup_columns
from warehouse.trace.tracing import trace
from warehouse.version import __version__

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class CellRecord:
    """What a publication says of one cell beside its value: the digest of its why-set, the ids of the runs in it, sorted, and
    its evidence, as `claims.publish.freezing` writes them, the guarantees, the column's exactness, the clauses that were tried for
    ties, and what names the code of wh that established all of it (`own_code.recorded_code`)."""

    why_digest: str | None
    run_ids: tuple[str, ...]
    evidence: list[Any]
    guarantees: Any
    determinism: Any
    ties_tried: Any
    made_by: Mapping[str, Any]


@dataclass(frozen=True)
class Doubt:
    """Why a record is not what its evidence gives. `is_certain`: nothing but another record explains it."""

    message: str
    is_certain: bool


class Retraced:
    """What a publication of the replayed rows would say: what its SQL establishes, and its rows (by `row_key`). These are kept as
    the lines that they would be published as, for there may be many."""

    def __init__(self, established: Established, lines: Mapping[str, bytes], why_sets: Mapping[str, tuple[Run, ...]]) -> None:
        self.established = established
        self._read = lru_cache(maxsize=1)(lambda key: read_row(lines[key], why_sets))  # the cells of a row are asked for in turn

    def runs_of(self, key: str, columns: Iterable[str]) -> set[str]:
        """The runs that some cells of a row depend on."""
        cells = self._read(key).cells
        return {str(run["run_id"]) for column in columns if column in cells for run in cells[column].runs}

    def doubt(self, record: CellRecord, grain_forms: Mapping[str, Any], column: str) -> Doubt | None:
        """What a record says of a cell that the replay says otherwise; None when nothing."""
        cell = self._read(row_key(grain_forms)).cells[column]
        rests_on = {"runs": (record.why_digest, cell.why_digest), "bytes": (record.evidence, list(cell.evidence))}
        promised = as_recorded(self.established.guarantees, record.guarantees)
        follows = {
            "guarantees": (record.guarantees, promised),
            "exactness": (record.determinism, {**self.established.columns[column], "is_exact": cell.is_exact}),
            "clauses tried for ties": (record.ties_tried, self.established.ties_tried),
        }
        if recorded_code(record.made_by, __version__) and promises_no_more(record.guarantees, promised):
            del follows["guarantees"]
        others = [what for what, (said, found) in (rests_on | follows).items() if said != found]
        if not others:
            return None
        message = f"its value is right, but its publication states other {' and '.join(others)} than its evidence gives"
        if others == ["runs"] and record.run_ids == tuple(run["run_id"] for run in cell.runs):
            # The table of runs may depend on more than these runs; and an older spec does not hold it.
            what = "its publication says other things of its runs, though they are the same"
            return Doubt(f"its value is right, but {what}; what the table of runs is made of may be why", False)
        if promised["G3"]["holds"] == UNKNOWN and not follows.keys() & set(others):
            return Doubt(f"{message}; evidence that its publication does not name may be why (G3 is not known)", False)
        return Doubt(message, True)


def row_key(grain_forms: Mapping[str, Any]) -> str:
    """What tells a row apart, of the exact forms of its grain in any order."""
    return repr(sorted(grain_forms.items()))


def retrace(
    con: "duckdb.DuckDBPyConnection", catalog: Catalog, query: str, columns: Collection[str], establish: Callable[[Catalog], Established]
) -> Retraced:
    """Trace value columns of all rows of a query in the session of its replay (`catalog.trace_in_memory`). Raises WH306."""
    spec = catalog.models[f"rollup.{query}"]
    names = [name for name in rollup_columns(catalog, spec) if name in spec.grain or name in columns]
    traced = trace(con, catalog, query, [name for name in names if name in columns])
    facts = Facts(con, catalog, traced)
    why_sets = WhySetWriter(facts.runs)
    lines = {row_key(row.grain): row.line for row in frozen_rows(con, spec, names, traced, facts, why_sets)}
    return Retraced(establish(catalog), lines, WhySets(*why_sets.encoded()))
