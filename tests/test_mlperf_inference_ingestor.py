"""The MLPerf Inference ingestor: recognition, every landing rule, exact byte ranges, damaged files, real evidence."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import landed
import pytest
from landed import Rows, codes
from samples import mlperf_inference as sample

from warehouse.digest import bytes_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import ISSUE_TABLE, Bundle, BundleDraft

VALUES = sample.Values()


INGESTOR = landed.load("mlperf_inference")


def drafts(path: Path) -> list[BundleDraft]:
    return landed.drafts(INGESTOR, path)


def stored(draft: BundleDraft, folder: Path) -> Bundle:
    return landed.stored(INGESTOR, draft, folder)


def parsed(bundle: Bundle) -> Rows:
    return landed.parsed(INGESTOR, bundle)


def bundle_of(top: Path, scenario: str, folder: Path) -> Bundle:
    return stored(next(draft for draft in drafts(top) if draft.identity["scenario"] == scenario), folder)


def rows_of(top: Path, scenario: str, folder: Path) -> Rows:
    return parsed(bundle_of(top, scenario, folder))


def entries(rows: Rows, source: str, run: str | None = "performance/run_1") -> dict[str, dict[str, Any]]:
    """The first entry of each key, of one source and run."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows["mlperf_inference_entry"]:
        is_run = row["run_id"] is None if run is None else (row["run_id"] or "").endswith("/" + run)
        if row["source"] == source and is_run:
            found.setdefault(row["key"], row)
    return found


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return sample.write_submission(tmp_path / "tree")


@pytest.fixture
def server(top: Path) -> Path:
    """The folder of the Server run, for tests that change its files."""
    return top / "closed/Acme/results/8xA900_2xCPU" / sample.LLM / "Server/performance/run_1"


