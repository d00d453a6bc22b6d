"""Judgements as a publication holds them: `judgement.jsonl`, a line for each row that has claimed numbers, with the evidence that was judged
and what was said of it; and `policy.json`, the policy. From these and the rows anybody can judge again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from math import isclose
from typing import Any

from warehouse.claims.gate.evidence import DECLARED_REPEATS, REQUESTS, STARTED_AT, ColumnEvidence, Evidence, LeftOut, RowEvidence, rounded
from warehouse.claims.gate.judgement import Judgement
from warehouse.claims.gate.observed import plain
from warehouse.claims.gate.policy import Policy, read_policy
from warehouse.claims.publish.publication import JUDGEMENT, POLICY, PublishedRollup, PublishedRow
from warehouse.digest import canonical_document, canonical_json
from warehouse.errors import ExitCode, WarehouseError
from warehouse.exact import inexact
from warehouse.statistics.interval import Interval, NotSupported, SessionNoise
from warehouse.transform.project.claim import Claim

_REMOVED, _CHANGED, _AHEAD = "removed", "changed", "ahead"  # written only where there are such runs
_TOLERANCE = 1e-9  # of a figure that is computed again: libraries differ in the last digits


@dataclass(frozen=True)
class JudgedRow:
    """One line: the exact forms of its grain, the evidence, and by column what `told` returns for the judgement."""

    grain: Mapping[str, Any]
    evidence: RowEvidence
    cells: Mapping[str, Mapping[str, Any]]


def told(judgement: Judgement) -> dict[str, Any]:
    """A judgement as JSON: verdict, `n`, the interval or why there is none, and of each rule its verdict and figure."""
    return {
        "verdict": judgement.verdict,
        "n": dict(judgement.n),
        **interval_document(judgement.interval),
        "rules": {each.rule.id: [each.verdict, each.figure] for each in judgement.rules},
    }


def interval_document(interval: Interval | NotSupported) -> dict[str, Any]:
    """An interval under `interval`, or why there is none under `not_supported`."""
    document = {name: rounded(value) for name, value in asdict(interval).items()}
    return {"not_supported" if isinstance(interval, NotSupported) else "interval": document}


def told_interval(cell: Mapping[str, Any]) -> Interval | NotSupported:
    """What `interval_document` wrote."""
    if "interval" in cell:
        return Interval(**cell["interval"])
    return NotSupported(**cell["not_supported"])


def judged_line(grain: Mapping[str, Any], evidence: RowEvidence, cells: Mapping[str, Mapping[str, Any]]) -> bytes:
    """A row of judgements as a line of `judgement.jsonl`, without the newline."""
    everything = frozenset(range(len(evidence.observed)))
    return canonical_json(
        {
            "grain": dict(grain),
            "observed": [[run, dict(columns)] for run, columns in evidence.observed],
            "left_out": [list(asdict(each).values()) for each in evidence.left_out],
            "first_look": evidence.first_look,
            "later": sorted(evidence.later),
            **{name: dict(causes) for name, causes in ((_REMOVED, evidence.removed), (_CHANGED, evidence.changed)) if causes},
            **({_AHEAD: sorted(evidence.ahead)} if evidence.ahead else {}),
            "cells": {
                name: {
                    **cell, "values": list(evidence.columns[name].values), "dropped": evidence.columns[name].dropped,
                    **({} if evidence.columns[name].used == everything else {"used": sorted(evidence.columns[name].used)}),
                    **({"noise": asdict(noise)} if (noise := evidence.columns[name].noise) else {}),
                }
                for name, cell in cells.items()
            },
        }
    )


def judged_rows(publication: PublishedRollup, carrying: bytes = b"") -> Iterator[JudgedRow]:
    """The judged rows of a publication, or those whose text contains `carrying`; none if it was not judged. Raises WH307."""
    if JUDGEMENT in publication.content:
        for line in publication.lines(JUDGEMENT):
            if carrying in line:
                yield _read(line, publication)


def published_policy(publication: PublishedRollup) -> Policy | None:
    """The policy that judged a publication; None where it was not judged. Raises WH307."""
    if POLICY not in publication.content:
        return None
    try:
        return read_policy(canonical_document(b"".join(publication.chunks(POLICY))), f"publication {publication.digest[:12]}")
    except (ValueError, WarehouseError) as error:
        raise unreadable(error, publication) from error


def gate_of(publication: PublishedRollup) -> int:
    """The version of the gate that judged a publication."""
    return int(publication.record.get("gate", 1))


def evidence_of(judged: JudgedRow, row: PublishedRow, column: str, claim: Claim, guarantees: Mapping[str, Any]) -> Evidence:
    """What the judgement of a published number was about."""
    values = {**{name: inexact(form) for name, form in row.grain_forms.items()}, **{name: cell.value for name, cell in row.cells.items()}}
    plain_row = {name: plain(value) for name, value in values.items()}
    return judged.evidence.of(column, row.cells[column].value, plain_row, claim, guarantees)


def difference(said: Mapping[str, Any], found: Mapping[str, Any]) -> str | None:
    """How a repeated judgement differs; None if it does not."""
    for name in ("verdict", "n", "interval", "not_supported", "rules"):
        if not same(said.get(name), found.get(name)):
            return f"{name} {said.get(name)!r}, and judging again gives {found.get(name)!r}"
    return None


def _read(line: bytes, publication: PublishedRollup) -> JudgedRow:
    try:
        document = canonical_document(line)
        observed = [(str(run), _columns(columns)) for run, columns in document["observed"]]
        columns = {name: _column(cell, len(observed)) for name, cell in document["cells"].items()}
        left_out = [LeftOut(*each) for each in document["left_out"]]
        causes = [{str(run): str(cause) for run, cause in document.get(name, {}).items()} for name in (_REMOVED, _CHANGED)]
        evidence = RowEvidence(
            observed, columns, left_out, document["first_look"], frozenset(document["later"]),
            removed=causes[0], changed=causes[1], ahead=frozenset(map(str, document.get(_AHEAD, ()))),
        )
        return JudgedRow(dict(document["grain"]), evidence, document["cells"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise unreadable(error, publication) from error


def _columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of an observation. Raises `ValueError` and `TypeError` for those that checks could not compute with."""
    if (at := columns.get(STARTED_AT)) is not None:
        datetime.fromisoformat(at)
    for name in (REQUESTS, DECLARED_REPEATS):
        if not isinstance(columns.get(name), int | float | None):
            raise ValueError(f"{name} {columns[name]!r}")
    return dict(columns)


