"""The command line itself: help, examples, mistakes, completion, and what is printed where."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import REPOSITORY, WhOn
from exhaustive import few
from samples.examples import RUN
from samples.served import served_project

from warehouse.claims.publish.publication import publications
from warehouse.cli.commands import COMMANDS, GROUPS, module_of
from warehouse.cli.main import main
from warehouse.cli.output import next_step, say, table, text_table
from warehouse.cli.program import load_command
from warehouse.errors import EXIT_CODES, ExitCode
from warehouse.project.making import init_project
from warehouse.project.project import Project, find_project
from warehouse.transform.build.build import build

CLI = REPOSITORY / "warehouse" / "cli"
# These take seconds in a standard project. Each has a test of its own that runs it in a small one.
DEAR = {"audit-packet", "check", "columns", "docs", "judge", "publish", "supersede", "test", "verify", "withdraw"}
# Of each command the first always runs; the others mostly differ in an option.
EXAMPLES = [
    example for name in COMMANDS for example in few([(name, example) for example in load_command(name).examples], 0 if name in DEAR else 1)
]


def wh(*arguments: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """`wh` as a process of its own."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(REPOSITORY), **variables}
    return subprocess.run(
        [sys.executable, "-m", "warehouse.cli.main", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project of the examples, which is the current folder, and of what lies beside it."""
    return entered(copy_of_examples(tmp_path / "copy"), monkeypatch)


@pytest.fixture(scope="module")
def one_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of_examples(tmp_path_factory.mktemp("examples") / "copy")


@pytest.fixture
def unchanged(one_copy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, one copy for all commands that change nothing."""
    return entered(one_copy, monkeypatch)


def copy_of_examples(to: Path) -> Path:
    shutil.copytree(served_project().root.parent, to, symlinks=True)
    return to / "project"


def entered(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project.parent / "config"))
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.chdir(project)
    return project


# --- help --------------------------------------------------------------------------------------------------------


def test_help_lists_every_command_in_its_group_and_every_exit_code(tmp_path: Path) -> None:
    done = wh("--help", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for heading, commands in GROUPS.values():
        section = done.stdout.split(f"\n{heading}:\n")[1].split("\n\n")[0]
        assert re.findall(r"^  ([a-z-]+) ", section, re.MULTILINE) == list(commands)
    assert all(re.search(rf"^  {code.value} +{re.escape(meaning[:20])}", done.stdout, re.MULTILINE) for code, meaning in EXIT_CODES.items())
    assert set(EXIT_CODES) == set(ExitCode)


def test_help_imports_no_command_and_nothing_heavy(tmp_path: Path) -> None:
    code = "import sys; from warehouse.cli.main import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    modules = set(done.stderr.split())
    assert {module_of(name) for name in COMMANDS}.isdisjoint(modules)
    assert {"duckdb", "pyarrow", "sqlglot", "numpy", "yaml", "tqdm", "rich.console"}.isdisjoint(modules)


def test_a_build_with_nothing_new_imports_nothing_heavy(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", bare=True)
    build(project)
    code = "import sys; from warehouse.cli.main import main; main(['build']); print(*sys.modules, file=sys.stderr)"
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([sys.executable, "-c", code], cwd=project.root, env=environment, capture_output=True, text=True, check=True)
    assert "nothing changed" in done.stderr
    assert {"duckdb", "pyarrow", "sqlglot", "numpy", "pydantic", "rich.console"}.isdisjoint(done.stderr.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_ends_with_examples_and_a_page_that_exists(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    summary = COMMANDS[name][0].upper() + COMMANDS[name][1:]
    assert " ".join(shown.split()).split("Usage: wh ")[1].startswith(f"{name} ") and summary in " ".join(shown.split())
    assert not re.search(r"\S   +\S", shown.partition("\nOptions")[0].partition("\nArguments")[0])
    command = load_command(name)
    assert command.examples and all(f"  {example}\n" in shown.replace(" \\\n    ", " ") for example in command.examples)  # a long one goes on in a line below
    assert shown.endswith(f"\nMore: {command.page}\n") and (REPOSITORY / command.page).is_file()


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=str)
def test_every_example_runs(name: str, example: str, examples: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert re.search(rf"\bwh {name}( |$)", example)
    if "|" in example:
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        script = f'wh() {{ {shlex.quote(sys.executable)} -m warehouse.cli.main "$@"; }}; {example}'
        done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return
    words = shlex.split(example)
    if name == "serve":
        port = [] if "--port" in words else ["--port", "0"]
        serving = subprocess.Popen([sys.executable, "-m", "warehouse.cli.main", *words[1:], *port], stderr=subprocess.PIPE, text=True)
        assert serving.stderr and "serving http://127.0.0.1:" in serving.stderr.readline()
        serving.send_signal(signal.SIGINT)
        assert serving.wait(timeout=30) == ExitCode.INTERRUPTED and "interrupted: the server has stopped" in serving.stderr.read()
        return
    if name == "mcp":  # a client that asks nothing
        assert subprocess.run([sys.executable, "-m", "warehouse.cli.main", *words[1:]], stdin=subprocess.DEVNULL, check=True).returncode == 0
        return
    if name == "token" and "revoke" in words:
        assert main(["token", "new", words[3]]) == 0
    if name == "reinstate":
        assert main(["retract", words[2], "--reason", "the node was throttled"]) == 0
        capfd.readouterr()
    if name in ("withdraw", "supersede"):
        assert main(["retract", f"{RUN}2", "--reason", "the node was throttled"]) == main(["build"]) == 0
        assert main(["publish", "indicator_results", "--as", "provisional"]) == 0
        second, first = (each.digest for each in publications(find_project()))
        words = [{"3f9c2a7b41de": first, "81b0c5d2e6fa": second}.get(word, word) for word in words]
        capfd.readouterr()
    status = main(words[1:])
    sys.stdout.flush()
    out, err = capfd.readouterr()
    # An event, a later month, a campaign, its publication: these few runs have none.
    for about, code in (("--bisect", "WH503"), ("since=2026-02-01", "WH502"), ("wh advise", "WH304" if "--from" in words else "WH502")):
        if about in example:
            assert status == ExitCode.NOT_FOUND and code in err
            return
    assert status == 0, err
    if "--json" in words and out:
        json.loads(f"[{','.join(out.splitlines())}]" if "\n{" in out else out)


def test_shared_options_stand_before_and_after_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = init_project(tmp_path / "project", bare=True)
    for line in (["--project", str(project.root), "status"], ["status", "--project", str(project.root)]):
        assert main(line) == 0 and f"project      project  {project.root}\n" in capsys.readouterr().out


# --- mistakes ----------------------------------------------------------------------------------------------------

MISTAKES: list[dict[str, Any]] = yaml.safe_load((REPOSITORY / "tests" / "mistakes.yaml").read_text())


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake["wh"])
def test_a_mistake_gets_a_message_that_helps(mistake: dict[str, Any], unchanged: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if folder := mistake.get("in"):
        (unchanged.parent / folder).mkdir(exist_ok=True)
        os.chdir(unchanged.parent / folder)
    status = main(shlex.split(mistake["wh"]))
    sys.stdout.flush()
    out, err = capfd.readouterr()
    assert (status, out) == (mistake["exit"], mistake.get("stdout", "")), err
    assert "Traceback" not in err
    for text in mistake["says"]:
        assert text in err
    for text in mistake.get("not", ()):
        assert text not in err


def test_there_are_mistakes_of_most_commands() -> None:
    assert len(MISTAKES) >= 45
    assert len({shlex.split(mistake["wh"])[0] for mistake in MISTAKES if mistake["wh"]} & set(COMMANDS)) > len(COMMANDS) / 2


def test_arguments_of_strangers_are_escaped_in_messages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = init_project(tmp_path / "project", bare=True)
    for line in (["\x1b[31mred"], ["build", "--\x1b[31mred"], ["build", "\x1b]0;title\x07"], ["fsck", "--sample", "\x1b[31m"], ["sql", "--format", "\u202eabc", "x"]):
        assert main(["--project", str(project.root), *line]) == ExitCode.USAGE
        err = capsys.readouterr().err
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", err), ascii(err)


# --- completion --------------------------------------------------------------------------------------------------


def completed(project: Project, *words: str) -> list[str]:
    """What bash is offered for the last of `words`."""
    done = wh(
        folder=project.root, _WH_COMPLETE="complete_bash", COMP_WORDS=" ".join(("wh", *words)), COMP_CWORD=str(len(words)),
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_bash_completes_commands_options_and_names(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project")
    (project.root / "queries" / "zz_mine.sql").write_text("select 1 as a")
    (project.root / "queries" / "zz_\x1b[31m.sql").write_text("select 1 as a")
    assert completed(project, "ver") == ["verify"]
    assert set(completed(project, "")) == set(COMMANDS)
    assert completed(project, "build", "--re") == ["--retry"]
    assert completed(project, "--proj") == ["--project"]
    assert completed(project, "publish", "zz") == ["zz_mine"]
    assert "benchmark_run_fact" in completed(project, "describe", "bench")
    assert completed(project, "retention", "") == ["plan", "apply"]
    assert completed(Project(tmp_path, "none", tmp_path, tmp_path, 1, True), "publish", "zz") == []


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_script_of_a_shell_is_shown(shell: str, tmp_path: Path) -> None:
    done = wh(folder=tmp_path, _WH_COMPLETE=f"source_{shell}")
    assert done.returncode == 0 and "_WH_COMPLETE=complete_" in done.stdout


# --- what is printed where ---------------------------------------------------------------------------------------


def test_quiet_leaves_errors_and_data(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    assert wh_on(project, "build", "--quiet")[2] == ""
    assert wh_on(project, "-q", "builds")[1] and wh_on(project, "-q", "describe", "x")[2].startswith("WH203 x: ")


def test_the_log_file_has_all_of_stderr_with_times_and_is_appended_to(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    log = tmp_path / "nightly.log"
    assert wh_on(project, "build", "-q", "--log-file", str(log))[2] == ""
    wh_on(project, "--log-file", str(log), "describe", "x")
    lines = log.read_text().splitlines()
    assert all(re.match(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ .", line) for line in lines)
    assert "there are no models yet" in lines[0] and "WH203 x: " in log.read_text()
    status, _, err = wh_on(project, "build", "--log-file", str(tmp_path / "none" / "x.log"))
    assert status == ExitCode.FAILED and err.startswith(f"WH005 {tmp_path / 'none' / 'x.log'}: ")
    status, _, err = wh_on(project, "describe", "x", "--log-file", "/dev/full")
    first, second, *_ = err.splitlines()
    assert status == ExitCode.NOT_FOUND and first == "WH005 /dev/full: No space left on device" and second.startswith("WH203 x: ")


@pytest.mark.parametrize("command", ["status", "tables", "sql 'select repeat(range::varchar, 100) from range(1000)' --format csv"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_standard_output_is_named(command: str, unbuffered: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "warehouse.cli.main", *shlex.split(command)], cwd=served_project().root, stdout=full, stderr=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered, "PYTHONPATH": str(REPOSITORY)},
        )
    assert done.returncode == ExitCode.FAILED and done.stderr.endswith("WH005 standard output: No space left on device\n")


@pytest.mark.exhaustive
def test_a_first_build_in_a_pipe_is_summarised_and_verbose_lists_all(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project")
    status, out, err = wh_on(project, "build")
    summary = re.search(r"^built (\d+).* s; -v lists the tables$", err, re.MULTILINE)
    assert status == 0 and len(out.splitlines()) < 10 and summary
    (project.root / ".wh" / "builds" / "current.duckdb").unlink()
    for file in (project.root / ".wh" / "builds").iterdir():
        file.unlink()
    listed = [line for line in wh_on(project, "build", "-v")[1].splitlines() if re.match(r"\w+\.\w+ +build ", line)]
    assert len(listed) == int(summary[1]) > 50


def test_a_failed_recording_says_why_at_once_and_is_the_next_step(examples: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = "import sys; print('first', file=sys.stderr); sys.exit('no module named vllm')"
    assert main(["record", "--repeats", "2", "--", sys.executable, "-c", code]) == ExitCode.FAILED
    assert capfd.readouterr().err.count("in run-01/stderr.txt: no module named vllm\n") == 1
    assert main(["build"]) == 0
    capfd.readouterr()
    assert main([]) == ExitCode.USAGE
    command, _, why = capfd.readouterr().err.splitlines()[0].partition("Next: wh ")[2].partition("  # ")
    assert why == "2 runs of the last recording failed"
    assert main(shlex.split(command)) == 0
    sys.stdout.flush()
    assert capfd.readouterr().out.count("exit code 1") == 2


def test_status_tells_what_is_there_what_is_stale_and_what_needs_a_decision(examples: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def status() -> dict[str, Any]:
        assert main(["status", "--json"]) == 0
        sys.stdout.flush()
        found: dict[str, Any] = json.loads(capfd.readouterr().out)
        return found

    found = status()
    assert (found["bundles"], found["unrecognised"], found["conflicted_runs"]) == ({"bench_serving": 2, "recorded_run": 2}, 0, [f"{RUN}4"])
    assert (found["build"]["is_evidence_newer"], found["build"]["are_models_newer"]) == (False, False)
    (published,) = found["publications"]
    assert {name: published[name] for name in ("query", "numbers", "stale", "retracted")} == {
        "query": "indicator_results", "numbers": 7, "stale": 0, "retracted": 0,
    }
    assert found["next"] == f"wh settle {RUN}4 --bundle DIGEST --reason TEXT"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("warehouse.maintenance.status.CurrentNumbers", None)  # which reads all numbers
        assert status() == found
    (examples / "notes.txt").write_text("nothing that is known")
    (examples / "queries" / "mine.sql").write_text("/*\ngrain: [x]\n*/\nselect 1 as x")
    assert main(["ingest", "notes.txt"]) == 0 and main(["retract", f"{RUN}1", "--reason", "throttled"]) == 0
    capfd.readouterr()
    found = status()
    assert (found["unrecognised"], found["build"]["is_evidence_newer"], found["build"]["are_models_newer"]) == (1, True, True)
    assert (found["publications"][0]["retracted"], found["next"]) == (7, "wh build")
    (examples / "queries" / "mine.sql").unlink()
    assert main(["build"]) == 0
    capfd.readouterr()
    found = status()
    assert found["publications"][0]["stale"] > 0 and found["build"]["is_evidence_newer"] is False
    assert main(["status"]) == 0
    sys.stdout.flush()
    assert "indicator_results  7 numbers, " in capfd.readouterr().out


def test_status_of_a_new_project_says_how_to_begin(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    found = json.loads(wh_on(project, "status", "--json")[1])
    assert (found["bundles"], found["build"], found["publications"]) == ({}, None, []) and found["next"].startswith("wh ingest PATH")
    assert wh_on(project)[0] == ExitCode.USAGE


def test_tables_and_their_columns_are_listed_from_the_build_and_from_the_files(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    (project.root / "models" / "staging").mkdir()
    (project.root / "models" / "staging" / "within.sql").write_text("select 1 as a")
    (project.root / "models" / "power.sql").write_text(
        "/*\ndescription: Power by run.\ngrain: [run_id]\ncolumns:\n  run_id: {type: varchar, description: The run}\n"
        "  power_w: {type: double, unit: W}\n*/\nselect 'r1' as run_id, 2.5::double as power_w"
    )
    for is_built in (False, True):
        if is_built:
            build(project)
        rows = 1 if is_built else None
        table = {"schema": "main", "table": "power", "kind": "table", "rows": rows, "description": "Power by run."}
        assert json.loads(wh_on(project, "tables", "--json")[1]) == [table]
        assert [each["table"] for each in json.loads(wh_on(project, "tables", "--all", "--json")[1])] == ["power", "within"]
        assert json.loads(wh_on(project, "describe", "POWER", "--json")[1]) == {
            **table, "grain": ["run_id"],
            "columns": [
                {"name": "run_id", "type": "VARCHAR", "unit": None, "description": "The run"},
                {"name": "power_w", "type": "DOUBLE", "unit": "W", "description": ""},
            ],
            "sql": "select 'r1' as run_id, 2.5::double as power_w",
        }
        assert wh_on(project, "describe", "powr")[::2] == (5, "WH203 powr: there is no such table\n  hint: did you mean power?\n")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard output and error are a terminal of 40 columns."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_long_cell_is_cut_to_the_terminal_and_whole_in_a_pipe(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    lines = table(["run", "text", "n"], [["r1", "long " * 30, 1], ["r2", "x", 20]]).splitlines()
    assert lines[2].startswith("r1   long long") and len(lines[2]) > 150
    request.getfixturevalue("terminal")
    lines = table(["run", "text", "n"], [["r1", "long " * 30, 1], ["r2", "x", 20]]).splitlines()
    assert [len(line) for line in lines] == [40, 40, 40, 40] and "…   1" in lines[2] and len(lines) == 4
    assert table([f"column_{n}" for n in range(9)], [[10**9 + n for n in range(9)]]).splitlines() == [
        "  column_0    column_1    column_2", "----------  ----------  ----------", "1000000000  1000000001  1000000002",
        "not shown in 40 columns: column_3, column_4, column_5, column_6, column_7, column_8 (--json has all)",
    ]


def test_text_goes_on_in_the_next_line_and_no_figure_is_cut(terminal: None) -> None:
    shown = text_table(
        ["verdict", "some_throughput_per_s", "digest"], [["suspected better, needs 2 sessions a side", "16.123456789", "d" * 500]], rest="--json"
    )
    assert shown.splitlines() == [
        "verdict                     some_", "                            throughput_", "                            per_s",
        "--------------------------  ------------", "suspected better, needs 2   16.123456789", "sessions a side",
        "not shown in 40 columns: digest (--json)",
    ]


def test_states_are_coloured_on_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("terminal")  # after capsys, which replaces the streams
    say("n-1  verified: all", state="verified")
    next_step("wh build")
    monkeypatch.setenv("NO_COLOR", "1")
    say("n-1  verified: all", state="verified")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    monkeypatch.delenv("NO_COLOR")
    say("n-1  verified: all", state="verified")
    next_step("wh build")
    found = capsys.readouterr()
    assert found.out == "n-1  \x1b[32mverified\x1b[0m: all\n" + "n-1  verified: all\n" * 2
    assert found.err == "next: wh build\n"