class TestRecognition:
    def test_one_bundle_a_scenario_with_all_its_documents(self, top: Path) -> None:
        parts = ("platform", "benchmark", "scenario")
        found = {tuple(draft.identity[part] for part in parts): draft for draft in drafts(top)}
        assert sorted(found) == [
            ("8xA900_2xCPU", sample.LLM, "Interactive"), ("8xA900_2xCPU", sample.LLM, "Offline"),
            ("8xA900_2xCPU", sample.LLM, "Server"), ("EdgeBox-1", sample.VISION, "MultiStream"),
            ("EdgeBox-1", sample.VISION, "SingleStream"),
        ]
        draft = found["8xA900_2xCPU", sample.LLM, "Server"]
        assert draft.identity["round"] == "v5.1" and draft.source == {"collection": "inference_results_v5.1"}
        assert [file.raw_path.removeprefix("closed/Acme/") for file in draft.files] == [
            "compliance/8xA900_2xCPU/llama2-70b-99/Server/TEST01/performance/run_1/mlperf_log_detail.txt",
            "compliance/8xA900_2xCPU/llama2-70b-99/Server/TEST01/performance/run_1/mlperf_log_summary.txt",
            "compliance/8xA900_2xCPU/llama2-70b-99/Server/TEST01/verify_performance.txt",
            "measurements/8xA900_2xCPU/llama2-70b-99/Server/8xA900_2xCPU_Server.json",
            "measurements/8xA900_2xCPU/llama2-70b-99/Server/user.conf",
            "results/8xA900_2xCPU/llama2-70b-99/Server/accuracy/accuracy.txt",
            "results/8xA900_2xCPU/llama2-70b-99/Server/accuracy/mlperf_log_summary.txt",
            "results/8xA900_2xCPU/llama2-70b-99/Server/performance/run_1/mlperf_log_detail.txt",
            "results/8xA900_2xCPU/llama2-70b-99/Server/performance/run_1/mlperf_log_summary.txt",
            "systems/8xA900_2xCPU.json",
        ]
        name = "mlperf-inference/v5.1/closed/Acme/8xA900_2xCPU/llama2-70b-99/Server"
        assert draft.runs == (f"{name}/TEST01", f"{name}/accuracy", f"{name}/performance/run_1")

    @pytest.mark.parametrize("cut", ["..", ".", "closed", "closed/Acme"])
    def test_the_cut_does_not_matter(self, top: Path, cut: str) -> None:
        def identity(found: list[BundleDraft]) -> list[Any]:
            return [
                (draft.identity, draft.source, draft.runs, [(f.raw_path, f.role, f.media_type) for f in draft.files])
                for draft in found
            ]

        assert identity(drafts(top / cut)) == identity(drafts(top))

    def test_a_cut_below_a_section_keeps_paths(self, top: Path) -> None:
        (draft,) = drafts(top / "closed/Acme/results/8xA900_2xCPU" / sample.LLM / "Offline")
        assert draft.identity["platform"] == "8xA900_2xCPU" and draft.identity["scenario"] == "Offline"
        assert all(file.raw_path.startswith("closed/Acme/results/8xA900_2xCPU/") for file in draft.files)

    def test_round_unknown_in_the_path(self, tmp_path: Path) -> None:
        top = sample.write_submission(tmp_path / "tree", round=None)
        draft = next(draft for draft in drafts(top) if draft.identity["scenario"] == "Server")
        assert draft.identity["round"] is None and draft.source == {} and "/?/" in draft.runs[0]
        bundle = stored(draft, tmp_path / "store")
        runs = parsed(bundle)["mlperf_inference_run"]
        assert {run["round"] for run in runs} == {None}
        assert all(run["run_id"].startswith(f"mlperf-inference/{bundle.digest[:12]}/closed/") for run in runs)

    def test_the_nearest_round_wins(self, tmp_path: Path) -> None:
        top = sample.write_submission(tmp_path / "archive-v3.0", round="v4.1")
        assert {draft.identity["round"] for cut in (tmp_path, top) for draft in drafts(cut)} == {"v4.1"}

    def test_two_rounds_in_one_tree_stay_apart(self, tmp_path: Path) -> None:
        for name in ("v4.1", "v5.1"):
            sample.write_submission(tmp_path, round=name)
        assert Counter(draft.identity["round"] for draft in drafts(tmp_path)) == {"v4.1": 5, "v5.1": 5}

    def test_v6_layout_has_the_same_runs(self, tmp_path: Path, top: Path) -> None:
        v6 = sample.write_submission(tmp_path, round="v6.0", layout="v6")
        old = {run.replace("v5.1", "v6.0") for draft in drafts(top) for run in draft.runs}
        assert {run for draft in drafts(v6) for run in draft.runs} == old
        rows = rows_of(v6, "Server", tmp_path / "store")
        assert entries(rows, "measurement", None)["weight_data_types"]["value"] == "fp8"
        assert entries(rows, "user_conf", None)["*.Server.target_qps"]["value_number"] == VALUES.target_qps

    def test_case_of_folders_may_differ_between_sections(self, top: Path) -> None:
        home = top / "closed/Acme"
        (home / "measurements/8xA900_2xCPU").rename(home / "measurements/8Xa900_2xcpu")
        (home / "systems/8xA900_2xCPU.json").rename(home / "systems/8XA900_2XCPU.json")
        draft = next(draft for draft in drafts(top) if draft.identity["scenario"] == "Server")
        paths = {file.raw_path for file in draft.files}
        assert "closed/Acme/measurements/8Xa900_2xcpu/llama2-70b-99/Server/user.conf" in paths
        assert "closed/Acme/systems/8XA900_2XCPU.json" in paths and len(drafts(top)) == 5

    def test_exact_names_win_over_case(self, top: Path) -> None:
        home = top / "closed/Acme"
        shutil.copytree(home / "measurements/8xA900_2xCPU", home / "measurements/8XA900_2XCPU")
        by_platform = Counter(draft.identity["platform"] for draft in drafts(top))
        assert by_platform == {"8xA900_2xCPU": 3, "EdgeBox-1": 2, "8XA900_2XCPU": 3}
        assert all(not draft.runs for draft in drafts(top) if draft.identity["platform"] == "8XA900_2XCPU")

    def test_measurements_above_the_scenario_go_where_they_fit(self, top: Path) -> None:
        home = top / "closed/Acme/measurements/8xA900_2xCPU"
        sample.write(home / sample.LLM / "user.conf", "*.*.mode = 2\n")
        sample.write(home / sample.LLM / "calibrated_Server.json", json.dumps(sample.measurement()))
        sample.write(home / "Offline" / "user.conf", "*.Offline.target_qps = 3\n")  # the benchmark's folder is missing
        held = {d.identity["scenario"]: {f.raw_path.partition("CPU/")[2] for f in d.files} for d in drafts(top)}
        assert f"{sample.LLM}/user.conf" in held["Server"] & held["Offline"] & held["Interactive"]
        assert f"{sample.LLM}/user.conf" not in held["SingleStream"] | held["MultiStream"]
        assert [name for name, files in held.items() if f"{sample.LLM}/calibrated_Server.json" in files] == ["Server"]
        assert [name for name, files in held.items() if "Offline/user.conf" in files] == ["Offline"]

    def test_measurements_without_results_are_a_bundle_without_runs(self, top: Path) -> None:
        shutil.rmtree(top / "closed/Acme/results/EdgeBox-1/resnet50/MultiStream")
        draft = next(draft for draft in drafts(top) if draft.identity["scenario"] == "MultiStream")
        assert draft.runs == () and len(draft.files) == 3

    def test_others_files_stay_unclaimed(self, tmp_path: Path) -> None:
        sample.write(tmp_path / "closed/Acme/systems/Unused.json", "{}")
        sample.write(tmp_path / "closed/Acme/results/board/ad/accuracy/results.txt", "Tiny has no loadgen")
        sample.write(tmp_path / "closed/Acme/measurements/board/ad/Offline/notes.json", '{"note": 1}')
        sample.write(tmp_path / "NVIDIA/results/dgx/retinanet/result_0.txt", ":::MLLOG {}")
        sample.write(tmp_path / "mlperf_log_summary.txt", sample.accuracy_summary())
        assert drafts(tmp_path) == []


