"""`wh docs`: the site says what the project says, escapes all of it, and opens from disk without network."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import offline_page

from warehouse.cli.main import main
from warehouse.errors import WarehouseError
from warehouse.project.making import init_project
from warehouse.project.project import Project, standard_folder
from warehouse.transform.build.build import build
from warehouse.transform.check.project_check import CheckedProject
from warehouse.transform.export.describe import describe_project, with_current_build
from warehouse.transform.export.description import ProjectDescription
from warehouse.transform.export.docs.column_tree import Uses, shared_conditions, sources, uses_of_columns
from warehouse.transform.export.docs.graph_drawing import Drawing, connected_part, contracted, draw, neighbourhood
from warehouse.transform.export.docs.pages import page_files, page_name
from warehouse.transform.export.docs.site import write_site
from warehouse.transform.export.docs.sql_markup import sql_markup
from warehouse.transform.project.graph import Graph
from warehouse.transform.project.model import Model

HOSTILE = "<script>alert('x')</script><i>&amp;"
FILES = {
    "models/staging/host_reading.sql": """\
/*
feeds: reading
*/
-- <i>a comment</i> that "stays"
select 'r1' as run_id, 12.5::double as power_w""",
    "models/facts/power_fact.sql": f"""\
/*
description: "One row per run. {HOSTILE}"
grain: [run_id]
collects: reading
tags: [nightly]
columns:
  run_id: {{type: varchar, description: "The run", tests: [not_null, unique]}}
  power_w: {{type: double, unit: W, description: "Mean power {HOSTILE}", tests: [{{range: {{min: 0}}}}]}}
*/
select * from feed.reading""",
    "models/marts/odd.sql": """\
select power_w as "a <i> 'c' ""d"" e", '</pre><script>' as text, power_w < 3 as is_low from power_fact""",
    "queries/mean_power.sql": """\
/*
description: Mean power over runs
grain: [unit]
claim: {what: the mean power, population: all runs}
*/
select 'W' as unit, avg(power_w) as mean_w from power_fact""",
}
LINEAGE = {
    ("main.power_fact", "power_w"): [("feed.reading", "power_w", "value")],
    ("feed.reading", "power_w"): [("staging.host_reading", "power_w", "value")],
    ("rollup.mean_power", "mean_w"): [("main.power_fact", "power_w", "value"), ("main.power_fact", "run_id", "condition")],
}


def write(project: Project, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def described(project: Project) -> ProjectDescription:
    return replace(with_current_build(project, describe_project(project)), lineage=LINEAGE)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = init_project(tmp_path_factory.mktemp("docs") / "power <lab>", bare=True)
    write(project, FILES)
    build(project)
    return project


@pytest.fixture(scope="module")
def site(project: Project) -> Path:
    return write_site(project.root / "site", described(project)).parent


@pytest.fixture(scope="module")
def standard_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = Project(standard_folder(), "standard", Path("store"), Path("builds"), 1, True)
    return write_site(tmp_path_factory.mktemp("standard") / "site", describe_project(project)).parent


class Reader(HTMLParser):
    """What a browser would see: elements, their ids, addresses, and the text outside scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("dt", "dd", "td", "li", "p"):
            self.text += " "

    def handle_data(self, data: str) -> None:
        self.text += data

    @cached_property
    def ids(self) -> list[str]:
        return [attributes["id"] or "" for _, attributes in self.elements if "id" in attributes]

    @property
    def addresses(self) -> list[str]:
        found = [attributes.get(name) for _, attributes in self.elements for name in ("href", "src")]
        return [address for address in found if address is not None]


def read(path: Path) -> Reader:
    return Reader(path.read_text(encoding="utf-8"))


def said(site: Path, page: str) -> str:
    """The page's text, blanks in one."""
    return " ".join(read(site / page).text.split())


# --- what the pages say ------------------------------------------------------------------------------------------


def test_a_table_page_says_what_header_check_and_build_know(site: Path) -> None:
    text = said(site, "tables/main.power_fact.html")
    assert f"One row per run. {HOSTILE}" in text
    assert "one row per run_id" in text
    assert "Rows 1" in text and "tag nightly" in text and "models/facts/power_fact.sql" in text
    assert f"power_w DOUBLE W Mean power {HOSTILE}" in text
    assert "run_id not_null holds" in text
    assert 'range {"min": 0}' in text
    assert "Reads feed.reading" in text and "Read by mart.odd, rollup.mean_power" in text


