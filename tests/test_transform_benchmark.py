"""The transform benchmark: all tools build the same, what is missing is said, targets are judged by their bounds."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks" / "transform"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))

    def load(name: str) -> ModuleType:
        return importlib.import_module(name)

    return load


@pytest.mark.exhaustive
def test_a_small_run_builds_the_same_with_each_tool_and_names_the_absent(tmp_path: Path) -> None:
    command = [
        sys.executable, str(FOLDER / "run.py"), "--json", "--runs", "1", "--rows", "10000", "--projects", "star",
        "--tools", "floor-atomic,wh,wh-plain-agg,sqlmesh", "--venvs", str(tmp_path),
    ]
    document = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    found = document["projects"][0]
    measured = {(cost["tool"], cost["scenario"]) for cost in found["costs"]}
    ours = {(tool, scenario) for tool in ("wh", "wh-plain-agg") for scenario in ("full", "noop", "changed", "append")}
    assert measured == {("floor-atomic", scenario) for scenario in ("full", "changed", "append")} | ours
    assert all(cost["cpu_s"] > 0 for cost in found["costs"])
    assert (found["failures"], document["absent"]) == ({}, ["sqlmesh"])
    # 100 days of 100 samples, and the day that was appended.
    assert all(answer.startswith("fct_sample 10100 2026-11-19 ") for answer in found["answers"].values())
    assert found["answers"].keys() == {"floor-atomic", "wh", "wh-plain-agg"}
    assert len(set(found["answers"].values())) == 1


def test_an_unknown_tool_is_refused_with_those_that_are_known() -> None:
    command = [sys.executable, str(FOLDER / "run.py"), "--tools", "wh,make"]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 2 and "make: known are floor-atomic, wh, " in refused.stderr


@pytest.mark.parametrize(
    ("project", "scenario", "cpu_s", "told"),
    [
        ("star", "full", 2.5, ["1.25 x floor = 2.50: met"]),
        ("star", "full", 2.51, ["1.25 x floor = 2.50: MISSED"]),
        ("star", "noop", 0.3, ["0.30 s: met", "dbt-state / 10 = 0.29: MISSED", "sqlmesh / 10: not measured here"]),
        ("star", "changed", 0.8, ["0.25 x floor full + 0.3 s = 0.80: met"]),
        ("star", "append", 1.3, ["floor append + 0.25 s = 1.25: MISSED"]),
        ("chain1000", "full", 5.1, ["2.5 x floor = 5.00: MISSED"]),
        ("chain1000", "noop", 0.71, ["0.70 s: MISSED"]),
        ("chain1000", "changed", 1.0, []),
    ],
)
def test_targets(module: Any, project: str, scenario: str, cpu_s: float, told: list[str]) -> None:
    cost = module("measure").Cost
    seconds = {("full", "floor-atomic"): 2.0, ("append", "floor-atomic"): 1.0, ("noop", "dbt-state"): 2.9}
    medians = {key: cost(cpu, 1, 1) for key, cpu in seconds.items()}
    found = module("targets").targets(project, scenario, medians)
    assert [target.told(cost(cpu_s, 1, 1)) for target in found] == told


@pytest.mark.parametrize("models", ["star", "chain"])
def test_an_edit_changes_one_model_and_order_puts_it_after_what_it_reads(module: Any, models: str) -> None:
    projects = module("projects")
    before = projects.star() if models == "star" else projects.chain(20)
    edited = {model.name for model, old in zip(projects.changed(before), before, strict=True) if model != old}
    assert edited == {"mart_commit_delta" if models == "star" else "m0010"}
    order = [model.name for model in projects.ordered(list(reversed(before)))]
    assert len(order) == len(before) == 20
    pairs = (("stg_run", "fct_run"), ("fct_sample", "agg_run_metric"), ("m0001", "m0002"), ("m0019", "m0020"))
    for first, then in pairs:
        assert first not in order or order.index(first) < order.index(then)
