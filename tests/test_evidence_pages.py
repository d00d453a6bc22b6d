"""The evidence browser. Evidence comes from strangers: whatever it is called and whatever it holds, it is shown as data, and nothing but the
files that a manifest names is read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from html.parser import HTMLParser
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from places import put
from samples.values import VALUES_INGESTOR, take_in
from serving import client, server
from stored import bundle_folder

from warehouse.claims.numbers.deciding import note
from warehouse.errors import printable
from warehouse.evidence.ledger.events import Event, Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.surfaces.views.evidence.bundles import detail_text, detail_words
from warehouse.surfaces.web.downloads import disposition
from warehouse.transform.build.build import build

SECRET = "the-secret-of-this-machine"
NAMES = (
    "<script>alert(1)<\\script>.txt", '"><img src=x onerror=alert(2)>.json', "'onmouseover='alert(3)", "javascript:alert(4)", "&lt;b&gt;&amp;.log",
    "\u202egpj.exe", "a\u200bb\ufeff.txt", "\u2066hidden\u2069.csv", "bell\x07.log", "escape\x1b[31mred\x1b[0m", "delete\x7f", "next\x85line",
    "..\\..\\windows", "%2e%2e", "%2e%2e%2fetc%2fpasswd", "..%2f..%2fwarehouse.toml", "..;", "...", "%00", "a%0d%0ab", "%",
    "line\r\nSet-Cookie: stolen=1", "line\nfeed.txt", "carriage\rreturn", "tab\there", "x\r\n\r\n<html>", "a; filename=evil.html", 'quo"te.txt',
    "=cmd|' -C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "?format=html", "#fragment", "a&offset=9", "a b  c ", " leading", "name.",
    "con", "l" * 250, "é" * 120, "日本語の測定.json", "🚀.html", "index.html", "evil.svg", "manifest.json", "files", "deep/../like".replace("/", "\u2215"),
    "sub/<b>dir<\\b>/x", "sub/..hidden/y", "{{7*7}}", "${7*7}", "{% raw %}", "</code></pre><h1>x", "--><!--", "]]>", "\\x3cscript\\x3e", "NUL\u2400",
    "__import__('os')", "' or 1=1 --",
)
CONTENTS = (
    b"<script>alert('content')</script>", b"</code></pre><img src=x onerror=alert(1)>", b"<!doctype html><html><body onload=alert(1)>",
    b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", b"=cmd|' /C calc'!A0\n+1\n-1\n@x\n", b"\x1b[2J\x1b[31mterminal\x07",
    "\u202etxet\u2066 \u200b\ufeff".encode(), b"\r\nSet-Cookie: x=1\r\n\r\n<html>", b"{{7*7}} {% include '/etc/passwd' %}", b"a\0b<b>c</b>",
    bytes(range(256)), b"", b"\xff\xfe<\0s\0c\0r\0i\0p\0t\0>\0", b"http://169.254.169.254/latest/meta-data", b"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><x>&e;</x>",
    b"file:///etc/passwd\n\\\\server\\share\n", b'{"__proto__": {"a": 1}}', b"--><script>1</script><!--", b"' or 1=1; drop table run; --", b"%PDF-1.7 <</JS (app.alert(1))>>",
)
HOSTILE = {name: CONTENTS[place % len(CONTENTS)] for place, name in enumerate(NAMES)}
TAGS = {
    "html", "head", "meta", "title", "link", "script", "body", "a", "header", "nav", "span", "code", "main", "h1", "h2", "p", "section", "dl", "div",
    "dt", "dd", "time", "pre", "ul", "li", "footer", "small", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "form", "label",
    "select", "option", "button", "input",
}


class Shown(HTMLParser):
    """A page as a browser reads it: its text, its links; fails for any tag or attribute that none of our templates has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.links, self.scripts = "", list[str](), list[str | None]()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        assert tag in TAGS, tag
        assert not any(name.startswith("on") or name in ("style", "srcdoc", "srcset") for name in found), attrs
        if tag == "script":
            self.scripts.append(found.get("src"))
        if tag == "a":
            self.links.append(str(found.get("href")))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        pytest.fail(f"a comment: {data}")


