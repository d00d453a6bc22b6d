"""Small captures of a node's health and the manifest of its kind, in the formats of GCM's checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MANIFEST: dict[str, Any] = {
    "pci": {
        "0000:41:00.0": {"type": "net", "dev": "eth1", "zone": "back", "slot": "PCIE_1", "link_speed": ["16 GT/s", "16.0 GT/s PCIe"], "link_width": "16"},
        "0000:42:00.0": {"type": "nvme", "dev": "nvme0", "zone": "front", "slot": "SLOT_0", "link_speed": ["8 GT/s", "8.0 GT/s PCIe"], "link_width": "4"},
    },
    "eth": {
        "A": {"netdev": "eth1", "phys": True, "flags": ["SLAVE", "UP", "LOWER_UP"], "speed": 200000, "mtu": 9192},
        "B": {"netdev": "eth2", "phys": True, "flags": ["SLAVE", "UP", "LOWER_UP"], "speed": 200000, "mtu": 9192},
        "bond0": {"netdev": "bond0", "phys": False, "flags": ["UP", "LOWER_UP"], "speed": 400000, "mtu": 9192},
    },
    "disks": {"SLOT_0": {"blockdev": "nvme0", "size": 6400000000000}}, "zone_geom": {"front": [["SLOT_0"]]},
}


def interfaces(**changes: dict[str, Any] | None) -> dict[str, Any]:
    """A capture of a good node; a change by interface: keys that differ, or None, and the kernel does not list it."""
    status, speeds, addresses, configured = [], {}, {}, {}
    for index, (name, is_leg) in enumerate((("eth1", True), ("eth2", True), ("bond0", False))):
        change = changes.get(name, {})
        found = {
            "ifname": name, "ifindex": index + 2, "operstate": "UP", "mtu": 9192, "flags": ["UP", "LOWER_UP", *(["SLAVE"] if is_leg else [])],
            **({"main": "bond0"} if is_leg else {}), "speed": "200000" if is_leg else "400000", "address": f"aa:bb:0{index}",
        } | (change or {})
        speeds[name] = "" if change is None else found.pop("speed")
        address = found.pop("address")
        status += [] if change is None else [found]
        if is_leg:
            addresses[name] = address
            configured[name] = None if change is None else {"DEVICE": name, "MTU": "9192", "MASTER": "bond0", "HWADDR": f"AA:BB:0{index}"}
    return {"intf_status": status, "link_speed": speeds, "phys_macaddr": addresses, "intf_ifcfg": configured}


def links(speed: str = "16 GT/s", nvme_width: str | None = "4") -> dict[str, str]:
    """A capture of /sys."""
    at = "/sys/class/pci_bus/0000:{bus}/device/0000:{bus}:00.0/current_link_{what}"
    found = {
        at.format(bus="41", what="speed"): f"{speed}\n", at.format(bus="41", what="width"): "16\n",
        "/sys/bus/pci/devices/0000:41:00.0/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n", "/sys/kernel/unknown": "7\n",
    }
    nvme = {at.format(bus="42", what="speed"): "8 GT/s\n", at.format(bus="42", what="width"): f"{nvme_width}\n"}
    return found | (nvme if nvme_width else {})


def write(path: Path, document: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1))


def write_all(folder: Path) -> None:
    write(folder / "manifest.json", MANIFEST)
    write(folder / "interfaces.json", interfaces())
    write(folder / "links.json", links())
