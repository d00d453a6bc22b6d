"""Traces of the PyTorch profiler: figures that equal a plain count of microseconds, jobs, ranks, hostile and partial files."""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from conftest import unpacked_evidence
from landed import Subject, codes, drafts, landed
from samples import kineto as sample

KINETO = Subject("kineto")
_KINDS = {"gpu_memcpy": "memory", "gpu_memset": "memory"}


def counted(document: dict[str, Any]) -> dict[int | None, dict[str, float]]:
    """The figures of each step and of the whole, in microseconds, by counting each microsecond of each activity. Times must be integers, after
    that of the first event. Written without the ingestor's code."""
    events = [event for event in document["traceEvents"] if event["ph"] == "X"]
    origin = events[0]["ts"]
    active = defaultdict[str, set[int]](set)
    begins, edges = [], []
    windows: dict[int | None, tuple[int, int]] = {}
    for event in events:
        start = round(event["ts"] - origin)
        end = start + round(event["dur"])
        edges += [start, end] if event["cat"] in ("kernel", *_KINDS) else []
        if event["cat"] == "user_annotation" and event["name"].startswith("ProfilerStep#"):
            windows[int(event["name"].partition("#")[2])] = start, end
        elif event["cat"] == "kernel":
            active["communication" if "nccl" in event["name"] else "compute"].update(range(start, end))
            begins.append(start)
        elif event["cat"] in _KINDS:
            active["memory"].update(range(start, end))
        elif event["name"].startswith("enumerate(DataLoader)"):
            active["dataloader"].update(range(start, end))
    busy = active["compute"] | active["communication"] | active["memory"]
    windows[None] = min(edges), max(edges)
    found: dict[int | None, dict[str, float]] = {}
    for step, (start, end) in windows.items():
        window = set(range(start, end))
        found[step] = {
            "window_s": end - start, "compute_s": len(active["compute"] & window), "communication_s": len(active["communication"] & window),
            "overlap_s": len(active["compute"] & active["communication"] & window), "memcpy_s": len(active["memory"] & window),
            "idle_s": len(window - busy), "kernel_count": sum(start <= begin < end for begin in begins),
        }
        if active["dataloader"]:
            found[step]["dataloader_s"] = len(active["dataloader"] & window)
    return found


def assert_counted(rows: list[dict[str, Any]], document: dict[str, Any]) -> None:
    expected = counted(document)
    assert {row["step"] for row in rows} == expected.keys()
    for row in rows:
        for name, value in expected[row["step"]].items():
            assert row[name] == (value if name == "kernel_count" else pytest.approx(value / 1e6, abs=1e-10)), (row["step"], name)


def test_figures_are_those_of_a_plain_count(tmp_path: Path) -> None:
    sample.write_all(tmp_path / "tree")
    rows = landed(KINETO.ingestor, tmp_path / "tree", tmp_path / "stored")
    assert codes(rows) == {}
    works = [[2000, 2200], [2100, 2000]]
    for rank, path in enumerate(["rank0.json", "rank1.json.gz"]):
        assert_counted([row for row in rows["kineto_window"] if row["raw_path"] == path], sample.trace(rank, works))
    trace = next(row for row in rows["kineto_trace"] if row["rank"] == 1)
    assert (trace["world_size"], trace["backend"], trace["gpu_model"], trace["job"]) == (2, "nccl", "NVIDIA H100 80GB HBM3", "job")
    assert (trace["started_at"].isoformat(), trace["node_name"]) == ("2026-11-20T10:00:00.250000+00:00", None)
    first = next(row for row in rows["kineto_kernel"] if row["rank"] == 0)
    assert (first["kernel"], first["kind"], first["launch_count"], first["position"]) == (sample.REDUCE, "communication", 2, 1)
    gemm = next(row for row in rows["kineto_kernel"] if row["rank"] == 0 and row["kernel"] == sample.GEMM)
    assert (gemm["kind"], gemm["launch_count"], gemm["total_s"]) == ("compute", 6, pytest.approx(3 * (191 + 201) / 1e6))
    alone = next(row for row in rows["kineto_trace"] if row["rank"] is None)
    assert (alone["node_name"], alone["job"]) == ("gpu01", "alone/gpu01_4711")


def test_intervals_of_any_shape(tmp_path: Path) -> None:
    """Kernels that touch, hold each other, have no length, and lie across the edges of steps."""
    chance = random.Random(7)
    events = [sample.event("cpu_op", "aten::add", 1000, 1)]
    events += [sample.event("user_annotation", f"ProfilerStep#{step}", 1000 + 200 * step, 200) for step in range(4)]
    for _ in range(300):
        category, name = chance.choice([("kernel", "gemm"), ("kernel", "ncclKernel_AllReduce"), ("gpu_memcpy", "Memcpy"), ("gpu_memset", "Memset")])
        events.append(sample.event(category, name, 990 + chance.randrange(900), chance.choice([0, 1, 2, 5, 40]), 0, chance.randrange(3)))
    document = {**sample.trace(0, [[1000]]), "traceEvents": events}
    sample.write(tmp_path / "tree/rank0.json", document)
    rows = KINETO.rows(tmp_path / "tree", tmp_path / "stored")
    assert_counted(rows["kineto_window"], document)