def _column(cell: dict[str, Any], count: int) -> ColumnEvidence:
    """The evidence of a cell, taken out of it: what is left is what was said of it. Raises what `_read` catches."""
    values, used, dropped = cell.pop("values"), frozenset(cell.pop("used", range(count))), cell.pop("dropped")
    noise = SessionNoise(**said) if (said := cell.pop("noise", None)) else None
    if noise and not (
        all(type(each) in (int, float) and each >= 0 for each in (noise.spread, noise.of_runs))
        and all(type(each) is int for each in (noise.freedom, noise.sessions, noise.run_freedom))
    ):
        raise ValueError(f"the noise of sessions is {said!r}")
    if len(values) != count or not all(value is None or type(value) in (int, float) for value in values):
        raise ValueError(f"the values of {count} observations are {values!r}")
    if not used <= frozenset(range(count)) or type(dropped) is not int or dropped < 0:
        raise ValueError(f"of {count} observations {sorted(used)!r} are used, and {dropped!r} dropped")
    told_interval(cell)
    verdicts = [cell["verdict"], *(verdict for verdict, _ in cell["rules"].values())]
    if not all(isinstance(each, str) for each in verdicts) or not all(type(n) is int for n in cell["n"].values()):
        raise ValueError(f"{cell!r} is not a judgement")
    return ColumnEvidence(values, used, dropped, noise)


def unreadable(error: Exception, publication: PublishedRollup) -> WarehouseError:
    message = f"its judgement cannot be read: {error}"
    return WarehouseError("WH307", message, f"publication {publication.digest[:12]}", exit_code=ExitCode.TAMPERED)


def same(one: Any, other: Any) -> bool:
    """Whether two values of JSON are the same, floats but for their last digits."""
    if isinstance(one, float | int) and isinstance(other, float | int) and not isinstance(one, bool):
        return isclose(one, other, rel_tol=_TOLERANCE)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
