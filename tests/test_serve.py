"""`wh serve`: who may come in, what a request may ask, and that every page is there as data."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import uvicorn
from samples.served import copied, served_project
from serving import client, server

from warehouse.analysis.contracts.document import contracts_document, document_bytes
from warehouse.cli.main import main
from warehouse.errors import WarehouseError
from warehouse.project.project import Project, read_project
from warehouse.surfaces.all_views import VIEWS
from warehouse.surfaces.view import View
from warehouse.surfaces.web.guard import Allowance
from warehouse.surfaces.web.serving import serve
from warehouse.surfaces.web.tokens import Tokens
from warehouse.surfaces.workbench.process import OUTDATED
from warehouse.surfaces.workbench.queries import Queries
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build


@pytest.fixture(scope="module")
def project() -> Project:
    return served_project()


@pytest.fixture
def tokened(tmp_path: Path, project: Project) -> tuple[Project, str, str]:
    """A project with tokens: itself, one that may read, and one of an admin."""
    (tmp_path / "warehouse.toml").write_text((project.root / "warehouse.toml").read_text())
    own = read_project(tmp_path)
    return own, Tokens(own).make("reader", "read"), Tokens(own).make("boss", "admin")


# --- who may come in ---------------------------------------------------------------------------------------------


def test_without_tokens_this_machine_is_served(project: Project) -> None:
    assert client(project).get("/publications").status_code == 200


def test_a_token_is_needed_where_there_are_any(tokened: tuple[Project, str, str]) -> None:
    own, reader, _ = tokened
    asking = client(own)
    refused = asking.get("/api/publications")
    assert (refused.status_code, refused.json()["code"], refused.headers["www-authenticate"]) == (401, "WH602", "Bearer")
    page = asking.get("/publications?x=1")
    assert (page.status_code, page.headers["location"]) == (303, "/login?to=/publications%3Fx%3D1")
    assert asking.get("/api/publications", headers={"Authorization": f"Bearer {reader}"}).status_code == 200
    for wrong in (reader[:-1], reader + "x", "", "wh_", reader.upper()):
        assert asking.get("/api/publications", headers={"Authorization": f"Bearer {wrong}"}).status_code == 401
    assert asking.get("/healthz").text == "ok\n"


def test_a_browser_signs_in_with_a_cookie_that_scripts_cannot_read(tokened: tuple[Project, str, str]) -> None:
    own, reader, _ = tokened
    asking = client(own)
    assert "not valid" in asking.post("/login", data={"token": "wh_guess", "to": "/publications"}).text
    done = asking.post("/login", data={"token": reader, "to": "/publications"})
    assert (done.status_code, done.headers["location"]) == (303, "/publications")
    cookie = done.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert asking.get("/publications").status_code == 200
    for elsewhere in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/x\r\nSet-Cookie: a=b"):
        assert asking.post("/login", data={"token": reader, "to": elsewhere}).headers["location"] == "/"


def test_tokens_are_kept_as_digests_and_end_at_once(tokened: tuple[Project, str, str]) -> None:
    own, reader, boss = tokened
    tokens = Tokens(own)
    assert reader not in tokens.path.read_text() and stat.S_IMODE(tokens.path.stat().st_mode) == 0o600
    assert (tokens.holder(reader), tokens.holder(boss)) == tuple(tokens.all())
    asking, header = client(own), {"Authorization": f"Bearer {reader}"}
    assert asking.get("/api/publications", headers=header).status_code == 200
    Tokens(own).revoke("reader")
    assert asking.get("/api/publications", headers=header).status_code == 401
    with pytest.raises(WarehouseError, match="WH602.*there is a token 'boss'"):
        tokens.make("boss", "read")
    tokens.path.write_text('[{"name": "x", "role": "root", "sha256": "", "made_at": ""}]')
    assert asking.get("/api/publications", headers={"Authorization": f"Bearer {boss}"}).status_code == 401


def test_guessing_tokens_is_stopped_but_not_for_those_who_have_one(tokened: tuple[Project, str, str]) -> None:
    own, reader, _ = tokened
    asking = client(own)
    answers = [asking.get("/api/publications", headers={"Authorization": f"Bearer wh_{place}"}).status_code for place in range(14)]
    assert answers[0] == 401 and answers[-1] == 429
    assert asking.get("/api/publications", headers={"Authorization": f"Bearer {reader}"}).status_code == 200


def test_other_machines_are_not_served_without_tokens(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--project", str(project.root), "serve", "--host", "0.0.0.0"]) == 2
    assert "WH602" in capsys.readouterr().err


def test_a_foreign_name_for_this_machine_is_refused(project: Project) -> None:
    """DNS rebinding: the page of another site that resolves to this machine."""
    asking = client(project)
    for name in ("evil.example", "localhost.evil.example", "evil.example:8042", "[::2]", "[", ""):
        assert asking.get("/api/publications", headers={"Host": name}).status_code == 421, name
    for name in ("localhost:8042", "127.0.0.1:1", "[::1]:8042"):
        assert asking.get("/api/publications", headers={"Host": name}).status_code == 200, name
    assert client(project, hosts=frozenset({"wh.example"})).get("/publications", headers={"Host": "wh.example"}).status_code == 200


def test_another_site_cannot_act(project: Project) -> None:
    asking, fields = client(project), {"name": "x"}
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert asking.post("/api/benchmark/contracts/render-run", json=fields, headers=headers).status_code == 403
    for origin in ("https://localhost:8042", "http://localhost:9999", "http://localhost", "http://localhost:x"):  # another program of this machine
        headers = {"Host": "localhost:8042", "Origin": origin}
        assert asking.post("/api/benchmark/contracts/render-run", json=fields, headers=headers).status_code == 403, origin
    assert asking.post("/api/benchmark/contracts/render-run", json=fields, headers={"Origin": "http://localhost"}).status_code == 400
    proxied = client(project, hosts=frozenset({"wh.example"}))
    for origin, status in (("https://wh.example", 400), ("https://wh.example:444", 403), ("ftp://wh.example", 403)):
        headers = {"Host": "wh.example", "Origin": origin}
        assert proxied.post("/api/benchmark/contracts/render-run", json=fields, headers=headers).status_code == status, origin


def test_requests_are_counted(project: Project) -> None:
    asking = client(project, requests_a_minute=5)
    assert [asking.get("/healthz").status_code for _ in range(7)] == [200] * 5 + [429] * 2
    allowance = Allowance(1)
    assert allowance.take("a") and not allowance.take("a") and allowance.take("b")


def test_a_large_request_is_refused(project: Project) -> None:
    asking = client(project)
    for headers, content in (({"Content-Length": "99999999"}, b"{}"), ({"Content-Length": "²"}, b"{}")):
        raw = {name: value.encode("latin-1") for name, value in headers.items()}
        assert asking.post("/api/benchmark/contracts/render-run", content=content, headers=raw).status_code == 413
    assert asking.post("/api/benchmark/contracts/render-run", content=b" " * 2_000_000).status_code == 413
    small, large = iter([b"{}"]), iter([b" " * 600_000] * 2)  # sent in chunks: nothing says beforehand how much comes
    assert [asking.post("/api/benchmark/contracts/render-run", content=chunks).status_code for chunks in (small, large)] == [400, 413]


def test_every_response_has_the_headers_that_keep_it_harmless(project: Project) -> None:
    asking = client(project)
    for place in ("/", "/api/publications", "/assets/site.css", "/nothing", "/api/nothing", "/healthz"):
        headers = asking.get(place).headers
        assert headers["content-security-policy"].startswith("default-src 'self';"), place
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
    for name in ("../app.py", "..%2fapp.py", "%2e%2e/app.py", "site.css%00", "/etc/passwd"):
        assert asking.get(f"/assets/{name}").status_code == 404, name


# --- what a request may ask ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", [view for view in VIEWS if not view.in_path and not view.is_act], ids=lambda view: view.name)
def test_unknown_and_repeated_parameters_are_refused(view: View, project: Project) -> None:
    path = view.path
    asking = client(project)
    for prefix in ("", "/api"):
        unknown = asking.get(f"{prefix}{path}?nosuch=1")
        assert unknown.status_code == 400 and "nosuch" in unknown.text, prefix
        assert asking.get(f"{prefix}{path}?build=&build=").status_code == 400
    known = [parameter.name for parameter in view.parameters]
    for name in [*known, "build"]:
        twice = asking.get(f"/api{path}?{name}=1&{name}=1")
        assert (twice.status_code, twice.json()["code"]) == (400, "WH601") and "twice" in twice.json()["message"], name


def test_a_build_is_pinned_by_the_address(project: Project) -> None:
    asking, digest = client(project), current_build(project).digest
    page = asking.get("/sql", params={"query": "select 1 as one", "build": digest[:12]})
    assert f"shows build <code>{digest[:12]}</code>, which is the current one" in page.text
    assert asking.get("/api/sql", params={"query": "select 1 as one", "build": digest}).json()["build_digest"] == digest
    assert asking.get("/api/sql", params={"query": "select 1", "build": "ffff"}).json()["code"] == "WH214"


def test_a_newer_build_shows_on_the_pinned_page_and_changes_the_tag(tmp_path: Path) -> None:
    own = copied(tmp_path / "own")
    asking, first = client(own), current_build(own).digest
    before = asking.get("/publications")
    again = {"If-None-Match": before.headers["etag"]}
    assert asking.get("/publications", headers=again).status_code == 304
    (own.root / "models" / "extra.sql").write_text("select 1 as one")
    build(own)
    after = asking.get("/publications", headers=again)
    assert after.status_code == 200 and after.headers["etag"] != before.headers["etag"]
    pinned = asking.get("/publications", params={"build": first[:12]})
    assert current_build(own).digest != first and "There is a newer one" in pinned.text


def test_nothing_built_is_said(tmp_path: Path, project: Project) -> None:
    (tmp_path / "warehouse.toml").write_text((project.root / "warehouse.toml").read_text())
    empty = client(read_project(tmp_path)).get("/api/sql", params={"query": "select 1"})
    assert (empty.status_code, empty.json()["code"]) == (404, "WH211")


def test_an_ad_hoc_query_has_its_citation_and_no_verdict(project: Project) -> None:
    asking = client(project)
    found = asking.get("/api/sql", params={"query": "select run_id, 'x' as run_id from benchmark_run_fact order by all", "rows": 1}).json()
    table, facts = (next(part for part in found["parts"] if part["name"] == name) for name in ("result", "citation"))
    assert [column["name"] for column in table["columns"]] == ["run_id", "run_id_1"]
    assert (len(table["rows"]), table["truncated"], table["total"]) == (1, True, None)
    assert {item["name"] for item in facts["items"]} == {"query_digest", "build_digest"}
    assert "no policy has judged" in found["notices"][0]


def test_sql_sees_no_secret_of_the_server(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-7f3a")
    asking = client(project)
    for sql in ("select getenv('AWS_SECRET_ACCESS_KEY')", "from read_text('/proc/self/environ')", "select * from duckdb_secrets()", "from duckdb_settings()"):
        assert "canary-7f3a" not in asking.get("/api/sql", params={"query": sql}).text, sql


# --- every page is there as data -----------------------------------------------------------------------------------


def test_a_table_is_the_same_in_every_format(project: Project) -> None:
    asking = client(project)
    query = {"query": "select * from (values (1, '=1+1', 2.5, null), (2, '<b>', -3.0, 'é')) as t(id, text, x, nothing) order by id"}
    (rows,) = [part["rows"] for part in asking.get("/api/sql", params=query).json()["parts"] if part["name"] == "result"]
    assert [(row["id"], row["text"], float(row["x"]), row["nothing"]) for row in rows] == [(1, "=1+1", 2.5, None), (2, "<b>", -3.0, "é")]
    as_csv = asking.get("/api/sql", params={**query, "format": "csv"})
    assert list(csv.reader(io.StringIO(as_csv.text)))[1:] == [["1", "'=1+1", "2.5", ""], ["2", "<b>", "-3.0", "é"]]
    assert as_csv.headers["content-disposition"] == 'attachment; filename="sql.csv"'
    arrow = pa.ipc.open_stream(asking.get("/api/sql", params={**query, "format": "arrow"}).content).read_all()
    parquet = pq.read_table(io.BytesIO(asking.get("/api/sql", params={**query, "format": "parquet"}).content))
    assert arrow.column("text").to_pylist() == parquet.column("text").to_pylist() == ["=1+1", "<b>"]
    page = asking.get("/sql", params=query).text
    assert "<b>" not in page.partition('id="result"')[2] and "&lt;b&gt;" in page
    assert asking.get("/api/sql", params={**query, "format": "xml"}).status_code == 400
    assert asking.get("/api/sql", params={**query, "format": "csv", "table": "nosuch"}).status_code == 400


@pytest.mark.parametrize("view", [view for view in VIEWS if not view.in_path and not view.is_act], ids=lambda view: view.name)
def test_what_a_page_shows_is_what_the_api_answers(view: View, project: Project) -> None:
    """The text of the API's rows is on the page, and each table can be had as CSV with as many rows."""
    asking, path = client(project), view.path
    document = asking.get(f"/api{path}").json()
    page = html.unescape(re.sub(r"<[^>]*>", "", asking.get(path).text))
    markdown = asking.get(f"{path}.md").text
    assert markdown.startswith(f"# {document['title']}") and "<" not in re.sub(r"\(<[^<>]*>\)", "", markdown)
    for part in document["parts"]:
        if part["part"] != "table":
            continue
        if part["title"]:
            block = markdown.partition(f"\n## {part['title']}\n")[2].partition("\n## ")[0]
            assert part["empty"] in block if not part["rows"] else 2 < block.count("\n|") <= 2 + len(part["rows"])
        shown = [column["name"] for column in part["columns"] if column["kind"] == "text" and not column["is_hidden"]]
        for row in part["rows"][:20]:
            missing = [row[name] for name in shown if isinstance(row[name], str) and not row[name].startswith(" ") and row[name].strip() not in page]
            assert [each for each in missing if each.isprintable() and len(each) < 60] == [], part["name"]
        as_csv = asking.get(f"/api{path}", params={"format": "csv", "table": part["name"]})
        assert len(list(csv.reader(io.StringIO(as_csv.text)))) == 1 + len(part["rows"])


