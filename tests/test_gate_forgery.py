"""Judgements that were forged and given digests that fit: `wh verify` judges again, from evidence that it reads again. And publications
of before there was a gate."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import WhOn
from exhaustive import few
from forgery import _moved, forge
from stored import folder_of
from test_gate import HONEST, PICK, add, header, made, query, runs

from warehouse.claims.gate.frozen import evidence_of, judged_rows, told
from warehouse.claims.gate.judgement import judge
from warehouse.claims.gate.policy import read_policy
from warehouse.claims.numbers.deciding import retract
from warehouse.claims.numbers.lineage import lineage
from warehouse.claims.publish.publication import JUDGEMENT, POLICY, publications
from warehouse.claims.publish.publish import judge_query, publish
from warehouse.claims.verify.verification import verify_all
from warehouse.digest import bytes_digest, canonical_json, domain_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build
from warehouse.transform.project.claim import claim_of

Line = dict[str, Any]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three picked runs of ten, published as provisional."""
    project = made(tmp_path_factory.mktemp("picked"), {"picked": query(PICK)}, runs(HONEST))
    publish(project, "picked", as_provisional=True)
    return project.root


@pytest.fixture
def project(published: Path, tmp_path: Path) -> Project:
    shutil.copytree(published, tmp_path / "project", symlinks=True)
    return read_project(tmp_path / "project")


def found(project: Project) -> tuple[str, str]:
    (verdict,) = verify_all(project)
    return verdict.state, verdict.reason


def reseal(project: Project, name: str, change: Callable[[Line], None]) -> None:
    """Change one line of a publication's content, and every digest that follows."""
    (publication,) = publications(project)
    document = json.loads((folder_of(publication) / name).read_bytes())
    change(document)
    forge(publication, name, canonical_json(document) + (b"\n" if name == JUDGEMENT else b""))


def verdict_changed(line: Line) -> None:
    line["cells"]["v"]["verdict"] = "publishable"


def rule_changed(line: Line) -> None:
    line["cells"]["v"]["rules"]["accounted"] = ["publishable", 0]


def interval_changed(line: Line) -> None:
    line["cells"]["v"]["interval"]["low"] = 99.999


def observation_changed(line: Line) -> None:
    line["cells"]["v"]["values"][0] = 100.01


def session_changed(line: Line) -> None:
    line["observed"][0][1]["session"] = "job 7"


def used_run_dropped(line: Line) -> None:
    assert line["cells"]["v"]["used"] == [0, 3, 6]
    line["observed"].pop(6)
    line["cells"]["v"]["values"].pop(6)
    line["cells"]["v"]["used"] = [0, 3]


def count_changed(line: Line) -> None:
    line["cells"]["v"]["n"]["run"] = 10


def noise_added(line: Line) -> None:
    """As if other sessions of the testbed had been seen to agree; verdict and interval follow from it."""
    line["cells"]["v"]["noise"] = {"spread": 0.0, "freedom": 200, "sessions": 400}


def left_out_dropped(line: Line) -> None:
    """The runs that the query did not take are gone altogether: from those that were left out, and from the observations."""
    line["left_out"] = []
    cell = line["cells"]["v"]
    line["observed"] = [line["observed"][place] for place in cell["used"]]
    cell["values"] = [cell["values"][place] for place in cell.pop("used")]


def judgement_removed(line: Line) -> None:
    line["cells"] = {}


FOUND = [
    verdict_changed, rule_changed, interval_changed, observation_changed, session_changed, used_run_dropped, count_changed, noise_added,
    left_out_dropped,    judgement_removed,
]


@pytest.mark.parametrize("change", FOUND, ids=lambda change: change.__name__)
def test_a_forged_judgement_is_found(change: Callable[[Line], None], project: Project) -> None:
    reseal(project, JUDGEMENT, change)
    assert found(project)[0] == "tampered"


def test_a_judgement_that_is_gone_is_found(project: Project) -> None:
    (publication,) = publications(project)
    forge(publication, JUDGEMENT, b"")
    state, reason = found(project)
    assert state == "tampered" and "does not judge it" in reason


def test_a_judgement_of_a_row_that_the_publication_does_not_have_is_found(project: Project) -> None:
    """Invented numbers of the same testbed whose sessions agree would make the interval of the others narrow."""
    (publication,) = publications(project)
    text = (folder_of(publication) / JUDGEMENT).read_bytes()
    line = json.loads(text.splitlines()[0])
    line["grain"] = {name: ["text", "invented"] for name in line["grain"]}
    forge(publication, JUDGEMENT, text + canonical_json(line) + b"\n")
    state, reason = found(project)
    assert state == "tampered" and "a row that it does not have" in reason


