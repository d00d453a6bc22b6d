"""The field report of the two-node GB200 run: what it quotes is found in the facts, and each value leads to the bytes that state it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from aisp_field_report import CUT, DERIVED, FIGURES, STATED
from built import Sql, built, sql_of
from standard import standard_project

from warehouse.claims.publish.freezing import Facts
from warehouse.project.project import Project
from warehouse.trace.catalog import open_trace_session
from warehouse.trace.tracing import trace
from warehouse.transform.finished.builds import current_build

RUN = "2026-02-10_full_suite_e2e_wire_qf_mon"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_QUOTED = re.compile(r"\d[\d,]*(?:\.(\d+))?(?!.*\d)")  # the last number of a quoted text, and its decimals
_LINK = re.compile(r"\((?:results|docs/figures)/[^)\s]+\)")


@pytest.fixture(scope="module")
def report(aisp_evidence: Path) -> str:
    return (aisp_evidence / "gb200_cluster_runs/code/cluster/field-report.md").read_text()


@pytest.fixture(scope="module")
def project(aisp_evidence: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = standard_project(tmp_path_factory.mktemp("aisp") / "project")
    (project.root / "queries").mkdir(exist_ok=True)
    (project.root / "queries/figures.sql").write_text(FIGURES)
    return built(aisp_evidence / "gb200_cluster_runs", project)


@pytest.fixture(scope="module")
def sql(project: Project) -> Sql:
    return sql_of(project)


def agrees(quoted: str, value: float) -> bool:
    """Whether a value is what is quoted, at the precision that is quoted."""
    found = _QUOTED.search(quoted)
    assert found
    return f"{value:.{len(found[1] or '')}f}" == found[0].replace(",", "")


def test_the_list_is_of_the_report(report: str) -> None:
    sections = re.split(r"(?m)^(?=## )", report)
    for section, quoted in [(*each[:2],) for each in (*STATED, *DERIVED, CUT)]:
        (text,) = (found for found in sections if found.startswith(section))
        assert quoted in text, (section, quoted)


def test_quoted_numbers_are_found_at_their_precision(sql: Sql) -> None:
    figures = {(run, point, metric): value for run, point, metric, value in sql("select run_id, point, metric, value from figures")}
    wrong = [
        (section, quoted, figures.get((f"{RUN}/{run}", point, metric)))
        for section, quoted, run, point, metric, factor in STATED
        if (value := figures.get((f"{RUN}/{run}", point, metric))) is None or not agrees(quoted, value * factor)
    ]
    wrong += [(section, quoted, rows) for section, quoted, query in DERIVED if len(rows := sql(query)) != 1 or not agrees(quoted, rows[0][0])]
    assert wrong == []
    assert len(STATED) + len(DERIVED) >= 120
    ((ratio,),) = sql(CUT[2])
    assert not agrees(CUT[1], ratio) and math.floor(ratio * 1000) / 1000 == 2.036


def test_each_stated_number_leads_to_bytes_that_hold_it(project: Project, aisp_evidence: Path) -> None:
    structured = aisp_evidence / "gb200_cluster_runs/code/cluster/results"
    wanted = {(f"{RUN}/{run}", point, metric) for _, _, run, point, metric, _ in STATED}
    con, catalog = open_trace_session(current_build(project), project.store_root)
    try:
        rows = con.execute("select rowid, run_id, point, metric, value from rollup.figures").fetchall()
        values = {rowid: value for rowid, *key, value in rows if tuple(key) in wanted}
        assert len(values) == len(wanted)
        traced = trace(con, catalog, "figures", ["value"], list(values))
        facts = Facts(con, catalog, traced)
        for rowid, value in values.items():
            texts = [
                text for file in facts.evidence(traced.row(rowid), "value") for text in _texts(structured / file["raw_path"], file["ranges"])
            ]
            # iperf3's rates are bits, fio's MiB.
            stated = {float(number) * factor for text in texts for number in _NUMBER.findall(text) for factor in (1.0, 0.125, 1048576 / 1e9)}
            assert any(math.isclose(value, number, rel_tol=1e-12) for number in stated), rowid
    finally:
        con.close()


def _texts(path: Path, ranges: list[tuple[int, int]]) -> Iterator[str]:
    data = path.read_bytes()
    for offset, length in ranges:
        yield data[offset : offset + length].decode()


def test_links_of_the_report_that_lead_nowhere_are_missing_raw(report: str, sql: Sql, aisp_evidence: Path) -> None:
    states = dict(sql("select path, state from aisp_manifest_file"))
    links = {link.strip("()") for link in _LINK.findall(report)}
    dangling = {link for link in links if not (aisp_evidence / "gb200_cluster_runs/code/cluster" / link).is_file()}
    assert len(dangling) > 10 and {link for link in links if states.get(link) == "missing raw"} == dangling
    assert {states[link] for link in links - dangling} == {"present", "self"}


def test_states_of_the_manifest(sql: Sql, aisp_evidence: Path) -> None:
    assert dict(sql("select state, count(*) from aisp_manifest_file group by all")) == {"missing raw": 388, "present": 154, "self": 1}
    # Sums of latencies that the suite calls GB/s.
    assert {code for code, in sql("select code from ingest_issue where severity <> 'note'")} == {"unit-contradicted"}
    assert sql("select message from ingest_issue where code = 'missing-raw'") == [
        ("388 of 543 listed files are not in the bundle: aisp_manifest_file lists them",)
    ]


def test_three_peaks_of_an_all_reduce_stay_apart(sql: Sql) -> None:
    """By the run's case: a sweep over sizes between two nodes, the one of the health suite, and the same size 200 times."""
    peaks = dict(sql(
        "select benchmark_case_id, peak_bus_bandwidth_gb_per_s from fabric_outcome_fact inner join benchmark_run_fact using (run_id) "
        "where scope = 'test' and test = 'all_reduce_perf' and benchmark_case_id in "
        "('aisp_cluster/2nodes_nccl', 'aisp_cluster/health_suite_extended_nccl_all_reduce_perf')"
    ))
    assert peaks == {"aisp_cluster/2nodes_nccl": 416.16, "aisp_cluster/health_suite_extended_nccl_all_reduce_perf": 839.17}
    assert sql(
        "select key, value_number from performance_indicator_fact where indicator = 'allreduce_stability' "
        "and key in ('summary__busbw_median_gb_per_s', 'payload_bytes') order by all"
    ) == [("payload_bytes", 2147483648.0), ("summary__busbw_median_gb_per_s", 811.251)]


def test_times_of_a_run_are_those_of_its_step(sql: Sql) -> None:
    assert sql(
        f"select strftime(started_at, '%H:%M:%S'), strftime(ended_at, '%H:%M:%S'), status from benchmark_run_fact where run_id = '{RUN}/vllm_serve_sweep/node1'"
    ) == [("06:43:06", "06:56:33", "succeeded")]
    assert sql("select benchmark_case_id from benchmark_run_fact where started_at is null") == [("aisp_cluster/node_parity_summary",)]