def test_programs_that_read_find_every_page(project: Project) -> None:
    asking = client(project)
    links = re.findall(r"\]\((/[^)]*)\)", asking.get("/llms.txt").text)
    assert "/runs.md" in links and [link for link in links if asking.get(link).status_code != 200] == []


def test_the_menu_has_every_page_that_needs_no_choice(project: Project) -> None:
    home = client(project).get("/").text.partition("<main")[0]
    of_sql = {"sql_running"}  # the SQL page leads there
    missing = [view.name for view in VIEWS if not view.in_path and view.name not in of_sql and f'href="{view.path}"' not in home]
    assert missing == []


def test_the_contract_is_the_same_bytes_on_every_surface(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    asking = client(project)
    served = asking.get("/api/benchmark/contracts").content
    assert main(["--project", str(project.root), "contracts", "--json"]) == 0
    assert served == capsys.readouterr().out.rstrip("\n").encode() == document_bytes(contracts_document(project))


def test_a_benchmark_run_is_rendered_with_validated_choices(project: Project, tmp_path: Path) -> None:
    asking = client(project)
    fields = {
        "name": "nightly", "benchmarkClass": "realism_grade", "workloadType": "inference", "schedulerPath": "slurm", "cadence": "nightly",
        "model": "lab/decoder-7b", "precision": "fp8", "batchingPolicy": "continuous", "concurrencyModel": "closed_loop",
        "comparisonVariable": "driver_stack", "inputTokens": 1024, "outputTokens": 128, "layer": "end_to_end", "suite": "serve",
    }
    answer = asking.post("/api/benchmark/contracts/render-run", json=fields)
    assert answer.status_code == 200, answer.text
    (tmp_path / "run.yaml").write_text(answer.json()["yaml"])
    assert main(["validate", str(tmp_path / "run.yaml")]) == 0
    wrong = asking.post("/api/benchmark/contracts/render-run", json={**fields, "cadence": "sometimes"})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "WH131")
    for body in ("[]", "1", "nonsense", '{"name": {"a": [1]}}', '{"name": "x' + "y" * 5000 + '"}'):
        assert 400 <= asking.post("/api/benchmark/contracts/render-run", content=body).status_code < 500, body[:40]


