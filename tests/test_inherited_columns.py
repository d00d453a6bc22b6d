"""Columns that a model passes through unchanged: which they are, what their headers leave out, and what their sources promise of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import REPOSITORY
from standard import standard_project

from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build.build import build
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.check.digests import envelopes
from warehouse.transform.check.inherited import passed_columns, unstated
from warehouse.transform.check.project_check import check_project
from warehouse.transform.export.tables import describe_table
from warehouse.transform.inputs.landing_tables import project_landing_types
from warehouse.transform.lineage.columns import VALUE, column_graph
from warehouse.transform.lineage.derived import ColumnRef
from warehouse.transform.project.model_files import load_models, load_queries

RUN = """/*
columns:
  run_id: {type: varchar, description: The run, tests: [not_null, unique]}
  speed: {type: double, unit: m/s, description: How fast it was, tolerance: 1e-9}
  place: {type: varchar, description: Where it ran}
*/
select 'r' as run_id, 1.5::double as speed, 'hall' as place"""
STEP = """/*
columns:
  run_id: {type: varchar, description: The run}
  speed: {type: double, unit: km/h, description: How fast the step was}
  step: {type: integer, description: Which step}
*/
select 'r' as run_id, 5.4::double as speed, 1 as step"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = init_project(tmp_path / "project", bare=True)
    write(made, run=RUN, step=STEP)
    return made


def write(project: Project, **models: str) -> None:
    for name, text in models.items():
        (project.root / "models").mkdir(exist_ok=True)
        (project.root / "models" / f"{name}.sql").write_text(text)


def model(columns: str, sql: str) -> str:
    return f"/*\ncolumns:\n  {columns}\n*/\n{sql}"


# SQL over run and step, and where its columns come from (case does not matter; computed columns are not listed).
COPIES = {
    "select run_id, speed as pace, speed * 2 as twice from run": {"run_id": "run.run_id", "pace": "run.speed"},
    "select * exclude (place) replace (run_id || '' as run_id) from run": {"speed": "run.speed"},
    "select R.*, s.step as number from main.run as r left join step as s using (run_id)":
        {"run_id": "run.run_id", "speed": "run.speed", "place": "run.place", "number": "step.step"},
    "with a as (select run_id as id, speed from run), b (x, y) as (from a) select x, (select max(y) from b) as most from b": {"x": "run.run_id"},
    "select id from (select run_id as id, count(*) as n from step group by run_id having n > 1) where id <> ''": {"id": "step.run_id"},
    "select run_id, step from step group by grouping sets ((run_id), (step))": {},
    "select run_id, max(speed) as most, any_value(place) as place from run group by all": {"run_id": "run.run_id"},
    "select run_id, speed from run union all select run_id, speed from step": {"run_id": "run.run_id step.run_id", "speed": "run.speed step.speed"},
    "select run_id, place from run union all by name select run_id, step from step":
        {"run_id": "run.run_id step.run_id", "place": "run.place", "step": "step.step"},
    "select run_id as a, place as b from run union all select run_id, 'x' from step": {"a": "run.run_id step.run_id"},
    "select speed::float as speed, coalesce(place, '') as place, run_id as run_id from run": {"run_id": "run.run_id"},
    "select run.run_id from run full join step using (run_id)": {},
    "with recursive a as (select run_id from run union all select run_id from a where false) from a": {},
    "select unnest([1, 2]) as n, run_id from run": {},
    "select speed, place from unnest([1.5, 2]::double[]) as u (speed) left join run using (speed)": {"place": "run.place"},
    "select run_id, step from (select columns('run_id') from run) as r left join step using (run_id)": {"step": "step.step"},
}


def test_the_columns_that_are_copies(project: Project) -> None:
    made = {f"made_{number}": sql for number, sql in enumerate(COPIES)}
    write(project, **made)
    checked = check_project(project).sound()
    for name, sql in made.items():
        assert {column: " ".join(sources) for column, sources in copies(checked, name).items()} == COPIES[sql], sql


def copies(checked: CheckedProject, name: str) -> dict[str, list[str]]:
    read = {written: checked.columns[other] for other in checked.graph.models[name] for written in (other, checked.models[other].qualified)}
    passed = passed_columns(checked.models[name], checked.graph.trees[name], read.get)
    return {column: [f"{table.removeprefix('main.')}.{source}" for table, source in sources] for column, sources in passed.items()}


def test_a_header_states_only_what_is_new(project: Project) -> None:
    write(project, made=model("speed: {description: Its pace}\n  twice: {type: double}", "select run_id, speed, place as hall, speed * 2 as twice from run"))
    made = check_project(project).sound().models["made"].columns
    assert [*made] == ["run_id", "speed", "hall", "twice"]
    assert [(each.type, each.unit, each.description, each.tolerance, each.tests) for each in made.values()] == [
        ("varchar", None, "The run", None, ()), ("double", "m/s", "Its pace", 1e-9, ()), ("varchar", None, "Where it ran", None, ()),
        ("double", None, "", None, ()),
    ]