def test_real_traces_are_counted_likewise(tmp_path: Path) -> None:
    folder = unpacked_evidence("profiler")
    checked = 0
    for number, draft in enumerate(drafts(KINETO.ingestor, folder)):
        rows = KINETO.parsed(KINETO.stored(draft, tmp_path / str(number)))
        assert codes(rows) == {}
        document = json.loads(gzip.decompress(draft.files[0].file.source.read_bytes()))
        times = {type(event["ts"]) for event in document["traceEvents"] if event["ph"] == "X"}
        has_kernels = any(event.get("cat") == "kernel" for event in document["traceEvents"])
        if times == {int} and has_kernels:  # as old versions write them
            assert_counted(rows["kineto_window"], document)
            checked += 1
    assert number == 9 and checked >= 4


def test_a_trace_without_gpu_activity_has_no_figures_of_it(tmp_path: Path) -> None:
    document = sample.trace(0, [[1000]])
    document["traceEvents"] = [event for event in document["traceEvents"] if event.get("cat") in ("user_annotation", "cpu_op")]
    sample.write(tmp_path / "tree/rank0.json", document)
    rows = KINETO.rows(tmp_path / "tree", tmp_path / "stored")
    step = next(row for row in rows["kineto_window"] if row["step"] == 10)
    assert step["window_s"] == pytest.approx(1400e-6) and step["dataloader_s"] == pytest.approx(25e-6)
    figures = ("compute_s", "communication_s", "overlap_s", "memcpy_s", "idle_s", "kernel_count")
    assert [row[name] for row in rows["kineto_window"] for name in figures] == [None] * 12


