"""`dcgmi diag -j`, of DCGM 2 to 4: the result of each test of each GPU. A failed test is an event; one that warned, too.

DCGM 2 and 3 name the object "DCGM GPU Diagnostic" and a GPU `gpu_id` or `gpu_ids`; DCGM 4 has "DCGM Diagnostic" and `entity_id`, and its warnings are
objects. The output states neither its node nor the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from warehouse.landing.readers.text import Data, Place, Report

from .json_output import elements, items, json_output, objects
from .stated import Entry, Event, Stated, Tool

_ROOT = re.compile(r"DCGM (?:GPU )?Diagnostic")
_HEAD = re.compile(rb'[^{]{0,4000}\{\s*"DCGM (?:GPU )?Diagnostic"\s*:')
_BAD = {"fail": "diag-failed", "warn": "diag-warned"}


def _read(data: Data, report: Report) -> Iterator[Stated]:
    place, document = json_output(data, report)
    root = dict(items(next((value for key, value in items(document) if _ROOT.fullmatch(key)), None)))
    for key, value in [*items(root), *items(root.get("metadata"))]:
        if isinstance(value, str):
            yield Entry(place, "diag", "dcgmi", key, value)
    for category in objects(root.get("test_categories")):
        for test in objects(category.get("tests")):
            name = str(test.get("name"))
            for result in objects(test.get("results")):
                yield from _of_result(place, name, result)


def _of_result(place: Place, test: str, result: dict[str, Any]) -> Iterator[Stated]:
    status = str(result.get("status"))
    entity = next((result[key] for key in ("entity_id", "gpu_id", "gpu_ids") if result.get(key) is not None), "all")
    group = str(result.get("entity_group") or "gpu").lower()
    component = f"{group} {entity}"
    yield Entry(place, group, component, f"diag/{test}", status)
    said = [str(each.get("warning", each)) if isinstance(each, dict) else str(each) for each in elements(result.get("warnings"))]
    if code := _BAD.get(status.lower()):
        yield Event(place, code, f"{test} of {component}: {status}" + "".join(f"; {each}" for each in said), group, f"{component} {test}")


TOOL = Tool("dcgmi_diag", lambda head: _HEAD.match(head) is not None, _read)
