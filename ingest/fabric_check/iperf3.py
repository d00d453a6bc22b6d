"""The JSON of iperf3 (`-J`, or `--json-stream`: an event a line): the sums of both sides and each stream of the end report.
Rates are bits a second, round-trip times microseconds, jitter milliseconds. Source: esnet/iperf, src/iperf_api.c.

A UDP test has one sum, at the sender's rate; newer versions write what each side measured, too, and that is taken. A server
does not know what the client sent or received, and writes 0 for it: that is no measurement.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from warehouse.landing.readers.json_text import Element, json_text
from warehouse.landing.readers.text import Data, Report, clean

from .check import Check, Rows, at, entry, one_test, point
from .json_tree import Document, by_key, documents, text

MARK = re.compile(rb'"version"\s*:\s*"iperf 3|"start"\s*:\s*\{\s*"connected"\s*:')

_EVENT = re.compile(rb'\{\s*"event"\s*:')
_EVENTS = re.compile(rb'\s*\{\s*"event"\s*:')
_WHOLE = re.compile(rb'^\{(?!\s*"event")', re.MULTILINE)
_FROZEN = ("protocol", "num_streams", "blksize", "omit", "duration", "bytes", "blocks", "reverse", "bidir", "target_bitrate")
_SUMS = {
    "sum_sent": "sent", "sum_received": "received",
    "sum_sent_bidir_reverse": "sent_reverse", "sum_received_bidir_reverse": "received_reverse",
}
_UDP_SUMS = {"sum": None, "sum_bidir_reverse": "reverse"}
_SIDES = {"sender": "sent", "receiver": "received", "udp": None}


def rows(data: Data, report: Report, file_name: str) -> Rows:
    """The checks of a file: one a document. `--json-stream-full-output` writes the events of an execution, then its document."""
    whole = _WHOLE.search(data) if _EVENTS.match(data) else None
    if whole:
        yield from _check(Document(data, report, 0, whole.start(), 1))
    for document in documents(data, report, whole.start() if whole else 0):
        yield from _check(document)


def _check(document: Document) -> Rows:
    check = Check("iperf3", "iperf3", *at(document.whole))
    found = _events(document) if _EVENT.match(document.data) else by_key(document.pairs())
    begun = by_key(document.inside(found["start"])) if "start" in found else {}
    ended = by_key(document.inside(found["end"])) if "end" in found else {}
    if "error" not in found:
        document.expect(found, ("start", "end"))
        document.expect(begun, ("version", "test_start"))
        sums_stated = ("sum",) if "sum" in ended else ("sum_sent", "sum_received")
        document.expect(ended, ("streams", "cpu_utilization_percent", *sums_stated))
    yield from _begun(check, document, begun)
    if "cookie" in begun:
        check.origin, check.is_origin_random = json_text(begun["cookie"].value), True
    check.agreed = text(ended["sum_received"].value, "bytes") if "sum_received" in ended else None
    ends = _ends(begun)
    is_server = "accepted_connection" in begun
    check.side = "server" if is_server else "client"
    check.nodes = [name for name in ends if name] if all(ends) else []
    count = 0
    sums = {key: direction for key, direction in _SUMS.items() if key in ended} or _UDP_SUMS
    for key, direction in sums.items():
        if key in ended and _has_rate(document, ended[key], is_server):
            count += 1
            yield _point(check, document, ended[key], count, "pair", direction, ends, is_server)
    for stream in document.inside(ended["streams"]) if "streams" in ended else ():
        sides = by_key(document.inside(stream))
        document.expect(sides, ("udp",) if "udp" in sides else ("sender", "receiver"))
        for key, element in sides.items():
            if key in _SIDES and _has_rate(document, element, is_server):
                count += 1
                yield _point(check, document, element, count, "stream", _SIDES[key], ends, is_server)
    if cpu := ended.get("cpu_utilization_percent"):
        for element in document.inside(cpu):
            yield entry(check, document.line(element), f"{cpu.key}/{element.key}", json_text(element.value), 1)
    error = json_text(found["error"].value) if "error" in found else None
    reason = error or (None if count else "the document has no end report")
    yield from one_test(check, reason)


def _events(document: Document) -> dict[str, Element]:
    """What a document has under `start`, `end` and `error`, of the events of a stream."""
    found = {}
    for event in document.lines():
        name, stated = event.get("event"), event.get("data")
        if name is not None and stated is not None:
            found[json_text(name.value) or ""] = stated
    return found


def _has_rate(document: Document, element: Element, is_server: bool) -> bool:
    """Whether a sum or a side states what it measured; a missing rate is reported."""
    side = document.record(element)
    rate = side.number("bits_per_second")
    if rate is None:
        side.flag("missing-key", f"{element.key}: bits_per_second")
    return rate is not None and not (is_server and rate == 0 and not side.number("packets"))


def _begun(check: Check, document: Document, begun: dict[str, Element]) -> Rows:
    for key in ("version", "system_info"):
        if key in begun:
            yield entry(check, document.line(begun[key]), key, json_text(begun[key].value))
    if "version" in begun:
        check.tool_version = clean(json_text(begun["version"].value) or "").removeprefix("iperf ")[:256] or None
    asked = begun["test_start"].value if "test_start" in begun else {}
    check.parameters |= {key: value for key in _FROZEN if (value := text(asked, key)) is not None}
    check.duration_s = document.record(begun.get("test_start")).number("duration") or None
    if stamp := begun.get("timestamp"):
        seconds = document.record(stamp).number("timesecs")
        if seconds is not None and 0 < seconds < 1e11:
            check.started_at, check.is_zone_assumed = datetime.fromtimestamp(seconds, UTC), False
            check.started_at_text = text(stamp.value, "time")


def _ends(begun: dict[str, Element]) -> tuple[str | None, str | None]:
    """This host and the other one, as the first connection names them."""
    connected: Any = begun["connected"].value if "connected" in begun else None
    first = connected[0] if isinstance(connected, list) and connected else {}
    return text(first, "local_host") or None, text(first, "remote_host") or None


def _point(
    check: Check, document: Document, element: Element, index: int, scope: str, direction: str | None,
    ends: tuple[str | None, str | None], is_server: bool,
) -> Any:
    value = document.record(element)
    is_reverse = check.parameters.get("reverse") == "1" or (direction or "").endswith("reverse")
    is_from_here = is_reverse == is_server
    if scope == "stream" and check.parameters.get("bidir") == "1" and isinstance(is_sender := value.values.get("sender"), bool):
        is_from_here = is_sender
    source, target = ends if is_from_here else ends[::-1]
    socket = value.count("socket")
    has_round_trips = value.number("mean_rtt") is not None
    rate, packets = value.number("bits_per_second"), value.number("packets")
    # The sender counts no loss: its zeros mean nothing.
    jitter, lost = (None, None) if (direction or "").startswith("sent") else (value.number("jitter_ms"), value.number("lost_percent"))
    return point(
        check, document.line(element), 1, index, scope, direction=direction,
        scope_name=f"stream {socket}" if scope == "stream" else f"{source} -> {target}" if all(ends) else None,
        source=source, target=target, bandwidth_unit="bits/s",
        bandwidth=None if is_server and rate == 0 and packets else rate,
        retransmit_count=value.count("retransmits"), jitter_ms=jitter, lost_pct=lost,
        latency_mean=value.number("mean_rtt"), latency_min=value.number("min_rtt"),
        latency_max=value.number("max_rtt"), latency_unit="us" if has_round_trips else None,
        latency_kind="rtt" if has_round_trips else None,
    )
