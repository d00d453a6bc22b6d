"""What a model may call: the engine's own list of functions against those that the check refuses or tracks."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator

import duckdb
import pytest
from conftest import REPOSITORY

from warehouse.errors import WarehouseError
from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import connect
from warehouse.transform.sql.functions import OF_SESSION, VARYING, VARYING_WORDS, ZONED, is_steady, varies
from warehouse.transform.sql.tree import FILE_FUNCTIONS, PURE_FUNCTIONS, UNTRACKED_FUNCTIONS, Readings, parsed, readings, statement

# Of another version than the first that is allowed: since when.
SINCE = {"add_grammar_extension": "2.0.1", "parquet_page_index": "2.0.1", "remove_grammar_extension": "2.0.1"}
# Where the table says otherwise of an overload than the engine's catalog, by the engine's version: why the table is right.
_ALWAYS = {"age(TIMESTAMP) is CONSISTENT": "it counts to the day it is asked"}
DIFFERENCES = {
    "2.0.0": _ALWAYS | {
        "age(TIMESTAMP WITH TIME ZONE) is CONSISTENT": "it counts to the day it is asked",
        "current_localtime() is CONSISTENT": "it is the clock",
        "current_localtimestamp() is CONSISTENT": "it is the clock",
    },
    "2.0.1": _ALWAYS | {"age(TIMESTAMP WITH TIME ZONE) is CONSISTENT_WITHIN_QUERY": "it counts to the day it is asked"},
}
# The engine has no users: each of these words is the same text in every session.
CONSTANT_WORDS = {"current_role", "current_schema", "current_user", "session_user", "user"}


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    con = connect()
    yield con
    con.close()


def functions(con: duckdb.DuckDBPyConnection, where: str) -> set[str]:
    return {row[0] for row in con.execute(f"select function_name from duckdb_functions() where {where}").fetchall()}


def numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def read_by(con: duckdb.DuckDBPyConnection, sql: str) -> Readings:
    model = Model("m", "main", "models/m.sql", sql)
    (document,) = parsed(con, [sql])
    return readings(statement(document, model), model)


def refusal(con: duckdb.DuckDBPyConnection, sql: str) -> str | None:
    """The code that a model's SQL is refused with."""
    try:
        read_by(con, sql)
    except WarehouseError as error:
        return error.code
    return None


def test_every_table_function_is_of_one_kind(con: duckdb.DuckDBPyConnection) -> None:
    kinds = (FILE_FUNCTIONS, PURE_FUNCTIONS, UNTRACKED_FUNCTIONS)
    assert sum(map(len, kinds)) == len(frozenset().union(*kinds))
    engine = functions(con, "function_type in ('table', 'table_macro')")
    # Those of the engine's own catalog are told by their name.
    later = {name for name, version in SINCE.items() if numbers(version) > numbers(duckdb.__version__)}
    assert {name for name in engine if not name.startswith("duckdb_")} | later == frozenset().union(*kinds)


def test_the_table_of_functions_differs_from_the_engine_s_where_it_is_known(con: duckdb.DuckDBPyConnection) -> None:
    """Whoever allows another version of the engine reads here, overload by overload, what it says otherwise."""
    found = con.execute(
        "select function_name, parameter_types, stability, concat_ws(' ', parameter_types, return_type) from duckdb_functions() "
        "where stability is not null"
    ).fetchall()
    assert {
        f"{name}({', '.join(types)}) is {stability}"
        for name, types, stability, all_types in found
        if is_steady(name, stability, all_types) == (varies(name, len(types)) or name in OF_SESSION)
    } == DIFFERENCES[duckdb.__version__].keys()


def test_each_version_of_the_engine_that_is_allowed_is_known() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    versions = sorted(DIFFERENCES, key=numbers)
    assert f"duckdb>={versions[0]},<={versions[-1]}" in project["dependencies"]


def test_a_macro_over_a_varying_function_is_one(con: duckdb.DuckDBPyConnection) -> None:
    macros = con.execute(
        "select function_name, macro_definition from duckdb_functions() where function_type = 'macro'"
    ).fetchall()
    over_these = {name for name, body in macros if refusal(con, f"select {body}") in ("WH226", "WH220")}
    assert over_these, "a macro over a varying function is known"
    catalogued = functions(con, "true")
    of_the_engine = functions(con, "stability is not null") | over_these
    assert {name for name in VARYING if name not in of_the_engine} == {"getenv"}  # the engine's own shell has it
    assert over_these <= VARYING and ZONED | OF_SESSION <= catalogued | {"+", "-"}


# A call of each function that reads the zone, but the operators, and more of those whose overloads differ.
ZONED_CALLS = {
    "+": "t + interval 1 month", "-": "t - interval 1 month", "age": "age(t, t - interval 40 days)", "date_diff": "date_diff('day', t, t + interval 20 hours)",
    "date_part": "date_part('hour', t)", "date_sub": "date_sub('month', t, t + interval 40 days)", "date_trunc": "date_trunc('day', t)",
    "datediff": "datediff('day', t, t + interval 20 hours)", "datepart": "datepart('hour', t)", "datesub": "datesub('day', t, t + interval 30 hours)",
    "datetrunc": "datetrunc('month', t)", "generate_series": "generate_series(t, t + interval 3 days, interval 1 day)",
    "make_timestamptz": "make_timestamptz(2024, 3, 10, 2, 30, 0.0)", "range": "range(t, t + interval 3 days, interval 1 day)",
    "strftime": "strftime(t, '%c %x %X %A %B %Z %z %U %W %j')", "time_bucket": "time_bucket(interval 1 month, t)", "timezone": "timezone('America/New_York', t)",
}


