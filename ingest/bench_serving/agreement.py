"""Whether a record's aggregates are those of its own requests. Both are kept; a disagreement is reported.

Only what the arrays state outright is reported: times to the first token, gaps, tokens and counts. When an end-to-end time
ended differs between versions of the clients.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.landing.consistency import rounding
from warehouse.landing.readers.text import Entry
from warehouse.landing.severity import NOTE, disagreement

from .formats import latency_of
from .requests import Detail

_STATED = re.compile(r"(mean|median|std|p(?:100|\d{1,2}(?:\.\d{1,6})?))_(ttft|itl)_ms")


def disagreements(
    stated: Mapping[str, Entry], detail: Detail, computed: Mapping[str, float]
) -> Iterator[tuple[Entry, str, str]]:
    """(the aggregate, what is wrong with it, how serious that is) for each that its requests contradict beyond the rounding it was written with.
    `computed` is what was computed of them anyhow."""
    counts = {"completed": detail.requests - detail.failed, "failed": detail.failed}
    for key, column in (("total_input_tokens", "input_token_count"), ("total_output_tokens", "output_token_count")):
        if detail.columns[column].null_count < detail.requests:
            counts[key] = sum(filter(None, detail.of_succeeded(column).to_pylist()))
    for key, count in counts.items():
        entry = stated.get(key)
        if entry and entry.number is not None and entry.number != count:
            severity, apart = disagreement(entry.number, count)
            yield entry, f"{key} is stated as {entry.value}, its requests give {count}: {apart}", severity
    ttfts = detail.of_succeeded("ttft_ms")
    for key, entry in stated.items():
        if (found := _STATED.fullmatch(key)) and entry.number is not None:
            values = ttfts if found[2] == "ttft" else detail.gaps_ms
            value = computed[key] if key in computed else _percentile(found[1], values)
            if value is not None and abs(value - entry.number) > rounding(entry.value or "") + 1e-6 * abs(value):
                severity, apart = disagreement(entry.number, value)
                yield entry, f"{key} is stated as {entry.value}, its requests give {value!r}: {apart}", severity


def metrics_of_requests(stated: Mapping[str, Entry], detail: Detail, computed: Mapping[str, float]) -> list[str]:
    """The latencies of which all statistics of a run are to come from its requests: some of them only the requests give, and those that the
    record states are not of the same requests. Clients count an answer without a first token as zero, others end a request at another
    moment: up to 5 % apart the stated ones stand, unless such an answer is among the requests."""
    has_unanswered = bool(detail.of_succeeded("ttft_ms").null_count)
    of_record = {
        found[0]: (entry.number * found[1], rounding(entry.value or "") * found[1])
        for key, entry in stated.items() if entry.number is not None and (found := latency_of(key))
    }
    of_requests = {found[0]: number * found[1] for key, number in computed.items() if (found := latency_of(key))}
    chosen = []
    for metric in ("ttft", "tpot", "itl", "e2e"):
        here = {name: number for name, number in of_requests.items() if name.endswith(f"_{metric}")}
        both = [(*of_record[name], number) for name, number in here.items() if name in of_record]
        if len(both) == len(here):
            continue
        apart = [(number, own) for number, rounded, own in both if abs(number - own) > rounded + 1e-6 * abs(own)]
        if apart and (has_unanswered or any(disagreement(number, own)[0] != NOTE for number, own in apart)):
            chosen.append(metric)
    return chosen


def disagreements_per_accelerator(stated: Mapping[str, Entry], accelerators: int | None) -> Iterator[tuple[Entry, str, str]]:
    """The same for the output and the power per accelerator of InferenceX's records that state those of the system too: by
    process_agentic_result.py and aggregate_power.py, each is the system's over all accelerators, of prefill and decode together. Power may
    have been read of other accelerators than those in use, so it does not count them; throughput does (implied_accelerators.py)."""
    for key, of_system in (("output_tput_per_gpu", "output_tput_tps"), ("avg_power_w", "avg_total_gpu_power_w")):
        each, whole = stated.get(key), stated.get(of_system)
        if not accelerators or each is None or whole is None or each.number is None or whole.number is None:
            continue
        tolerance = rounding(each.value or "") * accelerators + rounding(whole.value or "")
        if abs(each.number * accelerators - whole.number) > tolerance + 1e-6 * abs(whole.number):
            severity, apart = disagreement(each.number * accelerators, whole.number)
            message = f"{key} is stated as {each.value}, but {of_system} as {whole.value}, of {accelerators} accelerators: {apart}"
            yield each, message, severity


def _percentile(name: str, values: pa.Array) -> float | None:
    """The percentile `p25` and the like; None of nothing."""
    if len(values) == values.null_count:
        return None
    return float(pc.quantile(values, q=float(name[1:]) / 100, interpolation="linear")[0].as_py())
