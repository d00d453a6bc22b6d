"""Calls in a query that read files, put aside: each becomes an empty table that is named by the call's own text.

Needed where only names matter: the engine cannot write down the plan of a query that reads files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, cast

from warehouse.transform.sql.duck import quote, text_literal
from warehouse.transform.sql.text import tokens
from warehouse.transform.sql.tree_nodes import nodes

if TYPE_CHECKING:
    import duckdb

# Table functions whose rows come from their arguments alone.
GENERATORS = frozenset({"generate_series", "range", "repeat", "repeat_row", "unnest"})


def file_calls(con: "duckdb.DuckDBPyConnection", sql: str) -> list[str]:
    """The calls of a query that read files (or the engine), as its text has them, and the paths it names as tables."""
    return [text for text, _ in _calls(_tree(con, sql), sql)]


def without_file_calls(con: "duckdb.DuckDBPyConnection", sql: str) -> str:
    """The query over one empty temporary table a call, made here and named by the call's text. Raises the engine's
    error where a call is not valid alone."""
    tree = _tree(con, sql)
    for text, node in list(_calls(tree, sql)):
        con.execute(f"create temp table if not exists {quote(text)} as select * from {text} limit 0")
        alias = node["alias"] or _default_alias(node)
        node.pop("function", None)
        node.update(type="BASE_TABLE", table_name=text, qualified_name={"path": [text]}, alias=alias)
        node.update(schema_name="", catalog_name="", at_clause=None)
    (rewritten,) = con.execute(f"select json_deserialize_sql({text_literal(json.dumps(tree))})").fetchall()[0]
    return str(rewritten)


def _tree(con: "duckdb.DuckDBPyConnection", sql: str) -> Any:
    return json.loads(con.execute(f"select json_serialize_sql({text_literal(sql)})").fetchall()[0][0])


def _calls(tree: Any, sql: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each call's text and its node."""
    for node in cast("Iterator[dict[str, Any]]", nodes(tree)):  # as they came out of JSON: to be written over
        kind = node.get("type")
        if kind == "TABLE_FUNCTION" and node["function"]["function_name"].lower() not in GENERATORS:
            yield _call(sql.encode()[node["query_location"] :].decode()), node
        elif kind == "BASE_TABLE" and not node["schema_name"] and set("./*") & set(node["table_name"]):
            yield text_literal(node["table_name"]), node


def _call(sql: str) -> str:
    """The call that `sql` begins with, up to its closing bracket, on one line."""
    depth = 0
    for token in tokens(sql):
        depth += (token.text == "(") - (token.text == ")")
        if token.text == ")" and not depth:
            return " ".join(sql[: token.offset + 1].split())
    return sql


def _default_alias(node: dict[str, Any]) -> str:
    """What the columns of a call can be qualified with where it has no alias."""
    if node["type"] == "TABLE_FUNCTION":
        return str(node["function"]["function_name"])
    return PurePath(node["table_name"]).stem
