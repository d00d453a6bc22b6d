"""SQL that tries to write, to reach outside the build or to end the process (tests/hostile_sql.sql); limits; altered builds; and
what a terminal gets to see."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import REPOSITORY, WhBytes, WhOn
from exhaustive import few
from samples.values import take_in, value_files, values_project

import warehouse
from warehouse.claims.publish.publish import publish
from warehouse.errors import WarehouseError, printable, printable_lines
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build, find_current, list_builds
from warehouse.transform.finished.query import open_build

CANARY = "canary-5e1d"
CASES = [
    (title.split(" ", 1)[0], title.split(" ", 1)[1], sql.strip())
    for title, _, sql in (part.partition("\n") for part in re.split(r"^--- ", (REPOSITORY / "tests/hostile_sql.sql").read_text(), flags=re.M)[1:])
]
# Runs every statement of a file in one process: one line of JSON each, so that a process that aborts shows where.
RUNNER = """
import contextlib, io, json, sys
from warehouse.errors import WarehouseError
surface, project, statements = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
if surface == "pages":
    from fastapi.testclient import TestClient
    from pathlib import Path
    from warehouse.project.project import read_project
    from warehouse.surfaces.views.sql import QUERIES
    from warehouse.surfaces.web.app import application
    from warehouse.transform.finished.builds import current_build
    client = TestClient(application(read_project(Path(project))), base_url="http://localhost")
import warehouse
from warehouse.cli.main import main
wh = warehouse.open(project)
for sql in statements:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        if surface == "command":
            status = main(["--project", project, "sql", "--format", "csv", "--timeout", "5", sql])
        elif surface == "pages":
            if len(sql) < 50_000:
                answer = client.get("/api/sql", params={"query": sql})
                status = int(400 <= answer.status_code < 500)
                print(answer.json()["code"], answer.text, file=sys.stderr)
            else:  # longer than an address may be
                try:
                    print(QUERIES.run(current_build(read_project(Path(project))).path, sql))
                    status = 0
                except WarehouseError as error:
                    status = int(error.exit_code)
                    print(error, file=sys.stderr)
        else:
            try:
                print(wh.sql(sql, timeout=5))
                status = 0
            except WarehouseError as error:
                status = int(error.exit_code)
                print(error, file=sys.stderr)
    print(json.dumps([status, out.getvalue(), err.getvalue()]), flush=True)
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root = tmp_path_factory.mktemp("hostile")
    project = values_project(root / "project", "select key, sum(value) as total from reading group by key")
    take_in(project, value_files(root / "in", "a=1.5\na=2.25\n", "b=7\n"))
    build(project)
    return project


@pytest.fixture
def project(published: Project, tmp_path: Path) -> Project:
    """A copy to alter. Its build has the stamp of its file."""
    shutil.copytree(published.root, tmp_path / "project", symlinks=True)
    copy = read_project(tmp_path / "project")
    build(copy)
    return copy


