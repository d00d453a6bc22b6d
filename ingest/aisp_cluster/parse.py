"""Turns a cluster run into landing rows, file by file.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.json_text import Element
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Place, Report, clean, is_non_finite, number_in
from warehouse.landing.rows import RowBuffer

from . import collective, serving
from .bundles import MANIFEST, STEPS, STRUCTURED
from .clocks import app_clocks, land_app_clocks, land_clock_lock
from .commands import is_commands, land_commands
from .csv_rows import Cell, csv_rows
from .documents import Document
from .manifest import land_manifest
from .names import Part, part_of
from .run import ClusterRun, Stated, land_run, land_values, texts
from .steps import land_steps
from .times import moment

_META = "_meta.json"
# Tests by the end of their files' names, each with the keys that other tables hold.
_FABRIC = {"fio": r"results/[^/]+/", "nvbandwidth": r"key_sum_gbps/|\w+/[^/]+/sum_gbps$", "iperf3_oob_tcp": r"iperf3/"}
_TESTS = (
    "allgather_control_plane", "allreduce_latency_comp", "allreduce_stability", "nccl_algo_comparison", "nccl_env_sensitivity", "c2c_memcpy",
    "checkpoint_io", "numa_mem_bw", "mamf_summary", "cluster_perf_grouped_gemm_summary", "cluster_perf_fp4_smoke", "fp4_smoke_skew_guard",
    "torchrun_connectivity_probe", "cluster_health_suite_summary", "node_parity_summary", "gpu_stream", "vllm_multinode_slo_goodput",
)
_TEXT_COLUMNS = frozenset({"dtype", "gpu_name"})
_RESTATED = re.compile(r"(?:nccl|torchdist|iperf3|connectivity_probe)/")  # of the health suite's summary: what has files of its own
_STATED_AT = ("timestamp", "timestamp_utc", "created_at_utc")
_GOOD, _BAD = frozenset({"ok", "pass", "passed", "success", "succeeded"}), frozenset({"error", "fail", "failed", "timeout"})


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    cluster = ClusterRun(bundle, buffer, clean(str(bundle.manifest.identity.get("cluster_run_id")))[:256])
    roles = defaultdict[str | None, list[str]](list)
    for file in bundle.manifest.files:
        roles[file.role].append(file.raw_path)
    for raw_path in roles[MANIFEST]:
        cluster.label_of |= land_manifest(bundle, buffer, raw_path, cluster.id)
    stems = {_stem(cluster, raw_path): raw_path for raw_path in sorted(roles[STRUCTURED], key=_place)}
    described = {stem.removesuffix(_META) for stem in stems if stem.endswith(_META)}
    cluster.labels = frozenset({*cluster.label_of.values(), *described})
    for raw_path in roles[STEPS]:
        cluster.steps = land_steps(bundle, buffer, raw_path, cluster.id)
    run_of_stem: dict[str, str] = {}
    locks = []
    for name, raw_path in stems.items():
        stem, _, ending = name.rpartition(".")
        if stem.endswith("clock_lock") and ending == "json":
            locks.append((stem, raw_path))
        elif ending == "json":
            _json(cluster, raw_path, stem, run_of_stem)
        elif ending in ("csv", "jsonl"):
            _table(cluster, raw_path, stem, ending == "csv", stems, run_of_stem)
        yield from buffer.full()
    for stem, raw_path in locks:
        land_clock_lock(cluster, raw_path, stem, run_of_stem)
    yield from buffer.full()


def _place(raw_path: str) -> tuple[int, str]:
    """Nodes before their tests, and documents before the tables that repeat them or belong to them."""
    endings = (_META, ".json", ".jsonl")
    return next((place for place, ending in enumerate(endings) if raw_path.endswith(ending)), len(endings)), raw_path


def _stem(cluster: ClusterRun, raw_path: str) -> str:
    return raw_path.rpartition("/")[2].removeprefix(f"{cluster.id}_")


def _ends(test: str, name: str) -> bool:
    return test == name or test.endswith(f"_{name}")


def _json(cluster: ClusterRun, raw_path: str, stem: str, run_of_stem: dict[str, str]) -> None:
    part = part_of(stem, cluster.labels)
    is_known = part.test.endswith("_perf") or any(
        _ends(part.test, name) for name in (*_TESTS, *_FABRIC, serving.MULTINODE, "nccl", "train_step")
    )
    is_commands_name = part.test in ("meta", "software_versions")
    if not (is_known or is_commands_name or "nccl" in part.test or "allreduce" in part.test):
        return
    report = Report(cluster.buffer, raw_path, None)
    found = Document(cluster.bundle, raw_path, report)
    if is_commands_name:
        if is_commands(found):
            land_commands(cluster, raw_path, part.test, part.node, found)
        elif found.pairs:
            report("missing-key", "the document has no commands", 0, len(found.data), severity="error")
        return
    part = replace(part, test=part.test.removesuffix("_summary") if _ends(part.test, "mamf_summary") else part.test)
    points = collective.listing(found)
    kind = (
        "collective" if points else "serving" if _ends(part.test, serving.MULTINODE) else "training" if _ends(part.test, "train_step")
        else next((name.partition("_")[0] for name in _FABRIC if _ends(part.test, name)), None)
        or ("indicator" if is_known and not _ends(part.test, "nccl") and not part.test.endswith("_perf") else None)
    )
    if kind is None:
        if is_known and found.pairs:
            report("missing-key", "the document has no list of results", 0, len(found.data), severity="error")
        return
    run = cluster.run_id(part, raw_path, stem)
    run_of_stem[stem] = run
    clocks = app_clocks(found)
    nodes = land_app_clocks(cluster, run, raw_path, found, clocks) if clocks else []
    without = frozenset({*((str(clocks.key),) if clocks else ()), *(("results",) if points else ())})
    others = next((pattern for name, pattern in _FABRIC.items() if _ends(part.test, name)), None)
    pattern = re.compile(others) if others else _RESTATED if _ends(part.test, "cluster_health_suite_summary") else None
    parameters = dict(land_values(cluster, run, raw_path, part.test, found.values(without), report, pattern))
    whole = Place(0, len(found.data))
    record = Record({key: pair.value for key, pair in found.pairs.items()}, report.flag(Element(*whole[:2], 1, None, None)))
    status = found.text("status")
    word = (status or "").casefold()
    ranks = next((record.count(key) for key in ("total_ranks", "world_size") if key in record.values), None)
    stated = Stated(
        kind, found.text("run_id"), texts(found.value("hosts")) or nodes, ranks, found.text("command"),
        "nccl-tests" if found.text("command") else "torch.distributed" if points else None,
        "succeeded" if word in _GOOD else "failed" if word in _BAD else None,
        found.text("failure_reason") or found.text("reason") or (status if word in _BAD else None),
        next((moment(record, key) for key in _STATED_AT if key in record.values), None), parameters,
    )
    land_run(cluster, run, raw_path, whole, part, stated)
    if points:
        collective.land_points(cluster, run, raw_path, found, points)
    elif kind == "serving":
        _multinode(cluster, run, raw_path, found, record)
    elif kind == "training":
        _train_steps(cluster, run, raw_path, found)


def _multinode(cluster: ClusterRun, run: str, raw_path: str, found: Document, record: Record) -> None:
    """The point of a model that several nodes served: its settings are at the top, its figures in `metrics`."""
    metrics = record.within("metrics")
    place = found.pairs.get("metrics", Place(0, len(found.data)))
    columns = serving.columns_of(metrics, place, found.report, Record({**metrics.values, **record.values}, record.flag))
    serving.land_points(cluster.buffer, run, raw_path, [serving.Point(place, columns, 0)])


def _train_steps(cluster: ClusterRun, run: str, raw_path: str, found: Document) -> None:
    results = found.pairs.get("results")
    pairs = found.inside(results) if results and isinstance(results.value, dict) else iter(())
    listed = next((pair for pair in pairs if pair.key == "step_times_s"), None)
    if listed is None or not isinstance(listed.value, list):
        if found.pairs:
            found.report("missing-key", "the document has no list of step times", 0, len(found.data), severity="error")
        return
    for index, element in enumerate(found.inside(listed), 1):
        seconds = Record({"step_times_s": element.value}, found.report.flag(element)).number("step_times_s")
        cluster.buffer.add("aisp_train_step", raw_path, element.offset, element.length, run_id=run, step_index=index, step_time_s=seconds)


def _table(cluster: ClusterRun, raw_path: str, stem: str, is_csv: bool, stems: dict[str, str], run_of_stem: dict[str, str]) -> None:
    part = part_of(stem, cluster.labels)
    report = Report(cluster.buffer, raw_path, None)
    if _ends(part.test, serving.SWEEP) or _ends(part.test, serving.RATES):
        if not (is_csv and f"{stem}.jsonl" in stems):
            _sweep(cluster, raw_path, stem, part, is_csv, report, run_of_stem)
    elif is_csv and _ends(part.test, "gemm_gpu_sanity"):
        _gpu_rows(cluster, raw_path, stem, part, report, run_of_stem)
    elif is_csv and _ends(part.test, "mamf"):
        _shapes(cluster, raw_path, stem, part, report, run_of_stem)


def _sweep(
    cluster: ClusterRun, raw_path: str, stem: str, part: Part, is_csv: bool, report: Report, run_of_stem: dict[str, str]
) -> None:
    of_repeat = defaultdict[int, list[serving.Point]](list)
    for point in serving.points(cluster.bundle.map(raw_path), report, is_csv):
        of_repeat[point.repeats].append(point)
    for repeat, points in of_repeat.items():
        one = part if len(of_repeat) == 1 else replace(part, repeat_index=repeat + 1)
        run = cluster.run_id(one, raw_path, f"{stem}/{repeat}")
        run_of_stem.setdefault(stem, run)
        model, parallel, *lengths = (
            sorted({str(point.columns[name]) for point in points if point.columns[name] is not None})
            for name in ("model", "tensor_parallel", "input_length", "output_length")
        )
        workload: dict[str, Any] = {"model": model, "tensor_parallel": parallel, "input_length": lengths[0], "output_length": lengths[1]}
        whole = Place(0, cluster.bundle.manifest.by_path[raw_path].bytes)
        land_run(cluster, run, raw_path, whole, one, Stated("serving", parameters=workload, tool="vllm"))
        serving.land_points(cluster.buffer, run, raw_path, points)


def _gpu_rows(cluster: ClusterRun, raw_path: str, stem: str, part: Part, report: Report, run_of_stem: dict[str, str]) -> None:
    """A run a row: each GPU was measured by a command of its own, and what was measured again was appended."""
    stood: dict[Part, int] = defaultdict(int)
    for line, cells in csv_rows(cluster.bundle.map(raw_path), report):
        labelled = part_of(cells["label"].text, cluster.labels) if "label" in cells else part
        one = replace(part, node=labelled.node or part.node, gpu=labelled.gpu)
        stood[one] += 1
        if stood[one] > 1:
            one = replace(one, repeat_index=stood[one])
        run = cluster.run_id(one, raw_path, f"{stem}/{line.number}")
        run_of_stem.setdefault(f"{stem}/{one.gpu}", run)
        values = [_element(name, name, cell, report) for name, cell in cells.items() if name != "label"]
        parameters = dict(land_values(cluster, run, raw_path, one.test, values, report, re.compile(r"(?:app|cur)_\w+|physical_gpu")))
        land_run(cluster, run, raw_path, line, one, Stated("indicator", parameters=parameters), is_row=True)


def _element(key: str, name: str, cell: Cell, report: Report) -> Element:
    if cell.text and name not in _TEXT_COLUMNS and number_in(cell.text) is None and not is_non_finite(cell.text):
        report.at("not-a-number", f"{name}: {cell.text[:80]}", cell.place, "error")
    return Element(cell.place.offset, cell.place.length, cell.place.line_number or 1, key, cell.text or None)


def _shapes(cluster: ClusterRun, raw_path: str, stem: str, part: Part, report: Report, run_of_stem: dict[str, str]) -> None:
    """The shapes of a GPU's search for its highest rate; its summary, if it is there, is the run's row."""
    summary = f"{stem}_summary"
    run = run_of_stem.get(summary) or cluster.run_id(part, raw_path, stem)
    for _, cells in csv_rows(cluster.bundle.map(raw_path), report):
        shape = "_".join(cells[name].text for name in ("m", "n", "k", "dtype") if name in cells)
        values = [
            _element(f"shapes/{shape}/{name}", name, cell, report)
            for name, cell in cells.items() if name not in ("label", "m", "n", "k", "dtype", "gpu_name")
        ]
        for _ in land_values(cluster, run, raw_path, part.test, values, report, re.compile(r".*/(?:app|cur)_\w+$")):
            pass
    if summary not in run_of_stem:
        land_run(cluster, run, raw_path, Place(0, cluster.bundle.manifest.by_path[raw_path].bytes), part, Stated("indicator"))

