"""Each rule of the supplied policies on cases of its own (`gate/*.yaml`): what it says of evidence that is within it, beyond it, or silent.

A case says what differs from five honest runs in two sessions. Its figures are worked out by hand.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from warehouse.claims.gate.evidence import ColumnEvidence, Evidence, LeftOut, RowEvidence
from warehouse.claims.gate.judgement import judge
from warehouse.claims.gate.policy import PUBLISHABLE, Policy, extended, read_policy
from warehouse.project.project import standard_folder
from warehouse.statistics.interval import SessionNoise
from warehouse.transform.project.claim import WORDS, Claim, ClaimedNumber

CASES = Path(__file__).parent / "gate"
HONEST = (100.0, 100.2, 100.4, 99.9, 100.3)  # the median of one session is 100.2, of the other 100.1
QUIET = (0.002, 100, 200)  # other sessions of the testbed differ by so much: a spread, degrees of freedom, sessions
SOFTWARE = "sha256:" + "5" * 64
# What says the best of all evidence: the standard's severity is a warning, which stops nothing.
NEVER_AGAINST = {("mlperf-endpoints", "steady-state-basis")}


def supplied_documents() -> dict[str, dict[str, Any]]:
    folder = standard_folder() / "queries" / "policies"
    return {path.stem: tomllib.loads(path.read_text()) for path in sorted(folder.glob("*.toml"))}


def supplied_policies() -> dict[str, Policy]:
    documents = supplied_documents()
    bases = {name: documents[document.pop("extends")] for name, document in documents.items() if "extends" in document}
    return {
        name: read_policy(extended(document, bases[name], name) if name in bases else document, name) for name, document in documents.items()
    }


def all_cases() -> list[dict[str, Any]]:
    found = []
    for path in sorted(CASES.glob("*.yaml")):
        document = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
        base = document.get("base", {})
        for case in document["cases"]:
            row = {**base.get("row", {}), **case.get("row", {})}
            for name in case.get("without", ()):
                del row[name]
            found.append({**base, **case, "row": row, "policy": document["policy"]})
    return found


def name_of(case: dict[str, Any]) -> str:
    return f"{case['policy']}: {case.get('rule')}: {case.get('name') or case['row']}"


POLICIES = supplied_policies()
OWN_RULES = {(name, rule["id"]) for name, document in supplied_documents().items() for rule in document.get("rule", ())}  # not inherited
ALL = all_cases()


def evidence_of_case(case: dict[str, Any]) -> Evidence:
    """The evidence of a case: five honest runs in two sessions, but for what it says."""
    values = [None if value is None else float(value) for value in case.get("values", HONEST)]
    count = len(values)

    def each(said: Any) -> list[Any]:
        return list(said) if isinstance(said, list) else [said] * count

    columns: dict[str, list[Any]] = {
        "session": each(case.get("sessions", ["job 1" if number * 5 < count * 3 else "job 2" for number in range(count)])),
        "started_at": each(case.get("started_at", [f"2026-01-01T{number:02}:00:00+00:00" for number in range(count)])),
        "software": [SOFTWARE] * count,
        **{name: each(said) for name, said in case.get("columns", {}).items()},
    }
    observed = [(f"r{number + 1}", {name: said[number] for name, said in columns.items()}) for number in range(count)]
    used = frozenset(range(count)) - frozenset(case.get("unused", ()))
    known = [value for value in values if value is not None]
    left_out = [
        LeftOut(one["run"], one.get("reason", "filter"), "clause", "q.sql:1:1", one.get("excuse"), one.get("failed", False))
        for one in case.get("left_out", ())
    ]
    later = frozenset(case.get("later", ()))
    removed = {one["run"]: one.get("excuse", "") for one in case.get("left_out", ()) if one.get("removed")}
    column = case.get("column", "v")
    noise = case.get("noise", QUIET)
    row = RowEvidence(
        observed, {column: ColumnEvidence(values, used, case.get("dropped", 1), SessionNoise(*noise) if noise else None)}, left_out,
        "2026-01-01T00:00:00+00:00" if later else None, later, removed, case.get("changed", {}), frozenset(case.get("ahead", ())),
    )
    number = ClaimedNumber(case.get("statistic", "median"), "observation.value", case.get("percentile"))
    claim = Claim(case["policy"], "o", {column: number}, {}, case.get("stopping"), dict.fromkeys(case.get("words", WORDS), "written"))
    value = case["value"] if "value" in case else float(np.median(known))
    return row.of(column, value, case["row"], claim, {name: {"holds": holds} for name, holds in case.get("guarantees", {"G1": "yes", "G2": "yes"}).items()})


@pytest.mark.parametrize("case", ALL, ids=name_of)
def test_what_a_rule_says(case: dict[str, Any]) -> None:
    judgement = judge(evidence_of_case(case), POLICIES[case["policy"]])
    if "overall" in case:
        assert judgement.verdict == case["overall"]
    if "rule" not in case:
        return
    found = next((each for each in judgement.rules if each.rule.id == case["rule"]), None)
    assert (found.verdict if found else None) == case["expect"]
    assert "told" not in case or (found and found.told) == case["told"]
    if found and "figure" in case:
        is_number = isinstance(case["figure"], float | int) and not isinstance(case["figure"], bool)
        assert found.figure == (pytest.approx(case["figure"], rel=1e-6, abs=1e-15) if is_number else case["figure"])
    assert case.get("why", "") in (found.why or "" if found else "")


def test_every_rule_of_every_supplied_policy_has_a_case_that_passes_and_one_that_does_not() -> None:
    said: dict[tuple[str, str], set[str]] = {}
    for case in ALL:
        if case.get("expect"):
            passes = case["expect"] == PUBLISHABLE and "told" not in case
            said.setdefault((case["policy"], case["rule"]), set()).add("pass" if passes else "fail")
    assert said.keys() == OWN_RULES
    assert {key for key in OWN_RULES if said[key] != {"pass", "fail"}} == NEVER_AGAINST
    assert {path.stem for path in CASES.glob("*.yaml")} == POLICIES.keys()


def test_every_supplied_policy_has_cases_whose_evidence_is_silent() -> None:
    """Of each rule whose figure the evidence may not tell."""
    silent = {(case["policy"], case["rule"]) for case in ALL if "figure" in case and case["figure"] is None}
    never = {  # these count what is there, or do not apply where it is not
        "method", "lineage", "fixed-n", "runs", "removed", "dates", "complete", "session-balance",
    }
    assert {(name, rule) for name, rule in OWN_RULES if rule not in never} == silent
    assert len(ALL) >= 80