def test_a_running_query_is_listed_and_cancelled_by_its_visitor(tmp_path: Path) -> None:
    import threading

    own = copied(tmp_path / "own")
    reader, other, boss = Tokens(own).make("reader", "read"), Tokens(own).make("other", "read"), Tokens(own).make("boss", "admin")
    as_reader, as_other, as_boss = ({"Authorization": f"Bearer {text}"} for text in (reader, other, boss))
    asking, answers = client(own), []
    slow = {"query": "select count(*) from range(100000000) a, range(100000000) b where a.range * b.range = 7"}
    work = threading.Thread(target=lambda: answers.append(asking.get("/api/sql", params=slow, headers=as_reader)))
    work.start()
    while not (found := asking.get("/api/sql/running", headers=as_reader).json()["parts"][0]["rows"]):
        pass
    number = found[0]["query_id"]
    assert asking.get("/api/sql/running", headers=as_other).json()["parts"][0]["rows"] == []
    assert asking.post(f"/api/sql/running/{number}/cancel", headers=as_other).status_code == 404
    assert asking.post(f"/api/sql/running/{number}/cancel", headers=as_boss).status_code == 200
    work.join(timeout=30)
    assert (answers[0].status_code, answers[0].json()["code"]) == (422, "WH605")


def test_the_server_answers_over_the_network_and_says_no_more_than_needed(project: Project) -> None:
    import urllib.request

    with server(project) as place:
        with urllib.request.urlopen(f"{place}/api/publications") as answer:
            assert json.load(answer)["view"] == "publications"
            assert "server" not in {name.lower() for name in answer.headers}


