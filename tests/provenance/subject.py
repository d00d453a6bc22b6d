"""One query over one database, annotated once and runnable on any part of the data.

The part is chosen per base-table occurrence of the *original* query: the annotated text is only read for its rows.
sqlglot finds the table references; which of them the annotator calls number n is asked by name, not by order.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import duckdb
import sqlglot
from sqlglot import exp

from warehouse.trace.provenance.annotator import annotate
from warehouse.trace.provenance.syntax.writing import written

Keep = Mapping[int, Collection[int]]  # place of a table reference -> the tokens whose rows stay
_MARK = "__at_"


@dataclass(frozen=True)
class Database:
    """Tables each of whose rows has one integer of its own in a column (or `rowid`); a table without it has no token."""

    connection: duckdb.DuckDBPyConnection
    catalog: Mapping[str, Sequence[str]]
    key: str = "id"

    @property
    def tokens(self) -> dict[str, str]:
        named = (table for table, columns in self.catalog.items() if self.key == "rowid" or self.key in columns)
        return dict.fromkeys(named, "{alias}." + self.key)


@dataclass(frozen=True)
class Row:
    """One output row: its data, its why-set by occurrence number, its cells by column and occurrence number."""

    data: tuple
    why: Mapping[int, tuple[int, ...]]
    cells: Mapping[tuple[str, int], tuple[tuple[str, int], ...]]


class Subject:
    """Raises `WarehouseError` when the annotator refuses, `duckdb.Error` when the original does not run."""

    def __init__(self, sql: str, database: Database, values: Sequence[str] = ()) -> None:
        self.sql, self.database = sql, database
        self.tree = sqlglot.parse_one(sql, dialect="duckdb")
        self.values = tuple(values)
        self.annotated = annotate(sql, database.catalog, database.tokens, self.values, unique=database.tokens)
        original = database.connection.execute(sql)
        self.types = [description[:2] for description in original.description]
        self.result = original.fetchall()
        self.tables = [table_name(reference) for reference in base_references(self.tree, database.catalog)]
        self.numbers = self._numbers()
        self._restricted = self.rewritten({})
        self._answers: dict[tuple, frozenset[str]] = {}

    def rows(self) -> list[Row]:
        """The rows of the annotated query, in its order."""
        cursor = self.database.connection.execute(self.annotated.sql)
        self.annotated_types = [description[:2] for description in cursor.description][: len(self.annotated.columns)]
        names = [description[0] for description in cursor.description]
        return [self._row(dict(zip(names, row, strict=True)), row) for row in cursor.fetchall()]

    def _row(self, fields: dict, row: tuple) -> Row:
        numbers = [occurrence.number for occurrence in self.annotated.occurrences]
        cells = {
            (value, n): tuple(dict.fromkeys((cell["c"], cell["t"]) for cell in fields[f"__cell_{i}_{n}"]))
            for i, value in enumerate(self.values)
            for n in numbers
        }
        why = {n: tuple(sorted(set(fields[f"__why_{n}"]))) for n in numbers}
        return Row(row[: len(self.annotated.columns)], why, cells)

    def kept(self, row: Row) -> dict[int, set[int]]:
        """The why-set of a row by place. A place that the annotator reads twice keeps both sets."""
        return {place: {t for n in numbers for t in row.why[n]} for place, numbers in self.numbers.items()}

    def contains(self, row: Row, keep: Keep) -> bool:
        """Whether the original yields the row when every table reference is cut down to the kept rows."""
        part = tuple((place, tuple(sorted(tokens))) for place, tokens in keep.items())
        if part not in self._answers:  # causality asks about the same few parts again and again
            self._answers[part] = frozenset(map(row_key, self.run_text(self._restricted, keep, {})))
        return row_key(row.data) in self._answers[part]

    def run(self, keep: Keep) -> list[tuple]:
        return self.run_text(self._restricted, keep, {})

    def run_text(self, sql: str, keep: Keep, listed: Mapping[str, list[int]]) -> list[tuple]:
        parameters = {f"keep_{place}": sorted(tokens) for place, tokens in keep.items()} | listed
        return self.database.connection.execute(sql, parameters or None).fetchall()

    def rewritten(self, replaced: Mapping[int, Mapping[str, str]]) -> str:
        """The original with each reference read through `$keep_<place>`; `replaced` gives other values of columns."""
        tree = self.tree.copy()
        for place, reference in enumerate(base_references(tree, self.database.catalog)):
            changed = ", ".join(f'{value} as "{name}"' for name, value in replaced.get(place, {}).items())
            star = f"* replace ({changed})" if changed else "*"
            table = exp.Table(**{part: reference.args.get(part) for part in ("this", "db", "catalog")}).sql("duckdb")
            body = sqlglot.parse_one(
                f"select {star} from {table} where {self.database.key} in (select unnest($keep_{place}::bigint[]))",
                dialect="duckdb",
            )
            alias = reference.args.get("alias") or exp.TableAlias(this=exp.to_identifier(reference.name, quoted=True))
            tail = {name: reference.args.get(name) for name in ("pivots", "joins", "laterals")}
            reference.replace(exp.Subquery(this=body, alias=alias, **tail))
        _strip_schemas(tree, self.tables)
        return written(tree)

    def _numbers(self) -> dict[int, list[int]]:
        """Place of a reference -> the annotator's numbers for it, told apart by giving every place its own table."""
        tree, catalog = self.tree.copy(), {}
        for place, reference in enumerate(base_references(tree, self.database.catalog)):
            table = table_name(reference)
            alias = reference.args.get("alias") or exp.TableAlias()
            if alias.this is None:
                alias.set("this", exp.to_identifier(reference.name, quoted=True))
            reference.set("this", exp.to_identifier(f"{reference.name}{_MARK}{place}"))
            reference.set("alias", alias)
            catalog[f"{table}{_MARK}{place}"] = self.database.catalog[table]
        _strip_schemas(tree, self.tables)
        # The text of a tree spells types anew, and a column that is called by such a word is refused.
        for position, item in enumerate(tree.selects if isinstance(tree, exp.Query) else []):
            if isinstance(item, exp.Cast):
                item.replace(exp.alias_(item.copy(), f"cast_{position}"))
        tokens = dict.fromkeys(catalog, "{alias}." + self.database.key)
        found = annotate(written(tree), catalog, tokens).occurrences
        numbered = [occurrence.table.split(_MARK) for occurrence in found]
        assert [table for table, _ in numbered] == [occurrence.table for occurrence in self.annotated.occurrences]
        numbers: dict[int, list[int]] = {place: [] for place in range(len(self.tables))}
        for occurrence, (_, place) in zip(found, numbered, strict=True):
            numbers[int(place)].append(occurrence.number)
        assert all(numbers.values()), f"a table reference without an occurrence: {numbers}"
        return numbers