class TestRuns:
    def test_modes_and_what_they_support(self, top: Path, tmp_path: Path) -> None:
        runs = {}
        for scenario in ("Server", "Offline"):
            for run in rows_of(top, scenario, tmp_path / scenario)["mlperf_inference_run"]:
                runs[scenario, run["run_name"]] = run
        assert {key: run["mode"] for key, run in runs.items()} == {
            ("Server", "TEST01"): "compliance", ("Server", "accuracy"): "accuracy",
            ("Server", "run_1"): "performance", ("Offline", "accuracy"): "accuracy",
            ("Offline", "ranging"): "ranging", ("Offline", "run_1"): "performance",
        }
        for (scenario, name), run in runs.items():
            is_result = name == "run_1"
            assert run["supports_run_id"] == (None if is_result else runs[scenario, "run_1"]["run_id"])
        assert runs["Offline", "run_1"]["has_power_log"] and not runs["Server", "run_1"]["has_power_log"]
        assert runs["Server", "run_1"]["has_detail_log"] and not runs["Server", "accuracy"]["has_detail_log"]

    def test_interactive_is_lawfully_logged_as_server(self, top: Path, tmp_path: Path) -> None:
        rows = rows_of(top, "Interactive", tmp_path / "store")
        run = next(run for run in rows["mlperf_inference_run"] if run["mode"] == "performance")
        assert (run["scenario"], run["logged_scenario"]) == ("Interactive", "Server")
        assert codes(rows) == {}

    def test_the_folder_is_verbatim_and_the_scenario_canonical(self, top: Path, tmp_path: Path) -> None:
        results = top / "closed/Acme/results/EdgeBox-1/resnet50"
        (results / "SingleStream").rename(results / "singlestream")
        rows = rows_of(top, "singlestream", tmp_path / "store")
        run = rows["mlperf_inference_run"][0]
        assert (run["scenario_folder"], run["scenario"]) == ("singlestream", "SingleStream") and codes(rows) == {}
        assert entries(rows, "measurement", None)  # matched without regard to case

    def test_workload_document_is_the_same_with_and_without_a_detail_log(
        self, top: Path, server: Path, tmp_path: Path
    ) -> None:
        def document(folder: str) -> str:
            runs = rows_of(top, "Server", tmp_path / folder)["mlperf_inference_run"]
            return next(run["workload_document"] for run in runs if run["mode"] == "performance")

        both = document("both")
        assert json.loads(both) == {
            "benchmark": "llama2-70b-99", "scenario": "Server", "weight_data_types": "fp8", "min_duration_ms": 600000,
            "min_query_count": 100, "performance_sample_count": 24576, "samples_per_query": 1,
            "ttft_latency_ns": 2_000_000_000, "tpot_latency_ns": 200_000_000,
        }
        detail = (server / "mlperf_log_detail.txt")
        text = detail.read_bytes()
        detail.unlink()
        assert document("summary") == both
        detail.write_bytes(text)
        (server / "mlperf_log_summary.txt").unlink()
        assert document("detail") == both

    def test_what_an_offline_system_chooses_is_not_its_workload(self, top: Path, tmp_path: Path) -> None:
        run = rows_of(top, "Offline", tmp_path / "store")["mlperf_inference_run"][-1]
        assert json.loads(run["workload_document"]).keys() == {
            "benchmark", "scenario", "weight_data_types",
            "min_duration_ms", "min_query_count", "performance_sample_count",
        }
        assert bytes_digest(run["workload_document"].encode()) == run["workload_spec_digest"]

    def test_precision_is_the_same_in_any_case(self, tmp_path: Path) -> None:
        digests = set()
        for name in ("INT8", "int8"):
            top = sample.write_submission(tmp_path / name, values=sample.Values(weight_data_types=name))
            runs = rows_of(top, "Offline", tmp_path)["mlperf_inference_run"]
            digests |= {run["workload_spec_digest"] for run in runs}
        assert len(digests) == 2  # one of the performance and ranging runs, one of the accuracy run, which logs nothing

    def test_a_log_outside_of_a_run_folder_is_flagged(self, top: Path, tmp_path: Path, server: Path) -> None:
        shutil.copy(server / "mlperf_log_summary.txt", server.parent.parent / "mlperf_log_summary.txt")
        rows = rows_of(top, "Server", tmp_path / "store")
        assert codes(rows) == {"unknown-run-folder": 1} and len(rows["mlperf_inference_run"]) == 3


