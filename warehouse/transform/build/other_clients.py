"""What a build's database holds for DuckDB clients other than `wh`, which know neither our search path nor a model's header.

The views of models name every table with its schema. A view in `main` gives each table of another schema its bare name.
Comments give descriptions and units. None of this is part of what a model is, or of any digest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.project.feeds import FEED_SCHEMA
from warehouse.transform.project.model import RESERVED_COLUMNS, Column, Model
from warehouse.transform.sql.duck import quote, quoted, text_literal
from warehouse.transform.sql.engine_faults import translated_elsewhere
from warehouse.transform.sql.text import Token, name_of, tokens
from warehouse.transform.sql.tree import Reference, bare_tables, character_offset
from warehouse.transform.sql.tree_nodes import Node

if TYPE_CHECKING:
    import duckdb

# After these the parser gives no place for a table.
_BEFORE_NAME = frozenset(("table", "describe", "desc", "summarize"))
_BARE = "main"  # the schema in which every client looks for a bare name
_ADDED = dict(zip(RESERVED_COLUMNS, (
    "sha256 of the query spec: its SQL, its contract and every model under it",
    "The number id of each value in the row, which wh lineage and wh verify take",
), strict=True))


def bare_name(qualified: str) -> str | None:
    """The view in `main` of a table; None if its bare name is another table's."""
    schema, _, name = qualified.partition(".")
    return None if schema in (_BARE, FEED_SCHEMA) else f"{_BARE}.{name}"


def serve_other_clients(
    con: "duckdb.DuckDBPyConnection", checked: CheckedProject, remade: Collection[str] | None = None, in_parts: Collection[str] = ()
) -> None:
    """Bring the views of bare names and the comments of a session's database up to date. What is as it should be is not touched; with
    `remade` (names of models) nothing else is as it should not be, and these have no comments. `in_parts` are the tables that are views
    over parts."""
    stored = {model.qualified: name for name, model in checked.models.items() if checked.is_stored(name)}
    bare = {name: checked.models[key] for qualified, key in stored.items() if (name := bare_name(qualified))}
    if remade is None:  # what is there is listed, which takes 20 ms in an engine that lists for the first time
        _run(con, _bare_views(con, stored, bare))
        _run(con, _comments(con, checked, stored, bare))
        return
    stored = {qualified: name for qualified, name in stored.items() if name in remade}
    bare = {name: model for name, model in bare.items() if model.qualified in stored}
    views = [f"create or replace view {quoted(name)} as from {quoted(model.qualified)}" for name, model in bare.items()]
    _run(con, [*views, *_all_comments(checked, stored, bare, in_parts)])


def _bare_views(con: "duckdb.DuckDBPyConnection", stored: Mapping[str, str], bare: Mapping[str, Model]) -> list[str]:
    """The statements by which the views of bare names are those that should be there."""
    there = _named(con, "select schema_name, view_name, sql from duckdb_views() where not internal")
    gone = sorted(name for name in there.keys() - bare.keys() - stored.keys() if name.startswith(f"{_BARE}."))
    new = [f"create view {quoted(name)} as from {quoted(bare[name].qualified)}" for name in sorted(bare.keys() - there.keys())]
    return [*(f"drop view {quoted(name)}" for name in gone), *new]


def _comments(
    con: "duckdb.DuckDBPyConnection", checked: CheckedProject, stored: Mapping[str, str], bare: Mapping[str, Model]
) -> list[str]:
    """The statements by which every comment is what it should be."""
    texts = _texts(checked, stored, bare)
    statements = []
    for kind in ("table", "view"):
        found = _named(con, f"select schema_name, {kind}_name, comment from duckdb_{kind}s() where not internal")
        statements += [
            _comment(kind, name, texts[name]) for name, comment in found.items() if name in texts and comment != (texts[name] or None)
        ]
    columns = con.execute(
        "select schema_name || '.' || table_name, column_name, comment from duckdb_columns() where not internal"
    ).fetchall()
    described = {name: _column_texts(checked, key) for name, key in stored.items()}
    for table, column, comment in columns:
        if table in described and comment != ((text := described[table].get(column, "")) or None):
            statements.append(_comment_on_column(table, column, text))
    return statements


