"""Cluster runs of ai-performance-engineering: their layouts, what becomes a run of them, and the states of what their manifests list."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from built import Sql, built, sql_of
from exhaustive import few
from samples import aisp_cluster as sample
from standard import standard_project

from warehouse.digest import bytes_digest
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import Bundle, BundleDraft
from warehouse.landing.ingest import plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.making import init_project
from warehouse.project.project import Project

RUN = sample.RUN
Several = Callable[[str, str], list[tuple]]  # of a cluster run by its name, the rows of a query


def of(folder: Path) -> Sql:
    return sql_of(built(folder / "tree", standard_project(folder / "project")))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Sql:
    folder = tmp_path_factory.mktemp("whole")
    sample.write(folder / "tree", sample.documents())
    return of(folder)


def families(tree: Path, project: Project) -> list[tuple[str, list[str]]]:
    drafts = plan_ingest(tree, load_ingestors(project).values()).drafts
    return [(family, sorted(file.raw_path for file in draft.files)) for family, draft in drafts]


UNIT_CONTRADICTED = (
    "unit-contradicted", "sum_entries/host_device_latency_sm/sum_gbps: nvbandwidth measures latencies in ns, so this is not a rate"
)


def test_a_cluster_run_is_one_bundle_and_its_tests_are_runs(whole: Sql) -> None:
    assert whole("select family, count(distinct artifact_manifest_digest) from raw_artifact group by all") == [("aisp_cluster", 1)]
    assert [run.removeprefix(f"{RUN}/") for (run,) in whole("select run_id from benchmark_run_fact order by all")] == [
        "2nodes_nccl", "allreduce_stability", "c2c_memcpy/alpha", "fio/alpha", "gemm_gpu_sanity/alpha/gpu0", "gemm_gpu_sanity/alpha/gpu1",
        "health_suite_extended_nccl_all_reduce_perf", "iperf3_oob_tcp", "mamf/alpha/gpu0", "multinode_torchrun_train_step/alpha", "nccl/alpha",
        "node_parity_summary", "nvbandwidth/alpha", "vllm_multinode_serve/alpha", "vllm_serve_request_rate_sweep/alpha", "vllm_serve_sweep/alpha",
    ]
    assert whole("select code, message from ingest_issue where code <> 'missing-raw'") == [UNIT_CONTRADICTED]


def flat(folder: Path) -> None:
    sample.write(folder / "tree", sample.documents(), flat=True)


def alone(folder: Path) -> None:
    sample.write(folder / "made", sample.documents(), flat=True).rename(folder / "tree")


def published(folder: Path) -> None:
    home = sample.write(folder / "made", sample.documents()).parent
    (folder / "tree/published").mkdir(parents=True)
    home.rename(folder / "tree/published/current")


@pytest.mark.parametrize("written", few([flat, alone, published], 1))
def test_the_layouts_say_the_same(written: Callable[[Path], None], whole: Sql, tmp_path: Path) -> None:
    """A folder of the run, files side by side, those files alone, and the copy that is published."""
    written(tmp_path)
    other = of(tmp_path)
    columns = "run_id, benchmark_case_id, status, started_at, node_name, gpu_uuid, workload_spec_digest, raw_folder"
    table = f"select {columns} from benchmark_run_fact order by all"
    assert whole(table) and other(table) == whole(table)
    if written is flat:
        table = "select * exclude (artifact_manifest_digest) from fabric_outcome_fact order by all"
        assert whole(table) and other(table) == whole(table)
        assert other("select state, count(*) from aisp_manifest_file group by all order by all") == [("missing raw", 1), ("present", 22), ("self", 1)]


def test_other_families_make_no_runs_of_its_files(tmp_path: Path) -> None:
    """Without manifest and steps they do: the files are in the formats of nccl-tests, fio, nvbandwidth and vLLM."""
    structured = sample.write(tmp_path / "tree", sample.documents())
    project = standard_project(tmp_path / "project")
    assert {family for family, _ in families(tmp_path / "tree", project)} == {"aisp_cluster"}
    chosen = plan_ingest(tmp_path / "tree", load_ingestors(project).values(), preferred="fabric_check").recognised
    assert "fabric_check" in {family for family, _ in chosen}
    (structured.parent / "manifest.json").unlink()
    assert {family for family, _ in families(tmp_path / "tree", project)} == {"aisp_cluster"}  # the run was interrupted
    (structured / f"{RUN}_suite_steps.json").unlink()
    assert {family for family, _ in families(tmp_path / "tree", project)} >= {"fabric_check", "bench_serving"}


def test_series_of_samples_among_its_raw_files_stay_open_to_others(tmp_path: Path) -> None:
    home = sample.write(tmp_path / "tree", sample.documents()).parent
    (home / "raw/sweep").mkdir(parents=True)
    for name in ("conc4_telemetry.jsonl", "conc4.json"):
        (home / "raw/sweep" / name).write_text("{}")
    (draft,) = (draft for _, draft in plan_ingest(tmp_path / "tree", load_ingestors(standard_project(tmp_path / "project")).values()).drafts)
    assert {file.raw_path: file.is_sole for file in draft.files if file.raw_path.startswith("raw/")} == {
        "raw/sweep/conc4.json": True, "raw/sweep/conc4_telemetry.jsonl": False,
    }


def test_two_runs_side_by_side_share_no_file(tmp_path: Path) -> None:
    for run in (RUN, f"{RUN}_again"):
        sample.write(tmp_path / "tree", {name: sample.documents()[name] for name in ("alpha_fio.json", "suite_steps.json")}, flat=True, run=run)
    found = families(tmp_path / "tree", standard_project(tmp_path / "project"))
    assert [(family, len(paths)) for family, paths in found] == [("aisp_cluster", 3), ("aisp_cluster", 3)]
    assert not {path for _, paths in found[:1] for path in paths} & {path for _, paths in found[1:] for path in paths}


def test_status_and_times_are_of_the_step_that_ran_it(whole: Sql) -> None:
    def run(test: str) -> tuple:
        (row,) = whole(f"select status, status_reason, started_at, ended_at, is_zone_assumed from benchmark_run_fact where run_id = '{RUN}/{test}'")
        return row

    def at(minute: int, second: int) -> datetime:
        return datetime(2031, 5, 6, 7, minute, second, tzinfo=UTC)

    assert run("nccl/alpha") == ("succeeded", None, at(1, 0), at(1, 12), False)
    assert run("2nodes_nccl") == ("succeeded", None, at(1, 12), at(1, 28), False)
    assert run("iperf3_oob_tcp")[2:4] == (at(1, 30), at(2, 30))  # a step of the health suite, which its document names
    assert run("gemm_gpu_sanity/alpha/gpu1")[:2] == ("failed", "suite step gemm_sanity: exit code 1")
    assert run("vllm_multinode_serve/alpha")[2] == at(4, 30)
    assert run("node_parity_summary") == ("unknown", None, None, None, None)  # no step that measures made it


def bits(run: str) -> dict[str, Any]:
    """Rates in gigabits, which the key calls gigabytes."""
    document = sample.collective(f"{run}_2nodes")
    for row in document["results"]:
        row |= {"algbw_gbps": row["algbw_gbps"] * 8, "busbw_gbps": row["busbw_gbps"] * 8}
    return document


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Several:
    """Cluster runs in one store: asked for one by its name, with a query in which {its} is the condition for its runs."""
    folder = tmp_path_factory.mktemp("several")
    made, lines = sample.documents(), [sample.point(load, p99_ttft_ms=repeat) for repeat in (400.5, 500.5) for load in (4, 8)]
    header, first, _ = sample.GEMM.splitlines()
    documents = {
        "late": {
            "alpha_multinode_torchrun_train_step.json": made["alpha_multinode_torchrun_train_step.json"] | {"timestamp": "2031-05-06T09:00:00+0000"},
            "suite_steps.json": sample.STEPS,
        },
        "attempts": {
            "alpha_fio.json": made["alpha_fio.json"],
            "suite_steps.json": [sample.step("fio_all_nodes", 10, 5, "x", 1), sample.step("fio_all_nodes", 20, 5, "x")],
        },
        "failed": {
            "alpha_vllm_multinode_serve.json": made["alpha_vllm_multinode_serve.json"] | {"status": "error", "failure_reason": "server not ready", "metrics": {}},
            "suite_steps.json": sample.STEPS,
        },
        "repeats": {"alpha_vllm_serve_sweep.jsonl": "".join(json.dumps(line) + "\n" for line in lines)},
        "bits": {"2nodes_nccl.json": bits(f"{RUN}_bits")},
        "appended": {"alpha_gemm_gpu_sanity.csv": "\n".join([header, first, header, first.replace("1099.5", "1200.5")]) + "\n"},
    }
    for name, texts in documents.items():
        sample.write(folder / "tree", texts, run=f"{RUN}_{name}")
    sql = of(folder)
    return lambda name, query: sql(query.format(its=f"starts_with(run_id, '{RUN}_{name}/')"))


def test_a_step_of_another_time_is_not_its_own(several: Several) -> None:
    assert several("late", "select status, started_at from benchmark_run_fact where {its}") == [("unknown", None)]


def test_the_last_of_several_attempts_counts(several: Several) -> None:
    assert several("attempts", "select status, second(started_at) from benchmark_run_fact where {its}") == [("succeeded", 20)]


def test_a_document_that_failed_is_a_failed_run(several: Several) -> None:
    assert several("failed", "select status, status_reason from benchmark_run_fact where {its}") == [("failed", "server not ready")]
    assert several("failed", "select concurrency_point, completed_count, ttft_p99_ms from serving_outcome_fact where {its}") == [(16, None, None)]


def test_points_of_sweeps(whole: Sql) -> None:
    columns = "concurrency_point, request_rate_per_s, deployment_model, completed_count, failed_count, ttft_p99_ms, total_token_throughput_per_s"
    assert whole(f"select {columns} from serving_outcome_fact order by all") == [
        (4, None, "TP2", 40, 1, 484.5, 2010.0), (8, None, "TP2", 80, 1, 488.5, 4020.0), (16, None, "TP4", 160, 0, 1260.25, 16679.5),
        (None, 2.5, "TP2", 99, 1, 133.125, 1568.0), (None, 5.0, "TP2", 98, 2, 163.125, 3120.0),
    ]
    assert whole(
        "select key, value_number from performance_indicator_fact where indicator like 'vllm%' and key like '%\\_\\_gpu\\_memory%mean%' escape '\\' order by all"
    ) == [
        ("concurrency_4__gpu_memory_used_mean_mib", 1699.25), ("concurrency_64__rate_2.5__gpu_memory_used_mean_mib", 1699.25),
        ("concurrency_64__rate_5.0__gpu_memory_used_mean_mib", 1699.25), ("concurrency_8__gpu_memory_used_mean_mib", 1699.25),
    ]


def test_a_sweep_of_repeats_is_a_run_each(several: Several) -> None:
    runs = f"{RUN}_repeats/vllm_serve_sweep/alpha"
    assert several("repeats", """
        select run_id, repeat_index, concurrency_point, ttft_p99_ms from serving_outcome_fact inner join benchmark_run_fact using (run_id)
        where {its} order by all
    """) == [(f"{runs}/r1", 1, 4, 400.5), (f"{runs}/r1", 1, 8, 400.5), (f"{runs}/r2", 2, 4, 500.5), (f"{runs}/r2", 2, 8, 500.5)]


def test_rates_of_collectives_are_gigabytes(whole: Sql) -> None:
    assert whole(
        "select message_bytes, bus_bandwidth_gb_per_s, redop, root, nodes, rank_count from fabric_outcome_fact inner join benchmark_run_fact using (run_id) "
        "where benchmark_case_id = 'aisp_cluster/2nodes_nccl' and scope = 'point' order by all"
    ) == [(1 << 20, 120.5, "sum", None, "alpha,beta", 4), (2 << 20, 411.25, "sum", None, "alpha,beta", 4)]
    assert whole("select nodes from fabric_outcome_fact inner join benchmark_run_fact using (run_id) where benchmark_case_id = 'aisp_cluster/nccl' and scope = 'test'") == [("alpha",)]


def test_rates_in_bits_are_no_gigabytes(several: Several) -> None:
    assert several("bits", "select distinct bus_bandwidth_gb_per_s, peak_bus_bandwidth_gb_per_s from fabric_outcome_fact where {its}") == [(None, None)]
    sql = "select distinct code, severity from ingest_issue where severity <> 'note' and raw_path like '%_bits_%'"
    assert several("bits", sql) == [("unit-contradicted", "error")]


def test_copies_and_jobs_in_their_units(whole: Sql) -> None:
    assert whole(
        "select tool, test, direction, status, bandwidth_gb_per_s, io_per_s, latency_p99_us from fabric_outcome_fact "
        "where tool in ('fio', 'iperf3', 'nvbandwidth') order by all"
    ) == [
        ("fio", "rand_read", "read", "measured", pytest.approx(169.25 * 1048576 / 1e9), 43328.5, None),
        ("fio", "seq_write", "write", "measured", pytest.approx(714.5 * 1048576 / 1e9), 714.5, 2500.0),
        ("iperf3", "fwd", "sent", "measured", 0.955, None, None), ("iperf3", "rev", "received", "measured", 0.93, None, None),
        ("nvbandwidth", "host_device_latency_sm", None, "unknown", None, None, None),  # in ns, whatever the key says
        ("nvbandwidth", "host_to_device_memcpy_ce", None, "measured", 845.5, None, None),
    ]


def test_training_steps(whole: Sql) -> None:
    assert whole("select node_count, accelerator_count, step_count, step_time_mean_s, step_time_p99_s, tokens_per_s from training_outcome_fact") == [
        (2, 4, 3, 0.156, 0.16, 210111.5)
    ]
    assert whole("select position, covers, step_time_s from step_fact order by all") == [(1, "step", 0.154), (2, "step", 0.155), (3, "step", 0.159)]


def test_keys_end_in_the_unit_that_the_suites_scripts_compute(whole: Sql) -> None:
    assert whole("select indicator, key, value_number, measured.unit from performance_indicator_fact left join (select distinct metric as key, unit from measurement) as measured using (key) "
                 "where kind = 'result' and indicator in ('allreduce_stability', 'c2c_memcpy', 'mamf', 'node_parity_summary') and key not like '%\\_ms' escape '\\' order by all") == [
        ("allreduce_stability", "summary__busbw_cv_pct", 2.189, "%"), ("allreduce_stability", "summary__busbw_median_gb_per_s", 811.25, "GB/s"),
        ("c2c_memcpy", "records__bw_h2d_pinned_4194304__bw_gbps", 115.5, None),  # no script that can be read says which
        ("c2c_memcpy", "records__lat_h2d_pinned_4__lat_us", 2.25, "us"), ("mamf", "mamf_tflop_per_s", 918.6, "Tflop/s"),
        *(("mamf", f"shapes__{shape}__{statistic}_tflop_per_s", value, "Tflop/s") for shape, statistic, value in (
            ("2304_4096_4096_bf16", "max", 918.6), ("2304_4096_4096_bf16", "mean", 880.75), ("2304_4096_4096_bf16", "median", 887.55),
            ("256_4096_4096_bf16", "max", 223.88), ("256_4096_4096_bf16", "mean", 194.65), ("256_4096_4096_bf16", "median", 204.45),
        )),
        ("node_parity_summary", "nodes__alpha__fio_seq_read_mib_per_s", 1389.5, "MiB/s"),
        ("node_parity_summary", "nodes__alpha__numa_local_bw_gb_per_s", 136.5, "GB/s"),
    ]


def test_hardware_and_software_of_its_nodes(whole: Sql) -> None:
    assert whole(
        "select distinct benchmark_case_id, node_count, gpu_model, gpu_count, gpus_per_node, nvlink_topology, cpu_model, cpu_cores_per_socket, host_memory, network_fabric "
        "from benchmark_run_fact inner join hardware_topology_dim using (hardware_topology_key) where benchmark_case_id like '%nccl' or benchmark_case_id like '%gemm%' order by all"
    ) == [
        ("aisp_cluster/2nodes_nccl", 2, "Acme X1", 4, 2, "NV18", "Acme-V2", 72, "1.7Ti", "InfiniBand 400 Gbit/s"),
        ("aisp_cluster/gemm_gpu_sanity", 1, "Acme X1", 1, 2, "NV18", "Acme-V2", 72, "1.7Ti", "InfiniBand 400 Gbit/s"),
        ("aisp_cluster/nccl", 1, "Acme X1", 4, 2, "NV18", "Acme-V2", 72, "1.7Ti", "InfiniBand 400 Gbit/s"),
    ]
    suite = f"ai-performance-engineering {'c' * 40}-dirty"
    assert whole("select gpu_uuid from benchmark_run_fact where gpu_uuid is not null order by all") == [("GPU-a0",), ("GPU-a0",), ("GPU-a1",)]
    assert whole(
        "select image_digest, runtime_version, nccl_version, framework, framework_version, operating_system from benchmark_run_fact "
        "inner join software_version_dim using (software_version_key) where run_id like '%stability' or run_id like '%serve/alpha' order by all"
    ) == [
        ("sha256:23ab", suite, None, "vllm", None, "Ubuntu 24.04.3 LTS"), (None, suite, "2.29.2", "pytorch", "2.10.0", "Ubuntu 24.04.3 LTS"),
    ]
    assert whole("select distinct cluster from cluster_region_dim") == [("alpha,beta",)]


def test_nodes_have_the_suites_labels_whatever_documents_call_them(tmp_path: Path) -> None:
    """The manifest names their hosts, and what a node printed its hostname."""
    documents = {
        "2nodes_nccl.json": sample.collective(f"{RUN}_2nodes", hosts=["10.0.0.1", "beta.example"]), "allreduce_stability.json": sample.stability() | {
            "app_clocks": [{"rank": 0, "hostname": "alpha.example", "physical_device": 0, "app_sm_mhz": 2062, "app_mem_mhz": 3996}],
        },
    }
    for node in sample.NODES:
        described = sample.meta(node)
        described["commands"]["hostname"] = {"cmd": "hostname", "rc": 0, "stderr": "", "stdout": f"{node}.example\n"}
        documents[f"{node}_meta.json"] = described
    home = sample.write(tmp_path / "tree", documents).parent
    (home / "manifest.json").write_text((home / "manifest.json").read_text().replace('"host": "alpha"', '"host": "10.0.0.1"'))
    assert of(tmp_path)("select benchmark_case_id, nodes, hardware_topology_dim.gpu_model from benchmark_run_fact left join fabric_outcome_fact using (run_id) "
                        "inner join hardware_topology_dim using (hardware_topology_key) where coalesce(scope, 'test') = 'test' order by all") == [
        ("aisp_cluster/2nodes_nccl", "alpha,beta", "Acme X1"), ("aisp_cluster/allreduce_stability", None, "Acme X1"),
    ]


def test_clocks_belong_to_the_run_that_they_held_in(whole: Sql) -> None:
    assert whole(
        f"select replace(run_id, '{RUN}/', ''), node, gpu, rank_id, is_locked, application_sm_mhz, exit_code from aisp_gpu_clock "
        "where rank_id is null or run_id like '%stability' order by all"
    ) == [
        ("allreduce_stability", "alpha", 0, 0, None, 2062.0, None), ("gemm_gpu_sanity/alpha/gpu0", "alpha", 0, None, True, 2062.0, 0),
        ("vllm_multinode_serve/alpha", "beta", 0, None, True, 2062.0, 0), ("vllm_multinode_serve/alpha", "beta", 1, None, True, 2062.0, 0),
        ("vllm_serve_sweep/alpha", "alpha", 0, None, True, 2062.0, 0), ("vllm_serve_sweep/alpha", "alpha", 1, None, True, 2062.0, 0),
    ]
    assert whole(f"select name, value_number from run_condition where run_id = '{RUN}/2nodes_nccl' and name like 'clock%' order by all") == [
        ("clock__application_memory_mhz", 3996.0), ("clock__application_sm_mhz", 2062.0), ("clock__current_sm_max_mhz", 1953.0),
        ("clock__current_sm_min_mhz", 1950.0), ("clock__is_locked", 1.0),
    ]


def test_states_of_listed_files(tmp_path: Path) -> None:
    structured = sample.write(tmp_path / "tree", sample.documents())
    steps = structured / f"{RUN}_suite_steps.json"
    steps.write_text(steps.read_text().replace("\n", "\n "))
    sql = of(tmp_path)
    assert sql("select path, state from aisp_manifest_file where state <> 'present' order by all") == [
        (f"raw/{RUN}_nccl.log", "missing raw"), (f"structured/{RUN}_suite_steps.json", "differs"),
    ]
    assert sql("select severity, code, message from ingest_issue") == [
        ("note", "missing-raw", "1 of 23 listed files are not in the bundle: aisp_manifest_file lists them"), ("error", *UNIT_CONTRADICTED),
    ]


def landed(tree: Path) -> tuple[dict[str, list[dict[str, Any]]], Path]:
    """The landing rows of the one cluster run in a folder, and the run's own folder."""
    ingestor = load_ingestors(init_project(tree.parent / "bare"))["aisp_cluster"]
    (draft,) = (found for found in ingestor.bundles(list_tree(tree)) if isinstance(found, BundleDraft))
    files = {file.raw_path: file.file.source for file in draft.files}
    listed = (ManifestFile(file.raw_path, file.file.bytes, bytes_digest(files[file.raw_path].read_bytes()), None, file.role) for file in draft.files)
    manifest = Manifest("aisp_cluster", tuple(listed), draft.identity, {})
    rows = defaultdict[str, list[dict[str, Any]]](list)
    for table, batch in ingestor.parse(Bundle(manifest.digest, manifest, lambda file: files[file.raw_path])):
        rows[table] += batch.to_pylist()
    return rows, next(path for raw_path, path in files.items() if raw_path == "manifest.json").parent