def test_the_digest_is_that_of_a_header_that_states_everything(project: Project) -> None:
    digests = []
    for header in ("speed: {type: double, unit: m/s, description: How fast it was, tolerance: 1e-9}\n  run_id: {}", "speed:\n    {}"):
        write(project, made=model(header, "select speed, run_id from run"))
        digests.append(envelopes(check_project(project).sound(), {})["made"].digest)
    assert digests[0] == digests[1]


def test_names_are_the_same_in_any_case(project: Project) -> None:
    write(project, odd=model("Run_ID: {type: varchar, description: Odd}", 'select run_id as "Run_ID" from run'), made=model("one: {type: integer}", "select RUN_ID, 1 as one from Odd"))
    made = check_project(project).sound().models["made"].columns
    assert [(each.name, each.description) for each in made.values()] == [("Run_ID", "Odd"), ("one", "")]


def test_a_chain_and_a_view_pass_on_what_they_inherit(project: Project) -> None:
    write(project, first=model("twice: {type: double}\nmaterialized: view", "select run_id, speed * 2 as twice from run"),
          second=model("one: {type: integer}", "select run_id, 1 as one from first"))
    assert check_project(project).sound().models["second"].columns["run_id"].description == "The run"


@pytest.mark.parametrize(
    ("columns", "sql", "fault"),
    [
        ("run_id: {type: varchar}", "select run_id, speed from run union all select run_id, speed from step", ("WH207", "the SQL has column speed")),
        ("run_id: {type: varchar}", "select run_id, speed * 2 as speed from run", ("WH207", "the SQL has column speed")),
        ("place: {description: It}", "select upper(place) as place from run", ("WH201", "column place states no type")),
        ("runid: {description: It}", "select run_id from run", ("WH207", "the header has column runid")),
        ("run_id: {type: integer}", "select run_id from run", ("WH207", "column run_id is VARCHAR, the header says integer")),
    ],
)
def test_what_is_no_copy_or_of_sources_that_differ_must_be_stated(columns: str, sql: str, fault: tuple[str, str], project: Project) -> None:
    write(project, made=model(columns, sql))
    (found,) = check_project(project).faults
    assert found.code == fault[0] and found.message.startswith(fault[1])
    assert ("did you mean run_id?" == found.hint) == columns.startswith("runid")


def test_sources_that_agree_are_inherited_from(project: Project) -> None:
    write(project, made=model("speed: {type: double}", "select run_id, speed from run union all select run_id, speed from step"))
    assert check_project(project).sound().models["made"].columns["run_id"].description == "The run"


def test_a_remembered_check_sees_that_a_source_has_changed(project: Project) -> None:
    write(project, made=model("one: {type: integer}", "select run_id, 1 as one from run"))
    build(project)
    assert [each.description for each in describe_table(project, "made").columns] == ["The run", ""]
    write(project, run=RUN.replace("The run", "One execution"))
    build(project)
    assert [each.description for each in describe_table(project, "made").columns] == ["One execution", ""]
    write(project, run=RUN.partition("*/")[2])  # which promises nothing any more
    assert [fault.message.partition("\n")[0] for fault in check_project(project).faults] == ["the SQL has column run_id, the header does not"]


def test_a_table_without_a_header_may_take_the_place_of_a_standard_one(tmp_path: Path) -> None:
    project = standard_project(tmp_path)
    [standard] = (REPOSITORY / "models").glob("**/serving_request.sql")
    own = project.root / "models" / standard.relative_to(REPOSITORY / "models")
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(standard.read_text().partition("*/")[2])
    assert [str(fault) for fault in check_project(project).faults if "serving_slo_count" in str(fault)] == []


def test_the_standard_project_inherits_from_what_the_binder_calls_a_copy(tmp_path: Path) -> None:
    project = standard_project(tmp_path)
    landing = project_landing_types(project)
    checked = check_project(project, landing).sound()
    written = {**load_models(project), **load_queries(project)}
    inheriting = {name: left for name, each in written.items() if (left := unstated(each, checked.columns[name]))}
    assert len(inheriting) > 50
    graph = column_graph(checked, landing, project.root)
    qualified = {each.qualified: name for name, each in checked.models.items()}
    for name, left in inheriting.items():
        for column in left:
            edges = [edge for edge in graph.sources[ColumnRef(checked.models[name].qualified, column)] if edge.kind == VALUE]
            assert edges and all(edge.is_copy for edge in edges), f"{name}.{column}"
            sources = {checked.models[qualified[edge.source.table]].columns[edge.source.column].type for edge in edges}
            assert sources == {checked.models[name].columns[column].type}