def test_a_function_that_reads_the_zone_answers_alike_in_every_place() -> None:
    calls = [ZONED_CALLS.get(name, f"{name}(t)") for name in sorted(ZONED)]
    program = (
        "import sys; from warehouse.transform.sql.duck import connect\n"
        f"sql = 'select ' + ', '.join('(' + call + ')::varchar' for call in {calls!r}) + \" from (select timestamptz '2024-12-31 20:30:00Z' as t)\"\n"
        "print(connect().execute(sql).fetchall())"
    )
    answers = [
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, env=os.environ | place).stdout
        for place in ({"TZ": "UTC", "LC_ALL": "C"}, {"TZ": "Asia/Kathmandu", "LC_ALL": "th_TH.UTF-8"})
    ]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("name", sorted(VARYING))
def test_a_varying_function_is_refused_wherever_it_stands(name: str, con: duckdb.DuckDBPyConnection) -> None:
    assert refusal(con, f"select 1 as a from t where {name}() is null") == "WH226"
    assert refusal(con, f"with c as (select a from t order by main.{name.upper()}(1)) select * from c") == "WH226"


def test_words_that_are_functions_without_brackets(con: duckdb.DuckDBPyConnection) -> None:
    # Some are neither in the engine's list of keywords nor in that of functions.
    words = {row[0] for row in con.execute("select keyword_name from duckdb_keywords()").fetchall()} | VARYING_WORDS
    words |= functions(con, "function_type in ('scalar', 'macro') and regexp_full_match(function_name, '[a-z_]+')")
    assert {word for word in words if is_a_value(con, word)} == VARYING_WORDS | CONSTANT_WORDS
    assert {word for word in VARYING_WORDS if refusal(con, f"select {word} as a") != "WH226"} == set()


def is_a_value(con: duckdb.DuckDBPyConnection, word: str) -> bool:
    """Whether a word means something by itself, as a name of a column would."""
    (document,) = parsed(con, [f"select {word}"])
    if "'class': 'COLUMN_REF'" not in str(document):
        return False
    try:
        con.execute(f"explain select {word}")
    except duckdb.Error:
        return False
    return True


# SQL, and the code it is refused with.
OTHER_WAYS = {
    "age to this day": ("select age(started_at) as a from t", "WH226"),
    "age between two": ("select age(ended_at, started_at) as a from t", None),
    "a sample": ("select a from t using sample 10%", "WH226"),
    "a sample of a table": ("select a from t tablesample reservoir(5 rows)", "WH226"),
    "a sample of a query": ("select a from (select a from t) tablesample 5 rows", "WH226"),
    "a sample with a seed": ("select a from t using sample reservoir(5 rows) repeatable (7)", None),
    "a sample of a table with a seed": ("select a from t tablesample bernoulli(10%) repeatable (7)", None),
    "a function in capitals": ("select Now() as a", "WH226"),
    "a word in capitals": ("select Current_Date as a", "WH226"),
    "in a lambda": ("select list_transform([1], lambda x: x + random()) as a", "WH226"),
    "in a filter": ("select count(*) filter (where random() > 0.5) as n from t", "WH226"),
    "in a window": ("select row_number() over (order by random()) as n from t", "WH226"),
    "in an argument of a call": ("from range(extract(year from now())::int)", "WH226"),
    "a column of that name": ("select t.current_date, t.random from t", None),
    "the engine's catalog": ("from duckdb_tables()", "WH220"),
    "an unknown function is the binder's": ("from no_such_function(1)", None),
}


@pytest.mark.parametrize("case", OTHER_WAYS)
def test_other_ways_to_answer_otherwise(case: str, con: duckdb.DuckDBPyConnection) -> None:
    sql, code = OTHER_WAYS[case]
    assert refusal(con, sql) == code


@pytest.mark.parametrize("name", sorted(FILE_FUNCTIONS))
def test_a_file_function_s_paths_are_constants(name: str, con: duckdb.DuckDBPyConnection) -> None:
    (read,) = read_by(con, f"select * from {name}(['a', 'b']) as f").files
    assert (read.call, read.patterns) == (f"{name}(['a', 'b'])", ("a", "b"))
    assert [refusal(con, f"from {name}({path})") for path in ("'a' || 'b'", "['a'][1:1]", "$1", "")] == ["WH220"] * 4


@pytest.mark.parametrize("name", sorted(UNTRACKED_FUNCTIONS))
def test_an_untracked_function_is_refused(name: str, con: duckdb.DuckDBPyConnection) -> None:
    assert refusal(con, f"select * from t, {name}('a')") == "WH220"


@pytest.mark.parametrize("name", sorted(PURE_FUNCTIONS))
def test_a_pure_function_reads_nothing(name: str, con: duckdb.DuckDBPyConnection) -> None:
    assert read_by(con, f"select * from {name}('a')") == Readings()