def base_references(tree: exp.Expression, catalog: Mapping[str, Sequence[str]]) -> list[exp.Table]:
    """The references to base tables in a fixed order; a name that a WITH around it defines is none."""
    tables = [node for node in tree.walk(bfs=False) if isinstance(node, exp.Table) and not _names_cte(node)]
    return [table for table in tables if isinstance(table.this, exp.Identifier) and table_name(table) in catalog]


def table_name(reference: exp.Table) -> str:
    return ".".join(part.name.lower() for part in reference.parts)


def _names_cte(table: exp.Table) -> bool:
    if table.db:
        return False
    below, node = table, table.parent
    within: exp.CTE | None = None
    while node is not None:
        if isinstance(below, exp.CTE):
            within = below
        if isinstance(node, exp.With):
            names = [cte.alias.lower() for cte in node.expressions]
            visible = names[: node.expressions.index(within) + bool(node.args.get("recursive"))]
            if table.name.lower() in visible:
                return True
        elif isinstance(node, exp.Query) and not isinstance(below, exp.With):
            written = node.args.get("with_")
            names = [cte.alias.lower() for cte in written.expressions] if written is not None else []
            if table.name.lower() in names:
                return True
        below, node = node, node.parent
    return False


def _strip_schemas(tree: exp.Expression, tables: Collection[str]) -> None:
    """`feed.run.id` as `run.id`: what stands in a table's place has no schema. `alias.struct.field` stays."""
    for column in tree.find_all(exp.Column):
        if f"{column.text('db')}.{column.table}".lower() in tables:
            column.set("db", None)


def same_rows(left: Iterable[tuple], right: Iterable[tuple]) -> bool:
    return sorted(map(row_key, left)) == sorted(map(row_key, right))


def row_key(row: tuple) -> str:
    """Equal for rows that are the same but for the last bits of floats: another plan adds them in another order."""
    return repr(tuple(map(_plain, row)))


def _plain(value: object) -> object:
    if isinstance(value, float):
        return f"{value + 0.0:.9g}"
    if isinstance(value, Decimal):
        return str(value.normalize())
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return [(name, _plain(part)) for name, part in value.items()]
    if isinstance(value, (datetime.date, datetime.timedelta)):
        return str(value)
    return value
