"""A sweep of a collective: the rows of nccl-tests, or of the suite's own all-reduce under torchrun.

`algbw_gbps` and `busbw_gbps` are GB/s, as nccl-tests prints them: bytes / time. A document whose rates are bits / time has no rates here.
"""

from __future__ import annotations

from warehouse.landing.readers.json_text import Element
from warehouse.landing.readers.records import Record

from .documents import Document
from .run import ClusterRun

_ROUNDING = 0.006  # of two decimals
_SHARE = 0.02  # of a time that is rounded, too


def listing(found: Document) -> Element | None:
    """The list of points, if the document has one."""
    pair = found.pairs.get("results")
    values = pair.value if pair and isinstance(pair.value, list) else []
    return pair if values and isinstance(values[0], dict) and {"size_bytes", "busbw_gbps"} <= values[0].keys() else None


def land_points(cluster: ClusterRun, run: str, raw_path: str, found: Document, points: Element) -> None:
    """Add a row a message size."""
    rows = [(element, found.record(element)) for element in found.inside(points)]
    read = [(element, record, record.number("algbw_gbps"), _time_us(record), record.count("size_bytes")) for element, record in rows]
    computed = [(rate, size / time / 1e3) for _, _, rate, time, size in read if rate is not None and time and size]
    is_bits = bool(computed) and all(_agrees(rate, 8 * value) and not _agrees(rate, value) for rate, value in computed)
    for index, (element, record, rate, time, size) in enumerate(read, 1):
        root, bus = record.count("root"), record.number("busbw_gbps")
        if is_bits and (rate is not None or bus is not None):
            record.flag("unit-contradicted", "the rates are bits / time, not GB/s")
        cluster.buffer.add(
            "aisp_collective_point", raw_path, element.offset, element.length, run_id=run, point_index=index, message_bytes=size,
            element_count=record.count("count"), element_type=record.text("dtype"), redop=record.text("redop"),
            root=None if root is None or root < 0 else root, time_us=time, wrong_count=record.count("wrong"),
            alg_bandwidth_gb_per_s=None if is_bits else rate, bus_bandwidth_gb_per_s=None if is_bits else bus,
        )


def _time_us(record: Record) -> float | None:
    if "time_us" in record.values:
        return record.number("time_us")
    seconds = record.number("time_s")
    return None if seconds is None else seconds * 1e6


def _agrees(rate: float, computed: float) -> bool:
    return abs(rate - computed) <= _ROUNDING + _SHARE * computed
