"""The ingestor of recordings: real recordings, and every way their files can be damaged."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from warehouse.digest import bytes_digest, workload_spec_digest
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import ISSUE_TABLE, Bundle, BundleDraft, Ingestor
from warehouse.landing.rows import ISSUE_SCHEMA, decoded_schema
from warehouse.record.command import record

INDICATOR = {
    "name": "PiMatmul", "component": "tensorflow", "@parameters": {"dtype": "float32", "reps": 20000},
    "@result": {"rate": 0.0097, "elapsed": 27366.39}, "overall_score": 0.3,
}


def load_ingestor() -> Ingestor:
    folder = Path(__file__).parents[1] / "ingest" / "recorded_run"
    spec = importlib.util.spec_from_file_location(
        "recorded_run_under_test", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.INGESTOR


INGESTOR = load_ingestor()


@dataclass(frozen=True)
class Landed:
    """The rows of a folder's only recording."""

    digest: str
    folder: Path
    tables: dict[str, list[dict[str, Any]]]

    @property
    def runs(self) -> list[dict[str, Any]]:
        return self.tables["recorded_run"]

    @property
    def values(self) -> dict[str, dict[str, Any]]:
        return {row["key"]: row for row in self.tables["recorded_indicator_value"]}

    @property
    def issues(self) -> list[dict[str, Any]]:
        return self.tables[ISSUE_TABLE]

    @property
    def codes(self) -> list[str]:
        return [issue["code"] for issue in self.issues]

    def source(self, row: dict[str, Any]) -> bytes:
        data = (self.folder / row["raw_path"]).read_bytes()
        assert 0 <= row["raw_offset"] and row["raw_offset"] + row["raw_length"] <= len(data)
        return data[row["raw_offset"] : row["raw_offset"] + row["raw_length"]]


def bundle_of(folder: Path, draft: BundleDraft) -> Bundle:
    files = []
    for file in draft.files:
        data = file.file.source.read_bytes()
        files.append(ManifestFile(file.raw_path, len(data), bytes_digest(data), file.media_type, file.role))
    manifest = Manifest(INGESTOR.name, tuple(files), draft.identity, draft.source)
    return Bundle(manifest.digest, manifest, lambda file: folder / file.raw_path)


def land(folder: Path) -> Landed:
    [draft] = INGESTOR.bundles(list_tree(folder))
    bundle = bundle_of(folder, draft)
    schemas = {**INGESTOR.tables, ISSUE_TABLE: ISSUE_SCHEMA}
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in schemas}
    for table, batch in INGESTOR.parse(bundle):
        assert decoded_schema(batch.schema) == schemas[table]
        tables[table] += batch.to_pylist()
    landed = Landed(bundle.digest, folder, tables)
    for row in (row for rows in tables.values() for row in rows):
        assert row["artifact_manifest_digest"] == bundle.digest
        landed.source(row)
    return landed


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pristine")
    script = folder / "bench.py"
    script.write_text(f"print({json.dumps(INDICATOR)!r})")
    record([sys.executable, str(script)], folder / "recording", repeats=2)
    return folder / "recording"


@pytest.fixture
def folder(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "recording"))


@pytest.fixture
def land_stdout(folder: Path) -> Callable[[bytes | str], Landed]:
    """Lands the recording with another standard output of its first run, and without the second run."""

    def land_with(output: bytes | str) -> Landed:
        shutil.rmtree(folder / "run-02")
        change(folder / "recording.json", repeats=1)
        (folder / "run-01" / "stdout.txt").write_bytes(output.encode() if isinstance(output, str) else output)
        return land(folder)

    return land_with


def change(path: Path, **keys: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))


