"""How exactly values are determined: the class of each operation by hand, across the models under a query; what determines
nothing is refused, wherever under the query it stands."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from bare_project import write
from exhaustive import few
from samples.values import take_in, value_files, values_project

from warehouse.claims.numbers.lineage import lineage
from warehouse.claims.publish.operations import _EXACT, _EXACT_OF_INTEGERS
from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.cli.main import main
from warehouse.errors import WarehouseError
from warehouse.project.project import Project
from warehouse.trace.provenance.syntax.engine import APPROXIMATE, UNRULED_AGGREGATES
from warehouse.transform.build.build import build
from warehouse.transform.sql.aggregates import AGGREGATES

FILES = ("a=1.5\na=2.25\n", "b=7\nb=0.5\n")

# What only orders, picks or counts, and what adds integers or decimals, is exact; so is arithmetic on one row.
EXACT = {
    "an integer": "count(*)",
    "a maximum": "max(value)",
    "arithmetic with it": "max(value) * 1.1 + sqrt(min(value))",
    "a median between two": "median(value)",
    "a quantile": "quantile_cont(value, 0.99)",
    "a sum of integers": "sum(length(key))",
    "a mean of integers": "avg(length(key))",
    "a sum of decimals": "sum(value::decimal(10, 2))",
    "an ordered list": "list(value order by value)",
    "a sum in the order of what is added": "sum(value order by value)",
    "the value at the largest": "arg_max(value, value)",
    "a deviation of the middle": "mad(value)",
    "a count of rows that a sum chose": "count(*) filter (where value < (select sum(value) from reading))",
}
# What adds floats, and whatever is made of that; the name of the addition is told.
TOLERANT = {
    "a sum": ("sum(value)", "sum"),
    "a mean": ("avg(value)", "avg"),
    "a spread of integers, which are made floats": ("stddev(length(key))", "stddev"),
    "a correlation": ("corr(value, length(key))", "corr"),
    "a slope": ("regr_slope(value, length(key))", "regr_slope"),
    "a kurtosis": ("kurtosis(value)", "kurtosis"),
    "a product": ("product(value)", "product"),
    "a compensated sum": ("fsum(value)", "fsum"),
    "a rounded mean": ("round(avg(value), 3)", "avg"),
    "a maximum of sums": ("(select max(s) from (select sum(value) as s from reading group by key) t)", "sum"),
    "a sum over a window": ("max(sum(value)) over ()", "sum"),
    "a branch of a sum": ("case when count(*) > 1 then sum(value) else 0.5 end", "sum"),
    "a sum in another order": ("sum(value order by raw_offset)", "sum"),
    "an entropy, whose terms are floats whatever it is of": ("entropy(length(key))", "entropy"),
    "a product of integers, which are made floats": ("product(length(key))", "product"),
    "an entropy in an order": ("entropy(key order by key)", "entropy"),
    "two of them": ("avg(value) / sum(value)", "avg in rollup.claim, sum"),
}


def made(root: Path, sql: str, **models: str) -> Project:
    project = values_project(root / "project", sql)
    write(project, {f"models/{name}.sql": text for name, text in models.items()})
    take_in(project, value_files(root / "in", *FILES))
    build(project)
    return project


def classes(root: Path, values: dict[str, str]) -> dict[str, tuple[str, float | None, str | None]]:
    """What the publication of a query of these values says of each."""
    names = {name: f"v{number}" for number, name in enumerate(values)}
    items = ", ".join(f"{sql} as {names[name]}" for name, sql in values.items())
    project = made(root, f"select key, {items} from reading group by key")
    publish(project, "claim")
    columns = publications(project)[0].record["columns"]
    return {name: tuple(columns[short].values()) for name, short in names.items()}


def test_what_is_exact(tmp_path: Path) -> None:
    assert classes(tmp_path, EXACT) == dict.fromkeys(EXACT, ("E", None, None))


def test_what_adds_floats(tmp_path: Path) -> None:
    found = classes(tmp_path, {name: sql for name, (sql, _) in TOLERANT.items()})
    assert found == {name: ("T", 1e-9, f"{told} in rollup.claim") for name, (_, told) in TOLERANT.items()}


# Of these no answer is published whatever the class is: they are refused, or ties are tried of what they hand on.
REFUSED = APPROXIMATE | UNRULED_AGGREGATES | frozenset(name for name in AGGREGATES if "approx" in name) | {"combine_aggr"}
TRIED = frozenset(
    "any_value arbitrary arg_max arg_min argmax argmin array_agg first group_concat last list listagg max_by min_by mode string_agg".split()
)
# As arguments; v are floats that lose bits when they are added, n integers, t text.
ARGUMENTS = ("v", "n", "t", "n > 2", "n::decimal(10, 2)", "v, n", "n, v", "n, 3", "n, 0.5", "v, 0.5", "v, [0.1, 10]", "")

COUNTED = {"v, n", "n, v"}  # of min and max the second says how many values are taken: such a column is refused


def answers(name: str, arguments: str, con: duckdb.DuckDBPyConnection) -> set[str]:
    """What an aggregate gives over the same rows in other orders; nothing where it takes no such arguments."""
    found = set()
    try:
        for order in range(12):
            con.execute(f"create or replace table shuffled as from rows order by hash(id, {order})")
            found.add(repr(con.execute(f"select {name}({arguments}) from shuffled").fetchall()))
    except duckdb.Error:
        return set()
    return found


def test_every_aggregate_of_the_engine_that_depends_on_the_order_of_rows_is_tolerant_tried_or_refused() -> None:
    con = duckdb.connect()
    con.execute("create table rows as select i as id, 1e3 / (1 + i % 17) + 1e12 * (i % 3 - 1) as v, 2 + i * i % 41 as n, 'word ' || i % 13 as t from range(60) r(i)")
    names = {row[0] for row in con.execute("select function_name from duckdb_functions() where function_type = 'aggregate' and function_name ~ '^[a-z]'").fetchall()}
    assert _EXACT | _EXACT_OF_INTEGERS <= names | {"regr_count"} and TRIED <= _EXACT
    con.execute("set threads = 4")
    several = {(name, arguments) for name in names - REFUSED - TRIED for arguments in ARGUMENTS if len(answers(name, arguments, con)) > 1}
    assert {(name, arguments) for name, arguments in several if name in _EXACT} <= {(name, given) for name in ("min", "max") for given in COUNTED}
    assert {arguments for name, arguments in several if name in _EXACT_OF_INTEGERS} == {"v"}
    assert {"sum", "avg", "stddev", "entropy", "product", "skewness"} <= {name for name, _ in several}  # the rows are such that it shows


def test_of_a_sum_of_floats_that_is_no_float_any_more_no_tolerance_makes_sense(tmp_path: Path) -> None:
    found = classes(tmp_path, {"text": "sum(value)::varchar", "integer": "round(sum(value))::int", "list": "[sum(value)]"})
    assert {name: record[:2] for name, record in found.items()} == {"text": ("U", None), "integer": ("U", None), "list": ("T", 1e-9)}


VIEW = "/*\nmaterialized: view\n*/\n"
MEAN = "select key, avg(value) as mean, max(value) as top from reading group by key"


@pytest.mark.parametrize("header", ["", VIEW])
def test_an_operation_in_a_model_under_the_query_counts(header: str, tmp_path: Path) -> None:
    sql = "select a.key, a.mean as mean, b.top as top, a.mean + b.top as both from mean a join best b using (key)"
    project = made(tmp_path, sql, mean=header + MEAN, best="select key, top from mean union all by name select key, top from mean where false")
    publish(project, "claim")
    columns = publications(project)[0].record["columns"]
    told = {"determinism": "T", "tolerance": 1e-9, "why": "avg in main.mean"}
    assert columns == {"mean": told, "both": told, "top": {"determinism": "E", "tolerance": None, "why": None}}


def test_a_value_that_was_only_copied_is_exact_though_others_of_its_column_are_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    models = {
        "copied": "select key, max(value) as v from reading where key = 'a' group by key",
        "averaged": "select key, avg(value) as v from reading where key = 'b' group by key",
        "either": "select * from copied union all by name select * from averaged",
    }
    project = made(tmp_path, "select key, v, v / 2 as half, sum(v) over () as total from either", **models)
    publish(project, "claim")
    (publication,) = publications(project)
    assert publication.record["columns"]["v"] == {"determinism": "T", "tolerance": 1e-9, "why": "avg in main.averaged"}
    exact = {(row.grain["key"], name) for row in publication.rows() for name, cell in row.cells.items() if cell.is_exact}
    assert exact == {("a", "v"), ("a", "half")}
    monkeypatch.setenv("WH_PROJECT", str(project.root))
    for key, told in (("a", "class E"), ("b", "class T, avg in main.averaged")):
        main(["lineage", f"claim[key={key}].v"])
        assert f"│           {told}" in capsys.readouterr().out.splitlines()
        assert main(["verify", f"claim[key={key}].v"]) == 0
        assert capsys.readouterr().out.endswith(f"equal ({told})\n")


def test_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    project = made(tmp_path, "select key, sum(value) as total, max(value) as top from reading group by key")
    monkeypatch.setenv("WH_PROJECT", str(project.root))
    assert main(["publish", "claim", "-v"]) == 0
    err = capsys.readouterr().err.splitlines()
    assert {"class T, sum in rollup.claim, within 1e-09: total", "class E: top"} <= set(err)
    main(["publish", "claim", "--json"])
    assert json.loads(capsys.readouterr().out)["columns"]["total"] == {"determinism": "T", "tolerance": 1e-9, "why": "sum in rollup.claim"}
    for column, told in (("total", "class T, sum in rollup.claim"), ("top", "class E")):
        main(["lineage", f"claim[key=a].{column}"])
        assert f"│           {told}" in capsys.readouterr().out.splitlines()
        main(["verify", f"claim[key=a].{column}"])
        assert capsys.readouterr().out.endswith(f"replayed from its own 1 bundle: equal ({told})\n")


def test_a_declared_tolerance_is_recorded_and_part_of_the_spec(tmp_path: Path) -> None:
    sql = "select key, sum(value) as total from reading group by key"
    project = made(tmp_path, sql)
    before = publish(project, "claim")
    header = "/*\ngrain: [key]\ncolumns:\n  key: {type: varchar}\n  total: {type: double, tolerance: 1e-6}\n*/\n"
    write(project, {"queries/claim.sql": header + sql})
    build(project)
    after = publish(project, "claim")
    assert (before.columns["total"].tolerance, after.columns["total"].tolerance) == (1e-9, 1e-6)
    assert before.query_spec_digest != after.query_spec_digest
    assert lineage(project, "claim[key=a].total").number_id  # the number is the same


@pytest.mark.parametrize("tolerance", few(["0", "-1e-9", "1", "true", "small"], 2))
def test_a_tolerance_is_a_small_number(tolerance: str, tmp_path: Path) -> None:
    sql = "select key, sum(value) as total from reading group by key"
    project = made(tmp_path, sql)
    header = f"/*\ngrain: [key]\ncolumns:\n  key: {{type: varchar}}\n  total: {{type: double, tolerance: {tolerance}}}\n*/\n"
    write(project, {"queries/claim.sql": header + sql})
    with pytest.raises(WarehouseError, match="tolerance is a number between 0 and 1") as caught:
        build(project)
    assert (caught.value.code, caught.value.place) == ("WH201", "queries/claim.sql:5:25")


# Models that give another answer each time, or may, read only to choose rows: no value of theirs is traced. The SQL, the
# reason, and where it stands.
INDETERMINATE = {
    "an approximation": ("select approx_count_distinct(key) as n from reading", "E_APPROX", "1:8"),
    "an approximate quantile": ("select approx_quantile(value, 0.5) as n from reading", "E_APPROX", "1:8"),
    "a sample with a seed": ("select count(*) as n from reading using sample reservoir(3 rows) repeatable (1)", "E_SAMPLE", None),
    "rows in no order": ("select count(*) as n from (select key from reading limit 2) t", "E_LIMIT_UNORDERED", "1:58"),
    "a first of no order": ("select first(value) as n from reading", "E_UNORDERED_AGG", "1:8"),
    "a list of no order": ("select list(value)[1] as n from reading", "E_UNORDERED_AGG", "1:8"),
    "rows listed in no order": ("select array(select value from reading)[1] as n", "E_UNORDERED_AGG", "1:8"),
    "groups listed in no order": ("select list_sum(array(select max(value) from reading group by key)) as n", "E_UNORDERED_AGG", "1:17"),
    "a count that the first row gives": ("select max(value, length(key))[1] as n from reading", "E_UNORDERED_AGG", "1:12"),
    "a tie": ("select arg_max(value, length(key)) as n from reading", "E_TIE", "1:16"),
}


@pytest.mark.parametrize("case", few(INDETERMINATE, 4))
def test_what_determines_nothing_is_refused_wherever_it_stands(case: str, tmp_path: Path) -> None:
    sql, reason, place = INDETERMINATE[case]
    claim = "select key, max(value) as v from reading where (select max(n) from few) > 0 group by key"
    project = made(tmp_path, claim, few=sql)
    with pytest.raises(WarehouseError) as caught:
        publish(project, "claim")
    assert caught.value.code == "WH306" and caught.value.message.startswith(reason)
    assert str(caught.value.place).startswith(f"models/few.sql:{place or ''}")
    assert publications(project) == []


def test_a_comment_changes_nothing_of_it(tmp_path: Path) -> None:
    project = made(tmp_path, "select key, mean from mean", mean=MEAN)
    first = publish(project, "claim")
    write(project, {"models/mean.sql": f"-- the mean of each key\n\n{MEAN}"})
    build(project)
    second = publish(project, "claim")
    assert (second.digest, second.is_new) == (first.digest, False)
