"""`wh notify` against a real HTTP endpoint and a real SMTP server on loopback: what is told once, what waits, what is over, and no secret anywhere."""

from __future__ import annotations

import json
import logging
import re
import socketserver
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from alive import alive_project, change_a_number
from conftest import WhOn
from once import copied
from samples.measured import measured_project
from test_analysis_pages import rows

from warehouse.alive.conditions import Condition, Conditions, conditions
from warehouse.alive.index_state import take_index_state
from warehouse.alive.issues import issue_text
from warehouse.alive.notify import notify
from warehouse.analysis.changes import changes
from warehouse.analysis.marks import mark_event
from warehouse.claims.publish.publish import publish
from warehouse.errors import WarehouseError
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build
from warehouse.transform.testing.rejected_rows import Rejected

NOW = datetime.now(UTC).replace(hour=12, minute=0, second=0)
SECRET = "T0k3n-that-nobody-may-see"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    copied("alive", alive_project, tmp_path)
    return read_project(tmp_path / "project")


def ruled(project: Project, text: str = 'to = {WH_TEAM = ["verifications", "builds", "decisions", "freshness", "events"]}') -> Project:
    file = project.root / "warehouse.toml"
    file.write_text(file.read_text() + f"\n[notify]\n{text}\n")
    build(project)  # the text of its file is part of a build
    return read_project(project.root)


@contextmanager
def endpoint(port: int = 0, status: int = 200) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """A port of an HTTP server that takes notices, and those that it took."""
    taken: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    class Server(HTTPServer):
        allow_reuse_address = True

    server = Server(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1], taken
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def mail_server() -> Iterator[tuple[int, list[str]]]:
    """A port of an SMTP server (RFC 5321, as far as a client without extensions needs it), and the mails that it took."""
    taken: list[str] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 loopback\r\n")
            while line := self.rfile.readline():
                word = line[:4].upper()
                if word == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    mail = b""
                    while (line := self.rfile.readline()) not in (b".\r\n", b""):
                        mail += line
                    taken.append(mail.decode())
                self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")
                if word == b"QUIT":
                    return

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1], taken
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def to(monkeypatch: pytest.MonkeyPatch, port: int, name: str = "WH_TEAM") -> None:
    monkeypatch.setenv(name, f"json://127.0.0.1:{port}/{SECRET}")


def outcomes(project: Project, now: datetime = NOW) -> list[str]:
    return [each.outcome for each in notify(project, now).digests]


def test_the_same_night_three_times_is_one_digest_and_what_changed_is_told_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project = ruled(project)
    with endpoint() as (port, taken):
        to(monkeypatch, port)
        assert [outcomes(project) for _ in range(3)] == [["sent"], ["nothing new"], ["nothing new"]]
        (first,) = taken
        assert first["title"] == "project: 2 new" and "$ wh freshness --ask-index" in first["message"]
        change_a_number(project)
        assert outcomes(project) == ["sent"]
        assert taken[1]["title"] == "project: 1 new" and "1 of 1 number of claim is not in the current build" in taken[1]["message"]
        publish(project, "claim", as_provisional=True)
        assert [outcomes(project) for _ in range(2)] == [["sent"], ["nothing new"]]
        assert taken[2]["title"] == "project: 1 over" and taken[2]["message"].startswith("Published numbers\n- over: 1 of 1 number of claim")
        assert len(taken) == 3


def test_an_endpoint_that_is_down_loses_nothing_and_is_reported_once(project: Project, monkeypatch: pytest.MonkeyPatch, wh_on: WhOn) -> None:
    project = ruled(project)
    with endpoint() as (port, _):
        pass
    to(monkeypatch, port)
    code, _, err = wh_on(project, "notify")
    assert code == 1 and "WH561 WH_TEAM: the service did not take it" in err and "nothing is lost" in err
    shadow = project.builds / ".shadow.duckdb"
    shadow.touch()  # a build fails meanwhile, and is made again before anybody could be told
    code, _, err = wh_on(project, "notify")
    assert code == 1 and "WH561" not in err and "WH_TEAM: not delivered since " in err and "3 new wait" in err
    shadow.unlink()
    with endpoint(status=500) as (port, refused):
        to(monkeypatch, port)
        assert outcomes(project) == ["not delivered"] and refused
    with endpoint() as (port, taken):
        to(monkeypatch, port)
        assert [outcomes(project) for _ in range(2)] == [["sent"], ["nothing new"]]
    assert len(taken) == 1 and taken[0]["title"] == "project: 3 new"
    assert "- came and went: the last build did not finish" in taken[0]["message"] and "wh freshness --ask-index" in taken[0]["message"]


