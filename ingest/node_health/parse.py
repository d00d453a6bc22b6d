"""Turns captures and manifests into landing rows, a row a device and property.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.json_text import is_lost_number, json_number, json_text
from warehouse.landing.readers.records import shown
from warehouse.landing.readers.text import Data, Place, Report, clean, is_non_finite, landed_text
from warehouse.landing.rows import RowBuffer

_PCI = re.compile(r"/sys/class/pci_bus/[^/]+/device/([^/]+)/(current_link_(?:speed|width))")
_PORT = re.compile(r"/sys/.*/infiniband/([^/]+(?:/ports/(?!1/)\d+)?)/(?:(?:ports/1/)?(state|phys_state|rate)|(node_desc))")
_NET = re.compile(r"/sys/.*/net/([^/]+)/(operstate|mtu|speed|carrier)")
_PATHS = (("pci", _PCI), ("infiniband", _PORT), ("interface", _NET))
# What a manifest or capture states of a device, by its key there, and the name it lands under.
_PCI_KEYS = {"link_speed": "current_link_speed", "link_width": "current_link_width", "slot": "slot", "type": "type"}
_ETH_KEYS = {"speed": "speed", "mtu": "mtu", "flags": "flags"}
_STATUS_KEYS = {"operstate": "operstate", "mtu": "mtu", "flags": "flags", "main": "bond", "master": "bond"}
_CONFIG_KEYS = {"MASTER": "configured_bond", "MTU": "configured_mtu", "HWADDR": "configured_address"}


class _Stated(NamedTuple):
    place: Place
    kind: str
    component: str
    key: str
    value: Any


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    for raw_path in bundle.manifest.by_path:
        report = Report(buffer, raw_path, None)
        data = bundle.map(raw_path)
        row_count = 0
        for is_manifest, stated in _stated(data, report):
            row_count += 1
            text = _text(stated.value)
            if is_lost_number(stated.value) or (text is not None and is_non_finite(text)) or (text is None and stated.value is not None):
                report.at("not-a-value", f"{stated.component[:80]} {stated.key}: {shown(stated.value)}", stated.place, "error")
            buffer.add(
                "node_health_entry", raw_path, stated.place.offset, stated.place.length, is_manifest=is_manifest, component_kind=stated.kind,
                component=clean(stated.component)[:256], key=stated.key, value=text, value_number=json_number(text),
                line_number=stated.place.line_number,
            )
            yield from buffer.full()
        if not row_count:
            report("no-values", "the file states nothing of a device", 0, len(data), severity="error")


def _stated(data: Data, report: Report) -> Iterator[tuple[bool, _Stated]]:
    with JsonStream(data, report) as stream:
        for pair in stream.pairs():
            if pair.key == "intf_status":
                for offset, length, record in stream.objects():
                    place = Place(offset, length, stream.line_number(offset))
                    name = record.text("ifname")
                    if name is None:
                        report.at("no-interface-name", "an interface without a name", place, "error")
                        continue
                    yield from ((False, each) for each in _of(place, "interface", name, record.values, _STATUS_KEYS))
            elif pair.key in ("link_speed", "phys_macaddr"):
                key = "speed" if pair.key == "link_speed" else "address"
                for place, name, value in _pairs(stream):
                    yield False, _Stated(place, "interface", name, key, value)
            elif pair.key == "intf_ifcfg":
                for place, name, value in _pairs(stream):
                    is_there = isinstance(value, dict)  # null: the interface has no configuration
                    yield False, _Stated(place, "interface", name, "is_configured", is_there)
                    yield from ((False, each) for each in _of(place, "interface", name, value if is_there else {}, _CONFIG_KEYS))
            elif pair.key in ("pci", "eth"):
                for place, name, value in _pairs(stream):
                    device = value if isinstance(value, dict) else {}
                    if not isinstance(value, dict):
                        report.at("not-an-object", f"{name[:80]}: {shown(value)}", place, "error")
                    if pair.key == "pci":
                        yield from ((True, each) for each in _of(place, "pci", name, device, _PCI_KEYS))
                    elif isinstance(netdev := device.get("netdev"), str):
                        yield from ((True, each) for each in _of(place, "interface", netdev, device, _ETH_KEYS))
                    else:
                        report.at("no-interface-name", f"{name[:80]} names no interface", place, "error")
            elif pair.key.startswith("/sys/"):
                value = stream.value()
                place = Place(pair.offset, stream.offset - pair.offset, stream.line_number(pair.offset))
                yield from ((False, each) for each in _of_path(place, pair.key, value))


def _pairs(stream: JsonStream) -> Iterator[tuple[Place, str, Any]]:
    for pair in stream.pairs():
        value = stream.value()
        yield Place(pair.offset, stream.offset - pair.offset, stream.line_number(pair.offset)), pair.key, value


def _of(place: Place, kind: str, component: str, values: Mapping[str, Any], keys: Mapping[str, str]) -> Iterator[_Stated]:
    for key, name in keys.items():
        if key in values:
            yield _Stated(place, kind, component, name, values[key])


def _of_path(place: Place, path: str, value: Any) -> Iterator[_Stated]:
    for kind, pattern in _PATHS:
        if found := pattern.fullmatch(path):
            component, key, *more = found.groups()
            yield _Stated(place, kind, component, key or more[0], value.strip() if isinstance(value, str) else value)
            return


def _text(value: Any) -> str | None:
    """A value as text; of a list of texts, which flags and speeds are, all with commas."""
    if isinstance(value, list):
        return landed_text(",".join(value)) if all(isinstance(each, str) for each in value) else None
    if isinstance(value, dict):
        return None
    text = json_text(value)
    return None if text is None else landed_text(text)