def test_every_row_states_its_bytes(tmp_path: Path) -> None:
    sample.write(tmp_path / "tree", sample.documents())
    rows, home = landed(tmp_path / "tree")

    def stated(row: dict[str, Any]) -> str:
        return (home / row["raw_path"]).read_bytes()[row["raw_offset"] : row["raw_offset"] + row["raw_length"]].decode()

    for row in rows["aisp_entry"]:
        assert row["value_number"] is None or str(row["value"]) in stated(row)
    points = [json.loads(stated(row)) for row in rows["aisp_collective_point"]]
    assert [(point["size_bytes"], point["busbw_gbps"]) for point in points] == [
        (row["message_bytes"], row["bus_bandwidth_gb_per_s"]) for row in rows["aisp_collective_point"]
    ]
    assert [json.loads(stated(row)) for row in rows["aisp_train_step"]] == [row["step_time_s"] for row in rows["aisp_train_step"]]
    assert [json.loads(stated(row)) for row in rows["aisp_suite_step"]] == sample.STEPS
    assert all(row["path"] in stated(row) for row in rows["aisp_manifest_entry"])
    assert all(f'"{row["name"]}"' in stated(row) for row in rows["aisp_command"])


def test_steps_keep_their_windows_and_what_they_were_told(tmp_path: Path) -> None:
    sample.write(tmp_path / "tree", sample.documents())
    rows, _ = landed(tmp_path / "tree")
    first = rows["aisp_suite_step"][0]
    assert {name: first[name] for name in ("step_index", "name", "started_text", "ended_at", "exit_code", "command")} == {
        "step_index": 1, "name": "nccl_single_node", "started_text": "2031-05-06T07:01:00+00:00",
        "ended_at": datetime(2031, 5, 6, 7, 1, 12, tzinfo=UTC), "exit_code": 0, "command": sample.STEPS[0]["command"],
    }
    (run,) = rows["aisp_manifest"]
    assert (run["manifest_version"], run["status"], run["is_success"], run["git_commit"], run["is_git_dirty"], run["is_finalized"], run["issues"]) == (
        2, "failed", False, "c" * 40, True, True, '["1 suite step(s) failed"]'
    )


