"""`wh build`: parse new evidence, check, build every table in a shadow file in one transaction, test, switch the pointer.

A failed build leaves the last good one untouched. The same inputs give the same build digest, and then nothing is built.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse import __version__
from warehouse.digest import bytes_digest, canonical_json, domain_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.store import LocalStore
from warehouse.project import KINDS, Project
from warehouse.transform.builds import (
    Build,
    build_path,
    builder_lock,
    finished_build,
    find_current,
    publish_build,
    shadow_path,
    switch_to,
)

if TYPE_CHECKING:
    import duckdb

    from warehouse.landing.batches import Landing
    from warehouse.transform.check import CheckedProject
    from warehouse.transform.digests import Envelope
    from warehouse.transform.model import Model

# Writes one query spec's table: (session, model, envelope). Given by the layer above, which knows number ids.
RollupWriter = Callable[["duckdb.DuckDBPyConnection", "Model", "Envelope"], None]


@dataclass(frozen=True)
class BuiltModel:
    """One table of a build: rows and seconds."""

    name: str
    rows: int
    seconds: float


@dataclass(frozen=True)
class BuildReport:
    """What a build did. `models` is empty when nothing had changed; `damaged` are bundles that could not be parsed."""

    build: Build
    is_new: bool
    models: tuple[BuiltModel, ...] = ()
    damaged: tuple[WarehouseError, ...] = ()


@dataclass(frozen=True)
class Progress:
    """Where a build tells how far it is."""

    parsed: Callable[[int, int], None] = lambda done, total: None
    built: Callable[[BuiltModel], None] = lambda model: None


def build(project: Project, write_rollup: RollupWriter, progress: Progress = Progress()) -> BuildReport:
    """Bring the warehouse up to date with its evidence and models. Raises WH2xx; then the last build stays current."""
    with builder_lock(project):
        store = LocalStore(project.store_root)
        fingerprint = inputs_fingerprint(project, store)
        current = find_current(project)
        if current and current.fingerprint == fingerprint and _has_landing(store, current):
            return BuildReport(current, is_new=False)
        return _build(project, store, fingerprint, write_rollup, progress)


def inputs_fingerprint(project: Project, store: LocalStore) -> str:
    """A digest of everything a build reads, cheap to take: nothing heavy is imported and no evidence is read."""
    from importlib.metadata import version

    files = {
        project.shown(path): bytes_digest(path.read_bytes())
        for kind in KINDS
        for path in project.files(kind, ".py" if kind == "ingest" else ".sql")
    }
    versions = {"wh": __version__, "duckdb": version("duckdb"), "pyarrow": version("pyarrow")}
    return domain_digest("wh/inputs/1", [files, store.digests(), versions])


def _has_landing(store: LocalStore, build: Build) -> bool:
    """Whether what the build was made from is still there: to trace its numbers needs it."""
    return all((store.root / "landing" / path).exists() for path in build.landing_files)


def _build(
    project: Project, store: LocalStore, fingerprint: str, write_rollup: RollupWriter, progress: Progress
) -> BuildReport:
    from warehouse.landing.batches import refresh
    from warehouse.landing.registry import load_ingestors
    from warehouse.transform.check import check
    from warehouse.transform.digests import envelopes
    from warehouse.transform.model import load_models, load_queries

    ingestors = load_ingestors(project)
    landing = refresh(store, ingestors, progress.parsed)
    checked = check(load_models(project), load_queries(project), landing.schemas)
    made = envelopes(checked, landing_leaves(landing))
    digest = _build_digest(checked, made, landing)
    # Damaged evidence is asked for again at the next build, so its fingerprint must not look finished.
    # Taken before anything was read: what arrives meanwhile is for the next build.
    fingerprint = "" if landing.damaged else fingerprint
    files = tuple(f"{file.path.parent.name}/{file.path.name}" for batch in landing.batches for file in batch.files)
    finished = finished_build(project, digest)
    if finished:
        build = replace(finished, fingerprint=fingerprint, landing_files=files)
        switch_to(project, build)
        return BuildReport(build, is_new=False, damaged=landing.damaged)
    build = Build(digest, build_path(project, digest), fingerprint, landing_files=files)
    shadow = shadow_path(project)
    try:
        models = _run(shadow, checked, made, landing, digest, write_rollup, progress)
        build = publish_build(project, shadow, build)
    finally:
        shadow.unlink(missing_ok=True)
        shadow.with_name(shadow.name + ".wal").unlink(missing_ok=True)
    return BuildReport(build, is_new=True, models=tuple(models), damaged=landing.damaged)


def landing_leaves(landing: "Landing") -> dict[str, dict[str, Any]]:
    """The Merkle leaves of all landing tables."""
    from warehouse.transform.digests import landing_leaf

    return {
        table: landing_leaf(table, landing.parsers[table], {field.name: str(field.type) for field in schema})
        for table, schema in landing.schemas.items()
    }


def _build_digest(checked: "CheckedProject", made: Mapping[str, "Envelope"], landing: "Landing") -> str:
    from warehouse.transform.duck import PINNED_SETTINGS, engine_version

    document = {
        "models": {checked.models[name].qualified: made[name].digest for name in checked.graph.order},
        "landing": [[file.table, file.path.name, file.sha256] for batch in landing.batches for file in batch.files],
        "engine": {"name": "duckdb", "version": engine_version(), "settings": dict(PINNED_SETTINGS)},
        "tests": {name: checked.models[name].text for name in checked.graph.order},
        "damaged": sorted(f"{error.code} {error.place}" for error in landing.damaged),
    }
    return domain_digest("wh/build/1", document)


def _run(
    shadow: Path,
    checked: "CheckedProject",
    made: Mapping[str, "Envelope"],
    landing: "Landing",
    digest: str,
    write_rollup: RollupWriter,
    progress: Progress,
) -> list[BuiltModel]:
    """Fill the shadow database in one transaction; commit only when every test held."""
    import duckdb

    from warehouse.transform.check import arrow_types, create_schemas
    from warehouse.transform.data_tests import run_tests
    from warehouse.transform.duck import connect, quoted
    from warehouse.transform.landing_tables import open_landing_table

    con = connect(shadow)
    try:
        con.execute("begin")
        create_schemas(con)
        for table, schema in landing.schemas.items():
            open_landing_table(con, table, arrow_types(con, schema), landing.files(table))
        models = []
        for name in checked.graph.order:
            model = checked.models[name]
            started = time.monotonic()
            _build_model(con, model, made[name], write_rollup)
            rows = con.execute(f"select count(*) from {quoted(model.qualified)}").fetchall()[0][0]
            models.append(BuiltModel(model.qualified, rows, time.monotonic() - started))
            progress.built(models[-1])
        run_tests(con, checked.models)
        _write_catalog(con, checked, made, landing, digest)
        con.execute("commit")
        con.execute("checkpoint")
    except duckdb.Error as error:
        raise WarehouseError("WH209", str(error).splitlines()[0], str(shadow), "is there room on the disk?") from error
    finally:
        con.close()
    return models


def _build_model(
    con: "duckdb.DuckDBPyConnection", model: "Model", envelope: "Envelope", write_rollup: RollupWriter
) -> None:
    import duckdb

    from warehouse.transform.duck import quoted
    from warehouse.transform.engine_faults import translated

    prefix = "" if model.schema == "rollup" else f"create {model.materialized} {quoted(model.qualified)} as "
    try:
        if model.schema == "rollup":
            write_rollup(con, model, envelope)
        else:
            con.execute(prefix + model.text)
    except duckdb.Error as error:
        raise translated(error, "WH209", model.text, model.place, prefix) from error


def _write_catalog(
    con: "duckdb.DuckDBPyConnection",
    checked: "CheckedProject",
    made: Mapping[str, "Envelope"],
    landing: "Landing",
    digest: str,
) -> None:
    """What this build is made of, inside it: a number's lineage needs no project, only the build and the store."""
    from warehouse.transform.check import described
    from warehouse.transform.digests import specification
    from warehouse.transform.duck import PINNED_SETTINGS, engine_version

    con.execute("create schema catalog")
    con.execute("create table catalog.build (build_digest varchar, wh_version varchar, engine varchar, settings varchar)")
    settings = canonical_json(dict(PINNED_SETTINGS)).decode()
    con.execute("insert into catalog.build values (?, ?, ?, ?)", [digest, __version__, f"duckdb {engine_version()}", settings])
    con.execute(
        "create table catalog.model (name varchar, schema_name varchar, materialized varchar, digest varchar, place varchar,"
        " description varchar, sql varchar, grain varchar[], reads varchar[], specification varchar)"
    )
    for name in checked.graph.order:
        model = checked.models[name]
        reads = sorted(checked.models[parent].qualified for parent in checked.graph.models[name])
        whole = canonical_json(specification(name, checked, made)).decode() if model.schema == "rollup" else None
        con.execute(
            "insert into catalog.model values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                model.name, model.schema, model.materialized, made[name].digest, model.place, model.description,
                model.text, list(model.grain), reads + sorted(checked.graph.landing[name]), whole,
            ],
        )
    con.execute("create table catalog.landing_column (table_name varchar, position bigint, column_name varchar, type varchar)")
    for table in landing.schemas:
        types = enumerate(described(con, table).items())
        con.executemany("insert into catalog.landing_column values (?, ?, ?, ?)", [[table, i, *item] for i, item in types])
    con.execute("create table catalog.damaged (code varchar, place varchar, message varchar)")
    for error in landing.damaged:
        con.execute("insert into catalog.damaged values (?, ?, ?)", [error.code, error.place, error.message])
    con.execute("create table catalog.landing_file (table_name varchar, path varchar, sha256 varchar, rows bigint)")
    # Paths from the landing folder: a project that was moved still finds them, and its build is the same.
    rows = [
        [f.table, f"{f.path.parent.name}/{f.path.name}", f.sha256, f.rows]
        for batch in landing.batches
        for f in batch.files
    ]
    if rows:
        con.executemany("insert into catalog.landing_file values (?, ?, ?, ?)", rows)
