"""The deployment that AIPerf does not state, out of the record of InferenceX that restates its run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from warehouse.landing.contract import Bundle
from warehouse.landing.deployments import (
    SIZES,
    accelerator_of,
    accelerator_stated,
    accelerators_in_use,
    configuration,
    roles,
    size_in,
    sizes_stated,
    split_deployment,
    stated_text,
)
from warehouse.landing.implied_accelerators import KEYS, implied_by_record
from warehouse.landing.readers.entries import document
from warehouse.landing.readers.json_text import json_number, json_text
from warehouse.landing.readers.text import Entry, Report
from warehouse.landing.rows import Row

from .inferencex import elements_of


def deployment_row(bundle: Bundle, raw_path: str, place: int, report: Report) -> Row | None:
    """The record with this number in a file."""
    data = document(bundle, raw_path, report)
    found = next((item for index, item in enumerate(_objects(data)) if index == place), None)
    if found is None:
        report("malformed-json", f"there is no record {place}", severity="error")
        return None
    offset, length, record = found

    stated = {
        key: Entry(offset, length, None, key, json_text(value), json_number(value))
        for key, value in (*record.items(), *((key, _within(record, key)) for key in KEYS)) if not isinstance(value, (dict, list))
    }

    def known(key: str) -> str | None:
        return stated_text(stated, key)

    def size(key: str) -> int | None:
        return size_in(stated[key].number) if key in stated else None

    def number(key: str) -> float | None:
        return stated[key].number if key in stated else None

    sizes = sizes_stated(stated, "")
    entry, naming = accelerator_stated(stated)
    in_use = accelerators_in_use(stated, sizes.known)
    if sizes.are_in_doubt:
        in_use = in_use._replace(accelerators=None, to_prefill=None, to_decode=None)
    implied = implied_by_record(stated, in_use)
    for doubt in filter(None, (*sizes.doubts.values(), naming, *in_use.doubts, implied.doubt)):
        report(doubt.code, doubt.message, offset, length, severity=doubt.severity)
    system = entry.value if entry else None
    return Row(offset, length, {
        "system_name": system,
        "accelerator": accelerator_of(system) if system else None,
        "accelerator_count": None if implied.is_contradicted else in_use.accelerators,
        **roles(stated, None if implied.is_contradicted else in_use),
        "implied_accelerator_count": implied.accelerators,
        "accelerator_count_ratio": implied.ratio,
        **{f"{name}_parallel": sizes.known[name] for name in SIZES},
        "split_deployment": split_deployment(size, known("disagg")),
        **configuration(lambda key: stated[key].value if key in stated else None),
        "framework": (known("framework") or "").casefold() or None,
        "image": known("image"),
        "precision": known("precision"),
        "is_power_valid": number("power_valid") == 1,
        "accelerator_power_w": number("avg_total_gpu_power_w"),
        "accelerator_energy_per_output_token_j": number("joules_per_output_token"),
    })


def _within(record: dict[str, Any], path: str) -> Any:
    """The value at a path, with / between its keys."""
    found: Any = record
    for key in path.split("/"):
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _objects(data: bytes) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The object that a document is, or those of its list, with their bytes."""
    text = data.decode("latin-1")  # a character a byte; structure and numbers are ASCII
    decoder = json.JSONDecoder()
    position = text.find("{")
    while position >= 0:
        try:
            _, stop = decoder.raw_decode(text, position)
            record = json.loads(data[position:stop])
        except (ValueError, RecursionError):
            return
        is_list = elements_of(record) is not None
        if not is_list:
            yield position, stop - position, record
        position = text.find("{", text.find("[", position) if is_list else stop)
