"""The static check: bind every model as an empty table, in order, in memory, before a byte moves.

DuckDB's own binder does the work, so there is no dialect gap: an unknown column or a wrong type is found at the
analyst's own line and column, and what a model yields is compared with what its header promises.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError, together
from warehouse.project import STANDARD_PREFIX, source_fault
from warehouse.transform.bind_tests import bind_tests
from warehouse.transform.check_inputs import check_files, columns_of_calls, key_plans
from warehouse.transform.checked_project import CheckedProject
from warehouse.transform.contract import contract_faults, contract_types
from warehouse.transform.data_tests import SqlTest, data_tests, load_sql_tests
from warehouse.transform.duck import connect, quote, quoted
from warehouse.transform.engine_faults import translated
from warehouse.transform.feeds import FEED_SCHEMA, feeder_faults, with_feeds
from warehouse.transform.graph import build_graph
from warehouse.transform.landing_tables import open_landing_table
from warehouse.transform.model import Model, read_models, read_queries
from warehouse.transform.sources import SOURCE_SCHEMA, at_its_source, source_models
from warehouse.transform.sql_text import fault_at, first_token
from warehouse.transform.sql_tree import parsed

if TYPE_CHECKING:
    import duckdb

    from warehouse.project import Project

# Columns (name to type) of landing tables.
LandingTypes = Mapping[str, Mapping[str, str]]
SCHEMAS = ("staging", FEED_SCHEMA, SOURCE_SCHEMA, "mart", "rollup")
# Binds as the plain statement does, and its errors have places.
_BIND = "describe "


@dataclass(frozen=True)
class Findings:
    """What a check found: the project as far as it is sound, faults, and models that nothing reads."""

    checked: CheckedProject
    faults: tuple[WarehouseError, ...]
    warnings: tuple[WarehouseError, ...] = ()

    def sound(self) -> CheckedProject:
        """The project. Raises all faults together when there are any."""
        if self.faults:
            raise together(self.faults)
        return self.checked


def check(
    models: Mapping[str, Model], queries: Mapping[str, Model], landing: LandingTypes, root: Path = Path(),
    sql_tests: Sequence[SqlTest] = (),
) -> CheckedProject:
    """Check a whole project. Raises every fault that is no consequence of another, together."""
    checked, faults = inspect(models, queries, landing, root, sql_tests)
    return Findings(checked, tuple(faults)).sound()


def check_project(project: "Project", landing: LandingTypes) -> Findings:
    """Read and check a project's files. Raises WH004 when it has no folder of models and none of queries, and what is wrong
    with its SQL tests or its sources (WH201, WH220)."""
    if not project.layers("models") and not project.layers("queries"):
        raise WarehouseError(
            "WH004", "the project has neither models nor queries", "models/",
            "make the folder models/ beside warehouse.toml, with one SQL file a table",
        )
    models, queries = read_models(project), read_queries(project)
    sources = source_models(project)
    checked, faults = inspect(
        {**sources, **models.models}, queries.models, landing, project.root, load_sql_tests(project),
        models.unreadable | queries.unreadable,
    )
    faults = [*models.faults, *queries.faults, *(at_its_source(project, fault) for fault in faults)]
    for name in sorted(sources.keys() & models.models.keys()):
        message = f"the name {name} is taken by {models.models[name].place}"
        faults.append(source_fault(project.root, name, "WH205", message, "give the source another name"))
    # What a model with a fault reads is not known.
    return Findings(checked, tuple(faults), () if faults else tuple(unread_models(checked)))


def inspect(
    models: Mapping[str, Model], queries: Mapping[str, Model], landing: LandingTypes, root: Path = Path(),
    sql_tests: Sequence[SqlTest] = (), unreadable: Collection[str] = (),
) -> tuple[CheckedProject, list[WarehouseError]]:
    """Check what can be checked, and list the faults: WH202 to WH208, WH220, WH221, WH226. A model that reads one with a
    fault is not looked at: what it would be told is a consequence. Paths of files are from `root`; `unreadable` names
    files that are no models for now."""
    everything, faults = with_feeds(models, is_whole=not unreadable)
    con = connect(files_root=root)
    create_schemas(con)
    faults += _name_faults(con, models, queries, landing)
    everything |= {name: query for name, query in queries.items() if name not in everything}
    for table, types in landing.items():
        open_landing_table(con, table, types, ())
    contracts, found = contract_types(con, everything)
    faults += found
    # A feed's SQL is made of its collector's types: where one is none, it is no SQL, and nobody wrote it.
    promising = {name: model for name, model in everything.items() if name in contracts}
    graph, found = build_graph(con, promising, landing.keys(), {*unreadable, *(everything.keys() - contracts.keys())})
    faults += found
    columns: dict[str, Mapping[str, str]] = {}
    for name in graph.order:
        model = everything[name]
        if not graph.models[name] <= columns.keys():
            continue
        found = []
        try:
            check_files(con, model, graph.files[name], root)
            bound = _bind(con, model)
        except WarehouseError as fault:
            faults.append(fault)
            continue
        if model.feeds:
            found += feeder_faults(model, bound, contracts.get(f"{FEED_SCHEMA}.{model.feeds}", bound))
        found += _output_faults(model, bound, graph.landing[name])
        found += contract_faults(model, bound, contracts[name])
        if not found:
            columns[name] = bound
        faults += found
    if faults:
        return CheckedProject(everything, graph, columns), faults
    # What follows rests on all tables being there.
    file_columns = columns_of_calls(con, graph)
    plans, faults = key_plans(con, everything, graph, columns, file_columns, landing)
    checked = CheckedProject(everything, graph, columns, file_columns, plans)
    tests, found = bind_tests(con, data_tests(everything, sql_tests), checked, landing)
    return replace(checked, tests=tests), [*faults, *found]


def unread_models(checked: CheckedProject) -> Iterator[WarehouseError]:
    """A WH219 for every staging model and feed of the project's own that no other reads. Facts, dimensions, marts and
    rollups are there for people; a project that has none of them is only being begun."""
    for_people = [name for name, model in checked.models.items() if model.schema not in ("staging", FEED_SCHEMA)]
    read = frozenset().union(*checked.graph.models.values())
    for name, model in checked.models.items() if for_people else ():
        if name in for_people or name in read or model.place.startswith(STANDARD_PREFIX):
            continue
        if model.schema == FEED_SCHEMA:
            collector = next(other for other in checked.models.values() if other.collects == model.name)
            hint = f"select from {model.qualified}, here or elsewhere"
            yield collector.header_fault("WH219", f"nothing reads {model.qualified}", "collects", hint=hint)
        elif not model.feeds:
            yield fault_at(
                "WH219", f"nothing reads {model.qualified}", model.text, model.place, first_token(model.text),
                "read it in a fact, a mart or a query spec, or delete the file",
            )


def create_schemas(con: "duckdb.DuckDBPyConnection") -> None:
    """The schemas of a build, and the search path that lets models use bare names."""
    from warehouse.transform.duck import SEARCH_PATH

    for schema in SCHEMAS:
        con.execute(f"create schema if not exists {schema}")
    con.execute(f"set search_path = '{SEARCH_PATH}'")


def _name_faults(
    con: "duckdb.DuckDBPyConnection",
    models: Mapping[str, Model],
    queries: Mapping[str, Model],
    landing: Collection[str],
) -> Iterator[WarehouseError]:
    """WH205 for names that are taken, WH201 for those that no query could write without quotes."""
    named = [*models.items(), *queries.items()]
    engine = {
        row[0]
        for row in con.execute(
            "select view_name from duckdb_views() where internal and schema_name in ('main', 'pg_catalog')"
        ).fetchall()
    }
    bare = parsed(con, [f"from {name}" for name, _ in named])
    for (name, model), document in zip(named, bare, strict=True):
        owner = "a landing table" if name in landing else "the engine's own table" if name in engine else None
        if model is queries.get(name) and name in models:
            owner = models[name].place
        if owner:
            yield WarehouseError("WH205", f"the name {name} is taken by {owner}", model.place, "rename the file")
        elif document.startswith('{"error":true'):
            yield WarehouseError(
                "WH201", f"{name} is a word of SQL: whoever reads the table would have to quote it", model.place,
                f"rename the file, to {name}_fact or {name}s for one",
            )


def _bind(con: "duckdb.DuckDBPyConnection", model: Model) -> dict[str, str]:
    """The columns of a model, from binding its SQL, which runs nothing; the session then has it as an empty table.
    Raises WH204."""
    import duckdb

    try:
        relation = con.sql(model.text)
    except duckdb.Error as plain:
        raise translated(_with_place(con, model) or plain, "WH204", model.text, model.place, _BIND) from plain
    names = relation.columns
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            hint = f"rename one with as, or leave it out: select * exclude ({name})"
            raise model.column_fault("WH204", f"two columns are named {name}", name, hint, occurrence=1)
        seen.add(name.lower())
    columns = dict(zip(names, map(str, relation.types), strict=True))
    # A view too: a chain of views would be bound to its beginning at every step.
    listed = ", ".join(f"{quote(name)} {kind}" for name, kind in columns.items())
    con.execute(f"create table {quoted(model.qualified)} ({listed})")
    return columns


def _with_place(con: "duckdb.DuckDBPyConnection", model: Model) -> Exception | None:
    """The error of a text that does not bind, as the engine tells it with its place."""
    import duckdb

    try:
        con.execute(_BIND + model.text)
    except duckdb.Error as error:
        return error
    return None


def _output_faults(model: Model, found: Mapping[str, str], landing: Collection[str]) -> Iterator[WarehouseError]:
    if model.materialized == "view" and landing:
        # A view is opened by readers who have no landing tables.
        yield model.header_fault(
            "WH204", f"a view cannot read a landing table, and {min(landing)} is one", "materialized",
            hint="drop `materialized: view` from the header: it is a table then",
        )
    for name in found:
        if name.lower() == "rowid":
            yield model.column_fault(
                "WH207", "rowid is the engine's own name for a row's place", name, "rename the column: rowid as row_number"
            )
