"""Whether a model's SQL is local to its key: whether the rows of one key come from the rows of that key alone.

Then a change of some input rows touches only the keys of those rows, and the table can be brought up to date by these.
The proof follows the key, from the output down through blocks, CTEs, unions and joins, to the inputs that carry it; every
other input is read whole, and a change of one means a full build. It fails closed: what no rule allows is refused (WH221)
with the clause.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.transform.block import Block, Column, Relation, column_node, equalities, inside, shape
from warehouse.transform.duck import quote, text_literal
from warehouse.transform.model import Model
from warehouse.transform.sql_tree import FILE_FUNCTIONS, Node, character_offset, end_of_reference, fault

if TYPE_CHECKING:
    import duckdb

# Columns of an input, by the name that the SQL gives it; None for a name of nothing.
ColumnsOf = Callable[[str], Sequence[str] | None]

INPUT_ALIAS = "input"  # what `KeyedInput.key` calls the input's rows


@dataclass(frozen=True)
class KeyedInput:
    """An input that carries the key: its name (or the call that reads it), the key's columns as SQL over its rows, the
    columns which that uses, and where its name stands in the model's text (characters, alias left out)."""

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    start: int
    end: int
    is_aliased: bool


@dataclass(frozen=True)
class Locality:
    """How a model's inputs are read: by key, or whole (names and calls)."""

    keyed: tuple[KeyedInput, ...]
    whole: frozenset[str]


def locality(
    con: "duckdb.DuckDBPyConnection", model: Model, tree: Node, key: Sequence[str], columns_of: ColumnsOf,
    aggregates: Collection[str],
) -> Locality:
    """Prove that `model` is local to `key`, columns of its output. Raises WH221 with the clause that is not."""
    proof = _Proof(con, model, columns_of, aggregates)
    proof.follow(tree["node"], [column.lower() for column in key], {})
    for name, offset in proof.whole.items():
        if any(found.name == name for found in proof.keyed):
            raise proof.refusal(f"{name} is read over all keys here, and by key elsewhere", offset)
    return Locality(tuple(proof.keyed), frozenset(proof.whole))


