"""The syntax tree of a model's SQL, by DuckDB's own parser, and what it names: tables and files, each with its place.

A pure function of the text: nothing is bound, no table or file need exist. What is read in a way that cannot be followed
(a path that is computed, a function that runs text as SQL) is refused here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from warehouse.errors import WarehouseError
from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import text_literal
from warehouse.transform.sql.engine_faults import parse_fault, statements_fault
from warehouse.transform.sql.functions import VARYING_CALLS, VARYING_WORDS, varies
from warehouse.transform.sql.text import each_token, fault_at, first_token, tokens
from warehouse.transform.sql.tree_nodes import Node, inner

if TYPE_CHECKING:
    import duckdb

_WRITES = "_QUERY_NODE"  # how the parser's names end for what a CTE may contain and writes: DELETE_QUERY_NODE
_PARQUET = ("read_parquet", "parquet_scan")
FILE_FUNCTIONS = frozenset(
    (
        *_PARQUET, "read_csv", "read_csv_auto", "read_json", "read_json_auto", "read_json_objects",
        "read_json_objects_auto", "read_ndjson", "read_ndjson_auto", "read_ndjson_objects", "read_text", "read_blob",
    )
)
# Table functions of nothing but their arguments.
PURE_FUNCTIONS = frozenset(("range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree"))
# The engine's other table functions: they tell of its own state, read what cannot be tracked, or run text as SQL. A test
# compares the three lists with the engine's.
UNTRACKED_FUNCTIONS = frozenset(
    (
        "add_grammar_extension", "arrow_scan", "arrow_scan_dumb", "checkpoint", "create_external_resource",
        "deregister_external_resource", "destroy_external_resource", "disable_logging", "disable_profiling", "enable_logging", "enable_profiling",
        "force_checkpoint", "glob", "histogram", "histogram_values", "icu_calendar_names",
        "json_execute_serialized_sql", "pandas_scan", "parquet_bloom_probe", "parquet_file_metadata",
        "parquet_full_metadata", "parquet_kv_metadata", "parquet_metadata", "parquet_page_index", "parquet_schema", "pg_timezone_names",
        "pragma_collations", "pragma_database_size", "pragma_metadata_info", "pragma_platform", "pragma_show",
        "pragma_storage_info", "pragma_table_info", "pragma_user_agent", "pragma_version", "python_arrow_scan",
        "python_map_function", "query", "query_table", "read_duckdb", "read_single_csv_file", "read_single_json_file",
        "read_single_parquet_file", "register_external_resource", "register_external_resource_type", "remove_grammar_extension",
        "seq_scan", "sniff_csv", "summary", "test_all_types", "test_vector_types", "truncate_duckdb_logs", "which_secret",
    )
)
_FILE_NAME = re.compile(r"\.(parquet|csv|tsv|jsonl?|ndjson)(\.gz|\.zst)?$", re.IGNORECASE)


# What was parsed in this process: one that watches files, or tests, checks the same models again and again.
_PARSED: dict[str, Node | None] = {}
_REMEMBERED = 4096


@dataclass(frozen=True)
class Reference:
    """A table's name as SQL writes it, lower case, and the offset of its first byte."""

    name: str
    offset: int


@dataclass(frozen=True)
class FileRead:
    """One call that reads files: the call as written, its constant paths or patterns, and the offset of its first byte.

    `is_by_file`: what one file yields never depends on another, given the columns: true of Parquet, not of formats whose
    dialect and types are found by looking at some of the files.
    """

    call: str
    patterns: tuple[str, ...]
    offset: int
    is_by_file: bool


@dataclass(frozen=True)
class Readings:
    """What one SELECT reads, in the order of its text."""

    tables: tuple[Reference, ...] = ()
    files: tuple[FileRead, ...] = ()


def parsed(con: "duckdb.DuckDBPyConnection", texts: Sequence[str]) -> list[Node | None]:
    """What the engine's parser makes of each text; None for one that is nested too deeply. It is remembered, so callers must not change it."""
    if len(_PARSED) > _REMEMBERED:
        _PARSED.clear()
    new = sorted({*texts} - _PARSED.keys())
    if new:
        # One statement for all: 1,000 models take 0.04 s, one statement each takes 0.6 s.
        rows = con.execute("select t, json_serialize_sql(t) from unnest(?::varchar[]) as u (t)", [new]).fetchall()
        _PARSED.update((text, _document(found)) for text, found in rows)
    return [_PARSED[text] for text in texts]


