"""`wh report`: what each audience reads, what is withheld, that evidence cannot inject, and that `wh verify` finds what was changed in a file.

Ten runs of series a are published (median 100.105 tokens/s), of series b three with another median; what is expected is computed by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from browser import offline_page
from conftest import WhOn
from exhaustive import few
from test_gate import COLUMNS, add, made, query, runs

from warehouse.analysis.changes import Finding
from warehouse.analysis.conditions import Difference
from warehouse.analysis.measurements import Measurement
from warehouse.claims.numbers.search import current_numbers
from warehouse.claims.publish.corrections import withdraw
from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verdict import REFUSED, RETRACTED, STALE, TAMPERED, VERIFIED, Verdict
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.statistics.interval import NotSupported
from warehouse.surfaces.parts import Table, Text
from warehouse.surfaces.reports import exploratory
from warehouse.surfaces.reports.exploratory import Findings, experiment, hypothesis
from warehouse.surfaces.reports.reading import AUDIENCES, read_report
from warehouse.surfaces.reports.rendering import report_html, report_markdown
from warehouse.surfaces.reports.report import Report, make_report, report_at_a_glance
from warehouse.surfaces.reports.split import NOT_SAID, SPLIT, side_of, smallest_change
from warehouse.surfaces.reports.verification import check_report, verify_report
from warehouse.surfaces.reports.withholding import Withholding, names_ours
from warehouse.surfaces.reports.wording import area, impact, measure, way

CLAIM = query(columns=COLUMNS)
HOSTILE = ("<script>alert(1)</script> `x` | y", "\n# z ](http://evil.example)\u202e<!--/exploratory-->")
_EVIL = f"""/*
grain: [node_name, what, more, path]
columns:
  node_name: {{type: varchar, description: "The machine"}}
  what: {{type: varchar, description: "A name made by evidence"}}
  more: {{type: varchar, description: "Another"}}
  path: {{type: varchar, description: "Where it lies"}}
  v: {{type: double, unit: ms, description: "A time"}}
*/
select 'gpu-node-17' as node_name, $${HOSTILE[0]}$$ as what, $${HOSTILE[1]}$$ as more, '/home/alice/x' as path, avg(value) as v from run
where run_id = 'a01' group by series
"""
FORMS: tuple[Callable[[Report], str], ...] = (report_html, report_markdown)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Tests leave it as it is."""
    project = made(tmp_path_factory.mktemp("reports"), {"claim": CLAIM, "evil": _EVIL}, runs() | runs((7.0, 7.5, 9.0), "b"))
    publish(project, "claim", as_provisional=True)
    publish(project, "evil", as_provisional=True)
    return project


def written(project: Project, folder: Path, audience: str = "engineering", form: str = "html", scope: tuple[str, ...] = ()) -> Path:
    path = folder / f"{audience}.{form}"
    text = (report_html if form == "html" else report_markdown)(make_report(project, audience, scope))
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def verdicts(project: Project, path: Path) -> tuple[Verdict, dict[str, Verdict]]:
    *numbers, last = verify_report(project, path)
    assert last.number_id is None
    return last, {str(each.number_id): each for each in numbers}


def check(project: Project, path: Path) -> Verdict:
    """The verdict on the file alone, without a replay of its numbers."""
    return check_report(project, read_report(path), list(Ledger(open_store(project).objects).events()))


def numbers_of(project: Project, query: str) -> dict[str, str]:
    """The number ids of a query by the first value of their grain."""
    (publication,) = (each for each in publications(project) if each.query == query)
    return {str(next(iter(row.grain.values()))): cell.number_id or "" for row in publication.rows() for cell in row.cells.values()}


# --- what is in it ---------------------------------------------------------------------------------------------------


