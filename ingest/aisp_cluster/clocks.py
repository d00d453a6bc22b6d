"""Clocks of GPUs around a test: a document beside it (`..._clock_lock.json`), or a list in its own (`app_clocks`)."""

from __future__ import annotations

import re
from typing import Any

from warehouse.landing.readers.json_text import Element
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Report

from .documents import Document
from .names import part_of
from .run import ClusterRun
from .times import moment

_OUTPUT = re.compile(r"--output(?:-csv|-json)?[ =]'?\S*?structured/([^\s']+)")
_OF_A_RANK = frozenset({"clocks", "app_sm_mhz"})
_CLOCKS = {"application_sm_mhz": "sm", "application_memory_mhz": "mem"}


def app_clocks(found: Document) -> Element | None:
    """The list of clocks in a test's document, by what is in it."""
    lists = (pair for pair in found.pairs.values() if isinstance(pair.value, list))
    return next((pair for pair in lists if any(isinstance(item, dict) and item.keys() & _OF_A_RANK for item in pair.value)), None)


def land_app_clocks(cluster: ClusterRun, run: str, raw_path: str, found: Document, clocks: Element) -> list[str]:
    """Add the clocks that a test's document lists, a row a rank. The nodes that they name."""
    nodes = []
    for element in found.inside(clocks):
        record = found.record(element)
        node = record.text("node") or record.text("hostname")
        node = cluster.label_of.get(node, node) if node else None
        nodes += [node] if node else []
        rank = record.count("global_rank" if "global_rank" in record.values else "rank")
        gpu = record.count("physical_gpu" if "physical_gpu" in record.values else "physical_device")
        _land(cluster, raw_path, element, record, run_id=run, node=node, gpu=gpu, rank_id=rank)
    return sorted(set(nodes))


def land_clock_lock(cluster: ClusterRun, raw_path: str, stem: str, run_of_stem: dict[str, str]) -> None:
    """Add the clocks that a command was run under. They belong to the run whose file has the same name, or that the command writes."""
    report = Report(cluster.buffer, raw_path, None)
    found = Document(cluster.bundle, raw_path, report)
    part = part_of(stem, cluster.labels)
    name = re.sub(r"_(?:leader|node\d+)$", "", stem.removesuffix("_clock_lock"))
    run = next((run_of_stem[name + rest] for rest in ("", "_serve", "_summary") if name + rest in run_of_stem), None)
    if run is None and part.test.endswith("_worker_clock_lock"):  # of another node than the one that the test's file is named after
        test = part_of(stem.removesuffix("_worker_clock_lock") + "_serve", cluster.labels).test
        runs = {found for of_stem, found in run_of_stem.items() if part_of(of_stem, cluster.labels).test == test}
        run = runs.pop() if len(runs) == 1 else None
    output = _OUTPUT.search(found.text("cmd") or "")
    if run is None and output and part.gpu is not None:  # one row of a table a GPU
        run = run_of_stem.get(f"{output[1].removeprefix(f'{cluster.id}_').rpartition('.')[0]}/{part.gpu}")
    whole = Record({key: pair.value for key, pair in found.pairs.items()}, report.flag(Element(0, len(found.data), 1, None, None)))
    shared: dict[str, Any] = {
        "run_id": run, "node": part.node, "exit_code": whole.count("returncode"), "started_at": moment(whole, "command_start_ts"),
        "ended_at": moment(whole, "command_end_ts"), "is_lock_required": _flag(whole.values.get("require_clock_lock")),
    }
    if "locks" in found.pairs and isinstance(found.value("locks"), list):
        for element in found.inside(found.pairs["locks"]):
            record = found.record(element)
            _land(cluster, raw_path, element, record, gpu=record.count("physical_gpu"), **shared)
    elif found.pairs:
        report("missing-key", "the document has no list of locks", 0, len(found.data), severity="error")


def _land(cluster: ClusterRun, raw_path: str, element: Element, record: Record, **columns: Any) -> None:
    clocks = record.within("clocks") if isinstance(record.values.get("clocks"), dict) else record
    is_nested = clocks is not record
    names = ("applications", "current") if is_nested else ("app", "cur")
    numbers = {name: clocks.number(f"{names[0]}_{key}_mhz") for name, key in _CLOCKS.items()}
    numbers |= {f"current_{name.partition('_')[2]}": clocks.number(f"{names[1]}_{key}_mhz") for name, key in _CLOCKS.items()}
    cluster.buffer.add(
        "aisp_clock", raw_path, element.offset, element.length, cluster_run_id=cluster.id,
        is_locked=_flag(record.within("lock").values.get("locked")), **numbers, **columns,
    )


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
