"""`nvidia-smi topo -m`: how each GPU reaches each other GPU and each network adapter, and the CPUs and the NUMA node that it is near to. The legend
names adapters that the matrix numbers (NIC0: mlx5_0)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.readers.text import Data, Report, decoded, lines

from .stated import Entry, Stated, Tool

_STYLE = re.compile(r"\x1b\[[\d;]*m")
_HEAD = re.compile(rb"(?:[^\n]{0,300}\n){0,3}(?:\x1b\[[\d;]*m)?\t(?:\x1b\[[\d;]*m)?GPU0\t[^\n]*(?:CPU Affinity|NIC|GPU1)")
_ALIAS = re.compile(r"\s+(NIC\d+): (\S+)\s*")
_AFFINITY = {"CPU Affinity": "cpu_affinity", "NUMA Affinity": "numa_affinity", "GPU NUMA ID": "gpu_numa_id"}


def _read(data: Data, report: Report) -> Iterator[Stated]:
    columns: list[str] = []
    for line in lines(data, report):
        shown = _STYLE.sub("", decoded(line, report))
        cells = [cell.strip() for cell in shown.split("\t")]
        if not columns:
            if "GPU0" in cells[1:]:
                columns = cells[1:]
        elif alias := _ALIAS.fullmatch(shown):
            yield Entry(line, "nic", alias[1], "name", alias[2])
        elif len(cells) > 1 and re.fullmatch(r"(?:GPU|NIC)\d+|mlx\w+", cells[0]):
            # Empty columns stand between the matrix and the affinities of some versions.
            for name, value in zip(columns, cells[1:], strict=False):
                if name in _AFFINITY and value:
                    yield Entry(line, "gpu", cells[0], _AFFINITY[name], value)
                elif name and value and value != "X":
                    yield Entry(line, "link", f"{cells[0]} {name}", "path", value)


TOOL = Tool("nvidia_topo", lambda head: _HEAD.match(head) is not None, _read)
