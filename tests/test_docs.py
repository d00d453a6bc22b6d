"""The documentation says what is there: commands, header keys, tests, error codes, and an ingestor that works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from conftest import REPOSITORY

from warehouse.cli.commands import COMMANDS
from warehouse.errors import CODES
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project_making import init_project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.project.header_tests import COLUMN_TESTS, SEVERITIES, TABLE_TESTS, TEST_OPTIONS
from warehouse.transform.project.model import ROLES
from warehouse.transform.project.model_files import HEADER_KEYS, MATERIALISATIONS
from warehouse.transform.testing.project_tests import run_unit_tests
from warehouse.transform.testing.unit_cases import CASE_KEYS

README = (REPOSITORY / "README.md").read_text()
MODELS = (REPOSITORY / "docs" / "models.md").read_text()
INGESTORS = (REPOSITORY / "docs" / "ingestors.md").read_text()


def test_every_command_of_the_readme_exists_and_every_command_is_in_it() -> None:
    assert {word for word in re.findall(r"\bwh ([a-z][a-z-]*)", README) if word != "init"} <= set(COMMANDS)
    assert set(COMMANDS) <= set(re.findall(r"\bwh ([a-z][a-z-]*)", README))


def test_the_commands_of_the_readme_run_as_they_stand(tmp_path: Path) -> None:
    block = README.partition("The same by hand:")[2].split("```")[1]
    commands = block.replace(". .venv/bin/activate\n", "")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-ec", commands], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "  verified: 43 raw files hashed" in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "warehouse.cli.main", command, "--help"], capture_output=True, text=True, check=True
    )
    assert COMMANDS[command][:20] in done.stdout.lower() or COMMANDS[command][:20] in done.stdout.replace("\n", " ").lower()


def test_every_header_key_and_test_is_documented_and_no_other() -> None:
    assert set(re.findall(r"^\| `(\w+)", MODELS, re.MULTILINE)) == {
        *HEADER_KEYS, *COLUMN_TESTS, *TABLE_TESTS, *TEST_OPTIONS, *CASE_KEYS, *ROLES, "staging", "facts", "marts"
    }
    assert all(f"`{severity}`" in MODELS for severity in SEVERITIES)
    assert all(f"`{kind}`" in MODELS for kind in MATERIALISATIONS)


def test_every_error_code_is_documented() -> None:
    rows = dict(re.findall(r"^\| (WH\d+) \| (.+) \|$", (REPOSITORY / "docs" / "errors.md").read_text(), re.MULTILINE))
    assert rows == CODES


def test_the_ingestor_of_the_documentation_works(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", INGESTORS, re.DOTALL)
    project = init_project(tmp_path / "project", bare=True)
    (project.root / "ingest" / "readings.py").write_text(example)
    (project.root / "models" / "power.sql").write_text("select run_id, power_w, raw_offset, raw_length from reading")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.readings").write_text("readings 1\nr1 10.5\nr2 many\nr3 12\n")
    ingest(plan_ingest(tmp_path / "in", load_ingestors(project).values()), open_store(project), "test")
    build(project)
    con = duckdb.connect(str(current_build(project).path), read_only=True)
    assert con.execute("select * from power order by run_id").fetchall() == [("r1", 10.5, 11, 8), ("r3", 12.0, 27, 6)]


def test_the_demo_prints_a_number_its_interval_its_bytes_and_its_verdict(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", str(REPOSITORY / "demo.sh"), str(Path(sys.executable).parent)],
        capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path), "HOME": str(tmp_path)},
    )
    header, _, row = re.findall(r"^cpu_model .*\n.*\n.*$", done.stdout, re.MULTILINE)[0].split("\n")
    assert "interval_low" in header and re.search(r" elapsed_ms +10 +[\d.]+ +[\d.]+ +[\d.]+ ", row)
    assert re.search(r"^n-[a-z2-7]{12}  [\d.]+$", done.stdout, re.MULTILINE)
    assert re.search(r"bytes \[\d+, \d+\)  sha256 [0-9a-f]{64}\n +\"elapsed_ms\": [\d.]+$", done.stdout, re.MULTILINE)
    assert re.search(r"^  verified: \d+ raw files? hashed, replayed from its own \d+ bundles?: equal \(class E\)$", done.stdout, re.MULTILINE)


def test_the_tests_of_the_documentation_work(tmp_path: Path) -> None:
    (sql_test,) = re.findall(r"```sql\n(/\*\ndescription: every succeeded.*?)```", MODELS, re.DOTALL)
    (unit_test,) = re.findall(r"```yaml\n(- name.*?)```", MODELS, re.DOTALL)
    (header,) = re.findall(r"```yaml\n(grain.*?)```", MODELS, re.DOTALL)
    project = init_project(tmp_path / "project")
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
    assert {test.name: test.status for test in build(project).tests if test.model in (None, "tested")} == dict.fromkeys(
        ("outcome", "tested.grain", "tested.run_id_not_null", "tested.run_id_relationships", "tested.row_count", "tested.expression"),
        "pass",
    )
    assert [result.status for result in run_unit_tests(project, ["late_run"])] == ["pass"]