def _document(found: str) -> Node | None:
    try:
        return cast(Node, json.loads(found))
    except RecursionError:
        return None


def statement(tree: Node | None, model: Model) -> Node:
    """The tree of a model's only statement, from what `parsed` gives for its text. Raises WH202 at its place."""
    if tree is None:
        raise fault_at(
            "WH202", "an expression is nested too deeply", model.text, model.place, first_token(model.text),
            "cut it into several, in CTEs",
        )
    if tree["error"]:
        raise parse_fault(tree, model.text, model.place)
    if len(tree["statements"]) != 1:
        raise statements_fault(model.text, model.place)
    return cast(Node, tree["statements"][0])


def references(con: "duckdb.DuckDBPyConnection", model: Model) -> tuple[Reference, ...]:
    """The tables that a model's SQL names, CTEs left out. Raises WH202 at the place of a syntax error."""
    (document,) = parsed(con, [model.text])
    return readings(statement(document, model), model).tables


def readings(tree: Node, model: Model) -> Readings:
    """The tables and files that a tree names, CTEs left out, each once. Raises WH220 for a read that cannot be tracked
    and WH226 for what is not a function of its inputs."""
    tables: dict[str, Reference] = {}
    files: dict[str, FileRead] = {}
    for node, scope in _nodes(tree, model):
        kind = node.get("type")
        if node.get("sample"):
            _check_sample(node["sample"], model)
        if node.get("show_type", "SUMMARY") not in ("SUMMARY", "DESCRIBE"):
            raise fault_at(
                "WH220", "it is not known when a list of tables would change", model.text, model.place,
                first_token(model.text), "what can be read: tables, and files by read_parquet, read_csv, read_json and the like",
            )
        if kind == "BASE_TABLE":
            if _is_file(node):
                read = _named_file(node, model)
                files.setdefault(read.call, read)
            elif not is_cte(node, scope):
                name = table_name(node)
                tables.setdefault(name, Reference(name, node["query_location"]))
        elif kind == "TABLE_FUNCTION":
            called = _file_call(node, model)
            if called:
                files.setdefault(called.call, called)
        else:
            _check_is_function_of_inputs(node, model)
    in_order = sorted(tables.values(), key=lambda reference: reference.offset)
    return Readings(tuple(in_order), tuple(sorted(files.values(), key=lambda read: read.offset)))


def bare_tables(tree: Node, model: Model) -> Iterator[Reference]:
    """Every place where a tree names a table without its schema, CTEs and files left out. An offset beyond the text: the
    parser gives none."""
    for node, scope in _nodes(tree, model):
        if node.get("type") == "BASE_TABLE" and not (node["schema_name"] or _is_file(node) or is_cte(node, scope)):
            yield Reference(table_name(node), node["query_location"])


def table_name(node: Node) -> str:
    """What a table's node names: `table` or `schema.table`, lower case, or the call that a file's name means."""
    if _is_file(node):
        return text_literal(node["table_name"])
    return ".".join(part.lower() for part in (node["schema_name"], node["table_name"]) if part)


def _is_file(node: Node) -> bool:
    return not node["schema_name"] and _FILE_NAME.search(node["table_name"]) is not None


def is_cte(node: Node, scope: Collection[str]) -> bool:
    """Whether a table's node names a CTE, of the names in scope there, lower case: one is not named with a schema."""
    return not node["schema_name"] and node["table_name"].lower() in scope


def fault(code: str, message: str, model: Model, offset: int, hint: str | None = None) -> WarehouseError:
    """An error at a byte of a model's SQL, with its line and a caret."""
    return fault_at(code, message, model.text, model.place, character_offset(model.text, offset), hint)


def character_offset(text: str, byte_offset: int) -> int:
    """DuckDB counts bytes, Python characters."""
    return byte_offset if text.isascii() else len(text.encode()[:byte_offset].decode(errors="replace"))


def _nodes(tree: Node, model: Model) -> Iterator[tuple[Node, frozenset[str]]]:
    """Every node of a tree with the CTE names that are in scope there."""
    stack: list[tuple[Any, frozenset[str]]] = [(tree, frozenset())]
    while stack:
        node, scope = stack.pop()
        if type(node) is not list:
            for entry in node.get("cte_map", {}).get("map", []):
                # A CTE sees those before it, and itself only when it recurses: `with t as (select * from t)` reads t.
                name, body = str(entry["key"]).lower(), entry["value"]["query_node"]
                if body["type"].endswith(_WRITES):
                    raise _writes(body, model)
                stack.append((body, scope | {name} if body["type"] == "RECURSIVE_CTE_NODE" else scope))
                scope = scope | {name}
            yield node, scope
        stack += [(under, scope) for under in inner(node, "cte_map")]


