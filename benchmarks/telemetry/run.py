"""Telemetry of one large run: ingest, and the build that slices it and joins it to the run, as samples a second beside sha256 of the same bytes.
And scrapes as text: samples a second beside prometheus_client."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks" / "transform")]

from measure import run

from warehouse.landing.readers.exposition import Exposition
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer
from warehouse.project.making import init_project

_START = 1_795_168_800  # seconds since the epoch
_GPUS = 8  # of a node
_NAMES = (
    "DEV_SM_CLOCK DEV_MEM_CLOCK DEV_GPU_TEMP DEV_MEMORY_TEMP DEV_POWER_USAGE DEV_POWER_MGMT_LIMIT DEV_TOTAL_ENERGY_CONSUMPTION DEV_GPU_UTIL"
    " DEV_MEM_COPY_UTIL DEV_ENC_UTIL DEV_DEC_UTIL DEV_FB_USED DEV_FB_FREE DEV_FB_TOTAL DEV_FB_RESERVED DEV_XID_ERRORS DEV_CLOCKS_EVENT_REASONS"
    " DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS DEV_ECC_SBE_VOL_TOTAL DEV_ECC_DBE_VOL_TOTAL"
    " DEV_ECC_SBE_AGG_TOTAL DEV_ECC_DBE_AGG_TOTAL DEV_RETIRED_SBE DEV_RETIRED_DBE DEV_UNCORRECTABLE_REMAPPED_ROWS DEV_CORRECTABLE_REMAPPED_ROWS"
    " DEV_ROW_REMAP_FAILURE DEV_PCIE_REPLAY_COUNTER DEV_PCIE_LINK_GEN DEV_PCIE_LINK_WIDTH DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL"
    " DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL PROF_SM_ACTIVE"
    " PROF_SM_OCCUPANCY PROF_PIPE_TENSOR_ACTIVE PROF_DRAM_ACTIVE PROF_GR_ENGINE_ACTIVE"
).split()
# The run, and its nodes: what a family of evidence would state.
_RUN = """/*
feeds: benchmark_run
*/
select
    'run' as run_id,
    'case' as benchmark_case_id,
    artifact_manifest_digest,
    '' as raw_folder,
    'made' as family,
    'performance' as mode,
    'succeeded' as status,
    to_timestamp({start}) as started_at,
    to_timestamp({end}) as ended_at
from evidence_bundle
"""
_NODES = """/*
feeds: run_node
*/
select
    'run' as run_id,
    artifact_manifest_digest,
    'node' || number as node_name
from evidence_bundle
cross join range({nodes}) as node (number)
"""
_SHA256 = "import hashlib,pathlib,sys; [hashlib.sha256(p.read_bytes()) for p in pathlib.Path(sys.argv[1]).iterdir()]"


def write_answers(folder: Path, nodes: int, metrics: int, seconds: int) -> int:
    """An answer of query_range for each metric, at 1 Hz. Returns the number of samples."""
    folder.mkdir()
    chance = random.Random(1)
    values = [f"{chance.uniform(0, 100):.6g}" for _ in range(10_000)]
    for number, name in enumerate(_NAMES[:metrics]):
        series = []
        for node in range(nodes):
            for gpu in range(_GPUS):
                labels = {"__name__": f"DCGM_FI_{name}", "Hostname": f"node{node}", "gpu": str(gpu), "UUID": f"GPU-{node:04}-{gpu}"}
                offset = chance.randrange(len(values))
                pairs = [[_START + second, values[(offset + second) % len(values)]] for second in range(seconds)]
                series.append({"metric": labels, "values": pairs})
        answer = {"status": "success", "data": {"resultType": "matrix", "result": series}}
        (folder / f"metric{number:02}.json").write_text(json.dumps(answer, separators=(",", ":")))
    return nodes * _GPUS * metrics * seconds


def text_rates(scrapes: int) -> tuple[float, float]:
    """Samples a second of ours and of prometheus_client, over scrapes of one node."""
    from prometheus_client.parser import text_string_to_metric_families

    chance = random.Random(1)
    texts = []
    for _ in range(scrapes):
        lines = []
        for name in _NAMES:
            lines += [f"# HELP DCGM_FI_{name} A metric of DCGM.", f"# TYPE DCGM_FI_{name} gauge"]
            for gpu in range(_GPUS):
                labels = f'gpu="{gpu}",UUID="GPU-0000-{gpu}",device="nvidia{gpu}",modelName="NVIDIA H100 80GB HBM3",Hostname="node0",pod="p-{gpu}"'
                lines.append(f"DCGM_FI_{name}{{{labels}}} {chance.uniform(0, 100):.6g}")
        texts.append("\n".join(lines) + "\n")
    report = Report(RowBuffer({}, ""), "m", None)
    started, reader = time.process_time(), Exposition()
    ours = sum(len(found.keys) for text in texts for found in reader.read(text.encode(), report))
    middle = time.process_time()
    theirs = sum(len(family.samples) for text in texts for family in text_string_to_metric_families(text))
    assert ours == theirs == scrapes * len(_NAMES) * _GPUS
    return ours / (middle - started), theirs / (time.process_time() - middle)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=8, help="of 8 GPUs; 64 nodes, 40 metrics and 3600 seconds are 74 million samples")
    parser.add_argument("--metrics", type=int, default=len(_NAMES))
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--memory", default="3400MB", help="of the engine, in the build")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wh-telemetry-") as root:
        folder = Path(root)
        samples = write_answers(folder / "answers", options.nodes, options.metrics, options.seconds)
        project = init_project(folder / "project")
        toml = project.root / "warehouse.toml"
        toml.write_text(toml.read_text().replace("[build]\n", f'[build]\nmemory = "{options.memory}"\n'))
        (project.root / "models/run.sql").write_text(_RUN.format(start=_START, end=_START + options.seconds))
        (project.root / "models/nodes.sql").write_text(_NODES.format(nodes=options.nodes))
        wh, where = [sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root)], {"PYTHONPATH": str(ROOT)}
        floor = run([sys.executable, "-c", _SHA256, str(folder / "answers")], folder)
        costs = {
            "ingest and parse": run([*wh, "ingest", str(folder / "answers")], folder, where),
            "build: slice and join": run([*wh, "build"], folder, where),
        }
    ours, theirs = text_rates(30)
    found = {
        "samples": samples,
        "sha256": {"cpu_s": floor.cpu_s, "samples_per_s": samples / floor.cpu_s},
        **{name: {**asdict(cost), "samples_per_s": samples / cost.cpu_s} for name, cost in costs.items()},
        "text": {"samples_per_s": ours, "prometheus_client_samples_per_s": theirs, "ratio": ours / theirs},
    }
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{samples:,} samples; sha256 of their bytes {floor.cpu_s:.1f} s of CPU")
    for name, cost in costs.items():
        print(f"{name:22} {cost.cpu_s:7.1f} s of CPU  {cost.wall_s:7.1f} s  {cost.peak_mb:6.0f} MB  {samples / cost.cpu_s:12,.0f} samples/s")
    print(f"scrapes as text        {ours:12,.0f} samples/s, prometheus_client {theirs:,.0f}: {ours / theirs:.1f}x")


if __name__ == "__main__":
    main()