class _Proof:
    """One walk down a model's tree; what it finds gathers in `keyed` and `whole` (name to byte offset)."""

    def __init__(
        self, con: "duckdb.DuckDBPyConnection", model: Model, columns_of: ColumnsOf, aggregates: Collection[str]
    ) -> None:
        self._con = con
        self._model = model
        self._columns_of = columns_of
        self._aggregates = aggregates
        self.keyed: list[KeyedInput] = []
        self.whole: dict[str, int] = {}

    def refusal(self, message: str, offset: int | None) -> WarehouseError:
        hint = "rewrite the clause, or drop `materialized: incremental` and the key from the header"
        if offset is None or offset > len(self._model.text.encode()):
            return WarehouseError("WH221", message, self._model.place, hint)
        return fault("WH221", message, self._model, offset, hint)

    def follow(self, node: Node, key: Sequence[str | None], ctes: Mapping[str, Any]) -> None:
        """Follow the output columns `key` of one query (None: a column it has not, NULL) to the inputs."""
        ctes = _with_ctes(node, ctes)
        self._check_modifiers(node)
        match node["type"]:
            case "SELECT_NODE":
                self._follow_block(node, key, ctes)
            case "SET_OPERATION_NODE":
                self._follow_set(node, key, ctes)
            case other:
                raise self.refusal(f"{_words(other)} is not local to any key", _offset(node))

    # --- blocks -------------------------------------------------------------------------------------------------

    def _follow_block(self, node: Node, key: Sequence[str | None], ctes: Mapping[str, Any]) -> None:
        if node.get("sample"):
            raise self.refusal("a sample is not local to any key", _offset(node))
        relations, links = self._relations(node.get("from_table"), ctes)
        links += [(a, b) for pair in equalities(node.get("where_clause")) for a, b in (pair, pair[::-1])]
        block = Block(node, relations)
        expressions = [self._key_expression(block, column) for column in key]
        equal = [self._equal_columns(block, expression, links) for expression in expressions]
        self._check_grouping(block, expressions, equal)
        self._check_windows(block, expressions, equal)
        self._read_subqueries_whole(node, ctes)
        carriers = 0
        for number, relation in enumerate(relations):
            over = [] if relation.is_opaque else [
                self._over(block, number, expression, columns)
                for expression, columns in zip(expressions, equal, strict=True)
            ]
            if over and None not in over:
                self._keep_by_key(relation, [item for item in over if item is not None])
                carriers += 1
            else:
                self._keep_whole(relation)
        if relations and not carriers:
            raise self.refusal(f"no input of this block carries {', '.join(map(str, key))}", _first_place(node))

    def _key_expression(self, block: Block, column: str | None) -> Node | None:
        """The expression of an output column; None for NULL."""
        if column is None:
            return None
        found = block.output(column)
        if found is None:
            raise self.refusal(f"where {column} comes from cannot be told", _first_place(block.node))
        return found

    def _equal_columns(self, block: Block, expression: Node | None, links: list[tuple[Node, Node]]) -> set[Column]:
        """The columns of the block that equal a key expression in every row that they meet."""
        start = block.resolve(expression) if expression else None
        if start is None:
            return set()
        if block.relations[start[0]].is_nullable:
            raise self.refusal(
                "the key comes from the side of a left join that may be missing: rows without it share NULL",
                _offset(expression),
            )
        equal, edges = {start}, [(block.resolve(a), block.resolve(b)) for a, b in links]
        while grown := {b for a, b in edges if a in equal and b is not None and b not in equal}:
            equal |= grown
        return equal

    def _over(self, block: Block, number: int, expression: Node | None, equal: set[Column]) -> str | None:
        """A key expression as SQL over the rows of one relation; None when it is not of that relation."""
        if expression is None:
            return "null"
        column = next((column for owner, column in sorted(equal) if owner == number), None)
        if column is not None:
            return f"{INPUT_ALIAS}.{quote(column)}"
        is_computed = not equal and not any(found.get("class") == "SUBQUERY" for found in inside(expression))
        if is_computed and block.owners(expression) <= {number}:
            return self._as_sql(block, expression)
        return None

    def _as_sql(self, block: Block, expression: Node) -> str:
        """An expression over one relation as SQL over `input`."""
        moved = json.loads(json.dumps(expression))
        for node in inside(moved):
            if node.get("class") == "COLUMN_REF":
                _, column, rest = block.split(node["column_names"]) or (0, "", [])
                node["column_names"] = [INPUT_ALIAS, column, *rest]
        moved["alias"] = ""
        frame = json.loads(self._con.execute("select json_serialize_sql('select 1')").fetchall()[0][0])
        frame["statements"][0]["node"]["select_list"] = [moved]
        text = self._con.execute(f"select json_deserialize_sql({text_literal(json.dumps(frame))}::json)").fetchall()[0][0]
        return str(text).removeprefix("SELECT ")

    def _check_grouping(self, block: Block, expressions: list[Node | None], equal: list[set[Column]]) -> None:
        node = block.node
        if len(node["group_sets"]) > 1:
            raise self.refusal("several grouping sets: one of them leaves the key out", _offset(node["group_expressions"][0]))
        called = [*node["select_list"], node.get("having"), node.get("qualify")]
        aggregate = next((found for found in inside(called, skip_windows=True) if self._is_aggregate(found)), None)
        if node["aggregate_handling"] == "FORCE_AGGREGATES":  # group by all: by every item that aggregates nothing
            groups = [item for item in node["select_list"] if not any(map(self._is_aggregate, inside(item)))]
        elif node["group_expressions"]:
            groups = [block.group(expression) for expression in node["group_expressions"]]
        elif aggregate:
            raise self.refusal("an aggregate over all keys: group by the key", _offset(aggregate))
        else:
            return
        place = _offset((node["group_expressions"] or node["select_list"])[0])
        self._check_contains(block, groups, expressions, equal, "the grouping leaves the key out", place)

    def _is_aggregate(self, node: Node) -> bool:
        return node.get("class") == "FUNCTION" and node["function_name"].lower() in self._aggregates

    def _check_windows(self, block: Block, expressions: list[Node | None], equal: list[set[Column]]) -> None:
        node = block.node
        for found in inside([node["select_list"], node.get("qualify"), node["modifiers"]]):
            if found.get("class") == "WINDOW":
                message = "the window reaches over several keys: partition by the key"
                self._check_contains(block, found["partitions"], expressions, equal, message, _offset(found))
        for modifier in node["modifiers"]:
            targets = modifier.get("distinct_on_targets")
            if targets:
                message = "distinct on leaves the key out"
                self._check_contains(block, targets, expressions, equal, message, _offset(targets[0]))

    def _check_contains(
        self, block: Block, found: Sequence[Node], expressions: list[Node | None], equal: list[set[Column]],
        message: str, offset: int | None,
    ) -> None:
        shapes = [shape(block.meant(item)) for item in found]
        columns = {block.resolve(item) for item in found}
        for expression, same in zip(expressions, equal, strict=True):
            if expression is not None and shape(expression) not in shapes and not columns & same:
                if block.owners(expression):
                    raise self.refusal(message, offset)

    def _check_modifiers(self, node: Node) -> None:
        for modifier in node["modifiers"]:
            if modifier["type"] in ("LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER"):
                limit = modifier.get("limit") or modifier.get("offset") or {}
                raise self.refusal("a limit counts over all keys", _offset(limit) or _first_place(node))

    # --- unions -------------------------------------------------------------------------------------------------

    def _follow_set(self, node: Node, key: Sequence[str | None], ctes: Mapping[str, Any]) -> None:
        is_by_name = "BY_NAME" in node["setop_type"]
        branches = _branches(node)
        names = [self._output_names(branch, ctes) for branch in branches]
        for branch, columns in zip(branches, names, strict=True):
            if columns is None or names[0] is None:
                raise self.refusal("its columns are chosen by a pattern: name them", _first_place(branch))
            if is_by_name:
                wanted = [column if column in columns else None for column in key]
            else:
                wanted = [None if column is None else columns[names[0].index(column)] for column in key]
            self.follow(branch, wanted, ctes)

    def _output_names(self, node: Node, ctes: Mapping[str, Any]) -> list[str] | None:
        """The names of a query's columns, lower case, in order; None where they cannot be told."""
        ctes = _with_ctes(node, ctes)
        if node["type"] == "SET_OPERATION_NODE":
            by_name = "BY_NAME" in node["setop_type"]
            found = [self._output_names(branch, ctes) for branch in (_branches(node) if by_name else _branches(node)[:1])]
            return None if None in found else list(dict.fromkeys(name for names in found for name in names or ()))
        if node["type"] != "SELECT_NODE":
            return None
        relations, _ = self._relations(node.get("from_table"), ctes)
        return Block(node, relations).names()

    # --- the FROM clause ------------------------------------------------------------------------------------------

    def _relations(
        self, node: Node | None, ctes: Mapping[str, Any]
    ) -> tuple[list[Relation], list[tuple[Node, Node]]]:
        """The relations of a FROM clause, and pairs of columns (a, b): a row with a given `a` meets only rows with an equal
        `b`."""
        if node is None or node["type"] in ("EMPTY", "EMPTY_FROM"):
            return [], []
        if node["type"] == "JOIN":
            return self._joined(node, ctes)
        relation = self._relation(node, ctes)
        return ([relation] if relation else []), []

    def _joined(self, node: Node, ctes: Mapping[str, Any]) -> tuple[list[Relation], list[tuple[Node, Node]]]:
        kind = "POSITIONAL" if node["ref_type"] == "POSITIONAL" else node["join_type"]
        if kind not in ("INNER", "LEFT", "SEMI", "ANTI"):
            raise self.refusal(f"a {_words(kind)} join keeps rows of other keys", _offset(node))
        left, left_links = self._relations(node["left"], ctes)
        right, right_links = self._relations(node["right"], ctes)
        shared = [name.lower() for name in node["using_columns"]]
        if node["ref_type"] == "NATURAL":
            shared = [name for relation in left for name in relation.columns if any(name in other.columns for other in right)]
        pairs = equalities(node.get("condition"))
        for name in shared:
            sides = [next((relation for relation in side if name in relation.columns), None) for side in (left, right)]
            if sides[0] and sides[1]:
                pairs.append((column_node(sides[0].alias, name), column_node(sides[1].alias, name)))
        links = left_links + right_links
        block = Block(None, left + right)
        for pair in pairs:
            ends = [block.resolve(end) for end in pair]
            across = sorted(zip(ends, pair, strict=True), key=lambda end: end[0] or (-1, ""))
            if kind == "INNER":
                links += [pair, pair[::-1]]
            # The other kinds keep a left row that meets nothing, so nothing follows for the left from the right.
            elif across[0][0] and across[0][0][0] < len(left) <= across[1][0][0]:
                links.append((across[0][1], across[1][1]))
        if kind == "LEFT":
            right = [replace(relation, is_nullable=True) for relation in right]
        return left + right, links

    def _relation(self, node: Node, ctes: Mapping[str, Any]) -> Relation | None:
        """One relation; None for a function that reads nothing but its arguments."""
        if node.get("sample"):
            raise self.refusal("a sample is not local to any key", _offset(node))
        alias = (node.get("alias") or "").lower()
        match node["type"]:
            case "BASE_TABLE":
                name = node["table_name"].lower()
                if not node["schema_name"] and name in ctes:
                    query, outer = ctes[name]
                    return self._subquery(alias or name, query, outer, node)
                start, end = self._text_range(node)
                columns = self._columns_of(self._model.text[start:end])
                return Relation(alias or name, _lower(columns or ()), node)
            case "SUBQUERY":
                return self._subquery(alias, node["subquery"]["node"], ctes, node)
            case "TABLE_FUNCTION":
                name = node["function"]["function_name"].lower()
                if name not in FILE_FUNCTIONS:
                    return None
                start, end = self._text_range(node)
                return Relation(alias or name, _lower(self._columns_of(self._model.text[start:end]) or ()), node)
            case "EXPRESSION_LIST":
                return None
        raise self.refusal(f"{_words(node['type'])} is not local to any key", _offset(node))

    def _subquery(self, alias: str, query: Node, ctes: Mapping[str, Any], node: Node) -> Relation:
        renamed = _lower(node.get("column_name_alias") or ())
        names = () if renamed else self._output_names(query, ctes)
        return Relation(alias, renamed or tuple(names or ()), node, query, ctes, is_opaque=not names)

    def _text_range(self, node: Node) -> tuple[int, int]:
        start = character_offset(self._model.text, node["query_location"])
        return start, end_of_reference(self._model.text, start)

    # --- what is found --------------------------------------------------------------------------------------------

    def _keep_by_key(self, relation: Relation, over: list[str]) -> None:
        if relation.query is None:
            start, end = self._text_range(relation.node)
            name = _input_name(self._model.text[start:end])
            columns = tuple(sorted({column for item in over for column in relation.columns if quote(column) in item}))
            found = KeyedInput(name, tuple(over), columns, start, end, bool(relation.node.get("alias")))
            if any(other.start == start and other.key != found.key for other in self.keyed):
                raise self.refusal(f"{name} is read here by two different keys", relation.node["query_location"])
            if found not in self.keyed:  # a CTE that is read twice
                self.keyed.append(found)
            return
        prefix = f"{INPUT_ALIAS}."
        plain = [item.removeprefix(prefix)[1:-1].replace('""', '"') for item in over]
        if any(quote(name) != item.removeprefix(prefix) or name not in relation.columns for name, item in zip(plain, over, strict=True)):
            raise self.refusal("the key is computed over a subquery: compute it inside", _offset(relation.node))
        self.follow(relation.query, plain, relation.ctes)

    def _keep_whole(self, relation: Relation) -> None:
        if relation.query is None:
            start, end = self._text_range(relation.node)
            self.whole.setdefault(_input_name(self._model.text[start:end]), relation.node["query_location"])
        else:
            self._read_whole(relation.query, relation.ctes)

    def _read_subqueries_whole(self, node: Node, ctes: Mapping[str, Any]) -> None:
        for key, value in node.items():
            if key not in ("from_table", "cte_map"):
                for found in inside(value):
                    if found.get("class") == "SUBQUERY":
                        self._read_whole(found["subquery"]["node"], ctes)
        for found in inside(node.get("from_table")):
            if found.get("class") == "SUBQUERY":  # in a join's condition or a function's argument
                self._read_whole(found["subquery"]["node"], ctes)

    def _read_whole(self, query: Any, ctes: Mapping[str, Any]) -> None:
        """Everything that a query reads, at any depth, is read over all keys."""
        pending, seen = [(query, ctes)], set()
        while pending:
            node, scope = pending.pop()
            for found in inside(node):
                scope = _with_ctes(found, scope) if found.get("cte_map") else scope
                is_table = found.get("type") == "BASE_TABLE"
                if is_table and not found["schema_name"] and found["table_name"].lower() in scope:
                    cte = scope[found["table_name"].lower()]
                    if id(cte[0]) not in seen:
                        seen.add(id(cte[0]))
                        pending.append(cte)
                elif is_table or (
                    found.get("type") == "TABLE_FUNCTION" and found["function"]["function_name"].lower() in FILE_FUNCTIONS
                ):
                    start, end = self._text_range(found)
                    self.whole.setdefault(_input_name(self._model.text[start:end]), found["query_location"])


def _with_ctes(node: Node, ctes: Mapping[str, Any]) -> Mapping[str, Any]:
    """CTEs by name, each with those it sees itself."""
    found = dict(ctes)
    for entry in node.get("cte_map", {}).get("map", []):
        found[str(entry["key"]).lower()] = (entry["value"]["query_node"], dict(found))
    return found


def _branches(node: Node) -> list[Node]:
    return list(node.get("children") or [node["left"], node["right"]])


def _input_name(written: str) -> str:
    """A table's name without quotes, lower case; a call as it is written."""
    return written if "(" in written or "'" in written else written.replace('"', "").lower()


def _lower(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)


def _offset(node: Node | None) -> int | None:
    place = (node or {}).get("query_location")
    return place if isinstance(place, int) else None


def _first_place(node: Node) -> int | None:
    places = (_offset(found) for found in inside(node.get("select_list") or node))
    return next((place for place in places if place is not None), None)


def _words(kind: str) -> str:
    return kind.lower().replace("_node", "").replace("_", " ")