def test_engineering_reads_each_number_with_what_is_against_it_and_its_runs(published: Project) -> None:
    report = make_report(published, "engineering", ["claim"])
    table = report.page.table("numbers-1")
    assert table
    rows = {row["what"]: row for row in table.records()}
    assert rows["a"]["value"] == pytest.approx((100.1 + 100.11) / 2) and rows["a"]["unit"] == "tokens/s" and rows["a"]["n"] == "10 runs, 5 sessions"
    assert rows["b"]["value"] == 7.5 and rows["b"]["n"] == "3 runs, 3 sessions" and rows["b"]["standing"] == "not publishable"
    assert rows["a"]["number"] == numbers_of(published, "claim")["a"]
    assert "asked: " in rows["b"]["against"]
    assert rows["a"]["measure"] == "v" and measure("ttft_p50_ms", "ms") == "TTFT, median" and measure("input_length", None) == "input length"
    assert re.search(r'<span title="100\.10\d+">100\.1</span> <span class="half">± 4\.5<', report_html(report))  # as many as the interval supports
    dots = report.page.table("runs-1-v")
    assert dots and dots.chart and dots.chart.kind == "dots"
    assert {row["run_id"]: row["value"] for row in dots.records() if row["of"] == "b"} == {"b01": 7.0, "b02": 7.5, "b03": 9.0}
    assert "<svg" in report_html(report) and re.search(r'<path class="point', report_html(report))


def test_unpublishable_values_are_named_and_the_style_hatches_them(published: Project) -> None:
    text = report_html(make_report(published, "engineering", ["claim"]))
    assert "repeating-linear-gradient" in text and "not publishable" in text


def test_the_same_warehouse_gives_the_same_bytes(published: Project) -> None:
    for audience in AUDIENCES:
        for form in FORMS:
            assert form(make_report(published, audience)) == form(make_report(published, audience))


def test_it_loads_nothing_and_runs_nothing(published: Project) -> None:
    for audience in AUDIENCES:
        text = report_html(make_report(published, audience))
        assert not re.search(r"<(link|img|iframe|base|a)\b|\b(src|href)=|url\(|@import", text)
        assert re.findall(r"<script[^>]*>", text) == ['<script type="application/json" id="wh-report">']


def test_a_browser_without_network_shows_it(published: Project, tmp_path: Path) -> None:
    with offline_page() as page:
        page.open(written(published, tmp_path).as_uri())
        assert page.run("document.querySelector('h1').textContent") == "Performance report for engineering"
        assert page.run("document.scripts.length") == 1 and page.run("document.querySelectorAll('a').length") == 0
        assert page.run("document.querySelectorAll('svg.chart').length") >= 1
        assert [each for each in page.requests if not each.startswith("file:")] == []


def test_a_scope_takes_a_query_or_rows(published: Project) -> None:
    ids = numbers_of(published, "claim")
    assert set(make_report(published, "product", ["claim"]).record["numbers"]) == set(ids.values())
    assert make_report(published, "product", ["claim", "series=b"]).record["numbers"] == [ids["b"]]
    assert make_report(published, "product", ["series=?", "cl*"]).record["numbers"] == [ids["a"], ids["b"]]
    for scope, message in ((["clam"], "no query of this name is published"), (["series=z"], "no published number is in this scope")):
        with pytest.raises(WarehouseError) as caught:
            make_report(published, "product", scope)
        assert caught.value.code == "WH610" and message in caught.value.message
    with pytest.raises(WarehouseError, match="a scope is a query or column=value"):
        make_report(published, "product", ["=x"])


def test_figures_are_grouped_by_what_they_say_something_about() -> None:
    assert [area(*each) for each in (
        ("ttft_p99_ms", "ms"), ("throughput", "tokens/s"), ("error_rate", "%"), ("cost_per_token_usd", "USD"), ("energy", "J"), ("v", None),
        ("performance_result", "Latency (ms)"), ("bandwidth", "GB/s"), ("power_result", "Watts"), ("accelerator_power_w", "W"),
    )] == ["latency", "throughput", "reliability", "cost", "cost", "other", "latency", "throughput", "other", "other"]


def test_directions_are_words() -> None:
    assert [way(of, ratio) for of in ("latency", "throughput", "cost", "other") for ratio in (0.9, 1.1)] == [
        "faster", "slower", "slower", "faster", "cheaper", "dearer", "lower", "higher",
    ]
    assert impact("latency", 1.089) == "users wait longer (+8.9 %)" and impact("cost", 0.5) == "the same work costs less (0.5 times)"


def test_what_moved_between_publications_is_said_with_its_confidence(tmp_path: Path) -> None:
    project = made(tmp_path, {"claim": CLAIM}, runs((100.0, 100.1, 100.2, 100.1, 100.0, 100.2)))
    publish(project, "claim", as_provisional=True)
    add(project, {f"a{number}": 150.0 + number / 100 for number in range(11, 31)}, "more")
    publish(project, "claim", as_provisional=True)
    (moved,) = [each for each in make_report(project, "product").page.tables if each.name == "moved"]
    (row,) = moved.records()
    assert row["area"] == "throughput" and row["direction"] == "faster" and row["impact"].startswith("more is done per second (+50.0 %")  # 150.175 / 100.1
    assert row["confidence"] == "their intervals are apart"
    assert {row["number"], row["earlier"]} == {
        cell.number_id for each in publications(project) for one in each.rows() for cell in one.cells.values()
    }
    (left_out,) = [each for each in make_report(project, "product").page.tables if each.name == "left_out"]
    assert [each["why"] for each in left_out.records()] == ["its query was published again since"]


