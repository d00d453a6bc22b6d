"""Logs of nvidia-smi and captures of a node's health: what lands, and which faults the events name."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from landed import ISSUE_TABLE, Subject, codes, place
from samples import node_health as health
from samples import nvidia_smi as smi
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

NVIDIA_SMI, NODE_HEALTH = Subject("nvidia_smi"), Subject("node_health")


def warehouse_of(tmp_path: Path, evidence: Path) -> Warehouse:
    project = standard_project(tmp_path / "p")
    ingest(plan_ingest(evidence, load_ingestors(project).values(), project.store_root), open_store(project), "evidence")
    assert not build(project).damaged
    return Warehouse(project)


def smi_rows(tmp_path: Path, text: str) -> dict[str, list[dict[str, Any]]]:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/log.xml").write_text(text)
    return NVIDIA_SMI.rows(tmp_path / "tree", tmp_path / "stored")


def test_values_of_a_log(tmp_path: Path) -> None:
    rows = smi_rows(tmp_path, smi.log(smi.gpu(1), smi.gpu(2)) + smi.log(smi.gpu(1), at="Mon Mar  2 08:20:15 2026"))
    found = {(row["log_index"], row["gpu_index"], row["key"]): row for row in rows["nvidia_smi_entry"]}
    power = found[0, 1, "gpu_power_readings/instant_power_draw"]
    assert (power["value"], power["value_number"], power["unit"], power["gpu_uuid"]) == ("66.84 W", 66.84, "W", "GPU-00000000-2")
    assert place(power, tmp_path / "stored") == b"<instant_power_draw> 66.84 W "
    width = found[0, 0, "pci/pci_gpu_link_info/link_widths/current_link_width"]
    assert (width["value"], width["value_number"], width["unit"]) == ("16x", 16, None)
    assert found[0, 0, "mig_devices/mig_device[1]/fb_memory_usage/total"]["value_number"] == 19967
    banks = found[0, 0, "remapped_rows/row_remapper_histogram/row_remapper_histogram_max"]
    assert (banks["value_number"], banks["unit"]) == (192, "bank(s)")
    assert [found[0, 0, key]["value_number"] for key in ("fan_speed", "pci/pci_bus", "uuid", "product_name")] == [None] * 4
    assert found[0, None, "driver_version"]["value"] == "550.54.15" and found[1, 0, "uuid"]["gpu_uuid"] == "GPU-00000000-1"
    assert not any("supported" in key for _, _, key in found) and codes(rows) == {}


def test_reasons_of_clocks_are_sampled_as_flags_and_their_counters_as_numbers(tmp_path: Path) -> None:
    rows = smi_rows(tmp_path, smi.log(smi.gpu(1, is_active="Active")) + smi.log(smi.gpu(1, is_active="N/A"), at="Mon Mar  2 08:20:15 2026"))
    assert codes(rows) == {}
    names = {row["series_number"]: row["metric"] for row in rows["telemetry_series"]}
    found = [(names[row["series_number"]].rpartition("/")[2], row["value"]) for row in rows["telemetry_sample"] if "clocks_event" in names[row["series_number"]]]
    assert found == [
        ("clocks_event_reason_gpu_idle", 1), ("clocks_event_reason_sw_power_cap", 1), ("clocks_event_reasons_counters_sw_power_cap", 91_403_239),
        ("clocks_event_reasons_counters_hw_power_brake", 0),
        ("clocks_event_reason_gpu_idle", 1), ("clocks_event_reason_sw_power_cap", None), ("clocks_event_reasons_counters_sw_power_cap", 91_403_239),
        ("clocks_event_reasons_counters_hw_power_brake", 0),
    ]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("700.00 W", "lots W", "not-a-number"), ("700.00 W", "nan W", "non-finite-number"), ("</clocks>", "</clock>", "malformed-xml"),
        ("N/A", "&bomb;", "malformed-xml"), ("N/A", "<a>" * 40 + "</a>" * 40, "malformed-xml"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, before: str, after: str, code: str) -> None:
    rows = smi_rows(tmp_path, smi.log(smi.gpu(1)).replace(before, after, 1))
    assert codes(rows) == {code: 1} and [row["severity"] for row in rows[ISSUE_TABLE]] == ["error"]
    assert {row["key"] for row in rows["nvidia_smi_entry"]} >= {"timestamp", "product_name"}


def test_complaints_before_a_log_are_skipped(tmp_path: Path) -> None:
    rows = smi_rows(tmp_path, "Unable to determine the device handle for GPU0000:1B:00.0: Unknown Error\n\n" + smi.log(smi.gpu(1)))
    assert {row["gpu_uuid"] for row in rows["nvidia_smi_entry"]} == {None, "GPU-00000000-1"} and codes(rows) == {}
    (tmp_path / "tree/test.py").write_text("XML = ''\n" + smi.log(smi.gpu(1)))
    assert [draft.files[0].raw_path for draft in NVIDIA_SMI.drafts(tmp_path / "tree")] == ["log.xml"]


def test_a_log_whose_beginning_is_damaged_is_told(tmp_path: Path) -> None:
    logs = smi.log(smi.gpu(1)) + smi.log(smi.gpu(2)).replace("<nvidia_smi_log>", "<nvidia_smi_lo>") + smi.log(smi.gpu(3))
    rows = smi_rows(tmp_path, logs)
    assert codes(rows) == {"malformed-xml": 1}
    assert {row["gpu_uuid"] for row in rows["nvidia_smi_entry"]} == {None, "GPU-00000000-1", "GPU-00000000-3"}


def test_entities_are_never_unfolded(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE nvidia_smi_log [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
    text = smi.log(smi.gpu(1)).replace('<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">', bomb)
    for entity in ("&b;", "&c;"):
        rows = smi_rows(tmp_path / entity.strip("&;"), text.replace("N/A", entity, 1))
        assert codes(rows) == {"malformed-xml": 1}
        assert not any("aaaa" in (row["value"] or "") or "root:" in (row["value"] or "") for row in rows["nvidia_smi_entry"])


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path) -> None:
    for name in ("b", "c"):
        (tmp_path / name).mkdir()


def test_what_is_wrong_with_a_gpu(tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    good = smi.gpu(1)
    bad = smi.gpu(2, reason="hw_thermal_slowdown", is_active="Active", width="8x", ecc="2", pending="Yes", reset="Yes")
    (evidence / "log.xml").write_text(smi.log(good, bad))
    warehouse = warehouse_of(tmp_path, evidence)
    events = warehouse.sql("select code, event_class, severity, gpu_uuid, event_at, is_zone_assumed from cluster_event_fact order by code").to_pylist()
    assert [(event["code"], event["event_class"], event["severity"]) for event in events] == [
        ("ecc-uncorrectable", "ecc", "error"), ("ecc-uncorrectable-past", "ecc", "info"), ("hw_thermal_slowdown", "throttle", "warning"),
        ("pcie-width", "pcie_degraded", "warning"), ("recovery-action", "gpu_reset", "error"), ("row-remap-pending", "row_remap", "warning"),
    ]
    assert {event["gpu_uuid"] for event in events} == {"GPU-00000000-2"}
    assert {(event["event_at"], event["is_zone_assumed"]) for event in events} == {(datetime(2026, 3, 2, 8, 20, 5, tzinfo=UTC), True)}
    (state,) = warehouse.sql("select gpu_product, gpu_count, gpu_driver, cuda_version, node_name from node_state_fact").to_pylist()
    assert tuple(state.values()) == ("NVIDIA H100 80GB HBM3", 2, "550.54.15", "12.4", None)


_BAD: dict[str, tuple[dict[str, Any], list[tuple[str, str, str]]]] = {
    "good": (health.interfaces(), []),
    "down": (health.interfaces(eth1={"operstate": "DOWN"}), [("interface-down", "eth1", "stated")]),
    "missing": (health.interfaces(eth2=None), [("interface-missing", "eth2", "stated")]),
    "slow": (health.interfaces(eth1={"speed": "100000"}), [("interface-slow", "eth1", "inferred")]),
    "mtu": (health.interfaces(eth1={"mtu": 1500}), [("interface-mtu", "eth1", "stated")]),
    "misbound": (health.interfaces(eth2={"address": "aa:bb:99"}), [("interface-address", "eth2", "stated")]),
    "no-leg": (
        health.interfaces(eth2={"main": None, "flags": ["UP", "LOWER_UP"]}),
        [("interface-bond", "eth2", "stated"), ("interface-flags", "eth2", "inferred")],
    ),
    # The kernel reports -1 if it does not know the speed (https://www.kernel.org/doc/Documentation/ABI/testing/sysfs-class-net).
    "no-speed": (health.interfaces(eth1={"operstate": "DOWN", "speed": "-1"}), [("interface-down", "eth1", "stated")]),
    "links": (health.links(), []),
    "second-port": (
        health.links() | {"/sys/bus/pci/devices/0000:41:00.0/infiniband/mlx5_0/ports/2/state": "1: DOWN\n"},
        [("infiniband-down", "mlx5_0/ports/2", "stated")],
    ),
    "downlink": (health.links(speed="8 GT/s"), [("pcie-degraded", "0000:41:00.0", "inferred")]),
    "no-drive": (health.links(nvme_width=None), [("pcie-missing", "0000:42:00.0", "inferred")]),
}


def test_what_is_wrong_with_a_node(tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    health.write(evidence / "manifest.json", health.MANIFEST)
    for name, (document, _) in _BAD.items():
        health.write(evidence / f"{name}.json", document)
    warehouse = warehouse_of(tmp_path, evidence)
    for name, (_, expected) in _BAD.items():
        found = warehouse.sql(f"select code, object_name, certainty from cluster_event_fact where raw_path = '{name}.json' order by code").to_pylist()
        assert [tuple(row.values()) for row in found] == expected, name
    assert warehouse.sql("select code from ingest_issue").to_pylist() == []


def test_a_manifest_that_fits_as_well_as_another_is_not_taken(tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    other = health.MANIFEST | {"eth": {name: device | {"speed": 100000} for name, device in health.MANIFEST["eth"].items()}}
    health.write(evidence / "a.json", health.MANIFEST)
    health.write(evidence / "b.json", other)
    health.write(evidence / "slow.json", health.interfaces(eth1={"speed": "100"}))
    assert warehouse_of(tmp_path, evidence).sql("select code from cluster_event_fact").to_pylist() == []


def test_captures_that_break_are_told(tmp_path: Path) -> None:
    health.write_all(tmp_path / "tree")
    path = tmp_path / "tree/interfaces.json"
    path.write_text(path.read_text().replace('"mtu": 9192', '"mtu": [9192]', 1))
    rows = NODE_HEALTH.rows(tmp_path / "tree", tmp_path / "stored")
    assert codes(rows) == {"not-a-value": 1}
    mtus = [row["value_number"] for row in rows["node_health_entry"] if row["key"] == "mtu" and not row["is_manifest"]]
    assert mtus == [None, 9192, 9192]


@pytest.mark.parametrize("words", ["Requested functionality has been deprecated", "[Not Supported]", "N/A"])
def test_a_field_that_the_driver_no_longer_has_is_no_error(tmp_path: Path, words: str) -> None:
    text = smi.log(smi.gpu(1)).replace("<sm_clock>1980 MHz<", f"<sm_clock>{words}<")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/smi.xml").write_text(text)
    rows = NVIDIA_SMI.rows(tmp_path / "tree", tmp_path / "stored")
    assert words in text and codes(rows) == {}
