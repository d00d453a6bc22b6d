"""Which runs a person means: run ids, a file of them, or conditions such as `software=vllm 0.6*` or `accelerator=H100,since=2026-01-31`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from warehouse.analysis.measurements import VARIABLES, Measured, Measurement
from warehouse.analysis.times import parse_since
from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.transform.sql.duck import text_literal

_NEXT = re.compile(r",(?=\s*\w+\s*!?=)")  # a comma within a value, as in a list of nodes, begins no condition
_CONDITION = re.compile(r"\s*(?P<name>\w+)\s*(?P<negated>!?)=\s*(?P<value>.*?)\s*", re.DOTALL)
_COLUMNS = ("run_id", "session", "benchmark_case_id", "node", "indicator", "metric", "point", "comparable_key", "series_key", *VARIABLES)
_KINDS = {"software": ("software", "package")}  # of conditions that belong to a variable, where it is not the kind of its own name
_SIMILAR, _OFFERED = 3, 8
_SINCE, _UNTIL = "since", "until"
# Conditions by what a dimension says: its table, its key, the column of the measurements that has the key, and the columns that may match.
_DIMENSIONS = {
    "model": ("main.workload_dim", "workload_spec_digest", "workload", ("model",)),
    "accelerator": (
        "main.hardware_topology_dim", "hardware_topology_key", "hardware", ("accelerator_name", "gpu_model", "accelerator_family"),
    ),
}
_COMMIT, _COMMITS = "commit", ("commit", "git_commit")  # the conditions that state one; what it begins with will do
# Conditions on what was measured, not on the run; and the columns of the table of runs that the others are about.
_OF_METRICS = ("indicator", "metric", "point")
_RUN_COLUMNS = {
    "benchmark_case_id": "benchmark_case_id", "node": "node_name", "workload": "workload_spec_digest", "hardware": "hardware_topology_key",
    "testbed": "cluster_region_key", "software": "software_version_key",
}


@dataclass(frozen=True)
class Side:
    """One side of a comparison: as it was asked for, its measurements, and how many performance runs are meant too but have none that
    count, by the reason: failed, retracted and so on."""

    asked: str
    measurements: tuple[Measurement, ...]
    uncounted: Mapping[str, int] = field(default_factory=dict)

    @property
    def run_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.run_id for each in self.measurements))


def select(found: Measured, asked: str, *, may_be_file: bool = True) -> Side:
    """The measurements that are meant: `RUN,RUN`, a file with one run id a line, or `name=value,name!=value`. A name is `model`, `accelerator`,
    `commit`, `since` or `until` (of the start), a variable (`software`, `hardware`, `testbed`, `workload`, `script`), a column of the
    measurements (`session`, `node`, `metric`), or any condition of the runs (`nccl_version`, `cluster`). A value may have `*`. Whoever asks
    from another machine names no file here: `may_be_file`. Raises WH502 where no measured run is meant."""
    run_ids = [asked] if _is_run(found, asked) else None
    if run_ids is None and "=" in asked:
        return _by_conditions(found, asked)
    if run_ids is None and may_be_file and Path(asked).is_file():
        run_ids = [line.strip() for line in Path(asked).read_text(encoding="utf-8").splitlines() if line.strip()]
    names = run_ids or [part.strip() for part in asked.split(",") if part.strip()]
    measurements: dict[tuple[str, ...], Measurement] = {}
    for name in names:
        matching = found.read("m.run_id glob ?" if "*" in name else "m.run_id = ?", [name])
        if not matching:
            raise _no_run(found, name)
        measurements |= {(each.run_id, *each.name): each for each in matching}
    if not measurements:
        raise WarehouseError("WH502", "a side names no run", printable(asked) or "(empty)", exit_code=ExitCode.NOT_FOUND)
    patterns = " or ".join(f"m.run_id glob {text_literal(name)}" for name in names if "*" in name)
    return Side(asked, tuple(measurements.values()), _uncounted(found, patterns) if patterns else {})


def conditions(asked: str) -> list[tuple[str, bool, str]]:
    """The parts of `name=value,name!=value`: name, whether it is negated, and value. Raises WH502 for another text."""
    found = []
    for part in _NEXT.split(asked):
        if not (match := _CONDITION.fullmatch(part)):
            raise WarehouseError("WH502", f"cannot read {printable(part)!r}", printable(asked), "write name=value,name=value", ExitCode.USAGE)
        found.append((match["name"], bool(match["negated"]), match["value"]))
    return found


def _is_run(found: Measured, name: str) -> bool:
    return bool(found.con.execute(f"select 1 from {found.measurements.sql} where run_id = ? limit 1", [name]).fetchall())


def _by_conditions(found: Measured, asked: str) -> Side:
    clauses, of_runs = [], []
    known = _known_names(found)
    for name, is_negated, value in conditions(asked):
        if name not in known:
            nearest = did_you_mean(name, known)
            of_runs_said = sorted(known - set(_named(found)))
            more = f", or a condition of the runs: {', '.join(of_runs_said[:_OFFERED])}" + (" and more" if len(of_runs_said) > _OFFERED else "")
            hint = f"{nearest + ' ' if nearest else ''}A name is {', '.join(_named(found))}{more if of_runs_said else ''}"
            raise WarehouseError("WH502", f"no condition is named {printable(name)!r}", printable(asked), printable(hint), ExitCode.USAGE)
        clause = _clause(found, name, value)
        clauses.append(f"not ({clause})" if is_negated else f"({clause})")
        if name not in _OF_METRICS:
            of_runs.append(clauses[-1])
    measurements = found.read(" and ".join(clauses))
    if not measurements:
        raise WarehouseError("WH502", "no measured run matches", printable(asked), _known_values(found, asked), ExitCode.NOT_FOUND)
    return Side(asked, tuple(measurements), _uncounted(found, " and ".join(of_runs) or "true"))


def _named(found: Measured) -> list[str]:
    """The names of conditions but for those of single runs: what people ask for first."""
    columns = [name for name in _COLUMNS if name in found.measurements.columns]
    times = [_SINCE, _UNTIL] if "started_at" in found.measurements.columns else []
    return [*(name for name in _DIMENSIONS if _dimension(found, name)), *times, *([_COMMIT] if found.conditions else []), *columns]


def _known_names(found: Measured) -> set[str]:
    stated = found.con.execute(f"select distinct name from {found.conditions.sql}").fetchall() if found.conditions else []
    return {*_named(found), *_KINDS, *(str(name) for (name,) in stated if "workload_document" != name)}


def _dimension(found: Measured, name: str) -> str | None:
    """SQL on a row `m` of the measurements: that a dimension states `{wanted}` of it; None where the build lacks it."""
    table, key, own, _ = _DIMENSIONS[name]
    if not (said := _stating(found, name)):
        return None
    matching = " or ".join(f"lower({column}) glob {{wanted}}" for column in said)
    return f"coalesce(m.{own} in (select {key} from {table} where {matching}), false)"


def _stating(found: Measured, name: str) -> list[str]:
    """The columns of a dimension that the build has."""
    table, key, own, columns = _DIMENSIONS[name]
    schema, _, bare = table.partition(".")
    sql = "select column_name from information_schema.columns where table_catalog = current_database() and table_schema = ? and table_name = ?"
    has = {column for (column,) in found.con.execute(sql, [schema, bare]).fetchall()}
    return [column for column in columns if column in has] if key in has and own in found.measurements.columns else []


def _moment(value: str) -> str:
    """A time as SQL. Raises WH502 for a value that is none."""
    return f"timestamptz {text_literal(parse_since(value, datetime.now(UTC)).isoformat())}"


def _uncounted(found: Measured, where: str) -> dict[str, int]:
    """The performance runs that a condition holds for and that have no measurement, by the reason; empty where the table of runs does not
    say. A side without its failed runs looks better than it is."""
    runs = found.runs
    if runs is None or not {"mode", "status", "state", "has_conflict", *_RUN_COLUMNS.values()} <= runs.columns:
        return {}
    columns = [f"{_RUN_COLUMNS[name]} as {name}" if name in _RUN_COLUMNS else f"null as {name}" for name in _COLUMNS if name != "run_id"]
    columns.append("started_at" if "started_at" in runs.columns else "null::timestamptz as started_at")
    sql = (
        "select case when has_conflict then 'in conflict' when state <> 'admitted' then state"
        " when status not in ('succeeded', 'unknown') then status else 'without a value' end as reason, count(*)"
        f" from (select run_id, mode, status, state, has_conflict, {', '.join(columns)} from {runs.sql}) as m"
        f" where mode = 'performance' and ({where}) and run_id not in (select run_id from {found.measurements.sql}) group by reason order by reason"
    )
    return dict(found.con.execute(sql).fetchall())


def _clause(found: Measured, name: str, value: str) -> str:
    """SQL on a row `m` of the measurements."""
    wanted, ways = text_literal(value), []
    if name in (_SINCE, _UNTIL) and "started_at" in found.measurements.columns:
        return f"coalesce(m.started_at {'>=' if name == _SINCE else '<'} {_moment(value)}, false)"
    if name == _COMMIT and found.conditions:
        listed = ", ".join(map(text_literal, _COMMITS))
        return (
            f"m.run_id in (select c.run_id from {found.conditions.sql} as c"
            f" where c.name in ({listed}) and (c.value_text glob {wanted} or starts_with(c.value_text, {wanted})))"
        )
    if name in _DIMENSIONS and (stated := _dimension(found, name)):
        ways.append(stated.format(wanted=text_literal(value.lower())))
    if name in _COLUMNS and name in found.measurements.columns:
        ways.append(f"coalesce(m.{name}::varchar glob {wanted}, false)")
        if name in VARIABLES and len(value) >= 6:
            ways.append(f"starts_with(coalesce(m.{name}::varchar, ''), {wanted})")
    if found.conditions:
        of_kind = f"c.kind in ({', '.join(map(text_literal, _KINDS.get(name, (name,))))}) and" if name in VARIABLES else ""
        named = f"{of_kind} (c.value_text glob {wanted} or c.name || ' ' || c.value_text glob {wanted})" if of_kind else (
            f"c.name = {text_literal(name)} and c.value_text glob {wanted}"
        )
        ways.append(f"m.run_id in (select c.run_id from {found.conditions.sql} as c where {named})")
    return " or ".join(ways) or "false"


def _known_values(found: Measured, asked: str) -> str | None:
    """What the first condition may be, as a hint."""
    match = _CONDITION.fullmatch(_NEXT.split(asked)[0])
    if not match:
        return None
    name = match["name"]
    if name in _DIMENSIONS and (columns := _stating(found, name)):
        table, key, own, _ = _DIMENSIONS[name]
        runs = f"select m.{own} from {found.measurements.sql} as m"
        stated = f"select distinct coalesce({', '.join(columns)}, null) from {table} where {key} in ({runs}) order by 1"
        values = [printable(row[0]) for row in found.con.execute(stated).fetchall() if row[0] is not None]
        return f"{name} has the values: {'; '.join(values[:_OFFERED])}" if values else f"no run states {name}"
    if name in _COLUMNS and name in found.measurements.columns:
        stated = f"select m.{name}::varchar from {found.measurements.sql} as m where m.{name} is not null group by 1"
        most = f"{stated} order by count(distinct m.run_id) desc, 1 limit {_OFFERED}"
        if values := [printable(row[0]) for row in found.con.execute(most).fetchall()]:
            return f"{name} has the values: {'; '.join(values)}"
    if not found.conditions:
        return None
    kinds = _KINDS.get(name, (name,))
    sql = (
        f"select distinct case when c.name = ? then c.value_text else c.name || ' ' || c.value_text end from {found.conditions.sql} as c"
        " where (c.name = ? or list_contains(?, c.kind)) and length(c.value_text) < 60 order by 1 limit 8"
    )
    values = [printable(row[0]) for row in found.con.execute(sql, [name, name, list(kinds)]).fetchall()]
    return f"{name} has the values: {'; '.join(values)}" if values else f"no run states {printable(name)}"


def _no_run(found: Measured, name: str) -> WarehouseError:
    sql = f"select distinct run_id from {found.measurements.sql} order by levenshtein(run_id, ?), run_id limit {_SIMILAR}"
    similar = [printable(row[0]) for row in found.con.execute(sql, [name]).fetchall()]
    hint = f"similar: {', '.join(similar)}" if similar else "no run of the current build has a measurement that counts"
    message = "no run with this id has a measurement that counts (succeeded, admitted, without conflict)"
    return WarehouseError("WH502", message, printable(name), hint, ExitCode.NOT_FOUND)
