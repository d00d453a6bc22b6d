"""Ways in which a number means something else than it claims (`gate/situations/*.yaml`), each with an honest twin: the first is stopped or marked
by the rule that is there for it, the second is publishable, or a rule that always fires would pass."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from test_gate_cases import CASES, POLICIES, evidence_of_case

from warehouse.claims.gate.judgement import judge
from warehouse.claims.gate.policy import VERDICTS


def situations() -> dict[str, dict[str, Any]]:
    found = {}
    for path in sorted((CASES / "situations").glob("*.yaml")):
        document = yaml.safe_load(path.read_text())
        cases = yaml.safe_load((CASES / f"{document['policy']}.yaml").read_text())
        base = {"row": {}, **cases.get("base", {}), **document.get("base", {})}
        for each in document["situations"]:
            found[each["name"]] = {**each, "policy": document["policy"], "base": base}
    return found


SITUATIONS = situations()


def judged(situation: dict[str, Any], side: str) -> Any:
    said, base = situation[side], situation["base"]
    merged = {name: {**base.get(name, {}), **said.get(name, {})} for name in ("columns", "row")}
    return judge(evidence_of_case({**base, **said, **merged, "policy": situation["policy"]}), POLICIES[situation["policy"]])


@pytest.mark.parametrize("name", SITUATIONS)
def test_it_is_stopped_or_marked(name: str) -> None:
    situation = SITUATIONS[name]
    judgement = judged(situation, "stopped")
    assert VERDICTS.index(judgement.verdict) >= VERDICTS.index(situation["at_most"])
    assert set(situation["by"]) <= {each.rule.id for each in judgement.against}


@pytest.mark.parametrize("name", SITUATIONS)
def test_its_honest_twin_is_publishable(name: str) -> None:
    judgement = judged(SITUATIONS[name], "honest")
    assert not [str(each) for each in judgement.against]


def test_all_are_there() -> None:
    assert len(SITUATIONS) == 44
