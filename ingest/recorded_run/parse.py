"""Turns a recording into landing rows: each run, its indicator, its host and its GPUs, beside what all runs share."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.rows import RowBuffer
from warehouse.landing.telemetry import Series

from .bundles import RECORDING, SLOT
from .description import shared_columns
from .effective import add_settings
from .indicator import read_indicator
from .runs import add_host_samples, add_run
from .samples import add_samples
from .slot import add_slot
from .workload import workload_documents

_MOST_REPEATS = 10**9  # a greater number is damage


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    shared = shared_columns(bundle, buffer)
    runs = sorted({path.partition("/")[0] for path in bundle.manifest.by_path if "/" in path})
    # A damaged description names no recording: then the bundle itself is taken as one.
    recording = shared["recording_id"] or bundle.digest[:16]
    part_of = shared["part_of"]
    if part_of == "" or part_of and len(runs) > 1:
        message = "it is the recording of a node, and does not name the one run that it is a part of"
        buffer.issue("part-of-no-run", message, RECORDING, severity="error")
        return
    run_ids = {run: part_of or f"recorded_run/{recording}/{run}" for run in runs}
    # What a node printed is in the recording of its launcher, too.
    indicators = {run: None if part_of else read_indicator(bundle, f"{run}/stdout.txt", run_ids[run], buffer) for run in runs}
    documents = workload_documents(indicators, shared)
    series = Series(buffer, "recorded_run")
    statuses = []
    asked_for = shared["repeats"]
    is_count = isinstance(asked_for, int) and not isinstance(asked_for, bool) and asked_for < _MOST_REPEATS
    shared["missing_repeats"] = max(asked_for - len(runs), 0) if is_count else None
    if SLOT in bundle.manifest.by_path:
        add_slot(bundle, run_ids, buffer)
    for run, indicator in indicators.items():
        statuses.append(add_run(bundle, run, run_ids[run], shared, indicator, documents[run], buffer))
        add_host_samples(bundle, run, run_ids[run], buffer)
        if not part_of:
            add_settings(bundle, run, run_ids[run], buffer)
        yield from add_samples(bundle, run, run_ids[run], shared["hostname"], series, buffer)
        yield from buffer.full()
    if shared["missing_repeats"] and "interrupted" not in statuses:
        buffer.issue("runs-missing", f"{asked_for} runs were asked for, {len(runs)} are here", RECORDING)