def test_a_recording_is_recognised_wherever_it_lies(pristine: Path, tmp_path: Path) -> None:
    for place in ("a/b", "c"):
        shutil.copytree(pristine, tmp_path / place)
    (tmp_path / "c" / "plot.png").write_bytes(b"nobody's")
    (tmp_path / "c" / "run-01" / "recording.json").write_text('{"title": "a song"}')
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "recording.json").write_text('{"format": "audio", "x": "warehouse-recording"}')
    (tmp_path / "other" / "run.json").write_text("{}")
    drafts = list(INGESTOR.bundles(list_tree(tmp_path)))
    of_a_run = ("host.jsonl", "node.jsonl", "processes.jsonl", "run.json", "stderr.txt", "stdout.txt")
    of_runs = [f"{run}/{name}" for run in ("run-01", "run-02") for name in of_a_run]
    expected = ["machine.json", "recording.json", *of_runs, "software.json"]
    assert [[file.raw_path for file in draft.files] for draft in drafts] == [expected, expected]
    assert [draft.runs for draft in drafts] == [("run-01", "run-02")] * 2


def test_each_run_is_a_row_with_what_was_recorded(pristine: Path) -> None:
    landed = land(pristine)
    recording = json.loads((pristine / "recording.json").read_text())["recording_id"]
    assert landed.issues == []
    assert [row["run_id"] for row in landed.runs] == [
        f"recorded_run/{recording}/run-01", f"recorded_run/{recording}/run-02",
    ]
    run, document = landed.runs[1], json.loads((pristine / "run-02" / "run.json").read_text())
    for key in (
        "repeat_index", "status", "exit_code", "signal", "wall_s", "user_cpu_s", "system_cpu_s", "max_rss_bytes",
        "voluntary_context_switches", "involuntary_context_switches", "minor_page_faults", "major_page_faults",
    ):
        assert run[key] == document[key], key
    assert run["started_at"] == datetime.fromisoformat(document["started_at"])
    assert run["started_at"].utcoffset() == UTC.utcoffset(None)
    assert (run["indicator_name"], run["component"], run["overall_score"]) == ("PiMatmul", "tensorflow", 0.3)
    assert run["program"] == Path(sys.executable).name
    assert run["script_sha256"] == bytes_digest((pristine.parent / "bench.py").read_bytes())
    assert run["python_version"] == ".".join(map(str, sys.version_info[:3]))
    assert json.loads(run["packages"]) == sorted(json.loads(run["packages"]))
    machine = json.loads((pristine / "machine.json").read_text())
    assert (run["memory_bytes"], run["logical_cores"]) == (machine["memory_bytes"], machine["logical_cores"])
    assert landed.source(run) == (pristine / "run-02" / "run.json").read_bytes()


def test_values_that_no_run_can_have_are_null_with_an_issue(folder: Path) -> None:
    change(folder / "run-01/run.json", wall_s=-5, user_cpu_s=1e308, max_rss_bytes=-1, ended_at="2020-01-01T00:00:00Z")
    change(folder / "run-02/run.json", started_at="0001-01-01T00:00:00Z", ended_at="9999-12-31T23:59:59.999999Z")
    found = land(folder)
    first, second = found.tables["recorded_run"]
    assert [first[name] for name in ("wall_s", "user_cpu_s", "max_rss_bytes", "ended_at")] == [None] * 4 and first["started_at"]
    assert (second["started_at"], second["ended_at"]) == (None, None)  # Go's zero time, and what is written for "never"
    assert sorted(found.codes) == ["impossible-time", *["impossible-value"] * 3, *["no-time"] * 2]


def test_windows_of_the_host_that_are_stated_again_are_left_out(folder: Path) -> None:
    path = folder / "run-01/host.jsonl"
    before = len(land(folder).tables["recorded_host_sample"])
    path.write_text(path.read_text() * 2)
    found = land(folder)
    assert len(found.tables["recorded_host_sample"]) == before and set(found.codes) == {"sample-not-later"}


def test_the_workload_is_the_indicator_its_parameters_and_the_script(folder: Path) -> None:
    with_seed = INDICATOR | {"@parameters": {"dtype": "float32", "reps": 20000, "random_seed": 7}}
    (folder / "run-02" / "stdout.txt").write_text(json.dumps(with_seed))
    first, second = land(folder).runs
    document = {
        "indicator_name": "PiMatmul", "component": "tensorflow", "parameters": INDICATOR["@parameters"],
        "script_sha256": first["script_sha256"],
    }
    assert json.loads(first["workload_document"]) == document
    assert first["workload_spec_digest"] == second["workload_spec_digest"] == workload_spec_digest(document)


