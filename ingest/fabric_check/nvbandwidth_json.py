"""The JSON of nvbandwidth (`-j`): cells are text, `N/A` where there is none; a device is its number, model, bus id and, since
version 0.6, its host. Source: NVIDIA/nvbandwidth, json_output.cpp.
"""

from __future__ import annotations

import re

from warehouse.landing.readers.json_text import Element, json_text
from warehouse.landing.readers.records import shown
from warehouse.landing.readers.text import Data, Report, clean

from .check import Check, Rows, at, end, endpoint, entry, point, table_number, test
from .json_tree import Document, by_key, documents, text
from .matrix import cell_columns, is_cell_expected, matrix_of, parts_of

MARK = re.compile(rb'^\s*\{\s*"nvbandwidth"\s*:', re.MULTILINE)

_LISTS = frozenset({"GPU Device list", "testcases"})
_DEVICE = re.compile(
    r"(?:(?P<number>\d{1,6}):\s*)?(?P<model>.*?)(?: \((?P<bus>[0-9a-fA-F:.]+)\))?(?:: \((?P<host>[^()]*)\))?", re.DOTALL
)
_STATUSES = {"Passed": "measured", "Waived": "waived", "Error": "failed", "Not Found": "failed"}


def rows(data: Data, report: Report, file_name: str) -> Rows:
    """The checks of a file: one a document."""
    for document in documents(data, report):
        yield from _check(document, report)


def _check(document: Document, report: Report) -> Rows:
    check = Check("nvbandwidth", "nvbandwidth", *at(document.whole))
    outer = by_key(document.pairs())
    document.expect(outer, ("nvbandwidth",))
    root = outer.get("nvbandwidth")
    found = by_key(document.inside(root)) if root else {}
    if "error" not in found:
        document.expect(found, ("testcases",))
    version = found.get("version")
    check.tool_version = clean(json_text(version.value) or "")[:256] or None if version else None
    for key, element in found.items():
        if not isinstance(element.value, (dict, list)):
            yield entry(check, document.line(element), key, json_text(element.value))
        elif key not in _LISTS:
            report.at("not-a-text", f"{key[:80]}: {shown(element.value)}", element)
    if devices := found.get("GPU Device list"):
        for number, device in enumerate(document.inside(devices)):
            if isinstance(device.value, str) and (named := _DEVICE.fullmatch(device.value)):
                yield endpoint(
                    check, document.line(device), "gpu", int(named["number"] or number), device=int(named["number"] or number),
                    node_name=named["host"] and clean(named["host"])[:256], model=clean(named["model"])[:256], bus_id=named["bus"],
                )
    failures: list[str] = []
    cases = list(document.inside(found["testcases"])) if "testcases" in found else []
    for index, case in enumerate(cases, 1):
        yield from _case(check, document, case, index, failures, report)
    if "error" in found:
        failures.append(json_text(found["error"].value) or "error")
    check.parameters["tests"] = sorted({name for case in cases if (name := text(case.value, "name"))})
    check.conclude(failures[0] if failures else None if cases else "the document has no tests")
    yield end(check)


def _case(check: Check, document: Document, case: Element, index: int, failures: list[str], report: Report) -> Rows:
    name, stated = text(case.value, "name"), text(case.value, "status")
    status = _STATUSES.get(stated or "", "unknown")
    reason = text(case.value, "error")
    if status == "failed":
        failures.append(f"{name}: {reason or stated}")
    found = by_key(document.inside(case))
    for key in ("sum", "min", "max", "average"):
        if key in found:
            yield entry(check, document.line(found[key]), key.upper(), json_text(found[key].value), index)
    matrix = matrix_of(text(case.value, "bandwidth_description") or "", name)
    if status == "measured":
        document.expect(found, ("sum", "bandwidth_matrix"))
        if matrix is None:
            report.at("unknown-unit", f"{name}: its matrix has no title that can be read", case, "error")
    points = 0
    cells = [list(document.inside(row)) for row in document.inside(found["bandwidth_matrix"])] if "bandwidth_matrix" in found else []
    parts = parts_of(matrix, name, len(cells), max(map(len, cells), default=0)) if matrix else [None]
    for number, row in enumerate(cells):
        part, of_part = divmod(number, len(cells) // len(parts) or 1)
        of_row = matrix._replace(part=parts[part]) if matrix else None
        for column, cell in enumerate(row):
            line = document.line(cell)
            value = table_number(json_text(cell.value) or "", name or "", line, report)
            if value is not None and of_row is not None:
                points += 1
                yield point(check, line, index, points, "pair", **cell_columns(of_row, str(of_part), str(column), value))
            elif value is None and of_row is not None and is_cell_expected(of_row, str(of_part), str(column)):
                report.at("cell-not-measured", f"{name}: {number}, {column}", line, "note")
    yield test(check, case.offset, case.length, index, name, status, reason)
