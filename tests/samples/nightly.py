"""A warehouse of nightly serving runs in which the requests became slower on one night, with their evidence in the real format."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from once import once
from samples.bench_serving import requests, vllm_record, write
from standard import standard_project

from warehouse.cli.main import main
from warehouse.project.project import Project, read_project

NIGHTS, SLOWER_FROM, SLOWER_BY = 30, 18, 1.25


def nightly_project() -> Project:
    """For tests that only read: two runs a night, the last one yesterday."""
    return read_project(once("nightly", _make) / "project")


def _make(folder: Path) -> None:
    project = standard_project(folder / "project")
    first = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) - timedelta(days=NIGHTS)
    for night in range(NIGHTS):
        for repeat in range(2):
            slower = SLOWER_BY if night >= SLOWER_FROM else 1.0
            asked = [
                replace(each, ttft=each.ttft * slower, gaps=tuple(gap * slower for gap in each.gaps))
                for each in requests(60, 1000 + night * 10 + repeat)
            ]
            at = first + timedelta(days=night, minutes=10 * repeat)
            record = vllm_record(asked, model_id="lab/decoder-7b", max_concurrency=8, date=f"{at:%Y%m%d-%H%M%S}")
            write(folder / "results" / f"{at:%Y%m%d-%H%M}" / "h100_tp8_isl128_osl16_conc8.json", record)
    for line in (["ingest", str(folder / "results")], ["build"], ["publish", "serving_results", "--as", "provisional"]):
        assert main(["--project", str(project.root), *line]) == 0, line
