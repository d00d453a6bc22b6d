"""A warehouse for Python: what `wh sql`, `lineage`, `verify`, `impact`, `compare`, `changes`, `diff`, `frontier` and `goodput` answer, as values.

`warehouse.open()` gives one. Every method reads what lies there when it is called; nothing is cached, nothing is written.
Each raises `WarehouseError` with the codes that its docstring names, WH3xx of numbers and publications among them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.alive.tables import LiveTables, live_tables
from warehouse.claims.numbers.cell_rows import CellRows, cell_rows
from warehouse.claims.numbers.lineage import Lineage, lineage
from warehouse.claims.numbers.raw_bytes import OpenedFile, open_file
from warehouse.claims.numbers.search import FoundCell, asked_number, find_cell
from warehouse.claims.publish.publication import PublishedRollup, publications
from warehouse.claims.verify.impact import Impacts, impact
from warehouse.claims.verify.verdict import Verdict
from warehouse.claims.verify.verification import verify_all, verify_number
from warehouse.errors import WarehouseError
from warehouse.project.project import Project, find_project
from warehouse.surfaces.notebook.shown import shown
from warehouse.transform.finished.builds import current_build, find_build
from warehouse.transform.finished.query import read_arrow, run_query
from warehouse.transform.incremental.aged_out import told_away

if TYPE_CHECKING:
    import polars
    import pyarrow as pa

    from warehouse.analysis.changes import Changes
    from warehouse.analysis.compare import Comparison
    from warehouse.analysis.diff import BuildDiff, NumberDiff
    from warehouse.analysis.serving.frontier import Frontiers
    from warehouse.analysis.serving.goodput import Goodput
    from warehouse.analysis.serving.validity import Validity


def open_warehouse(path: str | Path | None = None) -> Warehouse:
    """The warehouse of the project in a folder or above it; without one, of `WH_PROJECT` or the current folder, as `wh` finds
    it. Raises WH001 (no project there), WH002 (its file is not valid)."""
    return Warehouse(find_project(None if path is None else Path(path)))


@dataclass(frozen=True)
class Warehouse:
    """One project. A NUMBER is what `wh lineage` takes: a number id (`n-...`), `query[key=value,...].column`, or a number as
    printed somewhere."""

    project: Project

    def sql(
        self, query: str, *, build: str | None = None, timeout: float | None = None, memory: str | None = None,
        spill: str | None = None, rows: int | None = None,
    ) -> pa.Table:
        """The result of one query on the current build, or on the kept build whose digest begins with `build`. The session
        is read-only and reaches nothing but the build and, beside the current one, the tables `freshness` and
        `published_number` (docs/alive.md). It takes at most `timeout` seconds, `memory` and `spill` (sizes such as
        "4GB") of memory and temporary files, and `rows` rows; without them, what the project's file says. Warns (UserWarning)
        when tables that it reads are without old detail. Raises WH211 (there is no such build), WH213 (the query cannot be run,
        or does not only read: with its place), WH215 (it reached a limit), WH218 (the build is damaged), and ValueError for a
        limit that is not valid."""
        found = current_build(self.project) if build is None else find_build(self.project, build)
        limits = self.project.sql_limits.changed(timeout, memory, spill, rows)
        live = live_tables(self.project, query) if build is None else LiveTables({})
        for problem in live.problems:
            warnings.warn(str(problem), UserWarning, stacklevel=2)
        with run_query(found.path, query, limits, tables=live.tables) as result:
            if told := told_away(result, query):
                warnings.warn(told, UserWarning, stacklevel=2)
            return read_arrow(result, query, limits)

    def pl(
        self, query: str, *, build: str | None = None, timeout: float | None = None, memory: str | None = None,
        spill: str | None = None, rows: int | None = None,
    ) -> polars.DataFrame:
        """The same as a polars frame. Raises WH006 where polars is not installed (extra `polars`), and what `sql` raises."""
        try:
            import polars
        except ImportError as error:
            raise WarehouseError("WH006", "polars is not installed", hint="pip install 'perf-warehouse[polars]'") from error
        return polars.DataFrame(self.sql(query, build=build, timeout=timeout, memory=memory, spill=spill, rows=rows))

    def number(self, number: str) -> FoundCell:
        """The one cell that is meant: its row, exact value, and publication if it has one; untraced. Raises WH304 (none),
        WH305 (several), WH307 (it may be in a damaged publication)."""
        return shown(find_cell(self.project, asked_number(self.project, number)))

    def lineage(self, number: str) -> Lineage:
        """The four steps of a number: row, query, runs, raw files. Raises WH304 to WH307."""
        return shown(lineage(self.project, number))

    def rows(self, number: str) -> CellRows | None:
        """The rows that a number was computed from, table by table down to the landing rows; None when the current build
        does not hold it. Raises WH304 to WH307, WH218 and WH123."""
        return cell_rows(self.project, self.lineage(number))

    def raw_bytes(self, number: str) -> Iterator[OpenedFile]:
        """Each raw file of a number, hashed, with the bytes of its first ranges and those around them. Raises WH304 to
        WH307."""
        return (open_file(self.project, file) for file in self.lineage(number).raw_files)

    def raw_files(self, *numbers: str) -> pa.Table:
        """The raw files of numbers, one row a range: `number_id`, `artifact_manifest_digest`, `raw_path`, `uri`, `sha256`,
        `raw_offset` and `raw_length` in bytes. Raises WH304 to WH307."""
        import pyarrow as pa

        names = ("number_id", "artifact_manifest_digest", "raw_path", "uri", "sha256")
        schema = pa.schema([*((name, pa.string()) for name in names), ("raw_offset", pa.int64()), ("raw_length", pa.int64())])
        rows = [
            (found.number_id, file.artifact_manifest_digest, file.raw_path, file.uri, file.sha256, offset, length)
            for found in map(self.lineage, numbers)
            for file in found.raw_files
            for offset, length in file.ranges
        ]
        return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema)

    def runs(self, *numbers: str) -> pa.Table:
        """The runs of numbers, one row a run: `number_id`, `run_id`, `workload_spec_digest`, `artifact_manifest_digest` (NULL
        in a project that has no table of runs). Raises WH304 to WH307."""
        import pyarrow as pa

        names = ("number_id", "run_id", "workload_spec_digest", "artifact_manifest_digest")
        rows = [{"number_id": found.number_id, **run} for found in map(self.lineage, numbers) for run in found.runs]
        return pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in names]))

    def verify(self, number: str) -> Verdict:
        """The state of a number: its raw files hashed again, and replayed from them. Raises WH304 to WH306."""
        return shown(verify_number(self.project, number))

    def verify_all(self) -> Iterator[Verdict]:
        """The state of every published number, one after the other; a damaged publication has one verdict."""
        return map(shown, verify_all(self.project))

    def impact(self, subject: str) -> Impacts:
        """The published numbers that depend on a run, a bundle, a raw file or a model; none of one that exists and that no number
        depends on. Raises WH304 where nothing is called so."""
        return impact(self.project, subject)

    def compare(self, base: str, head: str, threshold: float = 0.02, metric: str | None = None) -> Comparison:
        """The runs that `head` means against those that `base` means (run ids with commas, a file of them, `name=value`): per metric the
        ratio with its interval, and what it is worth. Raises WH501 (no table has measurements), WH502 (no run is meant), WH504,
        WH211, WH218."""
        from warehouse.analysis.compare import compare

        return shown(compare(self.project, base, head, threshold, metric))

    def changes(self, since: datetime | None = None, threshold: float = 0.02, now: datetime | None = None) -> Changes:
        """What changed over time: findings, outliers, and the state of every series. `now` is what staleness is counted to. Raises WH501, WH504,
        WH211, WH218, WH107."""
        from warehouse.analysis.changes import changes

        return changes(self.project, since, threshold, now)

    def frontiers(
        self, x: str, y: str, where: str | None = None, scope: Sequence[str] | None = None, at: float | None = None,
        interpolate: bool = False, within: float | None = None,
    ) -> Frontiers:
        """Of the points of load curves those that no other point beats on two axes, within each scope (default: model, lengths, precision).
        Raises WH521 (no table has load points), WH522 (no such column or point), WH502, WH211, WH218."""
        from warehouse.analysis.serving.frontier import frontiers

        return shown(frontiers(self.project, x, y, where, scope, at, interpolate, within))

    def goodput(self, slo: str, where: str | None = None, target: float | None = None) -> Goodput:
        """The share of requests that meet all limits of `slo` (`ttft_ms<=500,itl_mean_ms<=50`, or the name of an SLO), by curve and load.
        Without a target it is the SLO's own, else 0.99. Raises WH521 (no table has load points, or requests), WH522 (no such column, SLO or
        point), WH502, WH211, WH218."""
        from warehouse.analysis.serving.goodput import goodput

        return goodput(self.project, slo, where, target)

    def validity(self, where: str | None = None, policy: str = "serving") -> Validity:
        """Whether each run of a served model can be trusted, by the rules of a policy that look at one run. Raises WH521 (no table has load
        points), WH522 (no such column, point or rule), WH316, WH502, WH211, WH218."""
        from warehouse.analysis.serving.validity import validity

        return validity(self.project, where, policy)

    def contracts(self) -> dict[str, Any]:
        """The contract document: tables, identifiers, metrics, rules, policies and ingestors, and what of it is missing here; the same as
        `wh contracts --json`. Raises WH2xx (the project does not check), WH121, WH316, WH218."""
        from warehouse.analysis.contracts.document import contracts_document

        return contracts_document(self.project)

    def render_benchmark_run(self, **fields: Any) -> str:
        """A BenchmarkRun in YAML that passes `wh validate`; `contracts()["generator"]` has the fields. Raises WH131 with everything that is
        wrong with them."""
        from warehouse.landing.declaration.generator import render_benchmark_run

        return render_benchmark_run(self.project, fields).text

    def diff(self, a: str, b: str) -> NumberDiff:
        """What differs between two numbers. Raises WH304 to WH307."""
        from warehouse.analysis.diff import diff_numbers

        return diff_numbers(self.project, a, b)

    def diff_builds(self, a: str, b: str) -> BuildDiff:
        """Which numbers moved between two kept builds, each given by the beginning of its digest, and why. Raises WH211, WH214, WH218."""
        from warehouse.analysis.diff import diff_builds

        return diff_builds(self.project, a, b)

    def publications(self) -> tuple[PublishedRollup, ...]:
        """All publications, the last one published first; a damaged one has a `fault`."""
        return tuple(publications(self.project))
