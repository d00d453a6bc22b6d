"""`wh freshness`: each kind of row once, with the command that ends it, and none of them on what is fresh."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from alive import alive_project, change_a_number, change_the_query
from conftest import WhOn
from landed import Subject, place
from once import copied
from package_index import package_index, wheel
from samples import package_index as package_index_sample
from test_analysis_pages import asked, table
from test_hot_metrics import read

from warehouse.alive.freshness import freshness, measured_packages
from warehouse.alive.index_state import ask_index, take_index_state
from warehouse.alive.row import Row, run_ids
from warehouse.api import Warehouse
from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.last_checks import STATE_FILE, remember_number, remember_publication
from warehouse.claims.verify.verification import verify_publication
from warehouse.digest import canonical_json
from warehouse.errors import WarehouseError
from warehouse.project.project import Project, read_project
from warehouse.surfaces.agents.tools import call_view, view_tools
from warehouse.surfaces.answering import Answers
from warehouse.surfaces.hot_metrics.exposition import exposition
from warehouse.transform.build.build import build

NOW = datetime.now(UTC)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    copied("alive", alive_project, tmp_path)
    return read_project(tmp_path / "project")


def rows(project: Project, days: float = 0) -> dict[str, Row]:
    found = freshness(read_project(project.root), NOW + timedelta(days=days))
    assert found.problems == () and len(found.counts) == len({each.kind for each in found.rows})
    return {each.kind: each for each in found.rows}


def limits(project: Project, **days: int) -> None:
    file = project.root / "warehouse.toml"
    file.write_text(file.read_text() + "\n[freshness]\n" + "".join(f"{name} = {value}\n" for name, value in days.items()))


def newest(project: Project, folder: Path, *lines: str) -> None:
    file = folder / "newest.txt"
    file.write_text("\n".join(lines))
    take_index_state(project, file)


def test_a_newer_release_of_a_measured_package_is_found_by_version_and_name(project: Project, tmp_path: Path) -> None:
    assert rows(project)["package index"].remedy == "wh freshness --ask-index"
    newest(project, tmp_path, "# newest", "vllm[extra]==0.11.10 ; python_version > '3.9'", "some-thing==2.0", "unused==9")
    found = rows(project)
    assert "vllm 0.11.2+cu129 -> 0.11.10" in found["newer release"].words and "some-thing" not in found["newer release"].words
    assert "package index" not in found and found["newer release"].evidence[1].startswith("a")
    newest(project, tmp_path, "vllm==0.11.2", "some-thing==1.9")  # the last state counts, and a build's local part is no release
    assert "newer release" not in rows(project)
    assert "was asked on" in rows(project, 8)["package index"].words


def test_the_index_is_asked_by_uv_also_for_packages_that_it_lacks(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    assert measured_packages(project, NOW) == ["some-thing", "vllm"]
    wheels = {"vllm": {version: wheel("vllm", version, {}) for version in ("0.11.2", "0.13.0", "0.14.0rc1")}}
    with package_index(wheels) as url:
        monkeypatch.setenv("UV_DEFAULT_INDEX", url)
        state = ask_index(project, ["some-thing", "vllm"])
        assert "package index" not in rows(project)
        ask_index(project, ["some-thing"])
        assert "and not for all: whether 1 package of" in rows(project)["package index"].words
        ask_index(project, ["some-thing", "vllm"])
    assert state.newest == {"vllm": "0.13.0"} and state.source.startswith("the package index, by uv ")
    assert "vllm 0.11.2+cu129 -> 0.13.0" in rows(project)["newer release"].words
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with pytest.raises(WarehouseError) as caught:
        ask_index(project, ["vllm"])  # the index is gone
    assert caught.value.code == "WH404"


@pytest.mark.parametrize(("name", "text"), [
    ("outdated.json", '[{"name": "vllm", "version": "0.11.2", "latest_version": "0.13.0"}]'),
    ("pylock.toml", 'lock-version = "1.0"\n[[packages]]\nname = "vllm"\nversion = "0.13.0"\n'),
    ("index-state.json", '{"format": "warehouse-index-state", "at": "2026-01-31T00:00:00+00:00", "source": "x", "newest": {"vllm": "0.13.0"}}'),
])
def test_a_state_is_read_from_what_tools_write_and_says_its_own_date(name: str, text: str, project: Project, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    state = take_index_state(project, tmp_path / name)
    assert dict(state.newest) == {"vllm": "0.13.0"} and state.source == f"the file {name}"
    assert (state.at == datetime(2026, 1, 31, tzinfo=UTC)) == (name == "index-state.json")


@pytest.mark.parametrize("text", ["", "vllm >= 1\n", "[1]", '{"format": "other"}', "{"])
def test_a_file_that_states_no_versions_is_refused(text: str, project: Project, tmp_path: Path) -> None:
    (tmp_path / "state").write_text(text)
    with pytest.raises(WarehouseError) as caught:
        take_index_state(project, tmp_path / "state")
    assert caught.value.code == "WH404"


def test_another_value_in_the_cell_and_a_changed_query_are_found_and_published_anew(project: Project) -> None:
    assert not {"another value", "query changed"} & rows(project).keys()
    change_the_query(project)
    found = rows(project)
    assert found["query changed"].words == "claim: since it was published, 1 model under it changed: main.run"
    assert "another value" not in found
    change_a_number(project)
    found = rows(project)
    assert found["another value"].words.startswith("1 of 1 number of claim is not in the current build: n-")
    assert found["another value"].remedy == found["query changed"].remedy == "wh publish claim"
    publish(project, "claim", as_provisional=True)
    assert not {"another value", "query changed"} & rows(project).keys()


def test_a_policy_that_changed_is_named(project: Project) -> None:
    policies = project.root / "queries" / "policies"
    policies.mkdir(exist_ok=True)
    text = next(each for each in (Path(__file__).parents[1] / "queries" / "policies").glob("default.toml")).read_text()
    (policies / "default.toml").write_text(text + "\n# another text is the same policy\n")
    assert "query changed" not in rows(project)
    (policies / "default.toml").write_text(text.replace('version = "2"', 'version = "3"'))
    assert "its policy default changed: version 2, now 3" in rows(project)["query changed"].words


def test_evidence_that_retention_removes_soon_is_found_under_an_earlier_publication(project: Project) -> None:
    (first,) = publications(project)
    change_a_number(project)
    path = project.root / "queries" / "claim.sql"
    path.write_text(path.read_text().replace("group by series", "and run_id = 'a11' group by series"))  # its last publication needs later evidence
    build(project)
    publish(project, "claim", as_provisional=True)
    assert "evidence expires" not in rows(project, 730 - 60 - 1)
    row = rows(project, 730 - 60 + 1)["evidence expires"]
    assert f"10 bundles under the publication {first.digest[:12]} of claim from" in row.words
    assert row.remedy == f"wh push ../kept-evidence {first.digest[:12]} --create"
    assert row.words.endswith(" now") is False and rows(project, 731)["evidence expires"].words.endswith("of claim now")


def test_what_nobody_verified_and_what_was_found_wrong(project: Project) -> None:
    (published,) = publications(project)
    assert "not verified" not in rows(project, 29)
    assert "never verified here" in rows(project, 31)["not verified"].words
    list(verify_publication(project, published))
    assert "last verified here" in rows(project, 31)["not verified"].words and "failed verification" not in rows(project)
    limits(project, verified_days=40)
    assert "not verified" not in rows(project, 31)
    remember_publication(project, published.digest, {"n-a": "verified"}, None)
    remember_number(project, published.digest, "n-a", "tampered")
    assert rows(project)["failed verification"].words == "the last verification of claim found: tampered"
    (project.builds / STATE_FILE).unlink()
    remember_number(project, published.digest, "n-a", "missing")  # nobody verified all of it
    assert rows(project)["failed verification"].words == "the last verification of claim found: missing" and "not verified" in rows(project, 41)
    remember_publication(project, published.digest, {"n-a": "verified", "n-b": "verified", "n-c": "tampered"}, None)
    row = rows(project)["failed verification"]
    assert row.words == "the last verification of claim found: tampered" and row.remedy == f"wh verify {published.digest[:12]}"


def test_series_without_new_data_and_old_locks_are_found(project: Project, wh_on: WhOn) -> None:
    found = rows(project)
    assert found["old lock"].words == "the stacks of campaign stacks have no package that is newer than 2025-12-31"
    assert found["old lock"].remedy == "wh advise stacks"
    (project.root / "stacks.toml").write_text('[campaign]\nname = "stacks"\n')
    assert rows(project)["old lock"].remedy.endswith("stacks.toml && wh matrix stacks.toml")
    limits(project, lock_days=36_500)
    assert "old lock" not in rows(project)
    in_january = freshness(project, datetime(2026, 1, 20, tzinfo=UTC))
    silent = [each for each in in_january.rows if each.kind == "no new data"]
    assert [each.words for each in silent] == ["stale: chat on node-1: no run since 2026-01-11 (1 series)"] and silent[0].evidence == ("a10",)
    assert wh_on(project, *shlex.split(silent[0].remedy)[1:])[0] == 0
    assert not [each for each in freshness(project, datetime(2026, 1, 12, tzinfo=UTC)).rows if each.kind == "no new data"]


def test_the_command_prints_the_most_important_first_and_json(project: Project, wh_on: WhOn) -> None:
    change_a_number(project)
    code, out, _ = wh_on(project, "freshness")
    lines = out.splitlines()
    assert code == 0 and lines[0].startswith("another value  1 of 1 number") and lines[1] == "    wh publish claim"
    assert lines[-2].startswith("package index")
    code, out, _ = wh_on(project, "freshness", "--json")
    found = json.loads(out)
    assert code == 0 and found["counts"] == {"another value": 1, "old lock": 1, "package index": 1}
    assert [each["kind"] for each in found["rows"]] == [*found["counts"]] and all(each["remedy"].startswith("wh ") for each in found["rows"])


def test_queries_read_what_is_not_fresh_beside_the_build_and_hide_no_table_of_it(project: Project, wh_on: WhOn) -> None:
    change_a_number(project)
    sql = "select n.cell, n.value, f.kind, f.remedy from published_number as n inner join Freshness as f using (publication)"
    (row,) = json.loads(wh_on(project, "sql", sql, "--json")[1])
    assert row.pop("value") == pytest.approx(100.105)
    assert row == {"cell": "claim[series=a].v", "kind": "another value", "remedy": "wh publish claim"}
    assert Warehouse(project).sql("from freshness select kind order by kind").column("kind").to_pylist() == ["another value", "old lock", "package index"]
    assert wh_on(project, "sql", "select 'freshness' as word")[0] == 0
    (project.root / "models" / "freshness.sql").write_text("select 1 as of_the_project")
    build(project)
    assert wh_on(project, "sql", "from freshness")[1] == "of_the_project\n1\n"


def test_run_ids_are_read_whatever_is_in_them() -> None:
    names = ["plain", 'a "quoted" one', "back\\slash\\", "\u00fc\n"]
    lines = [canonical_json({"artifact_manifest_digest": "d", "run_id": name, "workload_spec_digest": '"run_id":"x"'}) for name in names]
    assert run_ids(cast(Any, SimpleNamespace(lines=lambda name: lines))) == names


def test_a_state_of_the_index_is_a_table(tmp_path: Path) -> None:
    package_index_sample.write_all(tmp_path / "state")
    subject = Subject("package_index")
    state = tmp_path / "state" / "index-state.json"
    state.write_text(state.read_text().replace('"newest": {', '"unknown": ["Not_There", "not-there"], "newest": {"Some.Thing": "1.9", '))
    found = subject.rows(tmp_path / "state", tmp_path / "stored")["package_index_release"]
    assert {(row["package"], row["version"], place(row, tmp_path / "stored")) for row in found} == {
        ("not-there", None, b'"unknown": ["Not_There", "not-there"]'), ("some-thing", "1.9", b'"Some.Thing": "1.9"'),
        ("some-thing", "2.0", b'"some-thing": "2.0"'), ("vllm", "0.13.0", b'"vllm": "0.13.0"'),
    }
    assert len(found) == 4 and {str(row["asked_at"]) for row in found} == {"2026-01-31 02:00:00+00:00"}


def test_the_page_the_tool_and_hot_metrics_have_the_same_rows(project: Project) -> None:
    change_a_number(project)
    assert "wh_warehouse_freshness_another_value" not in read(exposition(project))  # nothing was counted yet
    page = asked(project, "freshness", NOW)
    assert [(each["kind"], each["remedy"]) for each in table(page, "rows")] == [
        ("another value", "wh publish claim"), ("old lock", "wh advise stacks"), ("package index", "wh freshness --ask-index"),
    ]
    places = [each["place"] for each in table(page, "rows")]
    assert places[0].startswith("/publications/") and places[1].startswith("/campaigns?campaign=") and places[2] is None
    (tool,) = [each for each in view_tools() if each.name == "freshness"]
    answer = call_view(tool, Answers(project), {}, "", "admin")
    assert answer["parts"][0]["rows"][0]["remedy"] == "wh publish claim" and "verified" in answer["parts"][1]["text"]
    found = read(exposition(project))
    assert found["wh_warehouse_freshness_another_value"] == {(): 1} and found["wh_warehouse_freshness_failed_verification"] == {(): 0}
    assert NOW.timestamp() - 3600 < found["wh_warehouse_freshness_checked_timestamp_seconds"][()] < NOW.timestamp() + 3600
