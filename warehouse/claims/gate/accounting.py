"""Every launched run is used, or left out with a reason. The runs that a query reads are followed clause by clause; those that never reach
it are found in the table of runs by their workload, or by what else the claim says that the runs of a row have in common."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from warehouse.claims.gate.evidence import NOT_DETERMINED, RUN_ID, VALUE, LeftOut
from warehouse.claims.gate.observed import observed_rows
from warehouse.errors import WarehouseError, did_you_mean
from warehouse.transform.project.claim import Claim
from warehouse.transform.project.feeds import FEED_SCHEMA
from warehouse.transform.project.model import BUNDLE_COLUMN, RUNS
from warehouse.transform.sql.duck import quote, quoted
from warehouse.transform.sql.text import comparable

if TYPE_CHECKING:
    import duckdb

    from warehouse.trace.catalog import Catalog
    from warehouse.trace.excluded.survival import Loss

_WORKLOAD, _STATUS, _REASON, _MODE = "workload_spec_digest", "status", "status_reason", "mode"
_CONFLICT = "has_conflict"
_FAILED = {"failed", "interrupted", "invalid"}


@dataclass(frozen=True)
class Sources:
    """The bundles that state each run, by digest, and those of them that say otherwise than the one that it is read from."""

    stating: Mapping[str, frozenset[str]] = field(default_factory=dict)
    contradicting: Mapping[str, frozenset[str]] = field(default_factory=dict)


class Accounts:
    """The runs that are in no row of a query, by the row that they would have been in. `con` is a session of `open_trace_session` or
    `trace_in_memory`; `traced` are the runs that the claimed numbers of each row depend on, by row id. A run that is not among the
    observations, as one that is only counted beside them, is left out all the same."""

    def __init__(
        self, con: "duckdb.DuckDBPyConnection", catalog: "Catalog", query: str, claim: Claim, traced: Mapping[int, Collection[str]]
    ) -> None:
        from warehouse.trace.excluded.following import follow_runs

        observed = {
            rowid: {run for run, _ in evidence.observed}
            for rowid, evidence in observed_rows(con, catalog, catalog.models[f"rollup.{query}"], claim, ())
        }
        self._found = follow_runs(con, catalog, query)
        self._named = {comparable(clause): reason for clause, reason in claim.exclusions.items()}
        self._con, self._catalog = con, catalog
        self._query, self._claim = query, claim
        self._alike = claim.accounted_by or (_WORKLOAD,)
        self._stated = _stated_of_runs(con, catalog, self._alike, query)
        self._rows: dict[int, dict[str, LeftOut]] = {}
        self._place({rowid: observed.get(rowid, set[str]()).intersection(runs) for rowid, runs in traced.items()})
        for rowid, runs in traced.items():
            for run in set(runs) - observed.get(rowid, set[str]()):  # its spread is in no interval
                reason = "in the number, not in the observations"
                found = LeftOut(run, reason, "", "", self._excuse(run, ""), *self._said(run))
                self._rows.setdefault(rowid, {}).setdefault(run, found)

    @cached_property
    def _reads(self) -> Mapping[tuple[str, str, int | None], str]:
        from warehouse.claims.gate.clause_reads import clause_reads

        return clause_reads(self._catalog, self._query, self._claim)

    @cached_property
    def sources(self) -> Sources:
        """The bundles of every run of the table of runs. Bundles are compared where the project has `run_statement`."""
        runs = next((model for model in self._catalog.models.values() if model.role == RUNS), None)
        if runs is None:
            return Sources()
        # What the table of runs collects has a row for each bundle that states a run.
        names = (*(name for name in runs.reads if name.startswith(f"{FEED_SCHEMA}.")), runs.qualified)
        table = next(name for name in names if {RUN_ID, BUNDLE_COLUMN} <= {*self._catalog.columns.get(name, ())} or name == runs.qualified)
        if BUNDLE_COLUMN not in self._catalog.columns[table]:
            return Sources()
        stating: dict[str, set[str]] = {}
        for run, bundle in self._con.execute(f"select run_id, {BUNDLE_COLUMN} from {quoted(table)} where run_id is not null").fetchall():
            stating.setdefault(str(run), set()).add(str(bundle))
        several = [run for run, bundles in stating.items() if len(bundles) > 1]
        contradicting: dict[str, set[str]] = {}
        statement = self._catalog.resolve("run_statement")
        if several and statement in self._catalog.columns:
            sql = (
                f"select distinct other.run_id, other.{BUNDLE_COLUMN} from {quoted(statement)} as other"
                f" inner join {quoted(runs.qualified)} as run on run.run_id = other.run_id"
                f" inner join {quoted(statement)} as own"
                f" on own.run_id = run.run_id and own.{BUNDLE_COLUMN} = run.{BUNDLE_COLUMN} and own.name = other.name"
                " where other.run_id in (select unnest(?)) and own.value <> other.value"
            )
            for run, bundle in self._con.execute(sql, [several]).fetchall():
                contradicting.setdefault(str(run), set()).add(str(bundle))
        return Sources(*({run: frozenset(bundles) for run, bundles in each.items()} for each in (stating, contradicting)))

    def left_out(self, rowid: int) -> list[LeftOut]:
        """The runs that were left out of one row, sorted."""
        return [each for _, each in sorted(self._rows.get(rowid, {}).items())]

    def _place(self, runs_of: Mapping[int, Collection[str]]) -> None:
        used = set[str]().union(*runs_of.values())
        rows_like: dict[tuple[str | None, ...], set[int]] = {}
        for rowid, runs in runs_of.items():
            for run in runs:
                if any(common := self._common(run)):
                    rows_like.setdefault(common, set()).add(rowid)

        def alike(run: str) -> Iterable[int]:
            return rows_like.get(self._common(run), ())

        for loss in self._found.losses:
            if loss.run_id not in used:
                # A run whose row is in no result may have been put into a row of its own to be rid of it.
                for rowid in loss.rows if loss.rows and loss.is_sure else alike(loss.run_id):
                    self._rows.setdefault(rowid, {}).setdefault(loss.run_id, self._of_loss(loss))
        for run in self._stated.keys() - used - self._found.population:
            for rowid in alike(run):
                reason = "in no table that the query reads"
                found = LeftOut(run, reason, "", "", self._excuse(run, ""), *self._said(run))
                self._rows.setdefault(rowid, {})[run] = found

    def _common(self, run: str) -> tuple[str | None, ...]:
        """What the launched runs of one row have in common."""
        stated = self._stated.get(run, {})
        return tuple(stated.get(name) for name in self._alike)

    def _of_loss(self, loss: "Loss") -> LeftOut:
        clause = loss.clause.text if loss.is_determined else ""
        reason = loss.clause.kind if loss.is_determined else NOT_DETERMINED
        run = loss.run_id
        excuse, matters = self._excuse(run, clause), comparable(clause) in self._named or self._claim.stopping
        reads = self._reads.get(loss.clause.key, "") if clause and matters else ""  # which takes a second to find
        if reads == VALUE and (excuse is None or excuse != self._named.get(comparable(clause))):
            reads = ""
        return LeftOut(run, reason, clause, loss.clause.place, excuse, *self._said(run), reads)

    def _excuse(self, run: str, clause: str) -> str | None:
        """Why a run need not be in: what was decided of it, what its evidence says of it, or what the claim says of the clause."""
        if decided := self._found.decisions.get(run):
            return decided
        stated = self._stated.get(run, {})
        if self._has_failed(run):
            return f"its evidence says {stated[_STATUS]}" + (f": {stated[_REASON]}" if stated.get(_REASON) else "")
        if stated.get(_MODE) not in (None, "performance"):
            return f"it is a run for {stated[_MODE]}"
        return self._named.get(comparable(clause)) if clause else None

    def _said(self, run: str) -> tuple[bool, str, bool]:
        """Whether it failed, the bundle that it is read from, and whether bundles state different values of it."""
        stated = self._stated.get(run, {})
        return self._has_failed(run), stated.get(BUNDLE_COLUMN) or "", bool(stated.get(_CONFLICT))

    def _has_failed(self, run: str) -> bool:
        return self._stated.get(run, {}).get(_STATUS) in _FAILED


def _stated_of_runs(
    con: "duckdb.DuckDBPyConnection", catalog: "Catalog", alike: tuple[str, ...], query: str
) -> dict[str, dict[str, str | None]]:
    """What the table of runs states of each run, of the columns that tell which runs are alike and why one may be left out. Raises WH317 for
    a column that it lacks."""
    table = next((model.qualified for model in catalog.models.values() if model.role == RUNS), None)
    if table is None:
        return {}
    has = catalog.columns[table]
    for name in alike:
        if name not in has and name != _WORKLOAD:
            place = catalog.models[f"rollup.{query}"].place
            raise WarehouseError("WH317", f"runs are accounted for by {name}, which {table} does not have", place, did_you_mean(name, has))
    names = [name for name in dict.fromkeys((*alike, _STATUS, _REASON, _MODE, BUNDLE_COLUMN, _CONFLICT)) if name in has]
    listed = ", ".join(quote(name) for name in (RUN_ID, *names))
    return {
        str(run): dict(zip(names, values, strict=True))
        for run, *values in con.execute(f"select {listed} from {quoted(table)} where run_id is not null order by all").fetchall()
    }
