"""From a slow NCCL pair to its node's telemetry and the raw file, by the one query that docs/fabric-checks.md prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples.pairs import pairs_project

from warehouse.api import Warehouse

QUERY = (
    (Path(__file__).parents[1] / "docs" / "fabric-checks.md").read_text().split("## From a slow pair")[1].split("```sql\n")[1].split("```")[0]
)


def test_the_query_leads_to_the_abnormal_node_and_its_file() -> None:
    rows = Warehouse(pairs_project()).sql(QUERY).to_pylist()
    assert {row["nodes"] for row in rows} == {"gpu01,gpu04"} and rows[0]["ratio_to_median"] == pytest.approx(1 / 3)
    first = rows[0]
    assert (first["node_name"], first["metric"], first["level"], first["usual"], first["unit"], first["is_ambiguous"]) == (
        "gpu04", "nic_receive_error_count", pytest.approx(40), 0, "count", False
    )
    assert first["raw_path"].startswith("gpu04-")
    others = {(row["node_name"], row["metric"]): row["level"] for row in rows[1:]}
    assert others.pop(("gpu01", "nic_receive_error_count")) == 0
    assert set(others) == {("gpu01", "memory_available_bytes"), ("gpu04", "memory_available_bytes")}
