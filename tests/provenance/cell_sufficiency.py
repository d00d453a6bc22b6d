"""Whether the cells of a value are enough: every other cell is changed, and the value must not change.

Cell evidence follows the value, not the decision. So the columns that decide anything (conditions, keys, orders,
CASE) keep their values; every other cell outside of the set is overwritten, a NULL only by NULL.
"""

from __future__ import annotations

from provenance.subject import Row, Subject, row_key
from sqlglot import exp

_DECIDING = (exp.Where, exp.Group, exp.Having, exp.Qualify, exp.Order, exp.Exists, exp.In, exp.Distinct, exp.Pivot)
_BOUNDARIES = (exp.From, exp.CTE, exp.Lateral)
# By type; of any other type NULL. Small enough that a product of two does not overflow.
_OTHER = {"INTEGER": "{} + 1003", "BIGINT": "{} + 1003", "DOUBLE": "{} + 1003", "VARCHAR": "{} || '~'"}


def deciding_columns(tree: exp.Expression) -> set[str]:
    """Names of the columns that decide something anywhere in the query; a name decides for all that bear it.

    An output column that decides one level up makes what it is computed from decide, too.
    """
    names = {column.name.lower() for column in tree.find_all(exp.Column) if _decides(column)}
    if any(join.method == "NATURAL" for join in tree.find_all(exp.Join)):
        names |= {column.name.lower() for column in tree.find_all(exp.Column)}  # it compares columns without naming them
    names |= {name.name.lower() for join in tree.find_all(exp.Join) for name in join.args.get("using") or []}
    while True:
        found = names | {
            column.name.lower()
            for select in tree.find_all(exp.Select)
            for position, item in enumerate(select.expressions)
            if _is_key(select, position) or {item.alias_or_name.lower(), *_names_above(select, position)} & names
            for column in item.find_all(exp.Column)
        }
        # unnest(..) as u(x), with c(x) as ..: what x is made of is anything below.
        found |= {
            column.name.lower()
            for alias in tree.find_all(exp.TableAlias)
            if {name.name.lower() for name in alias.columns} & names
            for column in alias.parent.find_all(exp.Column)
        }
        if found == names:
            return names
        names = found


def _decides(column: exp.Column) -> bool:
    below, node = column, column.parent
    while node is not None and not isinstance(node, _BOUNDARIES):
        if isinstance(node, _DECIDING) and not _only_sorts(node) or _chooses(node, below):
            return True
        if isinstance(node, exp.Join):
            return below is not node.this
        if isinstance(node, exp.Select) and node.args.get("distinct") is not None:
            return True
        if isinstance(node, exp.SetOperation) and (not isinstance(node, exp.Union) or node.args.get("distinct")):
            return True
        below, node = node, node.parent
    return False


def _only_sorts(node: exp.Expression) -> bool:
    """ORDER BY of a query whose rows all stay."""
    query = node.parent
    is_tail = isinstance(node, exp.Order) and isinstance(query, exp.Query)
    return is_tail and not (query.args.get("limit") or query.args.get("offset"))


def _chooses(node: exp.Expression, part: exp.Expression) -> bool:
    """Whether `part` of an expression says which value is taken, and is not that value."""
    if isinstance(node, exp.If):
        return part is node.this
    if isinstance(node, exp.Case):
        return part is node.this
    if isinstance(node, (exp.Filter, exp.Window, exp.ArgMax, exp.ArgMin)):
        return part is not node.this
    return False


def _is_key(select: exp.Select, position: int) -> bool:
    """Whether GROUP BY ALL, or GROUP BY or ORDER BY with a number, reads this column."""
    group, order = select.args.get("group"), select.args.get("order")
    if group is not None and group.args.get("all") and not select.expressions[position].find(exp.AggFunc):
        return True
    keys = list(group.expressions) if group is not None else []
    keys += [ordered.this for ordered in order.expressions] if order is not None else []
    return any(isinstance(key, exp.Literal) and key.name == str(position + 1) for key in keys)


def _names_above(select: exp.Select, position: int) -> set[str]:
    """What a branch of a set operation is called outside: by its first branch."""
    node, names = select.parent, set()
    while isinstance(node, (exp.SetOperation, exp.Subquery)):
        first = node.find(exp.Select) if isinstance(node, exp.SetOperation) else None
        if first is not None and position < len(first.expressions):
            names.add(first.expressions[position].alias_or_name.lower())
        node = node.parent
    return names


class Perturbation:
    """The original query over tables in which every cell that neither decides nor is listed is overwritten."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        deciding = deciding_columns(subject.tree)
        read = {column.name.lower() for column in subject.tree.find_all(exp.Column)}
        self.columns = {
            place: [name for name in subject.database.catalog[table] if name.lower() in read - deciding]
            for place, table in enumerate(subject.tables)
        }
        # The row is found again by the columns that stay as they are.
        self._anchors = [i for i, name in enumerate(subject.annotated.columns) if name.lower() in deciding]
        self._texts = {how: subject.rewritten(self._replaced(how)) for how in ("another value", "NULL")}

    @property
    def is_empty(self) -> bool:
        return not any(self.columns.values())

    def _replaced(self, how: str) -> dict[int, dict[str, str]]:
        return {
            place: {name: self._changed(place, name, how) for name in columns if name != self.subject.database.key}
            for place, columns in self.columns.items()
        }

    def _changed(self, place: int, name: str, how: str) -> str:
        table, key = self.subject.tables[place], self.subject.database.key
        kinds = self.subject.database.connection.execute(f"describe {table}").fetchall()
        [kind] = [kind for column, kind, *_ in kinds if column == name]
        other = _OTHER.get(kind, "null").format(f'"{name}"') if how != "NULL" else "null"
        listed = f"{key} in (select unnest($cells_{place}_{name}::bigint[]))"
        return f'case when {listed} then "{name}" else cast({other} as {kind}) end'

    def faults(self, row: Row) -> list[str]:
        """The values of the row that changed though none of their cells did."""
        return [
            f"cells: {value} of {row.data} changed when other cells were set to {how}: {dict(row.cells)}"
            for value in self.subject.values
            for how, text in self._texts.items()
            if not self._stays(row, value, text)
        ]

    def _stays(self, row: Row, value: str, text: str) -> bool:
        listed = {
            f"cells_{place}_{name}": sorted(
                {t for n in self.subject.numbers[place] for c, t in row.cells[value, n] if c.lower() == name.lower()}
            )
            for place, columns in self.columns.items()
            for name in columns
            if name != self.subject.database.key
        }
        seen = [*self._anchors, self.subject.annotated.columns.index(value)]
        wanted = row_key(tuple(row.data[i] for i in seen))
        found = self.subject.run_text(text, self.subject.kept(row), listed)
        return any(row_key(tuple(other[i] for i in seen)) == wanted for other in found)
