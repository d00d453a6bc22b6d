"""What `wh check` reports as building but not to be published, and what publishes: every standard model, and queries over serving
facts with the constructs that analysts use (`publishing/*.sql`).

A case gives its grain, and in refused.sql the reason and where its clause begins. Each query of published.sql is built,
published and verified.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import WhOn
from samples import bench_serving, llm_d_report

from warehouse.claims.catalog import Catalog, catalog_of
from warehouse.claims.empty_tables import empty_tables
from warehouse.claims.expansion import expanded
from warehouse.claims.hop import row_tokens
from warehouse.claims.provenance import TRACE_SETTINGS, annotate
from warehouse.claims.publication import publications
from warehouse.claims.publish import publish
from warehouse.claims.rollup import build
from warehouse.claims.rollup import check as check_project
from warehouse.claims.tie_probe import check_triable
from warehouse.claims.verdict import VERIFIED
from warehouse.claims.verification import verify_publication
from warehouse.errors import WarehouseError
from warehouse.evidence.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project import Project
from warehouse.project_making import init_project
from warehouse.transform.landing_tables import project_landing_types

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
    project = init_project(tmp_path_factory.mktemp("standard") / "p")
    return catalog_of(check_project(project).sound(), project_landing_types(project))


def test_every_standard_model_can_be_traced(standard: Catalog) -> None:
    """Each of their columns, also where no sample has rows for the table; and the engine takes what a trace would run."""
    con = empty_tables(standard)
    for setting in TRACE_SETTINGS:
        con.execute(setting)
    for model in standard.models.values():
        if model.has_rows:
            written = expanded(model, standard)
            annotated = annotate(written.text, standard.by_any_name, row_tokens(standard), standard.columns[model.qualified], is_cut=False)
            con.execute(f"explain {annotated.sql}")
            check_triable(con, written.text)


def test_a_report_of_llm_d_does_not_stop_serving_results(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "p")
    add(project, llm_d_report.write(tmp_path / "tree", llm_d_report.new(), "yaml"))
    build(project)
    assert wh_on(project, "check")[0] == 0
    assert publish(project, "serving_results").rows == 1
    (publication,) = publications(project)
    assert {verdict.state for verdict in verify_publication(project, publication)} == {VERIFIED}


# --- queries over serving facts -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A build of all cases over four runs, one of which failed altogether."""
    tree = tmp_path_factory.mktemp("tree")
    good = bench_serving.requests(12)
    partly = [*bench_serving.requests(9, 3), bench_serving.FAILED]
    bench_serving.write(tree / "pod_h100sxm/M/all_TP4_DP2_in100_out20.json", bench_serving.vllm_record(good))
    bench_serving.write(tree / "pod_h100sxm/M/part_TP4_DP2.json", bench_serving.vllm_record(partly, request_rate=4.0, max_concurrency=None))
    bench_serving.write(tree / "pod_b200/M/none_TP8.json", bench_serving.vllm_record([bench_serving.FAILED] * 3, detailed=False))
    bench_serving.write(tree / "ix/ix_tep8_isl1024_osl128_conc16.json", bench_serving.inferencex_record())
    project = init_project(tmp_path_factory.mktemp("project") / "p")
    add(project, tree)
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


@pytest.mark.parametrize("case", PUBLISHED, ids=lambda case: case.name)
def test_what_check_does_not_report_is_published_and_verified(case: Case, serving: Project) -> None:
    publication = publish(serving, case.name)
    assert publication.rows and publication.numbers
    (stored,) = (each for each in publications(serving) if each.digest == publication.digest)
    assert {verdict.state for verdict in verify_publication(serving, stored)} == {VERIFIED}