def _all_comments(checked: CheckedProject, stored: Mapping[str, str], bare: Mapping[str, Model], in_parts: Collection[str]) -> list[str]:
    """The statements that give tables without any comment theirs."""
    views = {*bare, *in_parts, *(name for name, key in stored.items() if checked.models[key].materialized == "view")}
    texts = _texts(checked, stored, bare)
    statements = [_comment("view" if name in views else "table", name, text) for name, text in texts.items() if text]
    for name, key in stored.items():
        statements += [_comment_on_column(name, column, text) for column, text in _column_texts(checked, key).items() if text]
    return statements


def _texts(checked: CheckedProject, stored: Mapping[str, str], bare: Mapping[str, Model]) -> dict[str, str]:
    texts = {name: checked.models[key].description for name, key in stored.items()}
    texts |= {name: f"The rows of {model.qualified}. {model.description}" for name, model in bare.items()}
    return {name: _line(text) for name, text in texts.items()}


def _column_texts(checked: CheckedProject, name: str) -> dict[str, str]:
    added = _ADDED if checked.models[name].schema == "rollup" else {}
    return {**{column: _column_text(stated) for column, stated in checked.described_columns(name).items()}, **added}


def _comment(kind: str, name: str, text: str) -> str:
    return f"comment on {kind} {quoted(name)} is {_literal(text)}"


def _comment_on_column(table: str, column: str, text: str) -> str:
    return f"comment on column {quoted(table)}.{quote(column)} is {_literal(text)}"


def _column_text(column: Column) -> str:
    """A column's description, and after it the unit in brackets."""
    return _line(f"{column.description} [{column.unit}]" if column.unit else column.description)


def _line(text: str) -> str:
    return " ".join(text.split())


def _literal(text: str) -> str:
    return text_literal(text) if text else "null"


def _named(con: "duckdb.DuckDBPyConnection", sql: str) -> dict[str, str | None]:
    return {f"{schema}.{name}": value for schema, name, value in con.execute(sql).fetchall()}


def _run(con: "duckdb.DuckDBPyConnection", statements: list[str]) -> None:
    # The standard project has 2,700 of them in a first build: 0.7 s, and 0.45 s with nothing optimized.
    if statements:
        con.execute(";".join(["pragma disable_optimizer", *statements, "pragma enable_optimizer"]))


def create_view(con: "duckdb.DuckDBPyConnection", model: Model, tree: Node, models: Mapping[str, Model]) -> None:
    """Make a view of a model, whose SQL's tree is given, in a session's database. Raises WH209."""
    import duckdb

    try:
        con.execute(f"create view {quoted(model.qualified)} as {with_schemas(model, tree, models)}")
    except duckdb.Error as error:
        raise translated_elsewhere(error, "WH209", model.text, model.place) from error


def with_schemas(model: Model, tree: Node, models: Mapping[str, Model]) -> str:
    """A model's text with the schema before every other model that it names bare. The name stays as it is written, so a column
    that is qualified by it is so still."""
    found = tokens(model.text)
    schemas: dict[int, str] = {}
    for table in bare_tables(tree, model):
        if table.name in models:
            schemas |= dict.fromkeys(_places(table, model.text, found), models[table.name].schema)
    text = model.text
    for place in sorted(schemas, reverse=True):
        text = f"{text[:place]}{quote(schemas[place])}.{text[place:]}"
    return text


def _places(table: Reference, text: str, found: list[Token]) -> Iterator[int]:
    """Where `text`, of the tokens `found`, names a table."""
    is_placed = table.offset < len(text.encode())
    start = character_offset(text, table.offset) if is_placed else None
    for index, token in enumerate(found):
        if token.offset == start:
            has_alias_first = index + 2 < len(found) and found[index + 1].text == ":"  # from a: t
            yield found[index + 2 * has_alias_first].offset
        elif not is_placed and index and found[index - 1].text.lower() in _BEFORE_NAME and name_of(token) == table.name:
            yield token.offset
