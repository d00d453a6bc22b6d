"""Charts of pages: what is in the rows is in the drawing, each point is a link, and what is not drawn is said."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from warehouse.surfaces.html.charts import chart, effect, spark
from warehouse.surfaces.html.charts.axes import axis
from warehouse.surfaces.parts import Chart, Column, Table

START = datetime(2026, 1, 1, tzinfo=UTC)
COLUMNS = tuple(map(Column, ("run_id", "at", "value", "low", "high", "group", "state", "note", "on_line")))
TREND = Chart("trend", "at", "value", link="/runs/{run_id:path}", y_unit="ms", title="A title")


def row(number: int, value: Any, **others: Any) -> tuple[Any, ...]:
    found = {"run_id": f"run/{number}", "at": START + timedelta(days=number), "value": value, **others}
    return tuple(found.get(column.name) for column in COLUMNS)


def drawn(rows: Any, how: Chart = TREND) -> ElementTree.Element:
    """The drawing, parsed as XML."""
    table = Table("points", COLUMNS, tuple(rows), chart=how)
    return ElementTree.fromstring(f"<figure>{chart(table, lambda place: place)}</figure>")


def points(found: ElementTree.Element) -> list[tuple[float, float, ElementTree.Element]]:
    """The place of each drawn point, with what holds it: a link, or a group."""
    places = []
    for holder in (each for each in found.iter() if each.tag in ("a", "g")):
        for path in holder.iter("path"):
            if "point" in path.get("class", "").split():
                x, y = path.get("d", "")[1:].partition("m")[0].split()
                places.append((float(x), float(y), holder))
    return places


def said(found: ElementTree.Element) -> str:
    caption = found.find("figcaption")
    return " ".join(caption.itertext()) if caption is not None else ""


def test_each_row_is_a_point_that_leads_to_its_row() -> None:
    found = drawn(row(number, value) for number, value in enumerate((10.0, 20.0, 15.0)))
    places = points(found)
    assert [holder.get("href") for _, _, holder in places] == ["/runs/run/0", "/runs/run/1", "/runs/run/2"]
    assert places[0][0] < places[1][0] < places[2][0]
    assert places[1][1] < places[2][1] < places[0][1]  # the greatest value is the highest
    middle = places[0][1] + places[1][1]
    assert places[2][1] == pytest.approx(middle / 2, abs=0.2)  # 15 is midway
    label = places[1][2].get("aria-label") or ""
    assert "20 ms" in label and "2026-01-02" in label and places[1][2].findtext("title") == label


def test_the_same_rows_give_the_same_bytes_without_style_or_script() -> None:
    table = Table("points", COLUMNS, tuple(row(number, number * 1.5, group=f"g{number % 3}") for number in range(9)), chart=replace(TREND, group="group"))
    text = str(chart(table, lambda place: place))
    assert text == str(chart(table, lambda place: place))
    assert "style=" not in text and "<script" not in text and "NaN" not in text


def test_text_is_escaped_everywhere() -> None:
    hostile = "<script>alert(1)</script>\"'&\x1b[31m"
    found = drawn([row(0, 1.0, group=hostile, note=hostile, state=hostile), row(1, 2.0, group="b")], replace(TREND, group="group", note="note", state="state", title=hostile))
    assert not list(found.iter("script"))
    text = " ".join(found.itertext())
    assert "<script>alert(1)" in text and "\x1b" not in ElementTree.tostring(found, "unicode")


def test_a_missing_value_is_a_gap_and_is_counted() -> None:
    found = drawn(row(number, value) for number, value in enumerate((1.0, 2.0, None, 4.0, float("nan"), 3.0)))
    assert len(points(found)) == 4 and "2 rows without value" in said(found)
    line = next(path.get("d", "") for path in found.iter("path") if "line" in path.get("class", "").split())
    assert line.count("M") == 3 and line.count("L") == 1


@pytest.mark.parametrize("values", [(5.0,), (5.0, 5.0, 5.0), (0.0, 0.0), (-3.0, -1.0), (Decimal("1.5"), 2), (1e-300, 2e-300), (1e300, 2e300)])
@pytest.mark.parametrize("kind", ["trend", "dots", "bars", "steps"])
def test_one_value_equal_values_and_odd_values_are_drawn_within_the_frame(values: tuple[Any, ...], kind: Any) -> None:
    how = replace(TREND, kind=kind, x="value", y="") if kind == "dots" else replace(TREND, kind=kind)
    found = drawn((row(number, value) for number, value in enumerate(values)), how)
    svg = found.find(".//svg")
    assert svg is not None
    _, _, width, height = map(float, (svg.get("viewBox") or "").split())
    if kind == "bars":
        bars = [each for each in found.iter("rect") if "bar" in each.get("class", "").split()]
        assert len(bars) == len(values) and all(0 <= float(each.get("y", "-1")) <= height for each in bars)
    else:
        assert len(points(found)) == len(values)
        assert all(0 <= x <= width and 0 <= y <= height for x, y, _ in points(found))


def test_equal_values_stand_beside_each_other() -> None:
    found = drawn([row(number, 7.0) for number in range(5)], replace(TREND, kind="dots", x="value", y=""))
    assert len({(x, y) for x, y, _ in points(found)}) == 5 and len({x for x, _, _ in points(found)}) == 1


def test_a_logarithmic_axis_has_no_place_for_zero_or_less() -> None:
    found = drawn((row(number, value) for number, value in enumerate((-1.0, 0.0, 1.0, 10.0, 100.0))), replace(TREND, logs=("y",)))
    assert "2 rows with value of zero or less" in said(found)
    heights = [y for _, y, _ in points(found)]
    assert len(heights) == 3 and heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.2)


def test_many_points_are_an_envelope_that_says_so_and_stays_small() -> None:
    values = [100.0 + number % 7 for number in range(10_000)]
    values[5000] = 1000.0
    found = drawn(row(number, value) for number, value in enumerate(values))
    assert 20 <= len(points(found)) <= 200 and "10,000 points" in said(found)
    assert len(ElementTree.tostring(found)) < 60_000
    area = next(path.get("d", "") for path in found.iter("path") if "envelope" in path.get("class", "").split())
    heights = [float(each.split()[1]) for each in area[1:-1].split("L")]
    assert min(heights) < max(heights) - 150  # the one great value is in the area


def test_repeats_of_a_session_stand_beside_each_other_and_share_a_median_with_its_interval() -> None:
    at = START + timedelta(days=1)
    rows = [row(0, 10.0, group="a", note="one"), *(row(number, 20.0 + number, at=at, group="b", low=20.0, high=24.0) for number in (1, 2, 3))]
    how = replace(TREND, middle="group", around=("low", "high"), beside="group")
    found = drawn([*rows, row(9, 30.0, group="c")], how)
    places = {holder.get("href"): x for x, _, holder in points(found)}
    first, second, third = (places[f"/runs/run/{number}"] for number in (1, 2, 3))
    assert second - first == third - second >= 7
    (steps,) = [path.get("d", "") for path in found.iter("path") if "medians" in path.get("class", "").split()]
    assert len(re.findall("V", steps)) == 2  # three levels, and no way up and down among the repeats
    (shade,) = [path for path in found.iter("path") if "envelope" in path.get("class", "").split()]
    assert shade.get("d", "").startswith(f"M{first:g} ") and f"H{third:g}" in shade.get("d", "")


def test_of_more_points_than_can_be_links_each_is_drawn() -> None:
    found = drawn((row(number, 100.0 + number % 7) for number in range(1000)), replace(TREND, middle="group"))
    (dots,) = [path.get("d", "") for path in found.iter("path") if "crowd" in path.get("class", "").split()]
    assert dots.count("M") == 1000 and 50 <= len(points(found)) <= 200


def test_a_line_has_its_name_beside_it_unless_another_name_is_there() -> None:
    rows = [row(0, 9.0, group="eight GPUs"), row(1, 5.0, group="eight GPUs"), row(2, 8.9, group="four GPUs", at=START), row(3, 1.0, group="two GPUs")]
    found = drawn([(*each[:-1], True) for each in rows], replace(TREND, kind="steps", group="group", line="group", on_line="on_line", label="group"))
    labels = [text.text for text in found.iter("text") if "label" in text.get("class", "").split()]
    assert labels == ["eight GPUs", "two GPUs"]


def test_a_failed_run_is_hollow_and_named_and_stands_at_the_foot_without_a_value() -> None:
    how = replace(TREND, state="state", hatched=("failed",))
    found = drawn([row(0, 1.0, state="succeeded"), row(1, None, state="failed"), row(2, 2.0, state="succeeded")], how)
    hollow = [(y, holder) for _, y, holder in points(found) if any("hollow" in path.get("class", "") for path in holder.iter("path"))]
    assert len(hollow) == 1 and "failed" in (hollow[0][1].get("aria-label") or "") and "hollow: 1 failed" in said(found)
    assert hollow[0][0] == max(y for _, y, _ in points(found))


def test_effects_have_whiskers_a_band_and_the_words_of_their_rows() -> None:
    rows = [row(0, 1.1, low=1.05, high=1.2, group="ttft_p99_ms"), row(1, 0.9, group="itl_mean_ms"), row(2, None, group="no ratio")]
    found = drawn(rows, replace(TREND, kind="effects", x="value", y="group", low="low", high="high", band=(0.98, 1.02), mark=1.0, logs=("x",)))
    whiskers = [path for path in found.iter("path") if "whisker" in path.get("class", "").split()]
    bands = [each for each in found.iter("rect") if each.get("class") == "band"]
    text = " ".join(found.itertext())
    assert len(whiskers) == 1 and len(bands) == 1 and "ttft_p99_ms" in text and "itl_mean_ms" in text and "1 row without value" in said(found)
    start, end = whiskers[0].get("d", "")[1:].split(" ")[0], whiskers[0].get("d", "").partition("H")[2]
    left, right = float(bands[0].get("x", "0")), float(bands[0].get("x", "0")) + float(bands[0].get("width", "0"))
    assert right < float(start) < float(end) and left < right


@pytest.mark.parametrize(("better", "expected"), [("higher", "V"), ("lower", "H")])
def test_steps_never_promise_more_than_was_measured(better: Any, expected: str) -> None:
    """Where more of x is better, what holds at an x is what a point with more of it has: down first, then along."""
    rows = [row(0, 9.0, on_line=True, low=1), row(1, 5.0, on_line=True, low=2), row(2, 4.0, on_line=False, low=1)]
    found = drawn(rows, replace(TREND, kind="steps", x="low", on_line="on_line", better=better))
    line = next(path.get("d", "") for path in found.iter("path") if path.get("class") == "steps")
    assert next(letter for letter in line[1:] if letter in "HV") == expected and len(points(found)) == 3


def test_notes_are_lines_with_words_and_facets_share_their_axes() -> None:
    rows = [row(0, 1.0, group="a"), row(1, 2.0, group="a", note="vllm 0.11.3"), row(2, 100.0, group="b")]
    found = drawn(rows, replace(TREND, note="note"))
    assert sum(path.get("class") == "note" for path in found.iter("path")) == 1 and "vllm 0.11.3" in " ".join(found.itertext())
    panels = list(drawn(rows, replace(TREND, facet="group")).iter("svg"))
    ticks = [{text.text for text in panel.iter("text")} for panel in panels]
    assert len(panels) == 2 and ticks[0] == ticks[1]


def test_every_drawing_has_a_name_and_holds_its_links_in_a_group() -> None:
    found = drawn(row(number, 1.0 * number) for number in range(3))
    svg = found.find("svg")
    assert svg is not None and svg.get("role") == "group" and svg.get("aria-label") == "A title"


def test_a_table_without_a_chart_or_rows_has_no_drawing() -> None:
    assert str(chart(Table("none", COLUMNS, ()), str)) == "" and str(chart(Table("none", COLUMNS, (), chart=TREND), str)) == ""
    assert "svg" not in str(chart(Table("empty", COLUMNS, (row(0, None),), chart=TREND), str))


@pytest.mark.parametrize(("low", "high", "is_log", "expected"), [
    (0.0, 100.0, False, ["0", "20", "40", "60", "80", "100"]), (0.0, 1.0, False, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
    (-50.0, 50.0, False, ["-40", "-20", "0", "20", "40"]), (1.0, 1000.0, True, ["1", "10", "100", "1,000"]),
])
def test_ticks_are_round(low: float, high: float, is_log: bool, expected: list[str]) -> None:
    assert [text for _, text in axis([low, high], 0, 600, is_log).ticks()] == expected


def test_ticks_of_time_are_days_and_months() -> None:
    def texts(days: int) -> list[str]:
        return [text for _, text in axis([START.timestamp(), (START + timedelta(days=days)).timestamp()], 0, 600, is_time=True).ticks()]

    assert texts(4)[:3] == ["01 Jan", "02 Jan", "03 Jan"] and texts(170)[:3] == ["Jan 2026", "Feb 2026", "Mar 2026"] and texts(1500)[:2] == ["2026", "2027"]


def test_a_spark_has_a_dot_for_each_value_and_the_levels_of_both_sides() -> None:
    found = ElementTree.fromstring(str(spark({"values": [1.0, 1.0, None, 3.0, 3.0], "place": 3}, "bad")))
    dots = [path for path in found.iter("path") if "dots" in (path.get("class") or "")]
    levels = [path for path in found.iter("path") if "level" in (path.get("class") or "")]
    assert [path.get("d", "").count("h0") for path in dots] == [2, 2] and len(levels) == 2
    assert [path.get("class", "").split()[1] for path in dots] == ["plain", "bad"]
    assert str(spark({"values": [None], "place": None}, "plain")) == ""


def test_an_effect_beyond_the_drawing_is_an_arrow_and_one_without_a_ratio_is_nothing() -> None:
    near = ElementTree.fromstring(str(effect({"ratio": 1.1, "low": 1.05, "high": 1.2, "threshold": 0.02}, "bad")))
    far = ElementTree.fromstring(str(effect({"ratio": 9.0, "low": None, "high": None, "threshold": 0.02}, "bad")))
    assert near.get("aria-label") == "1.1 times, 1.05 to 1.2" and near.find("circle") is not None
    assert far.find("circle") is None and "beyond" in (far.get("aria-label") or "")
    assert str(effect({"ratio": None}, "bad")) == "" and str(effect({"ratio": -1.0}, "bad")) == ""


def test_a_table_of_the_first_rows_says_that_it_draws_no_more() -> None:
    table = Table("points", COLUMNS, (row(0, 1.0), row(1, 2.0)), chart=TREND, total=1234)
    assert "the first 2 of 1,234 rows" in str(chart(table, lambda place: place))


def test_many_values_on_one_axis_are_drawn_from_end_to_end() -> None:
    rows = [row(number, float(number), group="base" if number < 600 else "head") for number in range(1000)]
    found = drawn(rows, replace(TREND, kind="dots", x="value", y="", group="group"))
    places = points(found)
    assert len(places) == 200 and "1,000 values" in said(found)
    links = [holder.get("href") for _, _, holder in places]
    assert links[0] == "/runs/run/0" and links[-1] == "/runs/run/999"


def test_no_line_joins_several_values_at_one_place() -> None:
    once = drawn([row(number, number) for number in range(4)])
    twice = drawn([row(number // 2, number) for number in range(4)])
    assert [any(path.get("class", "").startswith("line ") for path in found.iter("path")) for found in (once, twice)] == [True, False]
    assert len(points(twice)) == 4
