"""Turns a run into landing rows, and checks that its summary is that of its responses.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.landing.consistency import check_agrees, check_statistics, check_units, without_contradicted_zeros
from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import Kind, check_computed, check_total, document, element_entry, land_entries, numeric, possible
from warehouse.landing.readers.json_text import json_pairs
from warehouse.landing.readers.statistics import agrees, agrees_at_once, mean, percentile, standard_deviation
from warehouse.landing.readers.text import Entry, Report, exact_number
from warehouse.landing.rows import RowBuffer, workload_columns
from warehouse.landing.serving.path_names import named_columns
from warehouse.landing.severity import WARNING, disagreement

from .bundles import FOLDER, RESPONSES, SUMMARY, run_id
from .requests import Detail, request_rows

_WORKLOAD_NUMBERS = (
    "mean_input_tokens", "stddev_input_tokens", "mean_output_tokens", "stddev_output_tokens", "num_concurrent_requests",
)
_SAMPLING = "additional_sampling_params_"
_COUNTS = ("results_num_requests_started", "results_number_errors", "results_num_completed_requests")
_KINDS = {**dict.fromkeys(_COUNTS, Kind.COUNT), "num_concurrent_requests": Kind.CONCURRENCY, "timestamp": Kind.MOMENT}
_SUMMED = {"mean": None, "stddev": 1}  # and the delta degrees of freedom
_STATISTIC = re.compile(r"results_(.+)_(?:quantiles_(p\d+)|(mean|min|max|stddev))")

_Batches = Iterator[tuple[str, pa.RecordBatch]]


def landed(bundle: Bundle, buffer: RowBuffer) -> _Batches:
    """Add all rows of a bundle; yields batches that are full."""
    run = run_id(dict(bundle.manifest.identity), bundle.digest)
    paths = {file.role: file.raw_path for file in bundle.manifest.files}
    entries: dict[str, Entry] = {}
    if SUMMARY in paths:
        report = Report(buffer, paths[SUMMARY], run)
        data = document(bundle, paths[SUMMARY], report)
        stated = without_contradicted_zeros(_summary_entries(data, report), report)
        found = land_entries(buffer, "llmperf_entry", paths[SUMMARY], run, SUMMARY, stated)
        entries = {_name(key): entry for key, entry in found.items()}
        check_statistics(entries, report)
        check_units(entries, ("s",), report)
        check_total(entries, _COUNTS[0], (_COUNTS[2], _COUNTS[1]), report)
        _check_throughput(entries, report)
    if RESPONSES in paths:
        detail = Detail()
        rows = request_rows(bundle.map(paths[RESPONSES]), Report(buffer, paths[RESPONSES], run), detail)
        yield from buffer.add_all("llmperf_request", paths[RESPONSES], rows, run_id=run)
        _check(entries, detail, Report(buffer, paths.get(SUMMARY, paths[RESPONSES]), run))
    lead = paths.get(SUMMARY) or paths[RESPONSES]
    if folder := bundle.manifest.identity.get(FOLDER):
        message = f"another summary of this name and second states other figures: the folder {folder} is part of the run's name"
        Report(buffer, lead, run)("name-collides", message)
    buffer.add(
        "llmperf_run", lead, 0, bundle.manifest.by_path[lead].bytes, run_id=run,
        **named_columns(bundle.manifest.identity, lead), **workload_columns(_workload(entries)),
    )


def _check_throughput(entries: Mapping[str, Entry], report: Report) -> None:
    """By token_benchmark_ray.py both rates are of the requests without an error, over one duration, which the summary does not state."""
    throughput = entries.get("results_mean_output_throughput_token_per_s")
    per_minute, tokens = (entries.get(f"results_{name}") for name in ("num_completed_requests_per_min", "number_output_tokens_mean"))
    if throughput and per_minute and tokens and per_minute.number is not None and tokens.number is not None:
        of = f"{per_minute.key} / 60 * {tokens.key}"
        check_agrees(throughput, per_minute.number / 60 * tokens.number, of, report)


def _name(key: str) -> str:
    """Later versions nest the results; under one name for both, keys are joined as the older ones write them."""
    return key.replace("/", "_")


def _summary_entries(data: bytes, report: Report) -> Iterator[Entry]:
    """The summary's entries; values that should be numbers and are not are reported."""
    for element in json_pairs(data, report, depth=4):
        entry = element_entry(element, report)
        name = _name(entry.key)
        if _is_number(name):
            numeric(entry, report)
        yield possible(entry, report, _KINDS.get(name))


def _is_number(name: str) -> bool:
    return name in _WORKLOAD_NUMBERS or name in _COUNTS or bool(_STATISTIC.fullmatch(name))


def _workload(entries: Mapping[str, Entry]) -> dict[str, object]:
    """What was asked of the service; what the summary does not state is absent."""
    workload: dict[str, object] = {"tool": "llmperf"}
    if "model" in entries and entries["model"].value:
        workload["model"] = entries["model"].value
    for key in _WORKLOAD_NUMBERS:
        number = entries[key].number if key in entries else None
        if number is not None:
            workload[key] = exact_number(number)
    parameters = entries.get("additional_sampling_params")
    if parameters is not None and parameters.value not in (None, "{}"):
        workload["additional_sampling_params"] = parameters.value
    # The tool flattens them as it does its results, but for none.
    flat = {key.removeprefix(_SAMPLING): entry.value for key, entry in entries.items() if key.startswith(_SAMPLING)}
    if flat:
        workload["additional_sampling_params"] = flat
    return workload


def _check(entries: Mapping[str, Entry], detail: Detail, report: Report) -> None:
    """Tell where the summary, or the requests' own throughput, disagrees with the requests."""
    ordered = {key: np.sort(values) for key, values in detail.values.items() if values}
    for key, entry in entries.items():
        statistic = _STATISTIC.fullmatch(key)
        if statistic and statistic[1] in ordered and entry.number is not None:
            values, name = ordered[statistic[1]], statistic[2] or statistic[3]
            if name in _SUMMED and agrees_at_once(entry.number, values, _SUMMED[name]):
                continue
            computed = _computed(values, name)
            if computed is not None and not agrees(entry.number, computed):
                check_computed(entry, computed, report)
    counts = (detail.requests, detail.failed, detail.requests - detail.failed)
    for key, count in zip(_COUNTS, counts, strict=True):
        number = entries[key].number if key in entries else None
        if number is not None and number != count:
            check_computed(entries[key], count, report)
    if detail.wrong_throughputs:
        stated, computed = mean(detail.values["request_output_throughput_token_per_s"]), mean(detail.computed_throughput)
        # A known fault of the tool's clients, of this column alone: the run's figures are of tokens and times.
        _, apart = disagreement(stated, computed)
        report(
            "request-rate-disagrees",
            f"request_output_throughput_token_per_s of {detail.wrong_throughputs} of {detail.requests - detail.failed} requests"
            f" is not number_output_tokens / end_to_end_latency_s: its mean is {stated:.4g}, that of the quotient"
            f" {computed:.4g}: {apart}; only stated_output_token_throughput_per_s of request_fact has it",
            severity=WARNING,
        )


def _computed(ordered: NDArray[Any], statistic: str) -> float | None:
    if statistic == "mean":
        return mean(ordered)
    if statistic == "stddev":
        return standard_deviation(ordered, ddof=1)
    if statistic in ("min", "max"):
        return float(ordered[0 if statistic == "min" else -1])
    return percentile(ordered, float(statistic[1:]))
