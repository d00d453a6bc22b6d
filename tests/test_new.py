"""`wh new`: what it writes works as it is, from a file of each form through to a published and verified number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import WhOn
from standard import standard_project

from warehouse.errors import ExitCode
from warehouse.project.making import init_project
from warehouse.starting.sample import read_sample

# By form, which is also the name of the ingestor: the file's ending, its good records, what else is in the file that is ingested, a column,
# the value that r1 has there, and the codes of the file's issues.
FORMS = {
    "csv": (
        ".csv", 'run_id,power_w,steps,where,note\nr1,61.5,3,a,"two\nlines, quoted ""x"""\nr2,,4,b,\n', "r3,1_000,5,c,\nr4,1\n", "power_w_max",
        "61.5", {"not-a-number", "columns-differ"},
    ),
    "lines": (
        ".jsonl", '{"run_id": "r1", "power_w": 61.5, "steps": 3}\n{"run_id": "r2", "more": {"a": 1}, "note": "half \\ud83d"}\n', "[1]\n", "power_w_min",
        "61.5", {"not-an-object"},
    ),
    "list": (".json", '[{"run_id": "r1", "power_w": 61.5},\n {"run_id": "r2", "group": true}', ", 5", "power_w_median", "61.5", {"not-an-object"}),
    "document": (".json", '{\n  "run_id": "r1",\n  "power_w": 61.5,\n  "config": {"a": [1]}\n}\n', "", "power_w_max", "61.5", set()),
}


