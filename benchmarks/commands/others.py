"""Rows that other benchmarks measure: the star of `benchmarks/transform`, TPC-DS of `benchmarks/lineage`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

BENCHMARKS = Path(__file__).resolve().parents[1]


def star() -> Iterator[tuple[str, float, float]]:
    """The build of 20 models over a star, full and with one model changed, as multiples of a plain script; and the targets."""
    told = _measured("transform/run.py", "--projects", "star", "--tools", "floor-atomic,wh")
    [project] = told["projects"]

    def cpu_s(scenario: str, tool: str) -> float:
        return median(each["cpu_s"] for each in project["costs"] if (each["scenario"], each["tool"]) == (scenario, tool))

    for scenario, words, target in (("full", "full", 1.1), ("changed", "one model changed", 1.3)):
        yield f"star of 20 models, {words}, beside a plain script", cpu_s(scenario, "wh") / cpu_s(scenario, "floor-atomic"), target


def tpcds() -> Iterator[tuple[str, float, str, float]]:
    """Traces of TPC-DS at scale 0.01, as multiples of the query, and the peak memory of one; and the targets."""
    told = _measured("lineage/tpcds.py")
    for name, words, unit, target in (
        ("median", "TPC-DS traced: median of its queries", "times", 4), ("Q70", "TPC-DS traced: Q70", "times", 100),
        ("Q23 MB", "TPC-DS traced: peak memory of Q23", "MB", 1000),
    ):
        if told[name] is not None:
            yield words, told[name], unit, target


def _measured(script: str, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, str(BENCHMARKS / script), *arguments, "--json"]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return found