def test_a_failed_run_counts_against_the_workload_of_its_siblings(folder: Path) -> None:
    change(folder / "run-02" / "run.json", status="failed", exit_code=1)
    (folder / "run-02" / "stdout.txt").write_text("")
    first, second = land(folder).runs
    assert (second["status"], second["indicator_name"]) == ("failed", None)
    assert second["workload_spec_digest"] == first["workload_spec_digest"]


def test_without_an_indicator_the_command_is_the_workload(land_stdout: Callable, pristine: Path) -> None:
    landed = land_stdout("a table\n1 2 3\n{not json}\n{'loss': 1.2}\n")
    [run] = landed.runs
    assert landed.issues == []
    assert landed.values == {}
    argv = json.loads(run["command"])
    document = {"argv": [run["program"], *argv[1:]], "script_sha256": run["script_sha256"]}
    assert json.loads(run["workload_document"]) == document


def test_values_in_long_form_lead_to_their_bytes(land_stdout: Callable) -> None:
    output = """größe — 測定
{"näme": "ü",
 "name": "Neu", "framework" : "x",
 "@parameters": {"größe": 12,\t"on":true},
 "@result": {"a": {"b": -1.50e2, "c": {}}, "list": [1, {"d": 2}], "none": null, "text": "ja\\n\\u00fc"}}
"""
    landed = land_stdout(output)
    assert landed.issues == []
    seen = {
        (row["kind"], key, row["value_type"], row["value_text"], row["value_number"], landed.source(row).decode())
        for key, row in landed.values.items()
    }
    assert seen == {
        ("other", "näme", "string", "ü", None, '"näme": "ü"'),
        ("parameter", "größe", "integer", "12", 12.0, '"größe": 12'),
        ("parameter", "on", "boolean", "true", None, '"on":true'),
        ("result", "a__b", "float", "-1.50e2", -150.0, '"b": -1.50e2'),
        ("result", "a__c", "json", "{}", None, '"c": {}'),
        ("result", "list", "json", '[1, {"d": 2}]', None, '"list": [1, {"d": 2}]'),
        ("result", "none", "null", None, None, '"none": null'),
        ("result", "text", "string", "ja\nü", None, '"text": "ja\\n\\u00fc"'),
    }
    assert {(row["indicator_name"], row["component"]) for row in landed.values.values()} == {("Neu", "x")}


def test_the_last_object_with_a_result_is_the_indicator(land_stdout: Callable) -> None:
    def line(number: int, **keys: Any) -> str:
        return json.dumps({"name": "n", "@parameters": {}, "@result": {"number": number}, **keys})

    landed = land_stdout("\n".join(["warm up", line(1), line(2), '{"progress": 100}', f"see {line(3)}", "done", ""]))
    assert landed.values["number"]["value_number"] == 2
    assert landed.issues == []


def test_component_beats_framework_and_both_are_kept(land_stdout: Callable) -> None:
    landed = land_stdout(json.dumps(INDICATOR | {"framework": "tf"}))
    assert landed.runs[0]["component"] == "tensorflow"
    assert landed.values["framework"]["value_text"] == "tf"
    assert landed.values["overall_score"]["kind"] == "score"


def test_shared_keys_are_flagged(land_stdout: Callable) -> None:
    landed = land_stdout(json.dumps(INDICATOR | {"@result": {"reps": 5, "rate": 1}}))
    [issue] = landed.issues
    assert (issue["code"], issue["severity"], issue["run_id"]) == (
        "indicator-keys-overlap", "warning", landed.runs[0]["run_id"],
    )
    assert landed.source(issue) == b'"reps": 5'
    rows = landed.tables["recorded_indicator_value"]
    assert {(row["kind"], row["value_number"]) for row in rows if row["key"] == "reps"} == {
        ("parameter", 20000.0), ("result", 5.0),
    }


