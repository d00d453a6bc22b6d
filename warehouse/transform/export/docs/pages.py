"""The pages of the documentation site, as text: the overview, the graph, one for each table, publication and published row, and what
search looks through.

Every value of the project is data and comes out escaped. A page's size is bounded by its own table, not by the project,
so that thousands of tables make thousands of small pages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from warehouse.transform.export.description import LANDING, ProjectDescription, Table
from warehouse.transform.export.docs.column_tree import Uses, shared_conditions, sources, uses_of_columns
from warehouse.transform.export.docs.graph_drawing import Drawing, connected_part, contracted, draw, neighbourhood
from warehouse.transform.export.docs.published_pages import (
    MOST_FILES,
    digits,
    file_places,
    listed_files,
    overview,
    publication_page,
    replaced,
    row_page,
    short,
    shown_value,
)
from warehouse.transform.export.docs.sql_markup import sql_markup
from warehouse.transform.export.publication_values import Publication, PublishedNumber
from warehouse.transform.project.model import PUBLIC_SCHEMAS, Model
from warehouse.version import __version__

if TYPE_CHECKING:
    import jinja2

_FOLDER = Path(__file__).parent
# The schemas a reader wants first, and what lives in them.
_SCHEMAS = {
    "rollup": "query specs: numbers that can be published",
    "mart": "marts: answers to common questions",
    "main": "facts and dimensions",
    "staging": "what each evidence family states, made ready",
    "feed": "where evidence families meet the canonical tables",
    LANDING: "typed rows straight from the evidence",
}
# Beyond so many tables a sidebar on every page would make the site grow with their square.
_LONGEST_SIDEBAR = 250
_LARGEST_GRAPH = 250
_LARGEST_NEIGHBOURHOOD = 12
_PREFORMATTED, _INDENTATION = re.compile(r"(<pre.*?</pre>)", re.DOTALL), re.compile(r"\n\s+")
_FEW = 3  # columns that stand in one line


def asset_files() -> Iterator[tuple[str, str]]:
    """Path and text of each file that is the same in every site."""
    for path in sorted((_FOLDER / "assets").iterdir()):
        yield f"assets/{path.name}", path.read_text(encoding="utf-8")


def page_files(description: ProjectDescription) -> Iterator[tuple[str, str]]:
    """Path and text of each page, and of the search index."""
    used = description.in_use()
    tables = used.tables
    folded = {name: table for name, table in description.tables.items() if name not in tables}
    addresses = {name: f"unused.html#{quote(name)}" if name in folded else f"tables/{page_name(name)}" for name in description.tables}
    environment = _environment(used, addresses, len(folded))
    labels = {table.name: table.bare_name if table.schema != "feed" else table.name for table in tables.values()}
    reads = {table.name: table.reads for table in tables.values()}
    read_by = {table.name: table.read_by for table in tables.values()}

    def page(template: str, depth: int, title: str, **values: Any) -> str:
        return _dense(environment.get_template(template).render(root="../" * depth, title=title, **values))

    def drawing(names: Iterable[str], reads: Mapping[str, Sequence[str]] = reads) -> Drawing:
        return draw({name: labels[name] for name in names}, reads)

    yield "index.html", page("index.html", 0, "Overview")
    public = {table.schema for table in tables.values()} & set(PUBLIC_SCHEMAS) or {table.schema for table in tables.values()}
    among = contracted(reads, [name for name, table in tables.items() if table.schema in public])
    if environment.globals["steps"]:
        yield "steps.html", page("steps.html", 0, "Steps")
    yield "graph.html", page("graph.html", 0, "Graph", drawing=drawing(connected_part(among, _LARGEST_GRAPH), among))
    uses = uses_of_columns(used.lineage)
    for table in tables.values():
        made_of = {column: sources(used.lineage, table.name, column) for column in table.columns}
        conditions = shared_conditions(made_of.values())
        # Internal tables are many, and say in words what they read and what reads them.
        near = neighbourhood(table.name, reads, read_by, _LARGEST_NEIGHBOURHOOD) if table.schema in public else [table.name]
        yield f"tables/{page_name(table.name)}", page(
            "table.html", 1, table.name,
            table=table,
            neighbours=(("Reads", table.reads, description.tables[table.name].reads),
                        ("Read by", table.read_by, description.tables[table.name].read_by)),
            outcome=description.outcomes.get(table.name),
            sample=description.samples.get(table.name),
            publications=[each for each in description.publications if table.name == f"rollup.{each.query}"],
            drawing=drawing(near),
            is_neighbourhood_cut=len(near) == _LARGEST_NEIGHBOURHOOD,
            made_of={column: each.without(conditions) for column, each in made_of.items()},
            conditions=conditions,
            uses={column: uses.get((table.name, column), Uses()) for column in table.columns},
            promises=[(test, description.promise_outcomes.get(test.name)) for test in table.promises],
            sql=sql_markup(_sql(table.model), _links(table, description.tables, addresses)) if table.model else None,
        )
    if folded:
        yield "unused.html", page("unused.html", 0, "Not used here", folded=_groups(folded.values()))
    yield "published.html", page("published.html", 0, "Published numbers")
    for publication in description.publications:
        shown = overview(publication)
        yield publication_page(publication), page("publication.html", 1, shown.title, publication=publication, shown=shown)
        for place, row in enumerate(publication.rows):
            title = shown.row_titles[place]
            yield row_page(publication, place), page("row.html", 2, title, publication=publication, row=row, place=place)
    yield "assets/search-index.js", search_index(_in_order(tables.values()), _in_order(folded.values()), addresses)
    yield "assets/number-index.js", number_index(description.publications)


def _dense(html: str) -> str:
    """Without the indentation of the templates and empty lines, outside of preformatted text: a twentieth of a site."""
    parts = _PREFORMATTED.split(html)
    return "".join(part if place % 2 else _INDENTATION.sub("\n", part) for place, part in enumerate(parts))


def page_name(table: str) -> str:
    """The file of a table's page: no name can leave its folder, and no two names meet."""
    return re.sub(r"[^a-z0-9_.]", lambda match: f"-{ord(match[0]):x}-", table) + ".html"