def test_answers_are_compressed_for_those_who_take_that(project: Project) -> None:
    asking = client(project)
    packed = asking.get("/publications", headers={"Accept-Encoding": "gzip"})
    plain = asking.get("/publications", headers={"Accept-Encoding": "identity"})
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert "content-encoding" not in plain.headers and int(packed.headers["content-length"]) < int(plain.headers["content-length"])
    assert packed.text == plain.text


# --- processes of queries ----------------------------------------------------------------------------------------


_PREPARED = """
import sys, time
from pathlib import Path
from warehouse.surfaces.workbench.queries import Queries
queries = Queries()
queries.prepare(Path(sys.argv[1]))
print(*(word for each in queries._waiting for word in (each.process.pid, each.folder.name)), flush=True)
time.sleep(600)  # until the test kills it
"""


def test_no_process_runs_two_queries(project: Project) -> None:
    queries, build = Queries(), current_build(project).path
    queries.prepare(build)
    waiting = {each.process.pid for each in queries._waiting}
    variables = Path(f"/proc/{min(waiting)}/environ").read_text().split("\0")
    assert {each.partition("=")[0] for each in variables} <= {"", "PATH", "PYTHONPATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "HOME"}
    queries._waiting[0].process.kill()  # as the system does where memory is short
    queries._waiting[0].process.wait()
    for number in (1, 2):
        assert queries.run(build, f"select {number} as a")[0].to_pylist() == [{"a": number}]
    now = _started(queries, but=waiting)
    assert len(waiting) == len(now) == 2
    for each in queries._waiting:
        each.end()
        assert not Path(each.folder.name).exists()


def _started(queries: Queries, but: set[int]) -> set[int]:
    """The processes that wait, once two do and none of `but` is among them: they are started behind the visitor's back."""
    until = time.monotonic() + 60
    while True:
        now = {each.process.pid for each in queries._waiting}
        if (len(now) == 2 and not now & but) or time.monotonic() > until:
            return now - but
        time.sleep(0.01)  # between looks


def test_waiting_processes_end_with_the_server(project: Project) -> None:
    command = [sys.executable, "-c", _PREPARED, str(current_build(project).path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server_process:
        assert server_process.stdout
        words = server_process.stdout.readline().split()
        server_process.kill()
    left = [*(Path("/proc", pid) for pid in words[::2]), *map(Path, words[1::2])]
    until = time.monotonic() + 120
    while any(each.exists() for each in left) and time.monotonic() < until:
        time.sleep(0.1)  # between looks: the processes end by themselves, once their input is closed
    assert len(left) == 4 and not any(each.exists() for each in left)


_SLEEPING = """
import sys, threading, time
from pathlib import Path
from warehouse.surfaces.workbench.process import OUTDATED
from warehouse.surfaces.workbench.queries import Queries
queries = Queries()
threading.Thread(target=queries.run, args=(Path(sys.argv[1]), "select sleep_ms(600000)")).start()
while not queries.running(None):
    time.sleep(0.01)  # between looks
[running] = queries.running(None)
print(running.worker.process.pid, running.worker.folder.name, flush=True)
time.sleep(600)  # until the test kills it
"""


def test_a_query_at_work_ends_with_the_server_and_leaves_no_folder(project: Project) -> None:
    command = [sys.executable, "-c", _SLEEPING, str(current_build(project).path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server_process:
        assert server_process.stdout
        pid, folder = server_process.stdout.readline().split()
        server_process.kill()
    until = time.monotonic() + 60
    while (Path("/proc", pid).exists() or Path(folder).exists()) and time.monotonic() < until:
        time.sleep(0.1)  # between looks
    assert not Path("/proc", pid).exists() and not Path(folder).exists()


def test_no_waiting_process_keeps_the_file_of_an_old_build_open(project: Project, tmp_path: Path) -> None:
    builds = tmp_path / "builds"
    builds.mkdir()
    old, new = (Path(shutil.copy(current_build(project).path, builds / f"wh-{name}.duckdb")) for name in ("old", "new"))
    (builds / "current.duckdb").symlink_to(old.name)
    queries = Queries()
    queries.prepare(old)
    waiting = list(queries._waiting)
    (builds / "other").symlink_to(new.name)
    (builds / "other").replace(builds / "current.duckdb")
    assert {each.process.wait(timeout=60) for each in waiting} == {OUTDATED}
    assert queries.run(new, "select 1 as a")[0].to_pylist() == [{"a": 1}]
    assert _started(queries, but=set())
    for each in queries._waiting:
        each.end()


def test_the_servers_connections_send_each_answer_at_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []

    def run(self: uvicorn.Server, sockets: list[socket.socket]) -> None:
        with socket.create_connection(sockets[0].getsockname()), sockets[0].accept()[0] as accepted:
            found.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        sockets[0].close()

    monkeypatch.setattr(uvicorn.Server, "run", run)
    serve(project, "127.0.0.1", 0, frozenset(), 1000, lambda address: None)
    assert found == [1]
