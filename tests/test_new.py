"""`wh new`: what it writes works as it is, from a file of each form through to a published and verified number."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import WhOn
from exhaustive import few

from warehouse.errors import ExitCode
from warehouse.project_making import init_project

# Form: the file's name, its text, the grain of r1, a column, the value that r1 has there, and the code of the issue that the file has.
FORMS = {
    "csv": (
        "power.csv", 'run_id,power_w,steps,where,note\nr1,61.5,3,a,"two\nlines, quoted ""x"""\nr2,,4,b,\nr3,1_000,5,c,\nr4,1\n', "power_w_max", "61.5",
        {"not-a-number", "columns-differ"},
    ),
    "json lines": (
        "power.jsonl", '{"run_id": "r1", "power_w": 61.5, "steps": 3}\n{"run_id": "r2", "power_w": null, "more": {"a": 1}}\n[1]\n', "power_w_min",
        "61.5", {"not-an-object"},
    ),
    "json array": ("power.json", '[{"run_id": "r1", "power_w": 61.5},\n {"run_id": "r2", "group": true}, 5]\n', "power_w_median", "61.5", {"not-an-object"}),
    "json object": ("power.json", '{\n  "run_id": "r1",\n  "power_w": 61.5,\n  "config": {"a": [1]}\n}\n', "power_w_max", "61.5", set()),
}


@pytest.mark.parametrize("form", few(FORMS, 1))
def test_a_started_ingestor_and_query_lead_to_a_verified_number(form: str, tmp_path: Path, wh_on: WhOn, monkeypatch: pytest.MonkeyPatch) -> None:
    name, text, column, value, issues = FORMS[form]
    project = init_project(tmp_path / "project")
    clean = tmp_path / "sample" / name
    clean.parent.mkdir()
    # The start is made from the good records of the file, and then reads the whole of it.
    clean.write_text({"csv": text.replace("r3,1_000,5,c,\nr4,1\n", ""), "json lines": text.replace("[1]\n", ""), "json array": text.replace(", 5]", "]")}.get(form, text))
    file = tmp_path / "in" / name
    file.parent.mkdir()
    file.write_text(text)
    status, out, err = wh_on(project, "new", "ingestor", "power", "--from", str(clean))
    assert (status, out) == (0, "ingest/power.py\nmodels/staging/stg_power.sql\n") and "wh ingest" in err
    assert wh_on(project, "ingest", str(file))[0] == 0
    assert wh_on(project, "new", "query", "power_summary", "--from", str(clean))[0] == 0
    assert wh_on(project, "new", "model", "power_records", "--from", str(clean))[0] == 0
    assert wh_on(project, "check")[0] == 0
    assert wh_on(project, "build")[0] == 0
    assert set(wh_on(project, "sql", "select distinct code from ingest_issue where family = 'power'")[1].split()[1:]) == issues
    assert wh_on(project, "publish", "power_summary")[0] == 0
    cell = f"power_summary[run_id=r1].{column}"
    status, out, err = wh_on(project, "verify", cell)
    assert status == 0 and f"  {value}  " in out and "  verified: " in out, out + err
    assert "r1" in wh_on(project, "lineage", cell)[1].partition("4 raw")[2]


def test_starts_without_a_file_work_in_a_standard_and_a_bare_project(tmp_path: Path, wh_on: WhOn) -> None:
    for project in (init_project(tmp_path / "standard"), init_project(tmp_path / "bare", bare=True)):
        bare = project.name == "bare"
        assert wh_on(project, "new", "model", "mine")[0] == 0
        assert wh_on(project, "new", "query", "ours")[0] == (ExitCode.USAGE if bare else 0)
        assert wh_on(project, "new", "ingestor", "theirs")[0] == 0
        status, _, err = wh_on(project, "check")
        assert status == 0, err


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "only one column\n1\n", "it is not a CSV file"), ("a.csv", "a,a\n1,2\n", "it is not a CSV file"), ("a.csv", "", "it is not a CSV file"),
        ("a.json", "[1, 2]", "its records are not objects"), ("a.json", "[{", "it is not JSON"), ("a.json", "{\n", "it is not JSON"),
        ("a.csv", "a,b\n", "it has no records"), ("a.csv", None, "cannot be read"),
    ],
)
def test_what_is_no_sample_is_refused(name: str, text: str | None, says: str, tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    if text is not None:
        (tmp_path / name).write_text(text)
    status, out, err = wh_on(project, "new", "ingestor", "x", "--from", str(tmp_path / name))
    assert (status, out) == (ExitCode.USAGE, "") and err.startswith(f"WH004 {tmp_path / name}: ") and says in err
    assert not list((project.root / "ingest").iterdir())


def test_no_file_is_replaced(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    (project.root / "models" / "staging").mkdir()
    (project.root / "models" / "staging" / "stg_x.sql").write_text("select 1 as a")
    status, _, err = wh_on(project, "new", "ingestor", "x")
    assert status == ExitCode.USAGE and "models/staging/stg_x.sql: there is such a file already" in err
    assert not (project.root / "ingest" / "x.py").exists()
    for name in ("9x", "A", "a-b", "../x", ""):
        assert wh_on(project, "new", "model", name)[0] == ExitCode.USAGE