def contents(folder: Path) -> dict[str, str]:
    """Every path under a folder: the digest of a file, the target of a link, the mode of all."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        what = os.readlink(path) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = f"{stat.filemode(mode)} {what}"
    return found


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 60 and len({sql for _, _, sql in CASES}) == len(CASES)


@pytest.mark.parametrize("surface", few(["command", "api", "pages"], 1))
def test_nothing_is_written_nothing_outside_is_read_and_the_process_goes_on(surface: str, project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text(f"canary\n{CANARY}\n")
    names = {"build": str(current_build(project).path), "project": str(project.root), "outside": str(outside), "opening": "(" * 100_000, "closing": ")" * 100_000}
    statements = [re.sub(r"\{(\w+)\}", lambda found: names[found[1]], sql) for _, _, sql in CASES]
    (tmp_path / "statements.json").write_text(json.dumps(statements))
    before = contents(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, surface, str(project.root), str(tmp_path / "statements.json")],
        capture_output=True, text=True, cwd=tmp_path, timeout=300,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and done.stderr == "", (CASES[len(answers)], done.stderr)
    for (code, title, _), (status, out, err) in zip(CASES, answers, strict=True):
        assert (status, out, err[:5]) == (1, "", code), (title, out, err)
        assert CANARY not in err, title
    assert contents(tmp_path) == before


READING = {
    "from reading order by all limit 1": "a,1.5",
    "values (1, 2)": "1,2",
    "table reading order by all limit 1": "a,1.5",
    "(select 1 as a)": "1",
    "with recursive t(i) as (select 1 union all select i + 1 from t where i < 3) select max(i) from t": "3",
    "explain select * from reading": "physical_plan",
    "explain (select 1)": "physical_plan",
    "explain (format json) select 1": "physical_plan",
    "explain analyze from reading": "analyzed_plan",
    "explain pivot reading on key using sum(value)": "plan",
    "describe reading": "key,VARCHAR",
    "describe select 1 as a": "a,INTEGER",
    "show tables": "claim",
    "summarize reading": "key,VARCHAR",
    "pivot reading on key using sum(value)": "7.0",
    "pivot (select key, value as \"updated\" from reading) on key using sum(updated)": "7.0",
    "select * from (pivot (select key, value from reading) on key in ('a', 'b') using sum(value))": "3.75,7.0",
    "unpivot (select 1 as a, 2 as b) on a, b": "a,1",
    "select key from reading, range(2) where key = 'b' limit 1": "b",
    "select table_name from information_schema.tables where table_name = 'reading'": "reading",
    "from pragma_table_info('reading')": "key",
    "select 'copy' as \"copy\", 1 as update": "copy,1",
}


@pytest.mark.parametrize("sql", READING)
def test_what_reads_is_answered(sql: str, published: Project, wh_on: WhOn) -> None:
    status, out, err = wh_on(published, "sql", "--format", "csv", sql)
    assert (status, err) == (0, "") and READING[sql] in out


# --- limits ------------------------------------------------------------------------------------------------------

LIMITED = {
    "time": (["--timeout", "0.3"], "select count(*) from range(100000000) a, range(10000) b", "it took longer than 0.3 seconds"),
    "memory": (["--memory", "100MB", "--spill", "0MB"], "select list(i) from range(30000000) r (i)", "it took more"),
    "spill": (["--memory", "40MB", "--spill", "5MB"], "select count(*), max(x) from (select md5(i::varchar) as x from range(3000000) r (i) order by x)", "5MB of temporary files"),
    "text": (["--memory", "100MB"], "select repeat('x', 500000000) as x from range(100)", "it took more memory than 100MB"),
    "rows": (["--rows", "2", "--format", "csv"], "from range(5)", "its result has more than 2 rows"),
}


@pytest.mark.parametrize("case", LIMITED)
def test_a_limit_is_an_error(case: str, published: Project) -> None:
    options, sql, message = LIMITED[case]
    done = wh(published, "sql", *options, sql)
    assert done.returncode == 1 and done.stderr.startswith(f"WH215 query: {message}" if case != "spill" else "WH215 query: "), done.stderr
    assert message in done.stderr and "[sql] of warehouse.toml" in done.stderr


def wh(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("sql", few([f"select a{'.a' * 20000}", f"select {'(' * 30000}"], 1))
def test_planning_that_does_not_end_is_ended(sql: str, published: Project) -> None:
    done = wh(published, "sql", "--timeout", "0.1", sql)
    assert done.returncode == 1 and done.stderr.startswith("WH215 query: it took longer than 0.1 seconds")


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "arrow"])
def test_data_have_no_row_limit_of_their_own_and_are_never_cut_in_silence(form: str, published: Project, wh_bytes: WhBytes) -> None:
    assert wh_bytes(published, "sql", "--format", form, "from range(25000)")[0] == 0
    status, _, err = wh_bytes(published, "sql", "--format", form, "--rows", "15000", "from range(25000)")
    assert status == 1 and err.startswith("WH215")
    assert wh_bytes(published, "sql", "--format", form, "--rows", "25000", "from range(25000)")[0] == 0


def test_a_table_ends_after_a_thousand_rows_and_says_so(published: Project, wh_on: WhOn) -> None:
    status, out, err = wh_on(published, "sql", "--format", "table", "from range(1001)")
    assert (status, out.count("\n")) == (0, 1002) and err == "the first 1,000 rows: --rows N shows more, --format csv all\n"
    assert wh_on(published, "sql", "--format", "table", "from range(1000)")[2] == ""
    assert wh_on(published, "sql", "--format", "table", "--rows", "1001", "from range(1001)")[1].count("\n") == 1003
    assert wh_on(published, "sql", "--format", "table", "--rows", "1", "from range(2)")[1].count("\n") == 3


def test_the_project_file_and_parameters_limit(project: Project, wh_on: WhOn) -> None:
    file = project.root / "warehouse.toml"
    file.write_text(file.read_text() + '\n[sql]\nrows = 3\ntimeout = 5\nmemory = "200MB"\n')
    assert wh_on(project, "sql", "--format", "csv", "from range(4)")[2].startswith("WH215 query: its result has more than 3 rows")
    assert wh_on(project, "sql", "--format", "csv", "--rows", "4", "from range(4)")[0] == 0
    opened = warehouse.open(project.root)
    with pytest.raises(WarehouseError) as caught:
        opened.sql("from range(4)")
    assert caught.value.code == "WH215"
    assert opened.sql("from range(4)", rows=4).num_rows == opened.pl("from range(4)", rows=4).height == 4
    assert opened.sql("select current_setting('memory_limit')", memory="100MiB").column(0).to_pylist() == ["100.0 MiB"]
    with pytest.raises(ValueError, match="is not a size"):
        opened.sql("select 1", memory="much")


@pytest.mark.parametrize("line", ["rows = 0", "timeout = 0", 'memory = "4"', 'spill = "a lot"', "memory = 4", "row = 1"])
def test_a_limit_that_is_none(line: str, project: Project, wh_on: WhOn) -> None:
    file = project.root / "warehouse.toml"
    file.write_text(file.read_text() + f"\n[sql]\n{line}\n")
    status, _, err = wh_on(project, "sql", "select 1")
    assert status == 1 and err.startswith(f"WH002 warehouse.toml:{len(file.read_text().splitlines())}:1: ")


@pytest.mark.parametrize("option", [("--rows", "0"), ("--timeout", "-1"), ("--timeout", "inf"), ("--memory", "4"), ("--spill", "x")])
def test_an_option_that_is_no_limit(option: tuple[str, str], published: Project, wh_on: WhOn) -> None:
    assert wh_on(published, "sql", *option, "select 1")[0] == 2


def test_spilled_files_are_outside_the_project_and_removed(published: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = contents(published.root)
    done = wh(published, "sql", "--memory", "60MB", "select count(*), max(x) from (select md5(i::varchar) as x from range(2000000) r (i) order by x)")
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == [] and contents(published.root) == before


# --- builds ------------------------------------------------------------------------------------------------------


def test_a_build_is_read_only_on_disk_and_the_next_build_works(project: Project) -> None:
    first = current_build(project)
    assert stat.S_IMODE(first.path.stat().st_mode) == 0o444
    (project.root / "models" / "more.sql").write_text("select 1 as a")
    second = build(project).build
    assert second.path != first.path and stat.S_IMODE(second.path.stat().st_mode) == 0o444


@pytest.fixture
def planted(project: Project) -> Project:
    """With a write-ahead log beside the build, made as the engine makes one."""
    import duckdb

    path = current_build(project).path
    other = project.root.parent / "other.duckdb"
    shutil.copyfile(path, other)
    con = duckdb.connect(str(other))
    con.execute("set checkpoint_threshold = '1TB'; pragma disable_checkpoint_on_shutdown")
    con.execute("update reading set value = 0.001")
    con.close()
    shutil.copyfile(f"{other}.wal", f"{path}.wal")
    return project


def altered(project: Project) -> Project:
    """With other bytes of the same length and time in the build."""
    path = current_build(project).path
    status = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return project


@pytest.fixture(params=["log", "bytes"])
def forged(request: pytest.FixtureRequest, project: Project) -> Project:
    return request.getfixturevalue("planted") if request.param == "log" else altered(project)


def test_every_reader_refuses_a_forged_build(forged: Project, tmp_path: Path, wh_on: WhOn) -> None:
    (digest,) = [each.digest for each in list_builds(forged)]
    commands = (["sql", "from reading"], ["sql", "--build", digest[:9], "from reading"], ["test"], ["publish", "claim"],
                ["push", str(tmp_path / "other"), "--create", "--build"],
                ["push", str(tmp_path / "other"), "--create", "--build", digest[:9]])  # fmt: skip
    for command in commands:
        status, out, err = wh_on(forged, *command)
        assert (status, out, err[:5]) == (3, "", "WH218"), (command, out, err)
    status, out, _ = wh_on(forged, "builds")
    assert status == 3 and out.splitlines()[-1].endswith("altered")
    status, out, _ = wh_on(forged, "fsck")
    assert status == 3 and str(list_builds(forged)[0].path.name) in out and "WH105" in out
    with pytest.raises(WarehouseError) as caught:
        warehouse.open(forged.root).sql("from reading")
    assert caught.value.code == "WH218"


def test_wh_build_replaces_a_forged_build(forged: Project, wh_on: WhOn) -> None:
    assert find_current(forged) is None
    assert build(forged).is_new
    assert wh_on(forged, "sql", "--format", "csv", "select key, value from reading order by all")[1] == "key,value\na,1.5\na,2.25\nb,7.0\n"
    assert wh_on(forged, "fsck")[0] == 0


def test_a_log_beside_the_kept_failures_is_refused(project: Project, wh_on: WhOn) -> None:
    shutil.copyfile(current_build(project).path, project.builds / "failures.duckdb")
    (project.builds / "failures.duckdb.wal").write_bytes(b"")
    assert wh_on(project, "sql", "--failures", "select 1")[2].startswith("WH218")
    with pytest.raises(WarehouseError):
        open_build(project.builds / "failures.duckdb")


def test_a_project_that_was_moved_is_read_and_stamped_again(project: Project, tmp_path: Path) -> None:
    shutil.copytree(project.root, tmp_path / "moved", symlinks=True)
    moved = read_project(tmp_path / "moved")
    found = current_build(moved)
    assert found.stamp == current_build(project).stamp
    assert not build(moved).is_new
    assert current_build(moved).stamp != found.stamp


# --- terminals ---------------------------------------------------------------------------------------------------

HOSTILE = "\x1b[2J\x1b]52;c;ZXZpbA==\x07\x9b31m\u202edcba\u2066\u200b\r\x00x"
CHARACTERS = "chr(27) || '[2J' || chr(27) || ']52;c;ZXZpbA==' || chr(7) || chr(155) || '31m' || chr(8238) || 'dcba' || chr(8294) || chr(13) || 'x'"
UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def test_the_functions_that_escape() -> None:
    assert printable(HOSTILE) == r"\x1b[2J\x1b]52;c;ZXZpbA==\x07\x9b31m\u202edcba\u2066\u200b\r\x00x"
    assert printable_lines(f"a\n\tb {HOSTILE}\n") == f"a\n\tb {printable(HOSTILE)}\n"
    assert printable("é ü 日本 µ") == "é ü 日本 µ"


def on_a_terminal(*command: str, project: Project) -> str:
    """What a command writes to a terminal that is its stdout and stderr."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": "400"}
    command = (sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root), *command)
    with subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=environment) as process:
        os.close(follower)
        shown = b"".join(_chunks(leader))
        process.wait(timeout=60)
    os.close(leader)
    return shown.decode().replace("\r\n", "\n")  # the terminal's own carriage returns