class TestEntries:
    def test_every_range_holds_what_the_row_says(self, top: Path, tmp_path: Path) -> None:
        seen = Counter()
        for number, draft in enumerate(drafts(top)):
            bundle = stored(draft, tmp_path / str(number))
            for row in parsed(bundle)["mlperf_inference_entry"]:
                data = bundle.read(row["raw_path"])
                text = data[row["raw_offset"] : row["raw_offset"] + row["raw_length"]].decode()
                assert "\n" not in text or row["source"] in ("system", "measurement")
                assert row["line_number"] == data.count(b"\n", 0, row["raw_offset"]) + 1
                if not row["key"].endswith("s encountered"):
                    assert row["key"] in text or row["key"].endswith("Stopping Result") or row["key"] == "WARNING"
                assert row["value"] is None or row["value"] in text
                seen[row["source"]] += 1
        assert set(seen) == {
            "summary", "detail", "accuracy", "verify", "system", "measurement", "user_conf",
            "power_client", "power_server",
        }

    def test_summary(self, top: Path, tmp_path: Path) -> None:
        found = entries(rows_of(top, "Server", tmp_path / "store"), "summary")
        assert found["Completed tokens per second"]["value"] == f"{VALUES.server_tokens_per_s:.2f}"
        assert found["Completed samples per second"]["value_number"] == float(f"{VALUES.server_samples_per_s:.2f}")
        assert found["Result is"]["value"] == "VALID" and found["Result is"]["value_number"] is None
        assert found["99.00 percentile first token latency (ns)"]["value_number"] == VALUES.ttft_p99_ns
        assert found["ttft_latency (ns)"]["value_number"] == 2e9
        assert found["TTFT Early Stopping Result"]["value"] == "Run successful."
        assert found["WARNING"]["value"].startswith("sample_concatenate_permutation was set")
        assert found["errors encountered"]["value"] == "No"

    @pytest.mark.parametrize(
        ("scenario", "percentile", "estimate"),
        [("SingleStream", "90.0th", VALUES.single_stream_ns), ("MultiStream", "99.0th", VALUES.multi_stream_ns)],
    )
    def test_early_stopping_estimates(
        self, top: Path, tmp_path: Path, scenario: str, percentile: str, estimate: int
    ) -> None:
        found = entries(rows_of(top, scenario, tmp_path / "store"), "summary")
        assert found[f"Early stopping {percentile} percentile estimate"]["value_number"] == estimate
        assert found[f"{percentile} percentile latency (ns)"]["value_number"] == estimate - 15
        assert found["Early Stopping Result"]["value"] == "Processed at least 64 queries (1167425)."
        assert "Per-query latency" not in found and found["Mean latency (ns)"]["value_number"] == 7752921835

    def test_estimates_of_tokens_are_not_those_of_the_latency(self, top: Path, tmp_path: Path) -> None:
        path = top / "closed/Acme/results/EdgeBox-1/resnet50/SingleStream/performance/run_1/mlperf_log_summary.txt"
        plain = "Early Stopping Result:\n * Early stopping 90.0th percentile estimate: 7\n"
        text = f"TTFT {plain}TPOT {plain.replace('7', '8')}{plain.replace('7', '9')}{sample.accuracy_summary()}"
        sample.write(path, text)
        found = entries(rows_of(top, "SingleStream", tmp_path / "store"), "summary")
        said = {key: row["value"] for key, row in found.items() if key.endswith("estimate")}
        key = "Early stopping 90.0th percentile estimate"
        assert said == {f"TTFT {key}": "7", f"TPOT {key}": "8", key: "9"}

    def test_an_unsuccessful_run_and_its_recommendations(self, top: Path, server: Path, tmp_path: Path) -> None:
        text = sample.summary_log("Server", sample.server_results(VALUES)).replace(
            "TTFT Early Stopping Result:\n * Run successful.",
            "Recommendations:\n * TTFT constrain not met: Reduce target QPS to improve latency.\n"
            "TTFT Early Stopping Result:\n * Run unsuccessful.\n * Would need to run at least 350367 more queries,\n"
            " with the run being successful if every additional\n query were under latency.",
        )
        sample.write(server / "mlperf_log_summary.txt", text)
        rows = rows_of(top, "Server", tmp_path / "store")
        said = [
            (row["key"], row["value"]) for row in rows["mlperf_inference_entry"]
            if row["source"] == "summary" and row["raw_path"].endswith("run_1/mlperf_log_summary.txt")
            and "compliance" not in row["raw_path"]
        ]
        start = said.index(("Recommendations", "TTFT constrain not met: Reduce target QPS to improve latency."))
        assert said[start + 1 : start + 5] == [
            ("TTFT Early Stopping Result", "Run unsuccessful."),
            ("TTFT Early Stopping Result", "Would need to run at least 350367 more queries,"),
            ("TTFT Early Stopping Result", "with the run being successful if every additional"),
            ("TTFT Early Stopping Result", "query were under latency."),
        ]
        assert codes(rows) == {}

    def test_detail_keeps_the_text_and_leaves_out_long_values(self, top: Path, server: Path, tmp_path: Path) -> None:
        lines = sample.detail_line("as_written", 1).replace('"value": 1,', '"value": 24593.7680,')
        lines += sample.detail_line("long", "x" * 4097) + sample.detail_line("fits", "x" * 4096)
        for key, value in (("flag", True), ("nothing", None), ("list", [1, 2.5])):
            lines += sample.detail_line(key, value)
        sample.write(server / "mlperf_log_detail.txt", "rank0: " + lines)
        found = entries(rows_of(top, "Server", tmp_path / "store"), "detail")
        assert (found["as_written"]["value"], found["as_written"]["value_number"]) == ("24593.7680", 24593.768)
        assert found["as_written"]["raw_offset"] == 0 and found["as_written"]["logged_ms"] == 0.5
        assert found["long"]["value"] is None and found["fits"]["value"] == "x" * 4096
        assert (found["flag"]["value"], found["flag"]["value_number"]) == ("true", None)
        assert found["nothing"]["value"] is None and found["list"]["value"] == "[1, 2.5]"

    @pytest.mark.parametrize(
        ("text", "key", "value", "number"),
        [
            ("{'rouge1': 44.4551, 'gen_len': 3}", "rouge1", "44.4551", 44.4551),
            ("Accuracy Results: {'FID_SCORE': '23.90', 'CLIP_SCORE': '31.7'}", "FID_SCORE", "23.90", 23.9),
            ("mAP=37.319%", "mAP", "37.319%", None),
            ("AUC=80.1%, accuracy=7%, good=86029002, total=89137319", "good", "86029002", 86029002.0),
            ("Word Error Rate: 2.1%, accuracy=97.8%", "Word Error Rate", "2.1%", None),
            ("Accuracy: mean = 0.86114, kidney = 0.9347", "kidney", "0.9347", 0.9347),
            ('        "roc_auc": 80.2378,', "roc_auc", "80.2378", 80.2378),
            ("hash=" + "1" * 64, "hash", "1" * 64, None),
            (
                " Average Recall     (AR) @[ IoU=0.50:0.95 | area=medium | maxDets=100 ] = 0.497",
                "Average Recall (AR) @[ IoU=0.50:0.95 | area=medium | maxDets=100 ]", "0.497", 0.497,
            ),
        ],
    )
    def test_accuracy_reports(
        self, top: Path, tmp_path: Path, text: str, key: str, value: str, number: float | None
    ) -> None:
        path = top / "closed/Acme/results/8xA900_2xCPU" / sample.LLM / "Server/accuracy/accuracy.txt"
        sample.write(path, f"DONE (t=1.5s).\nNamespace(max_batchsize=100)\n{text}\n")
        bundle = bundle_of(top, "Server", tmp_path / "store")
        found = entries(parsed(bundle), "accuracy", "accuracy")
        assert (found[key]["value"], found[key]["value_number"]) == (value, number)
        assert not found.keys() & {"t", "max_batchsize", "IoU", "maxDets"}
        start, length = found[key]["raw_offset"], found[key]["raw_length"]
        assert value in bundle.read(found[key]["raw_path"])[start : start + length].decode()

    def test_verification(self, top: Path, tmp_path: Path) -> None:
        found = entries(rows_of(top, "Server", tmp_path / "store"), "verify", "TEST01")
        assert {key: row["value"] for key, row in found.items()} == {
            "reference score": str(VALUES.server_samples_per_s), "test score": "83.5", "TEST": "PASS",
        }

    def test_documents_lead_to_their_pair(self, top: Path, tmp_path: Path) -> None:
        bundle = bundle_of(top, "Offline", tmp_path / "store")
        rows = parsed(bundle)
        cores = entries(rows, "system", None)["host_processor_core_count"]
        assert (cores["value"], cores["value_number"]) == ("96", 96.0)
        data = bundle.read(cores["raw_path"])
        assert data[cores["raw_offset"] :][: cores["raw_length"]] == b'"host_processor_core_count": "96"'
        assert entries(rows, "power_server", None).keys() == {"version", "timezone", "session_name"}
        assert list(entries(rows, "user_conf", None)) == ["*.Offline.target_qps"]

    def test_power_samples(self, top: Path, tmp_path: Path) -> None:
        bundle = bundle_of(top, "Offline", tmp_path / "store")
        rows = [row for row in parsed(bundle)["mlperf_inference_power_sample"] if row["run_id"].endswith("run_1")]
        assert len(rows) == (VALUES.power_samples + 10) * 4
        whole, channel = rows[5 * 4], rows[5 * 4 + 1]
        assert whole["sampled_at_local"] == datetime(2025, 7, 28, 4, 22, 26, 587000)
        assert whole["sampled_at_text"] == "07-28-2025 04:22:26.587"
        assert (whole["channel"], whole["watts"]) == (None, Decimal("10400.5"))
        assert whole["mark"] == "2025-07-28_03-30-24_testing"
        assert (channel["channel"], channel["power_factor"]) == ("Ch1", Decimal("0.981575"))
        line = bundle.read(whole["raw_path"])[whole["raw_offset"] :][: whole["raw_length"]]
        assert line.startswith(b"Time,07-28-2025 04:22:26.587,Watts,10400.500000") and line.endswith(b"PF,0.981575")
        measured = [row["watts"] for row in rows if row["channel"] is None and row["watts"] == Decimal("10400.5")]
        assert len(measured) == VALUES.power_samples


