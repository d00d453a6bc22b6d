"""Which rows of a table are meant: `name=value,name!=value`, with * in values, and nothing behind the sign for what is not stated."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.transform.sql.duck import quote

_NEXT = re.compile(r",(?=\w+!?=)")
_CONDITION = re.compile(r"(?P<name>\w+)(?P<negated>!?)=(?P<value>.*)", re.DOTALL)


@dataclass(frozen=True)
class Condition:
    """One condition on a column; `value` is empty for rows without one."""

    name: str
    is_negated: bool
    value: str

    def __str__(self) -> str:
        return f"{self.name}{'!' if self.is_negated else ''}={self.value}"

    def sql(self) -> tuple[str, list[str]]:
        """The condition as SQL, with its values."""
        column = f"{quote(self.name)}::varchar"
        clause, values = (f"{column} is null", []) if not self.value else (f"{column} {'glob' if '*' in self.value else '='} ?", [self.value])
        return (f"({clause}) is not true" if self.is_negated else clause), values


def read_conditions(text: str | None, columns: Iterable[str]) -> tuple[Condition, ...]:
    """Raises WH601 for another text, and for a column that the table has not."""
    known, found = set(columns), []
    for part in _NEXT.split(text) if text else ():
        match = _CONDITION.fullmatch(part)
        if match is None:
            raise WarehouseError("WH601", f"cannot read {printable(part)!r}", "where", "write name=value,name=value", ExitCode.USAGE)
        if match["name"] not in known:
            hint = did_you_mean(match["name"], sorted(known))
            raise WarehouseError("WH601", f"these results have no column {printable(match['name'])}", "where", hint, ExitCode.USAGE)
        found.append(Condition(match["name"], bool(match["negated"]), match["value"]))
    return tuple(found)


def where_sql(conditions: Iterable[Condition]) -> tuple[str, list[str]]:
    """All of the conditions as SQL, with their values."""
    clauses, values = ["true"], list[str]()
    for each in conditions:
        clause, given = each.sql()
        clauses.append(clause)
        values += given
    return " and ".join(clauses), values


def with_value(conditions: Iterable[Condition], name: str, value: str | None) -> str | None:
    """The text of the conditions with another value of a column; without one, with none on it. A value that would be read as the next
    condition is matched without its commas."""
    kept = [str(each) for each in conditions if each.name != name]
    if value is not None:
        kept.append(str(Condition(name, False, _NEXT.sub("*", value))))
    return ",".join(kept) or None
