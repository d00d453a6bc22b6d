"""The first records of a described file as they would be read: for `wh ingest --dry-run`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from warehouse.digest import bytes_digest
from warehouse.errors import counted
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.landing.contract import ISSUE_TABLE, Bundle
from warehouse.landing.described.ingestor import DescribedIngestor
from warehouse.landing.described.tables import FABRIC_TABLE, PARAMETER, REQUEST_TABLE, RUN_TABLE, VALUE_TABLE
from warehouse.landing.rows import LINEAGE_FIELDS, WORKLOAD_FIELDS
from warehouse.landing.severity import SEVERITIES
from warehouse.landing.telemetry import SAMPLE_TABLE, SERIES_TABLE

_MOST_BYTES = 32 << 20  # of a file that is read for a look
_MOST_SAMPLES = 3
_NOT_SHOWN = frozenset({*(field.name for field in LINEAGE_FIELDS), "run_id", "request_index", "test_index", "point_index", "figures_digest"})

_NOT_OF_RUN = _NOT_SHOWN | {"family", "benchmark_case_id", "section", "status", "started_at", *(field.name for field in WORKLOAD_FIELDS)}


def preview(ingestor: DescribedIngestor, file: Path, count: int = 3) -> Iterator[str]:
    """Lines that show the first runs: what each measures, its parameters, and its metrics with their units; then the issues of the file."""
    if file.stat().st_size > _MOST_BYTES:
        return
    data = file.read_bytes()
    manifest = Manifest(ingestor.name, (ManifestFile(file.name, len(data), bytes_digest(data)),))
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for table, batch in ingestor.parse(Bundle(manifest.digest, manifest, lambda _: file)):
        rows[table] += batch.to_pylist()
    for run in islice(rows[RUN_TABLE], count):
        values: dict[tuple[str, str], list[str]] = {}
        for row in rows[VALUE_TABLE]:
            if row["run_id"] == run["run_id"]:
                number = row["value_number"]
                values.setdefault((row["kind"], row["key"]), []).append(
                    str(row["value_text"]) if row["kind"] == PARAMETER else "none" if number is None else f"{number:.6g} {row['unit'] or ''}".strip()
                )
        yield f"{run['benchmark_case_id']}  {run['status']}  {run['started_at'] or 'no time'}"
        if facts := [f"{name} = {value}" for name, value in run.items() if name not in _NOT_OF_RUN and value not in (None, False)]:
            yield f"  {', '.join(facts)}"
        for (kind, key), found in values.items():
            more = f" and {len(found) - _MOST_SAMPLES} more" if len(found) > _MOST_SAMPLES else ""
            yield f"  {kind} {key} = {', '.join(found[:_MOST_SAMPLES])}{more}"
        for table, what in ((REQUEST_TABLE, "request"), (FABRIC_TABLE, "test or point of a fabric")):
            of_run = [row for row in rows[table] if row["run_id"] == run["run_id"]]
            if of_run:
                shown = ", ".join(f"{name} {value}" for name, value in of_run[0].items() if name not in _NOT_SHOWN and value is not None)
                yield f"  {what} 1 of {len(of_run)}: {shown}"
    if len(rows[RUN_TABLE]) > count:
        yield f"and {len(rows[RUN_TABLE]) - count} more runs"
    for series in rows[SERIES_TABLE][:count]:
        samples = [row["value"] for row in rows[SAMPLE_TABLE] if row["series_number"] == series["series_number"]]
        shown = ", ".join("none" if value is None else f"{value:.6g}" for value in samples[:_MOST_SAMPLES])
        yield f"series {series['metric']} {series['labels']} = {shown} {series['unit']}, of {len(samples)} samples"
    if len(rows[SERIES_TABLE]) > count:
        yield f"and {len(rows[SERIES_TABLE]) - count} more series"
    issues = sorted(rows[ISSUE_TABLE], key=lambda issue: SEVERITIES.index(issue["severity"]))
    for issue in issues[:count]:
        line = f" line {issue['line_number']}:" if issue["line_number"] else ""
        yield f"{issue['severity']}:{line} {issue['code']}: {issue['message']}"
    if len(issues) > count:
        yield f"and {counted(len(issues) - count, 'more issue')}: {', '.join(sorted({issue['code'] for issue in issues[count:]}))}"