class TestIssues:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (sample.detail_line("a", 1) + ':::MLLOG {"key": "b", "val', {"truncated-log-line": 1}),
            (':::MLLOG {"key": "b", "val\n' + sample.detail_line("a", 1), {"malformed-log-line": 1}),
            (':::MLLOG {"key": "b"}\n' + sample.detail_line("a", 1), {"malformed-log-line": 1}),
            (":::MLLOG " + "[" * 100_000 + "\n" + sample.detail_line("a", 1), {"malformed-log-line": 1}),
            ("noise\n" + sample.detail_line("a", 1), {"unrecognised-line": 1}),
            (sample.detail_line("a", float("nan")), {"non-finite-number": 1}),
            (sample.detail_line("a", 1).replace('"value": 1', '"value": 1e999'), {"non-finite-number": 1}),
            (sample.detail_line("a", 1).replace('"pid": 1', '"pid": 1, "pid": 2'), {"duplicate-json-key": 1}),
            (sample.detail_line("a", "x").encode().replace(b'"x"', b'"\xff"'), {"invalid-utf8": 1}),
            (sample.detail_line("a", "\ud800"), {}),
        ],
    )
    def test_detail_logs(self, top: Path, server: Path, tmp_path: Path, text: str | bytes, expected: dict) -> None:
        sample.write(server / "mlperf_log_detail.txt", text)
        # None of these logs gets as far as its results, and that is told besides.
        rows = rows_of(top, "Server", tmp_path / "store")
        rows[ISSUE_TABLE].remove(next(row for row in rows[ISSUE_TABLE] if row["code"] == "truncated-log"))
        assert codes(rows) == expected
        assert "a" in entries(rows, "detail")
        for issue in rows[ISSUE_TABLE]:
            assert issue["raw_path"].endswith("run_1/mlperf_log_detail.txt") and issue["run_id"].endswith("run_1")

    def test_a_damaged_line_is_named(self, top: Path, server: Path, tmp_path: Path) -> None:
        text = sample.detail_line("a", 1) + ":::MLLOG {bad\n" + sample.detail_line("b", 2)
        sample.write(server / "mlperf_log_detail.txt", text)
        rows = rows_of(top, "Server", tmp_path / "store")
        (issue,) = [row for row in rows[ISSUE_TABLE] if row["code"] != "truncated-log"]
        assert issue["line_number"] == 2 and issue["severity"] == "error"
        assert text[issue["raw_offset"] :][: issue["raw_length"]] == ":::MLLOG {bad"

    def test_a_cut_summary(self, top: Path, server: Path, tmp_path: Path) -> None:
        text = sample.summary_log("Server", sample.server_results(VALUES))
        sample.write(server / "mlperf_log_summary.txt", text[: text.index("Test Parameters Used")])
        assert codes(rows_of(top, "Server", tmp_path / "store")) == {"truncated-log": 1}

    def test_a_summary_with_a_number_that_is_none(self, top: Path, server: Path, tmp_path: Path) -> None:
        text = sample.summary_log("Server", sample.server_results(VALUES))
        sample.write(server / "mlperf_log_summary.txt", text.replace("7752921835", "-nan"))
        rows = rows_of(top, "Server", tmp_path / "store")
        assert codes(rows) == {"non-finite-number": 1}
        assert entries(rows, "summary")["Mean latency (ns)"]["value_number"] is None

    def test_path_identity_beats_the_files(self, top: Path, server: Path, tmp_path: Path) -> None:
        path = top / "closed/Acme/systems/8xA900_2xCPU.json"
        path.write_text(json.dumps(sample.system("Other Org", "open", "datacenter")))
        sample.write(server / "mlperf_log_summary.txt", sample.summary_log("Offline", sample.offline_results(VALUES)))
        not_accuracy = sample.summary_log("Server", sample.server_results(VALUES))
        sample.write(server.parent.parent / "accuracy/mlperf_log_summary.txt", not_accuracy)
        rows = rows_of(top, "Server", tmp_path / "store")
        assert codes(rows) == {
            "submitter-mismatch": 1, "division-mismatch": 1, "scenario-mismatch": 1, "mode-mismatch": 1,
        }
        # The names are in the rows as they are; a Server result cannot be had from an Offline log.
        assert {row["code"] for row in rows[ISSUE_TABLE] if row["severity"] == "error"} == {"scenario-mismatch"}
        assert {run["submitter"] for run in rows["mlperf_inference_run"]} == {"Acme"}

    @pytest.mark.parametrize(
        ("stated", "expected"),
        [
            ("SUBMISSION_ORG_PLACEHOLDER", {"submitter-placeholder": "note"}), ("<your org>", {"submitter-placeholder": "note"}),
            ("N/A", {"submitter-placeholder": "note"}), ("", {"submitter-placeholder": "note"}),
            (" ac-me", {}), ("ACME", {}), ("Acme Placeholders Inc", {"submitter-placeholder": "note"}),
            ("Acme Corp", {"submitter-mismatch": "warning"}), ("Other Org", {"submitter-mismatch": "warning"}),
        ],
    )
    def test_a_placeholder_is_no_other_submitter(self, top: Path, tmp_path: Path, stated: str, expected: dict) -> None:
        path = top / "closed/Acme/systems/8xA900_2xCPU.json"
        path.write_text(json.dumps(sample.system(stated, "closed", "datacenter")))
        rows = rows_of(top, "Server", tmp_path / "store")
        assert {row["code"]: row["severity"] for row in rows[ISSUE_TABLE]} == expected

    @pytest.mark.parametrize(
        ("text", "expected", "keys"),
        [
            ('{"a": 1, "a": 2}', {"duplicate-json-key": 1}, ["a", "a"]),
            ('{"a": 1, "b": ', {"malformed-json": 1}, ["a"]),
            ('{"a": 1, "b": 2} x', {"malformed-json": 1}, ["a", "b"]),
            ("[1]", {"malformed-json": 1}, []),
            ("", {"malformed-json": 1}, []),
            ('{"a": NaN}', {"non-finite-number": 1}, ["a"]),
            ("{}", {}, []),
            ('\ufeff{"ä": "ö",\n "b": {"c": [1, "d"]}}', {}, ["ä", "b"]),
        ],
    )
    def test_documents(self, top: Path, tmp_path: Path, text: str, expected: dict, keys: list[str]) -> None:
        sample.write(top / "closed/Acme/systems/8xA900_2xCPU.json", text)
        bundle = bundle_of(top, "Server", tmp_path / "store")
        rows = parsed(bundle)
        found = [row for row in rows["mlperf_inference_entry"] if row["source"] == "system"]
        assert codes(rows) == expected and [row["key"] for row in found] == keys
        for row in found:
            pair = bundle.read(row["raw_path"])[row["raw_offset"] :][: row["raw_length"]].decode()
            assert json.loads("{" + pair + "}").keys() == {row["key"]}

    def test_power_lines(self, top: Path, tmp_path: Path) -> None:
        path = top / "closed/Acme/results/8xA900_2xCPU" / sample.LLM / "Offline/performance/run_1/spl.txt"
        sample.write(
            path,
            "Time,07-28-2025 04:22:26.087,Watts,1.0000005,Volts,n/a,Mark,m,Ch1,Watts,2\n"
            "Time,13-28-2025 04:22:26.087,Watts,1e400,Hz,50,PF,\nnoise\n",
        )
        rows = rows_of(top, "Offline", tmp_path / "store")
        whole, channel, last = [row for row in rows["mlperf_inference_power_sample"] if row["run_id"].endswith("run_1")]
        assert (whole["watts"], whole["volts"], whole["amps"]) == (Decimal("1.000000"), None, None)
        assert (channel["channel"], channel["watts"]) == ("Ch1", Decimal(2))
        assert (last["sampled_at_local"], last["watts"], last["power_factor"]) == (None, None, None)
        assert codes(rows) == {"rounded-number": 1, "not-a-number": 2, "malformed-time": 1, "malformed-power-line": 1}

    def test_a_binary_file_does_not_fill_the_table(self, top: Path, server: Path, tmp_path: Path) -> None:
        sample.write(server / "mlperf_log_detail.txt", random.Random(1).randbytes(200_000))
        rows = rows_of(top, "Server", tmp_path / "store")
        (last,) = [row for row in rows[ISSUE_TABLE] if "are not listed" in row["message"] and row["code"] == "unrecognised-line"]
        assert max(codes(rows).values()) == 20 and last["severity"] == "warning"

    def test_tampered_and_missing_bytes_are_raised(self, top: Path, tmp_path: Path) -> None:
        bundle = bundle_of(top, "Server", tmp_path / "store")
        path = bundle.locate(bundle.manifest.by_path["closed/Acme/systems/8xA900_2xCPU.json"])
        path.write_text("{}")
        with pytest.raises(WarehouseError, match="WH105"):
            parsed(bundle)
        path.unlink()
        with pytest.raises(WarehouseError, match="WH106"):
            parsed(bundle)