def test_lineage_is_told_up_and_down(site: Path) -> None:
    text = said(site, "tables/rollup.mean_power.html")
    assert "made of main.power_fact.power_w, under 1 condition" in text
    assert "main.power_fact.power_w main.power_fact.run_id condition" in text  # one step: the page of each source goes on
    below = said(site, "tables/main.power_fact.html")
    assert "made of feed.reading.power_w goes into rollup.mean_power.mean_w" in below
    assert "a condition in 1 table rollup.mean_power condition of 1 column" in below


def test_the_claim_and_the_sql_of_a_query_are_shown(site: Path) -> None:
    text = said(site, "tables/rollup.mean_power.html")
    assert "what the mean power population all runs" in text
    assert text.count("select 'W' as unit, avg(power_w) as mean_w from power_fact") == 1
    assert "grain:" not in text  # the header is told in words


def test_a_page_without_a_build(project: Project, tmp_path: Path) -> None:
    folder = write_site(tmp_path / "site", replace(described(project), last_build=None)).parent
    assert not (folder / "run_results.json").exists()
    assert "not run" in said(folder, "tables/main.power_fact.html")
    assert "Nothing has been built yet" in said(folder, "index.html")


def test_a_model_edited_since_the_build_has_no_results(tmp_path: Path) -> None:
    project = init_project(tmp_path / "edited", bare=True)
    write(project, {"models/a.sql": "/*\ngrain: [n]\n*/ select 1 as n", "models/b.sql": "/*\ngrain: [n]\n*/ select 2 as n"})
    build(project)
    write(project, {"models/a.sql": "/*\ngrain: [n, m]\n*/ select 1 as n, 2 as m"})
    description = with_current_build(project, describe_project(project))
    assert list(description.outcomes) == ["main.b"]
    assert list(description.promise_outcomes) == ["b.grain"]


SAMPLES = {
    "models/staging/thing.sql": """\
/*
grain: [k]
columns:
  k: {type: integer, unit: ms, description: "The key"}
  name: {type: varchar, description: "Its name"}
  x: {type: double, description: "A float"}
*/
select (6 - i)::integer as k, case i when 6 then null when 5 then 'NULL' else '<b>' || repeat('n', i * 30) end as name, i / 2 as x
from range(7) as r (i)""",
    "models/facts/fact.sql": "select *, [k] as ks, x > 1 as is_big from thing where k < 2",
    "models/facts/nothing.sql": "select * from fact where false",
}


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = init_project(tmp_path_factory.mktemp("samples") / "project", bare=True)
    write(project, SAMPLES)
    build(project)
    description = with_current_build(project, describe_project(project))
    return write_site(project.root / "site", description).parent


def test_a_few_rows_are_shown_in_the_order_of_the_grain(sampled: Path) -> None:
    text = said(sampled, "tables/staging.thing.html")
    assert "Sample rows 3 of 7, in the order of the grain" in text
    long = f"<b>{'n' * 120}"
    assert f"0 NULL 3.0 1 NULL 2.5 2 {long[:79]}… 2.0" in text
    page = read(sampled / "tables/staging.thing.html")
    assert [attributes["title"] for tag, attributes in page.elements if tag == "td" and "title" in attributes] == [long]
    # A value that is missing is no text of that name.
    assert [attributes.get("class") for tag, attributes in page.elements].count("null") == 1
    fact = said(sampled, "tables/main.fact.html")
    assert "Sample rows all of them" in fact and "0 NULL 3.0 [0] true 1 NULL 2.5 [1] true" in fact


def test_what_is_not_used_here_is_folded_into_one_page(sampled: Path) -> None:
    assert not (sampled / "tables/main.nothing.html").exists()
    text = said(sampled, "unused.html")
    assert "main 1" in text and "nothing" in text
    names = {node["name"] for node in json.loads((sampled / "manifest.json").read_text())["nodes"].values()}
    assert "thing" in names and "nothing" not in names
    index = (sampled / "assets/search-index.js").read_text()
    assert "unused.html#main.nothing" in index


