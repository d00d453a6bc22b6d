"""`wh ingest` tells the serious issues of what it has copied, at once, and succeeds whatever becomes of that."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from conftest import Wh, WhOn
from samples import bench_serving
from samples import mlperf_inference as sample
from samples.values import value_files, values_project
from standard import standard_project

from warehouse.errors import WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.parse import examination, parsing
from warehouse.landing.parse.refresh import refresh
from warehouse.landing.registry import find_ingestors, load_ingestors
from warehouse.project.project import Project

SUMMARY = "closed/Acme/results/8xA900_2xCPU/llama2-70b-99/Server/performance/run_1/mlperf_log_summary.txt"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return standard_project(tmp_path / "project")


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """A submission with an unreadable number in one log, another submitter's name in a description, and a placeholder."""
    top = sample.write_submission(tmp_path / "evidence")
    log = top / SUMMARY
    log.write_text(log.read_text().replace("Completed samples per second    : 83.98", "Completed samples per second    : eighty"))
    for platform, name in (("8xA900_2xCPU", "Other Org"), ("EdgeBox-1", "SUBMISSION_ORG_PLACEHOLDER")):
        description = top / "closed" / "Acme" / "systems" / f"{platform}.json"
        description.write_text(description.read_text().replace('"Acme"', f'"{name}"'))
    return tmp_path / "evidence"


def line_of(path: Path, text: str) -> int:
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def batches(project: Project) -> set[str]:
    """Those of families: logs are in batches of their own."""
    found = (project.store_root / "landing" / "batches").glob("*.json")
    return {path.stem for path in found if json.loads(path.read_text())["ingestor"] != "log_rules"}


def test_the_errors_are_told_with_their_places_and_the_rest_is_counted(project: Project, evidence: Path, wh: Wh) -> None:
    status, out, err = wh("ingest", str(evidence))
    assert status == 0 and "mlperf_inference" in out and "eighty" not in out
    # Three scenarios of one system name another submitter, two of the other one a placeholder.
    assert "issues in what was copied: 1 error, 3 warnings, 2 notes\n" in err
    line = line_of(evidence / "inference_results_v5.1" / SUMMARY, "eighty")
    assert f"  {evidence}/inference_results_v5.1/{SUMMARY}:{line}: not-a-number: Completed samples per second: eighty\n" in err
    assert "select * from ingest_issue" in err and "Other Org" not in err


def test_a_project_without_the_standard_tables_is_told_how_to_list_them(tmp_path: Path, wh_on: WhOn) -> None:
    project = values_project(tmp_path / "project", "select key, sum(value) as total from value group by key")
    status, _, err = wh_on(project, "ingest", str(value_files(tmp_path / "in", "a=x\n")))
    [(sql, file, command)] = re.findall(r'all of them: write "(.*?)" into (\S+) and run wh build; then: wh (.*)$', err, re.MULTILINE)
    assert status == 0
    (project.root / file).write_text(sql)
    assert wh_on(project, "build")[0] == 0
    status, out, err = wh_on(project, *shlex.split(command))
    assert status == 0 and "could not convert string to float: 'x'" in out, err


def test_the_json_has_them_by_bundle(project: Project, evidence: Path, wh: Wh) -> None:
    status, out, _ = wh("ingest", str(evidence), "--json")
    issues = {bundle["runs"][-1].split("/")[-3]: bundle["issues"] for bundle in json.loads(out)}
    assert status == 0 and set(issues) == {"Server", "Offline", "Interactive", "SingleStream", "MultiStream"}
    assert issues["SingleStream"] == {"note": 1, "first_errors": []} and issues["Offline"] == {"warning": 1, "first_errors": []}
    [error] = issues["Server"]["first_errors"]
    assert (issues["Server"]["error"], error["code"]) == (1, "not-a-number")
    log = evidence / "inference_results_v5.1" / SUMMARY
    assert (error["source"], error["raw_path"], error["line_number"]) == (str(log), SUMMARY, line_of(log, "eighty"))
    assert error["run_id"].endswith("Server/performance/run_1")


