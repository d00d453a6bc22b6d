"""Names of series for people."""

from __future__ import annotations

from pathlib import Path

from samples.measured import measured_project

from warehouse.analysis.labels import Label, labels
from warehouse.analysis.measurements import measured
from warehouse.project.making import init_project
from warehouse.project.project import Project, standard_folder
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build

_MEASUREMENT = """
/*
role: measurements
grain: [run_id, indicator, metric, point]
*/
select
    concat_ws(' ', indicator, metric, point, workload, parameters, hardware) as series_key, series_key as run_id, indicator, metric,
    point, 1.0::double as value, unit, 'lower' as better, 's' as session, 'case' as benchmark_case_id, workload, parameters, hardware,
    't' as testbed, 'c' as comparable_key
from (
    values
{rows}
) as series (indicator, metric, point, unit, workload, parameters, hardware)
"""
_WORKLOAD = "select * from (values ('w', 'meta-llama/Llama-3.3-70B'), ('cached', '/c/models--m--Small-7B/snapshots/0af1/')) as w (workload_spec_digest, model)"
_HARDWARE = """
select * from (
    values ('h', 'H100', 'H100 SXM 80GB', 'NVIDIA H100 80GB HBM3', 8), ('p', 'H100', 'H100 PCIe 80GB', 'NVIDIA H100 PCIe', 8), ('new', null, null, 'X9', null)
) as h (hardware_topology_key, accelerator_family, accelerator_name, gpu_model, gpu_count)
"""


def _project(root: Path, series: list[tuple[str | None, ...]]) -> Project:
    """A project with the standard definitions of metrics, and with small dimensions."""
    project = init_project(root, bare=True)
    rows = ",\n".join("(" + ", ".join("null" if each is None else f"'{each}'" for each in row) + ")" for row in series)
    folder = root / "models" / "dims"
    folder.mkdir(parents=True)
    (root / "models" / "measurement.sql").write_text(_MEASUREMENT.replace("{rows}", rows))
    (folder / "workload_dim.sql").write_text(_WORKLOAD)
    (folder / "hardware_topology_dim.sql").write_text(_HARDWARE)
    (folder / "metric_definition_dim.sql").write_text((standard_folder() / "models/dims/metric_definition_dim.sql").read_text())
    build(project)
    return project


def _labels(project: Project) -> list[Label]:
    with measured(current_build(project)) as found:
        return list(labels(found).values())


def test_a_label_is_metric_model_gpu_and_load(tmp_path: Path) -> None:
    series = {
        ("serving", "ttft_p50_ms", "all concurrency 64", "ms", "w", None, "h"): "TTFT, median · Llama-3.3-70B · 8×H100 · 64 in flight",
        ("serving", "ttft_p99_ms", "isl8192/osl128 concurrency 4", "ms", "w", None, "h"): "TTFT, p99 · Llama-3.3-70B · 8×H100 · 8k in / 128 out · 4 in flight",
        ("serving", "e2e_mean_ms", "Server rate 1.50", "ms", "cached", None, "new"): "End-to-end latency, mean · Small-7B · X9 · Server · 1.5 requests/s",
        ("training", "step_time_p99_s", "train nodes 1 accelerators 8", "s", None, None, "h"): "Step time, p99 · case · 8×H100 · train · 1 node",
        ("nccl", "avg_bus_bandwidth_gb_per_s", "all_reduce message 8388608 ranks 16", "GB/s", None, None, None):
            "Bus bandwidth, mean · case · all_reduce · 8 MiB messages · 16 ranks",
        ("mine", "rate", "part 2", None, None, None, None): "rate · case · part 2",
    }
    found = _labels(_project(tmp_path / "project", list(series)))
    assert sorted(map(str, found)) == sorted(series.values())
    (ttft,) = (each for each in found if each.metric == "TTFT, median")
    assert (ttft.metric, ttft.unit, ttft.subject, ttft.gpu, ttft.load) == ("TTFT, median", "ms", "Llama-3.3-70B", "8×H100", "64 in flight")


def test_series_of_one_name_are_told_apart_by_what_differs(tmp_path: Path) -> None:
    common = "serving", "request_throughput_per_s", "all concurrency 8", "1/s", "w"
    found = _labels(_project(tmp_path / "project", [
        (*common, "precision=fp8, tensor_parallel_size=4", "h"), (*common, "precision=fp8, tensor_parallel_size=8", "h"),
        (*common, "precision=fp8, tensor_parallel_size=8", "p"),
    ]))
    assert {each.apart for each in found} == {
        "H100 SXM 80GB, tensor parallel size 4", "H100 SXM 80GB, tensor parallel size 8", "H100 PCIe 80GB, tensor parallel size 8",
    }
    assert {each.unit for each in found} == {"requests/s"}


def test_a_project_without_definitions_and_dimensions_has_the_column_and_the_case(tmp_path: Path) -> None:
    row = {"run_id": "r", "series": "a", "value": 1, "session": "s", "started_at": "2026-01-01", "software": "1", "script": "s"}
    assert list(map(str, _labels(measured_project(tmp_path / "project", [row])))) == ["elapsed_ms · a"]


def test_no_point_is_too_odd_for_a_label(tmp_path: Path) -> None:
    huge = "9" * 5000
    series = {
        ("fabric", "busbw", "all_reduce message 1e6"): "busbw · case · all_reduce · 1e6 B messages",
        ("fabric", "busbw", "all_reduce message 1.5"): "busbw · case · all_reduce · 1.5 B messages",
        ("fabric", "busbw", "all_reduce message 2097152"): "busbw · case · all_reduce · 2 MiB messages",
        ("fabric", "busbw", "message 1e999"): "busbw · case · 1e999 B messages",
        ("fabric", "busbw", f"message {huge}"): f"busbw · case · {huge} B messages",
        ("serving", "x", "all rate 1e999"): "x · case · 1e999 requests/s",
        ("fabric", "busbw", None): "busbw · case",
    }
    project = _project(tmp_path, [(*each, "GB/s", None, None, None) for each in series])
    assert sorted(map(str, _labels(project))) == sorted(series.values())