def finding(variables: tuple[str, ...], needs: int | None) -> Finding:
    """A server became slower from version 0.6.1 to 0.6.2, 10 to 12 ms, in one session after."""
    at = datetime(2026, 1, 31, tzinfo=UTC)
    first, last = (
        Measurement(run, "serving", "ttft_p99_ms", "c16", "ms", "lower", "s", "case", "dgx-07", "k", "k", value, at, {})
        for run, value in (("r2", 12.0), ("r1", 10.0))
    )
    return Finding(
        "f-1", "step 1", "suspected", "worse", last, first, 10.0, 12.0, NotSupported("too few", "run", 2, 5), (5, 2), 1, 0.001, 0.01, needs, variables,
        "still", (Difference("package", "vllm", ("0.6.1",), ("0.6.2",)),), values=(10.0, 12.0), run_ids=("r1", "r2"), place=1,
    )


def test_a_finding_has_one_hypothesis_a_repro_and_an_experiment() -> None:
    one = finding(("software",), 3)
    assert hypothesis(one) == "Only software changed: package vllm: 0.6.1 -> 0.6.2."
    assert experiment(one) == "3 more runs of the state after, in at least 1 more session, with only software changed."
    assert hypothesis(finding(("software", "script"), None)).startswith("Several variables changed together (software, script)")
    known = {
        "r1": {("workload", "argv"): ('["serve", "--model", "a b", "/home/us/x"]', None), ("software", "image_digest"): ("sha256:1", None)},
        "r2": {("workload", "env.OMP"): ("8", None)},
    }
    found = Findings((one,), 1, known)
    (repro,) = [each.text for each in exploratory.engineering(found) if isinstance(each, Text)]
    assert repro.splitlines() == [
        "# before: run r1", "serve --model 'a b' /home/us/x", "# image: sha256:1", "# after: run r2", "# the evidence records no command",
        "# image: not stated", "# env.OMP: 8",
    ]
    (repro,) = [Withholding().part(each) for each in exploratory.partner(found) if isinstance(each, Text)]
    assert isinstance(repro, Text) and repro.text.splitlines()[:3] == ["# before", "serve --model 'a b' (withheld)", "# image: sha256:1"]
    (table,) = [each for each in exploratory.product(found) if isinstance(each, Table)]
    (row,) = table.records()
    assert (row["area"], row["direction"], row["impact"], row["next"]) == ("latency", "slower", "users wait longer (+20.0 %)", "repeat it: 3 more runs")


# --- partners --------------------------------------------------------------------------------------------------------


def test_a_partner_reads_no_name_of_ours(published: Project) -> None:
    for form in FORMS:
        text = form(make_report(published, "partner"))
        assert not [word for word in ("gpu-node-17", "alice", "/home", str(published.root)) if word in text]
        assert not re.search(r"\b(a01|b02)\b", text)  # whole: a digest may have their characters in it
        assert "evil.example" not in text and "(withheld)" in text
        assert numbers_of(published, "claim")["a"] in text


def test_what_is_withheld_by_its_form_or_because_the_build_knows_it() -> None:
    withheld = Withholding(frozenset({"dgx-07", "prod-east"}), frozenset({"01KG8Q3V"}))
    cases = {
        "python /opt/us/run.py --out ~/x": "python (withheld) --out (withheld)", "on dgx-07.prod-east": "on (withheld).(withheld)",
        "nccl_dgx-07_ring": "nccl_(withheld)_ring", "10.1.2.3 saw job 8812": "(withheld) saw (withheld)", "run 01KG8Q3V": "run (withheld)",
        "bob@head.cluster.local": "(withheld)", "ssh node1.dc2.example.com": "ssh (withheld)", "https://git.us/x?y": "(withheld)",
        "vLLM 0.6.1 at 52 tokens/s": "vLLM 0.6.1 at 52 tokens/s", "MiniMaxAI/MiniMax-M2.5": "MiniMaxAI/MiniMax-M2.5", "C:\\us\\x": "(withheld)",
    }
    assert {text: withheld.text(text) for text in cases} == cases
    assert [names_ours(name) for name in (
        "node_name", "run_id", "job_uid", "user", "raw_path", "machine", "k8s_namespace", "author_email", "slurm_account", "model", "precision",
    )] == [True] * 9 + [False] * 2