def test_json_without_the_keys_is_kept_and_flagged(land_stdout: Callable) -> None:
    landed = land_stdout('{"jobs": {"iops": 5}, "name": 7, "@result": 3}\n')
    assert {(row["kind"], key, row["value_number"]) for key, row in landed.values.items()} == {
        ("other", "jobs__iops", 5.0), ("other", "name", 7.0), ("result", "@result", 3.0),
    }
    assert landed.codes == ["indicator-section-not-an-object", "indicator-keys-missing"]
    assert "argv" in json.loads(landed.runs[0]["workload_document"])


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "9" * 5000])
def test_a_number_that_is_none_is_null_and_flagged(land_stdout: Callable, number: str) -> None:
    landed = land_stdout(
        f'{{"name": "n", "@parameters": {{}}, "@result": {{"rate": {number}}}, "overall_score": {number}}}'
    )
    assert landed.values["rate"]["value_number"] is None
    assert landed.values["rate"]["value_text"] == number
    assert landed.runs[0]["overall_score"] is None
    assert landed.codes == ["non-finite-value"] * 2 and {issue["severity"] for issue in landed.issues} == {"error"}
    assert landed.source(landed.issues[0]) == b'"rate": ' + number.encode()


def test_parameters_without_canonical_form_have_no_digest(land_stdout: Callable) -> None:
    landed = land_stdout('{"name": "n", "@parameters": {"rows": 90071992547409930}, "@result": {}}')
    assert landed.values["rows"]["value_text"] == "90071992547409930"
    assert landed.runs[0]["workload_spec_digest"] is None
    assert landed.codes == ["workload-not-canonical"]


@pytest.mark.parametrize("bad", [b"\xff\xfe", b"\xc3", b"\xed\xa0\x80"])
def test_invalid_utf8_is_flagged_where_it_is(land_stdout: Callable, bad: bytes) -> None:
    text = b'{"name": "n", "@parameters": {}, "@result": {"device": "' + bad + b'", "rate": 2}}'
    landed = land_stdout(b"\xff noise\n" + text)
    assert landed.codes == ["not-utf8"]
    assert landed.issues[0]["raw_offset"] == 8 + text.index(bad)
    assert landed.issues[0]["line_number"] == 2
    assert "\ufffd" in landed.values["device"]["value_text"]
    assert landed.source(landed.values["rate"]) == b'"rate": 2'


def test_lone_surrogates_do_not_stop_the_landing(land_stdout: Callable) -> None:
    landed = land_stdout(r'{"name": "\ud800", "@parameters": {"\udc00": "\ud800"}, "@result": {}}')
    assert landed.values["?"]["value_text"] == "?"
    assert landed.runs[0]["indicator_name"] == "?"


def test_duplicate_keys_are_flagged_and_the_last_counts(land_stdout: Callable) -> None:
    landed = land_stdout('{"name": "n", "@parameters": {"a": 1, "a": 2}, "@result": {"x": {"y": 3}, "x__y": 4}}')
    assert (landed.values["a"]["value_number"], landed.values["x__y"]["value_number"]) == (2.0, 4.0)
    assert [(issue["code"], landed.source(issue)) for issue in landed.issues] == [
        ("duplicate-key", b'"a": 1'), ("duplicate-key", b'"y": 3'),
    ]


@pytest.mark.parametrize("depth", [30, 300, 900, 960, 5000])
def test_deep_nesting_is_flagged(land_stdout: Callable, depth: int) -> None:
    nested = '{"x":' * depth + "1" + "}" * depth
    landed = land_stdout(f'{{"name": "n", "@parameters": {{"p": {nested}}}, "@result": {{"rate": 2}}}}')
    assert set(landed.codes) <= {"nested-too-deep", "indicator-damaged", "workload-not-canonical"}
    assert landed.codes
    if depth <= 300:
        assert landed.values["rate"]["value_number"] == 2
    if depth == 5000:
        assert landed.codes == ["indicator-damaged"]


@pytest.mark.parametrize("kept", [75, 120])
def test_a_cut_off_indicator_is_flagged(land_stdout: Callable, kept: int) -> None:
    landed = land_stdout(json.dumps(INDICATOR)[:kept])
    assert landed.values == {}
    assert [(issue["code"], issue["severity"]) for issue in landed.issues] == [("indicator-damaged", "error")]


def test_hostile_output_ends_in_time(land_stdout: Callable) -> None:
    # Every line begins an object that fails: the search must not be quadratic in their number.
    landed = land_stdout('{"a" 1\n' * 1_000_000 + '"@result"')
    assert landed.codes == ["indicator-damaged"]
    assert "given up" in landed.issues[0]["message"]


