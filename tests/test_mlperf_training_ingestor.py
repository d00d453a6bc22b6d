"""The MLPerf Training ingestor: recognition, landing rows, exact byte ranges, damaged logs, real evidence."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import landed
import pytest
from landed import Rows, codes
from samples import mlperf_inference
from samples import mlperf_training as sample

from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import ISSUE_TABLE, Bundle, BundleDraft, Unclaimed
from warehouse.landing.registry import load_ingestors
from warehouse.project.making import init_project

SET = "mlperf-training/v5.1/Acme/box_n1/llama31_8b"


INGESTOR = landed.load("mlperf_training")


def drafts(path: Path) -> list[BundleDraft]:
    return landed.drafts(INGESTOR, path)


def stored(draft: BundleDraft, folder: Path, changed: dict[str, bytes] | None = None) -> Bundle:
    return landed.stored(INGESTOR, draft, folder, changed)


def parsed(bundle: Bundle) -> Rows:
    return landed.parsed(INGESTOR, bundle)


def rows_of(path: Path, folder: Path) -> Rows:
    (draft,) = drafts(path)
    return parsed(stored(draft, folder))


def rows_of_text(text: str | bytes, tmp_path: Path) -> Rows:
    """The rows of a lone result file beside a whole one, which makes it recognised whatever is in it."""
    folder = sample.write_set(tmp_path / "tree", [sample.Run(minutes=20)])
    sample.write(folder / "result_1.txt", text)
    rows = rows_of(folder, tmp_path / "store")
    return {table: [row for row in found if row["raw_path"].endswith("result_1.txt")] for table, found in rows.items()}


class TestRecognition:
    def test_one_bundle_a_repeat_set_with_its_documents(self, tmp_path: Path) -> None:
        sample.write_set(tmp_path, [sample.Run()] * 11, scaling_factor=1.25)
        sample.write_set(tmp_path, [sample.Run()], benchmark="bert")
        found = {draft.identity["benchmark"]: draft for draft in drafts(tmp_path)}
        assert sorted(found) == ["bert", "llama31_8b"]
        draft = found["llama31_8b"]
        assert draft.identity == {"round": "v5.1", "submitter": "Acme", "platform": "box_n1", "benchmark": "llama31_8b"}
        top = "Acme/results/box_n1/llama31_8b/"
        results = [f"{top}result_{number}.txt" for number in range(11)]
        assert [(file.raw_path, file.role) for file in draft.files] == sorted([
            *((path, "result_log") for path in results), (f"{top}scaling.json", "scaling"), ("Acme/systems/box_n1.json", "system"),
        ])
        assert draft.runs == tuple(f"{SET}/result_{number}" for number in range(11))  # 10 is after 9

    @pytest.mark.parametrize("cut", ["../../../..", "../..", "..", "."])
    def test_the_cut_does_not_matter(self, tmp_path: Path, cut: str) -> None:
        folder = sample.write_set(tmp_path, [sample.Run()])
        (draft,) = drafts((folder / cut).resolve())
        assert draft.runs == (f"{SET}/result_0",)
        assert "Acme/results/box_n1/llama31_8b/result_0.txt" in {file.raw_path for file in draft.files}

    def test_a_lone_folder_is_known_by_its_lines_and_named_by_its_digest(self, tmp_path: Path) -> None:
        texts = {"result_7.txt": sample.result_log(), "result_3.txt": "", "notes.txt": "nothing", "checker.log": sample.result_log()}
        for name, text in texts.items():
            sample.write(tmp_path / "somewhere" / name, text)
        (draft,) = drafts(tmp_path)
        assert [file.raw_path for file in draft.files] == ["result_3.txt", "result_7.txt"]
        assert set(draft.identity.values()) == {None}
        bundle = stored(draft, tmp_path / "store")
        rows = parsed(bundle)
        assert {row["run_id"] for row in rows["mlperf_training_run"]} == {
            f"mlperf-training/{bundle.digest[:12]}/result_3", f"mlperf-training/{bundle.digest[:12]}/result_7"
        }
        assert {row["benchmark"] for row in rows["mlperf_training_run"]} == {"llama31_8b", None}  # the log's own word

    def test_logs_of_other_names_are_known_by_their_lines(self, tmp_path: Path) -> None:
        for name in ("train_a.log", "train_b.out", "stdout.txt"):
            sample.write(tmp_path / name, sample.result_log())
        sample.write(tmp_path / "other.log", "step 1: loss 8.0\n")
        (draft,) = drafts(tmp_path)
        assert [file.raw_path for file in draft.files] == ["stdout.txt", "train_a.log", "train_b.out"]

    def test_logs_that_only_lie_together_are_a_set_a_benchmark(self, tmp_path: Path) -> None:
        log = sample.result_log()
        sample.write(tmp_path / "tree" / "one.log", log)
        silent = "".join(line for line in log.splitlines(keepends=True) if "submission_benchmark" not in line)
        sample.write(tmp_path / "tree" / "silent.log", silent)
        alone = rows_of(tmp_path / "tree", tmp_path / "alone")["mlperf_training_run"]
        assert len(alone) == 2 and len({row["repeat_set"] for row in alone}) == 1
        sample.write(tmp_path / "tree" / "two.log", sample.result_log(benchmark="bert"))
        together = rows_of(tmp_path / "tree", tmp_path / "together")["mlperf_training_run"]
        group = together[0]["run_id"].rpartition("/")[0]
        assert {row["result_name"]: (row["benchmark"], row["repeat_set"]) for row in together} == {
            "one": ("llama31_8b", f"{group}/llama31_8b"), "two": ("bert", f"{group}/bert"), "silent": (None, f"{group}/?"),
        }

    def test_two_files_of_one_stem_are_two_runs(self, tmp_path: Path) -> None:
        for name in ("result_1.txt", "result_1.log"):
            sample.write(tmp_path / "x" / name, sample.result_log())
        (draft,) = drafts(tmp_path)
        assert len(set(draft.runs)) == 2

    def test_platform_descriptions_are_found_without_regard_to_case(self, tmp_path: Path) -> None:
        folder = sample.write_set(tmp_path, [sample.Run()])
        systems = folder.parents[2] / "systems"
        (systems / "box_n1.json").rename(systems / "BOX_n1.json")
        (draft,) = drafts(tmp_path)
        assert [file.raw_path for file in draft.files if file.role == "system"] == ["Acme/systems/BOX_n1.json"]

    def test_the_load_generators_logs_are_left_to_mlperf_inference(self, tmp_path: Path) -> None:
        mlperf_inference.write_submission(tmp_path / "inference")
        sample.write_set(tmp_path / "training", [sample.Run()])
        assert [draft.identity["benchmark"] for draft in drafts(tmp_path)] == ["llama31_8b"]
        others = [one for one in load_ingestors(init_project(tmp_path / "project")).values() if one.name != "mlperf_training"]
        tree = list_tree(tmp_path / "training")
        assert [draft for one in others for draft in one.bundles(tree)] == []

    def test_hpc_has_a_level_more(self, tmp_path: Path) -> None:
        sample.write(tmp_path / "hpc_results_v3.0/Acme/results/box/strong/deepcam/result_0.txt", sample.result_log())
        (draft,) = drafts(tmp_path)
        assert draft.identity == {"usage": "hpc", "round": "v3.0", "submitter": "Acme", "platform": "box", "benchmark": "deepcam"}
        assert draft.runs == ("mlperf-hpc/v3.0/Acme/box/strong/deepcam/result_0",)

    def test_hpc_and_training_of_one_round_are_two_rounds(self, tmp_path: Path) -> None:
        for folders in ("hpc_results_v3.0/Acme/results/box/strong/bert", "training_results_v3.0/Acme/results/box/bert"):
            sample.write(tmp_path / folders / "result_0.txt", sample.result_log())
        assert [draft.runs for draft in drafts(tmp_path)] == [
            ("mlperf-hpc/v3.0/Acme/box/strong/bert/result_0",), ("mlperf-training/v3.0/Acme/box/bert/result_0",)
        ]

    def test_what_was_put_aside_below_a_benchmark_is_no_result(self, tmp_path: Path) -> None:
        home = tmp_path / "hpc_results_v3.0/Acme/results/box/weak/cosmoflow"
        for folder in ("", "pruned_results"):
            sample.write(home / folder / "result_0.txt", sample.result_log())
        found = list(INGESTOR.bundles(list_tree(tmp_path)))
        assert [one.runs for one in found if isinstance(one, BundleDraft)] == [("mlperf-hpc/v3.0/Acme/box/weak/cosmoflow/result_0",)]
        assert [one.path for one in found if isinstance(one, Unclaimed)] == [
            "hpc_results_v3.0/Acme/results/box/weak/cosmoflow/pruned_results/result_0.txt"
        ]
        assert list(INGESTOR.bundles(list_tree(home / "pruned_results"))) == [Unclaimed("result_0.txt", found[-1].reason)]

    def test_results_are_named_as_the_owners_tools_read_them(self, tmp_path: Path) -> None:
        names = ("result_240928173110932524937_10.txt", "result_240928173110932524937_9.txt", "result_best.txt")
        for name in names:
            sample.write(tmp_path / name, sample.result_log())
        sample.write(tmp_path / "result_summary.txt", "all runs are fine\n")
        sample.write(tmp_path / "checker.log", sample.result_log())
        (draft,) = drafts(tmp_path)
        assert [name.rpartition("/")[2] for name in draft.runs] == ["result_best", "result_240928173110932524937_9", "result_240928173110932524937_10"]

    @pytest.mark.parametrize("noise", [4_200, 3_000_000])
    def test_a_jobs_own_noise_may_come_first(self, tmp_path: Path, noise: int) -> None:
        line = "NCCL INFO Channel 00/24 : 0 1 2 3\n"
        sample.write(tmp_path / "result_240928_1.txt", line * (noise // len(line)) + sample.result_log())
        (draft,) = drafts(tmp_path)
        assert len(draft.runs) == 1

    def test_an_hpc_run_says_whether_it_is_one_of_many_models_at_once(self, tmp_path: Path) -> None:
        home = tmp_path / "hpc_results_v3.0/Acme/results/weak"  # a platform may be called so
        for folders in ("strong/deepcam", "weak/cosmoflow", "deepcam"):
            sample.write(home / folders / "result_0.txt", sample.result_log())
        modes = {}
        for number, draft in enumerate(drafts(tmp_path)):
            (run,) = parsed(stored(draft, tmp_path / f"stored{number}"))["mlperf_training_run"]
            modes[run["run_id"].removeprefix("mlperf-hpc/v3.0/Acme/weak/")] = run["scaling_mode"]
        assert modes == {"deepcam/result_0": None, "strong/deepcam/result_0": "strong", "weak/cosmoflow/result_0": "weak"}


class TestRows:
    @pytest.mark.parametrize("prefix", ["", "0: ", "  12: ", "host-3: [rank0]"])
    def test_every_line_lands_with_its_very_bytes(self, tmp_path: Path, prefix: str) -> None:
        text = sample.result_log(sample.Run(prefix=prefix)).replace("\n", "\r\n", 7)
        rows = rows_of_text(text, tmp_path)
        data = text.encode()
        stated = [(line.partition(b":::MLLOG ")[2], number) for number, line in enumerate(data.split(b"\n"), 1) if b":::MLLOG" in line]
        events = rows["mlperf_training_event"]
        assert [row["line_number"] for row in events] == [number for _, number in stated]
        for row, (document, _) in zip(events, stated, strict=True):
            fields = json.loads(document)
            assert data[row["raw_offset"] : row["raw_offset"] + row["raw_length"]] == b":::MLLOG " + document.rstrip()
            assert (row["key"], row["time_ms"], row["event_type"]) == (fields["key"], fields["time_ms"], fields["event_type"])
            metadata = fields["metadata"]
            assert (row["step"], row["samples_count"], row["status"], row["producer"]) == (
                metadata.get("step"), metadata.get("samples_count"), metadata.get("status"), metadata["file"]
            )
        assert not rows[ISSUE_TABLE]

    def test_values_are_as_written_and_numbers_where_they_are_numbers(self, tmp_path: Path) -> None:
        values = {"a": "1.50E3", "b": "-7", "c": "null", "d": "true", "e": '"adam\\u0077"', "f": "[1, 2]", "g": '"12"'}
        lines = [sample.event(f"opt_{key}", "@").replace('"@"', value) for key, value in values.items()]
        rows = rows_of_text("\n".join(lines), tmp_path)
        found = {row["key"][4:]: (row["value"], row["value_number"]) for row in rows["mlperf_training_event"]}
        assert found == {
            "a": ("1.50E3", 1500.0), "b": ("-7", -7.0), "c": (None, None), "d": ("true", None), "e": ("adamw", None),
            "f": ("[1, 2]", None), "g": ("12", None),
        }

    def test_statistics_are_rows_of_their_lines(self, tmp_path: Path) -> None:
        rows = rows_of_text(sample.result_log(sample.Run(step_times_s=(0.5, 0.125), eval_s=())), tmp_path)
        assert [(row["stat"], row["value_number"]) for row in rows["mlperf_training_stat"]] == [
            ("train_step_time", 0.5), ("reduced_train_loss", 8.0), ("train_step_time", 0.125), ("reduced_train_loss", 7.0)
        ]
        lines = {row["line_number"] for row in rows["mlperf_training_event"] if row["key"] == "tracked_stats"}
        assert {row["line_number"] for row in rows["mlperf_training_stat"]} == lines

    def test_seed_and_spread_are_no_part_of_the_workload(self, tmp_path: Path) -> None:
        one = rows_of_text(sample.result_log(sample.Run(seed=1)), tmp_path / "a")["mlperf_training_run"][0]
        two = rows_of_text(sample.result_log(sample.Run(seed=2, minutes=3)), tmp_path / "b")["mlperf_training_run"][0]
        assert one["workload_spec_digest"] == two["workload_spec_digest"]
        assert json.loads(one["workload_document"]) == {
            "benchmark": "llama31_8b", "global_batch_size": 32, "max_sequence_length": 8192, "opt_base_learning_rate": 0.0004,
            "opt_name": "adamw",
        }

    def test_documents_land_pair_by_pair_also_from_a_list_of_one(self, tmp_path: Path) -> None:
        folder = sample.write_set(tmp_path / "tree", [sample.Run()], scaling_factor=1.0105)
        path = folder.parents[2] / "systems/box_n1.json"
        path.write_text(json.dumps(sample.system(other_software_stack=[{"cuda_version": "12.8", "nccl_version": "TBD"}])))
        entries = {(row["source"], row["key"]): row for row in rows_of(tmp_path / "tree", tmp_path / "store")["mlperf_training_entry"]}
        assert entries["scaling", "scaling_factor"]["value_number"] == 1.0105
        assert entries["system", "accelerators_per_node"]["value_number"] == 8
        row = entries["system", "other_software_stack/cuda_version"]
        start = row["raw_offset"]
        assert path.read_bytes()[start : start + row["raw_length"]] == b'"cuda_version": "12.8"'

    @pytest.mark.parametrize("text, code", [("", "no-scaling-factor"), ('{"factor": 1.5}', "no-scaling-factor"), ('{"scaling_factor": 1.0', "no-scaling-factor"), ('{"scaling_factor": 0}', "not-a-number")])
    def test_a_scaling_file_without_a_factor_says_that_it_is_not_known(self, tmp_path: Path, text: str, code: str) -> None:
        folder = sample.write_set(tmp_path / "tree", [sample.Run()], scaling_factor=1.5)
        (folder / "scaling.json").write_text(text)
        rows = rows_of(tmp_path / "tree", tmp_path / "store")
        (entry,) = [row for row in rows["mlperf_training_entry"] if row["source"] == "scaling" and row["key"] == "scaling_factor"]
        assert not entry["value_number"] and code in {row["code"] for row in rows[ISSUE_TABLE]}

    def test_the_path_is_right_and_other_words_are_told(self, tmp_path: Path) -> None:
        folder = sample.write_set(tmp_path, [sample.Run()])
        log = folder / "result_0.txt"
        log.write_text(log.read_text().replace('"Acme"', '"SUBMISSION_ORG_PLACEHOLDER"'))
        rows = rows_of(folder, tmp_path / "store")
        (run,) = rows["mlperf_training_run"]
        assert (run["submitter"], run["platform"], run["round"]) == ("Acme", "box_n1", "v5.1")
        (issue,) = rows[ISSUE_TABLE]
        assert (issue["code"], issue["severity"]) == ("submitter-placeholder", "note") and "PLACEHOLDER" in issue["message"]


class TestDamage:
    def test_an_empty_file_is_a_run_that_left_nothing(self, tmp_path: Path) -> None:
        rows = rows_of_text(b"", tmp_path)
        assert [row["event_count"] for row in rows["mlperf_training_run"]] == [0]
        assert codes(rows) == {"empty-log": 1}

    def test_a_cut_line_is_told_with_its_place(self, tmp_path: Path) -> None:
        text = sample.result_log()
        cut = text[: text.index('"run_stop"') + 20]
        rows = rows_of_text(cut, tmp_path)
        assert codes(rows) == {"truncated-log-line": 1, "truncated-log": 1}
        (issue,) = [row for row in rows[ISSUE_TABLE] if row["code"] == "truncated-log-line"]
        assert issue["line_number"] == cut.count("\n") + 1
        assert cut[issue["raw_offset"] :].startswith(":::MLLOG")
        assert "run_stop" not in {row["key"] for row in rows["mlperf_training_event"]}

    @pytest.mark.parametrize(("written", "code"), [
        ('"time_ms": NaN', "malformed-time"), ('"time_ms": 1e999', "malformed-time"), ('"time_ms": null', "malformed-time"),
        ('"time_ms": 1, "time_ms": 2', "duplicate-json-key"), ('"time_ms": 1, "key": "seed"', "duplicate-json-key"),
        ('"time_ms": 1 "x"', "malformed-log-line"), ("[" * 5000, "malformed-log-line"),
    ])
    def test_a_bad_line_is_told_and_the_others_land(self, tmp_path: Path, written: str, code: str) -> None:
        bad = sample.event("seed", 5).replace(f'"time_ms": {sample.START_MS}', written)
        rows = rows_of_text("\n".join([sample.event("seed", 4), bad, sample.event("seed", 6)]) + "\n", tmp_path)
        assert codes(rows)[code] == 1
        values = [row["value_number"] for row in rows["mlperf_training_event"]]
        assert values[0] == 4 and values[-1] == 6

    @pytest.mark.parametrize("written", ["NaN", "Infinity", "-1e999"])
    def test_a_number_that_is_not_finite_is_no_number(self, tmp_path: Path, written: str) -> None:
        stats = sample.event("tracked_stats", {"train_step_time": 0.5, "reduced_train_loss": 7}).replace("7}", written + "}")
        accuracy = sample.event("eval_accuracy", "@").replace('"@"', written)
        rows = rows_of_text(f"{stats}\n{accuracy}\n", tmp_path)
        assert [row["value_number"] for row in rows["mlperf_training_stat"]] == [0.5, None]
        assert [row["value_number"] for row in rows["mlperf_training_event"]] == [None, None]
        assert codes(rows)["non-finite-number"] == 2 and {row["severity"] for row in rows[ISSUE_TABLE]} == {"error"}

    def test_numbers_as_text_in_metadata_are_numbers(self, tmp_path: Path) -> None:
        rows = rows_of_text(sample.event("eval_start", None, samples_count="96", step=None, status=7), tmp_path)
        (row,) = rows["mlperf_training_event"]
        assert (row["samples_count"], row["step"], row["status"]) == (96, None, None)

    def test_text_that_is_not_utf8_is_told(self, tmp_path: Path) -> None:
        line = sample.event("opt_name", "ad@m").encode().replace(b"@", b"\xff")
        rows = rows_of_text(b"\xff noise\n" + line, tmp_path)
        assert [row["value"] for row in rows["mlperf_training_event"]] == ["ad\ufffdm"]
        assert codes(rows)["invalid-utf8"] == 1

    def test_a_line_without_end_is_told_and_not_held(self, tmp_path: Path) -> None:
        whole = sample.result_log().encode()
        rows = rows_of_text(whole + b":::MLLOG " + b"x" * (20 << 20) + b"\n" + sample.event("seed", 9).encode(), tmp_path)
        assert codes(rows) == {"line-too-long": 1}
        assert rows["mlperf_training_event"][-1]["value_number"] == 9
        assert rows["mlperf_training_event"][-1]["line_number"] == whole.count(b"\n") + 2

    def test_lines_across_blocks_keep_their_places(self, tmp_path: Path) -> None:
        lines = [sample.event("seed", number) for number in range(40_000)]
        rows = rows_of_text("\n".join(lines), tmp_path)["mlperf_training_event"]
        assert [row["value_number"] for row in rows] == list(range(40_000))
        assert [row["line_number"] for row in rows] == list(range(1, 40_001))
        offset = 0
        for row, line in zip(rows, lines, strict=True):
            assert (row["raw_offset"], row["raw_length"]) == (offset, len(line))
            offset += len(line) + 1

    def test_two_ends_are_told(self, tmp_path: Path) -> None:
        text = sample.result_log() + sample.event("run_stop", None, 9e6, "INTERVAL_END", status="aborted")
        assert codes(rows_of_text(text, tmp_path)) == {"several-run-stops": 1}

    @pytest.mark.parametrize("blank", [b" ", b"\x1b[0m", b"m", b"1m"])
    def test_what_may_stand_behind_a_line_is_looked_at_once(self, tmp_path: Path, blank: bytes) -> None:
        """Before what is none of it, as often as it may: to try it from each place on would take minutes."""
        text = sample.result_log().encode() + b":::MLLOG " + blank * 200_000 + b"x \n"
        assert codes(rows_of_text(text, tmp_path)) == {"malformed-log-line": 1}

    def test_a_log_that_stands_twice_in_its_file_is_told(self, tmp_path: Path) -> None:
        rows = rows_of_text(2 * sample.result_log(), tmp_path)
        assert codes(rows) == {"repeated-run-start": 1, "repeated-run-stop": 1}
        assert {issue["severity"] for issue in rows[ISSUE_TABLE]} == {"error"}

    @pytest.mark.parametrize(
        ("behind", "issues"),
        [
            ("\x1b[0m", {}), (" \x1b[39;49m\x1b[0m \r", {}), (" (rank 0)", {"text-behind-log-line": 1}), ("m", {"text-behind-log-line": 1}),
            (sample.event("seed", 8), {"text-behind-log-line": 1}),
        ],
    )
    def test_what_stands_behind_a_line_does_not_lose_it(self, tmp_path: Path, behind: str, issues: dict[str, int]) -> None:
        before = sample.result_log()
        seed = next(line for line in before.splitlines() if '"seed"' in line)
        rows = rows_of_text(before.replace(seed, f"\x1b[32m0: {seed}{behind}"), tmp_path)
        assert codes(rows) == issues
        (row,) = [row for row in rows["mlperf_training_event"] if row["key"] == "seed"]
        (expected,) = [row for row in rows_of_text(before, tmp_path / "before")["mlperf_training_event"] if row["key"] == "seed"]
        expected |= {
            "raw_offset": expected["raw_offset"] + len("\x1b[32m0: "), "raw_length": len(seed) + len(behind if issues else ""),
            "artifact_manifest_digest": row["artifact_manifest_digest"],
        }
        assert row == expected

    @pytest.mark.parametrize("marker", [":::MLLO", "::MLLOG", ":::M\x00LOG", ""])
    def test_a_line_whose_marker_is_damaged_is_told(self, tmp_path: Path, marker: str) -> None:
        before = sample.result_log()
        seed = next(line for line in before.splitlines() if '"seed"' in line)
        after = before.replace(seed, marker + seed.removeprefix(":::MLLOG"))
        rows = rows_of_text(after, tmp_path)
        (issue,) = rows[ISSUE_TABLE]
        assert (issue["code"], issue["severity"]) == ("unmarked-log-line", "error")
        assert after[issue["raw_offset"] :][: issue["raw_length"]] == after.splitlines()[issue["line_number"] - 1]
        assert '"seed"' in after.splitlines()[issue["line_number"] - 1]

    @pytest.mark.parametrize(
        ("metadata", "expected"),
        [
            ('{"samples_count": "many", "status": "success"}', {"not-a-number": 1}),
            ('{"samples_count": Infinity, "status": "success"}', {"non-finite-number": 1}),
            ('{"samples_count": "N/A", "status": "success"}', {}),
            ('{"status": 5}', {"not-a-text": 1}),
            ("5", {"malformed-metadata": 1}),
        ],
    )
    def test_metadata_of_other_types_is_told(self, tmp_path: Path, metadata: str, expected: dict) -> None:
        start = sample.event("run_start", None, 9e6).partition('"metadata"')[0]
        text = sample.result_log(sample.Run(status=None)) + start.replace("run_start", "run_stop") + f'"metadata": {metadata}}}\n'
        rows = rows_of_text(text, tmp_path)
        assert codes(rows) == expected
        (stop,) = [row for row in rows["mlperf_training_event"] if row["key"] == "run_stop"]
        assert stop["samples_count"] is None


@pytest.fixture(scope="module")
def parsed_all(mlperf_training_evidence: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[BundleDraft], Rows]:
    found = drafts(mlperf_training_evidence)
    store = tmp_path_factory.mktemp("store")
    rows: Rows = {name: [] for name in (*INGESTOR.tables, ISSUE_TABLE)}
    for number, draft in enumerate(found):
        for table, part in parsed(stored(draft, store / str(number))).items():
            rows[table] += part
        shutil.rmtree(store / str(number))
    return found, rows


class TestRealEvidence:
    def test_every_result_file_is_a_run(self, mlperf_training_evidence: Path, parsed_all: tuple) -> None:
        files = list(mlperf_training_evidence.rglob("result_*.txt"))
        runs = parsed_all[1]["mlperf_training_run"]
        assert len(runs) == len(files) == len({run["run_id"] for run in runs}) == 763
        assert len(parsed_all[0]) == len({path.parent for path in files})

    def test_every_marked_line_is_an_event(self, mlperf_training_evidence: Path, parsed_all: tuple) -> None:
        """Counted with the text search of the standard library, key by key."""
        plain: Counter = Counter()
        for path in mlperf_training_evidence.rglob("result_*.txt"):
            for line in path.read_bytes().split(b"\n"):
                if b":::MLLOG" in line:
                    plain[json.loads(line.partition(b":::MLLOG")[2])["key"]] += 1
        assert Counter(row["key"] for row in parsed_all[1]["mlperf_training_event"]) == plain

    def test_only_copied_names_are_odd(self, parsed_all: tuple) -> None:
        assert codes(parsed_all[1]).keys() <= {"submitter-mismatch", "submitter-placeholder", "duplicate-json-key"}
        assert not [row for row in parsed_all[1][ISSUE_TABLE] if row["severity"] == "error"]

    def test_units_follow_from_the_logs_own_clock(self, parsed_all: tuple) -> None:
        """models/reference/mlperf_training_stat_unit.sql says how each unit is known: here it is looked at."""
        lines = {(row["run_id"], row["line_number"]): row for row in parsed_all[1]["mlperf_training_event"]}
        once = {(row["run_id"], row["key"]): row for row in lines.values()}
        block_start: dict[str, dict[str, Any]] = {}
        of_step: dict[str, tuple[dict[str, Any], float]] = {}
        stats = {}
        for row in parsed_all[1]["mlperf_training_stat"]:
            stats.setdefault((row["run_id"], row["line_number"]), {})[row["stat"]] = row["value_number"]
        of_blocks = {"code/src/callbacks/custom_callbacks.py", "code/src/callbacks.py", "ft-llm/custom_callbacks.py"}
        ratios: dict[str, list[float]] = {name: [] for name in ("step", "block", "phase", *of_blocks)}
        for place, event in lines.items():
            run_id = event["run_id"]
            if event["key"] == "block_start":
                block_start[run_id] = event
                of_step.pop(run_id, None)
            values = stats.get(place, {})
            producer = (event["producer"] or "").rpartition("/workspace/")[2]
            if producer == "llm/custom_callbacks.py" and "train_step_time" in values and event["step"] is not None:
                before = of_step.get(run_id)
                if before and event["step"] - before[0]["step"] == 1:
                    ratios["step"].append((event["time_ms"] - before[0]["time_ms"]) / 1000 / values["train_step_time"])
                of_step[run_id] = (event, values["train_step_time"])
            if producer in of_blocks and "throughput" in values and run_id in block_start:
                start = block_start[run_id]
                if (start["samples_count"] or 0) > 0:
                    seconds = (event["time_ms"] - start["time_ms"]) / 1000
                    ratios[producer].append(values["throughput"] * seconds / (event["step"] - start["samples_count"]))
            if (event["producer"] or "").endswith("mlperf_common/callbacks/logging.py") and "train_step_time" in values:
                if "throughput" not in values and event["samples_count"] and run_id in block_start:
                    steps = (event["time_ms"] - block_start[run_id]["time_ms"]) / 1000 / values["train_step_time"]
                    ratios["block"].append(steps / round(steps))
            if producer == "dlrm/mlperf_logger/callbacks.py" and "throughput" in values:
                samples = event["step"] * once[run_id, "train_samples"]["value_number"]
                clock_ms = once[run_id, "run_stop"]["time_ms"] - once[run_id, "run_start"]["time_ms"]
                ratios["phase"].append(values["throughput"] * clock_ms / 1000 / samples)
        for name, found in ratios.items():
            assert len(found) > 100, name
            assert sorted(found)[len(found) // 2] == pytest.approx(1, abs=0.01), name