def test_what_one_address_was_told_is_remembered_before_the_next_is_told(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project = ruled(project, 'to = {WH_TEAM = ["freshness"], WH_OWNERS = ["freshness"]}')
    told: list[str] = []

    def sends(variable: str, title: str, text: str) -> None:
        told.append(variable)
        if told == ["WH_TEAM", "WH_OWNERS"]:
            raise KeyboardInterrupt

    monkeypatch.setattr("warehouse.alive.notify.send", sends)
    with pytest.raises(KeyboardInterrupt):
        notify(project, NOW)
    assert outcomes(project) == ["nothing new", "sent"] and told == ["WH_TEAM", "WH_OWNERS", "WH_OWNERS"]


def test_two_that_run_at_once_send_one_digest(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project = ruled(project)
    both, told = threading.Barrier(2, timeout=30), list[str]()

    def looked(*given: Any) -> Conditions:
        found = conditions(*given)
        both.wait()  # each has found the same, and neither has told anybody
        return found

    monkeypatch.setattr("warehouse.alive.notify.conditions", looked)
    monkeypatch.setattr("warehouse.alive.notify.send", lambda variable, title, text: told.append(title))
    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(outcomes, [project, project])) == [["nothing new"], ["sent"]]
    assert told == ["project: 2 new"]


def test_what_cannot_be_remembered_is_not_sent(project: Project, monkeypatch: pytest.MonkeyPatch, wh_on: WhOn) -> None:
    project = ruled(project)
    (project.builds / "notified.json").mkdir()
    with endpoint() as (port, taken):
        to(monkeypatch, port)
        code, _, err = wh_on(project, "notify")
    assert code == 1 and "notified.json" in err and "Traceback" not in err and not taken


def test_another_release_of_the_framework_is_news_and_one_of_another_package_is_not(project: Project, tmp_path: Path) -> None:
    def state(text: str) -> str:
        (tmp_path / "newest.txt").write_text(text)
        take_index_state(project, tmp_path / "newest.txt")
        (found,) = [each for each in holding(project, "freshness") if "newer than measured" in each.title]
        return found.state

    first = state("vllm==0.12.0")
    assert state("vllm==0.12.0\nsome-thing==2.1") == first == state("vllm==0.12.0\nsome-thing==2.2")
    assert state("vllm==0.13.0") != first


def test_mail_goes_by_smtp_and_each_address_has_its_kinds(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project = ruled(project, 'to = {WH_TEAM = ["verifications"], WH_MAIL = ["freshness"], WH_UNSET = ["freshness"]}')
    with endpoint() as (port, taken), mail_server() as (mail_port, mails):
        to(monkeypatch, port)
        monkeypatch.setenv("WH_MAIL", f"mailto://127.0.0.1:{mail_port}?from=wh@example.com&to=team@example.com&mode=insecure")
        found = notify(project, NOW).digests
    assert [each.outcome for each in found] == ["nothing new", "sent", "not delivered"] and taken == []
    assert found[2].problem and "the environment has no such variable" in str(found[2].problem)
    (mail,) = mails
    assert "To: team@example.com" in mail and re.search("Subject: .*project: 2 new", mail) and "old lock" not in mail and "campaign stacks" in mail


def test_in_quiet_hours_nothing_is_sent_and_nothing_is_lost(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project = ruled(project, 'quiet_hours = "22:00-06:30"\nto = {WH_TEAM = ["freshness", "builds"]}')
    with endpoint() as (port, taken):
        to(monkeypatch, port)
        shadow = project.builds / ".shadow.duckdb"
        shadow.touch()
        assert outcomes(project, NOW.replace(hour=23)) == outcomes(project, NOW.replace(hour=6)) == ["quiet hours"]
        shadow.unlink()
        assert taken == [] and outcomes(project, NOW.replace(hour=7)) == ["sent"]
        assert "came and went: the last build did not finish" in taken[0]["message"]
    plain = read_project(project.root).notify
    assert [plain.is_quiet(NOW.replace(hour=hour, minute=30)) for hour in (21, 22, 0, 6, 7)] == [False, True, True, False, False]


def test_no_secret_is_in_a_digest_a_log_a_file_or_the_ledger(
    project: Project, monkeypatch: pytest.MonkeyPatch, wh_on: WhOn, caplog: pytest.LogCaptureFixture
) -> None:
    project = ruled(project)
    conflict(project)
    run = project.root / "models" / "run.sql"
    run.write_text(run.read_text().replace("as run_id", f"|| if(value.key = 'a03', ' {SECRET} --api-key=abcdef123456', '') as run_id", 1))
    build(project)
    caplog.set_level(logging.DEBUG)
    said = []
    for status in (500, 200):
        with endpoint(status=status) as (port, taken):
            to(monkeypatch, port)
            said += [*wh_on(project, "notify", "--json")[1:], *wh_on(project, "notify", "--dry-run", "--issues", str(project.root / "issues"))[1:]]
            said += [json.dumps(each) for each in taken]
    said += [each.read_text() for each in (project.root / "issues").iterdir()] + [caplog.text, (project.builds / "notified.json").read_text()]
    said += [each.read_text() for each in project.store_root.glob("ledger/*/*/*/*.json")]
    assert any("[redacted] --api-key=[redacted]" in each for each in said)
    assert not [each for each in said if SECRET in each or "abcdef123456" in each]


def conflict(project: Project) -> None:
    path = project.root / "models" / "run.sql"
    path.write_text(path.read_text().replace("false as has_conflict", "value.key = 'a03' as has_conflict"))


def holding(project: Project, kind: str, days: float = 0) -> list[Condition]:
    found = conditions(project, [kind], NOW + timedelta(days=days))
    assert not found.unknown
    return [*found.holding]


def test_builds_that_failed_or_wait_and_decisions(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    assert holding(project, "builds") == holding(project, "decisions") == []
    conflict(project)
    assert [each.commands for each in holding(project, "builds")] == [("wh check", "wh build")]
    build(project)
    assert holding(project, "builds") == []
    (found,) = holding(project, "decisions")
    assert found.title == "several bundles state the run a03 differently" and found.commands[1] == "wh settle a03 --bundle DIGEST --reason TEXT"
    from samples.values import take_in, value_files

    take_in(project, value_files(project.root.parent / "late", "a12=100.1\n"))
    assert holding(project, "builds") == []  # it has just arrived
    assert [each.title for each in holding(project, "builds", 2)] == ["1 bundle of evidence has waited for a build for more than a day"]
    monkeypatch.setattr("warehouse.alive.conditions.rejected", lambda con: [Rejected("main.one", 2, 1), Rejected("main.two", 1, 1)])
    assert [(each.title, each.lines) for each in holding(project, "builds")] == [
        ("the current build left 3 rows out, because a test of their table forbids them", ("main.one: 2 rows", "main.two: 1 row")),
    ]


def test_what_cannot_be_looked_at_is_not_over(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project = ruled(project)
    conflict(project)
    build(project)
    with endpoint() as (port, taken):
        to(monkeypatch, port)
        assert outcomes(project) == ["sent"] and "the run a03 differently" in taken[0]["message"]

        def broken(*arguments: object) -> list[str]:
            raise WarehouseError("WH218", f"{SECRET} cannot be opened")

        with monkeypatch.context() as patch:
            patch.setattr("warehouse.alive.conditions.conflicted_runs", broken)
            found = notify(project, NOW)
            assert [each.outcome for each in found.digests] == ["nothing new"] and [*found.now.unknown] == ["decisions"]
            assert found.now.unknown["decisions"].message == "[redacted] cannot be opened"
        assert outcomes(project) == ["nothing new"] and len(taken) == 1


def test_a_confirmed_event_is_told_and_is_over_once_it_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = ruled(measured_project(tmp_path / "project", rows("slow", [100.0] * 40 + [115.0] * 20, 20)), 'to = {WH_TEAM = ["events"]}')
    with endpoint() as (port, taken):
        to(monkeypatch, port)
        assert [outcomes(project) for _ in range(2)] == [["sent"], ["nothing new"]]
        (event,) = changes(project).events
        assert f"$ wh changes {event.event_id}" in taken[0]["message"] and "- worse +1" in taken[0]["message"]
        assert "differs: framework_version 1 -> 2" in taken[0]["message"] and "(since 2026-02-10)" in taken[0]["message"]
        mark_event(project, event, event.event_id, "explained", "framework 2")
        assert outcomes(project) == ["sent"] and "- over: worse +1" in taken[1]["message"]


def test_issues_are_files_that_are_written_once_with_the_commands_that_open_them(project: Project, wh_on: WhOn) -> None:
    change_a_number(project)
    folder = project.root / "issues"
    code, out, err = wh_on(project, "notify", "--issues", str(folder))
    files = sorted(folder.iterdir())
    assert code == 0 and "nobody is told" not in err and len(out.splitlines()) == 2 * len(files) == 6
    lines = [line for line in out.splitlines() if "not in the current build" in line]
    assert lines[0].startswith("gh issue create --title '1 of 1 number of claim") and lines[1].startswith("glab issue create --title '1 of 1")
    text = next(each for each in files if each.name.startswith("verifications-")).read_text()
    assert re.fullmatch(
        r"## What\n\n```text\n1 of 1 number .*\n```\n\nSince \d{4}-.* UTC\.\n\n## Evidence\n\n```text\npublication [0-9a-f]{64}\nn-.*\n```\n\n"
        r"## Commands\n\n```sh\nwh publish claim\n```\n", text,
    )
    assert wh_on(project, "notify", "--issues", str(folder))[1] == ""
    hostile = issue_text(Condition("events", "k", "a ``` fence\n# and @everyone <script>", ""))
    assert hostile.startswith("## What\n\n````text\na ``` fence") and "\n# and" not in hostile


@pytest.mark.parametrize(("text", "message"), [
    ('to = {"mailto://u:p@h" = ["events"]}', "never the address itself"), ('to = {WH_TEAM = ["evnts"]}', "did you mean events?"),
    ('to = {WH_TEAM = []}', "is a list of kinds"), ('to = ["WH_TEAM"]', "the kinds of notices by environment variable"), ('quiet_hours = "22-6"', "span of the day"),
])
def test_rules_that_say_nothing_are_refused(text: str, message: str, project: Project) -> None:
    with pytest.raises(WarehouseError) as caught:
        ruled(project, text)
    assert caught.value.code == "WH002" and message in str(caught.value)
