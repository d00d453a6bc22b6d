"""`wh serve` against those who would have it lie or leak: what a page answers must not outlive what it was computed from."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples.examples import RUN
from samples.served import copied, served_project
from serving import client

from warehouse.cli.main import main
from warehouse.errors import WarehouseError
from warehouse.project.project import read_project
from warehouse.surfaces.all_views import view_named
from warehouse.surfaces.answering import Answers
from warehouse.surfaces.web.tokens import Tokens


def test_revoking_the_last_token_does_not_open_the_server(tmp_path: Path) -> None:
    (tmp_path / "warehouse.toml").write_text((served_project().root / "warehouse.toml").read_text())
    own = read_project(tmp_path)
    header = {"Authorization": f"Bearer {Tokens(own).make('only', 'read')}"}
    asking = client(own)
    assert asking.get("/api/publications", headers=header).status_code == 200
    Tokens(own).revoke("only")
    assert asking.get("/api/publications").status_code == 401
    assert asking.get("/api/publications", headers=header).status_code == 401
    Tokens(own).path.unlink()
    assert asking.get("/api/publications").status_code == 401
    again = {"Authorization": f"Bearer {Tokens(own).make('next', 'read')}"}
    assert asking.get("/api/publications", headers=again).status_code == 200


def test_a_server_for_other_machines_stays_closed_if_its_tokens_go_before_the_first_request(tmp_path: Path) -> None:
    (tmp_path / "warehouse.toml").write_text((served_project().root / "warehouse.toml").read_text())
    assert client(read_project(tmp_path), needs_token=True).get("/api/publications").status_code == 401


def test_an_edited_policy_changes_the_answer_and_its_tag_without_a_build(tmp_path: Path) -> None:
    """`/runs` has the same answer; its tag changes too, for the key of all answers has the policies."""
    own = copied(tmp_path / "project")
    asking = client(own)
    before = asking.get("/api/runs")
    header = {"If-None-Match": before.headers["etag"]}
    assert asking.get("/api/runs", headers=header).status_code == 304
    folder = own.root / "queries" / "policies"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "serving.toml").write_text('name = "serving"\nversion = "2"\ndescription = "ours"\n')
    after = asking.get("/api/runs", headers=header)
    assert after.status_code == 200 and after.json() == before.json()
    (folder / "serving.toml").unlink()
    assert asking.get("/api/runs", headers=header).status_code == 304


@pytest.mark.parametrize("expression", ["'99999-01-01'::date", "'-infinity'::timestamptz", "'infinity'::timestamp", "['99999-01-01'::date]"])
def test_a_date_that_python_does_not_have_is_refused_with_a_way_out(expression: str) -> None:
    asking = client(served_project())
    refused = asking.get("/api/sql", params={"query": f"select {expression} as far"})
    assert (refused.status_code, refused.json()["code"]) == (400, "WH213")
    assert "far has a date or time" in refused.json()["message"] and "varchar" in refused.json()["hint"]
    assert asking.get("/api/sql", params={"query": f"select ({expression})::varchar as far"}).status_code == 200


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999"])
def test_a_parameter_that_is_a_number_is_finite(text: str) -> None:
    refused = client(served_project()).get("/api/frontier", params={"at": text})
    assert (refused.status_code, refused.json()["code"], refused.json()["place"]) == (400, "WH601", "at")


@pytest.mark.parametrize("name", ["\r\nX-Own: 1", 'a", W/"b', "\x00", "\u2028", "é"])
def test_the_name_of_a_table_writes_no_header_of_its_own(name: str) -> None:
    answer = client(served_project()).get("/api/runs", params={"format": "json", "table": name})
    assert answer.status_code in (200, 400) and "x-own" not in answer.headers
    tag = answer.headers.get("etag", 'W/""')
    assert tag.isascii() and tag.isprintable() and tag.count('"') == 2


def test_a_store_that_is_gone_does_not_look_empty(tmp_path: Path) -> None:
    own = copied(tmp_path / "own")
    answers = Answers(own)
    assert answers.answer(answers.question(view_named("publications"), [], {})).page.tables[0].rows
    (own.root / ".wh" / "store").rename(tmp_path / "elsewhere")
    answers._ledger = (float("-inf"), "")  # as if a second had passed
    with pytest.raises(WarehouseError, match="WH114.*has none now"):
        answers.question(view_named("publications"), [], {})


def test_an_error_does_not_say_where_the_project_lies(tmp_path: Path) -> None:
    own = copied(tmp_path / "own")
    asking = client(own)
    for place in ("/api/runs?build=ffff", "/runs?build=ffff"):
        found = asking.get(place)
        assert found.status_code == 404 and str(tmp_path) not in found.text and ".wh/builds" in found.text


def test_a_number_of_a_retracted_run_is_listed_as_such(tmp_path: Path) -> None:
    own = copied(tmp_path / "own")
    assert main(["--project", str(own.root), "retract", f"{RUN}1", "--reason", "throttled"]) == 0
    rows = client(own).get("/api/numbers").json()["parts"][1]["rows"]
    assert {row["state"] for row in rows} == {"retracted"}
