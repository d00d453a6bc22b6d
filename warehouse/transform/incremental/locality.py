"""Whether a model's SQL is local to its key: whether the rows of one key come from the rows of that key alone.

Then a change of some input rows touches only the keys of those rows, and the table can be brought up to date by these.
The proof follows the key, from the output down through blocks, CTEs, unions and joins, to the inputs that carry it; every
other input is read whole, and a change of one means a full build. It fails closed: what no rule allows is refused (WH221)
with the clause.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.transform.project.model import Model
from warehouse.transform.sql.aggregates import AGGREGATES
from warehouse.transform.sql.block import Block, Column, Relation, equalities, inside, shape
from warehouse.transform.sql.duck import quote, text_literal
from warehouse.transform.sql.from_clause import ColumnsOf, FromClauses, Links, branches, first_place, link, place_of, with_ctes, words
from warehouse.transform.sql.tree_nodes import Node
from warehouse.transform.sql.whole_reads import inputs_of, queries_of

if TYPE_CHECKING:
    import duckdb

INPUT_ALIAS = "input"  # what `KeyedInput.key` calls the input's rows
# Aggregates that break a tie by the layout of a hash table, which other keys share.
_TIED_BY_OTHERS = frozenset(("mode", "approx_top_k", "reservoir_quantile"))


@dataclass(frozen=True)
class KeyedInput:
    """An input that carries the key: its name (or the call that reads it), the key's columns as SQL over its rows, the
    columns which that uses, and where its name is in the model's text (characters, alias left out)."""

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
    con: "duckdb.DuckDBPyConnection", model: Model, tree: Node, key: Sequence[str], columns_of: ColumnsOf
) -> Locality:
    """Prove that `model` is local to `key`, columns of its output. Raises WH221 with the clause that is not."""
    proof = _Proof(con, model, columns_of)
    proof.follow_names(tree["node"], key)
    for name, offset in proof.whole.items():
        if any(found.name == name for found in proof.keyed):
            raise proof.refusal(f"{name} is read over all keys here, and by key elsewhere", offset)
    return Locality(tuple(proof.keyed), frozenset(proof.whole))