def test_the_environment_of_a_node_does_not_land(tmp_path: Path) -> None:
    sample.write(tmp_path / "tree", sample.documents())
    rows, _ = landed(tmp_path / "tree")
    assert "hf_secret" not in str(dict(rows)) and len(rows["aisp_command"]) == 18


def test_bad_values_are_reported_and_the_rest_stays(tmp_path: Path) -> None:
    documents = {
        "2nodes_nccl.json": json.dumps(sample.collective(f"{RUN}_2nodes")).replace("411.25", '"fast"'),
        "alpha_gemm_gpu_sanity.csv": sample.GEMM.replace("1099.5", "high") + "alpha_gpu2,1,2\n",
        "alpha_vllm_serve_sweep.jsonl": json.dumps(sample.point(4, completed=-1, p99_ttft_ms=-5.0)) + "\n[1]\n",
        "alpha_fio.json": '{"run_id": "x", "results": {"seq_read": {"bw_mb_s": 5.5,',
        "suite_steps.json": json.dumps([*sample.STEPS[:2], 7, sample.STEPS[5] | {"start_time": "soon"}]),
    }
    sample.write(tmp_path / "tree", documents)
    rows, _ = landed(tmp_path / "tree")
    assert sorted({(issue["code"], issue["raw_path"].removeprefix(f"structured/{RUN}_")) for issue in rows["evidence_issue"] if issue["severity"] == "error"}) == [
        ("impossible-count", "alpha_vllm_serve_sweep.jsonl"), ("malformed-csv", "alpha_gemm_gpu_sanity.csv"), ("malformed-json", "alpha_fio.json"),
        ("negative-measurement", "alpha_vllm_serve_sweep.jsonl"), ("not-a-number", "2nodes_nccl.json"), ("not-a-number", "alpha_gemm_gpu_sanity.csv"),
        ("not-a-time", "suite_steps.json"), ("not-an-object", "alpha_vllm_serve_sweep.jsonl"), ("not-an-object", "suite_steps.json"),
    ]
    assert [row["bus_bandwidth_gb_per_s"] for row in rows["aisp_collective_point"]] == [120.5, None]
    assert [(row["completed_count"], row["ttft_p99_ms"], row["ttft_p50_ms"]) for row in rows["aisp_serving_point"]] == [(None, None, 199.5)]
    assert [row["step_index"] for row in rows["aisp_suite_step"]] == [1, 2, 4]


