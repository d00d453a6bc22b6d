"""The documentation says what is there: commands, header keys, tests, error codes, and an ingestor that works."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from conftest import REPOSITORY, WhOn
from samples import declaration
from samples.served import served_project
from standard import standard_project

from warehouse.cli.commands import COMMANDS
from warehouse.cli.program import load_command
from warehouse.errors import CODES
from warehouse.project.making import init_project
from warehouse.project.project import Project, find_project
from warehouse.transform.build.build import build
from warehouse.transform.project.header_tests import COLUMN_TESTS, SEVERITIES, TABLE_TESTS, TEST_OPTIONS
from warehouse.transform.project.model import ROLES
from warehouse.transform.project.model_files import HEADER_KEYS, MATERIALISATIONS
from warehouse.transform.testing.project_tests import run_unit_tests
from warehouse.transform.testing.unit_cases import CASE_KEYS

DOCUMENTS = {
    path.relative_to(REPOSITORY).as_posix(): path.read_text()
    for path in (*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md"), REPOSITORY / "benchmarks" / "README.md")
}
README, MODELS, INGESTORS = (DOCUMENTS[name] for name in ("README.md", "docs/models.md", "docs/ingestors.md"))

# The documents whose commands run here, in this order. Those of docs/lineage.md and docs/site.md are examples of the help, which
# tests/test_cli.py runs; those of docs/serving.md and docs/mlperf-training.md are about results that a user has.
RUN_HERE = ("contracts", "decisions", "declarations", "fabric-checks", "ingestors", "signing", "store")
# What needs a bucket, another store or a bundle that disagrees with another one; and what tests/test_signing.py does, more slowly.
NOT_HERE = re.compile(r"s3://|/mnt/|4a32b0c2ac7e|--all$|indicator_results|number\.whp")


def blocks(text: str) -> list[str]:
    """The blocks of a document that are not in a language: commands, and what they print."""
    return [block for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE) if not language]


def command_lines(text: str) -> list[str]:
    return [line.removeprefix("$ ") for block in blocks(text) for line in block.splitlines() if re.match(r"(\$ )?wh ", line)]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """The project that the commands of the README make, as they stand, and what they print."""
    folder = tmp_path_factory.mktemp("written")
    block = README.partition("The same by hand:")[2].split("```")[1]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-ec", block.replace(". .venv/bin/activate\n", "")], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return find_project(folder / "my-project"), done.stdout


def test_every_command_of_the_readme_exists_and_every_command_is_in_it() -> None:
    assert {word for word in re.findall(r"\bwh ([a-z][a-z-]*)", README) if word != "init"} <= set(COMMANDS)
    assert set(COMMANDS) <= set(re.findall(r"\bwh ([a-z][a-z-]*)", README))


@pytest.mark.exhaustive  # in each run example_project() runs these commands, and their arguments are parsed
def test_the_commands_of_the_readme_run_as_they_stand(written: tuple[Project, str]) -> None:
    assert "  verified: 63 raw files hashed" in written[1]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_commands_of_a_document_are_commands_with_their_options(name: str) -> None:
    for line in command_lines(DOCUMENTS[name]):
        _, command, *arguments = shlex.split(line, comments=True)
        load_command(command).make_context(command, arguments)
    prose = re.sub(r"```.*?```", "", DOCUMENTS[name], flags=re.DOTALL)
    for span in re.findall(r"`wh ([a-z][^`]*)`", " ".join(prose.split())):
        command, *words = span.split()
        options = {option for parameter in load_command(command).params for option in parameter.opts}
        assert {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)} <= options, span


@pytest.mark.exhaustive
def test_the_commands_of_the_documents_run(
    written: tuple[Project, str], wh_on: WhOn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project, _ = written
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    declaration.write(project.root / "benchmark_run.yaml", declaration.benchmark_run())
    declaration.write(project.root / "nightly.yaml", declaration.benchmark_run())
    (project.root / "results").mkdir()
    (project.root / "results" / "notes.txt").write_text("a fan was loud\n")
    (project.root / "readings.csv").write_text("run_id,power_w\nr1,61.5\n")
    (project.root / "nightly.csv").write_text("date,name,value,unit\n2026-01-01T00:00:00Z,sort,1.5,ms\n")
    runs = wh_on(project, "sql", "select run_id from benchmark_run_fact order by run_id")[1].split()
    here = {"RUN": runs[1], "OTHER_RUN": runs[2], "COMMAND": "true"}
    for name in RUN_HERE:
        for line in command_lines(DOCUMENTS[f"docs/{name}.md"].partition("## A worked example")[0]):
            if not NOT_HERE.search(line.partition("  #")[0].rstrip()):
                words = [here.get(word, word) for word in shlex.split(line, comments=True)[1:]]
                status, out, err = wh_on(project, *words)
                assert status == 0, (name, line, out, err)


def test_what_wh_columns_prints_is_in_the_documentation(wh_on: WhOn) -> None:
    (block,) = (block for block in blocks(MODELS) if block.startswith("$ wh columns "))
    command, *lines = block.splitlines()
    printed = wh_on(served_project(), *shlex.split(command)[2:])[1].splitlines()
    assert [line for line in lines if line.strip() != "..." and line not in printed] == []


def test_what_wh_plan_and_wh_check_print_is_in_the_documentation(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    unbound, unpublishable, plan = (block for block in blocks(MODELS) if block.startswith(("$ wh plan", "WH204", "WH306")))
    files = {
        "data/a.csv": "run_id,energy_j\n1,2.5\n", "models/marts/fast.sql": "select run_id from run where speed > 3", "models/marts/old.sql": "select 1 as x",
        "models/log_total.sql": "/*\nmaterialized: incremental\nkey: [run_id]\n*/\n"
        "select run_id, sum(energy_j) as energy_j from read_parquet('data/*.parquet') group by run_id\n",
        "models/run.sql": "select i as run_id, i * 1.5 as speed from range(1, 5) as r (i)\n",
    }
    for name, text in files.items():
        (project.root / name).parent.mkdir(parents=True, exist_ok=True)
        (project.root / name).write_text(text)
    con = duckdb.connect()
    con.execute(f"copy (from '{project.root}/data/a.csv') to '{project.root}/data/a.parquet'")
    build(project)
    con.execute(f"copy (from '{project.root}/data/a.csv') to '{project.root}/data/b.parquet'")
    (project.root / "models/run.sql").write_text(files["models/run.sql"].replace("1.5", "2.5"))
    (project.root / "models/marts/old.sql").unlink()
    _, out, err = wh_on(project, "plan")
    assert f"$ wh plan\n{out}{err}" == plan
    (project.root / "models/run.sql").write_text("select i as host_id, i as run_id, i * 1.5 as ttft_ms from range(1, 5) as r (i)\n")
    (project.root / "models/marts/fast.sql").write_text("select\n    run_id,\n    hostid\nfrom run\n")
    assert wh_on(project, "check")[2].startswith(unbound)
    (project.root / "models/marts/fast.sql").unlink()
    (project.root / "models/facts").mkdir()
    (project.root / "models/facts/run_fact.sql").write_text("select\n    run_id,\n    first(ttft_ms) as ttft_ms\nfrom run\ngroup by run_id\n")
    (project.root / "queries/slowest_runs.sql").write_text("/*\ngrain: [run_id]\n*/\nselect run_id, ttft_ms from run_fact\n")
    assert wh_on(project, "check")[2].startswith(unpublishable)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_links_of_a_document_lead_somewhere(name: str) -> None:
    for link in re.findall(r"\]\(((?!https?:)[^)]+)\)", DOCUMENTS[name]):
        target, _, anchor = link.partition("#")
        file = (REPOSITORY / name).parent / target if target else REPOSITORY / name
        assert file.is_file(), link
        headings = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)] \
            if anchor else []
        assert not anchor or anchor in headings, link


def test_every_header_key_and_test_is_documented_and_no_other() -> None:
    assert set(re.findall(r"^\| `(\w+)", MODELS, re.MULTILINE)) == {
        *HEADER_KEYS, *COLUMN_TESTS, *TABLE_TESTS, *TEST_OPTIONS, *CASE_KEYS, *ROLES, "staging", "facts", "marts"
    }
    assert all(f"`{severity}`" in MODELS for severity in SEVERITIES)
    assert all(f"`{kind}`" in MODELS for kind in MATERIALISATIONS)


def test_every_error_code_is_documented() -> None:
    rows = dict(re.findall(r"^\| (WH\d+) \| (.+) \|$", (REPOSITORY / "docs" / "errors.md").read_text(), re.MULTILINE))
    assert rows == CODES


@pytest.mark.exhaustive
def test_the_worked_example_leads_from_a_tools_own_format_to_a_verified_number(
    written: tuple[Project, str], wh_on: WhOn, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = INGESTORS.partition("## A worked example")[2].partition("\n## ")[0]
    results, ingestor, *models, commands, rows = re.findall(r"```\w*\n(.*?)```", example, re.DOTALL)
    assert sum(text.count("\n") for text in (ingestor, *models[:2])) <= 60
    names = dict.fromkeys(name for name in re.findall(r"`([\w/]+\.\w+)`", example) if not name.endswith(".sql") or "/staging/" in name)
    project, _ = written
    for name, text in zip(names, (results, ingestor, *models), strict=True):
        (project.root / name).parent.mkdir(parents=True, exist_ok=True)
        (project.root / name).write_text(text)
    monkeypatch.chdir(project.root)
    said = {}
    for command in commands.splitlines():
        status, *said[command] = wh_on(project, *shlex.split(command)[1:])
        assert status == 0, (command, said[command])
    ingest, _, sql, _, verify, lineage = said.values()
    assert re.search(r"`(results/acme.jsonl:2: [^`]+)`", example)[1] in ingest[1]
    assert sql[0] == rows
    assert "  93.4  " in verify[0] and "  verified: " in verify[0]
    assert '{"acme_serve": "1.4", "run": "c16", ' in lineage[0].partition("4 raw")[2]


@pytest.mark.exhaustive
def test_the_demo_prints_a_number_its_interval_its_bytes_and_its_verdict(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", str(REPOSITORY / "demo.sh"), str(Path(sys.executable).parent)],
        capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path), "HOME": str(tmp_path)},
    )
    header, _, row = re.findall(r"^cpu_model .*\n.*\n.*$", done.stdout, re.MULTILINE)[0].split("\n")
    assert "interval_low" in header and re.search(r" elapsed_ms +10 +[\d.]+ +[\d.]+ +[\d.]+ ", row)
    assert re.search(r"^n-[a-z2-7]{12}  [\d.]+$", done.stdout, re.MULTILINE)
    assert re.search(r"bytes \[\d+, \d+\)  in bundle [0-9a-f]{12}\n +\"elapsed_ms\": [\d.]+$", done.stdout, re.MULTILINE)
    assert re.search(r"^  verified: \d+ raw files? hashed, replayed from its own \d+ bundles?: equal \(class E\)$", done.stdout, re.MULTILINE)


def test_the_tests_of_the_documentation_work(tmp_path: Path) -> None:
    (sql_test,) = re.findall(r"```sql\n(/\*\ndescription: every succeeded.*?)```", MODELS, re.DOTALL)
    (unit_test,) = re.findall(r"```yaml\n(- name.*?)```", MODELS, re.DOTALL)
    (header,) = re.findall(r"```yaml\n(grain.*?)```", MODELS, re.DOTALL)
    project = standard_project(tmp_path / "project")
    files = {
        "data_tests/outcome.sql": sql_test,
        "unit_tests/late.yaml": unit_test,
        "models/run.sql": "select 'a' as run_id, timestamp '2025-01-01' as started_at, timestamp '2025-01-01' as ended_at",
        "models/host.sql": "select 1 as host_id, 'a' as name",
        "models/late_run.sql": "select run.run_id, epoch(started_at - ended_at)::bigint as late_by_s from run, host"
        " where ended_at < started_at",
        "models/tested.sql": f"/*\n{header}*/ select run_id from run",
    }
    # The header is of a table with more columns: what the tests name has to be there.
    files["models/tested.sql"] = files["models/tested.sql"].replace(
        "run_id: {", "status: {type: varchar}\n  started_at: {type: timestamp}\n  ended_at: {type: timestamp}\n  run_id: {"
    ).replace("select run_id", "select 'succeeded' as status, started_at, ended_at, run_id")
    for name, text in files.items():
        (project.root / name).write_text(text)
    # The table is local to its run, so its rows are put in the order of its grain, which shows that the grain holds.
    assert {test.name: test.status for test in build(project).tests if test.model in (None, "tested")} == dict.fromkeys(
        ("outcome", "tested.run_id_not_null", "tested.run_id_relationships", "tested.row_count", "tested.expression"),
        "pass",
    )
    assert [result.status for result in run_unit_tests(project, ["late_run"])] == ["pass"]
