"""Which cells a session has, where a spec searches: those that were best so far, or those that a program of the user proposes."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warehouse.campaign.advice import Advice
from warehouse.campaign.cells import Cell
from warehouse.campaign.measured import advise
from warehouse.campaign.spec import Spec
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.project.project import Project
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build

_TIMEOUT_S = 3600
_MOST_LOG = 100_000  # characters of what a program said
_RESULTS = """
select
    slot.cell, slot.factors, slot.session, slot.status, slot.status_reason, slot.run_id, benchmark_case_id, workload, point, metric, unit, better,
    value
from campaign_cell_fact as slot
left join campaign_measurement as measured on measured.run_id = slot.run_id
where slot.campaign_key = ? and slot.status <> 'missing'
order by all
"""


def front_runners(project: Project, campaign: str, metric: str, count: int, cells: Collection[str]) -> dict[str, float]:
    """The best `count` of some cells of each piece of work of a campaign by `metric`, and the baseline, each with its typical value. Raises as
    `advise`."""
    found: dict[str, float] = {}
    for work in advise(project, campaign, metric).works:
        found |= _best(work, [name for name in work.cells if name in cells], count)
    return found


def halved(project: Project, campaign: str, metric: str, keep: float, cells: Collection[str]) -> tuple[dict[str, float], dict[str, float]]:
    """The share `keep` of some cells that is the best of each piece of work, at least two, and the baseline; and the cells that are left out. Each
    with its typical value. Raises as `advise`."""
    kept: dict[str, float] = {}
    left_out: dict[str, float] = {}
    for work in advise(project, campaign, metric).works:
        ours = [name for name in work.cells if name in cells]
        kept |= _best(work, ours, max(2, math.ceil(len(ours) * keep)))
        left_out |= {name: work.typical(name) for name in ours}
    return kept, {name: value for name, value in left_out.items() if name not in kept}


def _best(work: Advice, names: Sequence[str], count: int) -> dict[str, float]:
    ranked = sorted(names, key=work.typical, reverse=work.higher_is_better)
    base = work.baseline
    return {name: work.typical(name) for name in (*ranked[:count], *([base.cell] if base else []))}


def results(project: Project, campaign: str) -> list[dict[str, Any]]:
    """One object for each run of a campaign and metric, and one for each run without any: as a program that searches is given them."""
    con = open_build(current_build(project).path)
    try:
        found = con.execute(_RESULTS, [f"matrix/{campaign}"])
        names = [column[0] for column in found.description]
        rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    finally:
        con.close()
    return [{**row, "factors": json.loads(row["factors"] or "{}")} for row in rows]


def question(spec: Spec, campaign: str, session: int, found: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What a program that searches reads on standard input."""
    factors = {factor.name: list(factor.values) for factor in spec.factors}
    return {"campaign": campaign, "session": session, "sessions": spec.sessions, "factors": factors, "results": list(found)}


def proposed(
    command: Sequence[str], asked: Mapping[str, Any], cells: Mapping[str, Cell], folder: Path, environment: Mapping[str, str],
) -> tuple[list[str], str]:
    """The cells that a program proposes, those of the baseline among them, and what it said on standard error. No cells: it wants no more. Raises
    WH403 for one that fails, and for an answer that is not cells of the campaign."""
    try:
        done = subprocess.run(
            list(command), input=json.dumps(asked), cwd=folder, env=dict(environment), capture_output=True, text=True, timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _stopped(str(error)) from error
    if done.returncode:
        raise _stopped(f"it ended with exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    try:
        answer = json.loads(done.stdout)
        wanted = [{str(name): _text(value) for name, value in cell.items()} for cell in answer["cells"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _stopped("it did not print a JSON object with a list of cells") from error
    by_values = {tuple(sorted(cell.values.items())): name for name, cell in cells.items()}
    chosen: dict[str, None] = {}
    for values in wanted:
        name = by_values.get(tuple(sorted(values.items())))
        if name is None:
            raise _stopped(f"it proposed a cell that the campaign does not have: {json.dumps(values)[:200]}")
        chosen[name] = None
    if chosen:
        chosen |= {name: None for name, cell in cells.items() if cell.is_baseline}
    return list(chosen), done.stderr[-_MOST_LOG:]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _stopped(message: str) -> WarehouseError:
    hint = 'it reads the results as JSON, and prints {"cells": [{"FACTOR": VALUE, ...}, ...]}'
    return WarehouseError("WH403", printable(message), "search.command", hint, ExitCode.FAILED)
