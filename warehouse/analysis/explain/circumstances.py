"""What limits the answers about a run, in words: no times, no place, nodes without telemetry, a baseline that does not count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warehouse.errors import counted

if TYPE_CHECKING:
    import duckdb

    from warehouse.transform.finished.role_tables import RoleTable

_SHORT_NODES = "select distinct lower(split_part(node_name, '.', 1)) as node_name from {} where run_id = ? and node_name is not null"


def circumstances(con: "duckdb.DuckDBPyConnection", runs: "RoleTable", run_id: str, baseline: Sequence[str]) -> tuple[str, ...]:
    """Notes on a run and those that it is compared with; of a project without the standard models only those that its tables allow."""
    return (*_uncounted(con, runs, run_id, baseline), *_place(con, run_id))


def _uncounted(con: "duckdb.DuckDBPyConnection", runs: "RoleTable", run_id: str, baseline: Sequence[str]) -> list[str]:
    """Which of the runs did not succeed, or do not count."""
    wanted = [(name, value) for name, value in (("status", "succeeded"), ("state", "admitted")) if name in runs.columns]
    return [
        f"the {'run' if other == run_id else f'run {other} of the baseline'} is {word}"
        for name, value in wanted
        for other, word in con.execute(
            f"select run_id, {name} from {runs.sql} where run_id in (select unnest(?::varchar[])) and {name} <> ? order by run_id <> ?, run_id",
            [[run_id, *baseline], value, run_id],
        ).fetchall()
    ]


def _place(con: "duckdb.DuckDBPyConnection", run_id: str) -> list[str]:
    """Why telemetry is missing: the run has no time or no place, or its nodes were not sampled."""
    tables = {name for (name,) in con.execute("select distinct table_name from duckdb_columns()").fetchall()}
    if not {"run_window", "run_node", "run_telemetry"} <= tables:
        return []
    if not con.execute("select 1 from run_window where run_id = ? and window_kind = 'run'", [run_id]).fetchall():
        return ["the start and end of the run are not known, so only evidence that names the run or its job was looked at"]
    if not con.execute("select 1 from run_node where run_id = ?", [run_id]).fetchall():
        return ["nothing states where the run ran (its nodes, GPUs, pods or job), so only evidence that names the run was looked at"]
    nodes, sampled = ({name for (name,) in con.execute(_SHORT_NODES.format(table), [run_id]).fetchall()} for table in ("run_node", "run_telemetry"))
    lacking = sorted(nodes - sampled)
    if not sampled or not lacking:
        return []
    names = ", ".join([*lacking[:3], *(["..."] if len(lacking) > 3 else [])])
    has = "has" if len(lacking) == 1 else "have"
    return [f"{len(lacking)} of the run's {counted(len(nodes), 'node')} {has} no telemetry: {names}"]
