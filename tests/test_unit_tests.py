"""Unit tests of models: how cases are written, what is refused, what a difference looks like, and the standard cases."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from bare_project import project as project
from bare_project import write
from conftest import Wh
from exhaustive import few
from standard import standard_project

from warehouse.errors import WarehouseError
from warehouse.project.making import init_project
from warehouse.project.project import Project, standard_folder
from warehouse.transform.sql.duck import connect
from warehouse.transform.testing.project_tests import run_unit_tests
from warehouse.transform.testing.unit_cases import Value, load_unit_cases
from warehouse.transform.testing.unit_tests import UnitResult
from warehouse.transform.testing.unit_values import typed_value

MODELS = {
    "models/run.sql": """\
select
    'r' as run_id, 1 as batch, 0.5::double as speed, 1.25::decimal(9, 2) as price, true as is_warm,
    timestamp '2025-01-01' as started_at, timestamptz '2025-01-01' as seen_at, [1] as sizes,
    {'name': 'x', 'tags': ['a']} as host, map {'a': 1} as counts
""",
    "models/twice.sql": "select run_id, batch * 2 as batch, speed * 2 as speed from run order by batch desc",
    "models/same.sql": "select * from run",
    "models/joined.sql": "select run.run_id, file.raw_path from run join evidence_file as file on file.raw_path = run.run_id",
}


def results(project: Project, cases: str, files: Mapping[str, str] = MODELS) -> list[UnitResult]:
    write(project, {**files, "unit_tests/cases.yaml": cases})
    return list(run_unit_tests(project))


# --- cases that pass, and cases that do not --------------------------------------------------------------------------

# A case of YAML without its dash, and whether it passes.
CASES = {
    "rows as mappings": ("model: twice\ngiven: {run: [{run_id: a, batch: 3}]}\nexpect: [{run_id: a, batch: 6}]", True),
    "another value": ("model: twice\ngiven: {run: [{run_id: a, batch: 3}]}\nexpect: [{run_id: a, batch: 7}]", False),
    "rows as CSV": ("model: twice\ngiven:\n  run: |\n    run_id,batch\n    a,3\nexpect: |\n  batch,run_id\n  6,a", True),
    "any order": ("model: twice\ngiven: {run: [{batch: 1}, {batch: 2}]}\nexpect: [{batch: 2}, {batch: 4}]", True),
    "in order": (
        "model: twice\ngiven: {run: [{batch: 1}, {batch: 2}]}\nordered: true\nexpect: [{batch: 4}, {batch: 2}]", True),
    "in another order": (
        "model: twice\ngiven: {run: [{batch: 1}, {batch: 2}]}\nordered: true\nexpect: [{batch: 2}, {batch: 4}]", False),
    "a row too few": ("model: twice\ngiven: {run: [{batch: 1}, {batch: 1}]}\nexpect: [{batch: 2}]", False),
    "a row too many": ("model: twice\ngiven: {run: [{batch: 1}]}\nexpect: [{batch: 2}, {batch: 2}]", False),
    "a row too few, in order": (
        "model: twice\ngiven: {run: [{batch: 1}, {batch: 1}]}\nordered: true\nexpect: [{batch: 2}]", False),
    "rows twice": ("model: twice\ngiven: {run: [{batch: 1}, {batch: 1}]}\nexpect: [{batch: 2}, {batch: 2}]", True),
    "nothing given, nothing expected": ("model: twice\nexpect: []", True),
    "nothing expected, something found": ("model: twice\ngiven: {run: [{}]}\nexpect: []", False),
    "what is left out is NULL": ("model: twice\ngiven: {run: [{run_id: a}]}\nexpect: [{run_id: a, batch: null}]", True),
    "NULL is not zero": ("model: twice\ngiven: {run: [{run_id: a}]}\nexpect: [{run_id: a, batch: 0}]", False),
    "NULL is not the word": ("model: same\ngiven: {run: [{run_id: 'null'}]}\nexpect: [{run_id: null}]", False),
    "the word is not NULL": ("model: same\ngiven: {run: [{run_id: 'null'}]}\nexpect: [{run_id: 'null'}]", True),
    "an empty cell is NULL": (
        "model: same\ngiven:\n  run: |\n    run_id,batch\n    ,1\n    \"\",2\n"
        "expect: [{run_id: null, batch: 1}, {run_id: '', batch: 2}]", True),
    "yes and no are words in a text": ("model: same\ngiven: {run: [{run_id: yes}]}\nexpect: [{run_id: 'yes'}]", True),
    "digits of a text stay": ("model: same\ngiven: {run: [{run_id: 1.50}]}\nexpect: [{run_id: '1.50'}]", True),
    "truth": ("model: same\ngiven: {run: [{is_warm: false}]}\nexpect: [{is_warm: false}]", True),
    "decimals": ("model: same\ngiven: {run: [{price: 1.50}]}\nexpect: [{price: 1.5}]", True),
    "floats are compared exactly": (
        "model: twice\ngiven: {run: [{speed: 0.1}]}\nexpect: [{speed: 0.2000000000000001}]", False),
    "floats within the tolerance": (
        "model: twice\ngiven: {run: [{speed: 0.1}]}\ntolerance: 1e-12\nexpect: [{speed: 0.2000000000000001}]", True),
    "floats beyond the tolerance": (
        "model: twice\ngiven: {run: [{speed: 0.1}]}\ntolerance: 1e-12\nexpect: [{speed: 0.2001}]", False),
    "a tolerance is of floats alone": (
        "model: twice\ngiven: {run: [{batch: 1}]}\ntolerance: 5\nexpect: [{batch: 3}]", False),
    "a tolerance does not make rows equal twice": (
        "model: twice\ngiven: {run: [{speed: 1}]}\ntolerance: 0.5\nexpect: [{speed: 2.1}, {speed: 1.9}]", False),
    "a tolerance in order": (
        "model: twice\ngiven: {run: [{speed: 1, batch: 2}, {speed: 2, batch: 1}]}\ntolerance: 0.5\nordered: true\n"
        "expect: [{speed: 2.1}, {speed: 3.9}]", True),
    "a tolerance and NULL": ("model: twice\ngiven: {run: [{}]}\ntolerance: 1\nexpect: [{speed: 0}]", False),
    "not a number is itself": ("model: twice\ngiven: {run: [{speed: .nan}]}\nexpect: [{speed: .NaN}]", True),
    "infinity": ("model: twice\ngiven: {run: [{speed: -.inf}]}\nexpect: [{speed: -.inf}]", True),
    "times": (
        "model: same\ngiven: {run: [{started_at: 2025-07-28T04:22:26.087, seen_at: 2025-07-28 04:22:26+02:00}]}\n"
        "expect: [{started_at: 2025-07-28 04:22:26.087000, seen_at: 2025-07-28 02:22:26Z}]", True),
    "lists": ("model: same\ngiven: {run: [{sizes: [1, null, 3]}]}\nexpect: [{sizes: [1, null, 3]}]", True),
    "another list": ("model: same\ngiven: {run: [{sizes: [1, 3]}]}\nexpect: [{sizes: [3, 1]}]", False),
    "an empty list is not NULL": ("model: same\ngiven: {run: [{sizes: []}]}\nexpect: [{sizes: null}]", False),
    "structs": (
        "model: same\ngiven: {run: [{host: {tags: [a, 'null', null], name: b}}]}\n"
        "expect: [{host: {name: b, tags: [a, 'null', ~]}}]", True),
    "a field left out is NULL": (
        "model: same\ngiven: {run: [{host: {name: b}}]}\nexpect: [{host: {name: b, tags: null}}]", True),
    "another field": ("model: same\ngiven: {run: [{host: {name: b}}]}\nexpect: [{host: {name: c}}]", False),
    "maps": ("model: same\ngiven: {run: [{counts: {x: 1, y: 2}}]}\nexpect: [{counts: {x: 1, y: 2}}]", True),
    "nested values in CSV": (
        "model: same\ngiven:\n  run: |\n    sizes,host\n    \"[1, 2]\",\"{name: a, tags: [b]}\"\n"
        "expect: [{sizes: [1, 2], host: {name: a, tags: [b]}}]", True),
    "a landing table": (
        "model: joined\ngiven: {run: [{run_id: a}, {run_id: b}], evidence_file: [{raw_path: b}]}\n"
        "expect: [{run_id: b, raw_path: b}]", True),
    "inputs by their full name": (
        "model: main.twice\ngiven: {main.run: [{batch: 1}]}\nexpect: [{batch: 2}]", True),
}


@pytest.mark.parametrize("case", CASES)
def test_cases(case: str, project: Project) -> None:
    text, passes = CASES[case]
    (result,) = results(project, "- " + text.replace("\n", "\n  "))
    assert (result.status, result.error) == ("pass" if passes else "fail", None)


def test_a_model_that_cannot_run_on_the_rows_is_told_at_its_place(project: Project) -> None:
    files = {"models/a.sql": "select 'x' as text", "models/b.sql": "select\n    text::int as n\nfrom a"}
    (result,) = results(project, "- {model: b, given: {a: [{text: one}]}, expect: [{n: 1}]}", files)
    assert result.status == "fail"
    assert result.error and result.error.startswith("WH209 models/b.sql:2:")
    assert "one" in result.error and "    text::int as n\n" in result.error


def test_what_lies_under_an_input_is_not_asked(project: Project) -> None:
    files = {
        "models/deep.sql": "select raw_path from evidence_file",
        "models/shown.sql": "/*\nmaterialized: view\n*/ select raw_path, 1 as n from deep",
        "models/top.sql": "select raw_path from shown where n > 5",
    }
    cases = "- {model: top, given: {shown: [{raw_path: a, n: 6}, {raw_path: b, n: 5}]}, expect: [{raw_path: a}]}"
    assert [result.status for result in results(project, cases, files)] == ["pass"]


def test_feeds_are_inputs_and_are_tested(project: Project) -> None:
    files = {
        "models/outcome.sql": "/*\ncollects: outcome\ncolumns: {run_id: {type: varchar}, speed: {type: double}}\n*/\n"
        "select run_id, speed from feed.outcome where speed > 1",
        "models/staging/one.sql": "/*\nfeeds: outcome\n*/ select 'a' as run_id, 1.5::double as speed",
        "models/staging/two.sql": "/*\nfeeds: outcome\n*/ select 'b' as run_id",
    }
    cases = """\
