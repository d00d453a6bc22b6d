"""`lspci -vv` and `-vvv`: the PCIe link that each device could have and has, its NUMA node, and errors that it reports. Narrower links of GPUs,
network adapters and drives are events, slower ones of all but GPUs, which slow down when they idle. It states neither its node nor the time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.readers.text import Data, Line, Report, decoded, lines

from .stated import Entry, Event, Stated, Tool

_DEVICE = re.compile(r"((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([^:]+): (.*)")
_LINK = re.compile(r"\s+Lnk(Cap|Sta):.*?Speed (\d{1,4}(?:\.\d{1,4})?GT/s|unknown)(?: \((\w+)\))?, Width (x\d{1,4})(?: \((\w+)\))?")
_NUMA = re.compile(r"\s+NUMA node: (\d+)\s*")
_UNCORRECTED = re.compile(r"\s+UESta:\s+(.*)")
_HEAD = re.compile(
    rb"(?:[^\n]{0,200}\n){0,3}(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] [^\n]+: [^\n]+\n(?:\t[^\n]*\n)*?"
    rb"\t(?:Control|Subsystem|Flags|DeviceName): "
)
_GPU = re.compile(r"3D controller|VGA compatible|Display controller|Processing accelerators", re.IGNORECASE)
_OTHER = re.compile(r"Ethernet|Infiniband|Network|Non-Volatile", re.IGNORECASE)
_LEGACY = re.compile(r"ASPEED|Matrox|Cirrus", re.IGNORECASE)  # of the board's management: their narrow link is as built


def _read(data: Data, report: Report) -> Iterator[Stated]:
    name, kind = None, ""
    most: dict[str, str] = {}
    for line in lines(data, report):
        shown = decoded(line, report)
        if found := _DEVICE.fullmatch(shown):
            name = found[1] if found[1].count(":") == 2 else f"0000:{found[1]}"
            kind, most = f"{found[2]}: {found[3]}", {}
            yield Entry(line, "pci", name, "class", found[2])
            yield Entry(line, "pci", name, "device", found[3])
        elif name and (found := _LINK.match(shown)):
            prefix = "max_link" if found[1] == "Cap" else "current_link"
            yield Entry(line, "pci", name, f"{prefix}_speed", found[2])
            yield Entry(line, "pci", name, f"{prefix}_width", found[4][1:])
            if found[1] == "Cap":
                most = {"speed": found[2], "width": found[4]}
            else:
                yield from _slower(line, name, kind, most, found)
        elif name and (found := _NUMA.fullmatch(shown)):
            yield Entry(line, "pci", name, "numa_node", found[1])
        elif name and (found := _UNCORRECTED.match(shown)):
            errors = [word[:-1] for word in found[1].split() if word.endswith("+")]
            # An unsupported request is what a probe at boot leaves in healthy machines.
            if [error for error in errors if error != "UnsupReq"]:
                yield Event(line, "pcie-uncorrected", f"{kind}: {', '.join(errors)}", "pci", name)


def _slower(line: Line, name: str, kind: str, most: dict[str, str], found: re.Match[str]) -> Iterator[Event]:
    if not (_GPU.match(kind) or _OTHER.match(kind)) or _LEGACY.search(kind):
        return
    width, speed = found[4], found[2]
    if width == "x0" or "width" not in most:
        return
    if int(width[1:]) < int(most["width"][1:]):
        yield Event(line, "pcie-width", f"{kind}: the link is {width} of {most['width']}", "pci", name)
    elif not _GPU.match(kind) and "unknown" not in (speed, most["speed"]) and float(speed[:-4]) < float(most["speed"][:-4]):
        yield Event(line, "pcie-speed", f"{kind}: the link runs at {speed} of {most['speed']}", "pci", name)


TOOL = Tool("lspci", lambda head: _HEAD.match(head) is not None, _read)
