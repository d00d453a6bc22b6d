"""Recordings made by `wh record`: one command, N runs, each with its resource usage, its host and its output.

A value that the recorder could not know is NULL, a run that failed is a row with that status.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from warehouse.landing.contract import Bundle, BundleDraft, Tree
from warehouse.landing.rows import RowBuffer

from .bundles import RECORDING, cut
from .description import shared_columns
from .indicator import read_indicator
from .runs import add_host_samples, add_run
from .tables import TABLES
from .workload import workload_documents


class RecordedRunIngestor:
    """Recognises a recording by the marker that opens its `recording.json`."""

    name = "recorded_run"
    version = 2
    formats = (
        "recordings of wh record: a command's runs with output, resource usage and host samples",
        "performance indicators in standard output: Thoth's JSON objects with @parameters and @result",
    )
    tables = TABLES

    def bundles(self, tree: Tree) -> Iterator[BundleDraft]:
        return cut(tree)

    def parse(self, bundle: Bundle) -> Iterator[tuple[str, pa.RecordBatch]]:
        buffer = RowBuffer(TABLES, bundle.digest)
        shared = shared_columns(bundle, buffer)
        runs = sorted({path.partition("/")[0] for path in bundle.manifest.by_path if "/" in path})
        # A damaged description names nobody: then the bundle itself stands for the recording.
        recording = shared["recording_id"] or bundle.digest[:16]
        run_ids = {run: f"recorded_run/{recording}/{run}" for run in runs}
        indicators = {run: read_indicator(bundle, f"{run}/stdout.txt", run_ids[run], buffer) for run in runs}
        documents = workload_documents(indicators, shared)
        statuses = []
        for run, indicator in indicators.items():
            statuses.append(add_run(bundle, run, run_ids[run], shared, indicator, documents[run], buffer))
            add_host_samples(bundle, run, run_ids[run], buffer)
            yield from buffer.full()
        asked_for = shared["repeats"]
        if isinstance(asked_for, int) and len(runs) < asked_for and "interrupted" not in statuses:
            buffer.issue("runs-missing", f"{asked_for} runs were asked for, {len(runs)} are here", RECORDING)
        yield from buffer.rest()


INGESTOR = RecordedRunIngestor()
