"""The plots of `wh frontier` and `wh goodput`: where points lie, what is told apart, and nothing that was not measured without a label."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from conftest import WhOn
from test_frontier import ROWS
from test_frontier import made as made_points
from test_goodput import POINTS, REQUESTS, SLO
from test_goodput import made as made_served

from warehouse.project.project import Project
from warehouse.surfaces.all_views import view_named
from warehouse.surfaces.parts import Facts
from warehouse.surfaces.view import Visit, utc_now
from warehouse.transform.finished.builds import current_build

AXES = ("--x", "user_tokens_per_s", "--y", "gpu_tokens_per_s")
SVG = "{http://www.w3.org/2000/svg}"
# Beside what test_frontier has: a point that equals one of the frontier, of a framework whose name is markup.
TIE = [(f"t{number}", "tie", "concurrency", 8.0, "succeeded", None, "m", "<f&>", 102.0, 10.2, 1.0, 1.0) for number in (1, 2)]


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return made_points(tmp_path_factory.mktemp("points"), [*ROWS, *TIE])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return made_served(tmp_path_factory.mktemp("served"), {"point": POINTS, "asked": REQUESTS})


def drawn(project: Project, wh_on: WhOn, *words: str) -> ET.Element:
    file = project.root / "drawn.svg"
    status, _, err = wh_on(project, *words, "--plot", str(file))
    assert status == 0 and f"drawn: {file}" in err
    return ET.fromstring(file.read_text())


def test_the_frontier_on_a_terminal(points: Project, wh_on: WhOn) -> None:
    """x from 45.25 to 102 is columns 0 to 63, y from 10.2 to 60.5 rows 0 to 13: (50.1, 60.5) is at 5, 13, and (45.25, 40.5) at 0, 8."""
    _, out, _ = wh_on(points, "frontier", *AXES, "--where", "model=m")
    plot = [line.partition("│")[2] for line in out.splitlines() if "│" in line][::-1]
    assert len(plot) == 14
    assert plot[13] == " " * 5 + "B" and plot[8] == "a" and plot[0] == " " * 6 + "·" * 57 + "#"
    assert [row for row, line in enumerate(plot) if line] == [0, 8, 13]
    assert "     60.5 │" in out and "45.25" in out and "a slow" in out and "b fast" in out
    _, out, err = wh_on(points, "frontier", *AXES)
    assert "└" not in out and out.count(" on the frontier") == 2 and "y 60.5 at x 50.1" in out  # of several scopes their answers
    assert err.count("its plot: wh frontier --x user_tokens_per_s --y gpu_tokens_per_s --where model=m\n") == 1


def test_the_page_offers_all_models_after_one_is_chosen(points: Project) -> None:
    view = view_named("frontier")
    asked = [("x", "user_tokens_per_s"), ("y", "gpu_tokens_per_s"), ("where", "model=n")]
    page = view.answer(Visit(points, current_build(points), view.read(asked, {}), utc_now()))
    offered = next(part for part in page.parts if part.name == "scopes_model")
    assert isinstance(offered, Facts) and {item.heading: item.link is None for item in offered.items} == {"m": False, "n": True}
    rows = page.table("frontier_1")
    assert rows is not None and all(row["is_on_own"] for row in rows.records() if row["is_on_frontier"])


def test_a_notice_for_each_reason_not_for_each_scope(tmp_path: Path, wh_on: WhOn) -> None:
    rows = [(f"{name}1", name, "concurrency", 1.0, "succeeded", None, name, "f", 1.0, 1.0, 1.0, 1.0) for name in "abc"]
    _, _, err = wh_on(made_points(tmp_path, rows), "frontier", *AXES)
    assert err.count("probabilities") == 1 and "probabilities of 3 scopes: not supported" in err


def test_the_frontier_as_svg(points: Project, wh_on: WhOn) -> None:
    drawing = drawn(points, wh_on, "frontier", *AXES, "--where", "model=m")
    circles = {(circle.findtext(f"{SVG}title") or "").split(":")[0]: circle for circle in drawing.iter(f"{SVG}circle") if len(circle)}
    beaten, best = circles["s, concurrency 8"], circles["f, concurrency 8"]
    assert beaten.get("fill") == "#fff" and best.get("fill") == best.get("stroke") != "#fff"
    assert "<f&>, concurrency 8" in circles
    assert len([circle for circle in drawing.iter(f"{SVG}circle") if circle.get("fill") == "none"]) == 2  # a ring around each of the equal ones
    assert [text.text for text in drawing.iter(f"{SVG}text")].count("2 equal points") == 2
    # Down at the x of the first point, then to the right: for any x between, the y of the second.
    (path,) = [path.get("d") for path in drawing.iter(f"{SVG}path") if path.get("class") == "frontier" and "h14" not in path.get("d", "")]
    last = circles["<f&>, concurrency 8"]
    assert path == f"M{best.get('cx')} {best.get('cy')}V{last.get('cy')}H{last.get('cx')}"
    assert float(best.get("cx", "")) < float(last.get("cx", "")) and float(best.get("cy", "")) < float(last.get("cy", ""))


def test_where_less_is_better_the_step_is_on_the_other_side(points: Project, wh_on: WhOn) -> None:
    drawing = drawn(points, wh_on, "frontier", "--x", "ttft_ms", "--y", "gpu_tokens_per_s", "--where", "curve_key=fast")
    circles = [circle for circle in drawing.iter(f"{SVG}circle") if len(circle)]
    (path,) = [path.get("d") for path in drawing.iter(f"{SVG}path") if "h14" not in path.get("d", "")]
    (x1, y1), (x2, y2) = [(circle.get("cx"), circle.get("cy")) for circle in circles]
    assert path == f"M{x1} {y1}H{x2}V{y2}"


def test_an_interpolation_is_drawn_where_it_is_asked_for_and_labelled(points: Project, wh_on: WhOn) -> None:
    for asked, count in (((), 0), (("--interpolate",), 2)):  # the curve, and its line in the legend
        drawing = drawn(points, wh_on, "frontier", *AXES, "--where", "model=m", *asked)
        assert len([path for path in drawing.iter(f"{SVG}path") if path.get("class") == "interpolated"]) == count
        assert ("interpolated (PCHIP), not measured" in [text.text for text in drawing.iter(f"{SVG}text")]) == bool(count)


def test_goodput_on_a_terminal(served: Project, wh_on: WhOn) -> None:
    """0 to 1 is columns 0 to 49: 0.75 is at 37, the target 0.7 at 34. Two runs of 3 and 3 of 4 leave nearly all shares possible."""
    _, out, _ = wh_on(served, "goodput", SLO, "--target", "70%")
    lines = [line for line in out.splitlines() if "│" in line]
    assert len(lines) == 4
    assert lines[0] == "1 │" + "─" * 34 + "┊──●" + "─" * 12 + "│"
    assert lines[1] == "2 │" + " " * 34 + "┊  ●" + " " * 12 + "│"
    assert lines[2] == "4 │" + " " * 34 + "┊" + " " * 15 + "│ not supported"


def test_goodput_as_svg(served: Project, wh_on: WhOn) -> None:
    drawing = drawn(served, wh_on, "goodput", SLO, "--target", "70%")
    titles = [title.text for title in drawing.iter(f"{SVG}title")]
    assert len(titles) == 4 and titles[0].startswith("6 of 8 requests, runs: 2, 95 % interval") and titles[1] == "3 of 4 requests, runs: 1, no interval"
    assert titles[2:] == [
        "not supported: the evidence of d1 has no request that ended", "not supported: 1 of 2 requests of e1 have no itl_mean_ms",
    ]
    (interval,) = [line for line in drawing.iter(f"{SVG}line") if line.get("class") == "interval"]
    first, second = drawing.iter(f"{SVG}circle")
    assert interval.get("x1") == first.get("cx") and float(interval.get("y2", "")) < float(first.get("cy", "")) < float(interval.get("y1", ""))
    assert first.get("cy") == second.get("cy")
    assert "target 0.7" in [text.text for text in drawing.iter(f"{SVG}text")]


@pytest.mark.parametrize("words", [("frontier", *AXES), ("goodput", SLO)])
def test_json_is_alone_on_stdout(words: tuple[str, ...], points: Project, served: Project, wh_on: WhOn) -> None:
    project = points if words[0] == "frontier" else served
    file = project.root / "beside.svg"
    status, out, _ = wh_on(project, *words, "--json", "--plot", str(file))
    assert status == 0 and json.loads(out)["build"] and ET.fromstring(file.read_text()).tag == f"{SVG}svg"
