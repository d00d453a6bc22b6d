"""`sinfo` as a table: a header, then a line a partition and state of nodes, or with -N a line a node and partition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from warehouse.landing.readers.text import Data, Line, Report, clean, decoded, landed_text, lines

from . import values
from .bundles import TABLE_HEADER

_STATE = re.compile(r"[A-Za-z_+]+")
_SHORT = {"alloc": "ALLOCATED", "mix": "MIXED", "drng": "DRAINING", "comp": "COMPLETING", "resv": "RESERVED", "unk": "UNKNOWN", "drain": "DRAINED"}


def rows(data: Data, report: Report) -> Iterator[tuple[Line, str, dict[str, Any]]]:
    """The line, the table and the columns of each row. A line with fewer words than the header is reported; the last column may hold blanks."""
    names: list[str] = []
    listing = -1
    for line in lines(data, report):
        text = clean(decoded(line, report))
        if TABLE_HEADER.match(line.data):
            names = text.split()
            listing += 1
            continue
        cells = text.split(None, len(names) - 1) if names else []
        if len(cells) < len(names) - ("REASON" in names) or not names:
            report.at("malformed-row", f"{len(cells)} cells, the header has {len(names)}", line, "error")
            continue
        stated = {name: values.present(cell) for name, cell in zip(names, cells, strict=False)}
        flag = report.flag(line)
        partition = (stated.get("PARTITION") or "").removesuffix("*")[:256] or None  # the default one has a star
        mark = _STATE.match(stated.get("STATE") or "")
        state = _SHORT.get(mark[0].casefold(), mark[0].upper()) if mark else None
        if "AVAIL" not in names and (node := stated.get("NODELIST") or stated.get("HOSTNAMES")) is not None:
            yield line, "slurm_node", {
                "source": "sinfo", "listing": listing, "node_name": node[:256], "partitions": partition, "state": state,
                "reason": _landed(stated.get("REASON")),
                "cpu_count": values.count_in(stated.get("CPUS"), flag, "CPUS") if "/" not in (stated.get("CPUS") or "") else None,
                "gpu_type": values.gpu_type(stated.get("GRES")), "gpu_count": values.gpus(None, stated.get("GRES"), flag),
                "allocated_gpu_count": values.gpus(None, stated.get("GRES_USED"), flag), "line_number": line.number,
            }
        elif partition is not None:
            yield line, "slurm_partition_entry", {
                "source": "sinfo", "listing": listing, "partition": partition, "availability": (stated.get("AVAIL") or "").lower() or None,
                "node_state": state, "node_count": values.count_in(stated.get("NODES"), flag, "NODES"), "nodes": _landed(stated.get("NODELIST")),
                "line_number": line.number,
            }
        else:
            report.at("malformed-row", "the line names neither a partition nor a node", line, "error")


def _landed(text: str | None) -> str | None:
    return None if text is None else landed_text(text)
