"""JSON that a script made of a tool's output: the rows of nccl-tests, the sums of nvbandwidth, the jobs of fio, the rates of iperf3.

Such documents name their units loosely: `algbw_gbps` of nccl-tests is GB/s, `bw_mb_s` of fio may be MB or MiB. The unit is taken from
what the document itself states (bytes / time, block size * operations); where that settles nothing, the value does not land.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from typing import Any

from warehouse.landing.readers.entries import is_count
from warehouse.landing.readers.json_text import Element, json_text
from warehouse.landing.readers.text import Data, Report, clean

from .check import Check, Row, Rows, at, end, endpoint, entry, is_missing, one_test, point, test
from .json_tree import Document, by_key, documents, text

_COLLECTIVE = rb'\{(?=[^{}]*"redop"\s*:)(?=[^{}]*"size_bytes"\s*:)[^{}]*"busbw_gbps"\s*:\s*-?\d'
_SUMS = rb'\{(?=[^{}]*"test"\s*:)[^{}]*"sum_gbps"\s*:\s*-?\d'
_JOBS = rb'\{(?=[^{}]*"iops"\s*:)[^{}]*"bw_mb_s"\s*:\s*-?\d'
_RATES = rb'\A\s*\{\s*(?:"hosts"\s*:\s*\[[^\]]*\]\s*,\s*)?"iperf3"\s*:\s*\{\s*"(?:fwd|rev)_gbps"'
MARK = re.compile(b"|".join((_COLLECTIVE, _SUMS, _JOBS, _RATES)))

_COMMAND = re.compile(r"(\w+_perf)(?:_mpi)?\s(.*)", re.DOTALL)
_OPTION = re.compile(r"(?:^|\s)-([a-zA-Z])\s+(\S+)")
_ENVIRONMENT = re.compile(r"\b(NCCL_\w+)=(\S+)")
_GPU = re.compile(r"(?P<model>.*?) \((?P<bus>[0-9a-fA-F:.]+)\)")
_SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_ROUNDING = 0.006  # of two decimals


def rows(data: Data, report: Report, file_name: str) -> Rows:
    """The checks of a file: one a document."""
    for document in documents(data, report):
        found = by_key(document.pairs())
        listed = [element for element in found.values() if isinstance(element.value, list)]
        if collective := _listing(listed, {"busbw_gbps", "size_bytes", "redop"}):
            yield from _collective(document, found, collective)
        elif sums := _listing(listed, {"sum_gbps", "test"}):
            yield from _nvbandwidth(document, found, sums)
        elif "results" in found and isinstance(found["results"].value, dict):
            yield from _fio(document, found)
        elif "iperf3" in found:
            yield from _iperf3(document, found)


def _listing(listed: Iterable[Element], keys: set[str]) -> Element | None:
    """The list whose rows have these keys."""
    return next((element for element in listed if element.value and isinstance(element.value[0], dict) and keys <= element.value[0].keys()), None)


def _check(document: Document, found: dict[str, Element], tool: str, name: str | None) -> Generator[Row, None, Check]:
    check = Check(tool, name, *at(document.whole))
    hosts = found["hosts"].value if "hosts" in found else None
    label = json_text(found["label"].value) if "label" in found else None
    check.nodes = [clean(host)[:256] for host in hosts if isinstance(host, str)] if isinstance(hosts, list) else [clean(label)[:256]] if label else []
    for key in ("command", "run_id", "raw_log", "total_ranks"):
        if key in found:
            yield entry(check, document.line(found[key]), key, json_text(found[key].value))
    ranks = document.number(found.get("total_ranks"))
    check.rank_count = int(ranks) if ranks is not None and is_count(ranks) else None
    return check


def _collective(document: Document, found: dict[str, Element], listing: Element) -> Rows:
    command = json_text(found["command"].value) if "command" in found else None
    program = _COMMAND.search(command or "")
    check = yield from _check(document, found, "nccl-tests", program[1] if program else None)
    # What sets two runs of one test apart: its options, and NCCL's settings.
    check.parameters["options"] = dict(_OPTION.findall(program[2])) if program else None
    check.parameters["environment"] = dict(_ENVIRONMENT.findall(command or "")) or None
    measured = [document.record(element) for element in document.inside(listing)]
    factor = _agreed_factor(
        (row.number("algbw_gbps"), row.number("size_bytes"), row.number("time_us")) for row in measured
    )
    index = 0
    for index, (element, row) in enumerate(zip(document.inside(listing), measured, strict=True), 1):
        redop, root, wrong = row.text("redop"), row.count("root"), row.count("wrong")
        rates = {name: row.number(f"{name}bw_gbps") for name in ("alg", "bus")}
        bandwidths: dict[str, Any] = {
            f"{name}_bandwidth_gb_per_s": None if rate is None or factor is None else rate * factor for name, rate in rates.items()
        }
        yield point(
            check, document.line(element), 1, index, status="failed" if wrong not in (None, 0, -1) else "measured",
            status_reason=None if factor else "the unit of the rates is not known",
            message_bytes=row.count("size_bytes"), element_count=row.count("count"), element_type=row.text("dtype"),
            redop=None if is_missing(redop or "") else redop, root=None if root is None or root < 0 else root,
            time_us=row.number("time_us"), wrong_count=wrong,
            **bandwidths,
        )
        if factor is None:
            row.flag("unknown-unit", "algbw_gbps agrees with neither bytes nor bits over time")
    yield from one_test(check, None if index else "the document has no rows")


def _agreed_factor(stated: Iterable[tuple[float | None, float | None, float | None]]) -> float | None:
    """What makes GB/s of the rates, by their sizes and times; None where the rows do not agree on one."""
    candidates = {1.0, 0.125}
    for rate, size, time_us in stated:
        if rate is not None and size is not None and time_us:
            computed = size / time_us / 1e3
            candidates &= {factor for factor in candidates if abs(rate - computed / factor) <= (_ROUNDING + 0.002 * computed) / factor}
    return max(candidates) if len(candidates) == 1 else None


def _nvbandwidth(document: Document, found: dict[str, Element], listing: Element) -> Rows:
    check = yield from _check(document, found, "nvbandwidth", "nvbandwidth")
    inventory = found.get("gpu_inventory")
    for gpu in document.inside(inventory) if inventory else ():
        named = _GPU.fullmatch(json_text(gpu.value) or "")
        if named and (gpu.key or "").isdecimal():
            yield endpoint(
                check, document.line(gpu), "gpu", int(gpu.key or 0), node_name=check.nodes[0] if check.nodes else None,
                device=int(gpu.key or 0), model=clean(named["model"])[:256], bus_id=named["bus"],
            )
    count = 0
    for count, element in enumerate(document.inside(listing), 1):
        row, name = document.record(element), text(element.value, "test")
        total = row.number("sum_gbps")
        if "latency" in (name or ""):  # nvbandwidth measures these in ns, whatever the key says
            row.flag("unit-contradicted", f"{name}: sum_gbps of a latency")
            total = None
        if total is not None:
            yield point(check, document.line(element), count, 1, scope_name="SUM", bandwidth=total, bandwidth_unit="GB/s")
        yield test(check, element.offset, element.length, count, name, "unknown" if total is None else "measured")
    check.parameters["tests"] = sorted(filter(None, (text(row, "test") for row in listing.value)))
    check.status = "succeeded" if count else "unknown"
    yield end(check)


def _fio(document: Document, found: dict[str, Element]) -> Rows:
    check = yield from _check(document, found, "fio", "fio")
    for key in ("bs_seq", "bs_rand", "file_size", "iodepth", "numjobs", "runtime_s"):
        if key in found:
            check.parameters[key] = json_text(found[key].value)
            yield entry(check, document.line(found[key]), key, json_text(found[key].value))
    jobs = [job for job in document.inside(found["results"]) if isinstance(job.value, dict) and "bw_mb_s" in job.value]
    for index, job in enumerate(jobs, 1):
        row, name = document.record(job), clean(job.key or "")[:256]
        block = _bytes(check.parameters.get(f"bs_{name.partition('_')[0]}"))
        rate, per_second = row.number("bw_mb_s"), row.number("iops")
        unit = _megabytes(rate, block, per_second)
        if rate is not None and unit is None:
            row.flag("unknown-unit", f"{name}: whether bw_mb_s is MB/s or MiB/s, its block size does not say")
        direction = next((kind for kind in ("read", "write", "trim") if kind in name), None)
        yield point(
            check, document.line(job), index, 1, direction=direction, bandwidth=rate if unit else None, bandwidth_unit=unit, io_per_s=per_second,
            latency_p99=row.number("p99_lat_ms"), latency_unit="ms",
        )
        yield test(check, job.offset, job.length, index, name, "measured")
    check.parameters["jobs"] = [job.key for job in jobs]
    check.status = "succeeded" if jobs else "unknown"
    yield end(check)


def _bytes(size: str | None) -> int | None:
    match = re.fullmatch(r"(\d{1,9})([kmg]?)(?:i?b)?", (size or "").casefold())
    return int(match[1]) * _SIZES.get(match[2], 1) if match else None


def _megabytes(rate: float | None, block: int | None, per_second: float | None) -> str | None:
    """The unit in which a rate is the block size by the operations."""
    if rate is None or not block or not per_second:
        return None
    units = {"MiB/s": 1 << 20, "MB/s": 10**6}
    return next((unit for unit, size in units.items() if abs(rate * size / (block * per_second) - 1) < 0.005), None)


def _iperf3(document: Document, found: dict[str, Element]) -> Rows:
    """Rates of both ways between two hosts, in Gbit/s as their keys say: iperf3 counts bits."""
    check = yield from _check(document, found, "iperf3", "iperf3")
    ends: list[Any] = list(check.nodes) if len(check.nodes) == 2 else [None, None]
    count = 0
    for rate in document.inside(found["iperf3"]):
        if rate.key in ("fwd_gbps", "rev_gbps"):
            count += 1
            source, target = ends if rate.key == "fwd_gbps" else ends[::-1]
            yield point(
                check, document.line(rate), 1, count, "pair", scope_name=f"{source} -> {target}" if source else rate.key,
                source=source, target=target, bandwidth=document.number(rate), bandwidth_unit="Gbits/sec",
            )
    yield from one_test(check, None if count else "the document has no rows")