def test_a_partner_report_has_no_scope_of_ours(published: Project) -> None:
    for scope in ("node_name=gpu-node-17", "what=/home/alice*"):
        with pytest.raises(WarehouseError) as caught:
            make_report(published, "partner", [scope])
        assert caught.value.code == "WH612"


def test_the_split_has_every_kind_of_condition_and_says_the_smallest_change() -> None:
    header = (Path(__file__).parents[1] / "models" / "marts" / "run_condition.sql").read_text()
    kinds = re.search(r'kind: \{type: varchar, description: "([^"]+)"', header)
    assert kinds and {*re.split(r", | or ", kinds[1]), "machine"} == SPLIT.keys()  # the machine is added by `read_conditions`
    vllm, gpu, batch = Difference("package", "vllm", ("0.6.1",), ("0.6.2",)), Difference("hardware", "gpu_model", ("A",), ("B",)), Difference(
        "parameter", "batch", ("1",), ("2",)
    )
    assert smallest_change([vllm]) == "bisect vllm between its two versions"
    assert smallest_change([batch]) == "none for others: only what is ours differs"
    assert smallest_change([vllm, batch]) == "none yet: our own setup differs too. We repeat it with only vllm changed"
    assert smallest_change([gpu]) == "none yet: only hardware differs"
    host, commit = Difference("machine", "host", ("a",), ("b",), is_move=True), Difference("git", "commit", ("1",), ("2",))
    assert {side_of(each.kind) for each in (host, commit)} == {NOT_SAID}
    assert smallest_change([vllm, host, commit]) == "none yet: our own setup and hardware differs too. We repeat it with only vllm changed"


# --- names made by evidence ------------------------------------------------------------------------------------------


def test_evidence_does_not_inject(published: Project, tmp_path: Path) -> None:
    path = written(published, tmp_path, scope=("evil",))
    text = path.read_text()
    assert "<script>alert" not in text and "&lt;script&gt;alert(1)&lt;/script&gt;" in text and "\u202e" not in text
    assert text.count("<!--/exploratory-->") == 1
    with offline_page() as page:
        page.open(path.as_uri())
        assert page.run("document.scripts.length") == 1 and "<script>alert(1)</script>" in page.run("document.body.textContent")
    text = written(published, tmp_path, form="md", scope=("evil",)).read_text()
    assert "\u202e" not in text and text.count("<!--/exploratory-->") == 1 and "<script" not in text
    (number,) = numbers_of(published, "evil").values()
    lines = [line for line in text.splitlines() if "alert" in line and number in line]  # among those that matter, and of its query
    for line, cells in zip(lines, (9, 10), strict=True):
        assert "\\`x\\` \\| y" in line and "://" not in line and "\\](http&#58;//" in line
        assert len(re.findall(r"(?<!\\)\|", line)) == cells + 1
    assert not [line for line in text.splitlines() if line.startswith("# z")]


def test_at_a_glance(published: Project) -> None:
    """25 lines at most, with what may be quoted, what is not known, and nothing that a title smuggles in."""
    for audience in AUDIENCES:
        text = report_at_a_glance(published, audience)
        lines = text.splitlines()
        assert len(lines) <= 25 and "3 published numbers, " in lines[2] and "\u202e" not in text and "<script" not in text
        for number in (*numbers_of(published, "claim").values(), *numbers_of(published, "evil").values()):
            assert sum(f"`{number}`" in line for line in lines if line.startswith("- ")) == 1
    (row,) = [line for line in lines if numbers_of(published, "claim")["a"] in line and line.startswith("- ")]
    low, high = map(float, re.findall(r"\\\[([\d.]+), ([\d.]+)\\\]", row)[0])
    assert low < (100.1 + 100.11) / 2 < high and "tokens/s" in row
    assert any(re.match(r"- .*: against [123] numbers?$", line) for line in lines)
    assert any(re.match(r"- \d+ rules that could not be checked, such as: ", line) for line in lines)


