"""`wh publish`: freeze a rollup in the store. What is frozen was run again, traced to its bytes, and the bytes re-hashed.

Nothing in the store is ever overwritten. The same rollup of the same evidence has the same digest, whenever made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.claims.number import exact, row_numbers
from warehouse.claims.publication import PUBLICATION_DOMAIN
from warehouse.digest import bytes_digest, canonical_json, domain_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.durable import create_if_absent, scratch_folder
from warehouse.evidence.ledger import Ledger
from warehouse.evidence.store import LocalStore
from warehouse.project import Project
from warehouse.transform.builds import current_build
from warehouse.transform.sql_text import canonical

if TYPE_CHECKING:
    import duckdb

    from warehouse.claims.catalog import Catalog
    from warehouse.claims.determinism import Determinism
    from warehouse.claims.trace import RowTrace


@dataclass(frozen=True)
class Publication:
    """A frozen rollup: its digest, query, `query_spec_digest`, and whether this call made it."""

    digest: str
    query: str
    query_spec_digest: str
    rows: int
    numbers: int
    is_new: bool
    columns: "Mapping[str, Determinism]"  # how exactly each value is determined by its evidence


def publish(project: Project, query: str) -> Publication:
    """Freeze the current build's rollup of a query spec.

    No clause of it or of a table under it may give another answer each time, and no tie may decide (WH306). The untouched
    query is run again on the build and must give the rollup's rows (WH303); its rows are traced to their runs and bytes (WH306 when its SQL cannot be traced, WH308 when a row rests on none); the bytes are re-hashed (WH105,
    WH106). Raises WH301 for an unknown name, WH218 and WH123 for a build or landing that is not what was made, WH307 when
    a publication or spec that is there already is damaged, WH109, WH211.
    """
    from warehouse.claims.catalog import open_trace_session
    from warehouse.claims.operations import determinism_of
    from warehouse.claims.rollup import RESERVED_COLUMNS
    from warehouse.claims.tie_probe import check_ties
    from warehouse.claims.trace import trace

    build = current_build(project)
    con, catalog = open_trace_session(build, project.store_root)
    try:
        spec = catalog.models.get(f"rollup.{query}")
        if spec is None:
            raise _unknown(query, catalog)
        _refuse_without_evidence(con)
        specification = json.loads(
            con.execute("select specification from catalog.model where schema_name = 'rollup' and name = ?", [query]).fetchall()[0][0]
        )
        determined = determinism_of(catalog, query, specification["document"]["contract"].get("tolerances", {}))
        columns = [name for name in catalog.columns[spec.qualified] if name not in RESERVED_COLUMNS]
        tried = check_ties(con, catalog, query)
        _check_same_result(con, spec.qualified, spec.sql, columns)
        values = [name for name in columns if name not in spec.grain]
        traces = trace(con, catalog, query, values)
        rows = con.execute(f"select rowid, {_names(columns)} from {spec.qualified} order by rowid").fetchall()
        about = run_facts(con, catalog, [run for row in traces.values() for column in values for run in row.runs_of(column)])
        _check_evidence(LocalStore(project.store_root), spec.place, traces.values(), about)
        hashes = file_hashes(con, traces.values())
        text = canonical(spec.sql)
        lines = sorted(
            canonical_json(_row(query, text, spec.grain, columns, row, traces[rowid], about, hashes))
            for rowid, *row in rows
        )
    finally:
        con.close()
    return _store(project, query, specification, lines, catalog.engine, tried, determined, build.digest)


def _unknown(query: str, catalog: "Catalog") -> WarehouseError:
    known = sorted(model.name for model in catalog.models.values() if model.schema == "rollup")
    return WarehouseError(
        "WH301", f"no query spec {query!r} in this build", hint=f"known: {', '.join(known) or 'none'}",
        exit_code=ExitCode.NOT_FOUND,
    )


def _refuse_without_evidence(con: "duckdb.DuckDBPyConnection") -> None:
    """A build that had to do without evidence that was altered or is gone is no ground for a publication."""
    lost = con.execute("select code, place from catalog.damaged where code in ('WH105', 'WH106') order by place").fetchall()
    if lost:
        code, place = lost[0]
        raise WarehouseError(
            code, f"the build was made without {len(lost)} bundle{'s' * (len(lost) > 1)} that were altered or are gone", place,
            "restore the store from a copy, or ingest the evidence again; then run: wh build",
            ExitCode.TAMPERED if code == "WH105" else ExitCode.MISSING,
        )


def _check_evidence(
    store: LocalStore, place: str, traces: "Iterable[RowTrace]", about: Mapping[str, Mapping[str, Any]]
) -> None:
    """Every row rests on evidence, and all of it is what its manifests say. Raises WH308, WH105, WH106, WH107."""
    bundles: set[str] = set()
    for row in traces:
        under = {file.artifact_manifest_digest for files in row.evidence.values() for file in files}
        under |= {about[run]["artifact_manifest_digest"] for run in (*row.runs, *(r for found in row.cell_runs.values() for r in found)) if run in about}
        if not under:
            raise WarehouseError(
                "WH308", "a row rests on no run and no raw file", place, "publish only what is computed from evidence"
            )
        bundles |= under
    for digest in sorted(bundles):
        for problem in store.check_bundle(digest):
            raise problem


def _names(columns: list[str]) -> str:
    from warehouse.transform.duck import quote

    return ", ".join(map(quote, columns))


def _check_same_result(con: "duckdb.DuckDBPyConnection", table: str, sql: str, columns: list[str]) -> None:
    """The published values are those of the untouched query, here and now, to the last bit."""
    fresh = sorted(repr(list(map(exact, row))) for row in con.execute(sql).fetchall())
    built = sorted(repr(list(map(exact, row))) for row in con.execute(f"select {_names(columns)} from {table}").fetchall())
    if fresh != built:
        different = sum(a != b for a, b in zip(fresh, built)) + abs(len(fresh) - len(built))
        raise WarehouseError(
            "WH303", f"{different} rows differ between the build's rollup and the query run again", table,
            "the query is not deterministic: order its aggregates and windows totally",
        )


def run_facts(con: "duckdb.DuckDBPyConnection", catalog: "Catalog", runs: list[str]) -> dict[str, dict[str, Any]]:
    """For each run its identifying digests, as lineage prints them; none in a project that has no table of runs."""
    if "main.benchmark_run_fact" not in catalog.models:
        return {}
    found = con.execute(
        "select run_id, workload_spec_digest, artifact_manifest_digest from benchmark_run_fact"
        " where run_id in (select unnest(?::varchar[]))",
        [sorted(set(runs))],
    ).fetchall()
    names = ("run_id", "workload_spec_digest", "artifact_manifest_digest")
    return {row[0]: dict(zip(names, row, strict=True)) for row in found}


def file_hashes(con: "duckdb.DuckDBPyConnection", traces: "Iterable[RowTrace]") -> dict[tuple[str, str], str]:
    """sha256 by (manifest digest, raw path), for the bundles that some rows rest on."""
    bundles = {file.artifact_manifest_digest for row in traces for files in row.evidence.values() for file in files}
    rows = con.execute(
        "select artifact_manifest_digest, raw_path, sha256 from evidence_file"
        " where artifact_manifest_digest in (select unnest(?::varchar[]))",
        [sorted(bundles)],
    ).fetchall()
    return {(digest, path): sha256 for digest, path, sha256 in rows}


def _row(
    query: str,
    text: str,
    grain: tuple[str, ...],
    columns: list[str],
    row: list[Any],
    traced: "RowTrace",
    about: Mapping[str, dict[str, Any]],
    hashes: Mapping[tuple[str, str], str],
) -> dict[str, Any]:
    ids = row_numbers(query, text, grain, columns, row)
    values = dict(zip(columns, row, strict=True))
    return {
        "grain": {name: exact(values[name]) for name in grain},
        "runs": [about.get(run, {"run_id": run}) for run in sorted({run for name in ids for run in traced.runs_of(name)})],
        "cells": {
            name: {
                "value": exact(values[name]),
                "number_id": number,
                "runs": list(traced.runs_of(name)),
                "evidence": evidence_document(traced, name, hashes),
            }
            for name, number in ids.items()
        },
    }


def evidence_document(traced: "RowTrace", column: str, hashes: Mapping[tuple[str, str], str]) -> list[dict[str, Any]]:
    """A cell's evidence as publications keep it; a manifest's own sha256 is its digest."""
    return [
        {
            "artifact_manifest_digest": file.artifact_manifest_digest,
            "raw_path": file.raw_path,
            "sha256": hashes.get((file.artifact_manifest_digest, file.raw_path), file.artifact_manifest_digest),
            "ranges": [list(span) for span in file.ranges],
        }
        for file in traced.evidence.get(column, ())
    ]


def _store(
    project: Project, query: str, specification: dict[str, Any], lines: list[bytes], engine: str, tried: Mapping[str, int],
    determined: "Mapping[str, Determinism]", build_digest: str,
) -> Publication:
    rows = b"".join(line + b"\n" for line in lines)
    record = {
        "publication_version": 1,
        "query": query,
        "query_spec_digest": specification["query_spec_digest"],
        "engine": engine,
        "ties_tried": dict(tried),
        "columns": {name: column.document() for name, column in determined.items()},
        "rows": len(lines),
        "rows_sha256": bytes_digest(rows),
    }
    digest = domain_digest(PUBLICATION_DOMAIN, record)
    root = project.store_root
    folder = root / "publications" / digest
    spec_path = root / "specs" / f"{specification['query_spec_digest']}.json"
    try:
        with scratch_folder(root / "incoming") as scratch:
            _create_or_same(spec_path, canonical_json(specification), scratch / "spec")
            _create_or_same(folder / "rows.jsonl", rows, scratch / "rows")
            is_new = _create_or_same(folder / "publication.json", canonical_json(record), scratch / "record")
    except OSError as error:
        raise WarehouseError("WH109", f"cannot be written: {error.strerror}", str(folder)) from error
    if is_new:
        Ledger(root).published(digest, query, build_digest)
    numbers = sum(cell["number_id"] is not None for line in lines for cell in json.loads(line)["cells"].values())
    return Publication(digest, query, str(record["query_spec_digest"]), len(lines), numbers, is_new, determined)


def _create_or_same(path: Path, data: bytes, scratch: Path) -> bool:
    """Create a file, or find it there with the same bytes; whether it was created. Raises WH307 when others are there."""
    if create_if_absent(path, data, scratch):
        return True
    if path.read_bytes() != data:
        raise WarehouseError(
            "WH307", "what was published before has been altered", str(path), "restore the store from a copy",
            ExitCode.TAMPERED,
        )
    return False
