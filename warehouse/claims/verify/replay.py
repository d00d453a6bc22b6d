"""Replay: a query run again from nothing but raw files, by the SQL that its spec recorded and the ingestors of this machine.

Only the bundles that are given are parsed, into an empty store; every model under the query is made by its recorded SQL in
an empty database; then the query runs. Nothing of the project's builds, landing or models is read, and nothing of the spec
that its digest does not cover.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from warehouse.claims.gate.accounting import Accounts, Sources
from warehouse.claims.gate.evidence import RowEvidence
from warehouse.claims.gate.observed import observed_rows
from warehouse.claims.numbers.recorded import changed_parsers, recorded_landing, refused, sound_project
from warehouse.claims.publish.static_facts import Established, establish
from warehouse.claims.verify.parsed import Parsed
from warehouse.claims.verify.retrace import Retraced, retrace, row_key
from warehouse.errors import WarehouseError, printable
from warehouse.evidence.ledger.run_decisions import Decision
from warehouse.evidence.objects.location import open_store
from warehouse.exact import exact
from warehouse.project.project import Project
from warehouse.trace.catalog import Catalog, trace_in_memory
from warehouse.transform.build.material import Material, landing_inputs
from warehouse.transform.build.plan import run_over
from warehouse.transform.build.recorded import recorded_envelopes
from warehouse.transform.build.state import Inputs, logics
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.check.digests import engine_leaf, recorded_model
from warehouse.transform.check.project_check import with_keys
from warehouse.transform.inputs.landing_tables import LandingTables
from warehouse.transform.project.claim import claim_of
from warehouse.transform.project.model import RESERVED_COLUMNS, Model
from warehouse.transform.sql.duck import LATER_SETTINGS, quote, quoted

if TYPE_CHECKING:
    import duckdb

_ROWS_AT_ONCE = 1000

# One row: every column's exact form (`claims.numbers.number.exact`).
Row = Mapping[str, Any]


class Rows(Mapping[str, Row]):
    """Rows by `row_key`, kept as text: a publication may have very many."""

    def __init__(self, rows: Iterable[Row], grain: Collection[str]) -> None:
        self._texts = {row_key({name: row[name] for name in grain}): json.dumps(row) for row in rows}
        self._read = lru_cache(maxsize=1)(lambda key: json.loads(self._texts[key]))  # the cells of a row are asked for in turn

    def __getitem__(self, key: str) -> Row:
        row: Row = self._read(key)
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


@dataclass(frozen=True)
class Replayed:
    """The rows of a query over some evidence, and where that was asked for what its publication must say of them; by `row_key` the
    observations that its numbers are claimed to be statistics of, with the runs that were left out of each row where these were
    accounted for, and then which bundles state its runs."""

    rows: Rows
    retraced: Retraced | None
    observed: Mapping[str, RowEvidence]
    sources: Sources = field(default_factory=Sources)


class Replayer:
    """One recorded query, checked once, to be run on any evidence under the `decisions` on runs that it was run under; the columns
    `observed` of its observations are read too, where any are named. Raises WH309 when it cannot be run here as it was, for instance
    with other settings of the engine."""

    def __init__(
        self, project: Project, specification: Mapping[str, Any], parsed: Parsed, decisions: Collection[Decision] = (),
        observed: Collection[str] = (),
    ) -> None:
        self._decisions = decisions
        self._observed = observed
        self._established: Established | None = None
        self._families: dict[str, str] = {}  # by bundle
        self._changed: dict[frozenset[str], Mapping[str, tuple[str | None, str | None]]] = {}  # by families
        self._store = open_store(project)
        self._parsed = parsed
        self._specification = specification
        self._query = recorded_model(specification["document"]).name
        self._tolerances = specification["document"]["contract"].get("tolerances", {})
        _refuse_another_engine(self._query, specification)
        self._without_evidence = parsed.part((), decisions).tables
        self._types = self._as_recorded(self._without_evidence, ()).types
        self._made = recorded_envelopes(specification)
        self._checked = sound_project(specification, self._types)
        self._keyed = set[str]()  # the tables of which the keys are known

    def changed_parsers(self, bundles: Iterable[str]) -> Mapping[str, tuple[str | None, str | None]]:
        """The ingestors of these bundles that are not those that parsed them then (`claims.numbers.recorded.changed_parsers`). Raises WH309
        when one is not there."""
        families = self._families_of(bundles)
        if families not in self._changed:
            recorded_landing(self._specification, self._without_evidence, families)
            self._changed[families] = changed_parsers(self._specification, self._without_evidence, families)
        return self._changed[families]

    def replay(
        self, bundles: Collection[str], grain: Collection[str], traced: Collection[str] = (), is_accounted: bool = False
    ) -> Replayed:
        """The query over these bundles, by manifest digest, its rows by their `grain`; the value columns `traced` also traced, and all
        runs accounted for where `is_accounted`.
        Raises what reading them raises (WH105, WH106, WH107), WH309 when no ingestor here reads them or the recorded SQL fails on them,
        and WH306 when it cannot be traced there."""
        part = self._parsed.part(bundles, self._decisions)
        for problem in part.tables.damaged:
            raise problem
        landing = self._as_recorded(part.tables, bundles)
        landing = _as_far_as_read(landing, self._checked)
        self._find_keys(landing)
        inputs = Inputs(landing_inputs(landing), {})
        material = Material(self._checked, self._made, logics(self._checked, self._made), landing, inputs, part.root)
        with ExitStack() as stack:
            try:
                con, catalog = stack.enter_context(trace_in_memory(material))
            except WarehouseError as error:
                raise refused(self._query, f"the recorded SQL fails: {error}") from error

            def established(catalog: Catalog) -> Established:
                return self._establish(catalog, traced)

            rows = Rows(_rows(con, self._checked.models[self._query]), grain)
            retraced = retrace(con, catalog, self._query, traced, established) if traced else None
            return Replayed(rows, retraced, *self._observations(con, catalog, retraced if is_accounted else None))

    def _find_keys(self, landing: LandingTables) -> None:
        """Find by which keys the tables are local that have rows over this evidence: in their order such a table is made."""
        new = run_over(self._checked, landing) - self._keyed
        if new:
            self._checked = with_keys(self._checked, sorted(new, key=self._checked.place_of), self._types)
            self._keyed |= new

    def _observations(
        self, con: "duckdb.DuckDBPyConnection", catalog: Catalog, accounted: Retraced | None
    ) -> tuple[dict[str, RowEvidence], Sources]:
        claim = claim_of(self._specification["document"]["claim"])
        if not self._observed or not claim.numbers:
            return {}, Sources()
        spec = catalog.models[f"rollup.{self._query}"]
        names = ", ".join(("rowid", *map(quote, spec.grain)))
        keys = {
            rowid: row_key(dict(zip(spec.grain, map(exact, values), strict=True)))
            for rowid, *values in con.execute(f"select {names} from {quoted(spec.qualified)}").fetchall()
        }
        observed, sources = dict(observed_rows(con, catalog, spec, claim, self._observed)), Sources()
        if accounted:
            traced = {rowid: accounted.runs_of(key, claim.numbers) for rowid, key in keys.items()}
            accounts = Accounts(con, catalog, self._query, claim, traced)
            observed = {rowid: replace(found, left_out=accounts.left_out(rowid)) for rowid, found in observed.items()}
            sources = accounts.sources
        return {keys[rowid]: found for rowid, found in observed.items()}, sources

    def _establish(self, catalog: Catalog, columns: Collection[str]) -> Established:
        if self._established is None or not self._established.columns.keys() >= set(columns):
            self._established = establish(catalog, self._query, self._tolerances, columns)
        return self._established

    def _as_recorded(self, landing: LandingTables, bundles: Iterable[str]) -> LandingTables:
        return recorded_landing(self._specification, landing, self._families_of(bundles))

    def _families_of(self, bundles: Iterable[str]) -> frozenset[str]:
        found = set[str]()
        for digest in bundles:
            if digest not in self._families:
                self._families[digest] = self._store.manifest(digest).family
            found.add(self._families[digest])
        return frozenset(found)


def _as_far_as_read(landing: LandingTables, checked: CheckedProject) -> LandingTables:
    """The landing tables that have rows, or that a model reads."""
    read = frozenset().union(*checked.graph.landing.values())
    found = {name: table for name, table in landing.tables.items() if name in read or any(file.rows for file in table.files)}
    return replace(landing, tables=found)


def _refuse_another_engine(query: str, specification: Mapping[str, Any]) -> None:
    """Another version alone is no reason to refuse: its replay is compared (`claims.verify.verdict.Engines`). Nor are settings that came
    later, of which nothing hangs but last bits."""
    then, now = specification["document"]["engine"], engine_leaf()
    before = {name: value for name, value in now["settings"].items() if name not in LATER_SETTINGS}
    if {**then, "version": now["version"]} not in (now, {**now, "settings": before}):
        made = printable(f"{then.get('name')} {then.get('version')}")
        raise refused(query, f"it was made with {made} and settings that this wh, on {now['name']}, does not replay with")


def _rows(con: "duckdb.DuckDBPyConnection", query: Model) -> Iterator[Row]:
    found = con.execute(f"select * exclude ({', '.join(RESERVED_COLUMNS)}) from {quoted(query.qualified)}")
    names = [column[0] for column in found.description]
    while rows := found.fetchmany(_ROWS_AT_ONCE):
        yield from (dict(zip(names, map(exact, row), strict=True)) for row in rows)
