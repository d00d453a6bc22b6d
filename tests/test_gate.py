"""The gate from evidence to publication, on twelve runs of a project of their own: what is cherry-picked, measured until it fits, corrected,
forged, or claimed of what is not there."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import Wh, WhOn
from exhaustive import few
from samples.values import VALUES_INGESTOR, take_in

from warehouse.claims.gate.frozen import judged_rows
from warehouse.claims.gate.judgement import judge
from warehouse.claims.gate.observed import observed_columns
from warehouse.claims.numbers.deciding import retract
from warehouse.claims.numbers.lineage import lineage
from warehouse.claims.publish.publication import publication_with, publications
from warehouse.claims.publish.publish import judge_query, publish
from warehouse.claims.verify.verification import verify_all, verify_publication
from warehouse.errors import WarehouseError
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build.build import build

# Runs are lines `<series><number>=value`, each in a bundle of its own; below zero: a run that failed.
RUN = """/*
materialized: incremental
key: [run_id]
grain: [run_id]
role: runs
*/
select
    value.key as run_id,
    value.artifact_manifest_digest,
    left(value.key, 1) as series,
    if(value.value < 0, null, value.value) as value,
    if(value.value < 0, 'failed', 'succeeded') as status,
    'w' as workload_spec_digest,
    'job ' || (right(value.key, 2)::int % 5) as session,
    timestamptz '2026-01-01 00:00:00+00' + right(value.key, 2)::int * interval 1 hour as started_at,
    'sha256:' || repeat('5', 64) as software,
    coalesce(run_decision.state, 'admitted') as state
from value
left join run_decision
    on run_decision.run_id = value.key
"""
METHOD = "what: the median\n  population: all runs\n  unit_of_replication: the run"
# What the columns of such a query are, where their units matter.
COLUMNS = """columns:
  series: {type: varchar, description: "Of which machines"}
  v: {type: double, unit: tokens/s, description: "Tokens per second"}
