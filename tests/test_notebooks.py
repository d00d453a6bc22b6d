"""Values in a notebook: what a fragment shows, that it loads and runs nothing, and that evidence cannot write HTML."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from samples.measured import measured_project
from samples.values import take_in, value_files, values_project
from test_compare import rows
from test_frontier import ROWS, made

import warehouse
from warehouse.api import Warehouse
from warehouse.claims.gate.worth import Worth
from warehouse.claims.publish.publish import publish
from warehouse.statistics.interval import Interval, NotSupported
from warehouse.surfaces.notebook.shown import shown
from warehouse.transform.build.build import build

TAGS = {
    "b", "br", "code", "div", "img", "li", "small", "span", "table", "tbody", "td", "th", "thead", "tr", "ul",
}
ATTRIBUTES = {"alt", "colspan", "scope", "src", "style"}
SIGNS = {"✓", "!", "✕", "○"}
HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>&lt;\u202eevil\u200b'


class Fragment(HTMLParser):
    """The text of a fragment, its chips and its pictures. Fails for what a fragment may not have."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.chips, self.pictures = "", list[str](), list[ElementTree.Element]()
        self._open, self._chip_depth = list[str](), 0
        self.feed(html)
        assert self._open == []
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS and {name for name, _ in attributes} <= ATTRIBUTES, (tag, attributes)
        found = dict(attributes)
        style = found.get("style") or ""
        assert "url(" not in style and "expression" not in style and "position" not in style
        if tag == "img":
            kind, _, data = str(found["src"]).partition(",")
            assert kind == "data:image/svg+xml;base64" and found["alt"]
            self.pictures.append(ElementTree.fromstring(b64decode(data, validate=True)))
        if tag not in ("br", "img"):
            self._open.append(tag)
        if tag in ("br", "td", "th", "div", "li"):
            self.text += " "
        if "border-radius:99px" in style:
            # A colour of its own has a ground of its own: it is legible on any page.
            assert re.search(r"(?<!-)color:#", style) and "background:#" in style
            self.chips.append("")
            self._chip_depth = len(self._open)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if len(self._open) < self._chip_depth:
            self._chip_depth = 0

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._chip_depth:
            self.chips[-1] += data

    def handle_comment(self, data: str) -> None:
        pytest.fail(f"a comment: {data}")


def read(value: Any) -> Fragment:
    found = Fragment(value._repr_html_())
    for chip in found.chips:
        sign, _, word = chip.partition(" ")
        assert sign in SIGNS and word  # never a colour alone
    for picture in found.pictures:
        assert {element.tag.rpartition("}")[2] for element in picture.iter()} <= {"svg", "style", "g", "text", "path", "line", "circle", "rect", "title"}
        assert not [name for element in picture.iter() for name in element.attrib if name.startswith("on") or "href" in name]
    return found


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """a is 1.5 + 2.25 of one file, b is 7 of another."""
    root = tmp_path_factory.mktemp("published")
    project = values_project(root / "project", "select key, sum(value) as total from reading group by key")
    take_in(project, value_files(root / "in", "a=1.5\na=2.25\n", "b=7\n"))
    build(project)
    publish(project, "claim")
    return warehouse.open(project.root)


def test_a_lineage_shows_its_row_query_and_bytes(published: Warehouse) -> None:
    found = published.lineage("3.75")
    text = read(found).text
    assert f"3.75 {found.number_id}" in text and "key = a" in text and found.query_spec_digest in text and str(found.publication) in text
    (file,) = found.raw_files
    assert f"r0.nv bytes [0, 12) sha256 {file.sha256}" in text
    assert "unit not declared" in text and "n not supported: no run is stated for this cell" in text


def test_a_lineage_shows_unit_worth_and_runs(published: Warehouse) -> None:
    runs = tuple({"run_id": f"run-{place}", "workload_spec_digest": None, "artifact_manifest_digest": None} for place in range(7))
    worth = Worth("provisional", None, "median", Interval(3.75, 3.5, 4.0, 0.95, "order statistics", {"run": 7}), {"run": 7, "session": 1})
    found = replace(published.lineage("3.75"), unit="ms", worth=worth, runs=runs, is_gone=True)
    html = read(found)
    assert html.chips[:2] == ["! provisional", "! stale"]
    for part in ("3.75 ms n-", "interval [3.5, 4] ms, 95 % over runs, order statistics", "n 7 runs, 1 session", "run-4 and 2 more, in .runs"):
        assert part in html.text
    few = NotSupported("a run says nothing of another", "run", 1, 5)
    refused = read(replace(found, worth=Worth("refused", None, "median", few, {"run": 1}), is_gone=False))
    assert refused.chips[0] == "✕ refused" and "interval not supported, needs 5 runs (has 1): a run says nothing of another n 1 run" in refused.text


