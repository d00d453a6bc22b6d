"""vLLM's benchmark client and its forks: recognition, what lands, exact byte ranges, statistics, damaged files."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from landed import Rows, codes, drafts, landed, load, parsed, stored
from samples import bench_serving as sample

from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import ISSUE_TABLE, Unclaimed
from warehouse.landing.serving.path_names import told_by

INGESTOR = load("bench_serving")
REQUESTS = sample.requests(40)


def one_run(rows: Rows) -> dict[str, Any]:
    (run,) = rows["bench_serving_run"]
    return run


def values(rows: Rows, source: str) -> dict[str, Any]:
    return {row["key"]: row["value_number"] for row in rows["bench_serving_entry"] if row["source"] == source}


class TestRecognition:
    @pytest.mark.parametrize(
        ("content", "kind"),
        [
            (sample.vllm_record(REQUESTS), "vllm"),
            (sample.vllm_record(REQUESTS, detailed=False), "vllm"),
            (sample.sglang_record(REQUESTS), "sglang"),
            (sample.inferencex_record(), "inferencex"),
            (sample.inferencex_agg_record(), "inferencex_agg"),
            (sample.inferencex_agentic_record(), "inferencex_agentic"),
            (sample.inferencex_agentic_record(nested=False), "inferencex_agentic"),
            (sample.pooling_record(REQUESTS), "vllm"),
            (sample.embedding_record(REQUESTS), "sglang"),
        ],
    )
    @pytest.mark.parametrize("how", [{}, {"indent": 4}, {"sort_keys": True}])
    def test_by_what_the_file_says(self, tmp_path: Path, content: dict, kind: str, how: dict) -> None:
        sample.write(tmp_path / "tree/any.json", content, **how)
        assert one_run(landed(INGESTOR, tmp_path / "tree", tmp_path / "store"))["format"] == kind

    @pytest.mark.parametrize(
        "content",
        [
            '{"completed": 3, "duration": 2}', "[]", "", "no JSON at all",
            '{"name": "MyBench", "@result": {"duration": 1}}', '{"hw": "an object that says so", "model": 1}',
            json.dumps({"benchmarks": [sample.vllm_record(REQUESTS, False)], "duration": 1}),
            json.dumps([{"benchmark": {"extra_info": sample.vllm_record(REQUESTS, False)}, "metric": {"name": "x"}}]),
        ],
    )
    def test_what_is_not_ours_is_left(self, tmp_path: Path, content: str) -> None:
        sample.write(tmp_path / "any.json", content)
        sample.write(tmp_path / "any.jsonl", content)
        sample.write(tmp_path / "any.txt", sample.vllm_record(REQUESTS))
        assert not drafts(INGESTOR, tmp_path)

    def test_a_sweep_is_one_bundle_whose_summary_is_no_run(self, tmp_path: Path) -> None:
        folder = tmp_path / "SERVE--max_num_seqs=4-BENCH--max_concurrency=2-num_prompts=8"
        records = [sample.vllm_record(sample.requests(8, n), False, run_number=n, date=f"20260101-00000{n}") for n in range(3)]
        for number, record in enumerate(records):
            sample.write(folder / f"run={number}.json", record, indent=4)
        sample.write(folder / "summary.json", records, indent=4)
        (draft,) = drafts(INGESTOR, tmp_path)
        assert sorted(file.role or "" for file in draft.files) == ["restatement", "result", "result", "result"]
        rows = landed(INGESTOR, tmp_path, tmp_path / "store")
        assert [run["repeat_number"] for run in rows["bench_serving_run"]] == [0, 1, 2]
        assert len({run["workload_spec_digest"] for run in rows["bench_serving_run"]}) == 1

    def test_what_a_sweep_tried_is_a_run_and_nothing_else_is(self, tmp_path: Path) -> None:
        found = list(INGESTOR.bundles(list_tree(sample.write_sweep(tmp_path / "tree"))))
        assert sorted(each.path.rpartition("/")[2] for each in found if isinstance(each, Unclaimed)) == ["summary.csv", "warmup.json"]
        rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")
        assert codes(rows) == {}
        runs = {run["raw_path"].rpartition("/")[2]: run for run in rows["bench_serving_run"]}
        assert set(runs) == {"run=0.json", "run=1.failure.json", "run=2.json", "SERVE-max-num-seqs=4096-failure.json"}
        assert {name: run["failure"] for name, run in runs.items() if run["failure"]} == {
            "run=1.failure.json": "RuntimeError: Benchmark exited with code 1",
            "SERVE-max-num-seqs=4096-failure.json": "TimeoutError: Server failed to become ready within 300 seconds",
        }
        failed = runs["run=1.failure.json"]
        assert (failed["repeat_number"], failed["max_concurrency"], failed["num_prompts"], failed["input_length"]) == (1, 2, 8, 128)
        assert runs["run=2.json"]["input_length"] == 128

    def test_the_runs_of_one_load_each_keep_its_folder(self, tmp_path: Path) -> None:
        for folder in ("WL--request_rate=4", "request_rate=8", "BENCH--random_input_len=128-WL--request_rate=2"):
            sample.write(tmp_path / "results/20260410_085700" / folder / "run=0.json", sample.vllm_record(REQUESTS, False), indent=4)
        assert sorted(file.raw_path for draft in drafts(INGESTOR, tmp_path) for file in draft.files) == [
            "BENCH--random_input_len=128-WL--request_rate=2/run=0.json", "WL--request_rate=4/run=0.json", "request_rate=8/run=0.json",
        ]

    def test_the_list_of_a_search_has_no_runs_of_its_own(self, tmp_path: Path) -> None:
        base = tmp_path / "SERVE--max_num_seqs=4-BENCH--num_prompts=8"
        records = [sample.vllm_record(sample.requests(8, n), False, request_rate=2.0**n, date=f"20260101-00000{n}") for n in range(2)]
        for record in records:
            sample.write(base / f"request_rate={record['request_rate']:.0f}" / "run=0.json", record, indent=4)
            sample.write(base / f"request_rate={record['request_rate']:.0f}" / "summary.json", [record], indent=4)
        sample.write(base / "SLA--p99_e2el_ms<=500.json", records, indent=4)
        roles = [sorted((file.role, file.raw_path.rpartition("/")[2]) for file in draft.files) for draft in drafts(INGESTOR, tmp_path)]
        assert roles == 2 * [
            [("restatement", "SLA--p99_e2el_ms<=500.json"), ("restatement", "summary.json"), ("result", "run=0.json")]
        ]
        rows = landed(INGESTOR, tmp_path, tmp_path / "store")
        assert [run["request_rate_per_s"] for run in rows["bench_serving_run"]] == [1.0, 2.0]

    def test_the_same_bundle_wherever_the_tree_was_cut(self, tmp_path: Path) -> None:
        path = "vllm/runpod_h100sxm/Qwen3-8B/qwen_TP8_DP1_c10.json"
        sample.write(tmp_path / "a" / path, sample.vllm_record(REQUESTS))
        sample.write(tmp_path / "b/deep/er" / path, sample.vllm_record(REQUESTS))
        cuts = [tmp_path / "a", tmp_path / "b", tmp_path / "b/deep/er/vllm/runpod_h100sxm/Qwen3-8B", tmp_path / "a" / path]
        bundles = [stored(INGESTOR, drafts(INGESTOR, cut)[0], tmp_path / f"s{n}") for n, cut in enumerate(cuts)]
        assert len({bundle.digest for bundle in bundles}) == 1
        assert list(bundles[0].manifest.by_path) == ["runpod_h100sxm/Qwen3-8B/qwen_TP8_DP1_c10.json"]

    def test_two_files_of_one_folder_are_two_runs(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            sample.write(tmp_path / "tree" / f"{name}.json", sample.vllm_record(REQUESTS))
        runs = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")["bench_serving_run"]
        assert [run["run_id"] for run in runs] == ["vllm-bench/a/20260410-085715", "vllm-bench/b/20260410-085715"]


def test_the_power_of_all_accelerators_is_that_of_each_times_their_number(tmp_path: Path) -> None:
    sample.write(tmp_path / "tree/agg.json", sample.inferencex_split_record(avg_power_w=250.0))
    (issue,) = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")[ISSUE_TABLE]
    assert (issue["code"], issue["severity"]) == ("aggregate-disagrees", "warning") and "32 accelerators" in issue["message"]


class TestNames:
    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            (  # o1 is a model, no length
                "h100_tp2/openai-4qps-concurrency32-Marco-o1-20251020-121701.json",
                {
                    "accelerator": "H100", "tensor_parallel": 2, "max_concurrency": 32,
                },
            ),
            (
                "runpod_h100sxm/Qwen3-8B/qwen3_8b_TP8_DP1_in128_out256_p1000_c10_509cc6.json",
                {
                    "system_name": "runpod_h100sxm", "accelerator": "H100 SXM", "tensor_parallel": 8, "data_parallel": 1,
                    "input_length": 128, "output_length": 256, "num_prompts": 1000, "max_concurrency": 10,
                },
            ),
            (
                "runpod_b200/GLM/run_1_TP4_DP2_CTX2048_C100_P90_O128.json",
                {
                    "system_name": "runpod_b200", "accelerator": "B200", "tensor_parallel": 4, "data_parallel": 2,
                    "input_length": 2048, "output_length": 128, "num_prompts": 90, "max_concurrency": 100,
                },
            ),
            (
                "minimax_m25_vllm_tep8_isl1024_osl128_conc32.json",
                {
                    "framework": "vllm", "tensor_parallel": 8, "expert_parallel": 8, "input_length": 1024, "output_length": 128,
                    "max_concurrency": 32,
                },
            ),
            # InferenceX's names of split deployments: accelerators, not lengths.
            ("results/concurrency_128_req_rate_inf_gpus_16_ctx_8_gen_8.json", {"topology": "prefill 8, decode 8", "max_concurrency": 128, "accelerator_count": 16}),
            ("x_dep16_conc4.json", {"data_parallel": 16, "expert_parallel": 16, "max_concurrency": 4}),
            ("tm-l40s/m/tm-l40sx2_in4096_c1.json", {
                "system_name": "tm-l40s", "accelerator": "L40S", "accelerator_count": 2, "input_length": 4096, "max_concurrency": 1,
            }),
            ("A100-80GB-PCIe/r.json", {"system_name": "A100-80GB-PCIe", "accelerator": "A100 PCIE 80GB"}),
            ("whisper-1xa100-80gb/r.json", {
                "system_name": "whisper-1xa100-80gb", "accelerator": "A100 80GB", "accelerator_count": 1,
            }),
            (
                "SERVE--max_num_seqs=4-BENCH--max_concurrency=2-num_prompts=8/run=1.json",
                {"max_concurrency": 2, "num_prompts": 8, "repeat_number": 1},
            ),
            ("tensor-parallel-size=4,pp2/a.json", {"tensor_parallel": 4, "pipeline_parallel": 2}),
            # Two values of one setting are none, unless another name says which; names that contradict each other say nothing.
            ("tp2_vs_tp4/isl1024_isl2048_osl128.json", {
                "output_length": 128, "contradictory": {"tensor_parallel", "input_length"},
            }),
            ("tp2_vs_tp4/tp4_conc8/r.json", {"tensor_parallel": 4, "max_concurrency": 8}),
            ("m/TP8_DP1_TP4.json", {"data_parallel": 1, "contradictory": {"tensor_parallel"}}),
            ("tp2/tp4.json", {"contradictory": {"tensor_parallel"}}),
            ("vllm-vs-sglang/tp4.json", {"tensor_parallel": 4, "contradictory": {"framework"}}),
            ("fp8-vs-bf16/fp8.json", {"precision": "fp8"}),
            ("2xl40s-4xl40s/r.json", {
                "system_name": "2xl40s-4xl40s", "accelerator": "L40S", "contradictory": {"accelerator_count"},
            }),
            ("1p3d_conc128.json", {"topology": "1P3D", "max_concurrency": 128}),
            # What was varied is no part of a system's name, and vLLM's client begins a name with its protocol.
            ("run_h200_conc8/r.json", {"accelerator": "H200", "max_concurrency": 8}),
            ("a100-pool/h200_qps4/r.json", {"accelerator": "H200, A100", "system_name": "a100-pool"}),
            ("vllm-infqps-Llama-3-8B-20241109-141025.json", {}),
            ("Qwen3-8B/phase-c3/p99/result-2026.json", {}),  # a letter and a number by themselves say nothing
        ],
    )
    def test_what_they_tell(self, path: str, expected: dict) -> None:
        told = {name: value for name, value in told_by(path)._asdict().items() if value not in (None, frozenset())}
        assert told == expected

    @pytest.mark.parametrize(
        ("path", "accelerator"),
        [
            ("compare_h100sxm_vs_mi300x/r.json", "H100 SXM, MI300X"),
            ("h100-h200/r.json", "H100, H200"),
            ("h100sxm-vs-b200/b200/r.json", "B200"),
            ("h100sxm-vs-b200/mi300x/r.json", "MI300X, B200, H100 SXM"),
            ("h100sxm/b200_tp8.json", "B200, H100 SXM"),
            ("pod_h100sxm5/M/h100_tp8.json", "H100 SXM"),
            ("h100_pcie/h100sxm_tp8.json", "H100 SXM, H100 PCIE"),
            ("H100-SXM-MIG-1g10gb/r.json", "H100 SXM MIG 1G10GB"),
            ("mig_1g.10gb/h100_tp1.json", "H100 MIG 1G.10GB"),
            ("mi300x_cpx/r.json", "MI300X CPX"),
            ("l40s-48q/r.json", "L40S 48Q"),
            ("rtx4090-d/r.json", "RTX4090 D"),
            ("pod_l40-s/tp8.json", "L40 S"),
            ("a100-x_tp1/r.json", "A100 X"),
            ("h100 x 8/r.json", "H100"),
            ("h100_cnx/r.json", "H100 CNX"),
            ("h100-sxm5-96gb/r.json", "H100 SXM 96GB"),
            ("h100_96gb_hbm3/r.json", "H100 96GB HBM3"),
            ("mi300/r.json", "MI300"),
            ("Qwen3-8B-h100-70b/r.json", "H100"),  # 8B and 70B are models
        ],
    )
    def test_which_accelerators_they_tell(self, path: str, accelerator: str) -> None:
        assert told_by(path).accelerator == accelerator

    @pytest.mark.parametrize(
        ("path", "count"), [("TP8_DP1_TP4", None), ("tp2_vs_tp4/dp2", None), ("8xh100/tp2_vs_tp4", None), ("TP8_DP1", 8), ("8xh100/ep2_ep4_dp8", 8), ("8xh100/tp1", None), ("8xh100/tp4_dp2", 8)],
    )
    def test_a_size_that_is_stated_twice_is_not_1(self, tmp_path: Path, path: str, count: int | None) -> None:
        sample.write(tmp_path / f"tree/{path}.json", sample.vllm_record(REQUESTS, False))
        assert one_run(landed(INGESTOR, tmp_path / "tree", tmp_path / "store"))["accelerator_count"] == count


class TestTimes:
    def test_what_is_stated_since_the_epoch_needs_no_zone(self, tmp_path: Path) -> None:
        stated = {"benchmark_start_time_unix": 1786022594.990249, "benchmark_end_time_unix": 1786022910.25}
        sample.write(tmp_path / "tree/a.json", sample.vllm_record(REQUESTS, date="20260806-132830", duration=315.2) | stated)
        run = one_run(landed(INGESTOR, tmp_path / "tree", tmp_path / "store"))
        assert run["started_at"] == datetime(2026, 8, 6, 13, 23, 14, 990249, UTC) and run["is_zone_assumed"] is False
        assert (run["ended_at"], run["ended_at_text"]) == (datetime(2026, 8, 6, 13, 28, 30, 250000, UTC), "20260806-132830")

    @pytest.mark.parametrize("bad", [{"benchmark_start_time_unix": 9e99}, {"benchmark_start_time_unix": 0}, {"benchmark_end_time_unix": 5}])
    def test_else_it_is_the_date(self, tmp_path: Path, bad: dict[str, float]) -> None:
        sample.write(tmp_path / "tree/a.json", sample.vllm_record(REQUESTS) | bad)
        run = one_run(landed(INGESTOR, tmp_path / "tree", tmp_path / "store"))
        assert (run["ended_at"], run["is_zone_assumed"]) == (datetime(2026, 4, 10, 8, 57, 15, tzinfo=UTC), True)


class TestVllm:
    def test_lengths_alone_are_no_broken_detail(self, tmp_path: Path) -> None:
        record = sample.vllm_record(REQUESTS)
        for name in ("ttfts", "itls", "errors", "start_times"):
            del record[name]
        sample.write(tmp_path / "tree/a.json", record)
        rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")
        assert codes(rows) == {} and [row["output_token_count"] for row in rows["bench_serving_request"]] == record["output_lens"]

    def test_arrays_and_objects_land_as_values(self, tmp_path: Path) -> None:
        more = {
            "rps_change_events": [{"rps": 1, "timestamp": "2026-01-01T00:00:00"}], "spec_decode_per_position_acceptance_rates": [0.75, 0.5],
            "generated_texts": ["x" * 3000, "y" * 3000], "cache_report": {"device": {"cached_tokens": 7}},
        }
        sample.write(tmp_path / "tree/a.json", sample.vllm_record(REQUESTS) | more)
        rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")["bench_serving_entry"]
        found = {row["key"]: (row["value"], row["value_number"]) for row in rows}
        assert found["spec_decode_per_position_acceptance_rates"] == ("[0.75, 0.5]", None)
        assert json.loads(found["rps_change_events"][0]) == more["rps_change_events"]
        assert found["generated_texts"] == (None, None) and found["cache_report/device/cached_tokens"] == ("7", 7)

    def test_every_value_leads_to_the_bytes_that_state_it(self, tmp_path: Path) -> None:
        record = sample.vllm_record(REQUESTS)
        path = sample.write(tmp_path / "tree/a.json", record, indent=2)
        rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")
        data, lines = path.read_bytes(), path.read_bytes().splitlines()
        stated = [row for row in rows["bench_serving_entry"] if row["source"] == "result"]
        assert {row["key"] for row in stated} == {
            key for key, value in record.items() if not isinstance(value, list) or key == "generated_texts"
        }
        for row in stated:
            pair = data[row["raw_offset"] :][: row["raw_length"]]
            assert json.loads(b"{" + pair + b"}") == {row["key"]: record[row["key"]]}
            assert pair.splitlines()[0] in lines[row["line_number"] - 1]

    def test_what_the_record_lacks_is_computed_as_numpy_does(self, tmp_path: Path) -> None:
        of = [*REQUESTS, sample.FAILED]
        sample.write(tmp_path / "tree/a.json", sample.vllm_record(of))
        found = values(landed(INGESTOR, tmp_path / "tree", tmp_path / "store"), "requests")
        assert found.pop("failed") == 1
        expected = {
            f"{name}_{metric}_ms": value
            for metric, seconds in sample.measures(of).items()
            for name, value in sample.statistics(seconds, (90, 95, 99)).items()
        }
        assert found == pytest.approx(expected, rel=1e-12)

    def test_requests(self, tmp_path: Path) -> None:
        of = [*REQUESTS[:5], sample.FAILED, *REQUESTS[5:]]
        sample.write(tmp_path / "tree/a.json", sample.vllm_record(of))
        rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")["bench_serving_request"]
        assert [row["request_index"] for row in rows] == list(range(41))
        for row, request in zip(rows, of, strict=True):
            assert row["status"] == ("failed" if request.error else "succeeded")
            assert row["input_token_count"] == request.input_length
            assert row["started_s"] == pytest.approx(request.start - 5e5)
            if not request.error:
                assert row["ttft_ms"] == pytest.approx(request.ttft * 1e3)
                assert row["e2e_ms"] == pytest.approx(request.latency * 1e3)
                assert row["itl_mean_ms"] == row["tpot_ms"] == pytest.approx(sum(request.gaps) / len(request.gaps) * 1e3)
                assert row["output_token_throughput_per_s"] == pytest.approx(request.output_length / request.latency)
        failed = rows[5]
        assert failed["error"] == "Connection refused" and failed["output_token_count"] == 0
        assert {failed[name] for name in ("ttft_ms", "tpot_ms", "itl_mean_ms", "e2e_ms", "output_token_throughput_per_s")} == {None}

    def test_its_date_is_the_end_and_of_no_zone(self, tmp_path: Path) -> None:
        sample.write(tmp_path / "tree/a.json", sample.vllm_record(REQUESTS))
        run = one_run(landed(INGESTOR, tmp_path / "tree", tmp_path / "store"))
        assert run["ended_at"] == datetime(2026, 4, 10, 8, 57, 15, tzinfo=UTC)
        assert run["started_at"] == datetime(2026, 4, 10, 8, 57, 2, 500_000, tzinfo=UTC)

    def test_seed_host_and_time_are_no_part_of_the_workload(self, tmp_path: Path) -> None:
        sample.write(tmp_path / "tree/h100/a.json", sample.vllm_record(REQUESTS, date="20250101-000000", duration=3.0))
        sample.write(tmp_path / "tree/b200/a_tp4.json", sample.vllm_record(sample.requests(40, 7)))
        sample.write(tmp_path / "tree/b.json", sample.vllm_record(REQUESTS, max_concurrency=11))
        runs = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")["bench_serving_run"]
        digests = {run["raw_path"]: run["workload_spec_digest"] for run in runs}
        assert digests["h100/a.json"] == digests["b200/a_tp4.json"] != digests["b.json"]

    def test_a_ramp_is_part_of_the_workload(self, tmp_path: Path) -> None:
        ramp = {"ramp_up_strategy": "linear", "ramp_up_start_rps": 1, "ramp_up_end_rps": 10}
        for name, more in (("none", {}), ("to10", ramp), ("to20", {**ramp, "ramp_up_end_rps": 20})):
            sample.write(tmp_path / f"tree/{name}.json", sample.vllm_record(REQUESTS, False, **more))
        runs = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")["bench_serving_run"]
        assert len({run["workload_spec_digest"] for run in runs}) == 3
        documents = {run["raw_path"]: json.loads(run["workload_document"]) for run in runs}
        assert documents["to10.json"] == documents["none.json"] | {key: str(value) for key, value in ramp.items()}

    def test_the_console_beside_it_tells_arguments_and_versions(self, tmp_path: Path) -> None:
        path = sample.write(tmp_path / "tree/a_in9_c8.txt", sample.CONSOLE)
        sample.write(tmp_path / "tree/a_in9_c8.json", sample.vllm_record(REQUESTS, False, backend="openai"))
        sample.write(tmp_path / "tree/other.txt", sample.CONSOLE)
        (draft,) = drafts(INGESTOR, tmp_path / "tree")
        assert [(file.raw_path, file.role) for file in draft.files] == [("a_in9_c8.json", "result"), ("a_in9_c8.txt", "console")]
        rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")
        run = one_run(rows)
        assert (run["framework"], run["framework_version"]) == ("vllm", "0.11.0")
        assert (run["driver_version"], run["cuda_version"], run["dataset"]) == ("570.124.06", "12.8", "random")
        assert (run["input_length"], run["output_length"]) == (2048, 256)  # the console is nearer than the name
        assert run["max_concurrency"] == 10  # and the record nearest
        entries = {row["key"]: row for row in rows["bench_serving_entry"] if row["source"] == "console"}
        assert entries["client/model"]["value"] == "/models/it\\'s, here"
        assert entries["client/random_mm_bucket_config"]["value"] == "{(256, 256, 1): 0.5, (720, 1280, 1): 0.5}"
        assert entries["client/label"]["value"] is None
        argument = entries["client/random_input_len"]
        assert path.read_bytes()[argument["raw_offset"] :][: argument["raw_length"]] == b"random_input_len=2048"

    def test_what_a_person_or_a_sweep_put_into_the_record(self, tmp_path: Path) -> None:
        of_a_person = {"gpu": "4xNVIDIA_L40S", "input_len": "1000", "output_len": "500", "tensor_parallel_size": 4}
        sample.write(tmp_path / "tree/tp8_in7_out7/a.json", sample.vllm_record(REQUESTS, False, **of_a_person))
        run = one_run(landed(INGESTOR, tmp_path / "tree", tmp_path / "store"))
        assert (run["accelerator"], run["accelerator_count"], run["system_name"]) == ("4xNVIDIA_L40S", 4, "4xNVIDIA_L40S")
        assert run["workload_point"] == "isl1000/osl500"

    @pytest.mark.parametrize(
        ("gpu", "sizes", "count", "severity"),
        [
            ("8xH100", (1, None, None), None, "note"),  # eight replicas, or one that leaves seven idle
            ("8xH100", (3, None, None), None, "warning"),
            ("8xH100", (1, 1, 1), None, "warning"),
            ("8xH100", (4, 1, 2), 8, None),
            ("8 x NVIDIA H100", (2, 2, 1), None, "warning"),
            ("NVIDIA H100 x8", (4, 1, 1), None, "warning"),
            ("H100x8", (None, None, None), 8, None),
            ("H100 PCIe x16", (1, 1, 1), 1, None),  # lanes
            ("MI300X", (1, 1, 1), 1, None),
        ],
    )
    def test_a_number_of_accelerators_that_the_sizes_contradict(
        self, tmp_path: Path, gpu: str, sizes: tuple[int | None, ...], count: int | None, severity: str | None
    ) -> None:
        names = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")
        stated = {name: size for name, size in zip(names, sizes, strict=True) if size}
        sample.write(tmp_path / "tree/a.json", sample.vllm_record(REQUESTS, False, gpu=gpu, **stated))
        rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")
        assert one_run(rows)["accelerator_count"] == count
        assert [(row["code"], row["severity"]) for row in rows[ISSUE_TABLE]] == ([("accelerator-count-disagrees", severity)] if severity else [])

    def test_records_of_before_the_first_release_with_a_server(self, tmp_path: Path) -> None:
        old = {
            "backend": "vllm", "version": "N/A", "model_id": "facebook/opt-125m", "best_of": 1, "num_prompts": 40,
            "duration": 2.0, "completed": 40, "total_input_tokens": 9, "total_output_tokens": 9, "request_inthroughput": 20.0,
            "input_throughput": 4.5, "output_throughput": 4.5, "mean_ttft_ms": 3.5, "median_ttft_ms": 3.0, "p99_ttft_ms": 9.0,
        }
        sample.write(tmp_path / "tree/a.json", old)
        rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")
        assert one_run(rows)["run_id"] == "vllm-bench/a/2.0" and values(rows, "result")["request_inthroughput"] == 20

    @pytest.mark.parametrize("between", ["\n", "", " ,\n"])
    def test_a_file_that_was_appended_to_holds_several_runs(self, tmp_path: Path, between: str) -> None:
        first, second = sample.vllm_record(REQUESTS), sample.vllm_record(sample.requests(9), date="20260411-000000")
        text = between.join(json.dumps(record) for record in (first, second, second))
        sample.write(tmp_path / "tree/a.json", text)
        rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")
        assert [run["run_id"] for run in rows["bench_serving_run"]] == [
            "vllm-bench/a/20260410-085715", "vllm-bench/a/20260411-000000", "vllm-bench/a/20260411-000000/2",
        ]
        for run, record in zip(rows["bench_serving_run"], (first, second, second), strict=True):
            assert json.loads(text[run["raw_offset"] :][: run["raw_length"]]) == record
        assert len(rows["bench_serving_request"]) == 40 + 9 + 9 and not codes(rows)
        (draft,) = drafts(INGESTOR, tmp_path / "tree")
        assert draft.runs == ("a", "a/2", "a/3")


@pytest.mark.parametrize(
    ("date", "ended_at", "is_zone_assumed"),
    [
        ("20260410-085715", datetime(2026, 4, 10, 8, 57, 15, tzinfo=UTC), True),
        ("2026-04-10T08:57:15", datetime(2026, 4, 10, 8, 57, 15, tzinfo=UTC), True),
        ("2026-04-10T08:57", datetime(2026, 4, 10, 8, 57, tzinfo=UTC), True),
        ("2026-04-10 10:57:15.500+02:00", datetime(2026, 4, 10, 8, 57, 15, 500000, tzinfo=UTC), False),
        ("2026-04-10T08:57:15.123456789Z", datetime(2026, 4, 10, 8, 57, 15, 123456, tzinfo=UTC), False),
        ("20260410T035715-0500", datetime(2026, 4, 10, 8, 57, 15, tzinfo=UTC), False),
        (None, None, None),
    ],
)
def test_when_a_run_ended(date: str | None, ended_at: datetime | None, is_zone_assumed: bool | None, tmp_path: Path) -> None:
    sample.write(tmp_path / "tree/a.json", sample.vllm_record(REQUESTS) | {"date": date})
    rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")
    run = one_run(rows)
    assert (run["ended_at"], run["ended_at_text"], run["is_zone_assumed"]) == (ended_at, date, is_zone_assumed)
    assert not rows[ISSUE_TABLE]


@pytest.mark.parametrize(
    "date",
    [
        "2026-04-10", "April 10th", "0001-01-01T00:00:00+02:00", "2024-02-30T00:00:00", "20240230-000000", "20261231-235960",
        "2026-12-31T23:59:60Z", "2026-04-10T24:00:00", "2026-04-10T08:57:15+24:00", "2026-04-10T08:57:15 CET", "2026111-085715",
        "2026-04-10x08:57:15",
    ],
)
def test_a_date_that_is_no_moment_is_told(date: str, tmp_path: Path) -> None:
    sample.write(tmp_path / "tree/a.json", sample.vllm_record(REQUESTS) | {"date": date})
    rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")
    run, (issue,) = one_run(rows), rows[ISSUE_TABLE]
    assert (run["ended_at"], run["started_at"], run["ended_at_text"], run["is_zone_assumed"]) == (None, None, date, None)
    text = (tmp_path / "tree/a.json").read_text()
    assert issue["code"] == "not-a-time" and date in text[issue["raw_offset"] :][: issue["raw_length"]]


class TestOtherFormats:
    def test_sglang(self, tmp_path: Path) -> None:
        sample.write(tmp_path / "tree/a.jsonl", sample.sglang_record(REQUESTS))
        rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")
        run = one_run(rows)
        assert run["run_id"] == "sglang-bench/a/1.3344381039496511"
        assert (run["framework"], run["framework_version"], run["precision"]) == ("sglang", "0.5.9", "bfloat16")
        assert (run["tensor_parallel"], run["data_parallel"], run["accelerator_count"]) == (4, 2, 8)
        assert (run["model"], run["workload_point"]) == ("/workspace/qwen-3-14b", "isl1024/osl128")
        assert json.loads(run["workload_document"])["request_rate"] == "inf"
        assert (run["ended_at"], run["num_prompts"]) == (None, None)
        assert not codes(rows)
        assert values(rows, "requests")["p90_ttft_ms"] > 0 and len(rows["bench_serving_request"]) == 40

    def test_replicas_within_the_tensor_parallel_group_are_no_more_accelerators(self, tmp_path: Path) -> None:
        record = sample.sglang_record(REQUESTS)
        record["server_info"] |= {"tp_size": 8, "dp_size": 8, "enable_dp_attention": True}
        sample.write(tmp_path / "tree/a.jsonl", record)
        assert one_run(landed(INGESTOR, tmp_path / "tree", tmp_path / "store"))["accelerator_count"] == 8

    @pytest.mark.parametrize("size", [0, -8, 8.5, "auto", "8 GPUs", 1 << 62])
    def test_a_size_that_is_no_positive_whole_number_leaves_the_accelerators_unknown(self, tmp_path: Path, size: object) -> None:
        record = sample.vllm_record(sample.requests(3), False, tensor_parallel_size=size, data_parallel_size=4)
        sample.write(tmp_path / "tree/r.json", record)
        rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")
        assert one_run(rows)["accelerator_count"] is None and (one_run(rows)["tensor_parallel"] or 1) > 0
        assert codes(rows).keys() & {"not-a-size", "not-a-number"}

    @pytest.mark.parametrize("indent", [None, 2])
    @pytest.mark.parametrize("key", ["results", "all runs", 'a "[{'])
    def test_a_list_that_is_the_only_value_of_an_object(self, tmp_path: Path, key: str, indent: int | None) -> None:
        of = [sample.vllm_record(REQUESTS), sample.vllm_record(REQUESTS, max_concurrency=99)]
        sample.write(tmp_path / "tree/a.json", {key: of}, indent=indent)
        rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")
        text = (tmp_path / "tree/a.json").read_text()
        places = [(run["raw_offset"], run["raw_length"]) for run in rows["bench_serving_run"]]
        assert [json.loads(text[start : start + length]) for start, length in places] == of
        assert len(rows["bench_serving_request"]) == 80 and not codes(rows)

    def test_such_a_list_that_breaks_off(self, tmp_path: Path) -> None:
        text = json.dumps({"results": [sample.vllm_record(REQUESTS)] * 2})
        sample.write(tmp_path / "tree/a.json", text[:-300])
        rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")
        assert [run["is_whole"] for run in rows["bench_serving_run"]] == [True, False] and codes(rows) == {"malformed-json": 1}

    def test_a_list_with_something_beside_it_is_another_format(self, tmp_path: Path) -> None:
        sample.write(tmp_path / "tree/a.json", {"results": [sample.inferencex_agg_record()], "note": 1})
        assert not drafts(INGESTOR, tmp_path / "tree")

    def test_a_list_of_inferencex_records(self, tmp_path: Path) -> None:
        split = {
            "num_prefill_gpu": 4, "num_decode_gpu": 8, "is_multinode": True, "hw": "gb200-nv",
            "input_tput_per_gpu": 300.0, "output_tput_per_gpu": 1200.0, "tput_per_gpu": (4 * 300 + 8 * 1200) / 12,
        }
        sample.write(tmp_path / "tree/agg_all.json", [sample.inferencex_agg_record(), sample.inferencex_agg_record(**split)])
        one, other = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")["bench_serving_run"]
        assert (one["system_name"], one["accelerator"], one["accelerator_count"]) == ("h200-nb_1", "h200", 8)
        assert (other["accelerator"], other["accelerator_count"], other["decode_accelerator_count"]) == ("gb200-nv", 12, 8)
        assert (one["max_concurrency"], one["input_length"], one["output_length"]) == (64, 1024, 8192)


class TestDisagreement:
    def issues(self, tmp_path: Path, **changes: Any) -> list[str]:
        sample.write(tmp_path / "tree/a.json", sample.vllm_record(REQUESTS, **changes))
        rows = landed(INGESTOR, tmp_path / "tree", tmp_path / "store")
        # What the record's own statistics contradict is an issue besides.
        assert codes(rows).keys() <= {"aggregate-disagrees", "unaccounted-requests", "percentiles-out-of-order", "rate-disagrees"}
        return [row["message"] for row in rows[ISSUE_TABLE] if row["code"] == "aggregate-disagrees"]

    def test_what_agrees_is_silent(self, tmp_path: Path) -> None:
        assert self.issues(tmp_path, p25_ttft_ms=sample.statistics(sample.measures(REQUESTS)["ttft"], (25,))["p25"]) == []

    @pytest.mark.parametrize("key", ["mean_ttft_ms", "p99_itl_ms", "std_itl_ms", "median_ttft_ms"])
    def test_rounding_is_no_disagreement_and_more_is(self, tmp_path: Path, key: str) -> None:
        value = sample.vllm_record(REQUESTS)[key]
        assert self.issues(tmp_path / "rounded", **{key: round(value, 2)}) == []
        wrong = round(value, 2) + 0.03
        (message,) = self.issues(tmp_path / "wrong", **{key: wrong})
        stated, rest = message.removeprefix(f"{key} is stated as ").split(", its requests give ")
        given, apart = rest.split(": ")
        assert apart.endswith(" % apart")
        assert float(stated) == wrong and float(given) == pytest.approx(value)

    @pytest.mark.parametrize("key", ["completed", "failed", "total_output_tokens", "total_input_tokens"])
    def test_counts(self, tmp_path: Path, key: str) -> None:
        count = int(sample.vllm_record(REQUESTS)[key] * 0.6) + 3  # a count less than half of the other is none
        (message,) = self.issues(tmp_path, **{"num_prompts": 50, key: count})
        assert message.startswith(f"{key} is stated as {count}, its requests give ")

    def test_a_percentile_nobody_else_computes(self, tmp_path: Path) -> None:
        assert len(self.issues(tmp_path, **{"p99.9_ttft_ms": 1.0})) == 1


class TestDamage:
    def rows(self, tmp_path: Path, text: str | bytes, name: str = "a.json") -> Rows:
        path = sample.write(tmp_path / "tree" / name, sample.vllm_record(REQUESTS))
        (draft,) = drafts(INGESTOR, tmp_path / "tree")
        data = text.encode() if isinstance(text, str) else text
        assert path.is_file()
        return parsed(INGESTOR, stored(INGESTOR, draft, tmp_path / "store", {name: data}))

    def test_a_record_that_breaks_off(self, tmp_path: Path) -> None:
        text = json.dumps(sample.vllm_record(REQUESTS))
        rows = self.rows(tmp_path, text[: text.index('"std_itl_ms"') - 2])
        assert codes(rows) == {"malformed-json": 1} and not one_run(rows)["is_whole"]
        assert "mean_ttft_ms" in values(rows, "result") and not values(rows, "requests")

    def test_the_next_record_is_read_after_a_broken_one(self, tmp_path: Path) -> None:
        text = json.dumps(sample.vllm_record(REQUESTS))
        rows = self.rows(tmp_path, text[:-200] + "\n" + text)
        assert [run["is_whole"] for run in rows["bench_serving_run"]] == [False, True]

    @pytest.mark.parametrize(
        ("old", "new", "expected"),
        [
            ('"completed": 40', '"completed": 40, "completed": 40', {"duplicate-json-key": 1}),
            ('"duration": 12.5', '"duration": NaN', {"non-finite-number": 1}),
            ('"duration": 12.5', '"duration": 1e999', {"non-finite-number": 1}),
            ('"duration": 12.5', '"duration": bad', {"malformed-json": 1}),
            ('"errors": [""', '"errors": ["", ""', {"array-lengths-differ": 1, "aggregate-disagrees": 1}),
            ('"label": null', '"label": ' + "[" * 50_000 + "]" * 50_000, {}),
            ('"label": null', '"label": ' + '{"a":' * 50_000 + "1" + "}" * 50_000, {"malformed-json": 1}),
            ('"label": null', '"label": {"version": "1", "deep": {"b": 1}}', {}),
            ('"label": null', '"label": "\\ud800"', {}),
        ],
    )
    def test_one_odd_value(self, tmp_path: Path, old: str, new: str, expected: dict) -> None:
        text = json.dumps(sample.vllm_record(REQUESTS))
        assert text.count(old) == 1
        rows = self.rows(tmp_path, text.replace(old, new))
        assert codes(rows) == expected
        assert one_run(rows)["is_whole"] and values(rows, "result")["p99_ttft_ms"] > 0

    def test_numbers_as_texts_are_numbers(self, tmp_path: Path) -> None:
        record = sample.vllm_record(REQUESTS)
        record["ttfts"] = [str(value) for value in record["ttfts"]]
        record["mean_ttft_ms"] = str(record["mean_ttft_ms"])
        rows = self.rows(tmp_path, json.dumps(record))
        assert not codes(rows)
        assert rows["bench_serving_request"][3]["ttft_ms"] == pytest.approx(REQUESTS[3].ttft * 1e3)

    @pytest.mark.parametrize("lost", ["null", "NaN", "-Infinity", '"x"', "[1]", "{}", "true", "1.2.3"])
    def test_a_lost_gap_leaves_its_neighbours_in_place(self, tmp_path: Path, lost: str) -> None:
        record = sample.vllm_record(REQUESTS)
        gaps = record["itls"][2]
        text = json.dumps(record).replace(json.dumps(gaps), "[" + ", ".join([lost, *map(str, gaps[1:])]) + "]")
        rows = self.rows(tmp_path, text)
        found = {row["request_index"]: row for row in rows["bench_serving_request"]}
        assert len(found) == 40
        assert found[1]["e2e_ms"] == pytest.approx(REQUESTS[1].latency * 1e3)
        assert found[3]["e2e_ms"] == pytest.approx(REQUESTS[3].latency * 1e3)
        assert codes(rows)  # told, at the least that the aggregates are of other gaps

    def test_a_file_of_nothing_but_brackets(self, tmp_path: Path) -> None:
        assert codes(self.rows(tmp_path, "[" * 100_000)) == {"no-result": 1}

    @pytest.mark.parametrize("odd", ['"' + "x" * (24 << 20) + '"', "{" + "[" * (12 << 20) + "]" * (12 << 20) + "}"])
    def test_a_line_of_many_megabytes(self, tmp_path: Path, odd: str) -> None:
        rows = self.rows(tmp_path, json.dumps(sample.vllm_record(REQUESTS)).replace('"label": null', f'"label": {odd}'))
        assert values(rows, "result")["completed"] == 40 and codes(rows) == {"value-too-large": 1}

    @pytest.mark.parametrize(
        ("before", "after", "code"),
        [
            ('"completed": 160', '"completed": "many"', "not-a-number"),
            ('"completed": 160', '"completed": [160]', "not-a-number"),
            ('"completed": 160', '"completed": {"all": 160}', "not-a-number"),
            ('"completed": 160', '"completed": "NaN"', "non-finite-number"),
            ('"request_rate": "inf"', '"request_rate": -Infinity', "non-finite-number"),
            ('"request_rate": "inf"', '"request_rate": "fast"', "not-a-number"),
        ],
    )
    def test_what_stands_in_a_numbers_place_is_told(self, tmp_path: Path, before: str, after: str, code: str) -> None:
        text = json.dumps(sample.inferencex_record())
        assert before in text
        assert codes(self.rows(tmp_path, text.replace(before, after))) == {code: 1}

    @pytest.mark.parametrize("rate", ['"inf"', "Infinity", '"trace"', "null", "2.5"])
    def test_every_request_rate_that_tools_write_is_plain(self, tmp_path: Path, rate: str) -> None:
        text = json.dumps(sample.inferencex_record()).replace('"request_rate": "inf"', f'"request_rate": {rate}')
        assert not codes(self.rows(tmp_path, text))

    def test_a_request_of_which_a_gap_is_unknown_has_no_sum_of_them(self, tmp_path: Path) -> None:
        of = [sample.Request(0.5, (0.25,), 10, 5e5), sample.Request(0.5, (0.25, 0.75), 10, 5e5)]
        text = json.dumps(sample.vllm_record(of)).replace("[[0.25], [0.25, 0.75]]", "[[null], [0.25, 0.75]]")
        assert "[[null]" in text
        lost, known = self.rows(tmp_path, text)["bench_serving_request"]
        assert [lost[name] for name in ("tpot_ms", "itl_mean_ms", "e2e_ms", "ttft_ms")] == [None, None, None, 500]
        assert [known[name] for name in ("tpot_ms", "itl_mean_ms", "e2e_ms", "ttft_ms")] == [500, 500, 1500, 500]

    def test_requests_without_an_array_are_told(self, tmp_path: Path) -> None:
        text = json.dumps(sample.vllm_record(REQUESTS)).replace('"ttfts"', '"tttts"')
        assert codes(self.rows(tmp_path, text)) == {"array-missing": 1}


def test_two_files_of_one_name_and_second_in_two_folders_are_two_runs(tmp_path: Path) -> None:
    for folder, seed, changes in (("node-a/x", 1, {}), ("node-b/x", 2, {}), ("node-c/x", 3, {"date": "20260410-085716"})):
        sample.write(tmp_path / "tree" / folder / "result.json", sample.vllm_record(sample.requests(5, seed), detailed=False, **changes))
    sample.write(tmp_path / "tree/node-b/x/result.log", "Namespace(backend='vllm')\n")
    found = [parsed(INGESTOR, stored(INGESTOR, draft, tmp_path / f"stored-{number}")) for number, draft in enumerate(drafts(INGESTOR, tmp_path / "tree"))]
    assert [(one_run(rows)["run_id"], codes(rows).get("name-collides")) for rows in found] == [
        ("vllm-bench/node-a/x/result/20260410-085715", 1), ("vllm-bench/node-b/x/result/20260410-085715", 1), ("vllm-bench/result/20260410-085716", None),
    ]
    copies = tmp_path / "copies"  # the same bytes twice are one run
    for folder in ("a", "b"):
        sample.write(copies / folder / "result.json", sample.vllm_record(sample.requests(5), detailed=False))
    assert {draft.files[0].raw_path for draft in drafts(INGESTOR, copies)} == {"result.json"}
    grown = tmp_path / "grown"  # and so is a file that was appended to, whose earlier forms are kept
    record = json.dumps(sample.vllm_record(sample.requests(5), detailed=False))
    for night in (1, 2, 3):
        sample.write(grown / f"night{night}/result.jsonl", f"{record}\n" * night)
    assert {file.raw_path for draft in drafts(INGESTOR, grown) for file in draft.files if not file.is_restatement} == {"result.jsonl"}
