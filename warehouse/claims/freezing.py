"""What a publication holds of a traced rollup: the documents of its rows, their runs, why-sets and raw files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.claims.number import exact, row_numbers
from warehouse.claims.why_sets import Run, encoded, why_digest
from warehouse.digest import canonical_json
from warehouse.transform.digests import RUN_TABLE
from warehouse.transform.sql_text import canonical

if TYPE_CHECKING:
    import duckdb

    from warehouse.claims.catalog import BuiltModel, Catalog
    from warehouse.claims.trace import RowTrace


@dataclass(frozen=True)
class FrozenRows:
    """The rows, runs and why-sets of a publication as bytes by file name, and how many rows and numbers there are."""

    content: Mapping[str, bytes]
    rows: int
    numbers: int


class Facts:
    """What the build knows of runs and raw files that traced rows rest on."""

    def __init__(self, con: "duckdb.DuckDBPyConnection", catalog: "Catalog", traces: "Iterable[RowTrace]") -> None:
        found = list(traces)
        runs = {run for row in found for run in row.all_runs()}
        self._runs = _run_documents(con, catalog, sorted(runs))
        self._hashes = _file_hashes(con, found)

    def runs(self, run_ids: Iterable[str]) -> tuple[Run, ...]:
        """The documents of some runs; of one that no table of runs tells of, its id alone."""
        return tuple(self._runs.get(run, {"run_id": run}) for run in run_ids)

    def bundles(self, traced: "RowTrace") -> frozenset[str]:
        """The bundles that a row and its values rest on, by their runs and by their files."""
        of_runs = {str(run["artifact_manifest_digest"]) for run in self.runs(traced.all_runs()) if run.get("artifact_manifest_digest")}
        return frozenset(of_runs | {file.artifact_manifest_digest for files in traced.evidence.values() for file in files})

    def evidence(self, traced: "RowTrace", column: str) -> list[dict[str, Any]]:
        """A cell's evidence as publications keep it; a manifest's own sha256 is its digest."""
        return [
            {
                "artifact_manifest_digest": file.artifact_manifest_digest,
                "raw_path": file.raw_path,
                "sha256": self._hashes.get((file.artifact_manifest_digest, file.raw_path), file.artifact_manifest_digest),
                "ranges": [list(span) for span in file.ranges],
            }
            for file in traced.evidence.get(column, ())
        ]


@dataclass(frozen=True)
class RowDocuments:
    """The documents of a rollup's rows, and the sets of runs that their cells name by digest."""

    documents: Sequence[Mapping[str, Any]]
    why_sets: Sequence[Sequence[Run]]


def row_documents(
    spec: "BuiltModel", columns: Sequence[str], rows: Iterable[Sequence[Any]], traces: Mapping[int, "RowTrace"], facts: Facts
) -> RowDocuments:
    """What is said of the rows of `spec`; each of `rows` is a row id and then the values of `columns`."""
    text = canonical(spec.sql)
    documents, sets = [], []
    for rowid, *row in rows:
        values = dict(zip(columns, row, strict=True))
        cells = {}
        for name, number in row_numbers(spec.name, text, spec.grain, list(columns), row).items():
            runs = facts.runs(traces[rowid].runs_of(name))
            sets.append(runs)
            cells[name] = {
                "value": exact(values[name]), "number_id": number, "why_digest": why_digest(runs),
                "evidence": facts.evidence(traces[rowid], name),
            }
        grain = {name: exact(values[name]) for name in spec.grain}
        documents.append({"grain": grain, "cells": cells, "bundles": sorted(facts.bundles(traces[rowid]))})
    return RowDocuments(documents, sets)


def freeze(rows: RowDocuments) -> FrozenRows:
    """The content of a publication of these rows."""
    runs_lines, why_lines = encoded(rows.why_sets)
    lines = sorted(canonical_json(dict(document)) for document in rows.documents)
    return FrozenRows(
        {"rows.jsonl": b"".join(line + b"\n" for line in lines), "runs.jsonl": runs_lines, "why.jsonl": why_lines},
        len(rows.documents),
        sum(cell["number_id"] is not None for document in rows.documents for cell in document["cells"].values()),
    )


def _run_documents(con: "duckdb.DuckDBPyConnection", catalog: "Catalog", runs: Sequence[str]) -> dict[str, Run]:
    """For each run its identifying digests; none in a project that has no table of runs, or one that tells no such digests."""
    names = ("run_id", "workload_spec_digest", "artifact_manifest_digest")
    if not {*names} <= {*catalog.columns.get(f"main.{RUN_TABLE}", ())}:
        return {}
    found = con.execute(
        f"select {', '.join(names)} from {RUN_TABLE} where run_id in (select unnest(?::varchar[]))", [list(runs)]
    ).fetchall()
    return {row[0]: dict(zip(names, row, strict=True)) for row in found}


def _file_hashes(con: "duckdb.DuckDBPyConnection", traces: "Iterable[RowTrace]") -> dict[tuple[str, str], str]:
    """sha256 by (manifest digest, raw path), for the bundles that some rows rest on."""
    bundles = {file.artifact_manifest_digest for row in traces for files in row.evidence.values() for file in files}
    rows = con.execute(
        "select artifact_manifest_digest, raw_path, sha256 from evidence_file"
        " where artifact_manifest_digest in (select unnest(?::varchar[]))",
        [sorted(bundles)],
    ).fetchall()
    return {(digest, path): sha256 for digest, path, sha256 in rows}