def test_a_number_and_its_verification_show_their_state(published: Warehouse) -> None:
    found = published.number("3.75")
    number = read(found)
    assert number.chips == ["○ published"] and f"3.75 {found.cell.number_id}" in number.text
    assert f'unit, interval, runs and bytes: lineage("{found.cell.number_id}")' in number.text
    verdict = read(published.verify("3.75"))
    assert verdict.chips == ["✓ verified"] and "claim[key=a].total" in verdict.text and "1 raw file hashed" in verdict.text


def test_a_built_number_says_what_it_lacks(tmp_path: Path) -> None:
    project = values_project(tmp_path / "project", "select key, sum(value) as total from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1.5\na=2.25\n"))
    build(project)
    found = read(warehouse.open(project.root).lineage("3.75"))
    assert found.chips == ["○ built, not published"]
    assert "unit not declared interval not supported: a number has an interval when it is published" in found.text


def test_a_comparison_shows_ratio_interval_verdict_counts_and_differences(tmp_path: Path) -> None:
    project = measured_project(tmp_path / "project", rows(100, 110, 4))
    found = warehouse.open(project.root).compare("software=1", "software=2")
    ratio = found.metrics[0].judged.ratio
    text = read(found).text
    assert "base software=1: 12 runs, 4 sessions" in text
    assert "elapsed_ms · a [ms]" in text and f"{ratio.low:.3f} to {ratio.high:.3f} ✕ confirmed worse 12 v 12 4 v 4" in text
    assert "software framework_version: 1 -> 2" in text


def test_a_comparison_of_single_runs_says_what_it_needs(tmp_path: Path) -> None:
    project = measured_project(tmp_path / "project", rows(100, 110, 1, 1))
    found = warehouse.open(project.root).compare("software=1", "software=2")
    assert found.metrics[0].judged.verdict == "not supported"
    assert str(found.metrics[0].judged.ratio) in read(found).text and "○ not supported" in read(found).text


def test_frontiers_show_the_drawing_and_the_table(tmp_path: Path) -> None:
    wh = warehouse.open(made(tmp_path, ROWS).root)
    found = read(wh.frontiers("user_tokens_per_s", "gpu_tokens_per_s", at=500.0, within=50.0))
    assert len(found.pictures) == 2
    assert "model m: 2 of 3 points on the frontier" in found.text
    # The means of a1 and a2, a3 and a4, b1 and b2, of two runs each.
    for line in ("✓ on the frontier 102 10.2 concurrency 1 2", "✓ on the frontier 50.1 60.5 concurrency 8 2", "beaten 45.25 40.5 concurrency 8 2"):
        assert line in found.text
    assert "not supported, needs 2 runs (has 1)" in found.text  # model n has one run
    assert "500 is outside of what the frontier was measured at" in found.text and "1 row left out: failed" in found.text
    circles = [element for element in found.pictures[0].iter() if element.tag.endswith("circle")]
    assert len(circles) == 3 + 2  # points, and curves in the legend


def test_frontiers_without_points_say_so(tmp_path: Path) -> None:
    wh = warehouse.open(made(tmp_path, [ROWS[6]]).root)
    assert "not supported: no row counts as a point 1 row left out: failed" in read(wh.frontiers("user_tokens_per_s", "gpu_tokens_per_s")).text


def test_evidence_cannot_write_html_into_frontiers(tmp_path: Path) -> None:
    hostile = [(f"{HOSTILE}{row[0]}", f"{HOSTILE}{row[1]}", HOSTILE, *row[3:6], HOSTILE, f"{HOSTILE}\x01", *row[8:]) for row in ROWS]
    found = read(warehouse.open(made(tmp_path, hostile).root).frontiers("user_tokens_per_s", "gpu_tokens_per_s"))
    assert len(found.pictures) == 1 and "<script>alert(1)</script>" in found.text
    assert "\u202e" not in found.text and "\\u202eevil\\u200b" in found.text


def test_evidence_cannot_write_html_into_a_comparison(tmp_path: Path) -> None:
    hostile = [{**row, "run_id": f"{HOSTILE}{row['run_id']}", "software": f"{HOSTILE}{row['software']}"} for row in rows(100, 140, 2)]
    wh = warehouse.open(measured_project(tmp_path / "project", hostile).root)
    found = read(wh.compare(f"run_id={HOSTILE}1*", f"run_id={HOSTILE}2*"))
    assert "<script>alert(1)</script>" in found.text and "\u202e" not in found.text
    assert "confirmed worse" in found.text


def test_evidence_cannot_write_html_into_a_lineage(tmp_path: Path) -> None:
    key = "<script>alert(1)<img onerror>"
    project = values_project(tmp_path / "project", "select key, sum(value) as total from reading group by key")
    take_in(project, value_files(tmp_path / "in", f"{key}=1.5\n"))
    build(project)
    publish(project, "claim")
    wh = warehouse.open(project.root)
    for value in (wh.number("1.5"), wh.lineage("1.5"), wh.verify("1.5")):
        assert key in read(value).text


def test_what_has_no_fragment_is_not_made_to_have_one() -> None:
    with pytest.raises(ValueError, match="int has no fragment"):
        shown(1)