- {model: outcome, given: {feed.outcome: [{run_id: x, speed: 1}, {run_id: y, speed: 2}]}, expect: [{run_id: y, speed: 2}]}
- model: feed.outcome
  given: {one: [{run_id: x, speed: 1}], staging.two: [{run_id: z}]}
  expect: [{run_id: x, speed: 1}, {run_id: z, speed: null}]
"""
    assert [result.status for result in results(project, cases, files)] == ["pass", "pass"]


def test_query_specs_are_tested(project: Project) -> None:
    spec = "/*\ngrain: [run_id]\n*/\nselect run_id, speed from run where speed > 1"
    cases = "- {model: fastest, given: {run: [{run_id: a, speed: 2}, {run_id: b, speed: 1}]}, expect: [{run_id: a, speed: 2}]}"
    assert [result.status for result in results(project, cases, {**MODELS, "queries/fastest.sql": spec})] == ["pass"]


# --- cases that are not valid ------------------------------------------------------------------------------------------

# The file, where its fault is, a part of the message, of the hint.
BAD_CASES = {
    "not YAML": ("- model: a\n\tgiven: b", "2:1", "not YAML", None),
    "not a list": ("model: twice\nexpect: []", "1:1", "a list of cases", "- model"),
    "a case that is text": ("- twice", "1:3", "a case is a mapping", "model, given, expect"),
    "unknown key": ("- model: twice\n  expects: []", "2:3", "unknown key 'expects'", "ordered"),
    "no model": ("- expect: []", "1:3", "states its model", None),
    "no expectation": ("- model: twice", "1:3", "states its expect", "expect: []"),
    "expectation of nothing": ("- model: twice\n  expect:", "2:10", "rows are a list", None),
    "two cases of one name": ("- {name: a, model: same, expect: []}\n- {name: a, model: same, expect: []}", "2:3", "'a'", None),
    "a key twice": ("- model: same\n  expect: []\n  expect: []", "3:3", "expect is there twice", None),
    "ordered": ("- {model: same, expect: [], ordered: maybe}", "1:38", "ordered is true or false", None),
    "tolerance": ("- {model: same, expect: [], tolerance: -1}", "1:40", "tolerance is a number above 0", "1e-9"),
    "given as a list": ("- {model: same, expect: [], given: [run]}", "1:36", "given is a mapping", None),
    "rows as one mapping": ("- {model: same, expect: {batch: 1}}", "1:25", "rows are a list", None),
    "a row that is a list": ("- {model: same, expect: [[1]]}", "1:26", "a row is a mapping", None),
    "CSV with a cell too many": ("- model: same\n  expect: |\n    batch\n    1,2", "2:11", "not CSV", None),
    "CSV with a column twice": ("- model: same\n  expect: |\n    batch,batch\n    1,2", "2:11", "there twice", None),
    "unknown model": ("- {model: twise, expect: []}", "1:11", "named twise", "twice"),
    "unknown input": ("- {model: twice, expect: [], given: {rnu: []}}", "1:38", "twice does not read rnu", "run"),
    "an input that another model reads": (
        "- {model: twice, expect: [], given: {evidence_file: []}}", "1:38", "does not read evidence_file", "it reads run"),
    "an input twice": ("- {model: twice, expect: [], given: {run: [], main.run: []}}", "1:47", "run is given twice", None),
    "unknown column given": (
        "- model: twice\n  expect: []\n  given: {run: [{batsh: 1}]}", "3:25", "run has no column batsh", "batch"),
    "unknown column expected": ("- {model: twice, expect: [{spede: 1}]}", "1:35", "twice has no column spede", "speed"),
    "an expected row of no columns": ("- {model: twice, expect: [{}]}", "1:27", "names no column", None),
    "expected rows of different columns": (
        "- model: twice\n  expect:\n    - {batch: 1, speed: 1}\n    - {batch: 1}", "4:7", "states speed", "speed: null"),
    "a value that rounds": ("- {model: twice, expect: [{batch: 1.5}]}", "1:35", "1.5 is no INTEGER", None),
    "a value of no such type": (
        "- model: twice\n  given: {run: [{batch: 1}, {batch: two}]}\n  expect: []", "2:37", "no INTEGER", None),
    "a value in CSV": ("- model: twice\n  expect: |\n    batch\n    1\n    1.5", "5:1", "1.5 is no INTEGER", None),
    "a list where none belongs": ("- {model: twice, expect: [{batch: [1]}]}", "1:35", "a list, where", None),
    "no list where one belongs": ("- {model: same, expect: [{sizes: {a: 1}}]}", "1:34", "no INTEGER[]", "a list"),
    "deep in a list": ("- {model: same, expect: [{sizes: [1, 2.5]}]}", "1:38", "2.5 is no INTEGER", None),
    "a cell that holds no list": ('- model: same\n  expect: |\n    sizes\n    "[1, "', "4:1", "not YAML", None),
    "an unknown field": ("- {model: same, expect: [{host: {nam: b}}]}", "1:33", "no field nam", "name, tags"),
}


@pytest.mark.parametrize("case", BAD_CASES)
def test_bad_cases(case: str, project: Project) -> None:
    text, place, message, hint = BAD_CASES[case]
    with pytest.raises(WarehouseError) as caught:
        results(project, text)
    assert (caught.value.code, caught.value.place) == ("WH240", f"unit_tests/cases.yaml:{place}")
    assert message in caught.value.message
    assert hint is None or (caught.value.hint and hint in caught.value.hint)


def test_a_file_that_is_not_utf8(project: Project) -> None:
    (project.root / "unit_tests" / "a.yaml").write_bytes(b"- model: \xff")
    with pytest.raises(WarehouseError) as caught:
        run_unit_tests(project)
    assert (caught.value.code, caught.value.place) == ("WH240", "unit_tests/a.yaml")


def test_a_project_that_does_not_check_is_told_first(project: Project) -> None:
    with pytest.raises(WarehouseError) as caught:
        results(project, "- {model: a, expect: []}", {"models/a.sql": "select nosuch"})
    assert (caught.value.code, caught.value.place) == ("WH204", "models/a.sql:1:8")


# --- values ------------------------------------------------------------------------------------------------------------

# A type, and texts that it holds as they are, with what the engine writes for them.
HELD = [
    ("INTEGER", "1", "1"), ("INTEGER", "1.0", "1"), ("INTEGER", "-1_000", "-1000"), ("HUGEINT", str(2**126), str(2**126)),
    ("DECIMAL(9,2)", "1.5", "1.50"), ("DECIMAL(9,2)", "1.500", "1.50"), ("DOUBLE", "0.1", "0.1"), ("DOUBLE", "1e3", "1000.0"),
    ("DOUBLE", "inf", "inf"), ("DOUBLE", "nan", "nan"), ("FLOAT", "0.1", "0.1"), ("FLOAT", "16777216", "16777216.0"),
    ("VARCHAR", " a ", " a "), ("BOOLEAN", "true", "true"), ("DATE", "2025-01-02", "2025-01-02"),
    ("TIMESTAMP", "2025-01-02", "2025-01-02 00:00:00"),
    ("TIMESTAMP", "2025-01-02 03:04:05.1234560", "2025-01-02 03:04:05.123456"),
    ("TIMESTAMP_NS", "2025-01-02 03:04:05.123456789", "2025-01-02 03:04:05.123456789"),
    ("TIMESTAMP WITH TIME ZONE", "2025-01-02 03:04:05+02", "2025-01-02 01:04:05+00"), ("TIME", "01:02:03.5", "01:02:03.5"),
    ("UUID", "12345678-1234-1234-1234-123456789abc", "12345678-1234-1234-1234-123456789abc"),
    ("INTEGER[2]", "[1, 2]", "[1, 2]"), ("ENUM('a', 'b')", "b", "b"),
]


@pytest.mark.parametrize(("kind", "text", "held"), HELD)
def test_values_that_their_type_holds(kind: str, text: str, held: str) -> None:
    con = connect()
    value = typed_value(con, Value(text, "here"), kind)
    assert value.text == held
    assert con.execute(f"select ({value.sql})::varchar, typeof({value.sql}) = typeof(null::{kind})").fetchall() == [(held, True)]


REFUSED = [
    ("INTEGER", "1.5"), ("INTEGER", "0x1f"), ("INTEGER", "true"), ("INTEGER", "3000000000"), ("TINYINT", "128"),
    ("DECIMAL(9,2)", "1.005"), ("DECIMAL(3,1)", "100"), ("DOUBLE", "0.1234567890123456789"), ("DOUBLE", "9007199254740993"),
    ("DOUBLE", "1e400"), ("DOUBLE", "1e-400"), ("FLOAT", "16777217"), ("FLOAT", "0.123456789"), ("BOOLEAN", "perhaps"),
    ("DATE", "2025-01-02 03:04:05"), ("DATE", "2025-02-30"), ("TIMESTAMP", "2025-01-02 03:04:05+02"),
    ("TIMESTAMP", "2025-01-02T03:04:05Z"), ("TIMESTAMP", "2025-01-02 03:04:05 Europe/Berlin"),
    ("TIMESTAMP", "2025-01-02 03:04:05.1234567"), ("TIMESTAMP_S", "2025-01-02 03:04:05.5"),
    ("TIMESTAMP_MS", "2025-01-02 03:04:05.0005"), ("TIMESTAMP WITH TIME ZONE", "2025-01-02 03:04:05.1234567+02"),
    ("TIME", "25:00:00"), ("UUID", "x"), ("INTEGER[2]", "[1]"), ("ENUM('a', 'b')", "c"), ("INTEGER[]", "1"),
    ("STRUCT(a INTEGER)", "[1]"),
]


@pytest.mark.parametrize(("kind", "text"), REFUSED)
def test_values_that_would_change_in_their_type(kind: str, text: str) -> None:
    with pytest.raises(WarehouseError) as caught:
        typed_value(connect(), Value(text, "here"), kind)
    assert (caught.value.code, caught.value.place) == ("WH240", "here")


# --- what a difference looks like ------------------------------------------------------------------------------------

DIFFERENT = """\
- name: batches double
  model: twice
  given:
    run: |
      run_id,batch
      a,1
      b,2
      b,2
  expect:
    - {run_id: a, batch: 2}
    - {run_id: b, batch: 4}
    - {run_id: c, batch: null}