# --- verification ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("audience", "form"), few([(audience, form) for audience in AUDIENCES for form in ("html", "md")], 3))
def test_what_was_written_verifies(published: Project, tmp_path: Path, audience: str, form: str) -> None:
    path = written(published, tmp_path, audience, form)
    last, numbers = verdicts(published, path)
    assert last.state == VERIFIED and "its exploratory section is not verified" in last.reason
    assert numbers.keys() == {*numbers_of(published, "claim").values(), *numbers_of(published, "evil").values()}
    assert {each.state for each in numbers.values()} == {VERIFIED}


def test_the_command_verifies_a_report(published: Project, tmp_path: Path, wh_on: WhOn) -> None:
    path = written(published, tmp_path)
    status, out, err = wh_on(published, "verify", str(path), "--json")
    assert status == 0 and [json.loads(line)["state"] for line in out.splitlines()] == [VERIFIED] * 4
    status, out, err = wh_on(published, "verify", str(path), "--strict")
    assert status == 0 and "letter by letter" in out and "4 verified" in err


def _swapped(text: str, one: str, other: str) -> str:
    return text.replace(one, "@@").replace(other, one).replace("@@", other)


@pytest.mark.parametrize("form", ["html", "md"])
def test_every_change_of_a_published_section_is_found(published: Project, tmp_path: Path, form: str) -> None:
    path = written(published, tmp_path, form=form, scope=("claim",))
    text = path.read_text()
    ids = numbers_of(published, "claim")
    row = ("<td", "</td>") if form == "html" else ("| ", " |")
    changed = {
        "a digit": text.replace("7.5", "8.5"),
        "a verdict": text.replace("not publishable", "publishable"),
        "a unit": text.replace("tokens/s", "tokens/h"),
        "an interval": text.replace("95% over", "99% over"),
        "a removed id": text.replace(ids["a"], ""),
        "swapped ids": _swapped(text, ids["a"], ids["b"]),
        "a moved value": _swapped(text, "7.5", "100.105"),
        "a smuggled figure": text.replace("Every figure here", "It is 20 % faster. Every figure here"),
        "a smuggled row": text.replace(row[0], f"{row[0]}{row[0]}", 1),
        "the scope": text.replace('"scope":["claim"]', '"scope":[]'),
        "the audience": text.replace('"audience":"engineering"', '"audience":"product"'),
        "the note on what is exploratory": text.replace("Nothing here is published or frozen", "All of this is published"),
        "the end": text[: len(text) // 2],
        "an addition": text + "\nand 20 % faster\n",
    }
    for what, forged in changed.items():
        assert forged != text, what
        path.write_text(forged)
        try:
            last = check(published, path)
        except WarehouseError as error:
            assert error.code == "WH611" and what in ("the end", "an addition"), (what, error)
            continue
        assert last.state in (TAMPERED, REFUSED), (what, last)


@pytest.mark.parametrize("form", ["html", "md"])
def test_an_exploratory_section_does_not_pass_for_a_published_one(published: Project, tmp_path: Path, form: str) -> None:
    path = written(published, tmp_path, form=form, scope=("claim",))
    text, number = path.read_text(), numbers_of(published, "claim")["a"]
    end = "<!--/exploratory-->"
    harmless = "<p>A remark.</p>" if form == "html" else "A remark.\n\n"
    path.write_text(text.replace(end, harmless + end))
    assert check(published, path).state == VERIFIED  # nothing of it is verified
    forged = {
        "html": ("</section><section id='published'>9", '<img src="https://evil.example/x">', f"<p>{number} 120</p>", "<h1>Published</h1>", "<p style='x'>9</p>"),
        "md": ("## Published\n\n9\n\n", "Title\n=====\n\n", f"{number} 120\n\n", "<b>9</b>\n\n", "[x](https://evil.example)\n\n", "```\nopen\n"),
    }[form]
    for insertion in forged:
        path.write_text(text.replace(end, insertion + end))
        assert check(published, path).state == TAMPERED, insertion


def test_a_report_of_another_version_is_compared_number_by_number(published: Project, tmp_path: Path, wh_on: WhOn) -> None:
    for form in ("html", "md"):
        path = written(published, tmp_path, form=form, scope=("claim",))
        version = re.search(r'"wh":"([^"]+)"', path.read_text())
        assert version
        text = path.read_text().replace(f'"wh":"{version[1]}"', '"wh":"0.0.1"').replace(f"wh {version[1]}", "wh 0.0.1")
        path.write_text(text)
        last = check(published, path)
        assert last.state == STALE, last.reason
        assert "made by another version of wh" in last.reason and "words" in last.reason
        assert wh_on(published, "verify", str(path), "--strict")[0] == 1
        ids = numbers_of(published, "claim")
        only_shown = re.sub(r'(<span title="100\.10\d+">)100', r"\g<1>200", text)  # in HTML: what is read, not the title that has all digits
        assert (form == "html") == (only_shown != text)
        replaced = text.replace("7.5", "8.5"), text.replace("tokens/s", "tokens/h"), _swapped(text, ids["a"], ids["b"])
        for forged in (*replaced, *([only_shown] if form == "html" else [])):
            path.write_text(forged)
            assert check(published, path).state == TAMPERED


def test_corrections_since_are_said_and_later_reports_leave_them_out(tmp_path: Path, wh_on: WhOn) -> None:
    project = made(tmp_path, {"claim": CLAIM}, runs())
    publish(project, "claim", as_provisional=True)
    path = written(project, tmp_path)
    (publication,) = publications(project)
    (number,) = current_numbers(project, "claim")
    withdraw(project, publication.digest, "a wrong clock")
    last, numbers = verdicts(project, path)
    assert last.state == VERIFIED  # it is what was published then
    assert numbers[number].state == RETRACTED and "withdrawn" in numbers[number].reason and "a wrong clock" in numbers[number].reason
    assert wh_on(project, "verify", str(path), "--strict")[0] == 1
    later = make_report(project, "engineering")
    (left_out,) = [each for each in later.page.parts if each.name == "left_out"]
    assert isinstance(left_out, Table) and "withdrawn" in str(left_out.rows) and "a wrong clock" in str(left_out.rows)
    assert later.record["numbers"] == [] and later.record["left_out"] == [publication.digest]
    assert check(project, written(project, tmp_path)).state == VERIFIED


def test_a_number_that_the_build_does_not_hold_any_more_is_stale(tmp_path: Path) -> None:
    project = made(tmp_path, {"claim": CLAIM}, runs())
    publish(project, "claim", as_provisional=True)
    path = written(project, tmp_path)
    add(project, {"a11": 500.0}, "more")
    last, numbers = verdicts(project, path)
    assert last.state == VERIFIED and {each.state for each in numbers.values()} == {STALE}


def test_changed_evidence_is_found_through_a_report(tmp_path: Path, wh_on: WhOn) -> None:
    project = made(tmp_path, {"claim": CLAIM}, runs())
    publish(project, "claim", as_provisional=True)
    path = written(project, tmp_path)
    (raw,) = project.store_root.rglob("a01.nv") if hasattr(project.store_root, "rglob") else Path(str(project.store_root)).rglob("a01.nv")
    raw.chmod(0o644)
    raw.write_text("a01=999.0\n")
    assert wh_on(project, "verify", str(path))[0] == 3
    assert {each.state for each in verdicts(project, path)[1].values()} == {TAMPERED}


def test_a_file_that_is_no_report_is_said_to_be_none(published: Project, tmp_path: Path, wh_on: WhOn) -> None:
    path = tmp_path / "x.html"
    path.write_text("<!doctype html><p>hello")
    assert wh_on(published, "verify", str(path))[0] == 3
    for record in ("{}", '{"report_version":1}', '{"report_version":9,"scope":[],"publications":[],"left_out":[],"numbers":[],"audience":"product"}'):
        path.write_text(f'<script type="application/json" id="wh-report">{record}</script>')
        with pytest.raises(WarehouseError) as caught:
            read_report(path)
        assert caught.value.code == "WH611"


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command_writes_the_file_or_prints_it(published: Project, tmp_path: Path, wh_on: WhOn) -> None:
    target = tmp_path / "r.html"
    status, out, err = wh_on(published, "report", "--audience", "product", "-o", str(target))
    assert (status, out) == (0, "") and f"wh verify {target}" in err
    status, out, _ = wh_on(published, "report", "--audience", "product")
    assert status == 0 and out == target.read_text()
    status, out, _ = wh_on(published, "report", "--audience", "product", "--markdown")
    assert status == 0 and out.startswith("<!-- wh-report 1 -->")
    assert wh_on(published, "report", "--audience", "nobody")[0] == 2
    assert wh_on(published, "report", "--audience", "product", "--scope", "nothing")[0] == 5
