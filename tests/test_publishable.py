"""What `wh check` reports as building but not to be published, and what publishes: every standard model, and queries over serving
facts with the constructs that analysts use (`publishing/*.sql`).

A case gives its grain, and in refused.sql the reason and where its clause begins. Each query of published.sql is built,
published and verified.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import WhOn
from exhaustive import few
from samples import bench_serving, llm_d_report
from standard import standard_project

from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.publish.tie_probe import check_triable
from warehouse.claims.verify.verdict import VERIFIED
from warehouse.claims.verify.verification import verify_publication
from warehouse.errors import WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.making import init_project
from warehouse.project.project import Project, standard_folder
from warehouse.trace.catalog import Catalog, catalog_of
from warehouse.trace.empty_tables import EmptyTables
from warehouse.trace.inlined_views import expanded
from warehouse.trace.provenance.annotator import annotate
from warehouse.trace.trace_step import row_tokens
from warehouse.transform.build.build import build
from warehouse.transform.check.project_check import check_project
from warehouse.transform.inputs.landing_tables import project_landing_types

CASES = Path(__file__).parent / "publishing"


@dataclass(frozen=True)
class Case:
    """A query of an analyst. `refuse` and `at` are the reason and the beginning of the clause for which it is refused."""

    name: str
    grain: str
    sql: str
    refuse: str = ""
    at: str = ""

    @property
    def text(self) -> str:
        return f"/*\ndescription: A case.\ngrain: [{self.grain}]\n*/\n{self.sql}"


def cases(name: str) -> list[Case]:
    found = []
    for block in re.split(r"\n(?=-- case: )", (CASES / name).read_text()):
        header = dict(re.findall(r"^-- (\w+): (.*)$", block, re.MULTILINE))
        sql = re.sub(r"^-- .*\n", "", block, flags=re.MULTILINE)
        found.append(Case(header["case"], header["grain"], sql, header.get("refuse", ""), header.get("at", "")))
    return found


PUBLISHED, REFUSED = cases("published.sql"), cases("refused.sql")
# What the standard facts say, of one ingestor alone: each of forty publications tries and traces all that is under its query.
FACTS = {
    "benchmark_run_fact": """
select run_id, format as family, 'performance' as mode, started_at, ended_at, 'admitted' as state, 'succeeded' as status,
    false as has_conflict
from bench_serving_run""",
    "request_fact": "select * exclude (artifact_manifest_digest, raw_path, raw_offset, raw_length) from bench_serving_request",
    "serving_outcome_fact": """
select
    run.run_id, run.workload_point, run.max_concurrency as concurrency_point, run.request_rate_per_s,
    'TP' || run.tensor_parallel as deployment_model, run.artifact_manifest_digest,
    count(*) filter (request.status = 'succeeded') as completed_count,
    avg((request.status <> 'succeeded')::int) as error_rate,
    count(*) / nullif(max(request.started_s) - min(request.started_s), 0) as request_throughput_per_s,
    avg(request.ttft_ms) as ttft_mean_ms, quantile_cont(request.ttft_ms, 0.5) as ttft_p50_ms,
    quantile_cont(request.ttft_ms, 0.99) as ttft_p99_ms, avg(request.e2e_ms) as e2e_mean_ms,
    quantile_cont(request.e2e_ms, 0.5) as e2e_p50_ms, quantile_cont(request.e2e_ms, 0.99) as e2e_p99_ms
from bench_serving_run as run inner join bench_serving_request as request on request.run_id = run.run_id
group by all""",
}


def add(project: Project, tree: Path) -> None:
    report = ingest(plan_ingest(tree, load_ingestors(project).values()), open_store(project), "test")
    assert not report.problems


def write(project: Project, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


# --- the standard models ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def standard(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    project = standard_project(tmp_path_factory.mktemp("standard") / "p")
    return catalog_of(check_project(project).sound(), project_landing_types(project))


PARTS = 8  # the first has `ingest_issue`, whose traced SQL the engine plans for half a minute


@pytest.mark.parametrize("part", few(reversed(range(PARTS)), 1))
def test_every_standard_model_can_be_traced(standard: Catalog, part: int) -> None:
    """Each of their columns, also where no sample has rows for the table; and the engine takes what a trace would run."""
    empty = EmptyTables(standard)
    for model in list(standard.models.values())[part::PARTS]:
        if model.has_rows:
            con, written = empty.reading(model), expanded(model, standard)
            annotated = annotate(written.text, standard.by_any_name, row_tokens(standard), standard.columns[model.qualified], is_cut=False)
            con.execute(f"explain {annotated.sql}")
            check_triable(con, written.text)


@pytest.mark.exhaustive
def test_a_report_of_llm_d_does_not_stop_serving_results(tmp_path: Path, wh_on: WhOn) -> None:
    project = standard_project(tmp_path / "p")
    add(project, llm_d_report.write(tmp_path / "tree", llm_d_report.new(), "yaml"))
    build(project)
    assert wh_on(project, "check")[0] == 0
    assert publish(project, "serving_results").rows == 1
    (publication,) = publications(project)
    assert {verdict.state for verdict in verify_publication(project, publication)} == {VERIFIED}


# --- queries over serving facts -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A build of all cases over three runs, one of which failed altogether."""
    tree = tmp_path_factory.mktemp("tree")
    good = bench_serving.requests(12)
    partly = [*bench_serving.requests(9, 3), bench_serving.FAILED]
    bench_serving.write(tree / "pod_h100sxm/M/all_TP4_DP2_in100_out20.json", bench_serving.vllm_record(good))
    bench_serving.write(tree / "pod_h100sxm/M/part_TP4_DP2.json", bench_serving.vllm_record(partly, request_rate=4.0, max_concurrency=None))
    bench_serving.write(tree / "pod_b200/M/none_TP8.json", bench_serving.vllm_record([bench_serving.FAILED] * 3))
    project = init_project(tmp_path_factory.mktemp("project") / "p", bare=True)
    shutil.copytree(standard_folder() / "ingest" / "bench_serving", project.root / "ingest" / "bench_serving")
    add(project, tree)
    write(project, {f"models/{name}.sql": sql for name, sql in FACTS.items()})
    write(project, {f"queries/{case.name}.sql": case.text for case in (*PUBLISHED, *REFUSED)} | {"limits.csv": "a,1\n"})
    assert not build(project).damaged
    return project


