"""Which SQL runs on a finished build: one statement that reads. The engine's own parser decides, before anything runs.

The engine's read-only mode is not enough: it lets COPY write the file of the database and the write-ahead log beside it, also
from within a CTE or an EXPLAIN ANALYZE, and it runs table functions that change the process.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.transform.sql.engine_faults import second_statement, translated
from warehouse.transform.sql.file_calls import GENERATORS
from warehouse.transform.sql.text import fault_at, first_token, tokens
from warehouse.transform.sql.tree_nodes import nodes

if TYPE_CHECKING:
    import duckdb

# Everything else that the engine has reads files, changes settings, writes logs or follows pointers.
_TABLE_FUNCTIONS = GENERATORS | {
    "duckdb_columns", "duckdb_constraints", "duckdb_databases", "duckdb_dependencies", "duckdb_functions", "duckdb_indexes",
    "duckdb_keywords", "duckdb_schemas", "duckdb_sequences", "duckdb_settings", "duckdb_tables", "duckdb_types", "duckdb_views",
    "histogram", "histogram_values", "json_each", "json_tree", "pg_timezone_names", "pragma_collations", "pragma_show",
    "pragma_storage_info", "pragma_table_info", "pragma_version", "summary",
}
_QUERIES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
_WRITING_WORDS = ("copy", "delete", "insert", "merge", "truncate", "update")
_ONLY_READS = "wh sql only reads: to keep a result, write a model"
_BUILD_ALONE = "wh sql reads only the build: to query files, write a model that reads them"


def check_reads(con: "duckdb.DuckDBPyConnection", sql: str) -> None:
    """Raise WH213, with the place in `sql`, for what is not one statement that reads the build and nothing else: SELECT, FROM,
    VALUES, TABLE, PIVOT, DESCRIBE, SHOW, SUMMARIZE, or EXPLAIN of one. Nothing runs."""
    if ";" in sql and (second := second_statement(tokens(sql))):
        raise fault_at(
            "WH213", "a second statement: wh sql runs one", sql, "query", second.offset, "run it with a separate wh sql"
        )
    kind = _kind(con, sql, sql)
    if kind == "EXPLAIN":
        explained = _explained(con, sql)
        kind = _kind(con, explained, sql)
    else:
        explained = sql
    if kind == "SELECT":
        _check_tree(con, explained, sql)
    elif kind == "MULTI":
        _check_free_pivot(con, sql)
    else:
        raise _refused(f"a statement of the kind {kind.replace('_', ' ')}: wh sql is read-only", sql)


def _kind(con: "duckdb.DuckDBPyConnection", statement: str, sql: str) -> str:
    """The kind of a statement, which is `sql` or a part of it, as the engine's parser tells it."""
    import duckdb

    try:
        found = con.extract_statements(statement)
        kinds = [each.type.name for each in found]
    except duckdb.Error as error:
        raise translated(error, "WH213", sql, "query") from error
    except ValueError:  # a kind that the client has no name for
        return "UNKNOWN"
    if not kinds:
        raise WarehouseError("WH213", "there is no statement in it", "query")
    return str(kinds[0]) if len(kinds) == 1 else "UNKNOWN"


def _explained(con: "duckdb.DuckDBPyConnection", sql: str) -> str:
    """The statement that an EXPLAIN explains: what comes after the word, ANALYZE, and options in brackets."""
    import duckdb

    found = tokens(sql)[1:]
    if found and found[0].text.lower() in ("analyze", "analyse"):
        found = found[1:]
    rest = sql[found[0].offset :]
    try:
        con.extract_statements(rest)
    except (duckdb.Error, ValueError):  # options come first; a SELECT in brackets is a statement
        closing = next((at for at, token in enumerate(found) if token.text == ")"), -1)
        if found[0].text == "(" and 0 <= closing < len(found) - 1:
            return sql[found[closing + 1].offset :]
    return rest


def _check_tree(con: "duckdb.DuckDBPyConnection", statement: str, sql: str) -> None:
    """Raise WH213 where the tree of a SELECT has a query that writes, or calls a table function that is not allowed."""
    (text,) = con.execute("select json_serialize_sql(?)", [statement]).fetchall()[0]
    try:
        tree = json.loads(text)
    except RecursionError:
        raise _refused("an expression is nested too deeply", sql, "cut the expression into several, in CTEs") from None
    if tree["error"]:
        raise _refused("a statement that the engine's parser cannot write down: wh sql cannot tell that it only reads", sql)
    for node in nodes(tree["statements"]):
        kind = str(node.get("type", ""))
        if kind.endswith("_NODE") and kind not in _QUERIES:
            raise _refused(f"{kind.partition('_')[0]} inside the query: wh sql is read-only", sql)
        if kind == "TABLE_FUNCTION":
            name = str(node["function"]["function_name"])
            if name.lower() not in _TABLE_FUNCTIONS:
                raise _refused(f"{name}(...) is not a table function that wh sql runs", sql, _BUILD_ALONE, name)


def _check_free_pivot(con: "duckdb.DuckDBPyConnection", sql: str) -> None:
    """Raise WH213 where the text of a pivot without listed values holds a word that could write. The engine runs it as several
    statements, whose trees it does not write down, so a word counts also in quotes, comments and longer names."""
    rows = con.execute("select distinct function_name from duckdb_functions() where function_type in ('table', 'table_macro')").fetchall()
    words = [*_WRITING_WORDS, *sorted({name.lower() for (name,) in rows} - _TABLE_FUNCTIONS)]
    # Longest first: the message has the whole name.
    pattern = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    if found := re.search(rf"(?<![a-z_])(?:{pattern})(?![a-z0-9_])", sql, re.IGNORECASE | re.ASCII):
        hint = "list the values of the pivot: pivot t on kind in ('a', 'b') using sum(x)"
        raise _refused(f"{found[0]!r} in a pivot whose values are not listed: wh sql cannot tell that it only reads", sql, hint, found[0])


def _refused(message: str, sql: str, hint: str = _ONLY_READS, name: str | None = None) -> WarehouseError:
    """WH213 at a name in the query, else where the query begins."""
    offset = sql.lower().find(name.lower()) if name else -1
    return fault_at("WH213", message, sql, "query", offset if offset >= 0 else first_token(sql), hint)