def search_index(tables: Sequence[Table], folded: Sequence[Table], addresses: Mapping[str, str]) -> str:
    """A script that holds what search and the graph look through: a page opened from disk may not fetch a file, but may run one. Of a
    table that is `folded` away there is its name and description."""
    places = {table.name: place for place, table in enumerate(tables)}
    document = {
        "tables": [
            [
                table.name, table.kind, addresses[table.name], table.description, table.schema,
                [places[name] for name in table.reads if name in places],
            ]
            for table in tables
        ],
        "columns": [
            [index, column.name, column.type, column.unit or "", column.description]
            for index, table in enumerate(tables)
            for column in table.columns.values()
        ],
        "folded": [[table.name, table.kind, addresses[table.name], table.description] for table in folded],
    }
    return _script("SEARCH_INDEX", document)


def number_index(publications: Iterable[Publication]) -> str:
    """A script with the published numbers, which the search loads when a visitor looks for one."""
    def row(place: int, numbers: Iterable[PublishedNumber]) -> list[Any]:
        return [place, *chain.from_iterable((each.number_id, each.column, shown_value(each.value), each.unit or "") for each in numbers)]

    return _script("NUMBER_INDEX", [
        [each.query, publication_page(each).removesuffix(".html"), [row(place, of.measures) for place, of in enumerate(each.rows, 1)]]
        for each in publications if each.rows
    ])


def _script(name: str, document: Any) -> str:
    return f"const {name} = {json.dumps(document, separators=(',', ':'))};\n"


def _environment(description: ProjectDescription, addresses: Mapping[str, str], unused: int) -> "jinja2.Environment":
    import jinja2
    from markupsafe import Markup, escape

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER / "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    groups = _groups(description.tables.values())
    steps = {schema: tables for schema, tables in groups.items() if schema not in (*PUBLIC_SCHEMAS, LANDING)}
    if len(steps) == len(groups):
        steps = {}  # a project of nothing else: they are what people ask for
    environment.globals.update(
        project=description,
        groups=groups,
        steps=steps,
        listed=[table for schema, tables in groups.items() if schema not in steps for table in tables],
        lists_tables=lambda schema: schema in groups and len(groups[schema]) <= _LONGEST_SIDEBAR,
        schemas=_SCHEMAS,
        public=PUBLIC_SCHEMAS,
        publication_page=publication_page,
        row_page=row_page,
        most_files=MOST_FILES,
        few=_FEW,
        listed_files=listed_files,
        file_places=file_places,
        replaced=replaced(description.publications),
        page=addresses.get,
        unused=unused,
        anchor=lambda column: f"column-{quote(column)}",
        schemas_of=lambda drawing: sorted({description.tables[box.name].schema for box in drawing.boxes}, key=list(groups).index),
        version=__version__,
    )
    environment.filters.update(
        count=lambda number: f"{number:,}",
        seconds=lambda value: f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s",
        as_json=lambda value: json.dumps(value, ensure_ascii=False, default=str),
        value=shown_value,
        short=short,
        digits=digits,
        brief=lambda text: re.split(r"[;.] ", text, maxsplit=1)[0],
        beside=_beside,
        breakable=lambda name: Markup("_<wbr>").join(escape(part) for part in name.split("_")),
        moment=lambda text: text[:16].replace("T", " ") + " UTC",
    )
    return environment


def _groups(tables: Iterable[Table]) -> dict[str, list[Table]]:
    found: dict[str, list[Table]] = {}
    for table in sorted(tables, key=lambda table: table.name):
        found.setdefault(table.schema, []).append(table)
    return {schema: found[schema] for schema in [*_SCHEMAS, *sorted(found.keys() - _SCHEMAS.keys())] if schema in found}


def _in_order(tables: Iterable[Table]) -> list[Table]:
    return [table for group in _groups(tables).values() for table in group]


def _beside(address: str) -> str:
    """An address of the site, as a table's page links to it."""
    return address.removeprefix("tables/") if address.startswith("tables/") else f"../{address}"


def _sql(model: Model) -> str:
    """A model's SQL without its header: the page shows all that the header states."""
    has_header = model != Model(model.name, model.schema, model.place, model.text)
    return (model.text.partition("*/")[2] if has_header else model.text).strip()


def _links(table: Table, tables: Mapping[str, Table], addresses: Mapping[str, str]) -> dict[str, str]:
    """The pages of the tables that one reads, seen from its own page, by every name its SQL may give them."""
    read = [tables[name] for name in table.reads]
    return {name: _beside(addresses[other.name]) for other in read for name in (other.name, other.bare_name)}