- name: passes
  model: twice
  expect: []
"""


def test_a_difference_is_shown_as_two_tables(project: Project, wh: Wh) -> None:
    write(project, {**MODELS, "unit_tests/twice.yaml": DIFFERENT})
    status, out, err = wh("test", "--unit")
    assert status == 1
    assert [line.rsplit(maxsplit=3)[:3] for line in out.splitlines()[2:]] == [
        ["twice: batches double", "fail", "2"], ["twice: passes", "pass", "0"],
    ]
    assert err == """\
fail twice: batches double (unit_tests/twice.yaml:1:3)
  expected, not found:
    run_id  batch
    ------  -----
    c       NULL
  found, not expected:
    run_id  batch
    ------  -----
    b       4
2 tests: 1 passed, 1 failed
"""
    assert not (project.root / ".wh").exists()  # neither a store nor a build was asked for


def test_a_difference_in_order_has_numbers(project: Project) -> None:
    case = "- {model: twice, ordered: true, given: {run: [{batch: 1}, {batch: 2}, {batch: 3}]}, expect: [{batch: 6}, {batch: 5}]}"
    (result,) = results(project, case)
    assert result.columns == ("row", "batch")
    assert (result.missing, result.unexpected) == ((("2", "5"),), (("2", "4"), ("3", "2")))


def test_a_long_difference_is_cut_and_counted(project: Project) -> None:
    files = {"models/many.sql": "select range as n from range(30)"}
    (result,) = results(project, "- {model: many, expect: []}", files)
    assert result.failures == 30
    assert result.told().splitlines()[2:5] == ["    n", "    --", "    0"]
    assert result.told().splitlines()[-2:] == ["    19", "    and 10 more"]


def test_json(project: Project, wh: Wh) -> None:
    write(project, {**MODELS, "unit_tests/twice.yaml": DIFFERENT})
    status, out, _ = wh("test", "--unit", "--json", "batches*")
    (found,) = json.loads(out)
    assert status == 1
    assert {**found, "seconds": 0} == {
        "name": "batches double", "model": "twice", "place": "unit_tests/twice.yaml:1:3", "status": "fail", "error": None,
        "columns": ["run_id", "batch"], "missing": [["c", None]], "unexpected": [["b", "4"]], "seconds": 0,
    }


def test_names(project: Project, wh: Wh) -> None:
    write(project, {**MODELS, "unit_tests/a.yaml": DIFFERENT, "unit_tests/b.yaml": "- {model: same, expect: []}"})
    assert wh("test", "--unit", "same")[:2][0] == 0
    status, _, err = wh("test", "--unit", "twise")
    assert (status, err) == (5, "WH241 nothing to test is named twise\n  hint: did you mean twice?\n")


def test_a_file_of_a_later_layer_replaces_the_one_at_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    standard, own = init_project(tmp_path / "standard", bare=True), init_project(tmp_path / "own")
    monkeypatch.setattr("warehouse.project.project.standard_folder", lambda: standard.root)
    case = "- {model: same, expect: []}"
    write(standard, {"unit_tests/a.yaml": case, "unit_tests/b.yaml": case, "unit_tests/_draft.yaml": "nonsense"})
    write(own, {"unit_tests/a.yaml": case, "unit_tests/deep/c.yml": case, "unit_tests/notes.md": "words"})
    assert [found.place for found in load_unit_cases(own)] == [
        "unit_tests/a.yaml:1:3", "standard/unit_tests/b.yaml:1:3", "unit_tests/deep/c.yml:1:3"
    ]


# --- the standard project ------------------------------------------------------------------------------------------------


def test_the_standard_cases_pass(tmp_path: Path) -> None:
    found = run_unit_tests(standard_project(tmp_path / "project"))
    assert {result.name: result.told() for result in found if result.status != "pass"} == {}
    assert {result.model for result in found} >= {
        "mlperf_inference_result", "mlperf_inference_results", "mlperf_training_results", "indicator_results"
    }


# A change of a standard model that the standard cases must see.
MUTATIONS = {
    "models/marts/mlperf_inference_result.sql": [
        ("'v3.0', 'v3.1', 'v4.0')", "'v3.0', 'v3.1')"), ("then early_stopping_p99_ms * 8", "then early_stopping_p99_ms"),
        ("then e2e_p99_ms * 8", "then null"), ("energy_per_query_mj * 8", "energy_per_query_mj"), ("single_stream_qps, ", ""),
        ("then samples_per_query * 1e3 /", "then 8e3 * 1e3 /"), ("'Offline' and uses_early_stopping", "'Offline'"),
        ("and in_its_folder.run_id is null", ""), ("and better.run_id is null", ""), ("1e3 / nullif(e2e_mean_ms, 0))", "e2e_mean_ms)"),
        ("and coalesce(lower(suite), '') not like '%edge%'", "and false"), ("and lower(run.suite) like '%edge%'", ""),
        ("and better.uses_early_stopping", ""), ("(run.uses_early_stopping or (", "(true or ("), ("when refusal is not null then null", ""),
        ("is_of_another and performance is not null as", "is_of_another as"), ("when has_ranging_run then 'missing'", "when true then 'missing'"),
        ("case when performance is not null then performance_unit end", "performance_unit"),
        ("(has_token_early_stopping or not uses_early_stopping)", "not uses_early_stopping"),
        ("(has_token_early_stopping or not uses_early_stopping)", "has_token_early_stopping"),
        ("when is_of_another then null", ""), ("'MultiStream' and has_token_early_stopping then null", "'MultiStream' and false then null"),
        ("then scheduled_sample_throughput_per_s", "then sample_throughput_per_s"), ("and not has_token_throughput then", "then"),
    ],
    "queries/mlperf_inference_results.sql": [
        ("round(result.performance, 5 -", "round(result.performance, 4 -"), ("and not result.has_conflict", ""), ("result.state = 'admitted'", "true"),
        ("when known_round.round is null then null", "when false then null"),
        ("and token_label.scenario = result.scenario", ""),
    ],
    "queries/indicator_results.sql": [
        ("and not has_conflict", ""), ("mode = 'performance'", "true"), ("and status = 'succeeded'", ""), ("and state = 'admitted'", ""),
        ("order_statistic_median.upper_rank]", "order_statistic_median.lower_rank]"),
    ],
    "models/marts/indicator_run.sql": [
        ("', ' order by key", "', ' order by key desc"), ("and outcome.value_number is not null", ""),
        ("outcome.kind in ('result', 'score')", "outcome.kind = 'result'"),
    ],
}


@pytest.mark.parametrize(("file", "old", "new"), few(((file, *change) for file, changes in MUTATIONS.items() for change in changes), 2))
def test_the_standard_cases_see_a_change(file: str, old: str, new: str, tmp_path: Path) -> None:
    project = standard_project(tmp_path / "project")
    text = (standard_folder() / file).read_text(encoding="utf-8")
    assert old in text
    write(project, {file: text.replace(old, new)})
    assert any(result.status == "fail" for result in run_unit_tests(project, [Path(file).stem]))
