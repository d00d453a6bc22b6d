"""The runs of a bundle: each test's row, and the rows of its values."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import element_entry
from warehouse.landing.readers.json_text import Element, json_number
from warehouse.landing.readers.text import MAX_VALUE_CHARACTERS, Located, Report, clean, exact_number
from warehouse.landing.rows import RowBuffer, workload_columns
from warehouse.landing.severity import ERROR

from .metrics import OTHER, PARAMETER, kind_of, metric_of
from .names import Part
from .steps import Step, step_of

# The sum of one of nvbandwidth's latency tests, and the largest sum of all its tests, which may be such a one.
_LATENCY_RATE = re.compile(r"(?:^|/)\w*device_latency_\w+(?:/sum_gbps)?$")
_PEAK_SUM = "peak_sum_gbps"
_THIS_NODE = frozenset({"localhost", "127.0.0.1"})
_COMMAND = re.compile(r"(\w+_perf)(?:_mpi)?\s(.*)", re.DOTALL)
_OPTION = re.compile(r"(?:^|\s)-([a-zA-Z])\s+(\S+)")
_ENVIRONMENT = re.compile(r"\b(NCCL_(?!DEBUG|SOCKET|IB_HCA)\w+)=(\S+)")


@dataclass
class ClusterRun:
    """A bundle while it is parsed."""

    bundle: Bundle
    buffer: RowBuffer
    id: str
    labels: frozenset[str] = frozenset()
    label_of: dict[str, str] = field(default_factory=dict)  # of a node, by its host or hostname
    steps: Sequence[Step] = ()
    run_ids: dict[str, str] = field(default_factory=dict)  # by run: the file that states it
    metrics: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # by run: those that have landed

    def run_id(self, part: Part, raw_path: str, stem: str) -> str:
        """The id of a test's run; made of the file's own name if another file has taken it."""
        run = part.run_id(self.id)
        if self.run_ids.setdefault(run, raw_path) != raw_path:
            run = f"{self.id}/{stem}"
            self.run_ids[run] = raw_path
        return run


@dataclass
class Stated:
    """What a test's document states of its run."""

    kind: str
    run_id: str | None = None  # of the suite's script that ran it
    nodes: Sequence[str] = ()
    rank_count: int | None = None
    command: str | None = None
    tool: str | None = None
    status: str | None = None
    reason: str | None = None
    at: datetime | None = None
    parameters: dict[str, Any] = field(default_factory=dict)


def land_run(cluster: ClusterRun, run: str, raw_path: str, place: Located, part: Part, stated: Stated, *, is_row: bool = False) -> None:
    """Add a run's row."""
    step = step_of(part.test, stated.run_id, cluster.id, stated.at, cluster.steps)
    command = stated.command or ""
    program = _COMMAND.search(command)
    workload: dict[str, Any] = {"suite": "aisp_cluster", "test": part.test, **stated.parameters}
    if program:
        workload |= {"program": program[1], "options": dict(_OPTION.findall(program[2])), "environment": dict(_ENVIRONMENT.findall(command))}
    named = [part.node or node if node in _THIS_NODE else cluster.label_of.get(node, node) for node in stated.nodes]
    nodes = list(dict.fromkeys(named or ([part.node] if part.node else [])))
    cluster.buffer.add(
        "aisp_run", raw_path, place.offset, place.length, run_id=run, cluster_run_id=cluster.id, test=part.test, kind=stated.kind,
        node=part.node if nodes == [part.node] else None, gpu=part.gpu, repeat_index=part.repeat_index,
        nodes=",".join(nodes)[:MAX_VALUE_CHARACTERS] or None, node_count=len(nodes) or None, rank_count=stated.rank_count,
        tool=stated.tool, program=program[1] if program else None, stated_status=stated.status, stated_reason=stated.reason,
        step_index=step.index if step else None, is_row=is_row, **workload_columns(workload),
    )


def land_values(
    cluster: ClusterRun, run: str, raw_path: str, test: str, values: Iterable[Element], report: Report, others: re.Pattern[str] | None = None
) -> Iterator[tuple[str, Any]]:
    """Add the row of each value; gives the parameters. Keys that match `others` are neither parameters nor results."""
    seen = cluster.metrics[run]
    values = list(values)
    latencies = {json_number(element.value) for element in values if _LATENCY_RATE.search(str(element.key))}
    for element in values:
        entry = element_entry(element, report)
        is_latency = _LATENCY_RATE.search(entry.key) is not None or entry.key == _PEAK_SUM and entry.number in latencies
        if is_latency:
            report.at("unit-contradicted", f"{entry.key[:80]}: nvbandwidth measures latencies in ns, so this is not a rate", element, ERROR)
            entry = entry._replace(number=None)
        is_other = is_latency or others is not None and others.match(entry.key)
        kind = OTHER if is_other else kind_of(entry.key, element.value, entry.number)
        metric = metric_of(entry.key, test)[:256]
        if metric in seen:
            report.at("duplicate-key", metric[:120], element)
            continue
        seen.add(metric)
        cluster.buffer.add(
            "aisp_entry", raw_path, entry.offset, entry.length, run_id=run, kind=kind, key=entry.key, metric=metric,
            value_type=_type_of(element.value, is_cell=raw_path.endswith(".csv")), value=entry.value, value_number=entry.number,
            line_number=entry.line_number,
        )
        if kind == PARAMETER and element.value is not None:
            yield metric, exact_number(entry.number) if entry.number is not None else entry.value


def texts(value: object) -> list[str]:
    """The texts of a list, or those of an object's values."""
    found = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [clean(item)[:256] for item in found if isinstance(item, str) and item.strip()]


def _type_of(value: object, is_cell: bool) -> str:
    if value is None:
        return "null"
    if is_cell:
        return "string" if json_number(value) is None else "number"
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, (int, float)) else "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