def judged_again(project: Project) -> None:
    """The verdicts that follow from what its judgement and policy say now."""
    (publication,) = publications(project)
    (judged,) = judged_rows(publication)
    (row,) = publication.rows()
    specification = json.loads((folder_of(publication).parents[1] / "specs" / f"{publication.record['query_spec_digest']}.json").read_bytes())
    claim = claim_of(specification["document"]["claim"])
    policy = read_policy(json.loads((folder_of(publication) / POLICY).read_bytes()), "policy")
    again = told(judge(evidence_of(judged, row, "v", claim, publication.record["guarantees"]), policy))
    reseal(project, JUDGEMENT, lambda line: line["cells"].update(v={**line["cells"]["v"], **again}))


def test_a_laxer_policy_with_verdicts_that_follow_from_it_is_another_than_the_record_names(project: Project) -> None:
    """The record names the policy's digest: a policy that was put in its place is found by that. A record that names the laxer one as well
    is a true statement under another policy, of which only the publication's own digest, its signatures and the ledger say otherwise."""
    reseal(project, POLICY, lambda policy: policy.update(rule=[rule for rule in policy["rule"] if rule["id"] == "runs"]))
    judged_again(project)
    assert found(project)[0] == "tampered"


def test_runs_that_were_left_out_and_are_forgotten_with_the_verdict(project: Project) -> None:
    """What a replay of a number's own runs cannot tell, which others there were, that of all evidence of then does."""
    reseal(project, JUDGEMENT, left_out_dropped)
    judged_again(project)
    number, whole = verify_all(project)
    assert (number.state, whole.state, whole.number_id) == ("verified", "refused", None)
    assert "does not name run" in whole.reason and "and 6 more, which its numbers leave out" in whole.reason


def test_a_run_that_is_excused_by_nobody(project: Project) -> None:
    """With a verdict that follows from the excuse."""
    def excuse(line: Line) -> None:
        for each in line["left_out"]:
            each[4] = "its node was broken"

    reseal(project, JUDGEMENT, excuse)
    judged_again(project)
    number, whole = verify_all(project)
    assert (number.state, whole.state) == ("verified", "refused")
    assert "gives another reason why run" in whole.reason


BESIDE = "select run_id, series, status, state, value as score, 500.0 as value from run where run_id = 'a09'"
BOTH = """/*
materialized: view
*/
select run_id, series, status, state, score as value from beside as seen
where seen.value < 100.125
union all
select run_id, series, status, state, value from run as seen
where run_id <> 'a09'
    and seen.value < 100.125
"""


def test_verify_finds_the_reason_that_publish_found(tmp_path: Path) -> None:
    """Publish reads the clauses as they are written, and a replay in the recorded text, which has other blanks and one line."""
    named = {"dotted": "run.run_id <> 'a03'", "twice": "seen.value < 100.125"}
    said = {name: f'exclusions: {{"{clause}": the machine was disturbed}}' for name, clause in named.items()}
    twice = f"{header(said['twice'], observations='pooled')}select series, median(value) as v from pooled group by series"
    project = made(
        tmp_path, {"dotted": query(named["dotted"], said["dotted"]), "twice": twice}, runs(HONEST), {"beside": BESIDE, "pooled": BOTH}
    )
    for name in named:
        publish(project, name, as_provisional=True)
    of_twice = {each.run_id: each for publication in publications(project) if publication.query == "twice"
                for row in judged_rows(publication) for each in row.evidence.left_out}
    assert of_twice["a09"].is_excused is not of_twice["a03"].is_excused
    assert {(each.state, each.reason if each.state != "verified" else "") for each in verify_all(project)} == {("verified", "")}


def test_a_query_without_rows_publishes_nothing(tmp_path: Path, wh_on: WhOn) -> None:
    project = made(tmp_path, {"claim": query("value > 1000")}, runs(HONEST))
    status, out, err = wh_on(project, "publish", "claim", "--as", "provisional")
    assert (status, out) == (ExitCode.FAILED, "") and "WH319" in err and "no rows" in err
    assert list(publications(project)) == []


def test_looks_that_are_forgotten_with_the_verdict(tmp_path: Path) -> None:
    """Three runs were added after the number had been judged with the first seven."""
    values = runs(HONEST)
    project = made(tmp_path, {"claim": query()}, dict(list(values.items())[:7]))
    judge_query(project, "claim")
    add(project, dict(list(values.items())[7:]), "more")
    publish(project, "claim", as_provisional=True)
    assert found(project)[0] == "verified"

    def looks_dropped(line: Line) -> None:
        assert len(line["later"]) == 3
        line.update(later=[], first_look=None)

    reseal(project, JUDGEMENT, looks_dropped)
    judged_again(project)
    number, whole = verify_all(project)
    assert (number.state, whole.state) == ("verified", "refused")
    assert "was added after a look at the number" in whole.reason


def test_what_became_of_a_run_that_was_seen_is_not_forgotten(tmp_path: Path) -> None:
    """It was retracted after a look at the number, of a query that has another name now."""
    project = made(tmp_path, {"claim": query(), "renamed": query()}, runs(HONEST))
    judge_query(project, "claim")
    retract(project, "a04", "slow")
    build(project)
    publish(project, "renamed", as_provisional=True)
    assert found(project)[0] == "verified"
    reseal(project, JUDGEMENT, lambda line: line.pop("removed"))
    judged_again(project)
    number, whole = verify_all(project)
    assert (number.state, whole.state) == ("verified", "refused")
    assert "does not say what became of run a04 after a look at the number: retracted" in whole.reason


