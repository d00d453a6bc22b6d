"""`wh check`: all faults at once and no consequences of them, on any project; no mutation of a model makes it stumble."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from warehouse.cli.main import main
from warehouse.errors import WarehouseError, did_you_mean, together
from warehouse.project.making import init_project
from warehouse.project.project import Project, standard_folder
from warehouse.transform.build.build import build, find_current
from warehouse.transform.check.project_check import ENGINE_VIEWS, check_project, inspect
from warehouse.transform.finished.query import run_query
from warehouse.transform.inputs.landing_tables import project_landing_types
from warehouse.transform.project.model import Model
from warehouse.transform.project.model_files import load_models, load_queries, read_model
from warehouse.transform.sql.duck import connect
from warehouse.transform.sql.text import tokens


def write(project: Project, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return init_project(tmp_path / "project", bare=True)


FAULTY = {
    "models/run.sql": "select 'r' as run_id, 1.5 as speed",
    "models/bad_column.sql": "select sped from run",
    "models/bad_syntax.sql": "select run_id,, speed from run",
    "models/bad_header.sql": "/*\ngrian: [a]\n*/ select 1 as a",
    "models/behind_them.sql": "select nonsense from bad_column, bad_syntax, bad_header",
    "models/behind_that.sql": "select more_nonsense from behind_them",
    "queries/bad_query.sql": "/*\ngrain: [run_id]\n*/ select run_id from run",
}


def test_all_faults_and_no_consequences(project: Project) -> None:
    write(project, FAULTY)
    assert [(fault.code, fault.place) for fault in check_project(project).faults] == [
        ("WH204", "models/bad_column.sql:1:8"),
        ("WH201", "models/bad_header.sql:2:1"),
        ("WH202", "models/bad_syntax.sql:1:15"),
        ("WH201", "queries/bad_query.sql:2:1"),
    ]


@pytest.mark.parametrize(("name", "command"), [
    ("models/pipe.sql", "check"), ("queries/pipe.sql", "check"), ("data_tests/pipe.sql", "check"), ("ingest/pipe/format.toml", "check"), ("ingest/pipe.py", "ingestors"),
])
def test_a_pipe_in_place_of_a_file_is_a_fault_and_nothing_waits_for_it(name: str, command: str, project: Project) -> None:
    path = project.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    done = subprocess.run([sys.executable, "-m", "warehouse.cli.main", command], cwd=project.root, capture_output=True, text=True, timeout=20)
    assert done.returncode and f"WH201 {name}: is not a regular file" in done.stderr


def test_a_build_tells_all_of_them_too(project: Project) -> None:
    write(project, {name: text for name, text in FAULTY.items() if "header" not in name and "behind" not in name})
    with pytest.raises(WarehouseError) as caught:
        build(project)
    assert [caught.value.place, *(fault.place for fault in caught.value.also)] == [
        "models/bad_column.sql:1:8", "models/bad_syntax.sql:1:15", "queries/bad_query.sql:2:1",
    ]
    assert str(caught.value).count("hint:") == 3
    assert find_current(project) is None


def test_json(project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WH_PROJECT", str(project.root))
    write(project, {"models/run.sql": "select 1 as run_id", "models/staging/spare.sql": "select 1 as a"})
    assert main(["check", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "ok: 2 models, 0 queries" in err
    (warning,) = json.loads(out)["warnings"]
    assert (warning["code"], warning["place"]) == ("WH219", "models/staging/spare.sql:1:1")
    write(project, {"models/run.sql": "select a from spar"})
    assert main(["check", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["warnings"] == []
    assert document["errors"] == [{
        "code": "WH203", "place": "models/run.sql:1:15", "hint": "did you mean spare?",
        "message": "no model, feed or landing table is named spar\nselect a from spar\n              ^",
    }]


def test_a_check_makes_no_build_and_no_store(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WH_PROJECT", str(project.root))
    before = sorted(project.root.rglob("*"))
    assert main(["check"]) == 0
    assert sorted(project.root.rglob("*")) == before


def test_staging_that_something_reads_is_not_warned_of(project: Project) -> None:
    collector = "/*\ncollects: o\ncolumns: {a: {type: integer}}\n*/ select a from feed.o"
    write(project, {
        "models/staging/read.sql": "select 1 as a", "models/staging/fed.sql": "/*\nfeeds: o\n*/ select a from read",
        "models/fact.sql": collector,
    })
    assert check_project(project).warnings == ()


def test_a_project_that_is_being_begun_is_not_warned(project: Project) -> None:
    write(project, {"models/staging/first.sql": "select 1 as a"})
    assert check_project(project).warnings == ()


# Names that look dangerous and are not: those of schemas, of catalogs, and of the file that readers open.
ODD_NAMES = ("main", "staging", "mart", "rollup", "feed", "catalog", "temp", "memory", "system", "current", "wh", "range")


def test_a_table_may_be_named_as_a_schema_or_as_its_file(project: Project) -> None:
    for folder in ("facts", "staging", "marts"):
        names = [f"{name}_{folder}" for name in ODD_NAMES] if folder != "facts" else ODD_NAMES
        write(project, {f"models/{folder}/{name}.sql": "select 42 as a" for name in names})
    every = "\nunion all by name\n".join(f"select {name}.a, {name}_staging.a as b from {name}, {name}_staging" for name in ODD_NAMES)
    write(project, {"models/marts/every.sql": every, "models/staging/extra.sql": "select 1 as b",
                    "models/marts/qualified.sql": "select staging.a, extra.b from main.staging, staging.extra"})
    made = build(project).build
    with run_query(made.path, "select count(*), sum(a), sum(b) from every") as result:
        assert result.fetchall() == [(len(ODD_NAMES), 42 * len(ODD_NAMES), 42 * len(ODD_NAMES))]
    with run_query(project.builds / "current.duckdb", "select current.a, staging.a from current, main.staging") as result:
        assert result.fetchall() == [(42, 42)]


def test_a_name_of_the_python_program_is_no_table(project: Project) -> None:
    write(project, {"models/a.sql": "with t as (select 1 as x) select x from t, names"})
    (fault,) = check_project(project).faults
    assert (fault.code, fault.place) == ("WH203", "models/a.sql:1:44")


def test_errors_together_are_in_the_order_of_their_places() -> None:
    faults = [WarehouseError("WH204", "m", place) for place in ("b.sql:1:1", "a.sql:10:1", "a.sql:9:12", "a.sql:9:2", "a.sql")]
    error = together(faults)
    assert [error.place, *(other.place for other in error.also)] == [
        "a.sql", "a.sql:9:2", "a.sql:9:12", "a.sql:10:1", "b.sql:1:1"
    ]
    assert str(error).count("WH204") == 5


@pytest.mark.parametrize(("word", "known", "hint"), [
    ("sped", ["speed", "host"], "did you mean speed?"), ("HOST", ["Host_id", "Host"], "did you mean Host?"),
    ("latency", ["speed"], None), ("x", [], None),
])
def test_did_you_mean(word: str, known: list[str], hint: str | None) -> None:
    assert did_you_mean(word, known) == hint


# --- mutations ---------------------------------------------------------------------------------------------------

# Rounds, and how many models of the standard project are mutated in each: 150 mutants.
ROUNDS, MUTANTS = 5, 10


def mutated(text: str, random_source: random.Random) -> str:
    """`text` with one token dropped, given twice, exchanged with another or cut, or one character changed."""
    found = tokens(text)
    token, other = random_source.choice(found), random_source.choice(found)
    start, end = token.offset, token.offset + len(token.text)
    match random_source.randrange(6):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:end] + " " + text[start:]
        case 2:
            return text[:start] + other.text + text[end:]
        case 3:
            return text[: start + 1] + random_source.choice("x\"'(é\t;,/*") + text[start + 1 :]
        case 4:
            return text[:start]
    place = random_source.randrange(len(text))  # anywhere: in the header too
    return text[:place] + random_source.choice("x:[{'\"#\n,-") + text[place + 1 :]


def read_again(original: Model, text: str, folder: Path) -> Model | WarehouseError:
    path = folder / f"{original.name}.sql"
    path.write_text(text, encoding="utf-8")
    try:
        return read_model(path, original.schema, original.place)
    except WarehouseError as fault:
        return fault


@pytest.mark.exhaustive
def test_no_mutation_of_a_model_makes_the_check_stumble(tmp_path: Path) -> None:
    project = Project(standard_folder(), "standard", Path("store"), Path("builds"), 1, True)
    models, queries, landing = load_models(project), load_queries(project), project_landing_types(project)
    source, failed = random.Random(20261121), 0
    for _ in range(ROUNDS):
        chosen = source.sample([*models.values(), *queries.values()], MUTANTS)
        texts = {original.name: mutated(original.text, source) for original in chosen}
        read = {original.name: read_again(original, texts[original.name], tmp_path) for original in chosen}
        unreadable = {name: fault for name, fault in read.items() if isinstance(fault, WarehouseError)}
        found = {name: model for name, model in read.items() if isinstance(model, Model)}
        kept = [
            {name: found.get(name, model) for name, model in kind.items() if name not in unreadable}
            for kind in (models, queries)
        ]
        _, faults = inspect(kept[0], kept[1], landing, unreadable=unreadable.keys())
        failed += len(faults) + len(unreadable)
        for fault in [*faults, *unreadable.values()]:
            assert re.search(r"\.sql:\d+:\d+$", str(fault.place)), f"{fault}\n{texts}"
            assert fault.hint, f"{fault}\n{texts}"
            assert not re.search(r"memory\.|exception_|_LITERAL", str(fault)), f"{fault}\n{texts}"
    assert failed > ROUNDS * MUTANTS / 2


def test_a_feed_that_is_broken_by_its_collector_is_told_at_the_collector(project: Project) -> None:
    collector = "/*\ncollects: o\ncolumns: {a: {type: integr}}\n*/ select a from feed.o"
    write(project, {"models/fact.sql": collector, "models/staging/fed.sql": "/*\nfeeds: o\n*/ select 1 as a"})
    assert [fault.place for fault in check_project(project).faults] == ["models/fact.sql:3:15"]


def test_a_chain_of_views_is_no_deep_binding(project: Project) -> None:
    write(project, {"models/m.sql": "/*\nmaterialized: view\n*/ select 1 as a"})
    first = load_models(project)["m"]
    chain = {f"m{i}": replace(first, name=f"m{i}", text=f"select a from m{i - 1}" if i else "select 1 as a") for i in range(1000)}
    checked, faults = inspect(chain, {}, {})
    assert (len(checked.columns), faults) == (1000, [])


def test_the_engines_own_views_are_known() -> None:
    sql = "select view_name from duckdb_views() where internal and schema_name in ('main', 'pg_catalog')"
    assert {row[0] for row in connect().execute(sql).fetchall()} == ENGINE_VIEWS