def test_a_truncated_run_file_is_a_run_without_status(folder: Path) -> None:
    path = folder / "run-02" / "run.json"
    path.write_bytes(path.read_bytes()[:70])
    landed = land(folder)
    first, second = landed.runs
    assert first["status"] == "succeeded"
    assert (second["repeat_index"], second["indicator_name"]) == (2, "PiMatmul")
    unknown = ("status", "exit_code", "wall_s", "user_cpu_s", "max_rss_bytes", "started_at")
    assert {second[key] for key in unknown} == {None}
    [issue] = landed.issues
    assert (issue["code"], issue["severity"], issue["raw_path"]) == ("not-json", "error", "run-02/run.json")
    assert (issue["run_id"], issue["line_number"]) == (second["run_id"], 5)


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("run-02/run.json", ["file-missing"]), ("run-02/stdout.txt", ["file-missing"]),
        ("run-02/host.jsonl", ["file-missing"]), ("machine.json", ["file-missing"]),
        ("software.json", ["file-missing"]), ("run-02/stderr.txt", []),
    ],
)
def test_a_missing_file_is_an_issue(folder: Path, name: str, codes: list[str]) -> None:
    (folder / name).unlink()
    landed = land(folder)
    assert landed.codes == codes
    assert len(landed.runs) == 2


def test_missing_runs_are_an_issue_unless_interrupted(folder: Path) -> None:
    shutil.rmtree(folder / "run-02")
    assert land(folder).codes == ["runs-missing"]
    change(folder / "run-01" / "run.json", status="interrupted", exit_code=None, signal=15)
    landed = land(folder)
    assert landed.issues == []
    [run] = landed.runs
    assert (run["status"], run["exit_code"], run["signal"]) == ("interrupted", None, 15)


def test_a_damaged_recording_file_is_still_ours(folder: Path) -> None:
    path = folder / "recording.json"
    path.write_bytes(path.read_bytes()[:60])
    landed = land(folder)
    assert landed.codes == ["not-json"]
    assert [row["command"] for row in landed.runs] == [None, None]
    assert [row["status"] for row in landed.runs] == ["succeeded"] * 2


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("wall_s", "1.5"), ("wall_s", True), ("exit_code", 0.5), ("max_rss_bytes", 2**63),
        pytest.param("user_cpu_s", 10**400, id="beyond-a-double"), ("status", ["failed"]),
        ("started_at", "2026-01-01T00:00:00"), ("started_at", "yesterday"), ("ended_at", 7),
    ],
)
def test_a_value_of_a_wrong_type_is_null_and_flagged(folder: Path, key: str, value: Any) -> None:
    change(folder / "run-01" / "run.json", **{key: value})
    landed = land(folder)
    assert landed.runs[0][key] is None
    assert landed.codes == ["wrong-type"]


def test_the_revision_of_the_working_folder_is_kept(folder: Path) -> None:
    git = {"commit": "c" * 40, "branch": "main", "is_dirty": True, "remote": "https://host/repository"}
    change(folder / "recording.json", git=git)
    assert [{name: run[f"git_{name}"] for name in git} for run in land(folder).runs] == [git, git]
    change(folder / "recording.json", git={**git, "is_dirty": "no"})
    landed = land(folder)
    assert {run["git_is_dirty"] for run in landed.runs} == {None} and set(landed.codes) == {"wrong-type"}
    change(folder / "recording.json", git=None)  # as outside of a repository
    assert {run["git_commit"] for run in land(folder).runs} == {None}


def test_the_files_own_word_is_checked(folder: Path) -> None:
    change(folder / "run-01" / "run.json", repeat_index=9, status="great", host_sampling_error="OSError: gone")
    landed = land(folder)
    assert (landed.runs[0]["repeat_index"], landed.runs[0]["status"]) == (1, None)
    assert landed.codes == ["identity-mismatch", "unknown-status", "host-sampling-failed"]


