"""Reports on real evidence: MLPerf Inference results as published numbers, and Thoth's slow conv2d inspections as what is open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from browser import offline_page
from conftest import unpacked_evidence
from standard import standard_project
from test_changes_evidence import _INGESTOR, _MODELS

from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verdict import VERIFIED
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project
from warehouse.surfaces.reports.reading import read_report
from warehouse.surfaces.reports.rendering import report_html, report_markdown
from warehouse.surfaces.reports.report import Report, make_report
from warehouse.surfaces.reports.verification import check_report, verify_report
from warehouse.transform.build.build import build

pytestmark = pytest.mark.exhaustive  # slow: it builds real archives. make test covers these formats with small samples

AUDIENCES = ("engineering", "product", "partner")


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Project:
    system = unpacked_evidence("mlperf-inference") / "mlcommons__inference_results_v4.1" / "closed" / "Fujitsu" / "results" / "CDI_L40Sx8_TRT"
    thoth = unpacked_evidence("thoth")
    inspections = thoth / "amun-api_example" / "example", thoth / "report-processing" / "tests" / "data" / "inspections"
    project = standard_project(tmp_path_factory.mktemp("reported") / "project")
    (project.root / "ingest" / "amun.py").write_text(_INGESTOR)
    (project.root / "models" / "staging").mkdir(parents=True, exist_ok=True)
    for name, (feed, sql) in _MODELS.items():
        (project.root / "models" / "staging" / f"{name}.sql").write_text(f"/*\nfeeds: {feed}\n*/\n{sql}\n")
    for tree in (system / "gptj-99", system / "llama2-70b-99", *inspections):
        ingest(plan_ingest(tree, load_ingestors(project).values()), open_store(project), "evidence")
    assert not build(project).damaged
    publish(project, "mlperf_inference_results", as_provisional=True)
    return project


@pytest.mark.parametrize("audience", AUDIENCES)
def test_each_audience_gets_a_page_that_a_browser_shows_offline(reported: Project, tmp_path: Path, audience: str) -> None:
    path = tmp_path / "report.html"
    path.write_text(report_html(make_report(reported, audience)), encoding="utf-8")
    with offline_page() as page:
        page.open(path.as_uri())
        assert page.run("document.querySelectorAll('#published tbody tr').length") > 3
        assert page.run("document.querySelectorAll('#exploratory #findings tbody tr').length") == 1  # time and rate are one event
        assert page.run("document.documentElement.scrollWidth <= window.innerWidth")
        assert [each for each in page.requests if not each.startswith("file:")] == []


def test_the_slow_inspections_are_open_for_each_audience_in_its_words(reported: Project) -> None:
    """12.7 to 15.1 ms before and 86 to 102 ms after, 6.12 times as long: 0.163 times the rate. The script and parameters differ."""
    texts = {audience: report_html(make_report(reported, audience)).partition('<section id="exploratory">')[2] for audience in AUDIENCES}
    assert "Several variables changed together" in texts["engineering"] and "one of these changed at a time" in texts["engineering"]
    assert "(0.163 times, 95 %: 0.125 times to 0.187 times)" in texts["product"] and "find the cause" in texts["product"]
    assert "none for others: only what is ours differs" in texts["partner"] and "script_sha256" in texts["partner"]
    assert "run amun/inspection-rhtf-conv2d-21090f6e" in texts["engineering"]
    for audience in ("product", "partner"):
        assert "amun/inspection" not in texts[audience] and "rhtf" not in texts[audience]


@pytest.mark.parametrize("audience", AUDIENCES)
@pytest.mark.parametrize("form", [report_html, report_markdown])
def test_the_reports_of_real_evidence_are_what_their_publication_gives(
    reported: Project, tmp_path: Path, audience: str, form: Callable[[Report], str]
) -> None:
    """The exploratory sections too: what `wh report` writes of Thoth's inspections is what verification takes for one."""
    path = tmp_path / "report.txt"
    path.write_text(form(make_report(reported, audience)), encoding="utf-8", newline="\n")
    verdict = check_report(reported, read_report(path), list(Ledger(open_store(reported).objects).events()))
    assert verdict.state == VERIFIED, verdict.reason


def test_the_numbers_of_a_report_of_real_evidence_verify(reported: Project, tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    path.write_text(report_markdown(make_report(reported, "partner")), encoding="utf-8", newline="\n")
    *numbers, last = verify_report(reported, path)
    assert last.state == VERIFIED and numbers and {each.state for each in numbers} == {VERIFIED}