"""
HONEST = (100.0, 100.1, 100.2, 100.05, 100.15, 100.12, 100.08, 100.03, 100.17, 100.11)


def header(
    claim: str = "", statistic: str = "median", of: str = "observation.value", observations: str = "run", grain: str = "series", columns: str = ""
) -> str:
    numbers = f"numbers:\n    v: {{statistic: {statistic}, of: \"{of}\"}}"
    return f"/*\ngrain: [{grain}]\nclaim:\n  {METHOD}\n  policy: default\n  observations: {observations}\n  {numbers}\n  {claim}\n{columns}*/\n"


def query(where: str = "", claim: str = "", **said: str) -> str:
    conditions = " and ".join(["status = 'succeeded'", "state = 'admitted'", *([where] if where else [])])
    return header(claim, **said) + f"select series, median(value) as v from run where {conditions} group by series"


def add(project: Project, values: dict[str, float], folder: str = "in") -> None:
    path = project.root.parent / folder
    path.mkdir()
    for key, value in values.items():
        (path / f"{key}.nv").write_text(f"{key}={value}\n")
    take_in(project, path)
    build(project)


def made(root: Path, queries: dict[str, str], values: dict[str, float], models: dict[str, str] | None = None) -> Project:
    project = init_project(root / "project", bare=True)
    (project.root / "ingest" / "values.py").write_text(VALUES_INGESTOR)
    for name, text in {"run": RUN, **(models or {})}.items():
        (project.root / "models" / f"{name}.sql").write_text(text)
    for name, text in queries.items():
        (project.root / "queries" / f"{name}.sql").write_text(text)
    add(project, values)
    return project


def runs(values: tuple[float, ...] = HONEST, series: str = "a") -> dict[str, float]:
    return {f"{series}{number:02}": value for number, value in enumerate(values, 1)}


def only(project: Project, name: str = "claim") -> Any:
    """The judgement of the one number of a query."""
    (number,) = judge_query(project, name)[0].numbers
    return number.judgement


def rule(project: Project, wanted: str, name: str = "claim") -> Any:
    return next(each for each in only(project, name).rules if each.rule.id == wanted)


def refused(project: Project, name: str = "claim") -> str:
    with pytest.raises(WarehouseError) as caught:
        publish(project, name)
    assert caught.value.code == "WH315"
    return str(caught.value)


# --- cherry-picking -----------------------------------------------------------------------------------------------

PICK = "run_id in ('a01', 'a04', 'a07')"
FIVE = "run_id in ('a01', 'a02', 'a04', 'a06', 'a07')"
CHERRIES = {
    "honest": query(),
    "picked": query(PICK),
    "named": query(PICK, claim=f"exclusions: {{\"{PICK}\": these three machines are the product}}"),
    "fastest": header() + "select series, median(value) as v from (select * from run where status = 'succeeded' and state = 'admitted'"
    " order by value, run_id limit 3) as best group by series",
    "joined": header() + f"select series, median(value) as v from run join (select run_id from run where {PICK}) as p using (run_id)"
    " where status = 'succeeded' and state = 'admitted' group by series",
    "in_the_aggregate": header(of=f"case when {FIVE.replace('run_id', 'observation.run_id')} then observation.value end")
    + f"select series, median(value) filter (where {FIVE}) as v, count(*) as n from run"
    " where status = 'succeeded' and state = 'admitted' group by series",
    "in_a_case": header(of=f"case when {FIVE.replace('run_id', 'observation.run_id')} then observation.value end")
    + f"select series, median(case when {FIVE} then value end) as v, count(*) as n from run"
    " where status = 'succeeded' and state = 'admitted' group by series",
    "through_a_view": header(observations="seen") + "select series, median(value) as v from seen group by series",
    "through_a_table": header(observations="kept") + "select series, median(value) as v from kept group by series",
    "counted_beside": header(observations="seen") + "select seen.series, median(seen.value) as v, min(beside.n) as n from seen join"
    " (select series, count(*) as n from run group by series) as beside on beside.series = seen.series group by seen.series",
    "by_grain": header(observations="sorted", grain="series, pick")
    + "select series, pick, median(value) as v from sorted where pick = 'best' group by series, pick",
    # The number is of all runs, and what it is judged by is not: the median is the same, and the spread is gone.
    "calm": header(observations="middle") + "select run.series, median(run.value) as v from run left join middle on middle.run_id = run.run_id"
    " where run.status = 'succeeded' and run.state = 'admitted' group by run.series",
    "twice": header(observations="doubled") + "select series, median(value) as v from doubled group by series",
}
# Clauses over the value, or over what is computed from it: no reason excuses them.
BY_VALUE = {
    "by_value": ("value < 100.125", "from run"),
    "by_flag": ("not is_slow", "from flagged"),
    "by_origin": ("key in (select key from value as other where other.value < 100.125)", "from origin"),
    "by_another_query": ("run_id in (select run_id from run where value < 100.125)", "from run"),
}
BY_VALUE_TAILS = {
    "by_rank": "qualify row_number() over (partition by series order by value, run_id) <= 7", "by_limit": "order by value, run_id limit 7",
}
# Clauses over other columns, and over whether there is a value.
BY_OTHERS = {
    "by_status": ("run_id <> 'a03'", 1), "by_date": ("started_at < timestamptz '2026-01-01 08:30:00+00'", 2),
    "by_absence": ("value is not null", 0),
}


def excused(clause: str, body: str, observations: str = "run") -> str:
    return header(f'exclusions: {{"{clause}": the machine was disturbed}}', observations=observations) + body


CHERRIES |= {
    name: excused(clause, f"select series, median(value) as v {source} where status = 'succeeded' and state = 'admitted' and {clause} group by series",
                  source.split()[-1] if name in ("by_flag", "by_origin") else "run")
    for name, (clause, source) in BY_VALUE.items()
}
CHERRIES |= {
    name: excused(tail, "select series, median(value) as v from (select * from run where status = 'succeeded' and state = 'admitted'"
                  f" {tail}) as best group by series")
    for name, tail in BY_VALUE_TAILS.items()
}
CHERRIES |= {name: query(clause, f'exclusions: {{"{clause}": the machine was disturbed}}') for name, (clause, _) in BY_OTHERS.items()}
VIEWS = {
    "flagged": "/*\nmaterialized: view\n*/\nselect *, value > 100.125 as is_slow from run",
    "origin": "/*\nmaterialized: view\n*/\nselect *, run_id as key from run",
    "seen": f"/*\nmaterialized: view\n*/\nselect * from run where {FIVE}",
    "kept": f"select * from run where {FIVE}",
    "sorted": f"/*\nmaterialized: view\n*/\nselect *, if({FIVE}, 'best', 'rest') as pick from run",
    "middle": "/*\nmaterialized: view\n*/\nselect * from run where value between 100.08 and 100.13",
    "doubled": "/*\nmaterialized: view\n*/\nselect * from run union all select * from run",
}


@pytest.fixture(scope="module")
def cherries(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Ten runs of a series, and an eleventh that failed."""
    return made(tmp_path_factory.mktemp("cherries"), CHERRIES, {**runs(), "a11": -1.0}, VIEWS)


