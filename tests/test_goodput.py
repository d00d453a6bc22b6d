"""`wh goodput` on requests that are written down here: what meets an SLO, what leaves it open, and which load is the largest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import WhOn

from warehouse.analysis.serving.goodput import CurveGoodput, Goodput, goodput
from warehouse.errors import WarehouseError
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.statistics.interval import Interval, NotSupported
from warehouse.transform.build.build import build

POINTS = """/*
role: load_points
*/
select * from (values
    ('a1', 'p', 'c', 'concurrency', 1.0::double, 'succeeded', null, 's1', 'm', 2.0::double, 4),
    ('a2', 'p', 'c', 'concurrency', 1.0, 'succeeded', null, 's2', 'm', 4.0, 4),
    ('b1', 'p', 'c', 'concurrency', 2.0, 'succeeded', null, 's1', 'm', 8.0, 3),
    ('d1', 'p', 'c', 'concurrency', 4.0, 'succeeded', null, 's1', 'm', null, null),
    ('e1', 'p', 'c', 'concurrency', 8.0, 'succeeded', null, 's1', 'm', 1.0, 1),
    ('f1', 'p', 'c', 'concurrency', 16.0, 'failed', null, 's1', 'm', 1.0, 1),
    ('g1', 'p', 'c', 'concurrency', 1.0, 'succeeded', 'a1', 's1', 'm', 1.0, 1)
) as v (run_id, workload_point, curve_key, load_kind, load, status, copy_of, session, model, request_throughput_per_s, completed_count)
"""
# Of a1 three of four meet ttft <= 10 and itl <= 5 together, though each limit by itself is met by three others.
REQUESTS = """/*
role: requests
*/
select * from (values
    ('a1', 'p', 'succeeded', 10.0::double, 5.0::double, 9), ('a1', 'p', 'succeeded', 9.0, 4.0, 9), ('a1', 'p', 'succeeded', 1.0, null, 1),
    ('a1', 'p', 'succeeded', 1.0, 6.0, 9),
    ('a2', 'p', null, 1.0, 1.0, 9), ('a2', 'p', 'succeeded', 1.0, 1.0, 9), ('a2', 'p', 'succeeded', 11.0, null, 9),
    ('a2', 'p', 'succeeded', 1.0, 1.0, 9),
    ('b1', 'p', 'succeeded', 1.0, 1.0, 9), ('b1', 'p', 'succeeded', 1.0, 1.0, 9), ('b1', 'p', 'succeeded', 1.0, 1.0, 9),
    ('b1', 'p', 'failed', 1.0, 1.0, 0), ('b1', 'p', 'unfinished', 1.0, 1.0, 3), ('b1', 'p', 'unfinished', 99.0, null, 1),
    ('d1', 'p', 'unfinished', 1.0, 1.0, 3),
    ('e1', 'p', 'succeeded', 1.0, null, 9), ('e1', 'p', 'succeeded', 1.0, 1.0, 9),
    ('f1', 'p', 'succeeded', 1.0, 1.0, 9), ('g1', 'p', 'succeeded', 1.0, 1.0, 9),
    ('e1', 'another point', 'succeeded', 1.0, null, 9)
) as v (run_id, workload_point, status, ttft_ms, itl_mean_ms, output_token_count)
"""
SLO = "ttft_ms<=10,itl_mean_ms <= 5"


def made(root: Path, models: dict[str, str]) -> Project:
    project = init_project(root / "project", bare=True)
    for name, text in models.items():
        (project.root / "models" / f"{name}.sql").write_text(text)
    build(project)
    return project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return made(tmp_path_factory.mktemp("served"), {"point": POINTS, "asked": REQUESTS})


def only(found: Goodput) -> CurveGoodput:
    (curve,) = found.curves
    return curve


def test_a_request_meets_all_limits_or_not(project: Project) -> None:
    first, second, *_ = only(goodput(project, SLO)).loads
    # a1: the one of 10 and 5, the one of 9 and 4, the one of a single token; a2: three, one of unknown status among them.
    assert (first.load, first.run_ids, first.met, first.total, first.share) == (1.0, ("a1", "a2"), 6, 8, 0.75)
    assert isinstance(first.interval, Interval) and first.interval.n == {"session": 2, "run": 2, "request": 8}
    assert first.goodput_per_s == pytest.approx((2 * 3 / 4 + 4 * 3 / 4) / 2)
    assert (second.met, second.total, second.goodput_per_s) == (3, 4, 8)  # the failed one met nothing, the unfinished ones are not judged
    assert isinstance(second.interval, NotSupported)


def test_what_the_evidence_does_not_say_is_not_supported(project: Project) -> None:
    *_, third, fourth = only(goodput(project, SLO)).loads
    assert (third.load, third.share, third.reason) == (4.0, None, "the evidence of d1 has no request that ended")
    assert (fourth.load, fourth.share, fourth.reason) == (8.0, None, "1 of 2 requests of e1 have no itl_mean_ms")
    assert only(goodput(project, "ttft_ms<=10")).loads[3].share == 1.0  # nothing is asked of what is not there
    assert goodput(project, SLO).left_out == {"failed": 1, "the same measurement as another run": 1}


def test_the_largest_load_that_meets_the_target(project: Project) -> None:
    assert only(goodput(project, SLO, target=0.7)).largest_load == 2.0
    assert only(goodput(project, SLO, target=0.8)).largest_load is None
    assert only(goodput(project, SLO, target=0.7)).largest_sure_load is None
    assert only(goodput(project, SLO, target=0.0)).largest_sure_load == 1.0


@pytest.mark.parametrize(("slo", "where", "code", "words"), [
    ("ttft<=1", None, "WH522", "did you mean ttft_ms?"), ("ttft_ms<1", None, "WH522", "write ttft_ms<=200"), ("", None, "WH522", "write ttft_ms<=200"),
    ("ttft_ms<=nan", None, "WH522", "cannot read the limit"), (SLO, "model=x", "WH522", "no point matches"), (SLO, "modle=m", "WH522", "did you mean model"),
])
def test_what_cannot_be_asked_is_refused(slo: str, where: str | None, code: str, words: str, project: Project) -> None:
    with pytest.raises(WarehouseError) as caught:
        goodput(project, slo, where)
    assert caught.value.code == code and words in str(caught.value)


SLOS = """/*
role: slos
*/
select * from (values
    ('both', 10.0::double, 5.0::double, null, 0.7::double), ('ours', 10.0, null, '(.*/)?M', null), ('theirs', 10.0, null, 'm1', 0.5),
    ('nothing', null, null, null, 0.5)
) as v (slo, ttft_ms, itl_mean_ms, model_pattern, target)
"""


def test_an_slo_by_its_name(tmp_path: Path, wh_on: WhOn) -> None:
    project = made(tmp_path, {"point": POINTS, "asked": REQUESTS, "slo": SLOS})
    both, ours = goodput(project, "both"), goodput(project, "ours")
    assert (both.slo, both.limits, both.target) == ("both", {"ttft_ms": 10.0, "itl_mean_ms": 5.0}, 0.7)
    assert both.curves == goodput(project, SLO, target=0.7).curves and only(both).largest_load == 2.0
    assert (ours.limits, ours.target) == ({"ttft_ms": 10.0}, 0.99)  # its model is m in any case, and it has no target of its own
    assert goodput(project, "both", target=0.8).target == 0.8
    for name, code, words in (
        ("bohts", 5, "no SLO is named bohts"), ("boht", 5, "did you mean both?"), ("theirs", 5, "WH522 theirs: no point matches"),
        ("nothing", 1, "the SLO nothing has no limit"),
    ):
        status, _, err = wh_on(project, "goodput", name)
        assert status == code and words in err


@pytest.mark.parametrize("models", [{"point": POINTS}, {"asked": REQUESTS}])
def test_a_project_without_one_of_the_tables(models: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(WarehouseError) as caught:
        goodput(made(tmp_path, models), SLO)
    assert caught.value.code == "WH521"


def test_the_command(project: Project, wh_on: WhOn) -> None:
    status, out, err = wh_on(project, "goodput", SLO, "--target", "70%")
    assert status == 0 and "curve c: model m" in out
    assert "largest measured load with 0.7 of its requests within ttft_ms <= 10 and itl_mean_ms <= 5: 2 (no load's interval does)" in out
    assert "not supported: 1 of 2 requests of e1 have no itl_mean_ms" in out and "1 row left out: failed" in err
    _, out, _ = wh_on(project, "goodput", SLO, "--json")
    document: dict[str, Any] = json.loads(out)
    assert [load["share"] for load in document["curves"][0]["loads"]] == [0.75, 0.75, None, None]
    assert document["limits"] == {"ttft_ms": 10.0, "itl_mean_ms": 5.0}
