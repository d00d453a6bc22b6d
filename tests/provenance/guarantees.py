"""The four guarantees of a why-set and its precision, decided by deleting rows and running the original again.

G1 and G2 hold for every traced query. G3 and G4 are promised only where a publication would promise them
(`claims.publish.guarantees`), and are otherwise reported as what they are. Nothing here reads the text that the annotator wrote.
"""

from __future__ import annotations

from random import Random

from provenance.subject import Row, Subject, row_key, same_rows

CONTINGENCIES = 16


def identity(subject: Subject, rows: list[Row]) -> list[str]:
    """G1: the same rows under the same names and types, in the same order where the query fixes one."""
    found = []
    if subject.annotated_types != subject.types:
        found.append(f"G1: columns {subject.annotated_types} are not {subject.types}")
    got, expected = [row.data for row in rows], subject.result
    is_ordered = subject.tree.args.get("order") is not None
    same = [*map(row_key, got)] == [*map(row_key, expected)] if is_ordered else same_rows(got, expected)
    return found if same else [*found, f"G1: {got} is not {expected}"]


def restriction_faults(subject: Subject) -> list[str]:
    """The query read through the restrictions, with every row kept, must be the original: else they show nothing."""
    kept = {place: set(_all_tokens(subject, table)) for place, table in enumerate(subject.tables)}
    return [] if same_rows(subject.run(kept), subject.result) else ["restriction: the restricted form is another query"]


def _all_tokens(subject: Subject, table: str) -> list[int]:
    database = subject.database
    found = database.connection.execute(f"select {database.key} as t from {table} order by t").fetchall()
    return [token for (token,) in found]


def sufficiency(subject: Subject, row: Row) -> list[str]:
    """G2: every occurrence cut down to its own why-set, the row is still there."""
    if subject.contains(row, subject.kept(row)):
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
    return subject.contains(row, {place: tables[table] for place, table in enumerate(subject.tables)})


def retraction_stability(subject: Subject, row: Row, random: Random, samples: int = 2) -> bool:
    """G4, sampled: rows outside the why-sets are removed at random, and the row stays."""
    tables = _by_table(subject, row)
    outside = {table: [t for t in _all_tokens(subject, table) if t not in kept] for table, kept in tables.items()}
    for _ in range(samples):
        share = random.choice([0.2, 0.5, 0.8])
        kept = {table: tables[table] | {t for t in outside[table] if random.random() < share} for table in tables}
        if not subject.contains(row, {place: kept[table] for place, table in enumerate(subject.tables)}):
            return False
    return True


def is_cause(subject: Subject, row: Row, place: int, token: int, random: Random) -> bool:
    """Whether the row's presence changes without the token, under some contingency: other why-tokens removed before."""
    kept = subject.kept(row)
    if not subject.contains(row, _without(kept, {(place, token)})):
        return True
    others = [(p, t) for p, tokens in kept.items() for t in sorted(tokens) if (p, t) != (place, token)]
    for _ in range(CONTINGENCIES if others else 0):
        removed = set(random.sample(others, random.randint(1, len(others))))
        with_it = subject.contains(row, _without(kept, removed))
        if with_it != subject.contains(row, _without(kept, removed | {(place, token)})):
            return True
    return False


def _without(kept: dict[int, set[int]], removed: set[tuple[int, int]]) -> dict[int, set[int]]:
    return {place: {t for t in tokens if (place, t) not in removed} for place, tokens in kept.items()}


def why_tokens(subject: Subject, row: Row) -> list[tuple[int, int]]:
    return [(place, token) for place, tokens in subject.kept(row).items() for token in sorted(tokens)]
