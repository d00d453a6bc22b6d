"""The units that statistics state, and what is made of them: never guessed from a number's size."""

from __future__ import annotations

import re

from warehouse.landing.readers.records import Record

# As models/reference/serving_unit.sql has them.
MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1000.0, "sec": 1000.0, "seconds": 1000.0}
RATES = frozenset({"requests/sec", "tokens/sec", "per sec", "requests/s", "tokens/s"})
# The statistics that the facts are made of, and of what kind they are.
TIMES = ("time_to_first_token", "request_latency", "inter_token_latency", "inter_chunk_latency")
THROUGHPUTS = ("request_throughput", "output_token_throughput", "total_token_throughput")
# Tokens and counts, of which the tools' CSV states no unit.
COUNTED = re.compile(r"(?:\w+_)?(?:count|length|tokens)|http_chunks_\w+")


def milliseconds(metric: Record, key: str, name: str) -> float | None:
    """A metric's value in milliseconds; an unknown unit is flagged, and gives none."""
    number = metric.number(key)
    if number is None:
        return None
    factor = MILLISECONDS.get((metric.text("unit") or "").strip())
    if factor is None:
        metric.flag("unknown-unit", f"{name}: {metric.text('unit')}")
        return None
    return number * factor


def is_known(name: str, unit: str | None) -> bool:
    """Whether the unit of a statistic can be converted, or need not be, as the facts are not made of it."""
    if name in TIMES:
        return unit in MILLISECONDS
    return name not in THROUGHPUTS or unit in RATES