def test_a_publication_of_before_the_gate_stays_verifiable_and_says_that_it_was_not_judged(project: Project, wh_on: WhOn) -> None:
    (publication,) = publications(project)
    later = {"gate", "policy", "verdicts", "published_as", "publication_version", "sha256"}
    kept = {name: value for name, value in publication.record.items() if name not in later}
    sha256 = {name: value for name, value in publication.record["sha256"].items() if name not in (JUDGEMENT, POLICY)}
    record = {**kept, "publication_version": 5, "sha256": sha256}
    folder = _moved(publication, domain_digest("wh/publication/5", record))
    for name in (JUDGEMENT, POLICY):
        (folder / name).unlink()
    (folder / "publication.json").chmod(0o644)
    (folder / "publication.json").write_bytes(canonical_json(record))
    assert bytes_digest((folder / "rows.jsonl").read_bytes()) == sha256["rows.jsonl"]
    assert found(project)[0] == "verified"
    number = lineage(project, "picked[series=a].v")
    assert wh_on(project, "verify", str(number.number_id))[0] == 0
    worth = number.worth
    assert worth is not None and worth.verdict == "not judged"
    assert "not judged" in wh_on(project, "lineage", "picked[series=a].v")[1]


UNREADABLE: dict[str, Callable[[Line], Any]] = {
    "no observations": lambda line: line.pop("observed"),
    "a value too few": lambda line: line["cells"]["v"]["values"].pop(),
    "a value that is text": lambda line: line["cells"]["v"]["values"].__setitem__(0, "100"),
    "a run that is not there": lambda line: line["cells"]["v"].update(used=[99]),
    "runs that are text": lambda line: line["cells"]["v"].update(used=["r1", 2]),
    "fewer than none dropped": lambda line: line["cells"]["v"].update(dropped=-1),
    "no verdict": lambda line: line["cells"]["v"].pop("verdict"),
    "no interval and no reason": lambda line: line["cells"]["v"].pop("interval"),
    "an interval of another form": lambda line: line["cells"]["v"].update(interval={"low": 1}),
    "counts that are text": lambda line: line["cells"]["v"].update(n={"run": "ten"}),
    "a rule without a verdict": lambda line: line["cells"]["v"].update(rules={"runs": 5}),
    "rules that are a list": lambda line: line["cells"]["v"].update(rules=[]),
    "cells that are a list": lambda line: line.update(cells=[]),
    "a grain that is text": lambda line: line.update(grain="a"),
    "a start that is not a time": lambda line: line["observed"][0][1].update(started_at="noon"),
    "requests that are text": lambda line: line["observed"][0][1].update(requests="many"),
}


@pytest.mark.parametrize("case", few(UNREADABLE, 4))
def test_a_judgement_that_cannot_be_read_is_tampered(case: str, project: Project) -> None:
    reseal(project, JUDGEMENT, UNREADABLE[case])
    state, reason = found(project)
    assert state == "tampered" and "its judgement cannot be read" in reason
    with pytest.raises(WarehouseError, match="its judgement cannot be read") as caught:
        lineage(project, "picked[series=a].v")
    assert (caught.value.code, caught.value.exit_code) == ("WH307", ExitCode.TAMPERED)


def test_bytes_that_are_no_judgement_are_tampered(project: Project, wh_on: WhOn) -> None:
    for data in (b"nonsense\n", b'{"grain": 5}\n', b"\xff\n", b"[" * 5000 + b"\n"):
        (publication,) = publications(project)
        forge(publication, JUDGEMENT, data)
        assert found(project)[0] == "tampered"
    assert wh_on(project, "verify", "--all")[0] == ExitCode.TAMPERED


def test_a_judgement_of_what_the_query_does_not_claim_is_tampered(tmp_path: Path) -> None:
    sql = query().replace("as v from", "as v, count(*) as n from")
    project = made(tmp_path, {"picked": sql}, runs(HONEST))
    publish(project, "picked")
    reseal(project, JUDGEMENT, lambda line: line["cells"].update(n={**line["cells"]["v"]}))
    states = {str(verdict.key).rpartition(".")[2]: verdict.state for verdict in verify_all(project)}
    assert states == {"v": "verified", "n": "tampered"}
    with pytest.raises(WarehouseError, match="it judges n, of which its query claims nothing") as caught:
        lineage(project, "picked[series=a].n")
    assert caught.value.exit_code == ExitCode.TAMPERED


def test_a_policy_that_cannot_be_read_is_tampered(project: Project) -> None:
    reseal(project, POLICY, lambda policy: policy["rule"][2].update(guarantees="G1"))
    state, reason = found(project)
    assert state == "tampered" and "its judgement cannot be read" in reason and "guarantees of rule" in reason
