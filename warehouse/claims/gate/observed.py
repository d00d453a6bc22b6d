"""Reads the observations of a query's rows, from the session of a build or of a replay."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from warehouse.claims.gate.checks import OF_OBSERVATIONS
from warehouse.claims.gate.evidence import (
    DECLARED_REPEATS,
    GATE_VERSION,
    METRIC,
    OBSERVED,
    OF_VERSION_2,
    QUANTITY,
    REQUESTS,
    RUN_ID,
    SESSION,
    STARTED_AT,
    TESTBED,
    ColumnEvidence,
    RowEvidence,
    rounded,
)
from warehouse.claims.gate.policy import Policy
from warehouse.errors import WarehouseError, did_you_mean
from warehouse.transform.project.claim import Claim
from warehouse.transform.sql.duck import cursor, quote, quoted

if TYPE_CHECKING:
    import duckdb

    from warehouse.trace.catalog import BuiltModel, Catalog

_ROWS_AT_ONCE = 10_000
_TEXTS = dict.fromkeys((SESSION, TESTBED, METRIC, QUANTITY), "varchar")
_TYPES = {**_TEXTS, STARTED_AT: "timestamptz", REQUESTS: "bigint", DECLARED_REPEATS: "bigint"}  # what checks compute with


def observations_of(catalog: "Catalog", spec: "BuiltModel", claim: Claim) -> str:
    """The model that a claim names, qualified. Raises WH317 when the query does not read it, or it lacks the query's grain or run_id."""
    name = catalog.resolve(str(claim.observations))
    under = {model.qualified for model in catalog.under(spec.qualified)}
    if name not in under:
        read = sorted(model.name for model in catalog.under(spec.qualified) if RUN_ID in catalog.columns[model.qualified])
        hint = did_you_mean(str(claim.observations), read) or f"it reads: {', '.join(read)}"
        raise WarehouseError("WH317", f"the query does not read its observations, {claim.observations!r}", spec.place, hint)
    for column in (RUN_ID, *spec.grain):
        if column not in catalog.columns[name]:
            raise WarehouseError(
                "WH317", f"{name} has no column {column}", spec.place, "observations have run_id and the columns of the query's grain"
            )
    for column in claim.numbers:
        if column not in catalog.columns[spec.qualified] or column in spec.grain:
            nearest = did_you_mean(column, set(catalog.columns[spec.qualified]) - set(spec.grain))
            raise WarehouseError("WH317", f"the query claims {column!r}, which is none of its value columns", spec.place, nearest)
    return name


def observed_columns(policy: Policy, gate: int = GATE_VERSION) -> list[str]:
    """The columns of the observations that a policy looks at, with the checks of a version of the gate."""
    looking = [rule.settings for rule in policy.rules if rule.check in OF_OBSERVATIONS]
    named = {str(said[key]) for said in looking for key in ("column", "when") if key in said}
    named |= {str(column) for said in looking for column in said.get("columns", ())}
    return sorted({*OBSERVED, *named} - (OF_VERSION_2 - {*named} if gate == 1 else set()))


def observed_rows(
    con: "duckdb.DuckDBPyConnection", catalog: "Catalog", spec: "BuiltModel", claim: Claim, columns: Collection[str]
) -> Iterator[tuple[int, RowEvidence]]:
    """The observations of every row of a rollup that has some, by its row id; all count as used. `columns` are read where they are.
    Raises WH317 for an expression that cannot be computed, and for observations that are not one of each run."""
    import duckdb

    name = observations_of(catalog, spec, claim)
    there = [column for column in columns if column in catalog.columns[name]]
    same = " and ".join(f"result.{quote(key)} is not distinct from observation.{quote(key)}" for key in spec.grain) or "true"
    numbers = claim.numbers
    items = [
        "result.rowid", "observation.run_id",
        *(f"observation.{quote(column)}{'::' + _TYPES[column] if column in _TYPES else ''}" for column in there),
        *(f"({number.of})::double" for number in numbers.values()),
        *(f"({number.dropped})::bigint" for number in numbers.values()),
        *(f"({number.when or 'true'})::boolean" for number in numbers.values()),
    ]
    sql = f"select {', '.join(items)} from {quoted(spec.qualified)} as result join {quoted(name)} as observation on {same} order by 1, 2"
    try:
        found_rows = cursor(con).execute(sql)
        rows = iter(lambda: found_rows.fetchmany(_ROWS_AT_ONCE), [])
        for rowid, found in groupby((row for part in rows for row in part), key=lambda row: row[0]):
            of_row = [row[1:] for row in found]
            _check_one_each([row[0] for row in of_row], name, spec.place)
            evidence = _row_evidence(of_row, there, list(numbers))
            for column, own in evidence.columns.items():
                if own.dropped < 0:
                    raise WarehouseError("WH317", f"dropped of {column} is {own.dropped} in one row", spec.place, "dropped is a count: 0 or more")
            yield rowid, evidence
    except duckdb.Error as error:
        message = str(error).splitlines()[0]
        raise WarehouseError("WH317", f"the claim's expressions cannot be computed: {message}", spec.place) from error


def _check_one_each(runs: Sequence[Any], name: str, place: str) -> None:
    """A run that is there twice would be two repeats, and one without a name cannot be followed."""
    seen = set[Any]()
    for run in runs:
        if run is None or run in seen:
            message = f"{name} has a row without a run_id" if run is None else f"{name} has run {run} twice for one row"
            raise WarehouseError("WH317", message, place, "observations have one row for each run of each row of the query")
        seen.add(run)


def _row_evidence(rows: Sequence[Sequence[Any]], columns: Sequence[str], numbers: Sequence[str]) -> RowEvidence:
    start = 1 + len(columns)
    observed = [(str(row[0]), {name: plain(value) for name, value in zip(columns, row[1:start], strict=True)}) for row in rows]
    made: dict[str, ColumnEvidence] = {}
    for place, name in enumerate(numbers, start):
        dropped, claims = rows[0][place + len(numbers)], rows[0][place + 2 * len(numbers)]
        if claims:
            values = [rounded(row[place]) for row in rows]
            made[name] = ColumnEvidence(values, frozenset(range(len(rows))), 0 if dropped is None else int(dropped))
    return RowEvidence(observed, made)


def plain(value: Any) -> Any:
    """A value as JSON has it: times as ISO 8601 in UTC, and text for what JSON lacks."""
    if isinstance(value, datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):  # JSON has no integers beyond those that a double holds
        return value if abs(value) < 2**53 else float(value)
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    try:
        return rounded(float(value))
    except (TypeError, ValueError):
        return str(value)
