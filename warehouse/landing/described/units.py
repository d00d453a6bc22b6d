"""Units that a description may state, and what one is in another. Nothing is guessed: a unit that is not listed is a fault."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache

_SCALES: dict[str, dict[str, Fraction]] = {
    "time": {
        "ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "ms": Fraction(1, 1000), "s": Fraction(1), "min": Fraction(60), "h": Fraction(3600),
    },
    "data": {
        "bytes": Fraction(1), "KB": Fraction(10**3), "MB": Fraction(10**6), "GB": Fraction(10**9), "KiB": Fraction(2**10), "MiB": Fraction(2**20),
        "GiB": Fraction(2**30),
    },
    "rate of data": {
        "B/s": Fraction(1), "KB/s": Fraction(10**3), "MB/s": Fraction(10**6), "GB/s": Fraction(10**9), "KiB/s": Fraction(2**10),
        "MiB/s": Fraction(2**20), "GiB/s": Fraction(2**30), "Mbit/s": Fraction(10**6, 8), "Gbit/s": Fraction(10**9, 8),
    },
    "rate of operations": {
        "flop/s": Fraction(1), "Mflop/s": Fraction(10**6), "Gflop/s": Fraction(10**9), "Tflop/s": Fraction(10**12), "Pflop/s": Fraction(10**15),
    },
    "frequency": {"Hz": Fraction(1), "MHz": Fraction(10**6), "GHz": Fraction(10**9)},
    "energy": {"uJ": Fraction(1, 10**6), "mJ": Fraction(1, 1000), "J": Fraction(1), "kJ": Fraction(1000), "Wh": Fraction(3600)},
    "power": {"uW": Fraction(1, 10**6), "mW": Fraction(1, 1000), "W": Fraction(1), "kW": Fraction(1000)},
    "share": {"%": Fraction(1, 100), "1": Fraction(1)},
    **{each: {each: Fraction(1)} for each in (
        "1/s", "tokens/s", "requests/s", "samples/s", "°C", "tokens", "operations/s", "iterations", "bytes/op", "allocs/op", "rows/s",
        "cycles", "instructions/cycle", "USD", "updates/s", "pages/s",
    )},
}
SAME = {
    "requests/s": "1/s", "operations/s": "1/s", "µs": "us", "μs": "us", "µW": "uW", "μW": "uW", "µJ": "uJ", "μJ": "uJ",
    "B": "bytes", "seconds": "s", "percent": "%", "second": "s", "milliseconds": "ms",
    "secs": "s", "sec": "s", "msec": "ms", "usec": "us", "nsec": "ns", "sec.": "s", "ops/s": "1/s", "req/s": "1/s", "tok/s": "tokens/s",
    "bytes/s": "B/s", "Bytes/s": "B/s", "kB": "KB", "kB/s": "KB/s", "KBytes/s": "KB/s", "MBytes/s": "MB/s", "GBytes/s": "GB/s", "Bytes": "bytes",
    "byte": "bytes",
}
UNITS = {unit: (dimension, scale) for dimension, units in _SCALES.items() for unit, scale in units.items()}
# Of a name's end, the units that it states (docs/models.md).
SUFFIXES = {
    "ns": "ns", "us": "us", "ms": "ms", "s": "s", "bytes": "bytes", "pct": "%", "w": "W", "mib": "MiB", "mhz": "MHz", "per_s": "1/s",
    "gb_per_s": "GB/s", "mb_per_s": "MB/s", "mib_per_s": "MiB/s", "gbit_per_s": "Gbit/s", "gflop_per_s": "Gflop/s", "tflop_per_s": "Tflop/s",
    "tokens_per_s": "tokens/s", "samples_per_s": "samples/s", "throughput_per_s": "1/s", "j": "J",
}


def unit_of(text: str) -> str | None:
    """The unit as it is listed; None if it is not."""
    text = SAME.get(text, text) if text not in UNITS else text
    return text if text in UNITS else None


def suffix_unit(name: str) -> str | None:
    """The unit that a metric's name ends in."""
    parts = name.split("_")
    return next((SUFFIXES[end] for place in range(1, len(parts)) if (end := "_".join(parts[place:])) in SUFFIXES), None)


@lru_cache(maxsize=1024)
def factor(stated: str, wanted: str) -> Fraction | None:
    """By how much a number in one unit is multiplied to be in another; None if that is no unit of the same quantity."""
    one, other = UNITS.get(SAME.get(stated, stated)), UNITS.get(SAME.get(wanted, wanted))
    return one[1] / other[1] if one and other and one[0] == other[0] else None


def converted(text: str, by: Fraction) -> float | None:
    """A number as written, multiplied exactly and rounded once."""
    try:
        value = float(Fraction(Decimal(text.strip())) * by) if len(text) < 400 else None
    except (InvalidOperation, OverflowError, ValueError):
        return None
    return value