def test_check_reports_each_refused_query_and_no_other(serving: Project, wh_on: WhOn) -> None:
    code, out, err = wh_on(serving, "check", "--json")
    found = {error["place"].split(":")[0].removeprefix("queries/").removesuffix(".sql"): error for error in json.loads(out)["errors"]}
    assert code == 1 and f"{len(REFUSED)} errors" in err
    assert found.keys() == {case.name for case in REFUSED}
    for case in REFUSED:
        assert found[case.name]["code"] == "WH306"
        assert found[case.name]["message"].startswith(f"{case.name} cannot be published: {case.refuse}: ")
        line, column = map(int, found[case.name]["place"].split(":")[1:])
        assert case.text.splitlines()[line - 1][column - 1 :].startswith(case.at)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_check_reports_publish_refuses(case: Case, serving: Project) -> None:
    with pytest.raises(WarehouseError) as caught:
        publish(serving, case.name)
    assert caught.value.code == "WH306" and caught.value.message.startswith(f"{case.refuse}: ")


@pytest.mark.parametrize("case", few(PUBLISHED, 4), ids=lambda case: case.name)
def test_what_check_does_not_report_is_published_and_verified(case: Case, serving: Project) -> None:
    publication = publish(serving, case.name)
    assert publication.rows and publication.numbers
    (stored,) = (each for each in publications(serving) if each.digest == publication.digest)
    assert {verdict.state for verdict in verify_publication(serving, stored)} == {VERIFIED}


# --- what a project's files say -----------------------------------------------------------------------------------

DEEP = {
    "models/staging/summed.sql": "/*\nmaterialized: view\n*/\nselect run_id,\n    any_value(ttft_ms) as ttft_ms\nfrom request_fact\ngroup by run_id",
    "models/run_fact.sql": "select run_id, ttft_ms from summed where ttft_ms > 1e9",  # no row has it
    "models/other_fact.sql": "select run_id, list(status) as states from bench_serving_request group by run_id",
    "queries/by_run.sql": "/*\ndescription: A case.\ngrain: [run_id]\n*/\nselect run_id, max(ttft_ms) as ttft_ms from run_fact group by run_id",
}


@pytest.fixture
def small(tmp_path: Path) -> Project:
    """A project with the facts of the cases, without evidence and queries."""
    project = init_project(tmp_path / "p", bare=True)
    shutil.copytree(standard_folder() / "ingest" / "bench_serving", project.root / "ingest" / "bench_serving")
    write(project, {f"models/{name}.sql": sql for name, sql in FACTS.items()})
    return project


def test_a_clause_deep_under_a_query_is_reported_at_its_place(small: Project, wh_on: WhOn) -> None:
    """Also one that no row comes from; one that is under no query is nobody's concern."""
    write(small, DEEP)
    write(small, {"models/staging/summed.sql": DEEP["models/staging/summed.sql"].replace("any_value(ttft_ms)", "first(ttft_ms)")})
    code, _, err = wh_on(small, "check")
    assert code == 1
    assert "WH306 models/staging/summed.sql:5:5: by_run cannot be published: E_UNORDERED_AGG: " in err
    assert "    first(ttft_ms) as ttft_ms\n    ^\n" in err
    assert "other_fact" not in err and err.rstrip().endswith("1 error")
    write(small, DEEP)  # any_value() may be published if no tie decides, which only data can tell
    assert wh_on(small, "check")[0] == 0