@pytest.mark.parametrize(("changes", "code"), [
    ({"output_throughput": 9000.5}, "throughput-contradicted"), ({"median_ttft_ms": 900.5}, "percentiles-out-of-order"),
    ({"mean_tpot_ms": 7.5}, "mean-contradicted"), ({"failed": 99}, "impossible-count"), ({"p99_ttft_ms": 1e16}, "implausible-value"),
])
def test_figures_that_contradict_each_other_are_reported(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    sample.write(tmp_path / "tree", {"alpha_vllm_serve_sweep.jsonl": json.dumps(sample.point(4, **changes)) + "\n"})
    rows, _ = landed(tmp_path / "tree")
    assert [issue["code"] for issue in rows["evidence_issue"] if issue["code"] != "missing-raw"] == [code]


def test_a_row_that_was_appended_is_a_repeat(several: Several) -> None:
    runs = f"{RUN}_appended/gemm_gpu_sanity/alpha/gpu0"
    assert several("appended", """
        select run_id, repeat_index, value_number from performance_indicator_fact inner join benchmark_run_fact using (run_id)
        where key = 'avg_tflop_per_s' and {its} order by all
    """) == [(runs, None, 1099.5), (f"{runs}/r2", 2, 1200.5)]


@pytest.mark.parametrize(("stem", "test", "node", "gpu", "repeat"), [
    ("node1_fio", "fio", "node1", None, None), ("node10_fio", "fio", "node10", None, None), ("node1_gpu3_mamf", "mamf", "node1", 3, None),
    ("r2_node1_cluster_perf_fp4_smoke", "cluster_perf_fp4_smoke", "node1", None, 2), ("2nodes_nccl", "2nodes_nccl", None, None, None),
    ("health_suite_extended_node1node10_nccl_all_reduce_perf", "health_suite_extended_nccl_all_reduce_perf", None, None, None),
    ("rail_0_10_0_0_1_fio", "rail_0_10_0_0_1_fio", None, None, None), ("node1", "node1", "node1", None, None),
])
def test_what_a_name_says(stem: str, test: str, node: str | None, gpu: int | None, repeat: int | None, tmp_path: Path) -> None:
    names = import_module(f"{load_ingestors(init_project(tmp_path / 'bare'))['aisp_cluster'].package}.names")
    assert names.part_of(stem, {"node1", "node10"}) == names.Part(test, node, gpu, repeat)


def test_the_largest_sum_of_nvbandwidth_is_no_rate_if_it_is_that_of_a_latency(tmp_path: Path) -> None:
    documents = sample.documents()
    name = next(name for name in documents if name.endswith("nvbandwidth.json"))
    documents[name] = json.loads(json.dumps(documents[name]).replace('"peak_sum_gbps": 845.5', '"peak_sum_gbps": 20761.57').replace("772.5", "20761.57"))
    sample.write(tmp_path / "tree", documents)
    rows, _ = landed(tmp_path / "tree")
    stated = {row["key"]: (row["kind"], row["value_number"]) for row in rows["aisp_entry"] if row["raw_path"].endswith(name)}
    assert (stated["peak_sum_gbps"], stated["sum_entries/host_device_latency_sm/sum_gbps"]) == (("other", None), ("other", None))
    assert stated["key_sum_gbps/host_to_device_memcpy_ce"] == ("other", 845.5)
    assert [row["code"] for row in rows["evidence_issue"] if row["code"] == "unit-contradicted"] == ["unit-contradicted"] * 2
