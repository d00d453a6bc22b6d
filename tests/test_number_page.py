"""The page of a number: its value and worth, the runs under it, the way to its bytes, and what became of it.

Twelve runs of a project of its own: three are the product, seven are left out with a reason, one failed, and one is of another series.
"""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from samples.served import served_project
from serving import client
from stored import bundle_folder, folder_of
from test_gate import COLUMNS, add, header, made, runs
from test_gate_forgery import judged_again, left_out_dropped, reseal

from warehouse.claims.numbers.deciding import retract
from warehouse.claims.numbers.search import current_numbers
from warehouse.claims.publish.corrections import withdraw
from warehouse.claims.publish.publication import JUDGEMENT, publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.last_checks import STATE_FILE
from warehouse.claims.verify.verdict import VERIFIED
from warehouse.claims.verify.verification import verify_number, verify_publication
from warehouse.errors import WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.surfaces.all_views import view_named
from warehouse.surfaces.answering import Answers
from warehouse.surfaces.parts import Excerpt, Facts, Figure, Page, Table, Text
from warehouse.surfaces.view import Visit
from warehouse.surfaces.views.claims import number_origin
from warehouse.surfaces.views.facts import reading
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import find_current

PICK = "run_id in ('a01', 'a04', 'a07')"  # 100, 100.05, 100.08
REASON = "these three machines are the product"
EXCLUSIONS = f"exclusions: {{\"{PICK}\": {REASON}, \"status = 'succeeded'\": it measured nothing}}"
CLAIM = f"""{header(EXCLUSIONS, columns=COLUMNS)}select
    series,
    median(value) as v
from run
where
    status = 'succeeded'
    and {PICK}
group by series
"""


def page_of(project: Project, name: str, **values: Any) -> Page:
    view = view_named(name)
    given = {parameter.name: parameter.default for parameter in view.parameters} | values
    return view.answer(Visit(project, find_current(project), given, datetime.now(UTC)))


def number_page(project: Project, number_id: str) -> Page:
    return page_of(project, "number", number_id=number_id)


def test_what_follows_from_a_build_alone_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of metrics and the conditions of the same runs are not read again for each number of a build."""
    answers, read = Answers(served_project()), list[str]()
    for module, name in ((reading, "metric_names"), (number_origin, "_stated")):
        made_once = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, made_once=made_once, name=name: (read.append(name), made_once(*given))[1])
    ids = [cell.number_id for each in publications(served_project()) for row in each.rows() for cell in row.cells.values() if cell.number_id]
    pages = [answers.answer(answers.question(view_named("number"), [], {"number_id": each})).page for each in ids[:3]]
    assert len({page.subtitle for page in pages}) == 3 and sorted(read) == ["_stated", "metric_names"]
    assert all(records(page, "conditions") for page in pages)


def test_a_statistic_of_a_metric_that_its_row_names_has_the_metrics_unit() -> None:
    (row,) = [
        row for each in publications(served_project()) if each.query == "indicator_results" for row in each.rows()
        if row.grain["result_key"] == "elapsed_ms"
    ]
    page = number_page(served_project(), str(row.cells["median"].number_id))
    assert page.title.endswith("elapsed ms") and part(page, "number").unit == "ms"
    assert part(number_page(served_project(), str(row.cells["run_count"].number_id)), "number").unit is None


def part(page: Page, name: str) -> Any:
    return next(each for each in page.parts if each.name == name)


def facts(page: Page, name: str) -> dict[str, Any]:
    found = part(page, name)
    assert isinstance(found, Facts)
    return {item.name: item.value for item in found.items}


def records(page: Page, name: str) -> list[dict[str, Any]]:
    found = part(page, name)
    assert isinstance(found, Table)
    return found.records()


def new_project(root: Path) -> Project:
    return made(root, {"claim": CLAIM}, runs() | {"a11": -1.0, "b01": 7.0})


def the_number(project: Project) -> str:
    (number_id,) = current_numbers(project, "claim")
    return number_id


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Built and published. Tests leave it as it is."""
    project = new_project(tmp_path_factory.mktemp("number"))
    publish(project, "claim", as_provisional=True)
    return project


def test_the_value_comes_first_with_its_unit_and_what_it_is_worth(published: Project) -> None:
    page = number_page(published, the_number(published))
    first = page.parts[0]
    assert isinstance(first, Figure)
    assert (first.value, first.unit) == (100.05, "tokens/s")
    assert first.interval.endswith("; 3 runs, 3 sessions") and "95% over runs and sessions" in first.interval
    assert first.states == ("provisional", "unsigned")  # five runs are asked for
    assert page.title == "a" and page.subtitle == "v · claim.v: Tokens per second"
    (publication,) = publications(published)
    about = facts(page, "about")
    assert about["series"] == "a" and about["cell"] == "claim[series=a].v" and about["publication"] == publication.digest
    assert about["as_published"] == about["now"] == 100.05