class _Proof:
    """One walk down a model's tree; what it finds gathers in `keyed` and `whole` (name to byte offset)."""

    def __init__(self, con: "duckdb.DuckDBPyConnection", model: Model, columns_of: ColumnsOf) -> None:
        self._con = con
        self._from = FromClauses(model, columns_of)
        self.refusal = self._from.refusal
        self.keyed: list[KeyedInput] = []
        self.whole: dict[str, int] = {}

    def follow_names(self, node: Node, key: Sequence[str]) -> None:
        """Follow the output columns `key` of a whole statement to the inputs."""
        names = self._from.output_names(node, {})
        for column in key:
            if column.lower() not in names:
                raise self.refusal(f"where {column} comes from is not known", first_place(node))
        self.follow(node, [names.index(column.lower()) for column in key], {})

    def follow(self, node: Node, key: Sequence[int | None], ctes: Mapping[str, Any]) -> None:
        """Follow the output columns at the places `key` of a query (None: a column it has not, NULL) to the inputs."""
        ctes = with_ctes(node, ctes)
        self._check_modifiers(node)
        match node["type"]:
            case "SELECT_NODE":
                self._follow_block(node, key, ctes)
            case "SET_OPERATION_NODE":
                self._follow_set(node, key, ctes)
            case other:
                raise self.refusal(f"{words(other)} is not local to any key", place_of(node))

    # --- blocks -------------------------------------------------------------------------------------------------

    def _follow_block(self, node: Node, key: Sequence[int | None], ctes: Mapping[str, Any]) -> None:
        if node.get("sample"):
            raise self.refusal("a sample is not local to any key", place_of(node))
        relations, links = self._from.relations(node.get("from_table"), ctes)
        block = Block(node, relations)
        link(links, block, equalities(node.get("where_clause")), is_mutual=True)
        expressions = [self._key_expression(block, place) for place in key]
        equal = [self._equal_columns(block, expression, links) for expression in expressions]
        self._check_grouping(block, expressions, equal)
        self._check_windows(block, expressions, equal)
        for query in queries_of(node):
            self._read_whole(query, ctes)
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
        if not carriers and not all(relation.reads_nothing for relation in relations):
            names = block.names()
            told = ", ".join(str(names[place]) for place in key if place is not None)
            raise self.refusal(f"no input of this block carries {told}", first_place(node))

    def _key_expression(self, block: Block, place: int | None) -> Node | None:
        """The expression of an output column; None for NULL."""
        if place is None:
            return None
        found = block.output(place)
        if found is None:
            raise self.refusal("where the key comes from is not known", first_place(block.node))
        return found

    def _equal_columns(self, block: Block, expression: Node | None, links: Links) -> set[Column]:
        """The columns of the block that equal a key expression in every row that they meet."""
        if expression is None:
            return set()
        if any(owner >= 0 and block.relations[owner].is_nullable for owner in block.owners(block.meant(expression))):
            raise self.refusal(
                "the key comes from the side of a left join that may be missing: rows without it share NULL",
                place_of(expression),
            )
        start = block.resolve(expression)
        equal = {start} if start else set()
        while grown := {b for a, b in links if a in equal and b not in equal}:
            equal |= grown
        return equal

    def _over(self, block: Block, number: int, expression: Node | None, equal: set[Column]) -> "_Over | None":
        """A key expression over the rows of one relation; None when it is not of that relation."""
        if expression is None:
            return _Over(None, "null")
        relation = block.relations[number]
        column = next((column for owner, column in sorted(equal) if owner == number and column not in relation.made), None)
        if column is not None:
            inner = relation.inner_name(column)
            return _Over(column, f"{INPUT_ALIAS}.{quote(inner)}", frozenset((inner,)))
        if equal or block.owners(expression) - {number}:
            return None
        for found in inside(expression):
            is_of_several = self._is_aggregate(found) or (found.get("function_name") or "").lower() == "unnest"
            if is_of_several or found.get("class") in ("SUBQUERY", "WINDOW"):
                raise self.refusal("the key is not computed from one row of an input", place_of(expression))
        names = [block.split(found["column_names"]) for found in inside(expression) if found.get("class") == "COLUMN_REF"]
        if any(name and name[1] in relation.made for name in names):
            return None
        used = frozenset(relation.inner_name(name[1]) for name in names if name)
        return _Over(None, self._as_sql(block, expression), used)

    def _as_sql(self, block: Block, expression: Node) -> str:
        """An expression over one relation as SQL over `input`."""
        moved = json.loads(json.dumps(expression))
        for node in inside(moved):
            if node.get("class") == "COLUMN_REF":
                owner, column, rest = block.split(node["column_names"]) or (0, "", [])
                node["column_names"] = [INPUT_ALIAS, block.relations[owner].inner_name(column), *rest]
        moved["alias"] = ""
        frame = json.loads(self._con.execute("select json_serialize_sql('select 1')").fetchall()[0][0])
        frame["statements"][0]["node"]["select_list"] = [moved]
        text = self._con.execute(f"select json_deserialize_sql({text_literal(json.dumps(frame))}::json)").fetchall()[0][0]
        return str(text).removeprefix("SELECT ")

    def _check_grouping(self, block: Block, expressions: list[Node | None], equal: list[set[Column]]) -> None:
        node = block.node
        if len(node["group_sets"]) > 1:
            raise self.refusal("several grouping sets: one of them leaves the key out", place_of(node["group_expressions"][0]))
        called = [*node["select_list"], node.get("having"), node.get("qualify")]
        for found in inside(called):
            if str(found.get("function_name")).lower() in _TIED_BY_OTHERS:
                message = f"which value {found['function_name']} gives in a tie depends on rows of other keys"
                raise self.refusal(message, place_of(found))
        of_block = inside(called, closed=("WINDOW", "SUBQUERY"))
        aggregate = next((found for found in of_block if self._is_aggregate(found)), None)
        if node["aggregate_handling"] == "FORCE_AGGREGATES":  # group by all: by every item that aggregates nothing
            groups = [item for item in node["select_list"] if not any(map(self._is_aggregate, inside(item)))]
        elif node["group_expressions"]:
            groups = [block.group(expression) for expression in node["group_expressions"]]
        elif aggregate:
            raise self.refusal("an aggregate over all keys: group by the key", place_of(aggregate))
        else:
            return
        place = place_of((node["group_expressions"] or node["select_list"])[0])
        self._check_contains(block, groups, expressions, equal, "the grouping leaves the key out", place)

    def _is_aggregate(self, node: Node) -> bool:
        return node.get("class") == "FUNCTION" and node["function_name"].lower() in AGGREGATES

    def _check_windows(self, block: Block, expressions: list[Node | None], equal: list[set[Column]]) -> None:
        node = block.node
        for found in inside([node["select_list"], node.get("qualify"), node["modifiers"]], closed=("SUBQUERY",)):
            if found.get("class") == "WINDOW":
                message = "the window reaches over several keys: partition by the key"
                self._check_contains(block, found["partitions"], expressions, equal, message, place_of(found))
        for modifier in node["modifiers"]:
            targets = modifier.get("distinct_on_targets")
            if targets:
                message = "distinct on leaves the key out"
                meant = [target for target in map(block.distinct_target, targets) if target is not None]
                self._check_contains(block, meant, expressions, equal, message, place_of(targets[0]))

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
                raise self.refusal("a limit counts over all keys", place_of(limit) or first_place(node))

    # --- unions -------------------------------------------------------------------------------------------------

    def _follow_set(self, node: Node, key: Sequence[int | None], ctes: Mapping[str, Any]) -> None:
        by_name = self._from.output_names(node, ctes) if "BY_NAME" in node["setop_type"] else None
        for branch in branches(node):
            names = self._from.output_names(branch, ctes)
            if None in names:
                raise self.refusal("its columns are chosen by a pattern: name them", first_place(branch))
            if by_name is None:
                self.follow(branch, key, ctes)
            else:
                wanted = [None if place is None else by_name[place] for place in key]
                self.follow(branch, [names.index(name) if name in names else None for name in wanted], ctes)

    # --- what is found --------------------------------------------------------------------------------------------

    def _keep_by_key(self, relation: Relation, over: "Sequence[_Over]") -> None:
        if relation.query is None:
            (start, end), name = self._from.text_range(relation.node), self._from.name(relation.node)
            used = tuple(sorted(set().union(*(item.uses for item in over))))
            key, is_aliased = tuple(item.sql for item in over), bool(relation.node.get("alias"))
            found = KeyedInput(name, key, used, start, end, is_aliased)
            if any(other.start == start and other.key != found.key for other in self.keyed):
                raise self.refusal(f"{name} is read here by two different keys", relation.node["query_location"])
            if found not in self.keyed:  # a CTE that is read twice
                self.keyed.append(found)
            return
        if any(item.column is None and item.sql != "null" for item in over):
            raise self.refusal("the key is computed over a subquery: compute it inside", place_of(relation.node))
        places = [None if item.column is None else relation.place(item.column) for item in over]
        self.follow(relation.query, places, relation.ctes)

    def _keep_whole(self, relation: Relation) -> None:
        if relation.query is not None:
            self._read_whole(relation.query, relation.ctes)
        elif not relation.reads_nothing:
            self.whole.setdefault(self._from.name(relation.node), relation.node["query_location"])

    def _read_whole(self, query: Node, ctes: Mapping[str, Any]) -> None:
        for read in inputs_of(query, ctes):
            self.whole.setdefault(self._from.name(read), read["query_location"])


@dataclass(frozen=True)
class _Over:
    """A key's column over one relation: the relation's own column where it plainly is one, SQL over `input`, and the
    columns that the SQL uses."""

    column: str | None
    sql: str
    uses: frozenset[str] = frozenset()
