"""Runs that failed without an export of their own: AIPerf's statistics of several runs name them, and why (ai-dynamo/aiperf
`src/aiperf/exporters/aggregate/aggregate_confidence_json_exporter.py`)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import document
from warehouse.landing.readers.json_text import json_pairs
from warehouse.landing.readers.records import shown
from warehouse.landing.readers.text import Report, landed_text
from warehouse.landing.rows import RowBuffer, workload_columns

AGGREGATE = "aggregate"  # the role of such a file
FAILED = "failed_runs"  # of a bundle's identity: the labels of its runs
_LIST = f"metadata/{FAILED}"
_MAX_BYTES = 4 << 20


def labels_in(head: bytes) -> list[str]:
    """The failed runs that statistics over summaries name. Those over requests and of a sweep name them once more."""
    try:
        stated = json.loads(head[:_MAX_BYTES])["metadata"]
        labels = [label for label, _ in _failures(stated[FAILED])] if stated["aggregation_type"] == "confidence" else []
    except (ValueError, RecursionError, KeyError, TypeError):
        return []
    return labels if len(set(labels)) == len(labels) else []


def run_id(label: str, sha256: str = "?") -> str:
    return f"genai-perf/{label}/{sha256[:12]}"


def landed_failures(bundle: Bundle, buffer: RowBuffer, raw_path: str, labels: Collection[str]) -> None:
    """Add a run for each of `labels`."""
    report = Report(buffer, raw_path, None)
    sha256 = bundle.manifest.by_path[raw_path].sha256
    found: dict[str, tuple[int, int, str]] = {}
    for element in json_pairs(document(bundle, raw_path, report), report, depth=2):
        if element.key == _LIST:
            found = {label: (element.offset, element.length, error) for label, error in _failures(element.value)}
    for label in labels:
        if label not in found:
            report("missing-key", f"{_LIST} does not name {shown(label)}", severity="error")
            continue
        offset, length, error = found[label]
        buffer.add(
            "genai_perf_run", raw_path, offset, length, run_id=run_id(label, sha256), tool="aiperf", failure=landed_text(error) or "unstated",
            **workload_columns({"tool": "aiperf"}),
        )


def _failures(stated: Any) -> Iterator[tuple[str, str]]:
    """The label and error of each."""
    for each in stated if isinstance(stated, list) else ():
        if isinstance(each, dict) and isinstance(label := each.get("label"), str) and label.isprintable() and 0 < len(label) <= 80:
            error = each.get("error")
            yield label, error if isinstance(error, str) else ""
