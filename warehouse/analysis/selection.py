"""Which runs a person means: run ids, a file of them, or conditions such as `software=vllm 0.6*`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from warehouse.analysis.measurements import VARIABLES, Measured, Measurement
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.transform.sql.duck import text_literal

_NEXT = re.compile(r",(?=\s*\w+\s*!?=)")  # a comma within a value, as in a list of nodes, begins no condition
_CONDITION = re.compile(r"\s*(?P<name>\w+)\s*(?P<negated>!?)=\s*(?P<value>.*?)\s*", re.DOTALL)
_COLUMNS = ("run_id", "session", "benchmark_case_id", "node", "indicator", "metric", "point", "comparable_key", "series_key", *VARIABLES)
_KINDS = {"software": ("software", "package")}  # of conditions that belong to a variable, where it is not the kind of its own name
_SIMILAR = 3


@dataclass(frozen=True)
class Side:
    """One side of a comparison: as it was asked for, and its measurements."""

    asked: str
    measurements: tuple[Measurement, ...]

    @property
    def run_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.run_id for each in self.measurements))


def select(found: Measured, asked: str) -> Side:
    """The measurements that are meant: `RUN,RUN`, a file with one run id a line, or `name=value,name!=value`. A name is a variable
    (`software`, `hardware`, `testbed`, `workload`, `script`), a column of the measurements (`session`, `node`, `metric`), or any
    condition of the runs (`nccl_version`, `cluster`). A value may have `*`. Raises WH502 where no measured run is meant."""
    run_ids = [asked] if _is_run(found, asked) else None
    if run_ids is None and "=" in asked:
        return _by_conditions(found, asked)
    if run_ids is None and Path(asked).is_file():
        run_ids = [line.strip() for line in Path(asked).read_text(encoding="utf-8").splitlines() if line.strip()]
    names = run_ids or [part.strip() for part in asked.split(",") if part.strip()]
    measurements: dict[tuple[str, ...], Measurement] = {}
    for name in names:
        matching = found.read("m.run_id glob ?" if "*" in name else "m.run_id = ?", [name])
        if not matching:
            raise _no_run(found, name)
        measurements |= {(each.run_id, *each.name): each for each in matching}
    if not measurements:
        raise WarehouseError("WH502", "it names no run", printable(asked), exit_code=ExitCode.NOT_FOUND)
    return Side(asked, tuple(measurements.values()))


def _is_run(found: Measured, name: str) -> bool:
    return bool(found.con.execute(f"select 1 from {found.measurements.sql} where run_id = ? limit 1", [name]).fetchall())


def _by_conditions(found: Measured, asked: str) -> Side:
    clauses = []
    for part in _NEXT.split(asked):
        match = _CONDITION.fullmatch(part)
        if not match:
            raise WarehouseError("WH502", f"cannot read {printable(part)!r}", printable(asked), "write name=value,name=value", ExitCode.USAGE)
        clause = _clause(found, match["name"], match["value"])
        clauses.append(f"not ({clause})" if match["negated"] else f"({clause})")
    measurements = found.read(" and ".join(clauses))
    if not measurements:
        raise WarehouseError("WH502", "no measured run matches", printable(asked), _known_values(found, asked), ExitCode.NOT_FOUND)
    return Side(asked, tuple(measurements))


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
