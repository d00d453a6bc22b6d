"""From a slow NCCL pair to its node's telemetry and the raw file, by the one query that docs/fabric-checks.md prints."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path

import pytest
from samples import fabric_check as fabric
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

QUERY = (
    (Path(__file__).parents[1] / "docs" / "fabric-checks.md").read_text().split("## From a slow pair")[1].split("```sql\n")[1].split("```")[0]
)
START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
NODES = ("gpu01", "gpu02", "gpu03", "gpu04")
SLOW = ("gpu01", "gpu04")


def pair_report(first: str, second: str, number: int) -> str:
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


def scrape(node: str, second: int) -> str:
    """What a node's exporter answers. The port of gpu04 loses 40 packets a second while it is with gpu01, in the third minute."""
    lost = 40 * min(max(second - 120, 0), 60) if node == "gpu04" else 0
    return (
        "# TYPE node_network_receive_errs_total counter\n"
        f'node_network_receive_errs_total{{device="ib0",node="{node}"}} {lost}\n'
        "# TYPE node_memory_MemAvailable_bytes gauge\n"
        f'node_memory_MemAvailable_bytes{{node="{node}"}} {1e11 + second}\n'
    )


def test_the_query_leads_to_the_abnormal_node_and_its_file(tmp_path: Path) -> None:
    project = standard_project(tmp_path / "project")
    for folder in ("nccl", *NODES):
        (tmp_path / "tree" / folder).mkdir(parents=True)
    for number, pair in enumerate(combinations(NODES, 2)):
        (tmp_path / "tree/nccl" / f"{number}.json").write_text(pair_report(*pair, number))
    for node in NODES:
        for second in range(0, 376, 15):
            (tmp_path / "tree" / node / f"{node}-{START + timedelta(seconds=second):%Y%m%dT%H%M%SZ}.prom").write_text(scrape(node, second))
    ingest(plan_ingest(tmp_path / "tree", load_ingestors(project).values()), open_store(project), "evidence")
    assert not build(project).damaged
    rows = Warehouse(project).sql(QUERY).to_pylist()
    assert {row["nodes"] for row in rows} == {"gpu01,gpu04"} and rows[0]["ratio_to_median"] == pytest.approx(1 / 3)
    first = rows[0]
    assert (first["node_name"], first["metric"], first["level"], first["usual"], first["unit"], first["is_ambiguous"]) == (
        "gpu04", "nic_receive_error_count", pytest.approx(40), 0, "count", False
    )
    assert first["raw_path"].startswith("gpu04-")
    others = {(row["node_name"], row["metric"]): row["level"] for row in rows[1:]}
    assert others.pop(("gpu01", "nic_receive_error_count")) == 0
    assert set(others) == {("gpu01", "memory_available_bytes"), ("gpu04", "memory_available_bytes")}
