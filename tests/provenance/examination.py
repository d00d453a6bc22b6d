"""Everything that the oracle says about one query over one database, as counts that can be added up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from provenance import guarantees
from provenance.cell_sufficiency import Perturbation
from provenance.subject import Row, Subject

from warehouse.trace.monotony import absences
from warehouse.trace.sufficiency import Tables, unproven


@dataclass
class Examination:
    """`faults` are breaches of what is promised; `counts` says how much was looked at and what G3 and G4 are."""

    faults: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Examination") -> None:
        self.faults += other.faults
        self.counts += other.counts

    @property
    def precision(self) -> float:
        """The share of examined why-tokens that are causes of their row."""
        return self.counts["causes"] / self.counts["tokens"]

    def __str__(self) -> str:
        return ", ".join(f"{name} {count}" for name, count in sorted(self.counts.items()))


def examine(subject: Subject, random: Random, rows: int, tokens: int = 0) -> Examination:
    """G1 of the whole result; G2, G3, G4 and cells of some `rows`; causality of some `tokens` of their why-sets."""
    found = Examination()
    annotated = subject.rows()
    found.counts["queries"] += 1
    found.counts["queries without rows"] += not annotated
    found.faults += guarantees.identity(subject, annotated)
    found.faults += guarantees.restriction_faults(subject)
    database = subject.database
    promises = not unproven(subject.tree, Tables(lambda table: (database.key,) if table in database.catalog else None, database.catalog.get))
    found.counts["queries that promise G2"] += promises
    perturbation = Perturbation(subject)
    sampled = random.sample(annotated, min(rows, len(annotated)))
    for row in sampled:
        found.counts["rows"] += 1
        found.counts["rows without tokens"] += not any(row.why.values())
        found.counts["G2 promised"] += promises
        if faults := guarantees.sufficiency(subject, row):
            found.counts["G2 does not hold"] += 1
            found.faults += faults if promises else []
        _count_weaker(subject, row, random, found)
        if subject.values and not perturbation.is_empty:
            found.counts["rows with perturbed cells"] += 1
            found.faults += perturbation.faults(row)
    _count_causes(subject, sampled, random, tokens, found)
    return found


def _count_weaker(subject: Subject, row: Row, random: Random, found: Examination) -> None:
    """G3 and G4 are faults only of a query that promises them."""
    held = {
        "G3": guarantees.table_sufficiency(subject, row),
        "G4": guarantees.retraction_stability(subject, row, random),
    }
    promised = not absences(subject.sql, is_outermost=True)
    for name, holds in held.items():
        found.counts[f"{name} holds" if holds else f"{name} does not hold"] += 1
        found.counts[f"{name} promised"] += promised
        if promised and not holds:
            found.faults.append(f"{name}: {row.data} is lost though a publication of the query would promise it")


def _count_causes(subject: Subject, rows: list[Row], random: Random, tokens: int, found: Examination) -> None:
    pairs = [(row, pair) for row in rows for pair in guarantees.why_tokens(subject, row)]
    for row, (place, token) in random.sample(pairs, min(tokens, len(pairs))):
        found.counts["tokens"] += 1
        found.counts["causes"] += guarantees.is_cause(subject, row, place, token, random)