def _writes(body: Mapping[str, Any], model: Model) -> WarehouseError:
    word = body["type"].removesuffix(_WRITES).lower()
    places = (token.offset for token in tokens(model.text) if token.text.lower() == word)
    at = next(places, first_token(model.text))
    hint = "select the rows to keep"
    return fault_at("WH202", f"a model reads only, it cannot {word}", model.text, model.place, at, hint)


def _check_sample(sample: Mapping[str, Any], model: Model) -> None:
    if sample["repeatable"] and sample["method"] != "System":
        return
    message, way = (
        ("a system sample takes whole vectors, as they happen to lie", "take rows by themselves") if sample["repeatable"]
        else ("a sample without a seed takes other rows each time", "give it one")
    )
    places = (token.offset for token in tokens(model.text) if token.text.lower() in ("sample", "tablesample"))
    raise fault_at(
        "WH226", message, model.text, model.place, next(places, first_token(model.text)),
        f"{way}: using sample reservoir(100 rows) repeatable (1)",
    )


def _check_is_function_of_inputs(node: Node, model: Model) -> None:
    names = node.get("column_names") if node.get("class") == "COLUMN_REF" else None
    word = str(node["function_name"]).lower() if node.get("class") == "FUNCTION" else None
    if names and len(names) == 1 and names[0].lower() in VARYING_WORDS:
        word = names[0].lower()
    elif word and (word, len(node["arguments"])) in VARYING_CALLS:
        raise fault(
            "WH226", f"{word} of one value counts from the day it is asked", model, node["query_location"],
            f"write both: {word}(later, earlier)",
        )
    elif word and not varies(word, len(node["arguments"])):
        word = None
    if word:
        hint = "a build is a function of its inputs: read the time or the seed from the evidence"
        raise fault("WH226", f"{word} gives another value each time", model, node["query_location"], hint)
    if names and names[-1].lower() == "rowid":
        hint = "order by columns of the table: row_number() over (order by ...)"
        raise fault("WH226", "rowid is a row's place in a file, not data", model, node["query_location"], hint)
    if names and names[-1].lower() == "file_index":
        hint = "filename says which file a row is from, whatever other files there are"
        raise fault("WH226", "file_index depends on which other files there are", model, node["query_location"], hint)


def _named_file(node: Node, model: Model) -> FileRead:
    name = node["table_name"]
    return FileRead(text_literal(name), (name,), node["query_location"], name.lower().endswith(".parquet"))


def _file_call(node: Node, model: Model) -> FileRead | None:
    """The files that a table function reads; None for one that reads nothing but its arguments."""
    call = node["function"]
    name, offset = call["function_name"].lower(), node["query_location"]
    if name in UNTRACKED_FUNCTIONS or name.startswith("duckdb_"):
        hint = "what can be read: tables, and files by read_parquet, read_csv, read_json and the like"
        raise fault("WH220", f"it is not known when {name} would give something else", model, offset, hint)
    if name not in FILE_FUNCTIONS:
        return None  # or no function at all: the binder says so
    patterns = _constant_paths(call["arguments"][0]["expression"]) if call["arguments"] else None
    if not patterns:
        raise fault(
            "WH220", f"the paths of {name} are not constant text", model, offset, f"write them out: {name}('data/*')"
        )
    start = character_offset(model.text, offset)
    end = end_of_reference(model.text, start)
    return FileRead(model.text[start:end], patterns, offset, name in _PARQUET)


def _constant_paths(expression: Node) -> tuple[str, ...] | None:
    if expression.get("class") == "CONSTANT" and expression["literal"].get("kind") == "STRING":
        return (expression["literal"]["text"],)
    if expression.get("function_name") == "list_value":
        items = [_constant_paths(item["expression"]) for item in expression["arguments"]]
        return tuple(path for item in items for path in item or ()) if all(items) else None
    return None


def end_of_reference(text: str, start: int) -> int:
    """The offset after a table's name or a call that begins at `start`, its alias left out."""
    end, depth, is_dot_awaited = start, 0, False
    for token in each_token(text[start:]):
        if not depth and is_dot_awaited and token.text not in (".", "("):
            break
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        end = start + token.offset + len(token.text)
        if not depth:
            if token.text == ")":
                break
            is_dot_awaited = token.text != "."
    return end
