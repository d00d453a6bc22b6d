"""The FROM clauses of one model, for the proof of locality: their relations, the columns that joins hold equal, and the names
of a query's columns. What joins rows of other keys is refused (WH221) here; no key is known here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from warehouse.errors import WarehouseError
from warehouse.transform.project.model import Model
from warehouse.transform.sql.block import Block, Column, Relation, equalities, inside
from warehouse.transform.sql.tree import FILE_FUNCTIONS, character_offset, end_of_reference, fault, table_name
from warehouse.transform.sql.tree_nodes import Node

# Columns (name to type) of an input, by the name that the SQL gives it; None for a name of nothing.
ColumnsOf = Callable[[str], Mapping[str, str] | None]
# Pairs of columns (a, b): a row with a given `a` meets only rows with an equal `b`.
Links = list[tuple[Column, Column]]

# Not ASOF: which row of a tie it picks depends on how many rows there are to join.
_JOIN_FORMS = ("REGULAR", "NATURAL", "CROSS", "DEPENDENT")


class FromClauses:
    """What the FROM clauses of a model's SQL name. CTEs are given by `with_ctes`."""

    def __init__(self, model: Model, columns_of: ColumnsOf) -> None:
        self._model = model
        self._columns_of = columns_of

    def refusal(self, message: str, offset: int | None) -> WarehouseError:
        hint = "rewrite the clause, or drop `materialized: incremental` and the key from the header"
        if offset is None or offset > len(self._model.text.encode()):
            return WarehouseError("WH221", message, self._model.place, hint)
        return fault("WH221", message, self._model, offset, hint)

    def output_names(self, node: Node, ctes: Mapping[str, Any]) -> list[str | None]:
        """The names of a query's columns, lower case, in order, up to the first that is not known, which is None."""
        ctes = with_ctes(node, ctes)
        if node["type"] == "SET_OPERATION_NODE":
            if "BY_NAME" not in node["setop_type"]:
                return self.output_names(branches(node)[0], ctes)
            return list(dict.fromkeys(name for branch in branches(node) for name in self.output_names(branch, ctes)))
        if node["type"] != "SELECT_NODE":
            return [None]
        relations, _ = self.relations(node.get("from_table"), ctes)
        return Block(node, relations).names()

    def relations(self, node: Node | None, ctes: Mapping[str, Any]) -> tuple[list[Relation], Links]:
        """The relations of a FROM clause, and the links that its joins make."""
        if node is None or node["type"] in ("EMPTY", "EMPTY_FROM"):
            return [], []
        return self._joined(node, ctes) if node["type"] == "JOIN" else ([self._relation(node, ctes)], [])

    def _joined(self, node: Node, ctes: Mapping[str, Any]) -> tuple[list[Relation], Links]:
        kind, form = node["join_type"], node["ref_type"]
        if kind not in ("INNER", "LEFT", "SEMI", "ANTI") or form not in _JOIN_FORMS:
            if form == "ASOF":
                raise self.refusal("which row of a tie an asof join picks depends on other keys", place_of(node))
            raise self.refusal(f"a {words(kind if form in _JOIN_FORMS else form)} join keeps rows of other keys", place_of(node))
        left, links = self.relations(node["left"], ctes)
        right, right_links = self.relations(node["right"], ctes)
        moved = len(left)
        links = links + [((a + moved, x), (b + moved, y)) for (a, x), (b, y) in right_links]
        shared = [name.lower() for name in node["using_columns"]]
        if form == "NATURAL":
            shared = [name for relation in left for name in relation.columns if any(name in other.columns for other in right)]
        relations = left + right
        is_mutual = kind == "INNER"
        link(links, Block(None, relations), equalities(node.get("condition")), is_mutual, moved)
        for name in shared:
            ends = [Block(None, side).split([name]) for side in (left, right)]
            if ends[0] and ends[1]:
                pair = ((ends[0][0], name), (ends[1][0] + moved, name))
                links += [pair, pair[::-1]] if is_mutual else [pair]
        return left + [
            replace(
                found, merged=found.merged | set(shared), is_nullable=found.is_nullable or kind == "LEFT",
                is_hidden=found.is_hidden or kind in ("SEMI", "ANTI"),
            )
            for found in right
        ], links

    def _relation(self, node: Node, ctes: Mapping[str, Any]) -> Relation:
        alias, aliases = (node.get("alias") or "").lower(), _lower(node.get("column_name_alias") or ())
        if node.get("sample"):
            raise self.refusal("a sample is not local to any key", place_of(node))
        match node["type"]:
            case "BASE_TABLE":
                name = node["table_name"].lower()
                if not node["schema_name"] and name in ctes:
                    query, outer, inner = ctes[name]
                    return self._subquery(alias or name, aliases + inner[len(aliases) :], query, outer, node)
                return self._table(alias or name, aliases, node)
            case "SUBQUERY":
                return self._subquery(alias, aliases, node["subquery"]["node"], ctes, node)
            case "TABLE_FUNCTION":
                name = node["function"]["function_name"].lower()
                if name in FILE_FUNCTIONS:
                    return self._table(alias or name, aliases, node)
                return Relation(alias or name, (), node, is_opaque=True, reads_nothing=True)
            case "EXPRESSION_LIST":
                return Relation(alias, (), node, is_opaque=True, reads_nothing=True)
            case "PIVOT" if not aliases and (found := self._unpivoted(node, ctes)):
                return found
        raise self.refusal(f"{words(node['type'])} is not local to any key", place_of(node))

    def _unpivoted(self, node: Node, ctes: Mapping[str, Any]) -> Relation | None:
        """Of UNPIVOT each row becomes several, with those of its columns that are not listed. None where it groups, or lists columns otherwise
        than by name."""
        columns = [entry["star_expr"] for pivot in node["pivots"] for entry in pivot["entries"]]
        if node["aggregates"] or len(node["pivots"]) > 1 or node["source"]["type"] == "JOIN":
            return None
        if not node["unpivot_names"] or any(column["class"] != "COLUMN_REF" for column in columns):
            return None
        source = self._relation(node["source"], ctes)
        listed = {column["column_names"][-1].lower() for column in columns}
        kept = [column for column in source.columns if column not in listed]
        made = _lower([*node["pivots"][0]["unpivot_names"], *node["unpivot_names"]])
        if source.is_opaque or len({*kept, *made}) != len(kept) + len(made):
            return None
        inner = (*map(source.inner_name, kept), *made)
        places = (*map(source.place, kept), *(len(source.columns) for _ in made))
        alias = (node.get("alias") or f" {id(node)}").lower()  # that of the source names nothing outside
        return replace(source, alias=alias, columns=(*kept, *made), inner=inner, places=places, made=source.made & {*kept} | {*made})

    def _table(self, alias: str, aliases: tuple[str, ...], node: Node) -> Relation:
        inner = tuple(self._columns_of(self.name(node)) or ())
        columns = aliases + _lower(inner[len(aliases) :])
        return Relation(alias, columns, node, inner=inner, is_opaque=len(columns) != len(inner))

    def _subquery(
        self, alias: str, aliases: tuple[str, ...], query: Node, ctes: Mapping[str, Any], node: Node
    ) -> Relation:
        names = self.output_names(query, ctes)
        columns = (*aliases, *(name or "" for name in names[len(aliases) :]))
        # A subquery need not have a name; here it needs one.
        return Relation(alias or f" {id(query)}", columns, node, query, ctes, is_opaque=None in names)

    def name(self, node: Node) -> str:
        """An input's name, without quotes, lower case; a call as it is written."""
        if node["type"] == "BASE_TABLE":
            return table_name(node)
        start, end = self.text_range(node)
        return self._model.text[start:end]

    def text_range(self, node: Node) -> tuple[int, int]:
        start = character_offset(self._model.text, node["query_location"])
        return start, end_of_reference(self._model.text, start)