def test_a_build_is_not_stopped_and_publish_runs_nothing(small: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench_serving.write(tmp_path / "tree/a_TP1.json", bench_serving.vllm_record(bench_serving.requests(3)))
    add(small, tmp_path / "tree")
    write(small, {"queries/q.sql": "/*\ngrain: [run_id]\n*/\nselect run_id, list(status) as s from request_fact group by run_id"})
    build(small)
    monkeypatch.setattr("warehouse.claims.publish.tie_probe.check_ties", lambda *_: pytest.fail("ties were tried first"))
    with pytest.raises(WarehouseError) as caught:
        publish(small, "q")
    assert caught.value.place.startswith("queries/q.sql:4:16") and caught.value.message.startswith("E_UNORDERED_AGG: ")


def test_a_choice_that_a_tie_may_decide_is_noted_and_fails_nothing(small: Project, wh_on: WhOn) -> None:
    header = "/*\ngrain: [run_id]\n*/\n"
    write(small, {
        "queries/whole.sql": f"{header}select run_id, family from benchmark_run_fact\norder by family desc limit 1",
        "queries/decided.sql": f"{header}select run_id, family from benchmark_run_fact order by family, 1 limit 1",
        "queries/plain.sql": f"{header}select run_id, family from benchmark_run_fact order by family",
        "queries/reads_it.sql": f"{header}select run_id, count(*) as n from slowest group by run_id",
        "models/slowest.sql": "select distinct on (run_id) run_id, e2e_ms\nfrom request_fact\norder by run_id, status",
    })
    code, out, err = wh_on(small, "check", "--json")
    assert code == 0
    found = {note["place"]: (note["code"], note["message"].splitlines()[0]) for note in json.loads(out)["notes"]}
    told = "can be published only if no tie decides which rows are kept"
    assert found == {
        "queries/whole.sql:5:10": ("WH306", f"whole {told}: ORDER BY family DESC LIMIT 1"),
        "models/slowest.sql:3:10": ("WH306", f"reads_it {told}: DISTINCT ON (run_id) ORDER BY run_id, status"),
    }
    assert "note WH306 queries/whole.sql:5:10: whole can be published only if" in err and "\norder by family desc limit 1\n         ^\n" in err
    assert json.loads(wh_on(small, "check", "--json")[1])["notes"] == json.loads(out)["notes"]  # also from memory


def test_the_standard_queries_have_no_notes(tmp_path: Path, wh_on: WhOn) -> None:
    code, out, _ = wh_on(standard_project(tmp_path / "p"), "check", "--json")
    assert code == 0 and json.loads(out)["notes"] == []


def test_only_the_queries_that_read_an_untraceable_column_are_named(small: Project, wh_on: WhOn) -> None:
    header = "/*\ngrain: [run_id]\n*/\n"
    write(small, {
        "models/flagged.sql": "select run_id, state, run_id in (select run_id from request_fact) as has_requests from benchmark_run_fact",
        "queries/reads_it.sql": f"{header}select run_id, has_requests from flagged",
        "queries/reads_it_too.sql": f"{header}select run_id, bool_or(has_requests) as any_has from flagged group by run_id",
        "queries/does_not.sql": f"{header}select run_id, state from flagged",
        "queries/asks_for_it.sql": f"{header}select run_id, state from flagged where has_requests",
    })
    code, _, err = wh_on(small, "check")
    assert code == 1 and "models/flagged.sql:1:23: reads_it, reads_it_too cannot be published: E_SUBQUERY_CELL" in err
    assert err.rstrip().endswith("1 error")


def test_what_was_found_is_remembered_until_the_text_changes(small: Project, wh_on: WhOn, monkeypatch: pytest.MonkeyPatch) -> None:
    write(small, DEEP)
    small.builds.mkdir(parents=True, exist_ok=True)
    assert wh_on(small, "check")[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr("warehouse.claims.publish.publishable.annotate", lambda *_, **__: pytest.fail("annotated again"))
        assert wh_on(small, "check")[0] == 0
    write(small, {"models/run_fact.sql": "select run_id, first(ttft_ms) as ttft_ms from summed group by run_id"})
    assert wh_on(small, "check")[0] == 1
    write(small, {"queries/by_run.sql": DEEP["queries/by_run.sql"].replace("max(ttft_ms) as ttft_ms", "1 as one")})
    assert "E_UNORDERED_AGG" in wh_on(small, "check")[2]  # it still decides nothing, but is run to find the rows


def test_signing_state_is_reported(small: Project, wh_on: WhOn) -> None:
    write(small, {"queries/signed.sql": (
        "/*\ngrain: [artifact_manifest_digest]\n*/\nselect artifact_manifest_digest, signing_state from evidence_signing"
    )})
    code, _, err = wh_on(small, "check")
    assert code == 1 and "WH306 queries/signed.sql: signed cannot be published: signing_state depends on evidence_signing.signing_state" in err


def test_sql_that_the_tracer_cannot_read_is_reported(small: Project, wh_on: WhOn) -> None:
    write(small, {
        "models/staging/hex.sql": "/*\nmaterialized: view\n*/\nselect run_id, x'ab'::blob as b from benchmark_run_fact",
        "queries/q.sql": "/*\ngrain: [run_id]\n*/\nselect run_id, octet_length(b) as n from hex",
    })
    code, _, err = wh_on(small, "check")
    assert code == 1 and "WH306 models/staging/hex.sql:4:" in err and "q cannot be published: E_PARSE" in err