@pytest.mark.exhaustive
def test_a_started_ingestor_and_query_of_each_form_lead_to_a_verified_number(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    for form, (suffix, good, bad, *_) in FORMS.items():
        end = "]" if form == "list" else ""
        sample, file = (tmp_path / folder / f"{form}{suffix}" for folder in ("samples", "in"))
        for path, text in ((sample, good + end), (file, good + bad + end)):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        status, out, err = wh_on(project, "new", "ingestor", form, "--from", str(sample))
        assert (status, out) == (0, f"ingest/{form}.py\nmodels/staging/stg_{form}.sql\n") and "wh ingest" in err
        assert wh_on(project, "new", "query", f"{form}_summary", "--from", str(sample))[0] == 0
        assert wh_on(project, "new", "model", f"{form}_records", "--from", str(sample))[0] == 0
    status, _, told = wh_on(project, "ingest", str(tmp_path / "in"))
    assert status == 0
    status, _, err = wh_on(project, "build")
    assert status == 0, err
    for form, (*_, column, value, issues) in FORMS.items():
        assert all(f": {code}: " in told for code in issues), told
        assert wh_on(project, "publish", f"{form}_summary")[0] == 0
        cell = f"{form}_summary[run_id=r1].{column}"
        status, out, err = wh_on(project, "verify", cell)
        assert status == 0 and f"  {value}  " in out and "  verified: " in out, out + err
        assert "r1" in wh_on(project, "lineage", cell)[1].partition("4 raw")[2]


@pytest.mark.parametrize("is_bare", [True, pytest.param(False, marks=pytest.mark.exhaustive)])
def test_starts_without_a_file_work_in_a_standard_and_a_bare_project(is_bare: bool, tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "bare", bare=True) if is_bare else standard_project(tmp_path / "standard")
    assert wh_on(project, "new", "model", "mine")[0] == 0
    assert wh_on(project, "new", "query", "ours")[0] == (ExitCode.USAGE if is_bare else 0)
    assert wh_on(project, "new", "ingestor", "theirs")[0] == 0
    status, _, err = wh_on(project, "check")
    assert status == 0, err


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "only one column\n1\n", "it is not a CSV file"), ("a.csv", "a,a\n1,2\n", "two of its columns have one name"), ("a.csv", "", "it is not a CSV file"),
        ("a.json", "[1, 2]", "its records are not objects"), ("a.json", "[{", "it is not JSON"), ("a.json", "{\n", "it is not JSON"),
        ("a.csv", "a,b\n", "it is not a CSV file with a header and records"), ("a.csv", None, "cannot be read"),
    ],
)
def test_what_is_no_sample_is_refused(name: str, text: str | None, says: str, tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    if text is not None:
        (tmp_path / name).write_text(text)
    status, out, err = wh_on(project, "new", "ingestor", "x", "--from", str(tmp_path / name))
    assert (status, out) == (ExitCode.USAGE, "") and re.match(rf"WH00[47] {re.escape(str(tmp_path / name))}: ", err) and says in err
    assert not list((project.root / "ingest").iterdir())


def test_a_column_that_becomes_text_for_want_of_a_type_is_reported(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    sample = tmp_path / "a.csv"
    sample.write_text("run_id,steps,power_w,note,host\nr1,1,61.5,,a\nr2,1_000,62,,b\n")
    assert wh_on(project, "new", "ingestor", "a", "--from", str(sample), "-q")[2].splitlines() == [
        'the column steps is text: its values are numbers and others, such as "1_000"',
        "the column note is text: it has no value in the sample",
    ]
    (tmp_path / "b.jsonl").write_text('{"run_id": "r1", "passed": true, "sizes": [1], "power_w": 61.5}\n')
    assert wh_on(project, "new", "ingestor", "b", "--from", str(tmp_path / "b.jsonl"), "-q")[2].splitlines() == [
        "the column passed is text: its values are kept as JSON", "the column sizes is text: its values are kept as JSON",
    ]


def test_every_keyword_of_the_engine_may_name_a_column_of_the_file(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    words = [word for (word,) in duckdb.sql("select distinct keyword_name from duckdb_keywords() order by all").fetchall()]
    sample = tmp_path / "words.csv"
    sample.write_text(f"{','.join(words)}\n{','.join('1' for _ in words)}\n")
    for kind, name in (("ingestor", "words"), ("query", "words_summary"), ("model", "words_again")):
        assert wh_on(project, "new", kind, name, "--from", str(sample))[0] == 0
    status, _, err = wh_on(project, "check")
    assert "left" in words and status == 0, err


@pytest.mark.parametrize(
    ("name", "unit"),
    [("ttft_s", "s"), ("wall time s", "s"), ("tok/s", None), ("tok_s", None), ("read GB/s", None), ("Errors/s", None), ("tok_per_s", "1/s"), ("s", None)],
)
def test_a_rate_is_not_given_the_unit_of_a_time(name: str, unit: str | None, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"run_id,{name}\nr1,2.5\n")
    assert read_sample(tmp_path / "a.csv").columns[1].unit == unit


def test_no_file_is_replaced(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    (project.root / "models" / "staging").mkdir()
    (project.root / "models" / "staging" / "stg_x.sql").write_text("select 1 as a")
    status, _, err = wh_on(project, "new", "ingestor", "x")
    assert status == ExitCode.USAGE and "models/staging/stg_x.sql: the file exists already" in err
    assert not (project.root / "ingest" / "x.py").exists()
    for name in ("9x", "A", "a-b", "../x", "", "order"):
        assert wh_on(project, "new", "model", name)[0] == ExitCode.USAGE


def test_a_query_is_started_from_the_file_of_an_ingestor_with_another_name(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    (tmp_path / "nightly.csv").write_text("test,value_ms\na,1.5\n")
    (tmp_path / "weekly.csv").write_text("test,value_s\na,1.5\n")
    for name, file in (("team_bench", "nightly.csv"), ("others", "weekly.csv")):
        err = wh_on(project, "new", "ingestor", name, "--from", str(tmp_path / file))[2]
    printed = re.search(r"wh (new query \S+ --from \S+)", err)
    assert printed and wh_on(project, *printed[1].split())[0] == 0
    assert wh_on(project, "new", "query", "team_bench_summary", "--from", str(tmp_path / "nightly.csv"))[0] == 0
    assert (project.root / "queries/team_bench_summary.sql").read_text().endswith("from stg_team_bench\ngroup by test\n")


NAMES = {
    "team-bench": "team_bench", "Team Bench": "team_bench", "1st": "our_1st", "select": "our_select", "llmperf": "our_llmperf",
    "llmperf_request": "our_llmperf_request", "measurement": "our_measurement", "evidence_file": "our_evidence_file", "a" * 60: "a" * 44, "é": "our_results",
}


def test_a_name_that_cannot_be_is_refused_with_one_that_can(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project")
    sample = tmp_path / "of a night.csv"
    sample.write_text("run_id,power_w\nr1,61.5\n")
    for name, possible in NAMES.items():
        status, _, err = wh_on(project, "new", "ingestor", name, "--from", str(sample))
        assert status == ExitCode.USAGE and f"wh new ingestor {possible} --from '{sample}'\n" in err, err
        assert not (project.root / "ingest").exists() or not any((project.root / "ingest").glob("*.py"))
    for possible in ("our_select", "our_measurement"):
        assert wh_on(project, "new", "ingestor", possible, "--from", str(sample))[0] == 0


CELLS = {  # how the cells of a table are written, and what a started ingestor reads
    "german": ("test;ms\na;1.234,5\n", {"ms": "1234.5"}), "tabs": ("test\tms\na\t1.5\n", {"ms": "1.5"}),
    "comments": ("# by x\n# y, z\ntest, ms\n\"a, b\", 1.5\n# later\n", {"test": "a, b", "ms": "1.5"}),
}


@pytest.mark.parametrize("name", CELLS)
def test_a_started_ingestor_in_code_reads_cells_as_the_sample_writes_them(name: str, tmp_path: Path) -> None:
    from warehouse.landing.readers.text import Report
    from warehouse.landing.rows import RowBuffer
    from warehouse.starting.ingestor_text import ingestor_text

    text, values = CELLS[name]
    (tmp_path / "a.csv").write_text(text)
    sample = read_sample(tmp_path / "a.csv")
    started: dict[str, Any] = {}
    exec(ingestor_text("a", sample), started)
    assert [column.type for column in sample.columns] == ["varchar", "double"] and started["header"](text.encode()) == ["test", "ms"]
    [(offset, length, record)] = started["records"](text.encode(), Report(RowBuffer({}, ""), "a.csv", None))
    assert record.values.items() >= values.items() and record.number("ms") == float(values["ms"]) and text[offset : offset + length] in text.splitlines()