def shown(html: str) -> Shown:
    page = Shown(html)
    assert page.scripts == ["/assets/surfaces.js"]
    assert all(link.startswith(("/", "#")) and not link.startswith("//") for link in page.links), page.links
    assert all(character.isprintable() or character in "\n\t" for character in html), [c for c in html if not c.isprintable() and c not in "\n\t"]
    return page


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """A project with one bundle of hostile files, and the bundle's digest. A file with a secret lies beside the store."""
    root = tmp_path_factory.mktemp("evidence")
    project = init_project(root / "project", bare=True)
    (root / "secret.txt").write_text(SECRET)
    store = open_store(project)
    assert put(store, HOSTILE, root / "in")
    (digest,) = store.digests()
    Ledger(store.objects).arrived(digest, "test", "=hostile\r\n<b>place</b>")
    (project.store_root / "secret.txt").write_text(SECRET)
    return project, digest


class Browser:
    """Asks a server of its own: a test client in this process would decode addresses twice, and put `..` right."""

    def __init__(self, address: str) -> None:
        self.host = address.partition("//")[2]

    def get(self, path: str) -> "Answered":
        connection = HTTPConnection(self.host, timeout=60)
        try:
            connection.putrequest("GET", path, skip_accept_encoding=True)
            connection.endheaders()
            response = connection.getresponse()
            return Answered(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
        finally:
            connection.close()


@dataclass(frozen=True)
class Answered:
    status_code: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return json.loads(self.content)


@pytest.fixture(scope="module")
def browser(warehouse: tuple[Project, str]) -> Iterator[Browser]:
    with server(warehouse[0]) as address:
        yield Browser(address)


def path_of(digest: str, name: str) -> str:
    return f"/evidence/{digest}/files/{quote(name)}"


def test_there_are_sixty(warehouse: tuple[Project, str]) -> None:
    assert len(HOSTILE) >= 60 and len(set(HOSTILE)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES, ids=[f"{place}" for place in range(len(NAMES))])
def test_hostile_evidence_is_data(warehouse: tuple[Project, str], browser: Browser, name: str) -> None:
    (_, digest), content = warehouse, HOSTILE[name]
    response = browser.get(path_of(digest, name))
    assert response.status_code == 200 and response.headers["content-type"] == "text/html; charset=utf-8"
    page = shown(response.text)
    assert printable(name) in page.text and sha256(content).hexdigest() in page.text
    document = browser.get(f"/api{path_of(digest, name)}").json()
    facts = {item["name"]: item["value"] for each in document["parts"] if each["name"] == "about" for item in each["items"]}
    assert facts["state"] == "whole" and facts["size"] == len(content) and facts["sha256"] == sha256(content).hexdigest()
    text = next(each["text"] for each in document["parts"] if each["name"] == "content")
    try:
        assert text == content.decode() or b"\0" in content
    except UnicodeDecodeError:
        assert content[:16].hex(" ") in text
    (door,) = [link for link in page.links if link.startswith("/raw/")]
    check_download(browser, door, content)
    assert unquote(door) == f"/raw/{digest}/{name}"
    assert browser.get(f"/api{path_of(digest, name)}?format=csv").status_code == 400  # it has no table


def check_download(browser: Browser, door: str, content: bytes) -> None:
    """Any file is sent as an attachment, which a browser does not render."""
    response = browser.get(door)
    assert response.status_code == 200 and response.content == content
    headers = response.headers
    assert headers["content-type"] == "application/octet-stream" and headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "sandbox; default-src 'none'" and "set-cookie" not in headers
    kind, plain, whole = headers["content-disposition"].split("; ")
    assert kind == "attachment" and plain.startswith('filename="') and whole.startswith("filename*=UTF-8''")
    saved = unquote(whole.removeprefix("filename*=UTF-8''"))
    assert saved and saved.isprintable() and not set(saved) & set('/\\"<>|:*?') and not saved.startswith((".", " "))
    assert plain[10:-1].isascii() and all(each.isalnum() or each in "._-" for each in plain[10:-1])


def test_lists_of_hostile_names(warehouse: tuple[Project, str], browser: Browser) -> None:
    _, digest = warehouse
    for path in (f"/evidence/{digest}", "/evidence", "/ingest", "/audit"):
        page = shown(browser.get(path).text)
        assert "<b>place" in page.text
    page = shown(browser.get(f"/evidence/{digest}").text)
    doors = {unquote(link).partition("/files/")[2] for link in page.links if "/files/" in link}
    assert doors == set(NAMES)
    lines = list(csv.reader(io.StringIO(browser.get(f"/api/evidence/{digest}?format=csv&table=files").text, newline="")))
    listed = {line[0].removeprefix("'"): line for line in lines[1:]}
    assert not any(line[0].startswith(("=", "+", "-", "@", "\t", "\r")) for line in lines)  # a spreadsheet would compute these
    assert {name.removeprefix("'") for name in NAMES} == listed.keys()
    rows = browser.get(f"/api/evidence/{digest}").json()["parts"]
    files = next(each for each in rows if each["name"] == "files")["rows"]
    assert {row["raw_path"]: row["bytes"] for row in files} == {name: len(content) for name, content in HOSTILE.items()}


@pytest.mark.parametrize("path", [
    "../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt", "%2e%2e%2f%2e%2e%2fsecret.txt", "..%5csecret.txt", "/etc/passwd", "%2fetc%2fpasswd",
    "//etc/passwd", "../manifest.json/../../../secret.txt", "....//secret.txt", "..;/secret.txt", "%252e%252e%252fsecret.txt", "file:///etc/passwd",
    "a/../../secret.txt", "%c0%ae%c0%ae/secret.txt", "x" * 5000, "con/../secret.txt", "%u002e%u002e/secret.txt", "http://localhost/healthz", "~/secret.txt",
    "*", "?", ".", "..", "files/", "",
])
@pytest.mark.parametrize("kind", ["evidence", "raw", "api"])
def test_nothing_but_what_the_manifest_names_is_read(warehouse: tuple[Project, str], browser: Browser, kind: str, path: str) -> None:
    _, digest = warehouse
    base = {"evidence": f"/evidence/{digest}/files/", "raw": f"/raw/{digest}/", "api": f"/api/evidence/{digest}/files/"}[kind]
    response = browser.get(base + path)
    assert response.status_code in (307, 400, 404) and SECRET not in response.text and "root:" not in response.text
    if response.status_code == 307:  # of a slash too many
        assert response.headers["location"].startswith(f"http://{browser.host}/")


@pytest.mark.parametrize("bundle", ["..", "%2e%2e%2f..", "0" * 64, "f" * 64, "secret.txt", "z" * 64, "0", "%00", "*", "sha256:" + "0" * 64])
def test_what_is_no_bundle(browser: Browser, bundle: str) -> None:
    for path in (f"/api/evidence/{bundle}", f"/raw/{bundle}/secret.txt", f"/evidence/{bundle}/files/secret.txt"):
        response = browser.get(path)
        assert response.status_code in (400, 404) and SECRET not in response.text


def test_an_altered_file_is_neither_shown_nor_sent(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", bare=True)
    store = open_store(project)
    put(store, {"a.txt": b"as it was", "b.txt": b"beside", "c.txt": b"a link"}, tmp_path / "in")
    (digest,) = store.digests()
    Ledger(store.objects).arrived(digest, "test", "here")
    folder = bundle_folder(store, digest) / "files"
    for path in folder.iterdir():
        path.chmod(0o644)
    (folder / "a.txt").write_bytes(b"altered it is")
    (folder / "b.txt").unlink()
    (tmp_path / "elsewhere").write_bytes(b"a link")
    (folder / "c.txt").unlink()
    (folder / "c.txt").symlink_to(tmp_path / "elsewhere")
    browser = client(project)
    for name, state, status in (("a.txt", "altered", 409), ("b.txt", "missing", 404), ("c.txt", "altered", 404)):
        document = browser.get(f"/api/evidence/{digest}/files/{name}").json()
        assert document["states"] == [state] and not any(each["name"] == "content" for each in document["parts"])
        page = browser.get(f"/evidence/{digest}/files/{name}").text
        assert "altered it is" not in page and f"/raw/{digest}" not in page
        response = browser.get(f"/raw/{digest}/{name}")
        assert response.status_code == status and "altered it is" not in response.text


def test_a_page_as_markdown_and_a_file_of_that_ending(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", bare=True)
    store = open_store(project)
    put(store, {"notes": b"the notes", "notes.md": b"# *the* _other_"}, tmp_path / "in")
    (digest,) = store.digests()
    browser, path = client(project), f"/evidence/{digest}/files/notes"
    page, twice = browser.get(f"{path}.md"), browser.get(f"{path}.md.md")
    assert page.headers["content-type"].startswith("text/html") and "# *the* _other_" in page.text
    assert twice.headers["content-type"].startswith("text/markdown") and "```\n# *the* _other_\n```" in twice.text
    assert browser.get(f"/evidence/{digest}/files/nosuch.md").status_code == 404


def test_windows_of_a_long_file(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", bare=True)
    store = open_store(project)
    text = "".join(f"{number:06}é\n" for number in range(4000))  # 9 bytes a line
    put(store, {"long.txt": text.encode(), "long.bin": bytes(range(256)) * 100}, tmp_path / "in")
    (digest,) = store.digests()
    browser, found, path, pages = client(project), "", f"/api/evidence/{digest}/files/long.txt", 0
    offset = 0
    while offset < len(text.encode()):
        content = next(each for each in browser.get(f"{path}?offset={offset}").json()["parts"] if each["name"] == "content")
        assert content["text"] and len(content["text"]) < 17_000
        found += content["text"]
        offset += len(content["text"].encode())
        pages += 1
    assert found == text and pages == 3
    binary = browser.get(f"/api/evidence/{digest}/files/long.bin?offset=256").json()["parts"][1]["text"].splitlines()
    assert binary[0].split()[:4] == ["256", "00", "01", "02"] and len(binary) == 256
    assert browser.get(f"/api/evidence/{digest}/files/long.bin?offset=-1").status_code == 400


def test_the_name_of_a_download() -> None:
    assert disposition("logs/run 1.txt") == "attachment; filename=\"run_1.txt\"; filename*=UTF-8''run%201.txt"
    assert disposition("é.txt") == "attachment; filename=\"_.txt\"; filename*=UTF-8''%C3%A9.txt"
    assert disposition("a\r\nX: 1") == "attachment; filename=\"a_r_nX__1\"; filename*=UTF-8''a_r_nX_%201"
    assert disposition("..") == "attachment; filename=\"file\"; filename*=UTF-8''file"


# --- what arrived, what is wrong with it, and what was done ---------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two recognised bundles, one unrecognised bundle, and a run with a note."""
    root = tmp_path_factory.mktemp("small")
    project = init_project(root / "project", bare=True)
    (project.root / "ingest" / "values.py").write_text(VALUES_INGESTOR)
    (project.root / "models" / "run.sql").write_text(
        "/*\ngrain: [run_id]\nrole: runs\n*/\nselect value.key as run_id, value.artifact_manifest_digest, value.value from value"
    )
    folder = root / "in"
    folder.mkdir()
    (folder / "a.nv").write_text("a=1\n")
    (folder / "b.nv").write_text("b=2\n")
    (folder / "README").write_text("an unknown format\n")
    take_in(project, folder)
    build(project)
    note(project, "a", "looked at")
    return project


def part(document: dict[str, Any], name: str) -> Any:
    return next(each for each in document["parts"] if each["name"] == name)


def test_the_bundles_with_family_and_size(small: Project) -> None:
    browser = client(small)
    rows = part(browser.get("/api/evidence").json(), "bundles")["rows"]
    assert sorted((row["family"], row["files"], row["bytes"], row["state"], row["signatures"]) for row in rows) == [
        ("unrecognised", 1, 18, "here", "unsigned"), ("values", 1, 4, "here", "unsigned"), ("values", 1, 4, "here", "unsigned"),
    ]
    known = part(browser.get("/api/evidence?family=values").json(), "bundles")
    assert known["total"] == 2 and {row["family"] for row in known["rows"]} == {"values"}
    assert 'href="/evidence?family=values"' in browser.get("/evidence").text


def test_a_bundle_leads_to_its_runs_files_and_events(small: Project) -> None:
    browser = client(small)
    digests = [row["bundle"] for row in part(browser.get("/api/evidence?family=values").json(), "bundles")["rows"]]
    runs = {}
    for digest in digests:
        document = browser.get(f"/api/evidence/{digest[:10]}").json()
        (run,), (file,), (event,) = (part(document, name)["rows"] for name in ("runs", "files", "events"))
        runs[run["run_id"]] = file["raw_path"]
        assert event["kind"] == "arrival" and file["sha256"] == sha256((run["run_id"] + {"a": "=1\n", "b": "=2\n"}[run["run_id"]]).encode()).hexdigest()
    assert runs == {"a": "a.nv", "b": "b.nv"}


def test_ingest_says_what_nobody_knows(small: Project) -> None:
    document = client(small).get("/api/ingest").json()
    (row,) = part(document, "unrecognised")["rows"]
    assert (row["files"], row["bytes"], row["names"]) == (1, 18, "README")
    assert part(document, "arrivals")["total"] == 3 and part(document, "decisions")["rows"] == []
    assert "has no table ingest_issue" in client(small).get("/ingest").text


def test_what_an_event_lists_is_counted_and_a_digest_is_cut() -> None:
    event = Event("publishing", "a" * 64, "2026-01-01T00:00:00Z", {"seen": {"": {"b" * 64: ["r1", "r2"], "c" * 64: ["r3"]}}, "of": "d" * 64, "without": []})
    assert detail_words(event) == "of dddddddd… · seen 3 listed · without none"
    assert all(each in detail_text(event) for each in ("r1", "d" * 64))


def test_the_audit_log_leads_to_what_each_event_is_of(small: Project) -> None:
    browser = client(small)
    rows = part(browser.get("/api/audit").json(), "events")["rows"]
    assert [row["kind"] for row in rows[:2]] == ["decided", "note"] and [row["kind"] for row in rows].count("arrival") == 3
    (noted,) = part(browser.get("/api/audit?kind=note").json(), "events")["rows"]
    assert noted["subject"] == "a" and noted["place"] == "/runs/a" and "looked at" in noted["detail"]
    page = browser.get("/audit").text
    assert 'href="/runs/a"' in page and page.count('href="/evidence/') >= 3
    of_one = part(browser.get(f"/api/audit?subject={rows[-1]['subject'][:12]}").json(), "events")
    assert of_one["total"] == 1
    assert browser.get("/api/audit?nonsense=1").status_code == 400


def test_removed_by_policy_says_so(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", bare=True)
    store = open_store(project)
    put(store, {"a.txt": b"one"}, tmp_path / "in")
    (digest,) = store.digests()
    ledger = Ledger(store.objects)
    ledger.arrived(digest, "test", "here")
    ledger.removed(digest, {"tier": "hot", "days": 30, "arrived_at": "2026-01-01"})
    from warehouse.evidence.ledger.removal import remove_bundle

    remove_bundle(store, digest)
    browser = client(project)
    (row,) = part(browser.get("/api/evidence").json(), "bundles")["rows"]
    assert row["state"] == "removed by policy"
    document = browser.get(f"/api/evidence/{digest}").json()
    assert document["states"] == ["removed by policy"] and "30 days" in document["notices"][0]
    assert json.dumps(document).count("arrival") >= 1