def _chunks(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:  # Linux says so when the other side is closed
            return
        if not chunk:
            return
        yield chunk


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_terminal_gets_no_control_characters_of_the_evidence(form: str, published: Project) -> None:
    shown = on_a_terminal("sql", "--format", form, f"select {CHARACTERS} as a, 1 as \"{HOSTILE[:4]}\"", project=published)
    assert "ZXZpbA==" in shown and not UNSHOWN.search(shown), ascii(shown)
    if form == "json":
        assert json.loads(shown)[0]["a"] == HOSTILE.replace("\u200b", "").replace("\x00", "")


def test_data_in_a_pipe_stay_as_they_are(published: Project, wh_on: WhOn) -> None:
    _, out, _ = wh_on(published, "sql", "--format", "csv", f"select {CHARACTERS} as a")
    assert "\x1b]52;" in out and "\u202e" in out


def test_errors_are_escaped(published: Project, wh_on: WhOn) -> None:
    for command in (["sql", f'select "{HOSTILE[:-2]}"'], ["lineage", HOSTILE[:-2]], ["retract", HOSTILE[:-2], "--reason", "x"], ["ledger", HOSTILE[:-2]]):
        _, out, err = wh_on(published, *command)
        assert not UNSHOWN.search(out + err), (command, ascii(out + err))


def test_a_publication_of_hostile_keys_is_listed_escaped(tmp_path: Path, wh_on: WhOn) -> None:
    project = values_project(tmp_path / "project", f"select key || {CHARACTERS} as key, sum(value) as total from reading group by all")
    take_in(project, value_files(tmp_path / "in", "a=1.5\n"))
    build(project)
    publish(project, "claim")
    for command in (["verify", "--all"], ["lineage", "1.5"], ["ledger"], ["verify", "1.5"]):
        status, out, err = wh_on(project, *command)
        assert not UNSHOWN.search(out + err), (command, ascii(out + err))


def test_the_commands_print_through_one_place() -> None:
    for path in (REPOSITORY / "warehouse" / "cli").rglob("*.py"):
        if path.name != "output.py":
            assert not re.search(r"(?<![\w.])print\(|std(?:out|err)\.(?:buffer\.)?write", path.read_text()), path
