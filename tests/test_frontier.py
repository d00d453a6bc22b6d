"""`wh frontier` on load points that are written down here: who competes, what is left out, and what is said of a value of x."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import WhOn

from warehouse.analysis.serving.frontier import Frontier, Frontiers, frontiers
from warehouse.errors import WarehouseError
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.statistics.frontier import OnFrontier, Outside
from warehouse.statistics.interval import NotSupported
from warehouse.transform.build.build import build

COLUMNS = "run_id, curve_key, load_kind, load, status, copy_of, model, framework, user_tokens_per_s, gpu_tokens_per_s, ttft_ms, mood"
# Two configurations of model m, one of model n. The users of "slow" wait longer for less.
ROWS: list[tuple[Any, ...]] = [
    ("a1", "fast", "concurrency", 1.0, "succeeded", None, "m", "f", 100.0, 10.0, 5.0, 1.0),
    ("a2", "fast", "concurrency", 1.0, "succeeded", None, "m", "f", 104.0, 10.4, 5.2, 1.0),
    ("a3", "fast", "concurrency", 8.0, "succeeded", None, "m", "f", 50.0, 60.0, 9.0, 1.0),
    ("a4", "fast", "concurrency", 8.0, "succeeded", None, "m", "f", 50.2, 61.0, 9.1, 1.0),
    ("b1", "slow", "concurrency", 8.0, "succeeded", None, "m", "s", 45.0, 40.0, 12.0, 1.0),
    ("b2", "slow", "concurrency", 8.0, "unknown", None, "m", "s", 45.5, 41.0, 12.1, 1.0),
    ("b3", "slow", "concurrency", 16.0, "failed", None, "m", "s", 900.0, 900.0, 1.0, 1.0),
    ("b4", "slow", "concurrency", 16.0, "succeeded", "b1", "m", "s", 800.0, 800.0, 1.0, 1.0),
    ("b5", "slow", "concurrency", 32.0, "succeeded", None, "m", "s", None, 70.0, 1.0, 1.0),
    ("b6", "slow", "concurrency", 64.0, "succeeded", None, "m", "s", float("inf"), 70.0, 1.0, 1.0),
    ("c1", "other", "request_rate", 2.5, "succeeded", None, "n", "f", 1.0, 1.0, 1.0, 1.0),
]


def literal(value: Any) -> str:
    if value is None:
        return "null"
    return f"'{value}'" if isinstance(value, str) else f"'{value}'::double"


def made(root: Path, rows: list[tuple[Any, ...]], role: str = "role: load_points") -> Project:
    project = init_project(root / "project", bare=True)
    values = ",\n".join(f"({', '.join(map(literal, row))})" for row in rows)
    types = dict.fromkeys(("load", "user_tokens_per_s", "gpu_tokens_per_s", "ttft_ms", "mood"), "double")
    items = ", ".join(f"{name}::{types.get(name, 'varchar')} as {name}" for name in COLUMNS.split(", "))
    sql = f"/*\n{role}\nmaterialized: table\n*/\nselect {items} from (values {values}) as v ({COLUMNS})"
    (project.root / "models" / "point.sql").write_text(sql)
    build(project)
    return project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return made(tmp_path_factory.mktemp("points"), ROWS)


def found(project: Project, **asked: Any) -> Frontiers:
    return frontiers(project, "user_tokens_per_s", "gpu_tokens_per_s", **asked)


def of_model(project: Project, model: str, **asked: Any) -> Frontier:
    return next(each for each in found(project, **asked).frontiers if each.scope == {"model": model})


def test_points_are_means_of_runs_and_compete_within_their_scope(project: Project) -> None:
    points = of_model(project, "m").points
    assert [(point.curve_key, point.load, point.x, point.y, point.run_ids, point.is_on_frontier) for point in points] == [
        ("slow", 8.0, 45.25, 40.5, ("b1", "b2"), False),
        ("fast", 8.0, 50.1, 60.5, ("a3", "a4"), True),
        ("fast", 1.0, 102.0, 10.2, ("a1", "a2"), True),
    ]
    assert all(point.probability is not None for point in points)
    assert [round(point.probability or 0, 2) for point in points] == [0.0, 1.0, 1.0]
    (alone,) = of_model(project, "n").points
    assert alone.is_on_frontier and alone.probability is None
    assert isinstance(of_model(project, "n").probability, NotSupported)


def test_what_is_left_out_is_counted_by_its_reason(project: Project) -> None:
    assert found(project).left_out == {"failed": 1, "the same measurement as another run": 1, "without user_tokens_per_s": 2}


def test_all_compete_where_there_is_no_scope(project: Project) -> None:
    (frontier,) = found(project, scope=[]).frontiers
    assert frontier.scope == {} and len(frontier.points) == 4
    (frontier,) = found(project, scope=["framework"], where="framework=s").frontiers
    assert frontier.scope == {"framework": "s"} and [point.run_ids for point in frontier.points] == [("b1", "b2")]


def test_conditions_choose_points(project: Project) -> None:
    assert {point.curve_key for each in found(project, where="curve_key!=f*").frontiers for point in each.points} == {"slow", "other"}
    assert {point.load for each in found(project, where="model=m,load=8*").frontiers for point in each.points} == {8.0}


def test_a_run_that_has_a_load_twice_counts_once(tmp_path: Path) -> None:
    rows = [ROWS[0], (*ROWS[0][:8], 200.0, 20.0, 5.0, 1.0), (ROWS[1][0], *ROWS[0][1:])]
    (point,) = of_model(made(tmp_path, rows), "m").points
    assert (point.x, point.y, point.run_ids) == (125.0, 12.5, ("a1", "a2"))  # means of 150 and 100, of 15 and 10


def test_the_better_direction_is_in_the_name_or_asked_for(project: Project) -> None:
    by_time = frontiers(project, "ttft_ms", "gpu_tokens_per_s", where="model=m")
    assert (by_time.x.better, by_time.y.better) == ("lower", "higher")
    assert [point.load for point in by_time.frontiers[0].points if point.is_on_frontier] == [32.0, 64.0]
    worst = frontiers(project, "user_tokens_per_s:lower", "gpu_tokens_per_s:lower", where="model=m").frontiers[0]
    assert [(point.curve_key, point.load) for point in worst.points if point.is_on_frontier] == [("slow", 8.0), ("fast", 1.0)]


def test_a_value_of_x(project: Project) -> None:
    assert of_model(project, "m", at=60).at == OnFrontier(60, 10.2, "step function of measured points", False)
    between = of_model(project, "m", at=60, interpolate=True).at
    assert isinstance(between, OnFrontier) and between.is_interpolated and 10.2 < between.y < 60.5
    for x in (45.25, 102.1):  # the first one is of a point that is beaten
        assert isinstance(of_model(project, "m", at=x).at, Outside)


def test_the_best_measured_point_within_a_limit(project: Project) -> None:
    """A cap is met by each point that is better, so that no range bounds it."""
    assert [(point := of_model(project, "m", within=x).within) and (point.x, point.y) for x in (0, 60, 1000)] == [
        max(((point.x, point.y) for point in of_model(project, "m").points), key=lambda each: each[1]), (102, 10.2), None
    ]


@pytest.mark.parametrize(("x", "asked", "code", "words"), [
    ("user_tokens", {}, "WH522", "did you mean user_tokens_per_s?"), ("mood", {}, "WH522", "write mood:higher or mood:lower"),
    ("ttft_ms:faster", {}, "WH522", "write ttft_ms:higher or ttft_ms:lower"), ("ttft_ms", {"where": "model=x"}, "WH522", "no point matches"),
    ("ttft_ms", {"where": "model"}, "WH502", "write name=value"), ("ttft_ms", {"where": "colour=red"}, "WH522", "has no column colour"),
    ("ttft_ms", {"scope": ["mode"]}, "WH522", "did you mean model"),
])
def test_what_is_not_there_is_refused(x: str, asked: dict[str, Any], code: str, words: str, project: Project) -> None:
    with pytest.raises(WarehouseError) as caught:
        frontiers(project, x, "gpu_tokens_per_s", **asked)
    assert caught.value.code == code and words in str(caught.value)


def test_a_project_without_load_points(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError) as caught:
        found(made(tmp_path, ROWS, role="description: rows"))
    assert caught.value.code == "WH521"


def test_the_command(project: Project, wh_on: WhOn) -> None:
    axes = ("--x", "user_tokens_per_s", "--y", "gpu_tokens_per_s")
    status, out, err = wh_on(project, "frontier", *axes, "--at", "60")
    assert status == 0 and "model m: 2 of 3 points on the frontier" in out
    assert "at user_tokens_per_s 60: gpu_tokens_per_s 10.2 (measured; step function of measured points)" in out
    assert "1 row left out: failed" in err and "probabilities of 1 scope: not supported, needs 2 runs (has 1)" in err
    _, out, _ = wh_on(project, "frontier", *axes, "--at", "60", "--interpolate")
    assert "interpolated, not measured" in out
    status, out, _ = wh_on(project, "frontier", *axes, "--json")
    document = json.loads(out)
    assert status == 0 and [len(each["points"]) for each in document["frontiers"]] == [3, 1]
    assert document["x"] == {"column": "user_tokens_per_s", "better": "higher"}