def _damaged(data: bytes, chance: random.Random) -> bytes:
    if not data or chance.random() < 0.4:
        return data[: chance.randrange(len(data) + 1)]
    damaged = bytearray(data)
    for _ in range(chance.randrange(1, 30)):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    return bytes(damaged)


def _fuzz(draft: BundleDraft, folder: Path, seed: int) -> None:
    """Every file of a bundle damaged; parsing must not raise, and every range must lie in its file."""
    chance = random.Random(seed)
    files = []
    for file in draft.files:
        data = _damaged(file.file.source.read_bytes(), chance)
        sample.write(folder / file.raw_path, data)
        files.append(ManifestFile(file.raw_path, len(data), bytes_digest(data)))
    manifest = Manifest("mlperf_inference", tuple(files), draft.identity, draft.source)
    for table in parsed(Bundle(manifest.digest, manifest, lambda file: folder / file.raw_path)).values():
        for row in table:
            size = manifest.by_path[row["raw_path"]].bytes
            assert 0 <= row["raw_offset"] <= row["raw_offset"] + row["raw_length"] <= size


def test_damaged_samples_never_raise(top: Path, tmp_path: Path) -> None:
    found = drafts(top)
    for seed in range(120):
        _fuzz(found[seed % len(found)], tmp_path / "store", seed)