def test_two_files_of_one_name_are_told_apart_by_the_paths_that_were_typed(
    project: Project, tmp_path: Path, wh: Wh, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, ttft in (("a", '"soon"'), ("b", '"late"'), ("c", '"soon"')):  # the third is a copy of the first
        text = json.dumps(bench_serving.inferencex_record(mean_ttft=1.25))
        bench_serving.write(tmp_path / name / "result.json", text.replace('"mean_ttft": 1.25', f'"mean_ttft": {ttft}'))
    monkeypatch.chdir(tmp_path)
    _, out, err = wh("ingest", "a/", "./b/result.json", "c", "--json")
    told = [line.strip().split(": ")[0] for line in err.splitlines() if "not-a-number" in line]
    assert sorted(told) == ["a/result.json:1", "b/result.json:1"]
    errors = [error for bundle in json.loads(out) for error in bundle.get("issues", {}).get("first_errors", [])]
    assert {(error["source"], error["raw_path"]) for error in errors} == {("a/result.json", "result.json"), ("b/result.json", "result.json")}


def test_what_the_build_files_is_what_the_ingest_told(project: Project, evidence: Path, wh: Wh) -> None:
    _, out, _ = wh("ingest", str(evidence), "--json")
    told = sum(count for bundle in json.loads(out) for key, count in bundle["issues"].items() if key != "first_errors")
    assert wh("build")[0] == 0
    assert wh("sql", "select count(*) as n from ingest_issue", "--format", "csv")[1] == f"n\n{told}\n"


def test_many_errors_are_counted_and_the_first_are_shown(project: Project, tmp_path: Path, wh: Wh) -> None:
    top = sample.write_submission(tmp_path / "evidence")
    for log in top.rglob("mlperf_log_summary.txt"):
        log.write_bytes(b"")
    _, _, err = wh("ingest", str(top))
    assert err.count(": empty-log: ") == 5 and "more errors\n" in err


def test_evidence_without_issues_and_evidence_that_was_there_tell_nothing(project: Project, tmp_path: Path, evidence: Path, wh: Wh) -> None:
    sample.write_submission(tmp_path / "whole", submitter="Whole")
    assert wh("ingest", str(tmp_path / "whole"))[2] == ""
    assert "issues" in wh("ingest", str(evidence))[2]
    assert wh("ingest", str(evidence))[2] == "nothing new: the store has all of it\n"


@pytest.mark.parametrize("error", [WarehouseError("WH124", "killed by signal 9"), RuntimeError("no such thing"), MemoryError()])
def test_an_ingest_succeeds_where_parsing_does_not(
    error: Exception, project: Project, evidence: Path, wh: Wh, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any) -> list[Any]:
        raise error

    monkeypatch.setattr(examination, "issues_of", failing)
    status, out, err = wh("ingest", str(evidence), "--json")
    assert status == 0 and len(json.loads(out)) == len(open_store(project).digests()) == 5
    assert err.startswith("the copied evidence could not be searched for issues: ")


def test_an_ingestor_that_fails_to_parse_is_told(project: Project, tmp_path: Path, wh: Wh) -> None:
    (project.root / "ingest" / "broken.py").write_text(
        "from warehouse.landing.contract import BundleDraft, DraftFile\n"
        "class Broken:\n"
        "    name, version, tables = 'broken', 1, {}\n"
        "    def bundles(self, tree):\n"
        "        for path, file in tree.files.items():\n"
        "            yield BundleDraft((DraftFile(path, file),))\n"
        "    def parse(self, bundle):\n"
        "        raise LookupError('no such thing')\n"
        "INGESTOR = Broken()\n"
    )
    sample.write(tmp_path / "evidence" / "one.note", "text")
    status, _, err = wh("ingest", str(tmp_path / "evidence"))
    assert status == 0 and "ingestor-failed: broken 1: LookupError: no such thing" in err


def test_little_is_left_to_the_build_and_much_is_landed_for_it(
    project: Project, evidence: Path, wh: Wh, monkeypatch: pytest.MonkeyPatch
) -> None:
    wh("ingest", str(evidence))
    assert not (project.store_root / "landing").exists()
    monkeypatch.setattr(examination, "BYTES_A_BATCH", 1000)
    sample.write_submission(evidence, submitter="Second")
    wh("ingest", str(evidence))
    landed = batches(project)
    assert landed
    monkeypatch.setattr(parsing, "batches", _only_what_waits(landed, project))
    assert wh("build")[0] == 0
    assert landed < batches(project)


def _only_what_waits(landed: set[str], project: Project) -> Any:
    cut = parsing.batches
    known = {
        bundle for name in landed
        for bundle in json.loads((project.store_root / "landing" / "batches" / f"{name}.json").read_text())["bundles"]
    }

    def checked(manifests: Any) -> Any:
        assert not known & {digest for digest, manifest in manifests.items() if manifest.files}  # what reads logs is given those alone
        return cut(manifests)

    return checked


def test_a_build_that_runs_at_the_same_time_is_not_disturbed(
    project: Project, evidence: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build parses what is being parsed here, with more; whichever is done last, each bundle counts once."""
    store, ingestors = open_store(project), load_ingestors(project)
    monkeypatch.setattr(examination, "BYTES_A_BATCH", 1000)
    first = ingest(plan_ingest(evidence, ingestors.values()), store, "first")
    sample.write_submission(evidence, submitter="Second")
    ingest(plan_ingest(evidence, ingestors.values()), store, "second")
    parse = parsing.parse

    def beside_a_build(*arguments: Any) -> Any:
        refresh(store, find_ingestors(project))
        return parse(*arguments)

    monkeypatch.setattr(examination, "parse", beside_a_build)
    digests = [str(bundle.digest) for bundle in first.bundles]
    assert examination.issues_of(store, digests, find_ingestors(project))
    assert len(batches(project)) == 2
    landing = refresh(store, find_ingestors(project))
    rows = [row for file in landing.files("evidence_bundle") for row in pq.read_table(file.path).to_pylist()]
    assert sorted(row["artifact_manifest_digest"] for row in rows) == store.digests()
