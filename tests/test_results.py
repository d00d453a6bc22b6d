"""Results: the rows of a rollup, chosen by facets, sorted, with the numbers behind them."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import cast

import pytest
from samples.served import served_project
from serving import client
from test_analysis_pages import asked, table

from warehouse.analysis.metric_names import MetricNames
from warehouse.claims.publish.specification import Units
from warehouse.errors import WarehouseError
from warehouse.surfaces.html.components import cell
from warehouse.surfaces.parts import Column
from warehouse.surfaces.view import Visit
from warehouse.surfaces.views.facts.reading import Reader
from warehouse.surfaces.views.results.conditions import read_conditions, where_sql
from warehouse.surfaces.views.results.facets import facet_columns, facets, heading
from warehouse.surfaces.views.results.results import _apart, _asked_first, _name, _named_metrics


def test_every_rollup_has_a_page_whose_figures_are_numbers() -> None:
    page = asked(served_project(), "results_of", query="indicator_results")
    columns = {column.name: column for column in page.table("rows").columns}
    assert columns["median"].link == "/numbers/{number_of_median}" and columns["median"].sort.endswith("sort=-median")
    assert all(row["number_of_median"].startswith("n-") for row in table(page, "rows"))
    home = asked(served_project(), "results")
    assert home.title == "Serving results" and all("·" in row["name"] or row["name"] for row in table(home, "rows"))


def test_a_facet_counts_the_rows_that_the_other_conditions_leave() -> None:
    import duckdb

    with duckdb.connect() as con:
        rows = "('a', 'H100', 'x'), ('a', 'H200', 'x'), ('b', 'H100', 'x'), (null, 'H100', 'x')"
        con.execute(f"create table result as from (values {rows}) as row (model, gpu, one)")
        found = Reader(con, cast(Visit, None))
        columns = [("model", "VARCHAR"), ("gpu", "VARCHAR"), ("one", "VARCHAR")]
        assert facet_columns(found, "result", columns) == ["model", "gpu"]  # all rows have the same value of the third
        chosen = read_conditions("gpu=H100", ("model", "gpu"))
        groups = {group.title: group.items for group in facets(found, "result", ("model", "gpu"), chosen, str)}
    assert [(item.title, item.value, item.link) for item in groups["model"]] == [
        ("a", "1", "gpu=H100,model=a"), ("b", "1", "gpu=H100,model=b"), ("not stated", "1", "gpu=H100,model="),
    ]
    assert [(item.title, item.value, item.link) for item in groups["gpu"]] == [("H100", "3", None), ("H200", "1", "gpu=H200"), ("any", None, "None")]


def test_a_rollup_without_a_figure_says_why_and_what_ends_it() -> None:
    page = asked(served_project(), "results_of", query="serving_costs")
    (notice,) = page.notices
    assert re.fullmatch(r"No row has a cost: (accelerator not stated|no price) in .*\. No price until a price list is ingested, .*", notice)


def test_values_that_look_the_same_are_no_facet_and_units_stand_once() -> None:
    import duckdb

    with duckdb.connect() as con:
        con.execute("create table result as select repeat('x', 50) || i as parameters, 'm' || i as model from range(3) as each (i)")
        groups = list(facets(Reader(con, cast(Visit, None)), "result", ("parameters", "model"), (), str))
    assert [group.title for group in groups] == ["model"]
    named = [heading("peak_bus_bandwidth_gb_per_s", "GB/s"), heading("variation_pct", "%"), heading("official_minutes", "min"), heading("rows_s")]
    assert named == ["peak bus bandwidth", "variation", "official", "rows s"]


def test_a_long_value_is_cut_and_all_of_it_is_said_on_hover() -> None:
    shown = cell(Column("parameters", most=20), {"parameters": "cpu=<1>, " * 9}, str)
    assert shown == f'<span title="{"cpu=&lt;1&gt;, " * 9}">cpu=&lt;1&gt;, cpu=&lt;1&gt;, c…</span>'


def test_rows_are_sorted_with_those_without_a_value_last() -> None:
    ordered = [row["ttft_p50_ms"] for row in table(asked(served_project(), "results_of", query="serving_results", sort="-ttft_p50_ms"), "rows")]
    known = [each for each in ordered if each is not None]
    assert known == sorted(known, reverse=True) and ordered[: len(known)] == known


@pytest.mark.parametrize(("text", "meant"), [
    ("model=lab/a", {"lab/a"}), ("model=lab/*", {"lab/a", "lab/b,c"}), ("model=lab/b,c", {"lab/b,c"}), ("model=", {None}),
    ("model!=lab/a", {"lab/b,c", None}), ("model=lab/*,size=2", {"lab/b,c"}), ("model='or 1=1 --", set()),
])
def test_conditions_choose_the_rows_that_they_say(text: str, meant: set[str | None]) -> None:
    import duckdb

    where, values = where_sql(read_conditions(text, ("model", "size")))
    sql = f"select model from (values ('lab/a', 1), ('lab/b,c', 2), (null, 3)) as row (model, size) where {where}"
    assert {model for (model,) in duckdb.execute(sql, values).fetchall()} == meant


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(WarehouseError, match="no column modell"):
        read_conditions("modell=a", ("model",))
    with client(served_project()) as visitor:
        assert visitor.get("/results/serving_results?sort=nothing").status_code == 400
        assert visitor.get("/results/no_such").status_code == 404


def test_rows_of_one_name_say_what_they_differ_in() -> None:
    found = cast(Reader, SimpleNamespace(grain=lambda table: frozenset({"indicator", "hardware_topology_key", "parameters"})))
    kinds = {"indicator": "VARCHAR", "hardware_topology_key": "VARCHAR", "parameters": "VARCHAR", "median": "DOUBLE"}
    rows = [dict(zip(kinds, row, strict=True)) for row in (("Sum", "a" * 64, "n=1", 1.0), ("Sum", "b" * 64, "n=1", 2.0), ("Scan", "a" * 64, "n=1", 3.0))]
    assert _apart(found, "rollup.r", rows, kinds, ["median"]) == ["hardware topology aaaaaaaa…", "hardware topology bbbbbbbb…", None]
    assert _apart(found, "rollup.r", rows[:2], kinds, ["hardware_topology_key"]) == [None, None]  # it stands beside them


def test_a_row_is_not_called_by_a_digest() -> None:
    assert _name({"curve_key": "ab" * 32, "load_kind": "request_rate", "load": 1.0, "note": None}, {}) == "not stated"


def test_a_row_of_one_metric_has_its_name_and_a_unit_that_only_the_name_states() -> None:
    names = MetricNames(suffixes={"_us": "us", "_ms": "ms"})
    found = cast(Reader, SimpleNamespace(metric_names=names))
    rows = [{"result_key": "batch_latency_us", "unit": None}, {"result_key": "sum_count", "unit": None}, {"result_key": None, "unit": "W"}]
    named = _named_metrics(found, rows, ["result_key", "median", "unit"])
    assert named["unit"] == ["µs", None, "W"]  # a unit is read, never guessed
    assert named["result_key"][0] == "Batch latency" and named["result_key"][2] is None
    assert _named_metrics(found, rows, ["median"]) == {}


def test_a_number_claimed_of_a_column_has_the_unit_of_that_column() -> None:
    units = Units(claimed={"performance_as_logged": "performance"})
    row = {"performance_unit": "Tokens/s"}
    assert units.of("performance_as_logged", row) == "Tokens/s"
    assert units.of("performance_sample_count", row) is None


def test_rows_with_the_figure_that_a_rollup_is_read_for_come_first() -> None:
    described: dict[str, tuple[str | None, str]] = {"cost_reason": (None, "Why a cost is NULL: no-price until a price list is ingested"), "cost_usd": ("USD", "")}
    assert _asked_first(described, ["ttft_ms", "cost_usd", "cost_per_token_usd"]) == ["cost_usd"]
    assert _asked_first(described, ["ttft_ms"]) == []  # not of figures that the page does not show