def test_when_it_was_last_verified_is_shown_and_nothing_rests_on_it(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    publish(project, "claim", as_provisional=True)
    reseal(project, JUDGEMENT, left_out_dropped)  # each number is right, and the whole is not
    judged_again(project)
    publication = publications(project)[0].digest
    number, now = the_number(project), datetime.now(UTC)
    view, key = view_named("number"), Answers(project)

    def states(hours: int = 0) -> tuple[str, ...]:
        figure = view.answer(Visit(project, find_current(project), {"number_id": number}, now + timedelta(hours=hours, minutes=1))).parts[0]
        assert isinstance(figure, Figure)
        return figure.states

    def etag() -> str:
        return key.question(view, [], {"number_id": number}).key

    assert states() == ("provisional", "unsigned")
    before = etag()
    assert verify_number(project, number).state == VERIFIED
    assert states()[-1] == "verified within the hour" and states(2)[-1] == "verified 2 h ago" and states(24 * 9)[-1] == "verified 9 days ago"
    assert etag() != before  # the page that is kept says nothing of it
    whole = {verdict.number_id: verdict.state for verdict in verify_publication(project, publications(project)[0])}
    assert states(3)[-1] == "verified 3 h ago" and whole == {number: VERIFIED, None: "refused"}
    last = next(item for item in part(number_page(project, number), "about").items if item.name == "last_verified")
    assert "its publication as a whole refused" in last.note
    for odd in (b"[]", b"\xff", b'{"%s": {"at": 3, "state": {}, "others": []}}' % publication.encode()):  # whatever lies there
        (project.builds / STATE_FILE).write_bytes(odd)
        assert states() == ("provisional", "unsigned") and verify_number(project, number).state == VERIFIED


def test_every_run_is_there_the_left_out_ones_with_reason_and_clause(published: Project) -> None:
    page = number_page(published, the_number(published))
    rows = {row["run_id"]: row for row in records(page, "runs")}
    used = {run: row["value"] for run, row in rows.items() if row["state"] == "used"}
    assert used == {"a01": 100.0, "a04": 100.05, "a07": 100.08}
    assert rows.keys() == {*runs(), "a11", "b01"}
    for run, value in runs().items():
        if run not in used:
            assert rows[run]["state"] == "left out" and rows[run]["why"] == REASON and rows[run]["value"] == value
            assert rows[run]["clause"] == PICK and rows[run]["place"].startswith("queries/claim.sql:")
    assert rows["a11"]["state"] == "failed" and rows["a11"]["value"] is None
    assert page.table("runs").chart.link == "/runs/{run_id:path}"
    assert facts(page, "steps")["runs"] == "3 runs used"


def test_the_cited_bytes_are_those_of_the_files(published: Project) -> None:
    page = number_page(published, the_number(published))
    cited = {each.cited for each in page.parts if isinstance(each, Excerpt)}
    assert cited == {"a01=100.0", "a04=100.05", "a07=100.08"}
    files = records(page, "files")
    assert {row["raw_path"] for row in files} == {"a01.nv", "a04.nv", "a07.nv"} and {row["state"] for row in files} == {"whole"}
    store = open_store(published)
    for row in files:
        lies = (bundle_folder(store, row["bundle"]) / "files" / row["raw_path"]).read_bytes()
        from hashlib import sha256

        assert sha256(lies).hexdigest() == row["sha256"]


def test_each_rule_of_the_gate_says_what_it_found_and_what_is_asked(published: Project) -> None:
    page = number_page(published, the_number(published))
    rows = {row["id"]: row for row in records(page, "gate")}
    few = rows["runs"]
    assert (few["verdict"], few["figure"], few["asked"]) == ("provisional", 3, "at least 5")
    assert (rows["failures"]["figure"], rows["failures"]["why"]) == (0.25, "1 run")  # one of four: those left out with a reason do not count
    assert ("a11", rows["failures"]["rule"]) in {(each["run_id"], each["rule"]) for each in records(page, "rule_runs")}
    assert (rows["sessions"]["verdict"], rows["sessions"]["figure"]) == ("publishable", 3)
    assert rows["errors"]["figure"] is None and rows["errors"]["why"] == "no run states its error_rate"


def test_the_page_says_how_to_do_all_of_it_again(published: Project) -> None:
    number_id = the_number(published)
    page = number_page(published, number_id)
    commands = part(page, "commands").text
    assert f"wh verify {number_id}" in commands and f"wh audit-packet {number_id}" in commands
    citation, (publication,) = part(page, "citation").text, publications(published)
    assert "claim[series=a].v = 100.05 tokens/s" in citation and number_id in citation and publication.digest in citation
    assert "median(value)" in part(page, "sql").text and part(page, "sql").text.count("\n") > 5  # as its author wrote it
    assert [row["model"] for row in records(page, "models")] == ["main.run"]


def test_a_number_that_is_only_built_says_so(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    page = number_page(project, the_number(project))
    figure = page.parts[0]
    assert isinstance(figure, Figure) and figure.value == 100.05
    assert "not published" in figure.states and "publishable" not in figure.states
    assert any("not published" in notice and "wh publish claim" in notice for notice in page.notices)
    assert {row["run_id"] for row in records(page, "runs")} == {"a01", "a04", "a07"}
    assert isinstance(part(page, "gate"), Text) and "wh judge claim" in part(page, "gate").text
    assert "audit-packet" not in part(page, "commands").text and "not published" in part(page, "citation").text


def test_a_published_number_opens_without_any_build(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    publish(project, "claim", as_provisional=True)
    number_id = the_number(project)
    shutil.rmtree(project.builds)
    page = number_page(project, number_id)
    figure = page.parts[0]
    assert isinstance(figure, Figure) and (figure.value, figure.unit) == (100.05, "tokens/s") and "stale" in figure.states
    assert facts(page, "about")["now"] is None
    assert {each.cited for each in page.parts if isinstance(each, Excerpt)} == {"a01=100.0", "a04=100.05", "a07=100.08"}
    assert client(project).get(f"/numbers/{number_id}").status_code == 200


def test_what_became_of_a_number_is_on_its_page(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    publish(project, "claim", as_provisional=True)
    first, (publication,) = the_number(project), publications(project)
    (project.root / "queries" / "claim.sql").write_text(CLAIM.replace("median(value) as v", "max(value) as v").replace("statistic: median", "statistic: value"))
    build(project)
    (project.root / "queries" / "claim.sql").write_text(CLAIM)
    retract(project, "a04", "its fan stood still")
    add(project, {"a12": 100.4}, "later")
    withdraw(project, publication.digest, "the clock was wrong")
    page = number_page(project, first)
    figure = page.parts[0]
    assert isinstance(figure, Figure) and figure.value == 100.05
    assert "withdrawn" in figure.states and "retracted" in figure.states
    assert any("the clock was wrong" in notice for notice in page.notices)
    assert any("a04" in notice and "its fan stood still" in notice for notice in page.notices)
    (row,) = records(page, "history")
    assert (row["state"], row["value"], row["number"]) == ("withdrawn", 100.05, first) and "the clock was wrong" in row["words"]


def test_a_later_publication_of_the_cell_is_in_its_history(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    publish(project, "claim", as_provisional=True)
    first = the_number(project)
    wider = CLAIM.replace("'a07')", "'a07', 'a10')")  # 100.11 beside 100, 100.05 and 100.08
    (project.root / "queries" / "claim.sql").write_text(wider)
    build(project)
    publish(project, "claim", as_provisional=True)
    second = the_number(project)
    page = number_page(project, first)
    assert [(row["value"], row["number"]) for row in records(page, "history")] == [(100.065, second), (100.05, first)]
    assert "stale" in page.parts[0].states
    assert facts(page, "about")["now"] == 100.065 and facts(page, "about")["as_published"] == 100.05
    sql = part(page, "sql").text  # that of this number, not of the build
    assert "median ( value )" in sql and "'a07'" in sql and "a10" not in sql


def test_damaged_evidence_is_named_and_not_shown(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    publish(project, "claim", as_provisional=True)
    number_id, store = the_number(project), open_store(project)
    rows = {row["raw_path"]: row for row in records(number_page(project, number_id), "files")}
    altered = bundle_folder(store, rows["a01.nv"]["bundle"]) / "files" / "a01.nv"
    altered.chmod(0o644)
    altered.write_text("a01=999.0")
    (bundle_folder(store, rows["a04.nv"]["bundle"]) / "files" / "a04.nv").unlink()
    page = number_page(project, number_id)
    assert {"altered", "missing"} <= set(page.parts[0].states)
    assert {each.cited for each in page.parts if isinstance(each, Excerpt)} == {"a07=100.08"}
    assert "a01=999.0" not in client(project).get(f"/numbers/{number_id}").text
    found = client(project).post(f"/api/numbers/{number_id}/verify").json()
    assert found["title"] == f"{number_id} is tampered"
    problems = next(each for each in found["parts"] if each["name"] == "problems")["rows"]
    assert {row["code"] for row in problems} == {"WH105", "WH106"}


def test_a_damaged_publication_is_not_shown_as_a_number(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    publish(project, "claim", as_provisional=True)
    number_id = the_number(project)
    shutil.rmtree(project.builds)
    rows = folder_of(publications(project)[0]) / "rows.jsonl"
    rows.chmod(0o644)
    whole = rows.read_bytes()
    rows.write_bytes(whole.replace(b"0x1.90333", b"0x1.80333"))
    assert rows.read_bytes() != whole
    with pytest.raises(WarehouseError) as caught:
        number_page(project, number_id)
    assert caught.value.code == "WH307"
    response = client(project).get(f"/api/numbers/{number_id}")
    assert response.status_code == 409 and response.json()["code"] == "WH307"


def test_verify_now_hashes_and_replays(published: Project) -> None:
    number_id = the_number(published)
    found = page_of(published, "verify", number_id=number_id)
    assert found.title == f"{number_id} is verified"
    checked = facts(found, "checked")
    assert checked["files_hashed"] == 3 and checked["bundles_replayed"] == 3 and checked["value"] == 100.05
    assert records(found, "problems") == []
    asked = client(published)
    page = asked.get(f"/numbers/{number_id}").text
    assert re.search(rf'<form[^>]*method="post"[^>]*action="/numbers/{number_id}/verify"', page)
    assert asked.get(f"/numbers/{number_id}/verify").status_code == 405
    # With no-referrer a browser sends a form with `Origin: null`, which is refused as another site's.
    assert asked.get(f"/numbers/{number_id}").headers["referrer-policy"] == "same-origin"
    response = asked.post(f"/numbers/{number_id}/verify", headers={"Origin": "http://localhost"})
    assert "rel=\"bookmark\"" not in response.text and "/api/numbers" not in response.text  # neither could be got
    assert response.status_code == 200 and f"{number_id} is verified" in response.text
    assert asked.post(f"/numbers/{number_id}/verify", headers={"Origin": "https://elsewhere.example"}).status_code == 403


def test_the_runs_left_out_have_a_page_with_every_clause(published: Project) -> None:
    page = page_of(published, "excluded", number_id=the_number(published))
    rows = {row["run_id"]: row for row in records(page, "excluded")}
    assert rows.keys() == {*runs(), "a11", "b01"} - {"a01", "a04", "a07"}
    assert rows["a02"]["clause"] == PICK and rows["a02"]["reason"] == "where" and rows["a02"]["is_of_row"] == "yes"
    assert rows["a11"]["clause"] == "status = 'succeeded'" and rows["b01"]["is_of_row"] == "no"
    assert facts(page, "population")["runs"] == 12 and facts(page, "population")["used"] == 3


@pytest.mark.parametrize(("text", "status", "code"), [
    ("n-aaaaaaaaaaaa", 404, "WH304"), ("8703", 400, "WH601"), ("claim", 400, "WH601"), ("n-<script>", 400, "WH601"), ("n-2nimndq6tma", 400, "WH601"),
])
def test_what_is_no_number(published: Project, text: str, status: int, code: str) -> None:
    response = client(published).get(f"/api/numbers/{text}")
    assert (response.status_code, response.json()["code"]) == (status, code)


def test_the_same_in_every_format(published: Project) -> None:
    asked, number_id = client(published), the_number(published)
    lines = asked.get(f"/api/numbers/{number_id}?format=csv&table=runs").text.splitlines()
    assert len(lines) == 13 and lines[0].startswith("run_id,value,state,why")
    assert sorted(line.split(",")[0] for line in lines[1:]) == sorted([*runs(), "a11", "b01"])
    document = asked.get(f"/api/numbers/{number_id}").json()
    assert document["title"] == "a" and [each["name"] for each in document["parts"]][:4] == ["number", "about", "runs", "steps"]
    html = asked.get(f"/numbers/{number_id}").text
    assert "100.05" in html and len(html) < 150_000




def test_names_of_runs_are_data_on_every_page_of_a_number(tmp_path: Path) -> None:
    hostile = 'a<script>alert(1)<b>\u202e"&12'
    header, _, sql = CLAIM.partition("*/")
    wider = sql.replace("'a07')", "'a07', 'a<script>alert(1)<b>' || chr(8238) || '\"&12')")
    project = made(tmp_path, {"claim": f"{header}*/{wider}"}, runs() | {hostile: 100.4})
    publish(project, "claim", as_provisional=True)
    number_id = the_number(project)
    rows = {row["run_id"]: row for row in records(number_page(project, number_id), "runs")}
    assert rows[hostile]["value"] == 100.4 and rows[hostile]["state"] == "used"
    for path in (f"/numbers/{number_id}", f"/numbers/{number_id}/excluded", "/numbers", "/publications"):
        page = client(project).get(path).text
        assert "<script>alert" not in page and "\u202e" not in page
    page = client(project).get(f"/numbers/{number_id}").text
    assert "a&lt;script&gt;alert(1)&lt;b&gt;\\u202e&#34;&amp;12" in page and 'href="/runs/a%3Cscript%3Ealert%281%29%3Cb%3E%E2%80%AE%22%2612"' in page
