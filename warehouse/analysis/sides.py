"""Which runs a person means: run ids, a file of them, or conditions such as `software=vllm 0.6*`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from warehouse.analysis.measurements import VARIABLES, Measured, Measurement
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.transform.sql.duck import text_literal

_NEXT = re.compile(r",(?=\s*\w+\s*!?=)")  # a comma within a value, as in a list of nodes, begins no condition
_CONDITION = re.compile(r"\s*(?P<name>\w+)\s*(?P<negated>!?)=\s*(?P<value>.*?)\s*", re.DOTALL)
_COLUMNS = ("run_id", "session", "benchmark_case_id", "node", "indicator", "metric", "point", "comparable_key", "series_key", *VARIABLES)
_KINDS = {"software": ("software", "package")}  # of conditions that belong to a variable, where it is not the kind of its own name
_SIMILAR = 3
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
    """The measurements that are meant: `RUN,RUN`, a file with one run id a line, or `name=value,name!=value`. A name is a variable
    (`software`, `hardware`, `testbed`, `workload`, `script`), a column of the measurements (`session`, `node`, `metric`), or any
    condition of the runs (`nccl_version`, `cluster`). A value may have `*`. Whoever asks from another machine names no file here:
    `may_be_file`. Raises WH502 where no measured run is meant."""
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
    for name, is_negated, value in conditions(asked):
        clause = _clause(found, name, value)
        clauses.append(f"not ({clause})" if is_negated else f"({clause})")
        if name not in _OF_METRICS:
            of_runs.append(clauses[-1])
    measurements = found.read(" and ".join(clauses))
    if not measurements:
        raise WarehouseError("WH502", "no measured run matches", printable(asked), _known_values(found, asked), ExitCode.NOT_FOUND)
    return Side(asked, tuple(measurements), _uncounted(found, " and ".join(of_runs) or "true"))


def _uncounted(found: Measured, where: str) -> dict[str, int]:
    """The performance runs that a condition holds for and that have no measurement, by the reason; empty where the table of runs does not
    say. A side without its failed runs looks better than it is."""
    runs = found.runs
    if runs is None or not {"mode", "status", "state", "has_conflict", *_RUN_COLUMNS.values()} <= runs.columns:
        return {}
    columns = [f"{_RUN_COLUMNS[name]} as {name}" if name in _RUN_COLUMNS else f"null as {name}" for name in _COLUMNS if name != "run_id"]
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
    if not match or not found.conditions:
        return None
    name = match["name"]
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
