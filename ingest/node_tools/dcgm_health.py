"""`dcgmi health --check`, as a table or with -j: the health of the GPUs, and what is wrong with them. It states neither its node nor the time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from warehouse.landing.readers.text import Data, Line, Place, Report, decoded, lines

from .json_output import items, json_output
from .stated import Entry, Event, Stated, Tool

_TABLE = re.compile(rb"(?:[^\n]{0,200}\n){0,5}\+-[-+]*\+\s*\n\|\s*Health Monitor Report")
_JSON = re.compile(rb'\s*\{(?=[^\0]{0,4000}"Overall Health")(?=[^\0]{0,60000}"Health Monitor Report")')
_STATES = {"healthy": None, "warning": "health-warning", "failure": "health-failure", "failed": "health-failure"}
_GPU = re.compile(r"(?:->\s*|GPU ID:\s*|GPU\s+)(\d+)")
_SYSTEM = re.compile(r"(?:->\s*)?([A-Za-z][\w ]*?):?\s*")
_INLINE = re.compile(r"([A-Za-z][\w ]+?):\s*(Warning|Failure|Failed)\b(?:\s*-\s*(.*))?", re.IGNORECASE)


def _read(data: Data, report: Report) -> Iterator[Stated]:
    if bytes(data[:64]).lstrip().startswith(b"{"):
        yield from _of_json(data, report)
        return
    gpu = system = None
    found: list[tuple[Line, str, str, str, str]] = []  # line, GPU, system, state, text
    for line in lines(data, report):
        cells = [cell.strip() for cell in decoded(line, report).strip().strip("|").split("|")]
        if len(cells) == 1 and cells[0].lower().startswith("overall health"):
            cells = [part.strip() for part in cells[0].partition(":")[::2]]
        if len(cells) != 2:
            continue
        name, value = cells
        state = value.lower() if value.lower() in _STATES else None
        if "overall health" in f"{name} {value}".lower():
            yield Entry(line, "node", "node", "overall health", value.rpartition(":")[2].strip())
        elif match := _GPU.fullmatch(name):
            gpu, system = match[1], None
            if state is not None:
                yield Entry(line, "gpu", f"gpu {gpu}", "health", value)
        elif gpu is None:
            continue
        elif inline := _INLINE.fullmatch(value):
            found.append((line, gpu, inline[1], inline[2].lower(), inline[3] or ""))
        elif name and state is not None and _STATES[state] and (match := _SYSTEM.fullmatch(name)):
            system = match[1]
            found.append((line, gpu, system, state, ""))
        elif not name and value and found:  # the rest of a text that is broken into lines
            found[-1] = (*found[-1][:4], f"{found[-1][4]} {value}".strip())
    for line, of_gpu, of_system, state, text in found:
        yield _event(line, of_gpu, of_system, state, text)


def _event(place: Line | Place, gpu: str, system: str, state: str, text: str) -> Event:
    code = _STATES[state] or "health-warning"
    return Event(place, code, f"{system} of gpu {gpu}: {state}" + (f": {text}" if text else ""), "gpu", f"gpu {gpu} {system}")


def _of_json(data: Data, report: Report) -> Iterator[Stated]:
    place, document = json_output(data, report)
    body = dict(items(document.get("body")))
    overall = body.get("Overall Health")
    if isinstance(overall, dict) and isinstance(overall.get("value"), str):
        yield Entry(place, "node", "node", "overall health", overall["value"])
    for gpu, said in _children(body.get("GPU")):
        if isinstance(said.get("value"), str):
            yield Entry(place, "gpu", f"gpu {gpu}", "health", said["value"])
        for _, errors in _children(said):
            for system, each in _children(errors):
                if str(each.get("value")).lower() in _STATES:
                    text = "; ".join(str(one.get("value")) for _, one in _children(each))
                    yield _event(place, gpu, system, str(each["value"]).lower(), text)


def _children(said: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(name, child) for name, child in items(dict(items(said)).get("children")) if isinstance(child, dict)]


TOOL = Tool("dcgmi_health", lambda head: bool(_TABLE.match(head) or _JSON.match(head)), _read)
