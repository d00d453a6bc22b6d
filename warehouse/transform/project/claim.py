"""What a query claims of its numbers, as its header says: what they are, which observations they are a statistic of, which policy judges
them. The gate (`warehouse.claims.gate`) reads it, from a file's header or from a recorded spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from warehouse.digest import canonical_json
from warehouse.errors import did_you_mean
from warehouse.transform.project.header import Header

# What a value can be of the observations' values: "value" is the figure of a row's only one.
STATISTICS = ("value", "median", "mean", "geometric mean", "olympic mean")
WORDS = ("what", "population", "unit_of_replication")  # that say how a number was made
_KEYS = {*WORDS, "policy", "observations", "numbers", "exclusions", "stopping", "accounted_by"}
_NUMBER_KEYS = {"statistic", "of", "percentile", "dropped", "when"}


@dataclass(frozen=True)
class ClaimedNumber:
    """One value column: `statistic` (one of `STATISTICS`) of the SQL expression `of`, over a row of the observations (`observation`) and
    the query's own (`result`). `percentile`: between 0 and 1, where the figure is one of a run's requests. `dropped`: of an olympic mean,
    how many are dropped at each end, as SQL. `when`: a condition as SQL; a row for which it is not true claims nothing."""

    statistic: str
    of: str
    percentile: float | None = None
    dropped: str = "1"
    when: str | None = None


@dataclass(frozen=True)
class Claim:
    """A header's `claim`. `words` are its texts (`WORDS`); `observations` the model that has a row for each run of each row, `numbers`
    the columns that are claimed; `exclusions` clauses of the SQL, as `wh lineage --excluded` prints them, with the reason why runs that one
    leaves out do not count; `stopping` the rule by which runs are added after a look at the number; `accounted_by` the columns of the table of
    runs that launched runs have in common with those of a row that they are left out of: their workload where there are none."""

    policy: str | None = None
    observations: str | None = None
    numbers: Mapping[str, ClaimedNumber] = field(default_factory=dict)
    exclusions: Mapping[str, str] = field(default_factory=dict)
    stopping: str | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    accounted_by: tuple[str, ...] = ()


def read_claim(header: Header) -> Mapping[str, Any]:
    """The claim of a header, checked. Raises WH201 at the key that is wrong."""
    claim = header.mapping("claim")
    try:
        canonical_json(claim)
    except (TypeError, ValueError, RecursionError) as error:
        raise header.fault("claim cannot be written as JSON", "claim", hint="put a date in quotes") from error
    if not header.mapping("claim", known=_KEYS):
        return claim
    for name in (*WORDS, "policy", "observations", "stopping"):
        header.text("claim", name)
    for clause in header.mapping("claim", "exclusions"):
        if not header.text("claim", "exclusions", clause):
            hint = 'write it like this: "run.status = \'succeeded\'": a failed run has no time'
            raise header.fault("an exclusion states no reason", "claim", "exclusions", clause, hint=hint)
    accounted_by = claim.get("accounted_by", [])
    if not isinstance(accounted_by, list) or not all(isinstance(name, str) for name in accounted_by):
        hint = "accounted_by: [cluster_region_key, benchmark_case_id]"
        raise header.fault("accounted_by is a list of columns of the table of runs", "claim", "accounted_by", hint=hint)
    numbers = header.mapping("claim", "numbers")
    if numbers and not claim.get("observations"):
        hint = "observations: a model that the query reads, with one row a run"
        raise header.fault("numbers are claimed of no observations", "claim", "numbers", hint=hint)
    for column in numbers:
        _check_number(header, "claim", "numbers", column)
    return claim


def _check_number(header: Header, *path: str) -> None:
    number = header.mapping(*path, known=_NUMBER_KEYS)
    statistic = header.text(*path, "statistic")
    if statistic not in STATISTICS:
        hint = did_you_mean(statistic or "", STATISTICS) or f"statistics are: {', '.join(STATISTICS)}"
        message = f"{path[-1]} states no statistic" if statistic is None else f"statistic {statistic!r} is not known"
        raise header.fault(message, *path, "statistic", hint=hint)
    if not header.text(*path, "of"):
        hint = "of: a column of the observations, or an expression over it"
        raise header.fault(f"{path[-1]} does not say what it is the {statistic} of", *path, hint=hint)
    header.text(*path, "when")
    percentile, dropped = number.get("percentile"), number.get("dropped")
    if percentile is not None and not (isinstance(percentile, float) and 0 < percentile < 1):
        raise header.fault("percentile is a number between 0 and 1", *path, "percentile", hint="percentile: 0.99")
    is_count = isinstance(dropped, int) and not isinstance(dropped, bool) and dropped >= 0
    if dropped is not None and not is_count and not isinstance(dropped, str):
        raise header.fault("dropped is a count, or SQL that gives one", *path, "dropped", hint="dropped: 1")


def claim_of(document: Mapping[str, Any]) -> Claim:
    """The claim that `read_claim` has checked, as a value."""
    numbers = {
        name: ClaimedNumber(
            number["statistic"], number["of"], number.get("percentile"), str(number.get("dropped", "1")), number.get("when")
        )
        for name, number in document.get("numbers", {}).items()
    }
    return Claim(
        document.get("policy"), document.get("observations"), numbers, document.get("exclusions", {}), document.get("stopping"),
        {name: str(document[name]) for name in WORDS if document.get(name)}, tuple(document.get("accounted_by", ())),
    )