def test_honest_runs_are_published_and_a_failed_one_is_accounted_for(cherries: Project) -> None:
    judgement = only(cherries, "honest")
    assert (judgement.verdict, judgement.n) == ("publishable", {"session": 5, "run": 10})
    assert rule(cherries, "failures", "honest").figure == pytest.approx(1 / 11)
    assert publish(cherries, "honest").judged.verdicts == {"publishable": 1}


def test_three_of_ten_runs_without_a_rule_are_refused_and_the_seven_are_listed(cherries: Project) -> None:
    said = refused(cherries, "picked")
    assert "launched runs that are left out without a reason: 7" in said
    rows = rule(cherries, "accounted", "picked").rows
    assert [row["run_id"] for row in rows] == ["a02", "a03", "a05", "a06", "a08", "a09", "a10"]
    assert all("run_id in" in row["left out by"] for row in rows)


def test_a_clause_that_is_named_with_a_reason_is_no_cherry_picking(cherries: Project) -> None:
    found = rule(cherries, "accounted", "named")
    assert (found.verdict, found.figure) == ("publishable", 0)


LEFT_OUT = {
    "fastest": 7, "calm": 6, "joined": 7, "through_a_view": 5, "through_a_table": 5, "counted_beside": 5, "by_grain": 5,
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_other_ways_to_leave_runs_out(name: str, cherries: Project) -> None:
    found = rule(cherries, "accounted", name)
    assert (found.verdict, found.figure) == ("refused", LEFT_OUT[name])


@pytest.mark.parametrize("name", [*BY_VALUE, *BY_VALUE_TAILS])
def test_no_reason_excuses_a_clause_that_picks_runs_by_their_value(name: str, cherries: Project) -> None:
    found = rule(cherries, "accounted", name)
    assert (found.verdict, found.figure) == ("refused", 3)
    assert found.detail.startswith("3 of 11 left out: ") and found.detail.endswith(": the machine was disturbed")


@pytest.mark.parametrize("name", BY_OTHERS)
def test_a_reason_excuses_a_clause_over_what_is_no_value(name: str, cherries: Project) -> None:
    judgement = only(cherries, name)
    found = next(each for each in judgement.rules if each.rule.id == "accounted")
    assert (found.verdict, judgement.n["run"]) == ("publishable", 10 - BY_OTHERS[name][1])


@pytest.mark.parametrize("name", ["in_the_aggregate", "in_a_case"])
def test_a_run_whose_value_is_defined_away_counts_as_failed(name: str, cherries: Project) -> None:
    """Five of eleven were taken."""
    found = rule(cherries, "failures", name)
    assert (found.verdict, found.figure) == ("not representative", pytest.approx(6 / 11))


def test_one_observation_twice_is_no_repeat(cherries: Project) -> None:
    with pytest.raises(WarehouseError, match="run a01 twice") as caught:
        judge_query(cherries, "twice")
    assert caught.value.code == "WH317"


def test_a_retracted_run_is_accounted_for_by_its_decision(tmp_path: Path) -> None:
    project = made(tmp_path, {"claim": query()}, runs())
    retract(project, "a03", "the clock was wrong")
    build(project)
    judgement = only(project)
    assert (judgement.verdict, judgement.n["run"]) == ("publishable", 9)


# --- measure until it fits ----------------------------------------------------------------------------------------

STOPPING = query(claim="stopping: until the interval is within one percent, ten runs at most")


UNCLAIMED = "/*\ngrain: [series]\n*/\nselect series, median(value) as v from run where status = 'succeeded' group by series"


@pytest.mark.parametrize(("act", "text"), few([(publish, query()), (judge_query, query()), (publish, UNCLAIMED)], 1), ids=["published", "judged", "unclaimed"])
def test_runs_that_are_added_after_a_look_are_labelled(act: Any, text: str, tmp_path: Path) -> None:
    project = made(tmp_path, {"claim": text, "named": STOPPING}, runs(HONEST[:5]))
    for name in ("named", "claim"):  # the rule counts if the first look has it
        act(project, name)
    (project.root / "queries" / "claim.sql").write_text(query())
    add(project, {"a06": 100.12, "a07": 100.08, "a08": 100.03}, "more")
    found = rule(project, "fixed-n")
    assert (found.verdict, found.figure, [row["run_id"] for row in found.rows]) == ("provisional", 3, ["a06", "a07", "a08"])
    assert "runs that were added after a look at the number: 3" in refused(project)
    assert publish(project, "named").judged.verdicts == {"publishable": 1}
    first, again = (publish(project, "claim", as_provisional=True) for _ in range(2))
    assert (first.digest, again.is_new) == (again.digest, False)


def test_what_is_published_again_is_the_same(tmp_path: Path) -> None:
    project = made(tmp_path, {"claim": query()}, runs())
    first = publish(project, "claim")
    judge_query(project, "claim")
    again = publish(project, "claim")
    assert (again.digest, again.is_new) == (first.digest, False)


# --- sessions -----------------------------------------------------------------------------------------------------

OF_TWO = RUN.replace("'job ' || (right(value.key, 2)::int % 5)", "'job ' || left(value.key, 1) || (right(value.key, 2)::int % 2)")


def test_two_sessions_are_enough_where_the_other_numbers_show_that_sessions_agree(tmp_path: Path) -> None:
    values = {key: value for series in "abcdefghij" for key, value in runs(HONEST[:6], series).items()}
    project = made(tmp_path, {"claim": query(), "alone": query("series = 'a'")}, values, {"run": OF_TWO})
    assert rule(project, "interval", "alone").verdict == "provisional"
    assert publish(project, "claim").judged.verdicts == {"publishable": 10}
    assert {each.state for each in verify_all(project)} == {"verified"}
    (publication,) = publications(project)
    assert {row.evidence.columns["v"].noise.sessions for row in judged_rows(publication)} == {18}


def test_what_the_first_version_of_the_gate_judged_is_verified_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sessions that agree, which were publishable."""
    project = made(tmp_path, {"claim": query()}, runs(), {"run": OF_TWO})
    with monkeypatch.context() as before:
        before.setattr("warehouse.claims.gate.gate.judge", partial(judge, gate=1))
        before.setattr("warehouse.claims.gate.gate.observed_columns", partial(observed_columns, gate=1))
        before.setattr("warehouse.claims.gate.gate.History.of", lambda self, row: row)
        before.setattr("warehouse.claims.publish.publish.GATE_VERSION", 1)
        assert publish(project, "claim").judged.verdicts == {"publishable": 1}
    assert only(project).verdict == "provisional"
    assert {each.state for each in verify_all(project)} == {"verified"}
    (publication,) = publications(project)
    assert list(verify_publication(project, publication))[0].state == "verified"


# --- values of other kinds ----------------------------------------------------------------------------------------

SIZED = {
    "sized": "/*\nmaterialized: view\n*/\nselect *, case series when 'a' then 1.50::decimal(9, 2) end as size,"
    " 9007199254740993 + right(run_id, 2)::bigint as seed, {'x': 1} as shape, 'k=1, \"x\"' as label,"
    " timestamptz '2026-01-01 00:00:00+00' as since from run",
}
ONE_RULE = """name = "{name}"
version = "1"
description = "d"
[[rule]]
id = "it"
says = "what is asked"
{check}
publishable = {bound}
otherwise = "refused"
"""
OTHER_KINDS = {  # of one rule: what it says of a number, whose runs have seeds that no double holds, and a struct each
    "sizes": ('check = "column"\ncolumn = "size"', "{at_most = 1.5}", {"a": "publishable", "b": "refused"}),
    "seeds": ('check = "observed"\ncolumn = "seed"\nover = "least"', "{at_least = 9.0e15}", {"a": "publishable", "b": "publishable"}),
    "shapes": ('check = "observed"\ncolumn = "shape"\nover = "greatest"', "{at_most = 5}", {"a": "refused", "b": "refused"}),
    "same_shapes": ('check = "observed"\ncolumn = "shape"\nover = "distinct"', "{at_most = 1}", {"a": "publishable", "b": "publishable"}),
    "totals": ('check = "column"\ncolumn = "total"', "{at_least = 9.0e15}", {"a": "publishable", "b": "publishable"}),
}


@pytest.fixture(scope="module")
def other_kinds(tmp_path_factory: pytest.TempPathFactory) -> Project:
    sql = header(observations="sized", grain="series, size, label, since") + (
        "select series, size, label, since, median(value) as v, 9007199254740993 as total from sized where status = 'succeeded' and state = 'admitted'"
        " group by series, size, label, since"
    )
    queries = {name: sql.replace("policy: default", f"policy: {name}") for name in OTHER_KINDS}
    project = made(tmp_path_factory.mktemp("kinds"), queries, {**runs(), **runs(HONEST[:6], "b")}, SIZED)
    folder = project.root / "queries" / "policies"
    folder.mkdir()
    for name, (check, bound, _) in OTHER_KINDS.items():
        (folder / f"{name}.toml").write_text(ONE_RULE.format(name=name, check=check, bound=bound))
    return project


@pytest.mark.parametrize("name", few(OTHER_KINDS, 2))
def test_decimals_nulls_structs_and_large_integers_are_judged_and_judged_again(name: str, other_kinds: Project) -> None:
    """The grain of series b is NULL in one column, and that of a a decimal: verification finds the judgement of both."""
    judged = judge_query(other_kinds, name)[0].numbers
    assert {each.grain["series"]: each.judgement.verdict for each in judged} == OTHER_KINDS[name][2]
    assert {each.grain["size"] for each in judged} == {Decimal("1.50"), None}
    digest = publish(other_kinds, name, as_provisional=True).digest
    verdicts = list(verify_publication(other_kinds, publication_with(other_kinds, digest)))
    assert [each.state for each in verdicts] == ["verified"] * 4
    for cell, verdict in (("size=1.50", "a"), ("size=NULL", "b")):
        worth = lineage(other_kinds, f"{name}[{cell}].v").worth
        assert worth is not None and worth.verdict == OTHER_KINDS[name][2][verdict]


def test_a_cell_that_is_judged_can_be_typed_as_it_is_printed(other_kinds: Project, wh_on: WhOn) -> None:
    printed = [line.split("  ", 2) for line in wh_on(other_kinds, "judge", "sizes")[1].splitlines() if line.startswith("n-")]
    assert len(printed) == 2
    for number_id, _, cell in printed:
        status, out, _ = wh_on(other_kinds, "lineage", cell)
        assert status == 0 and out.startswith(number_id)


def test_a_rule_that_many_numbers_break_is_told_once(other_kinds: Project, wh_on: WhOn) -> None:
    """And those that could not be checked apart, by their names: none of them failed."""
    rule = ONE_RULE.format(name="strict", check='check = "column"\ncolumn = "total"', bound="{at_most = 1}")
    unknown = '[[rule]]\nid = "unknown"\nsays = "what no run states"\ncheck = "observed"\ncolumn = "nosuch"\nover = "greatest"\n'
    unknown += 'publishable = {at_most = 1}\notherwise = "refused"\nmissing = "publishable"\n'
    (other_kinds.root / "queries" / "policies" / "strict.toml").write_text(rule + unknown)
    judge = ("judge", "sizes", "--policy", "strict")
    short, full = (wh_on(other_kinds, *judge, *options)[1].splitlines() for options in ((), ("--full",)))
    (told,) = [line for line in short if line.startswith("strict, refused: what is asked: ")]
    assert told.endswith(" (2 numbers)") and not any(line.startswith("    ") for line in short)
    assert full.count(f"    {told.removeprefix('strict, ').removesuffix(' (2 numbers)')}") == 2
    assert "strict, not checked: unknown (--full says why)" in short
    assert len([line for line in full if line.startswith("    not checked: what no run states: ")]) == 2


# --- provisional, withdrawn, superseded ---------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return made(tmp_path, {"claim": query(), "picked": query(PICK)}, runs())


def test_a_provisional_number_says_so_wherever_it_goes(project: Project, wh: Wh, tmp_path: Path) -> None:
    import json
    import tarfile

    assert wh("publish", "picked")[0] != 0
    assert wh("publish", "picked", "--as", "provisional")[0] == 0
    (publication,) = publications(project)
    assert publication.record["published_as"] == "provisional" and publication.record["verdicts"] == {"refused": 1}
    cell = "picked[series=a].v"
    text = wh("lineage", cell)[1]
    assert "refused by policy default 2" in text and "published as provisional" in text and "left out without a reason: 7" in text
    document = json.loads(wh("lineage", cell, "--json")[1])
    worth = (document[0] if isinstance(document, list) else document)["worth"]
    assert (worth["verdict"], worth["statistic"], worth["n"]) == ("refused", "median", {"session": 3, "run": 3})
    assert wh("audit-packet", cell, "-o", str(tmp_path / "a.tar"))[0] == 0
    with tarfile.open(tmp_path / "a.tar") as packet:
        pages = [packet.extractfile(member).read() for member in packet if member.isfile()]  # type: ignore[union-attr]
    assert any(b"published as provisional" in page for page in pages)
    assert {verdict.state for verdict in verify_all(project)} == {"verified"}


def test_a_withdrawn_publication_stays_and_says_so(project: Project, wh: Wh) -> None:
    digest = publish(project, "claim").digest
    assert wh("withdraw", digest[:12], "--reason", "the clock was wrong")[0] == 0
    (verdict,) = verify_all(project)
    assert verdict.state == "retracted" and "the clock was wrong" in verdict.reason
    assert publication_with(project, digest).digest == digest
    assert "claim  1 number, withdrawn\n" in wh("status")[1]
    with pytest.raises(WarehouseError) as caught:
        publish(project, "claim")
    assert caught.value.code == "WH318" and "the clock was wrong" in str(caught.value)


def test_a_superseded_publication_names_the_one_that_counts(project: Project, wh: Wh) -> None:
    first = publish(project, "claim").digest
    add(project, {"a11": 100.07}, "more")
    second = publish(project, "claim", as_provisional=True).digest
    assert wh("supersede", first[:12], "--by", first[:12], "--reason", "x")[0] != 0
    assert wh("supersede", first[:12], "--by", second[:12], "--reason", "one run more")[0] == 0
    states = {verdict.state: verdict.reason for verdict in verify_all(project)}
    assert states.keys() == {"verified", "retracted"} and "one run more" in states["retracted"]
    assert wh("withdraw", first[:12], "--reason", "again")[0] != 0
    assert {each.digest for each in publications(project)} == {first, second}


def test_the_status_is_that_of_the_last_publication_that_counts(project: Project, wh: Wh) -> None:
    import json

    def status() -> tuple[str, str | None]:
        (found,) = json.loads(wh("status", "--json")[1])["publications"]
        return found["publication"], found["correction"]

    first = publish(project, "claim").digest
    assert status() == (first, None)
    add(project, {"a11": 100.07}, "more")
    second = publish(project, "claim", as_provisional=True).digest
    assert status() == (second, None)
    assert wh("supersede", second, "--by", first, "--reason", "the eleventh run was throttled")[0] == 0
    assert status() == (first, None)
    assert wh("withdraw", first, "--reason", "the clock was wrong")[0] == 0
    assert status() == (second, "superseded")