@pytest.fixture(scope="module")
def parsed_all(mlperf_evidence: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list, Rows]:
    """The drafts and all landing rows."""
    found = drafts(mlperf_evidence)
    store = tmp_path_factory.mktemp("store")
    bundles = [stored(draft, store / str(number)) for number, draft in enumerate(found)]
    batches: list[tuple[str, Any]] = []
    for bundle in bundles:
        batches += INGESTOR.parse(bundle)
    rows: Rows = {name: [] for name in (*INGESTOR.tables, ISSUE_TABLE)}
    for table, batch in batches:
        rows[table] += batch.to_pylist()
    return found, rows


class TestRealEvidence:
    def test_all_but_unused_system_descriptions_is_claimed(self, mlperf_evidence: Path, parsed_all: tuple) -> None:
        claimed = {file.file.path for draft in parsed_all[0] for file in draft.files}
        left = [path for path in list_tree(mlperf_evidence).files if path not in claimed and not path.startswith(".")]
        assert all("/systems/" in path or path.endswith(("LICENSE.md", "LICENSE")) for path in left), left

    def test_runs_are_the_folders_that_hold_logs(self, mlperf_evidence: Path, parsed_all: tuple) -> None:
        folders = {path.parent for path in mlperf_evidence.rglob("mlperf_log_summary.txt")}
        runs = parsed_all[1]["mlperf_inference_run"]
        assert len(runs) == len(folders) == len({run["run_id"] for run in runs})
        by_mode = Counter(
            {"T": "compliance", "r": "performance"}.get(folder.name[0], folder.name)
            if folder.name != "ranging" else "ranging"
            for folder in folders
        )
        assert Counter(run["mode"] for run in runs) == by_mode
        assert {run["round"] for run in runs} == {"v4.1", "v5.1"}

    def test_results_equal_a_plain_search(self, mlperf_evidence: Path, parsed_all: tuple) -> None:
        """The result lines of all summaries, found with one regex over the text, against the landed entries."""
        keys = "(?:Completed )?(?:samples|tokens) per second|Early stopping 9.*estimate"
        pattern = re.compile(rf"^({keys}) *: *(\S+)$", re.IGNORECASE)
        plain: Counter = Counter()
        for path in mlperf_evidence.rglob("mlperf_log_summary.txt"):
            for line in path.read_text().splitlines():
                if match := pattern.match(line.removeprefix(" * ")):
                    plain[match[1], float(match[2])] += 1
        found = {key for key, _ in plain}
        landed = Counter(
            (re.sub("^(TTFT|TPOT) ", "", row["key"]), row["value_number"])
            for row in parsed_all[1]["mlperf_inference_entry"] if row["source"] == "summary"
        )
        landed = Counter({pair: count for pair, count in landed.items() if pair[0] in found})
        assert plain == landed and sum(plain.values()) > 500

    def test_detail_lines_equal_a_plain_count(self, mlperf_evidence: Path, parsed_all: tuple) -> None:
        count = sum(path.read_bytes().count(b":::MLLOG") for path in mlperf_evidence.rglob("mlperf_log_detail.txt"))
        assert count == sum(row["source"] == "detail" for row in parsed_all[1]["mlperf_inference_entry"])

    @pytest.mark.parametrize(
        ("scenario", "watts", "count"), [("Offline", 10400.9988793425, 2677), ("Server", 10442.2597402597, 2464)]
    )
    def test_published_power(self, parsed_all: tuple, scenario: str, watts: float, count: int) -> None:
        rows = parsed_all[1]
        platform = "closed/Lenovo/SR680a_V3_B200SXMx8_TRT"
        run_id = f"mlperf-inference/v5.1/{platform}/llama2-70b-99/{scenario}/performance/run_1"
        begin, end = (
            datetime.strptime(row["value"], "%m-%d-%Y %H:%M:%S.%f")
            for key in ("power_begin", "power_end")
            for row in rows["mlperf_inference_entry"] if row["run_id"] == run_id and row["key"] == key
        )
        inside = [
            float(row["watts"]) for row in rows["mlperf_inference_power_sample"]
            if row["run_id"] == run_id and row["channel"] is None and begin <= row["sampled_at_local"] <= end
        ]
        assert len(inside) == count and sum(inside) / count == pytest.approx(watts, abs=1e-9)

    def test_issues_are_the_known_flaws_of_the_evidence(self, parsed_all: tuple) -> None:
        known = {"duplicate-json-key", "mode-mismatch", "scenario-mismatch", "loadgen-errors", "mean-contradicted"}
        assert codes(parsed_all[1]).keys() <= known
        # Four accuracy runs count an error, and MLCommons has published the results of their performance runs.
        errors = [row for row in parsed_all[1][ISSUE_TABLE] if row["code"] == "loadgen-errors"]
        assert {(row["severity"], row["run_id"].rpartition("/")[2]) for row in errors} <= {("warning", "accuracy")}

    def test_damaged_real_files_never_raise(self, parsed_all: tuple, tmp_path: Path) -> None:
        for seed in range(40):
            _fuzz(parsed_all[0][seed * 11 % len(parsed_all[0])], tmp_path / str(seed), seed)


