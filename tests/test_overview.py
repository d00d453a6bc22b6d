"""The home page: what moved, what is new, what is published and whether it holds, and the results of each kind of evidence."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import duckdb
from samples.nightly import NIGHTS, nightly_project
from samples.served import served_project
from serving import client
from test_analysis_pages import asked, table

from warehouse.surfaces.parts import Facts, Page, Table
from warehouse.surfaces.view import utc_now
from warehouse.surfaces.views.facts.reading import Reader
from warehouse.surfaces.views.overview.others import other_parts


def card(page: Page, name: str) -> Any:
    (cards,) = [part for part in page.parts if isinstance(part, Facts) and part.form == "cards"]
    return next(each for each in cards.items if each.name == name)


def test_what_moved_in_the_past_days_comes_first_and_the_configuration_says_so() -> None:
    page = asked(nightly_project(), "overview", now=utc_now())
    assert page.parts[0].name == "now" and page.parts[1].name == "events"
    assert card(page, "moved").value >= 1 and card(page, "moved").tone == "bad" and "way=worse" in card(page, "moved").link
    assert all(each["way"] == "slower" for each in table(page, "events"))
    (row,) = table(page, "configurations")
    assert row["name"] == "decoder-7b · 8×H100" and row["worth"].startswith("slower since ") and row["load"].startswith("8 in flight")
    assert len(row["trend"]["values"]) == 2 * NIGHTS and row["number_id"].startswith("n-")


def test_published_numbers_hold_until_the_build_has_others() -> None:
    project = nightly_project()
    held = card(asked(project, "overview", now=utc_now()), "published")
    assert held.value > 0 and held.tone == "good" and "the current build holds all of them" in held.note


def test_there_is_a_section_for_what_the_warehouse_has_and_none_for_what_it_lacks() -> None:
    page = asked(served_project(), "overview", now=utc_now())
    names = {part.name for part in page.parts}
    assert {"configurations", "indicators"} <= names
    assert not names & {"fabric", "pairs", "mlperf_training", "mlperf_inference", "nodes"}
    first = table(page, "indicators")[0]  # not the least or the greatest of its kind
    assert (first["called"], first["unit"]) == ("Elapsed", "ms") and first["median"] > 0 and first["number"].startswith("n-")


RESULTS = """
create schema rollup; create schema catalog;
create table catalog.model as select 'main' as schema_name, 'measurement' as name, 'measurements' as role;
create table main.measurement as select 'elapsed_ms' as metric, 'ms' as unit;
create table rollup.indicator_results as
select
    'Sum' as indicator, 'elapsed_ms' as result_key, 6 as run_count, 1.5 as median, 1.0 as interval_low, 2.0 as interval_high,
    timestamptz '2026-01-01' as last_run_at, map {'median': number} as number_ids, 'cpu' as component, 'n=1' as parameters,
    repeat('a', 64) as hardware_topology_key, repeat(software, 64) as software_version_key
from (values ('n-1', 'c'), ('n-2', 'd')) as run (number, software)
"""


def test_two_results_of_an_indicator_that_differ_only_in_software_say_so() -> None:
    with duckdb.connect() as con:
        con.execute(RESULTS)
        (part,) = other_parts(Reader(con, cast(Any, SimpleNamespace(of_build=lambda name, make: make()))))
    assert isinstance(part, Table)
    assert [each["apart"] for each in part.records()] == ["software cccccccc…", "software dddddddd…"]


def test_the_home_page_is_the_overview_and_every_door_of_it_opens() -> None:
    with client(served_project()) as visitor:
        home = visitor.get("/").text
        assert "<h1>Overview</h1>" in home
        places = {part.split('"')[0] for part in home.partition("<main")[2].split('href="/')[1:]}
        wrong = [place for place in places if visitor.get("/" + place.replace("&amp;", "&")).status_code != 200]
    assert not wrong


def test_the_metrics_to_choose_from_stand_in_one_order() -> None:
    (offered,) = (part.items for part in asked(nightly_project(), "changes").parts if isinstance(part, Facts) and part.name == "metric")
    listed = [(-int(str(each.value)), each.title) for each in offered if each.value is not None]
    assert len(listed) > 2 and listed == sorted(listed)  # the order of a set differs from one process to the next