def test_rows_of_a_landing_table_or_of_an_edited_model_are_not_shown(project: Project, tmp_path: Path) -> None:
    description = described(project)
    assert "staging.host_reading" in description.samples and "feed.reading" in description.samples
    edited = replace(description, samples={})
    assert "Sample rows" not in said(write_site(tmp_path / "site", edited).parent, "tables/main.power_fact.html")


def test_what_a_landing_table_always_has_is_described() -> None:
    description = replace(chain(1), landing={"value": {"key": "VARCHAR", "raw_path": "VARCHAR", "raw_offset": "BIGINT"}})
    columns = description.tables["value"].columns.values()
    assert [(each.name, each.unit, bool(each.description)) for each in columns] == [
        ("key", None, False), ("raw_path", None, True), ("raw_offset", "bytes", True)
    ]


def test_a_feeder_is_described_as_its_feed_is(site: Path) -> None:
    assert f"power_w DOUBLE W Mean power {HOSTILE}" in said(site, "tables/staging.host_reading.html")


def test_tables_for_people_are_open_and_steps_in_between_have_a_page(site: Path) -> None:
    parts = re.split(r'<details class="folded">|</details>', (site / "index.html").read_text().partition("<main")[2])
    opened, folded = "".join(parts[::2]), "".join(parts[1::2])
    assert re.findall(r'id="schema-(\w+)"', opened) == ["rollup", "mart", "main"]
    assert re.findall(r'id="schema-(\w+)"', folded) == ["landing"]
    assert re.findall(r'id="schema-(\w+)"', (site / "steps.html").read_text()) == ["staging", "feed"]
    for page, listed in (("main.power_fact", True), ("staging.host_reading", False)):  # beside it, the tables of its own schema if people ask for them
        aside = (site / f"tables/{page}.html").read_text().partition("<main")[0]
        assert (f"tables/{page}.html" in aside) == listed and aside.count("tables/") == listed


def test_the_graph_starts_with_tables_for_people(site: Path) -> None:
    page = read(site / "graph.html")
    assert {attributes["data-table"] for tag, attributes in page.elements if "data-table" in attributes} == {
        "main.power_fact", "mart.odd", "rollup.mean_power"
    }


# --- what the pages are ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["site", pytest.param("standard_site", marks=pytest.mark.exhaustive)])
def test_every_address_is_local_and_leads_somewhere(which: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(which)
    pages = {path.resolve(): read(path) for path in folder.rglob("*.html")}
    assert len(pages) == len(list((folder / "tables").iterdir())) + 4
    for path, page in pages.items():
        assert len(page.ids) == len(set(page.ids)), path
        for address in page.addresses:
            parts = urlsplit(address)
            assert parts.scheme in ("", "data") and not parts.netloc, (path, address)
            if parts.scheme == "data":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), (path, address)
            if parts.fragment and not parts.fragment.startswith("find="):  # which is the graph's state
                assert unquote(parts.fragment) in pages[target].ids, (path, address)


def test_nothing_of_the_project_becomes_markup(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = read(path)
        assert all("src" in attributes for tag, attributes in page.elements if tag == "script"), path
        assert "i" not in {tag for tag, _ in page.elements}, path
        assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]


def test_the_style_asks_for_nothing(site: Path) -> None:
    for path in (site / "assets").iterdir():
        text = path.read_text().replace('xmlns="http://www.w3.org/2000/svg"', "")  # a name, which nothing asks for
        assert not re.search(r"https?:|url\((?!#)|@import|fetch\(|XMLHttp", text), path


def test_a_page_s_size_does_not_grow_with_the_project() -> None:
    def page(count: int) -> int:
        return next(len(text) for name, text in page_files(chain(count)) if name == "tables/main.m0030.html")

    assert page(4000) < page(400) * 1.01


def chain(count: int) -> ProjectDescription:
    """A project of `count` models, each of which reads the one before it."""
    models = {f"m{i:04}": Model(f"m{i:04}", "main", f"models/m{i:04}.sql", "select 1 as a") for i in range(count)}
    names = list(models)
    reads = {name: frozenset(names[max(0, i - 1) : i]) for i, name in enumerate(names)}
    graph = Graph(tuple(names), reads, dict.fromkeys(names, frozenset()), dict.fromkeys(names, ()), {})
    return ProjectDescription("chain", CheckedProject(models, graph, dict.fromkeys(names, {"a": "INTEGER"})), {})


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "A", "a-2f-b", "é", 'x"y'])
def test_a_page_stays_in_its_folder_and_is_one_table_s(name: str) -> None:
    others = ["a", "a-b", "a_b", "a.b", "-2f-", "ab"]
    assert re.fullmatch(r"[a-z0-9_.-]+\.html", page_name(name)) and "/" not in page_name(name)
    assert page_name(name) not in map(page_name, others)