class TestResultsThatDoNotHoldTogether:
    def land(self, tmp_path: Path, change: Callable[[Path], None]) -> Counter[str]:
        top = sample.write_submission(tmp_path / "tree", round="v5.1")
        (detail,) = [path for path in top.rglob("mlperf_log_detail.txt") if "/Server/performance/run_1/" in str(path)]
        change(detail)
        return codes(rows_of(top, "Server", tmp_path / "stored"))

    def test_whole_logs_raise_nothing(self, tmp_path: Path) -> None:
        assert not self.land(tmp_path, lambda path: None).keys() & {"logs-disagree", "truncated-log", "conflicting-results"}

    def test_a_detail_log_that_contradicts_the_summary(self, tmp_path: Path) -> None:
        def change(path: Path) -> None:
            path.write_text(re.sub(r'("result_completed_tokens_per_second", "value": )[0-9.]+', r"\g<1>99999.9", path.read_text()))

        assert self.land(tmp_path, change)["logs-disagree"] == 1

    def test_a_detail_log_cut_at_a_line_end_before_its_results(self, tmp_path: Path) -> None:
        def change(path: Path) -> None:
            lines = path.read_text().splitlines(keepends=True)
            first = next(i for i, line in enumerate(lines) if '"result_validity"' in line)
            path.write_text("".join(lines[:first]))

        assert self.land(tmp_path, change)["truncated-log"] == 1

    def test_a_detail_log_alone_is_whole_with_its_count_of_errors(self, tmp_path: Path) -> None:
        def change(path: Path) -> None:
            (path.parent / "mlperf_log_summary.txt").unlink()

        def cut(path: Path) -> None:
            change(path)
            path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))

        assert self.land(tmp_path / "whole", change)["truncated-log"] == 0
        assert self.land(tmp_path / "cut", cut)["truncated-log"] == 1

    def test_a_result_stated_twice(self, tmp_path: Path) -> None:
        def change(path: Path) -> None:
            (line,) = [line for line in path.read_text().splitlines() if '"result_completed_tokens_per_second"' in line]
            path.open("a").write(re.sub(r'"value": [0-9.]+', '"value": 77777.7', line) + "\n")

        found = self.land(tmp_path, change)
        assert found == {"conflicting-results": 1}
