"""The views of a build as its database keeps them: every table named with its schema, so that any client that opens the file
can read them without a search path. What a view says, and its digest, is the model's own text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import quote, quoted
from warehouse.transform.sql.engine_faults import translated_elsewhere
from warehouse.transform.sql.text import Token, name_of, tokens
from warehouse.transform.sql.tree import Reference, bare_tables, character_offset
from warehouse.transform.sql.tree_nodes import Node

if TYPE_CHECKING:
    import duckdb

# After these the parser gives no place for a table.
_BEFORE_NAME = frozenset(("table", "describe", "desc", "summarize"))


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
