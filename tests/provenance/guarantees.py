"""The four guarantees of a why-set and its precision, decided by deleting rows and running the original again.

G1 and G2 hold for every traced query. G3 and G4 are promised only where `is_monotone` says so, and are otherwise
reported as what they are. Nothing here reads the text that the annotator wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from sqlglot import exp

from provenance.subject import Row, Subject, row_key, same_rows

CONTINGENCIES = 16

_AGGREGATES = (exp.AggFunc, exp.Window, exp.Distinct, exp.Group, exp.Having)


def identity(subject: Subject, rows: list[Row]) -> list[str]:
    """G1: the same rows under the same names and types, in the same order where the query fixes one."""
    found = []
    if subject.annotated_types != subject.types:
        found.append(f"G1: columns {subject.annotated_types} are not {subject.types}")
    got, expected = [row.data for row in rows], subject.result
    is_ordered = subject.tree.args.get("order") is not None
    same = [*map(row_key, got)] == [*map(row_key, expected)] if is_ordered else same_rows(got, expected)
    return found if same else [*found, f"G1: {got} is not {expected}"]


def faithful(subject: Subject) -> bool:
    """Whether the query read through the restriction, with every row kept, is still the original."""
    tokens = {
        table: [t for (t,) in subject.database.connection.execute(f"select {subject.database.key} from {table}").fetchall()]
        for table in set(subject.tables)
    }
    return same_rows(subject.run({place: tokens[table] for place, table in enumerate(subject.tables)}), subject.result)


def contains(subject: Subject, keep: dict[int, set[int]], row: Row) -> bool:
    wanted = row_key(row.data)
    return any(row_key(found) == wanted for found in subject.run(keep))


def sufficiency(subject: Subject, row: Row) -> list[str]:
    """G2: every occurrence cut down to its own why-set, the row is still there."""
    if contains(subject, subject.kept(row), row):
        return []
    return [f"G2: {row.data} is lost when only its why-sets are kept: {dict(row.why)}"]


def _by_table(subject: Subject, row: Row) -> dict[str, set[int]]:
    tables: dict[str, set[int]] = {table: set() for table in subject.tables}
    for place, tokens in subject.kept(row).items():
        tables[subject.tables[place]] |= tokens
    return tables


def table_sufficiency(subject: Subject, row: Row) -> bool:
    """G3: every table cut down once, to the union of what its occurrences list."""
    tables = _by_table(subject, row)
    return contains(subject, {place: tables[table] for place, table in enumerate(subject.tables)}, row)


def retraction_stability(subject: Subject, row: Row, random: Random, samples: int = 3) -> bool:
    """G4, sampled: rows outside the why-sets are removed at random, and the row stays."""
    tables = _by_table(subject, row)
    key = subject.database.key
    outside = {
        table: [
            t
            for (t,) in subject.database.connection.execute(f"select {key} from {table} order by all").fetchall()
            if t not in kept
        ]
        for table, kept in tables.items()
    }
    for _ in range(samples):
        share = random.choice([0.2, 0.5, 0.8])
        kept = {table: tables[table] | {t for t in outside[table] if random.random() < share} for table in tables}
        if not contains(subject, {place: kept[table] for place, table in enumerate(subject.tables)}, row):
            return False
    return True


def is_monotone(tree: exp.Expression) -> bool:
    """Whether G3 and G4 are promised: selection, join, union and positive IN or EXISTS, under one aggregation at most.

    A row that another row keeps out (a negation, the NULL side of an outer join, a limit, an aggregate below) may come
    in when that other row is removed, though no why-set lists it.
    """
    if tree.find(exp.Not, exp.Except, exp.Intersect, exp.Limit, exp.Offset, exp.All, exp.Any, exp.Lateral, exp.Pivot):
        return False
    if any(isinstance(with_, exp.With) and with_.args.get("recursive") for with_ in tree.find_all(exp.With)):
        return False
    if any((join.side or join.kind or join.method or "").upper() not in ("", "INNER", "CROSS", "SEMI") for join in tree.find_all(exp.Join)):
        return False
    if any(union.args.get("distinct") for union in tree.find_all(exp.Union)):
        return False
    return len({id(node.find_ancestor(exp.Select, exp.Union)) for node in tree.find_all(*_AGGREGATES)}) <= 1


def causes(subject: Subject, row: Row, tokens: Iterable[tuple[int, int]], random: Random) -> int:
    """How many of the (place, token) pairs are causes: without one of them, under some contingency, the row's presence
    changes. The contingency is a set of other why-tokens that are removed beforehand."""
    return sum(_is_cause(subject, row, place, token, random) for place, token in tokens)


def _is_cause(subject: Subject, row: Row, place: int, token: int, random: Random) -> bool:
    kept = subject.kept(row)
    if not contains(subject, _without(kept, {(place, token)}), row):
        return True
    others = [(p, t) for p, tokens in kept.items() for t in sorted(tokens) if (p, t) != (place, token)]
    for _ in range(CONTINGENCIES if others else 0):
        removed = set(random.sample(others, random.randint(1, len(others))))
        with_it = contains(subject, _without(kept, removed), row)
        if with_it != contains(subject, _without(kept, removed | {(place, token)}), row):
            return True
    return False


def _without(kept: dict[int, set[int]], removed: set[tuple[int, int]]) -> dict[int, set[int]]:
    return {place: {t for t in tokens if (place, t) not in removed} for place, tokens in kept.items()}


def why_tokens(subject: Subject, row: Row) -> list[tuple[int, int]]:
    return [(place, token) for place, tokens in subject.kept(row).items() for token in sorted(tokens)]
