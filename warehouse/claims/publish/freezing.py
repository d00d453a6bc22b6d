"""What a publication holds of a traced rollup: the documents of its rows, their runs, why-sets and raw files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.claims.publish.operations import additions
from warehouse.claims.publish.publication import row_line
from warehouse.claims.publish.why_sets import Run, WhySetWriter
from warehouse.exact import exact, row_numbers
from warehouse.transform.lineage.derived import ColumnRef
from warehouse.transform.project.model import RUNS
from warehouse.transform.sql.duck import quote, quoted
from warehouse.transform.sql.text import canonical

if TYPE_CHECKING:
    import duckdb

    from warehouse.trace.catalog import BuiltModel, Catalog
    from warehouse.trace.tracing import RowTrace, Traced


@dataclass(frozen=True)
class FrozenRows:
    """The rows, runs and why-sets of a publication as bytes by file name, how many rows and numbers there are, the runs and the
    bundles that any of them depends on, and whether every row depends on a bundle."""

    content: Mapping[str, bytes]
    rows: int
    numbers: int
    runs: frozenset[str]
    bundles: frozenset[str]
    is_evident: bool


class Facts:
    """What the build knows of the runs and raw files that a trace found."""

    def __init__(self, con: "duckdb.DuckDBPyConnection", catalog: "Catalog", traced: "Traced") -> None:
        self.catalog = catalog
        self.runs = _run_documents(con, catalog, traced.runs())
        self._hashes = _file_hashes(con, traced.bundles())

    def runs_of(self, run_ids: Iterable[str]) -> tuple[Run, ...]:
        """The documents of some runs; of one that is in no table of runs, its id alone."""
        return tuple(self.runs[run] for run in run_ids)

    def bundles(self, row: "RowTrace") -> frozenset[str]:
        """The bundles that a row and its values depend on, by their runs and by their files."""
        of_runs = {str(run["artifact_manifest_digest"]) for run in self.runs_of(row.all_runs()) if run.get("artifact_manifest_digest")}
        return frozenset(of_runs | {file.artifact_manifest_digest for files in row.evidence.values() for file in files})

    def evidence(self, row: "RowTrace", column: str) -> list[dict[str, Any]]:
        """A cell's evidence as readers of publications see it; a manifest's own sha256 is its digest."""
        return [
            {
                "artifact_manifest_digest": file.artifact_manifest_digest,
                "raw_path": file.raw_path,
                "sha256": self._hashes.get((file.artifact_manifest_digest, file.raw_path), file.artifact_manifest_digest),
                "ranges": [list(span) for span in file.ranges],
            }
            for file in row.evidence.get(column, ())
        ]


@dataclass(frozen=True)
class FrozenRow:
    """One row of a rollup as a publication has it: the exact forms of its grain, its line of `rows.jsonl` without the newline,
    its bundles, and how many numbers it has."""

    grain: Mapping[str, Any]
    line: bytes
    bundles: frozenset[str]
    numbers: int


def frozen_rows(
    con: "duckdb.DuckDBPyConnection", spec: "BuiltModel", columns: Sequence[str], traced: "Traced", facts: Facts, why_sets: WhySetWriter
) -> Iterator[FrozenRow]:
    """The traced rows of `spec`, with all of its own `columns`, in the order of the rollup; their sets of runs go to `why_sets`."""
    text = canonical(spec.sql)
    names = ", ".join(map(quote, columns))
    added = additions(facts.catalog, spec.name, [name for name in columns if name not in spec.grain])
    tolerant = {name for name in added.columns if ColumnRef(spec.qualified, name) not in added.places}
    for part in traced.parts():
        adding = traced.reading(part.keys(), added.places) if tolerant else set()
        within = f"rowid between {min(part)} and {max(part)}"
        for rowid, *row in con.execute(f"select rowid, {names} from {quoted(spec.qualified)} where {within} order by rowid").fetchall():
            values = dict(zip(columns, row, strict=True))
            numbers = row_numbers(spec.name, text, spec.grain, list(columns), row)
            cells = {
                name: {
                    "value": exact(values[name]), "number_id": number, "why_digest": why_sets.add(part[rowid].runs_of(name)),
                    "evidence": facts.evidence(part[rowid], name),
                    "is_exact": name in tolerant and (rowid, name) not in adding,
                }
                for name, number in numbers.items()
            }
            grain = {name: exact(values[name]) for name in spec.grain}
            bundles = facts.bundles(part[rowid])
            line = row_line({"grain": grain, "cells": cells, "bundles": sorted(bundles)})
            yield FrozenRow(grain, line, bundles, sum(number is not None for number in numbers.values()))


def freeze(
    con: "duckdb.DuckDBPyConnection", spec: "BuiltModel", columns: Sequence[str], traced: "Traced", facts: Facts
) -> FrozenRows:
    """The content of a publication of the traced rows."""
    why_sets = WhySetWriter(facts.runs)
    lines: list[bytes] = []
    bundles, numbers, is_evident = set[str](), 0, True
    for row in frozen_rows(con, spec, columns, traced, facts, why_sets):
        lines.append(row.line)
        bundles |= row.bundles
        numbers += row.numbers
        is_evident &= bool(row.bundles)
    lines.sort()
    runs_lines, why_lines = why_sets.encoded()
    content = {"rows.jsonl": b"\n".join([*lines, b""]), "runs.jsonl": runs_lines, "why.jsonl": why_lines}
    return FrozenRows(content, len(lines), numbers, frozenset(facts.runs), frozenset(bundles), is_evident)


def _run_documents(con: "duckdb.DuckDBPyConnection", catalog: "Catalog", runs: Sequence[str]) -> dict[str, Run]:
    """For each run its identifying digests; its id alone where no table of runs has it, or none that has such digests."""
    documents: dict[str, Run] = {run: {"run_id": run} for run in runs}
    names = ("run_id", "workload_spec_digest", "artifact_manifest_digest")
    table = next((model.qualified for model in catalog.models.values() if model.role == RUNS), None)
    if table and {*names} <= {*catalog.columns.get(table, ())}:
        found = con.execute(
            f"select {', '.join(names)} from {quoted(table)} where run_id in (select unnest(?::varchar[]))", [list(runs)]
        ).fetchall()
        documents |= {row[0]: dict(zip(names, row, strict=True)) for row in found}
    return documents


def _file_hashes(con: "duckdb.DuckDBPyConnection", bundles: Sequence[str]) -> dict[tuple[str, str], str]:
    """sha256 by (manifest digest, raw path), for the files of some bundles."""
    rows = con.execute(
        "select artifact_manifest_digest, raw_path, sha256 from evidence_file"
        " where artifact_manifest_digest in (select unnest(?::varchar[]))",
        [list(bundles)],
    ).fetchall()
    return {(digest, path): sha256 for digest, path, sha256 in rows}
