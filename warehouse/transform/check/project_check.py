"""The static check: bind every model as an empty table, in order, in memory, before a byte moves.

DuckDB's own binder does the work, so there is no dialect gap: an unknown column or a wrong type is found at the
analyst's own line and column, and what a model yields is compared with what its header promises.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError, by_place, together
from warehouse.project.project import STANDARD_PREFIX, source_fault
from warehouse.transform.check.binding_session import BindingSession
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.check.contract import contract_types
from warehouse.transform.check.local_models import local_models
from warehouse.transform.check.memory import CheckMemory, read_memory
from warehouse.transform.inputs.current_folder import inside
from warehouse.transform.inputs.landing_tables import project_landing_types
from warehouse.transform.inputs.sources import SOURCE_SCHEMA, at_its_source, source_models
from warehouse.transform.project.data_tests import SqlTest, data_tests, load_sql_tests
from warehouse.transform.project.feeds import FEED_SCHEMA, with_feeds
from warehouse.transform.project.graph import build_graph
from warehouse.transform.project.hot_metrics import hot_metric_faults
from warehouse.transform.project.model import HOT_METRICS, Model
from warehouse.transform.project.model_files import read_models, read_queries
from warehouse.transform.sql.duck import connect, scratch
from warehouse.transform.sql.text import fault_at, first_token
from warehouse.transform.sql.tree import parsed

if TYPE_CHECKING:
    import duckdb

    from warehouse.project.project import Project

# Columns (name to type) of landing tables.
LandingTypes = Mapping[str, Mapping[str, str]]
# The engine's own views in `main` and `pg_catalog`. To ask for them takes 17 ms, since it makes each; a test compares.
ENGINE_VIEWS = frozenset(
    (
        "duckdb_columns", "duckdb_constraints", "duckdb_databases", "duckdb_indexes", "duckdb_logs", "duckdb_schemas",
        "duckdb_tables", "duckdb_types", "duckdb_views", "pg_am", "pg_attrdef", "pg_attribute", "pg_class", "pg_collation",
        "pg_constraint", "pg_database", "pg_depend", "pg_description", "pg_enum", "pg_index", "pg_indexes", "pg_namespace",
        "pg_prepared_statements", "pg_proc", "pg_sequence", "pg_sequences", "pg_settings", "pg_tables", "pg_tablespace",
        "pg_type", "pg_views", "pragma_database_list", "sqlite_master", "sqlite_schema", "sqlite_temp_master",
        "sqlite_temp_schema",
    )
)
SCHEMAS = ("staging", FEED_SCHEMA, SOURCE_SCHEMA, "mart", "rollup")


@dataclass(frozen=True)
class Findings:
    """What a check found: the project as far as it is sound, faults, models that nothing reads, and clauses of queries at which a
    tie would decide what is published."""

    checked: CheckedProject
    faults: tuple[WarehouseError, ...]
    warnings: tuple[WarehouseError, ...] = ()
    notes: tuple[WarehouseError, ...] = ()

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


def check_project(project: "Project", landing: LandingTypes | None = None) -> Findings:
    """Read and check a project's files; the faults are in the order of their places. `landing` are the columns of its landing
    tables, by default as its ingestors declare them. What an earlier check found sound is not bound again (`memory`). Raises WH004
    when it has no folder of models and none of queries, and what is wrong with its SQL tests or its sources (WH201,
    WH220)."""
    if not project.layers("models") and not project.layers("queries"):
        raise WarehouseError(
            "WH004", "the project has neither models nor queries", "models/",
            "make the folder models/ beside warehouse.toml, with one SQL file a table",
        )
    landing = project_landing_types(project) if landing is None else landing
    models, queries = read_models(project), read_queries(project)
    memory = read_memory(project)
    sources = source_models(project)
    checked, faults = inspect(
        {**sources, **models.models}, queries.models, landing, project.root, load_sql_tests(project),
        models.unreadable | queries.unreadable, memory,
    )
    faults = [*models.faults, *queries.faults, *(at_its_source(project, fault) for fault in faults)]
    for name in sorted(sources.keys() & models.models.keys()):
        message = f"the name {name} is taken by {models.models[name].place}"
        faults.append(source_fault(project.root, name, "WH205", message, "give the source another name"))
    if not faults:
        memory.write(project)
    # What a model with a fault reads is not known.
    return Findings(checked, tuple(sorted(faults, key=by_place)), () if faults else tuple(unread_models(checked)))


def inspect(
    models: Mapping[str, Model], queries: Mapping[str, Model], landing: LandingTypes, root: Path = Path(),
    sql_tests: Sequence[SqlTest] = (), unreadable: Collection[str] = (), memory: CheckMemory | None = None, *, is_recorded: bool = False,
) -> tuple[CheckedProject, list[WarehouseError]]:
    """Check what can be checked, and list the faults: WH202 to WH208, WH220, WH221, WH226. A model that reads one with a
    fault is not checked: its faults would be consequences. Paths of files are from `root`; `unreadable` names
    files that are no models for now; what `memory` knows is taken from there. SQL that `is_recorded` may be a stranger's: the engine opens no
    file for it. It is not found out which of its tables are local to a key (`with_keys` does), nor whether tests of their data bind."""
    # What may not read files, and remote stores, which a session opens for all of its engine, have an engine of their own.
    is_alone = is_recorded or any("://" in model.text for model in (*models.values(), *queries.values()))
    # The engine looks for a path without a pattern in the current folder first.
    with inside(root), closing(connect(files_root=root)) if is_alone else scratch(root) as con:
        create_schemas(con)
        if is_recorded:
            con.execute("set enable_external_access = false")
        return _inspect(con, models, queries, landing, root, sql_tests, unreadable, memory or CheckMemory(), is_recorded=is_recorded)


def _inspect(
    con: "duckdb.DuckDBPyConnection", models: Mapping[str, Model], queries: Mapping[str, Model], landing: LandingTypes, root: Path,
    sql_tests: Sequence[SqlTest], unreadable: Collection[str], memory: CheckMemory, *, is_recorded: bool,
) -> tuple[CheckedProject, list[WarehouseError]]:
    everything, faults = with_feeds(models, is_whole=not unreadable)
    faults += [*_name_faults(con, models, queries, landing, memory), *_role_faults(models.values())]
    everything |= {name: query for name, query in queries.items() if name not in everything}
    contracts, found = contract_types(con, everything)
    faults += found
    # A feed's SQL is made of its collector's types: if one does not exist, the generated SQL is not valid.
    promising = {name: model for name, model in everything.items() if name in contracts}
    graph, found = build_graph(con, promising, landing.keys(), {*unreadable, *(everything.keys() - contracts.keys())})
    faults += found
    session = BindingSession(con, everything, graph, landing, root, memory)
    for name in graph.order:
        if graph.models[name] <= session.columns.keys():
            feed = contracts.get(f"{FEED_SCHEMA}.{everything[name].feeds}")
            faults += session.bind(name, contracts[name], feed)
    columns = session.columns
    if faults or unreadable:
        return CheckedProject(everything, graph, columns), faults
    # What follows needs all tables.
    file_columns = session.columns_of_calls()
    checked = CheckedProject(everything, graph, columns, file_columns)
    if not is_recorded:
        local, faults = local_models(con, checked, graph.order, landing, session.keys, memory, session.give_inputs)
        checked = local.of(checked)
        tests, found = session.bind_tests(data_tests(checked.models, sql_tests), checked)
        checked, faults = replace(checked, tests=tests), [*faults, *found]
    return checked, [*faults, *hot_metric_faults((everything[name] for name in models), columns)]


def with_keys(checked: CheckedProject, names: Collection[str], landing: LandingTypes) -> CheckedProject:
    """A project that was inspected without keys, with those of the tables `names`, by which they are local. Raises WH221."""
    with scratch() as con:
        create_schemas(con)
        session = BindingSession(con, dict(checked.models), checked.graph, landing, Path(), CheckMemory())
        session.columns.update(checked.columns)
        local, faults = local_models(con, checked, names, landing, dict.fromkeys(names, ""), CheckMemory(), session.give_inputs)
    if faults:
        raise together(faults)
    return local.of(checked)


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
    from warehouse.transform.sql.duck import SEARCH_PATH

    for schema in SCHEMAS:
        con.execute(f"create schema if not exists {schema}")
    con.execute(f"set search_path = '{SEARCH_PATH}'")


def _role_faults(models: Iterable[Model]) -> Iterator[WarehouseError]:
    """A WH201 for every model that has a role that another one has."""
    first: dict[str, Model] = {}
    for model in models:
        if model.role and model.role != HOT_METRICS and first.setdefault(model.role, model) is not model:
            message = f"role {model.role} is that of {first[model.role].place} too"
            yield model.header_fault("WH201", message, "role", hint="only one table can have a role: remove it from the other, or replace that file")


def _name_faults(
    con: "duckdb.DuckDBPyConnection",
    models: Mapping[str, Model],
    queries: Mapping[str, Model],
    landing: Collection[str],
    memory: CheckMemory,
) -> Iterator[WarehouseError]:
    """WH205 for names that are taken, WH201 for those that no query could write without quotes."""
    named = [*models.items(), *queries.items()]
    if all(memory.knows("models", name) and name not in landing for name, _ in named) and not models.keys() & queries.keys():
        return
    bare = parsed(con, [f"from {name}" for name, _ in named])
    for (name, model), document in zip(named, bare, strict=True):
        owner = "a landing table" if name in landing else "the engine's own table" if name in ENGINE_VIEWS else None
        if model is queries.get(name) and name in models:
            owner = models[name].place
        if owner:
            yield WarehouseError("WH205", f"the name {name} is taken by {owner}", model.place, "rename the file")
        elif document is None or document["error"]:
            yield WarehouseError(
                "WH201", f"{name} is an SQL keyword, so every query would have to quote the table's name", model.place,
                f"rename the file, to {name}_fact for one",
            )
