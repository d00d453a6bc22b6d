"""Policies and claims of bad form: each is refused with a code, at a place, and in words."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from test_gate import HONEST, METHOD, header, made, query, runs

from warehouse.claims.gate.checks import GUARANTEES
from warehouse.claims.gate.policy import load_policy, read_policy
from warehouse.claims.publish.guarantees import MEANINGS
from warehouse.claims.publish.publish import judge_query
from warehouse.errors import WarehouseError
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.project.claim import read_claim
from warehouse.transform.project.header import read_header

POLICY = 'name = "own"\nversion = "1"\ndescription = "d"\n'
RULE = '[[rule]]\nid = "runs"\nsays = "runs"\ncheck = "runs"\npublishable = {at_least = 5}\notherwise = "refused"\n'
BAD = {
    "an unknown key": (POLICY + "colour = 1\n", "unknown key 'colour' in a policy"),
    "an unknown key of a rule": (POLICY + RULE + "column = 'x'\n", "unknown key 'column' in rule runs"),
    "an unknown check": (POLICY + RULE.replace('check = "runs"', 'check = "run"'), "the check of rule runs is not known: 'run'"),
    "no check": (POLICY + RULE.replace('check = "runs"\n', ""), "the check of rule runs is not known"),
    "no bound": (POLICY + RULE.replace("publishable = {at_least = 5}\n", ""), "rule runs states no publishable"),
    "an empty bound": (POLICY + RULE.replace("{at_least = 5}", "{}"), "publishable of rule runs is no bound"),
    "a bound that is a number": (POLICY + RULE.replace("{at_least = 5}", "5"), "publishable of rule runs is no bound"),
    "an unknown bound": (POLICY + RULE.replace("at_least", "least"), "unknown key 'least' in publishable of rule runs"),
    "a bad verdict": (POLICY + RULE.replace('"refused"', '"fine"'), "otherwise of rule runs is no verdict: 'fine'"),
    "a bad verdict of missing": (POLICY + RULE + 'missing = "exploratory"\n', "missing of rule runs is no verdict: 'exploratory'"),
    "no verdict": (POLICY + RULE.replace('otherwise = "refused"\n', ""), "rule runs states no otherwise"),
    "one id twice": (POLICY + RULE + RULE, "two rules have the id 'runs'"),
    "no name": (POLICY.replace('name = "own"\n', ""), "it states no name"),
    "a version that is a number": (POLICY.replace('"1"', "1"), "it states no version"),
    "no confidence": (POLICY + "confidence = 95\n", "confidence is a number between 0 and 1"),
    "no column": (POLICY + RULE.replace('check = "runs"', 'check = "column"'), "rule runs states no column"),
    "an unknown over": (POLICY + RULE.replace('check = "runs"', 'check = "observed"\ncolumn = "x"\nover = "most"'), "over of rule runs is not known: 'most'"),
    "no expression": (
        POLICY + RULE.replace('check = "runs"', 'check = "observed"\ncolumn = "x"\nover = "not matching"\nmatching = "("'),
        "matching of rule runs is no regular expression",
    ),
    "an expression and nothing that it is matched with": (
        POLICY + RULE.replace('check = "runs"', 'check = "observed"\ncolumn = "x"\nover = "greatest"\nmatching = "a"'), "rule runs needs both over = 'not matching' and matching",
    ),
    "nothing to match with": (
        POLICY + RULE.replace('check = "runs"', 'check = "observed"\ncolumn = "x"\nover = "not matching"'), "rule runs needs both over = 'not matching' and matching",
    ),
    **{
        f"guarantees that are {said}": (
            POLICY + RULE.replace('check = "runs"', f'check = "lineage"\nguarantees = {said}'), "guarantees of rule runs is not a list of guarantees",
        )
        for said in ('"G1"', "[]", "5", '["G9"]', '[["G1"]]')
    },
    **{
        f"values that are {said}": (POLICY + RULE.replace("{at_least = 5}", f"{{is = {said}}}"), "is in publishable of rule runs is neither a value nor a list")
        for said in ("[]", '{column = "x"}', "[[1]]")
    },
    **{
        f"a bound of {said}": (POLICY + RULE.replace("{at_least = 5}", f"{{at_least = {said}}}"), "at_least in publishable of rule runs is no number")
        for said in ("[5]", "true", '{column = 5}')
    },
    "a bound that is not a number": (POLICY + RULE.replace("{at_least = 5}", "{at_least = nan}"), "it has no digest"),
    "a confidence that is not a number": (POLICY + "confidence = nan\n", "confidence is a number between 0 and 1"),
    "a date": (POLICY + RULE.replace("{at_least = 5}", "{is = [2026-01-01]}"), "a date goes in quotes"),
    "an endless bound": (POLICY + RULE.replace("{at_least = 5}", "{at_least = inf}"), "it has no digest"),
    "a bound that is text": (POLICY + RULE.replace("{at_least = 5}", '{at_least = "five"}'), "at_least in publishable of rule runs is no number"),
    "an id that is a number": (POLICY + RULE.replace('id = "runs"', "id = 5"), "id of rule 5 is no text"),
    "a rule that is text": (POLICY + 'rule = "runs"\n', "rule is no list of tables"),
    "rules that are texts": (POLICY + 'rule = ["runs"]\n', "rule is no list of tables"),
    "a matching that is a number": (
        POLICY + RULE.replace('check = "runs"', 'check = "observed"\ncolumn = "x"\nover = "not matching"\nmatching = 5'), "matching of rule runs is no text",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_policy_of_bad_form(case: str) -> None:
    text, message = BAD[case]
    with pytest.raises(WarehouseError) as caught:
        read_policy(tomllib.loads(text), "queries/policies/own.toml")
    assert caught.value.code == "WH316" and message in str(caught.value) and "queries/policies/own.toml" in str(caught.value)


def test_a_policy_can_ask_for_each_guarantee_that_a_publication_states() -> None:
    assert tuple(MEANINGS) == GUARANTEES


def test_a_policy_is_found_by_the_name_that_it_says(tmp_path: Path) -> None:
    project = init_project(tmp_path / "p", bare=True)
    folder = project.root / "queries" / "policies"
    folder.mkdir(parents=True)
    (folder / "own.toml").write_text(POLICY + RULE)
    (folder / "other.toml").write_text(POLICY + RULE)
    (folder / "torn.toml").write_text("name = ")
    assert load_policy(project, "own").rules[0].id == "runs"
    assert load_policy(project, "default").name == "default"
    for name, message in (("other", "it says that its name is 'own'"), ("torn", "cannot be read"), ("defualt", "no policy is named 'defualt'")):
        with pytest.raises(WarehouseError, match=message) as caught:
            load_policy(project, name)
        assert caught.value.code == "WH316"


def test_a_policy_can_extend_another(tmp_path: Path) -> None:
    """Its rules replace those of the same id, and the others stay; nobody extends himself."""
    project = init_project(tmp_path / "p", bare=True)
    folder = project.root / "queries" / "policies"
    folder.mkdir(parents=True)
    (folder / "own.toml").write_text('extends = "default"\n' + POLICY + RULE.replace('id = "runs"', 'id = "spread"'))
    (folder / "two.toml").write_text('extends = "three"\n' + POLICY.replace("own", "two"))
    (folder / "three.toml").write_text('extends = "two"\n' + POLICY.replace("own", "three"))
    (folder / "lost.toml").write_text('extends = "nobodys"\n' + POLICY.replace("own", "lost"))
    base, own = load_policy(project, "default"), load_policy(project, "own")
    rules = {rule.id: rule for rule in own.rules}
    assert rules.keys() == {rule.id for rule in base.rules}
    assert rules["spread"].check == "runs"
    assert [rules[rule.id] for rule in base.rules if rule.id != "spread"] == [rule for rule in base.rules if rule.id != "spread"]
    assert "extends" not in own.document and own.name == "own"
    assert read_policy(own.document, "as published") == own
    for name, message in (("two", "it extends 'two', which extends it"), ("lost", "no policy is named 'nobodys'")):
        with pytest.raises(WarehouseError, match=message):
            load_policy(project, name)


HEADERS = {
    "an unknown statistic": ("observations: o\n  numbers: {v: {statistic: medain, of: x}}", "statistic 'medain' is not known", "medain"),
    "no statistic": ("observations: o\n  numbers: {v: {of: x}}", "v states no statistic", "numbers:"),
    "no of": ("observations: o\n  numbers: {v: {statistic: median}}", "v does not say what it is the median of", "numbers:"),
    "p99 as 99": ("observations: o\n  numbers: {v: {statistic: median, of: x, percentile: 99}}", "percentile is a number between 0 and 1", "percentile"),
    "no reason": ("exclusions: {not has_conflict: ''}", "an exclusion states no reason", "not has_conflict"),
    "a key that is not known": ("polciy: default", "polciy", "polciy"),
    "numbers of nothing": ("numbers: {v: {statistic: median, of: x}}", "numbers are claimed of no observations", "numbers"),
    "a key of a number": ("observations: o\n  numbers: {v: {statistic: median, of: x, over: y}}", "over", "over"),
    "dropped below zero": ("observations: o\n  numbers: {v: {statistic: olympic mean, of: x, dropped: -1}}", "dropped is a count", "dropped"),
    "dropped by half": ("observations: o\n  numbers: {v: {statistic: olympic mean, of: x, dropped: 0.5}}", "dropped is a count", "dropped"),
    "a policy that is a number": ("policy: 5", "policy is text", "policy"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_claim_of_bad_form(case: str) -> None:
    """It is told at the line and column of its key."""
    text, message, key = HEADERS[case]
    file = f"/*\ngrain: [k]\nclaim:\n  {text}\n*/\nselect 1 as k"
    with pytest.raises(WarehouseError) as caught:
        read_claim(read_header(file, "queries/q.sql"))
    line = next(number for number, each in enumerate(file.splitlines(), 1) if key in each)
    assert caught.value.code == "WH201" and message in str(caught.value)
    assert str(caught.value.place).startswith(f"queries/q.sql:{line}:")


CLAIMS = {
    "a model that it does not read": (query(observations="other"), "does not read its observations, 'other'"),
    "no such model": (query(observations="rum"), "does not read its observations, 'rum'"),
    "no grain in the observations": (
        "/*\ngrain: [named]\nclaim:\n  policy: default\n  observations: run\n  numbers: {v: {statistic: median, of: observation.value}}\n*/\n"
        "select series as named, median(value) as v from run group by series", "has no column named",
    ),
    "no run_id": (
        header(observations="nameless") + "select nameless.series, median(nameless.value) as v from nameless group by nameless.series",
        "has no column run_id",
    ),
    "no such number": (query().replace("v: {statistic", "w: {statistic"), "the query claims 'w', which is none of its value columns"),
    "no such column": (query(of="observation.valeu"), "the claim's expressions cannot be computed"),
    "text for a number": (query(of="observation.status"), "the claim's expressions cannot be computed"),
    "no numbers": (f"/*\ngrain: [series]\nclaim:\n  {METHOD}\n  policy: default\n*/\nselect series, median(value) as v from run group by series",
                   "policy default judges numbers, and the query claims none"),
    "fewer than none dropped": (query(statistic="olympic mean", of="observation.value\", dropped: \"-1"), "dropped of v is -1 in one row"),
    "a start that is no time": (
        header(observations="timeless") + "select series, median(value) as v from timeless group by series", "cannot be computed",
    ),
}
MODELS = {
    "other": "select run_id, series, value from run",
    "nameless": "select series, value from run",
    "timeless": "/*\nmaterialized: view\n*/\nselect run_id, series, value, 'day 2026-01-01' as session, 'noon' as started_at from run",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    queries = {f"q{number}": text for number, (text, _) in enumerate(CLAIMS.values())}
    return made(tmp_path_factory.mktemp("claims"), queries, runs(HONEST[:3]), MODELS)


@pytest.mark.parametrize("case", CLAIMS)
def test_a_claim_that_does_not_fit_its_tables(case: str, project: Project) -> None:
    with pytest.raises(WarehouseError) as caught:
        judge_query(project, f"q{list(CLAIMS).index(case)}")
    assert caught.value.code == "WH317" and CLAIMS[case][1] in str(caught.value)
