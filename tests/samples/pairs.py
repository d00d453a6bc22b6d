"""A warehouse of four nodes whose pairs were measured by nccl-tests: one pair is slow, and a port of one of its nodes loses packets meanwhile."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path

from once import once
from samples import fabric_check as fabric
from standard import standard_project

from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build

START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
NODES = ("gpu01", "gpu02", "gpu03", "gpu04")
SLOW = ("gpu01", "gpu04")


def pairs_project() -> Project:
    """For tests that only read."""
    return read_project(once("pairs", _make) / "project")


def _make(folder: Path) -> None:
    project, tree = standard_project(folder / "project"), folder / "tree"
    for name in ("nccl", *NODES):
        (tree / name).mkdir(parents=True)
    for number, pair in enumerate(combinations(NODES, 2)):
        (tree / "nccl" / f"{number}.json").write_text(_pair_report(*pair, number))
    for node in NODES:
        for second in range(0, 376, 15):
            (tree / node / f"{node}-{START + timedelta(seconds=second):%Y%m%dT%H%M%SZ}.prom").write_text(_scrape(node, second))
    ingest(plan_ingest(tree, load_ingestors(project).values()), open_store(project), "evidence")
    assert not build(project).damaged


def _pair_report(first: str, second: str, number: int) -> str:
    """nccl-tests JSON of two nodes in the minute of its number: 0.09 GB/s, the slow pair a third of it."""
    document = json.loads(fabric.NCCL_JSON)
    for device, node in zip(document["config"]["devices"], (first, second), strict=True):
        device |= {"hostname": node, "pid": 100 + number}
    slower = 3 if (first, second) == SLOW else 1
    time = 12.5 * slower
    for half in ("out_of_place", "in_place"):  # the bus bandwidth of two ranks is the algorithm's: 1024 bytes / time
        document["results"][0][half] |= {"time": time, "alg_bw": 1024 / time / 1e3, "bus_bw": 1024 / time / 1e3}
    document["average_bus_bandwidth"]["bandwidth"] = 1024 / time / 1e3
    start = START + timedelta(minutes=number)
    document |= {"start_time": f"{start:%Y-%m-%d %H:%M:%S}", "end_time": f"{start + timedelta(seconds=45):%Y-%m-%d %H:%M:%S}"}
    return json.dumps(document, separators=(",", ":"))


def _scrape(node: str, second: int) -> str:
    """What a node's exporter answers. The port of gpu04 loses 40 packets a second while it is with gpu01, in the third minute."""
    lost = 40 * min(max(second - 120, 0), 60) if node == "gpu04" else 0
    return (
        "# TYPE node_network_receive_errs_total counter\n"
        f'node_network_receive_errs_total{{device="ib0",node="{node}"}} {lost}\n'
        "# TYPE node_memory_MemAvailable_bytes gauge\n"
        f'node_memory_MemAvailable_bytes{{node="{node}"}} {1e11 + second}\n'
    )