def link(
    links: Links, block: Block, pairs: Sequence[tuple[Node, Node]], is_mutual: bool, first_right: int = 0
) -> None:
    """Add the links that a condition makes. Where it is not mutual, a left row that meets nothing is kept: then nothing
    follows for the left from the right."""
    for pair in pairs:
        a, b = (block.resolve(end) for end in pair)
        if a is None or b is None:
            continue
        for start, end in ((a, b), (b, a)):
            if is_mutual or start[0] < first_right <= end[0]:
                links.append((start, end))


def with_ctes(node: Node, ctes: Mapping[str, Any]) -> Mapping[str, Any]:
    """CTEs by name: the query, the CTEs that it sees itself, and the names that its columns are given beside its own."""
    entries = (node.get("cte_map") or {}).get("map", [])
    found = dict(ctes)
    for entry in entries:
        name, query = str(entry["key"]).lower(), entry["value"]["query_node"]
        outer = dict(found)
        found[name] = (query, outer, _lower(entry["value"].get("aliases") or ()))
        if query["type"] == "RECURSIVE_CTE_NODE":
            outer[name] = found[name]
    return found


def branches(node: Node) -> list[Node]:
    return list(node.get("children") or [node["left"], node["right"]])


def _lower(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)


def place_of(node: Node | None) -> int | None:
    place = (node or {}).get("query_location")
    return place if isinstance(place, int) else None


def first_place(node: Node) -> int | None:
    places = (place_of(found) for found in inside(node.get("select_list") or node))
    return next((place for place in places if place is not None), None)


def words(kind: str) -> str:
    return kind.lower().replace("_node", "").replace("_", " ")