def test_host_samples_are_rows_and_damaged_lines_are_issues(folder: Path) -> None:
    path = folder / "run-01" / "host.jsonl"
    first = json.loads(path.read_text().splitlines()[0])
    sparse = {"window_start": first["window_end"], "window_end": first["window_end"], "duration_s": 0.5}
    reset = sparse | {"counter_resets": ["disk_read_bytes"]}
    lines = [json.dumps(first), '{"duration_s": 1', "\xff", json.dumps(reset)]
    path.write_bytes("\n".join(lines).encode("latin-1"))
    landed = land(folder)
    rows = [row for row in landed.tables["recorded_host_sample"] if row["run_id"].endswith("run-01")]
    assert [landed.source(row).decode() for row in rows] == [lines[0], lines[3]]
    for key in first.keys() & rows[0].keys() - {"window_start", "window_end"}:
        assert rows[0][key] == first[key], key
    assert rows[0]["window_start"] == datetime.fromisoformat(first["window_start"])
    assert rows[1]["duration_s"] == 0.5
    assert {rows[1][key] for key in ("cpu_mean_pct", "disk_read_bytes", "net_external_sent_bytes")} == {None}
    assert [(issue["code"], issue["line_number"]) for issue in landed.issues] == [
        ("not-json", 2), ("not-utf8", 3), ("counter-reset", 4),
    ]


def test_gpus_and_nodes_are_summed_up(folder: Path) -> None:
    gpu = {"name": "NVIDIA H200", "uuid": "GPU-1", "memory_bytes": 1, "driver_version": "570.86"}
    nodes = [{"node": 0, "cpus": "0-3", "memory_bytes": 1}, {"node": 1, "cpus": "4-7", "memory_bytes": None}]
    change(folder / "machine.json", gpus=[gpu, gpu], numa_nodes=nodes)
    run = land(folder).runs[0]
    assert (run["gpu_model"], run["gpu_count"], run["gpu_driver_version"]) == ("NVIDIA H200", 2, "570.86")
    assert (run["numa_nodes"], run["numa_layout"]) == (2, "node0=0-3;node1=4-7")
    gpus = land(folder).tables["recorded_gpu"]
    assert {(row["run_id"], row["gpu_uuid"], row["raw_path"]) for row in gpus} == {(row["run_id"], "GPU-1", "machine.json") for row in land(folder).runs}
    assert len(gpus) == len(land(folder).runs)
    change(folder / "machine.json", gpus=None, numa_nodes=None)
    run = land(folder).runs[0]
    assert {run[key] for key in ("gpu_model", "gpu_count", "gpu_driver_version", "numa_nodes", "numa_layout")} == {None}


def test_what_an_engine_made_of_its_settings_lands_beside_what_it_was_given(land_stdout: Callable[[bytes | str], Landed]) -> None:
    landed = land_stdout(
        "INFO 03-02 10:00:00 [utils.py:326] non-default args: {'model': 'm/tiny', 'max_model_len': 32768, 'api_key': 'sk-1'}\n"
        "INFO 03-02 10:00:05 [core.py:69] Initializing a V1 LLM engine (v0.9.2) with config: model='m/tiny', dtype=torch.bfloat16, max_seq_len=8192, "
        "tensor_parallel_size=1, quantization=None, enforce_eager=False\n"
        "INFO 03-02 10:00:09 [cuda.py:270] Using Flash Attention backend on V1 engine.\n"
        "INFO 03-02 10:00:20 [kv_cache_utils.py:716] GPU KV cache size: 364,880 tokens\n"
    )
    rows = landed.tables["recorded_setting_stated"]
    assert {(row["is_effective"], row["name"]): row["value"] for row in rows} == {
        (False, "model"): "m/tiny", (False, "max_model_len"): "32768",
        (True, "model"): "m/tiny", (True, "dtype"): "torch.bfloat16", (True, "max_seq_len"): "8192", (True, "tensor_parallel_size"): "1",
        (True, "enforce_eager"): "False", (True, "attention_backend"): "Flash Attention", (True, "kv_cache_tokens"): "364880",
    }
    assert landed.source(rows[-1]) == b"364,880"


def test_what_the_recorder_could_not_read_lands_with_its_reason(pristine: Path) -> None:
    unread = json.loads(land(pristine).runs[0]["unread"])
    assert "memory_bandwidth" in unread and all(unread.values())
