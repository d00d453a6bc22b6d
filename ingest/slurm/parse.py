"""Turns output of Slurm's commands into landing rows.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.node_list import expanded
from warehouse.landing.readers.text import Data, Place, Report, landed_text, report_cut
from warehouse.landing.rows import RowBuffer

from . import accounting, control, json_output, node_table
from .bundles import ACCOUNTING, CONTROL, JSON

_MOST_NODES = 5_000_000  # of all jobs of a file


class _Found(NamedTuple):
    place: Place
    table: str
    columns: dict[str, Any]
    groups: list[tuple[str, str | None]] = []  # of a job: nodes, and the GPUs on each


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    for file in bundle.manifest.files:
        report = Report(buffer, file.raw_path, None)
        data = bundle.map(file.raw_path)
        row_count = node_count = 0
        if file.role != JSON:
            report_cut(data, report)
        for found in _found(file.role, data, report):
            row_count += 1
            nodes = found.columns.get("nodes")
            if found.table == "slurm_job" and nodes is not None and (shown := landed_text(nodes)) != nodes:
                found.columns["nodes"] = shown
                report.at("value-too-large", f"a node list of {len(nodes)} characters", found.place, "note")
            buffer.add(found.table, file.raw_path, found.place.offset, found.place.length, **found.columns)
            if found.table == "slurm_job" and node_count < _MOST_NODES:
                for node, indexes in _allocated(found, nodes, report):
                    node_count += 1
                    buffer.add(
                        "slurm_allocation_entry", file.raw_path, found.place.offset, found.place.length, source=found.columns["source"],
                        job_id=found.columns["job_id"], step=found.columns.get("step"), node_name=node, gpu_indexes=indexes,
                    )
                if node_count >= _MOST_NODES:
                    report.at("too-many-nodes", f"nodes of jobs after this one are left out: {_MOST_NODES} are listed", found.place, "error")
            yield from buffer.full()
        if not row_count:
            report("no-rows", "nothing of Slurm could be read", 0, len(data), severity="error")


def _found(role: str | None, data: Data, report: Report) -> Iterator[_Found]:
    if role == ACCOUNTING:
        for record in accounting.records(data, report):
            place = Place(record.offset, record.length, record.line_number)
            if (columns := accounting.job_columns(record, report.flag(place))) is not None:
                yield _Found(place, "slurm_job", columns)
    elif role == CONTROL:
        yield from _of_control(data, report)
    elif role == JSON:
        yield from _of_json(data, report)
    else:
        for line, table, columns in node_table.rows(data, report):
            yield _Found(Place(line.offset, line.length, line.number), table, columns)


def _of_control(data: Data, report: Report) -> Iterator[_Found]:
    readers = {
        control.JOB: ("slurm_job", control.job_columns), control.NODE: ("slurm_node", control.node_columns),
        control.PARTITION: ("slurm_partition_entry", control.partition_columns),
    }
    for block in control.blocks(data, report):
        place = Place(block.offset, block.length, block.line_number)
        table, columns_of = readers[block.kind]
        if (columns := columns_of(block, report.flag(place))) is not None:
            yield _Found(place, table, columns, block.groups)


def _of_json(data: Data, report: Report) -> Iterator[_Found]:
    readers = {
        json_output.JOBS: ("slurm_job", json_output.job_columns), json_output.NODES: ("slurm_node", json_output.node_columns),
        json_output.GROUPS: ("slurm_partition_entry", json_output.group_columns),
    }
    for item in json_output.items(data, report):
        place = Place(item.offset, item.length)
        if item.section == json_output.STATISTICS:
            table, columns = "slurm_diagnostic_entry", json_output.statistic_columns(item)
        else:
            table, columns_of = readers[item.section]
            columns = columns_of(item.record)
        if columns is not None:
            yield _Found(place, table, columns)


def _allocated(found: _Found, text: str | None, report: Report) -> Iterator[tuple[str, str | None]]:
    """The nodes of a job, each with its GPUs where the evidence states them."""
    if text is None:
        return
    names = expanded(text)
    if names is None:
        report.at("not-a-node-list", text[:120], found.place, "error")
        return
    indexes = {
        node: control.gpu_indexes(gres)
        for nodes, gres in found.groups for node in expanded(nodes) or ()
    }
    yield from ((name, indexes.get(name)) for name in names)