@pytest.mark.parametrize(("category", "name", "column"), [
    ("mtia_ccp_events", "fused_mlp", "compute_s"), ("Kernel", "gemm", "compute_s"), ("Memcpy", "Memcpy HtoD", "memcpy_s"),
    ("kernel", "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "communication_s"),
    ("kernel", "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(...)", "communication_s"),
    ("kernel", "Cijk_Alik_Bljk_SB_Bias_AS_SAV", "compute_s"), ("gpu_user_annotation", "nccl:all_reduce", None),
])
def test_what_counts_as_activity(tmp_path: Path, category: str, name: str, column: str | None) -> None:
    document = sample.trace(0, [[1000]])
    document["traceEvents"] = [sample.event("gpu_memset", "Memset (Device)", 5, 3), sample.event(category, name, 100, 70)]
    sample.write(tmp_path / "tree/rank0.json", document)
    (row,) = KINETO.rows(tmp_path / "tree", tmp_path / "stored")["kineto_window"]
    expected = {"compute_s": 0, "communication_s": 0, "memcpy_s": 3e-6}
    if column:
        expected[column] += 70e-6
    assert {key: row[key] for key in expected} == pytest.approx(expected)


def test_an_unknown_category_is_reported(tmp_path: Path) -> None:
    document = sample.trace(0, [[1000]])
    document["traceEvents"].append(sample.event("npu_kernel", "gemm", 5, 3))
    sample.write(tmp_path / "tree/rank0.json", document)
    assert codes(KINETO.rows(tmp_path / "tree", tmp_path / "stored")) == {"unknown-category": 1}


def test_the_path_names_the_rank(tmp_path: Path) -> None:
    sample.write(tmp_path / "tree/job/rank_5/trace.json", sample.trace(1, [[1000, 1000]]))
    sample.write(tmp_path / "tree/job/rank0_trace.json", sample.trace(0, [[1000, 1000]]))
    sample.write(tmp_path / "tree/job/worker.json", sample.trace(1, [[1000, 1000]]))
    (draft,) = KINETO.drafts(tmp_path / "tree")
    assert [file.raw_path for file in draft.files] == ["rank0_trace.json", "rank_5/trace.json", "worker.json"]
    rows = KINETO.parsed(KINETO.stored(draft, tmp_path / "stored"))
    assert {row["raw_path"]: (row["rank"], row["stated_rank"]) for row in rows["kineto_trace"]} == {
        "rank0_trace.json": (0, 0), "rank_5/trace.json": (5, 1), "worker.json": (1, 1),
    }
    assert codes(rows) == {"identity-mismatch": 1}


def test_jobs_are_told_apart(tmp_path: Path) -> None:
    """By folder and world size; a trace without a rank is a run of its own. Traces of other tools are left alone."""
    sample.write_job(tmp_path / "tree/a", [[1000, 1000, 1000]])
    sample.write(tmp_path / "tree/a/rank7.json", sample.trace(1, [[1000, 1000]]))
    for name in ("one", "two"):
        sample.write(tmp_path / f"tree/b/{name}.json", sample.trace(0, [[1000]], top={"distributedInfo": {"backend": "nccl"}}))
    (tmp_path / "tree/chrome.json").write_text('{"traceEvents": [{"ph": "X", "cat": "blink", "name": "paint", "ts": 1, "dur": 2}]}')
    (tmp_path / "tree/text.json.gz").write_bytes(b"no gzip")
    found = drafts(KINETO.ingestor, tmp_path / "tree")
    assert sorted((draft.identity["job"], len(draft.files)) for draft in found) == [("a", 1), ("a", 3), ("b/one", 1), ("b/two", 1)]


@pytest.mark.parametrize("is_packed", [True, False])
def test_nothing_is_computed_from_a_trace_that_breaks_off(tmp_path: Path, is_packed: bool) -> None:
    path = tmp_path / ("tree/rank0.json.gz" if is_packed else "tree/rank0.json")
    sample.write(path, sample.trace(0, [[1000], [1000]]))
    path.write_bytes(path.read_bytes()[:-200])
    rows = KINETO.rows(tmp_path / "tree", tmp_path / "stored")
    assert ("malformed-gzip" if is_packed else "malformed-json") in codes(rows)
    (trace,) = rows["kineto_trace"]
    assert (trace["is_whole"], trace["rank"], rows["kineto_window"], rows["kineto_kernel"]) == (False, 0, [], [])


def test_a_gzip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    text = json.dumps(sample.trace(0, [[1000]])).encode()
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/rank0.json.gz").write_bytes(gzip.compress(text + b" " * (80 << 20), 9))
    rows = KINETO.rows(tmp_path / "tree", tmp_path / "stored")
    assert codes(rows) == {"malformed-gzip": 1} and rows["kineto_window"] == []
    # Several members, and zeros that fill the last block, are lawful.
    sample.write(tmp_path / "lawful/rank0.json", sample.trace(0, [[1000]]))
    text = (tmp_path / "lawful/rank0.json").read_bytes()
    (tmp_path / "lawful/rank0.json").unlink()
    (tmp_path / "lawful/rank0.json.gz").write_bytes(gzip.compress(text[:900]) + gzip.compress(text[900:]) + bytes(512))
    rows = KINETO.rows(tmp_path / "lawful", tmp_path / "stored2")
    assert codes(rows) == {} and len(rows["kineto_window"]) == 2


def test_events_that_cannot_be_are_left_out(tmp_path: Path) -> None:
    document = sample.trace(0, [[1000]])
    whole = counted(document)[10]
    document["traceEvents"] += [
        sample.event("kernel", "gemm", 5e5, -3.0), sample.event("kernel", "gemm", 5e5, 0) | {"dur": None}, {"ph": "X", "ts": 1, "dur": 2}, 17,
    ]
    sample.write(tmp_path / "tree/rank0.json", document)
    rows = KINETO.rows(tmp_path / "tree", tmp_path / "stored")
    assert codes(rows) == {"impossible-time": 1, "missing-time": 1, "missing-key": 1, "not-an-object": 1}
    step = next(row for row in rows["kineto_window"] if row["step"] == 10)
    assert step["compute_s"] == pytest.approx(whole["compute_s"] / 1e6)


def test_times_without_their_base_are_no_dates(tmp_path: Path) -> None:
    for name, top in {"relative": {}, "epoch": {}}.items():
        document = sample.trace(0, [[1000]])
        del document["baseTimeNanoseconds"]
        if name == "epoch":
            for event in document["traceEvents"]:
                event["ts"] = int(event["ts"]) + sample.BASE_NS // 1000
        sample.write(tmp_path / name / "rank0.json", {**document, **top})
    rows = KINETO.rows(tmp_path / "relative", tmp_path / "stored")
    assert codes(rows) == {"unknown-epoch": 1}
    assert {row["started_at"] for row in rows["kineto_window"] + rows["kineto_trace"]} == {None}
    assert rows["kineto_window"][1]["window_s"] == pytest.approx(1400e-6)
    rows = KINETO.rows(tmp_path / "epoch", tmp_path / "stored2")
    assert codes(rows) == {} and rows["kineto_trace"][0]["started_at"].isoformat() == "2026-11-20T10:00:00.250000+00:00"


@pytest.mark.exhaustive
def test_a_large_trace_is_read_in_bounded_memory(tmp_path: Path) -> None:
    """Some 25 MB, as packed as real ones."""
    import tracemalloc

    works = [[20_000]] * 8000
    text = json.dumps(sample.trace(0, works)).encode()
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/rank0.json.gz").write_bytes(gzip.compress(text))
    size = len(text)
    del text
    (draft,) = KINETO.drafts(tmp_path / "tree")
    bundle = KINETO.stored(draft, tmp_path / "stored")
    tracemalloc.start()
    rows = sum(batch.num_rows for table, batch in KINETO.ingestor.parse(bundle) if table == "kineto_window")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows == 8001
    assert size > 20 << 20 and peak < 70 << 20
