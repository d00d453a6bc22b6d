"""The deployment that AIPerf does not state, out of the record of InferenceX that restates its run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from warehouse.landing.contract import Bundle
from warehouse.landing.deployments import (
    accelerator_of,
    accelerators_stated,
    accelerators_used,
    configuration,
    count_disagreement,
    split_deployment,
)
from warehouse.landing.readers.entries import document
from warehouse.landing.readers.json_text import json_text
from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import Row

from .inferencex import elements_of


def deployment_row(bundle: Bundle, raw_path: str, number: int, report: Report) -> Row | None:
    """The record with this number in a file."""
    data = document(bundle, raw_path, report)
    found = next((item for index, item in enumerate(_objects(data)) if index == number), None)
    if found is None:
        report("malformed-json", f"there is no record {number}", severity="error")
        return None
    offset, length, record = found

    def text(key: str) -> str | None:
        value = record.get(key)
        return None if isinstance(value, (dict, list)) else json_text(value)

    def known(key: str) -> str | None:
        value = text(key)
        return None if value is None or value.strip().casefold() in ABSENT else value

    def size(key: str) -> int | None:
        value = record.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31 else None

    split = (size("num_prefill_gpu"), size("num_decode_gpu"))
    system = known("hw")
    count = accelerators_stated(system or "")
    if None not in split:
        used = sum(filter(None, split)) or None
    else:
        used = accelerators_used((size("tp"), size("pp"), size("pcp_size")), count)
        if used is None and (message := count_disagreement(count, (size("tp"), size("pp"), size("dp")))):
            report("accelerator-count-disagrees", message, offset, length)
    return Row(offset, length, {
        "system_name": system,
        "accelerator": accelerator_of(system) if system else None,
        "accelerator_count": used,
        "tensor_parallel": size("tp"),
        "data_parallel": size("dp"),
        "pipeline_parallel": size("pp"),
        "expert_parallel": size("ep"),
        "split_deployment": split_deployment(size),
        **configuration(text),
        "framework": (known("framework") or "").casefold() or None,
        "image": known("image"),
        "precision": known("precision"),
    })


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
