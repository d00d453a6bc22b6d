"""MLPerf Training results recomputed from real evidence: every repeat set equal, published figures as published, and numbers
walked back to the lines that state them.

Needs the evidence archive and its ground truth; skipped, visibly, where they are absent.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
from built import sql_of
from conftest import EVIDENCE
from standard import standard_project
from stored import bundle_folder

from warehouse.claims.publish.publication import PublishedRow, publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.publish.specification import read_specification
from warehouse.claims.verify.parsed import Parsed
from warehouse.claims.verify.replay import Replayer
from warehouse.claims.verify.verification import bundles_of
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project
from warehouse.transform.build.build import build

pytestmark = pytest.mark.exhaustive  # slow: it builds real archives. make test covers these formats with small samples

GROUND_TRUTH = EVIDENCE / "ground-truth" / "mlperf-training-olympic-means.json"
# FORMATS.md: round, submitter, how the platform begins, benchmark; the figure as it was published.
PUBLISHED = [
    ("v5.1", "NVIDIA", "hsg_ngpu2560", "llama31_405b", "18.79"),
    ("v5.1", "NVIDIA", "hsg_ngpu5120", "llama31_405b", "10"),
    ("v5.1", "NVIDIA", "theia_ngpu512", "llama31_8b", "5.2"),
    ("v5.1", "NVIDIA", "theia_ngpu512", "llama2_70b_lora", "0.40"),
    ("v5.1", "NVIDIA", "tyche_ngpu512", "retinanet", "1.4"),
    ("v5.1", "NVIDIA", "tyche_ngpu72", "rgat", "1.1"),
    ("v5.1", "AMD", "MI355X", "llama2_70b_lora", "10.18"),
    ("v5.1", "AMD", "MI300X", "llama2_70b_lora", "28"),
    ("v5.0", "NVIDIA", "tyche_ngpu512", "llama2_70b_lora", "0.56"),
    ("v5.0", "NVIDIA", "tyche_ngpu512", "stable_diffusion", "1.04"),
]
Set = tuple[str, ...]  # round, submitter, platform, benchmark


@pytest.fixture(scope="module")
def published(
    mlperf_training_evidence: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Project, list[PublishedRow]]:
    project = standard_project(tmp_path_factory.mktemp("ground-truth"))
    store = open_store(project)
    report = ingest(plan_ingest(mlperf_training_evidence, load_ingestors(project).values()), store, "evidence")
    assert not report.problems
    assert not build(project).damaged
    publish(project, "mlperf_training_results")
    (publication,) = publications(project)
    return project, list(publication.rows())


@pytest.fixture(scope="module")
def ours(published: tuple[Project, list[PublishedRow]]) -> dict[Set, PublishedRow]:
    names = ("round", "submitter", "platform", "benchmark")
    return {tuple(row.cells[name].value for name in names): row for row in published[1]}


@pytest.fixture(scope="module")
def truth() -> dict[Set, dict[str, Any]]:
    rows = json.loads(GROUND_TRUTH.read_bytes())
    found = {}
    for row in rows:
        repository, submitter, _, platform, benchmark = row["group"].split("/")
        found[repository.rpartition("_")[2], submitter, platform, benchmark] = row
    assert len(found) == len(rows) == 88
    return found


def sql(project: Project, text: str) -> list[tuple[Any, ...]]:
    return sql_of(project)(text)


def test_every_group_is_there(truth: dict[Set, Any], ours: dict[Set, PublishedRow]) -> None:
    assert truth.keys() == ours.keys()


@pytest.mark.parametrize(("theirs", "mine"), [
    ("olympic_mean_minutes", "unscaled_minutes"), ("official_minutes", "official_minutes"),
    ("min_minutes", "fastest_minutes"), ("max_minutes", "slowest_minutes"),
])
def test_every_time_is_equal(
    truth: dict[Set, dict[str, Any]], ours: dict[Set, PublishedRow], theirs: str, mine: str
) -> None:
    # Sixteen digits are given; both sides round once or twice on the way, in another order.
    different = {
        name: (ours[name].cells[mine].value, row[theirs])
        for name, row in truth.items()
        if ours[name].cells[mine].value != pytest.approx(row[theirs], rel=1e-15, abs=0)
    }
    assert different == {}


def test_every_count_and_factor_is_equal(truth: dict[Set, dict[str, Any]], ours: dict[Set, PublishedRow]) -> None:
    for name, row in truth.items():
        cells = ours[name].cells
        assert cells["run_count"].value == row["result_files"] == cells["required_run_count"].value, name
        assert cells["succeeded_count"].value == row["run_stop_status"].get("success", 0), name
        assert cells["scaling_factor"].value == (row["rcp_scaling_factor"] or 1), name


@pytest.mark.parametrize(("round_name", "submitter", "platform", "benchmark", "figure"), PUBLISHED)
def test_published_figures(
    ours: dict[Set, PublishedRow], round_name: str, submitter: str, platform: str, benchmark: str, figure: str
) -> None:
    (name,) = [
        one for one in ours
        if (one[0], one[1], one[3]) == (round_name, submitter, benchmark) and one[2].startswith(f"{platform}_")
    ]
    value = Decimal(repr(ours[name].cells["official_minutes"].value))
    assert value.quantize(Decimal(figure), ROUND_HALF_UP) == Decimal(figure)


def test_the_aborted_run_is_the_slowest(ours: dict[Set, PublishedRow]) -> None:
    cells = ours["v5.1", "Cisco", "hpf_n8", "dlrm_dcnv2"].cells
    run = "mlperf-training/v5.1/Cisco/hpf_n8/dlrm_dcnv2/result_1"
    assert cells["failed_run_ids"].value == cells["dropped_slowest_run_ids"].value == run
    assert (cells["used_count"].value, cells["failed_count"].value) == (8, 1)


def test_a_result_rests_on_its_runs_clocks_and_its_factor(
    published: tuple[Project, list[PublishedRow]], ours: dict[Set, PublishedRow]
) -> None:
    store = open_store(published[0])
    for name in (("v5.1", "Cisco", "hpf_n8", "dlrm_dcnv2"), ("v5.0", "NVIDIA", "tyche_ngpu512_ngc25.04_nemo", "llama31_405b")):
        row = ours[name]
        texts: dict[str, bytes] = {}
        for file in row.cells["official_minutes"].evidence:
            if file["raw_path"] == "manifest.json":
                continue
            data = (bundle_folder(store, file["artifact_manifest_digest"]) / "files" / file["raw_path"]).read_bytes()
            texts[file["raw_path"].rpartition("/")[2]] = b"\n".join(
                data[offset : offset + length] for offset, length in file["ranges"]
            )
        logs = {name: text for name, text in texts.items() if name.startswith("result_")}
        assert len(logs) == row.cells["run_count"].value
        assert all(b'"key": "run_start"' in text and b'"key": "run_stop"' in text for text in logs.values())
        assert (row.cells["scaling_factor"].value != 1) == (b'"scaling_factor"' in texts.get("scaling.json", b""))


def test_numbers_are_replayed_from_their_own_evidence(published: tuple[Project, list[PublishedRow]]) -> None:
    project, rows = published
    (publication,) = publications(project)
    replayer = Replayer(project, read_specification(project, publication).document, Parsed(project))
    for row in rows[::22]:
        cell = row.cells["official_minutes"]
        (replayed,) = replayer.replay(bundles_of(row, cell), tuple(row.grain_forms)).rows.values()
        assert replayed["official_minutes"] == cell.form


class TestFacts:
    def test_phases(self, published: tuple[Project, list[PublishedRow]], mlperf_training_evidence: Path) -> None:
        """One run, its clock read from the text here."""
        name = "v5.1/AMD/{results}MI355X_EPYC_9575F_pytorch/llama2_70b_lora/result_0"
        path = mlperf_training_evidence / f"mlcommons__training_results_{name.format(results='results/')}.txt"
        times: dict[str, list[int]] = {}
        for key, time in re.findall(r'"time_ms": (\d+),.*?"key": "(\w+)"', path.read_text()):
            times.setdefault(time, []).append(int(key))
        clock = times["run_stop"][0] - times["run_start"][0]
        evaluated = sum(times["eval_stop"]) - sum(times["eval_start"])
        rows = sql(published[0], f"""
            select phase, duration_s, time_to_train_s, node_count, accelerator_count
            from training_outcome_fact where run_id = 'mlperf-training/{name.format(results="")}' order by phase
        """)
        assert rows == [
            ("eval", evaluated / 1000, None, 1, 8),
            ("init", (times["init_stop"][0] - min(times["init_start"])) / 1000, None, 1, 8),
            ("train", (clock - evaluated) / 1000, clock / 1000, 1, 8),
        ]

    def test_twins_are_kept_and_flagged(self, published: tuple[Project, list[PublishedRow]], mlperf_training_evidence: Path) -> None:
        contents = Counter(path.read_bytes() for path in mlperf_training_evidence.rglob("result_*.txt"))
        twins = sum(count for count in contents.values() if count > 1)
        assert sql(published[0], "select count(*) from artifact_lineage_dim where is_shared_evidence") == [(twins,)]

    def test_status_and_reliability(self, published: tuple[Project, list[PublishedRow]]) -> None:
        assert sql(published[0], "select run_id, status_reason from benchmark_run_fact where status <> 'succeeded'") == [
            ("mlperf-training/v5.1/Cisco/hpf_n8/dlrm_dcnv2/result_1", "aborted")
        ]
        assert sql(published[0], """
            select reliability_pct, count(*) from training_outcome_fact where phase = 'train' group by all order by all
        """) == [(90, 10), (100, 753)]

    def test_scaling_is_relative_to_the_smallest_scale_point(self, published: tuple[Project, list[PublishedRow]]) -> None:
        rows = sql(published[0], """
            select accelerator_count, avg(scaling_efficiency_pct), avg(samples_per_s / accelerator_count)
            from training_outcome_fact
            where run_id like 'mlperf-training/v5.1/NVIDIA/tyche%llama2_70b_lora%' and phase = 'train'
            group by all
            order by all
        """)
        assert rows[0][0] == 8 and len(rows) > 2
        for _, efficiency, speed in rows:
            assert efficiency == pytest.approx(100 * speed / rows[0][2])

    def test_a_rate_of_unknown_unit_is_no_rate(self, published: tuple[Project, list[PublishedRow]]) -> None:
        assert sql(published[0], """
            select count(*), count(samples_per_s) from training_outcome_fact
            where run_id like '%/retinanet/%' and phase = 'train'
        """) == [(75, 0)]
