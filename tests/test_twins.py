"""A CSV that repeats a recognised JSON is its twin, and not unrecognised; a CSV of anything else stays what it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Wh, unpacked_evidence
from samples import bench_serving as sample
from standard import standard_project

from warehouse.landing.ingest import Plan, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project

RECORD = sample.vllm_record(sample.requests(3), detailed=False)
TWIN = "model_id,completed,failed,request_throughput,gpu_util_pct\nQwen/Qwen3-8B,3,0,0.24,81.2\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return standard_project(tmp_path / "project")


def planned(project: Project, folder: Path) -> Plan:
    return plan_ingest(folder, load_ingestors(project).values())


def roles(plan: Plan) -> dict[str, str]:
    """The role of each file that a bundle takes, by its path in the tree."""
    return {file.file.path: file.role or "" for _, draft in plan.recognised for file in draft.files}


@pytest.mark.parametrize("name", ["sweep.json", "sweep.jsonl"])
def test_a_csv_beside_a_recognised_json_is_its_twin(name: str, project: Project, tmp_path: Path) -> None:
    sample.write(tmp_path / "tree" / name, RECORD)
    alone = planned(project, tmp_path / "tree")
    (tmp_path / "tree" / "sweep.csv").write_text(TWIN)
    plan = planned(project, tmp_path / "tree")
    assert plan.leftovers == () and roles(plan)["sweep.csv"] == "twin"
    # The JSON's bundle is the one that it is without a CSV; the twin's says whose it is.
    assert plan.recognised[:-1] == alone.recognised
    family, draft = plan.recognised[-1]
    assert (family, dict(draft.identity), draft.runs) == ("bench_serving", {"twin_of": name}, ())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("other.csv", TWIN), ("sub/sweep.csv", TWIN), ("sweep.tsv", TWIN), ("sweep.csv", "date,ticker,close\n1,2,3\n"),
        ("sweep.csv", "completed,price,currency,region\n1,2,3,4\n"), ("sweep.csv", "completed\n3\n"), ("sweep.csv", ""),
        ("sweep.csv", '"' + "x" * 200_000),
    ],
)
def test_any_other_csv_is_not(name: str, text: str, project: Project, tmp_path: Path) -> None:
    sample.write(tmp_path / "tree" / "sweep.json", RECORD)
    (tmp_path / "tree" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "tree" / name).write_text(text)
    plan = planned(project, tmp_path / "tree")
    assert [leftover.file.path for leftover in plan.leftovers] == [name]
    assert roles(plan) == {"sweep.json": roles(plan)["sweep.json"]}


def test_a_csv_beside_json_that_nobody_knows_is_unrecognised(project: Project, tmp_path: Path) -> None:
    sample.write(tmp_path / "tree" / "sweep.json", {"completed": 1, "failed": 2})
    (tmp_path / "tree" / "sweep.csv").write_text("completed,failed\n1,2\n")
    assert planned(project, tmp_path / "tree").recognised == ()


def test_a_twin_is_recognised_and_nothing_is_read_from_it(project: Project, tmp_path: Path, wh: Wh) -> None:
    sample.write(tmp_path / "tree" / "sweep.json", RECORD)
    (tmp_path / "tree" / "sweep.csv").write_text(TWIN)
    assert wh("ingest", str(tmp_path / "tree"))[::2] == (0, "")
    assert wh("build")[0] == 0
    sql = "select family, raw_path, role, is_recognised from raw_artifact where raw_path = 'sweep.csv'"
    assert wh("sql", sql, "--format", "csv")[1].splitlines()[1:] == ["bench_serving,sweep.csv,twin,true"]
    counts = "select (select count(*) from benchmark_run_fact) as runs, (select count(*) from ingest_issue) as issues"
    assert wh("sql", counts, "--format", "csv")[1].splitlines()[1:] == ["1,0"]


def test_the_csv_of_an_aiperf_that_sorts_its_statistics_is_one(project: Project, tmp_path: Path) -> None:
    """AIPerf 0.8 writes a hundred statistics by name: those that tell what it is come after the first 4 kB."""
    rows = "".join(f"Active Statistic {index} (tokens/sec),1.00,{'0.00,' * 12}2.00\n" for index in range(100))
    header = "Metric,avg,min,max,sum,p1,p5,p10,p25,p50,p75,p90,p95,p99,std\n"
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "profile_export_aiperf.csv").write_text(header + rows + "Request Latency (ms),5.00\n")
    assert roles(planned(project, tmp_path / "tree")) == {"profile_export_aiperf.csv": "csv"}


def test_real_twins(project: Project, tmp_path: Path) -> None:
    missed = roles(planned(project, unpacked_evidence("missed")))
    assert [role for path, role in missed.items() if path.endswith("profile_export_aiperf.csv")] == ["csv", "csv"]
    for path in unpacked_evidence("aisp").rglob("*_vllm_serve_sweep.*"):  # without the manifest of their cluster run
        sample.write(tmp_path / "tree" / path.name, path.read_text())
    aisp = roles(planned(project, tmp_path / "tree"))
    assert [role for path, role in aisp.items() if path.endswith("vllm_serve_sweep.csv")] == ["twin"]


def test_the_dry_run_lists_a_twin_with_what_it_repeats(project: Project, tmp_path: Path, wh: Wh) -> None:
    sample.write(tmp_path / "tree" / "sweep.json", RECORD)
    (tmp_path / "tree" / "sweep.csv").write_text(TWIN)
    document = json.loads(wh("ingest", "--dry-run", "--json", str(tmp_path / "tree"))[1])
    assert document["unrecognised"] == []
    assert [bundle["identity"] for bundle in document["bundles"] if bundle["runs"] == []] == [{"twin_of": "sweep.json"}]