# --- the folder --------------------------------------------------------------------------------------------------


def test_a_folder_with_other_files_is_left_alone(project: Project, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(WarehouseError) as caught:
        write_site(tmp_path, described(project))
    assert (caught.value.code, caught.value.place) == ("WH227", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_table_that_is_gone_has_no_page_any_more(project: Project, tmp_path: Path) -> None:
    folder = write_site(tmp_path / "site", chain(3)).parent
    write_site(folder, chain(2))
    assert sorted(path.name for path in (folder / "tables").iterdir()) == ["main.m0000.html", "main.m0001.html"]


def test_the_command(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--project", str(project.root), "docs"]) == 0
    out, err = capsys.readouterr()
    assert out == f"{project.root}/.wh/docs/index.html\n"
    assert "landing" not in out and "with the last build's results" in err
    assert {"index.html", "graph.html", "manifest.json", "run_results.json"} <= {
        path.name for path in (project.root / ".wh" / "docs").iterdir()
    }
    assert main(["--project", str(project.root), "docs", "-o", str(project.root / "elsewhere")]) == 0
    assert (project.root / "elsewhere" / "index.html").is_file()


# --- SQL as markup -----------------------------------------------------------------------------------------------


def test_marked_up_sql_reads_as_it_is_written() -> None:
    for folder in ("models", "queries"):
        for path in (standard_folder() / folder).rglob("*.sql"):
            text = path.read_text()
            assert Reader(str(sql_markup(text, {}))).text == text


# SQL, and the addresses that it links, given pages for run, feed.x and odd.
LINKED = {
    "select run.a from run": ["run"],
    "select a from main.Run join \"odd\" on true": ["run", "odd"],
    "select * from feed.x": ["feed.x"],
    "select run from other": [],
    "select 'from run' -- from run": [],
    "with run as (select 1) select 2": [],
}


@pytest.mark.parametrize("sql", LINKED)
def test_tables_in_sql_are_links(sql: str) -> None:
    pages = {"run": "run", "main.run": "run", "feed.x": "feed.x", "odd": "odd"}
    assert Reader(str(sql_markup(sql, pages))).addresses == LINKED[sql]


# --- what a column is made of ----------------------------------------------------------------------------------------


def test_conditions_of_all_columns_are_said_once() -> None:
    where = ("f", "status", "condition")
    lineage = {
        ("t", "a"): [("f", "a", "value"), where], ("t", "b"): [("f", "b", "value"), ("f", "k", "condition"), where], ("t", "only"): [],
    }
    columns = [sources(lineage, "t", column) for column in ("a", "b", "only")]
    shared = shared_conditions(columns)
    assert shared == (("f", "status"),)
    a, b, _ = (each.without(shared) for each in columns)
    assert (a.values, a.conditions) == ((("f", "a"),), ()) and b.conditions == (("f", "k"),)
    assert shared_conditions(columns[:1]) == ()


def test_the_lineage_turned_round_counts_conditions_by_table() -> None:
    lineage = {("t", "a"): [("f", "a", "value"), ("f", "k", "condition")], ("t", "b"): [("f", "a", "value"), ("f", "k", "condition")]}
    uses = uses_of_columns(lineage)
    assert uses["f", "a"] == Uses((("t", "a"), ("t", "b"))) and uses["f", "k"] == Uses((), {"t": 2})


# --- the drawing -------------------------------------------------------------------------------------------------

GRAPHS: dict[str, dict[str, list[str]]] = {
    "one": {"a": []},
    "a diamond with a long way round": {"a": [], "b": ["a"], "c": ["b"], "d": ["a", "c"], "e": ["d", "a"], "lonely": []},
    "all read one": {"hub": [], **{f"m{i:02}": ["hub"] for i in range(40)}},
    "each reads all before": {f"m{i:02}": [f"m{j:02}" for j in range(i)] for i in range(25)},
    "a chain of five thousand": {f"m{i:04}": [f"m{i - 1:04}"] if i else [] for i in range(5000)},
}


@pytest.mark.parametrize("case", GRAPHS)
def test_a_drawing_runs_from_left_to_right_and_nothing_overlaps(case: str) -> None:
    reads = GRAPHS[case]
    drawing = draw({name: name for name in reads}, reads)
    boxes = {box.name: box for box in drawing.boxes}
    assert boxes.keys() == reads.keys()
    assert {(arrow.source, arrow.target) for arrow in drawing.arrows} == {(p, n) for n in reads for p in reads[n]}
    for arrow in drawing.arrows:
        assert boxes[arrow.source].x + boxes[arrow.source].width < boxes[arrow.target].x
    columns: dict[float, list[tuple[float, float]]] = {}
    for box in drawing.boxes:
        assert 0 <= box.x and box.x + box.width <= drawing.width
        assert 0 <= box.y and box.y + box.height <= drawing.height
        columns.setdefault(box.x, []).append((box.y, box.y + box.height))
    for column in columns.values():
        column.sort()
        assert all(upper[1] < lower[0] for upper, lower in pairwise(column))


def test_the_same_graph_gives_the_same_drawing() -> None:
    def drawn(reads: Mapping[str, list[str]]) -> Drawing:
        return draw({name: name for name in reads}, reads)

    reads = GRAPHS["a diamond with a long way round"]
    assert drawn(reads) == drawn({name: reads[name][::-1] for name in reversed(reads)})


def test_a_neighbourhood_is_up_and_down_but_not_round_a_corner() -> None:
    reads = {"a": [], "b": ["a"], "sibling": ["a"], "c": ["b"], "other": [], "d": ["c", "other"]}
    read_by = {"a": ["b", "sibling"], "b": ["c"], "c": ["d"], "other": ["d"], "d": [], "sibling": []}
    assert neighbourhood("b", reads, read_by, 10) == ["b", "a", "c", "d"]
    assert neighbourhood("b", reads, read_by, 3) == ["b", "a", "c"]
    assert set(connected_part(reads, 10)) == set(reads)
    assert connected_part(reads, 3) == ["a", "b", "sibling"]  # of those with two neighbours, the first by name


def test_what_lies_between_becomes_an_arrow() -> None:
    reads = {"a": [], "feed": ["a", "b"], "b": ["a"], "c": ["feed", "step"], "step": ["feed", "a"], "d": ["c"], "alone": []}
    assert contracted(reads, ["a", "b", "c", "d", "alone"]) == {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["c"], "alone": []}
    assert contracted(reads, list(reads)) == reads
    assert contracted(reads, ["d", "a"]) == {"d": ["a"], "a": []}


# --- a real browser, opened from disk, with the network off --------------------------------------------------------


def test_the_site_works_in_a_browser_without_network(site: Path) -> None:
    with offline_page() as page:
        page.open((site / "index.html").as_uri())
        page.press("/")
        page.type("mean power")
        assert page.run("[...document.querySelectorAll('#results [role=option] code')].map(e => e.innerText)")[:2] == [
            "rollup.mean_power", "power_w"
        ]
        page.run("document.getElementById('search').value = ''")
        page.type("is_low")
        page.press("Enter", loads=True)
        assert page.run("location.href") == (site / "tables" / "mart.odd.html").as_uri() + "#column-is_low"
        page.click(".facts a[href*='power_fact']")
        assert page.run("document.querySelector('h1').innerText") == "main.power_fact"
        assert page.run("document.querySelectorAll('svg .box').length") == 5
        assert page.run("document.querySelector('svg .box.here rect').getBoundingClientRect().width") > 50
        width = "document.querySelector('.graph svg').getBoundingClientRect().width"
        before = page.run(width)
        page.run("document.querySelector('[data-zoom=in]').click()")
        assert page.run(width) == pytest.approx(before * 1.25, rel=0.01)
        page.open((site / "graph.html").as_uri())
        page.click("svg .box[data-table='rollup.mean_power']")
        assert page.run("document.title").startswith("rollup.mean_power")
        assert page.run("document.querySelectorAll('script').length") == 2
        assert {urlsplit(address).scheme for address in page.requests} <= {"file", "data"}


SHOWN = "[...document.querySelectorAll('svg .box')].map(box => box.dataset.table).sort()"
ARROWS = "[...document.querySelectorAll('svg .arrow')].map(a => a.dataset.from + (a.classList.contains('through') ? '~' : '-') + a.dataset.to).sort()"
FILTER = "(name, value) => {{ const field = document.querySelector(name); {}; field.dispatchEvent(new Event('input', {{bubbles: true}})); }}"


def test_the_graph_is_filtered_and_its_state_is_in_its_address(site: Path) -> None:
    public = ["main.power_fact", "mart.odd", "rollup.mean_power"]
    with offline_page() as page:
        page.open((site / "graph.html").as_uri())
        assert page.run(SHOWN) == public
        assert page.run(ARROWS) == ["main.power_fact-mart.odd", "main.power_fact-rollup.mean_power"]
        # What one more neighbour is hidden by shows it, and hides it again.
        more = "document.querySelector('svg .more')"
        assert page.run(f"{more}.textContent") == "show 1 more that it reads or that read it+1"
        page.run(f"location.hash = {more}.getAttribute('href')")
        page.run("new Promise(done => setTimeout(done))")
        assert page.run(SHOWN) == ["feed.reading", *public] and page.run("location.hash") == "#open=main.power_fact"
        page.run("history.back()")
        page.run("new Promise(done => setTimeout(done, 50))")
        assert page.run(SHOWN) == public
        # A text finds tables of every schema, and of those shown what hangs on them.
        page.run(f"({FILTER.format('field.value = value')})('[name=find]', 'HOST')")
        assert page.run(SHOWN) == [*public, "staging.host_reading"] and page.run("location.hash") == "#find=HOST"
        assert "staging.host_reading~main.power_fact" in page.run(ARROWS)
        page.run(f"({FILTER.format('field.checked = value')})('[value=main]', false)")
        page.run("new Promise(done => setTimeout(done))")
        assert page.run(SHOWN) == [*public[1:], "staging.host_reading"]
        assert page.run(ARROWS) == ["staging.host_reading~mart.odd", "staging.host_reading~rollup.mean_power"]
        address = page.run("location.href")
        page.open("about:blank")
        page.open(address)
        assert page.run(SHOWN) == [*public[1:], "staging.host_reading"]
        assert page.run("[document.querySelector('[name=find]').value, document.querySelector('[value=main]').checked]") == ["HOST", False]
        page.open("about:blank")
        page.open((site / "graph.html").as_uri() + "#find=%3Cb%3E")
        assert page.run(SHOWN) == [] and "No table" in page.run("document.getElementById('graph-says').innerText")


def test_boxes_of_the_graph_do_not_overlap(standard_site: Path) -> None:
    overlapping = """(() => {
        const boxes = [...document.querySelectorAll('svg .box rect')].map(rect => rect.getBBox());
        return boxes.filter((a, i) => boxes.some((b, j) => i < j && a.x < b.x + b.width && b.x < a.x + a.width
            && a.y < b.y + b.height && b.y < a.y + a.height)).length;
    })()"""
    with offline_page() as page:
        page.open((standard_site / "graph.html").as_uri() + "#schemas=rollup,mart,main,staging,feed,landing")
        assert page.run("document.querySelectorAll('svg .box').length") > 150 and page.run(overlapping) == 0


@pytest.mark.parametrize("name", ["index.html", "tables/rollup.serving_results.html", "tables/staging.run_file.html", "graph.html"])
def test_a_phone_shows_whole_descriptions(name: str, standard_site: Path) -> None:
    cut = "[...document.querySelectorAll('main td *, main p')].filter(e => e.scrollHeight > e.clientHeight + 2 && getComputedStyle(e).overflow === 'hidden').length"
    with offline_page() as page:
        page.send("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
        page.open((standard_site / name).as_uri())
        assert page.run("document.documentElement.scrollWidth") <= 390
        assert page.run("document.querySelectorAll('main td, main p').length") and page.run(cut) == 0


def test_the_browser_test_would_see_a_request() -> None:
    with offline_page() as page:
        page.open("data:text/html,<img src='http://192.0.2.1/picture.png'>")
        assert "http://192.0.2.1/picture.png" in page.requests
