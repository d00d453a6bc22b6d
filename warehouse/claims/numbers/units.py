"""Units as people write them beside a number, and as columns declare them: which are the same, and which are multiples of another."""

from __future__ import annotations

from decimal import Decimal

# What is measured, and every spelling with its size. Case counts: mJ is not MJ.
_UNITS: dict[str, dict[str, str]] = {
    "time": {"ns": "1e-9", "us": "1e-6", "µs": "1e-6", "ms": "1e-3", "s": "1", "sec": "1", "seconds": "1", "min": "60", "h": "3600"},
    "tokens": {"tokens": "1", "token": "1", "tok": "1"},
    "tokens per time": {"tokens/s": "1", "token/s": "1", "tok/s": "1", "tps": "1", "t/s": "1", "tokens/sec": "1", "tok/sec": "1"},
    "events per time": {"1/s": "1", "/s": "1", "req/s": "1", "requests/s": "1", "rps": "1", "qps": "1", "queries/s": "1"},
    "events per minute": {"1/min": "1"},
    "samples per time": {"samples/s": "1", "sample/s": "1"},
    "seconds per second": {"s/s": "1"},
    "data": {"bytes": "1", "B": "1", "kB": "1e3", "KB": "1e3", "MB": "1e6", "GB": "1e9", "TB": "1e12"},
    "data per time": {"bytes/s": "1", "B/s": "1", "kB/s": "1e3", "KB/s": "1e3", "MB/s": "1e6", "GB/s": "1e9", "TB/s": "1e12"},
    "power": {"mW": "1e-3", "W": "1", "kW": "1e3", "MW": "1e6"},
    "energy": {"mJ": "1e-3", "J": "1", "kJ": "1e3"},
    "operations per time": {"GFLOP/s": "1e9", "Gflop/s": "1e9", "GFLOPS": "1e9", "TFLOP/s": "1e12", "TFLOPS": "1e12", "PFLOP/s": "1e15"},
    "frequency": {"MHz": "1e6", "GHz": "1e9"},
    "transfers per time": {"GT/s": "1"},
    "money": {"USD": "1", "$": "1"},
    "money per time": {"USD/h": "1", "$/h": "1"},
    "share": {"%": "1", "percent": "1"},
    "temperature": {"°C": "1", "C": "1"},
}
_BY_SPELLING = {spelling: (dimension, Decimal(size)) for dimension, sizes in _UNITS.items() for spelling, size in sizes.items()}


def is_unit(text: str) -> bool:
    """Whether this is the spelling of a unit."""
    return text in _BY_SPELLING


def factor(typed: str, declared: str | None) -> Decimal | None:
    """By which a number in the unit `typed` is multiplied to be in the unit that a column declares; None where one cannot be the
    other, or the column declares none: units are never guessed."""
    if declared is None or typed == declared:
        return None if declared is None else Decimal(1)
    (dimension, size), (other, other_size) = _BY_SPELLING[typed], _BY_SPELLING.get(declared, ("", Decimal(1)))
    return size / other_size if dimension == other else None
