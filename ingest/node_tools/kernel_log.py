"""Kernel logs, as dmesg, the journal and syslog write them: what they report of GPUs (XID, SXID), machine checks, memory, PCIe, links, disks and
CPUs. Other lines only count: a log without any of these says that none was reported while it was kept.

A time without a year has none; seconds since boot are no time; `dmesg -T` writes the machine's local time without a zone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from warehouse.landing.readers.text import Data, Line, Report, decoded, lines

from .stated import Entry, Event, Stated, Tool

_NAME = "kernel"
_ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_SINCE_BOOT = r"\[ *(?P<since>\d{1,12}\.\d{6})\] ?"
_FACILITY = r"(?:[a-z0-9]+ *:[a-z]+ *: ?)?"  # dmesg -x
_PREFIXES = tuple(re.compile(prefix) for prefix in (
    rf"(?:<\d+>)?{_FACILITY}{_SINCE_BOOT}",
    rf"{_FACILITY}\[(?P<local>[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d \d{{4}})\] ?",
    rf"{_FACILITY}(?P<dmesg_iso>{_ISO}) (?!\S+ kernel: )",
    rf"(?P<iso>{_ISO}) (?P<iso_host>\S+) kernel: (?:{_SINCE_BOOT.replace('since', 'iso_since')})?",
    r"(?P<unix>\d{9,11}\.\d{3,9}) (?P<unix_host>\S+) kernel: ",
    rf"[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? (?P<short_host>\S+) kernel: (?:{_SINCE_BOOT.replace('since', 'short_since')})?",
))
_PCI = r"(?P<pci>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?)"
_DMESG_JSON = re.compile(rb'\s*\{\s*"dmesg"\s*:\s*\[')
_DMESG_KEY = re.compile(r'\s*"(time|msg)":\s*(\d{1,12}(?:\.\d{1,9})?|"(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"),?\s*')
_EPOCH = datetime.fromtimestamp(0, UTC)
_LEAST_LINES = 3  # that begin as a kernel log's do, before a file counts as one
_LOOKED_AT = 40
_KERNEL_WORDS = (b"Linux version", b"NVRM:", b"systemd[1]:", b"pci 0000:", b"EXT4-fs", b"[Hardware Error]", b"Command line: ")


@dataclass(frozen=True)
class _Rule:
    code: str
    kind: str
    pattern: re.Pattern[str]


def _rule(code: str, kind: str, pattern: str) -> _Rule:
    return _Rule(code, kind, re.compile(pattern))


# The first that matches names the event. `pci`, `name` and `number` say what it is about.
_RULES = (
    _rule("xid", "XID", rf"NVRM: Xid \(PCI:{_PCI}\): (?P<number>\d+),"),
    _rule("sxid-fatal", "nvswitch", rf"nvidia-nvswitch\d*: SXid \(PCI:{_PCI}\): (?P<number>\d+), Fatal"),
    _rule("sxid", "nvswitch", rf"nvidia-nvswitch\d*: SXid \(PCI:{_PCI}\): (?P<number>\d+),"),
    _rule("gpu-lost", "gpu", rf"NVRM: GPU (?:at )?(?:PCI:)?{_PCI}.*(?:fallen off the bus|GPU is lost)"),
    _rule("gpu-reset", "gpu", rf"amdgpu {_PCI}: .*GPU reset begin"),
    _rule("gpu-ecc-uncorrected", "gpu", rf"amdgpu {_PCI}: .*uncorrectable hardware errors? detected"),
    _rule("machine-check", "cpu", r"\[Hardware Error\]: CPU:? ?(?P<name>\d+):? .*Machine Check|mce: .*Machine check events logged"),
    _rule("memory-uncorrected", "memory", r"EDAC (?P<name>MC\d+): \d+ UE |\[Hardware Error\]: .*severity: (?:fatal|recoverable)|Memory failure: 0x"),
    _rule("memory-corrected", "memory", r"EDAC (?P<name>MC\d+): \d+ CE |\[Hardware Error\]: .*severity: corrected"),
    _rule("oom-cgroup", "process", r"Memory cgroup out of memory: Kill(?:ed)? process \d+ \((?P<name>[^)]*)\)"),
    _rule("oom", "process", r"Out of memory(?:[^:]*): Kill(?:ed)? process \d+ \((?P<name>[^)]*)\)"),
    _rule("pcie-uncorrected", "pci", rf"AER: (?:Multiple )?Uncorrect(?:ed|able) .*?error (?:message )?received:? (?:from )?{_PCI}|"
          r"PCIe Bus Error: severity=Uncorrect"),
    _rule("pcie-corrected", "pci", rf"AER: (?:Multiple )?Correct(?:ed|able) error (?:message )?received:? (?:from )?{_PCI}|"
          r"PCIe Bus Error: severity=Corrected"),
    _rule("pcie-bandwidth", "pci", rf"{_PCI}: .*available PCIe bandwidth, limited by "),
    _rule("link-down", "interface", rf"(?:{_PCI} )?(?P<name>[A-Za-z][\w.@-]{{1,14}}): (?:NIC )?[Ll]ink (?:is )?[Dd]own"),
    _rule("io-error", "disk", r"(?:I/O|critical (?:medium|target)) error, dev (?P<name>\w+)"),
    _rule("io-timeout", "disk", r"(?P<name>nvme\d+): I/O (?:tag )?\d+ .*(?:timeout|QID \d+ timeout)|\b(?P<name2>nvme\d+): controller is down"),
    _rule("filesystem-error", "disk", r"(?:EXT4-fs|BTRFS) error \(device (?P<name>[\w-]+)|XFS \((?P<name2>[\w-]+)\): .*(?:[Cc]orruption|shut ?down)"),
    _rule("storage-server", "storage", r"nfs: server (?P<name>\S+) not responding|LustreError: .*(?:timed out|lost)"),
    _rule("cpu-throttled", "cpu", r"CPU(?P<name>\d+): (?:Core|Package) temperature (?:is )?above threshold"),
    _rule("cpu-stalled", "cpu", r"soft lockup - CPU#(?P<name>\d+)|rcu: INFO: \w+ .*stall|Watchdog detected hard LOCKUP on cpu (?P<name2>\d+)"),
    _rule("task-blocked", "process", r"INFO: task (?P<name>.+?):\d+ blocked for more than \d+ seconds"),
)
# What only lines of a fault have: one that no rule knows is not lost without a word.
_MARKED = re.compile(r"NVRM: Xid|SXid \(|EDAC MC|ut of memory: Kill|soft lockup|blocked for more than|above threshold|: I/O .*timeout|Machine Check")
_GPU_UUID = re.compile(rf"NVRM: GPU at (?:PCI:)?{_PCI}: (?P<uuid>GPU-[0-9a-f-]{{36}})")


@dataclass(frozen=True)
class _Said:
    message: str
    host: str | None = None
    at: datetime | None = None
    is_zone_assumed: bool | None = None
    since_boot: float | None = None


def _is_head(head: bytes) -> bool:
    shown = head.decode(errors="replace").splitlines()
    if shown and shown[0].lstrip().startswith("{"):
        return '"_TRANSPORT":"kernel"' in shown[0].replace(" ", "") or _DMESG_JSON.match(head) is not None
    known = [line for line in shown[:_LOOKED_AT] if line.strip() and not line.startswith("-- ")]
    # Times in ISO alone begin many logs; those of dmesg begin each line of the kernel's own words.
    matched = [found for line in known if (found := _prefix(line))]
    if len(matched) < _LEAST_LINES or len(matched) < 0.8 * len(known):
        return False
    if any(found.lastgroup == "dmesg_iso" for found in matched):
        return any(word in head for word in _KERNEL_WORDS)
    return True


def _prefix(line: str) -> re.Match[str] | None:
    return next((found for prefix in _PREFIXES if (found := prefix.match(line))), None)


def _read(data: Data, report: Report) -> Iterator[Stated]:
    uuids: dict[str, str] = {}
    seen = last = None
    count, unread = 0, 0
    times: list[datetime] = []
    hosts: set[str | None] = set()
    for line, said in _said(data, report):
        if said is None:
            unread += 1
            continue
        count, last, seen = count + 1, line, seen or line
        hosts.add(said.host)
        if said.at is not None:
            times = [min(times[0], said.at), max(times[1], said.at)] if times else [said.at, said.at]
        if found := _GPU_UUID.search(said.message):
            uuids[_address(found["pci"])] = found["uuid"]
        for rule in _RULES:
            if found := rule.pattern.search(said.message):
                event = _event(line, said, rule, found, uuids)
                if event.number is None and "number" in found.groupdict():
                    report.at("not-a-number", f"{rule.code}: {found['number'][:80]}", line, "error")
                yield event
                break
        else:
            if _MARKED.search(said.message):
                report.at("unknown-line", said.message[:200], line)
    if seen is not None and last is not None:
        host = hosts.pop() if len(hosts) == 1 else None
        yield Entry(seen, "log", "kernel", "lines", str(count), node_name=host)
        for key, at in zip(("first_at", "last_at"), times, strict=False):
            yield Entry(seen if key == "first_at" else last, "log", "kernel", key, at.isoformat(), node_name=host)
    if unread:
        report("unknown-line", f"{unread} lines do not begin as a kernel log's do, and are left out", severity="note")


def _event(line: Line, said: _Said, rule: _Rule, found: re.Match[str], uuids: dict[str, str]) -> Event:
    groups = found.groupdict()
    pci = groups.get("pci")
    number = int(groups["number"]) if groups.get("number") and len(groups["number"]) < 10 else None
    return Event(
        line, rule.code, said.message.strip(), rule.kind, pci or groups.get("name") or groups.get("name2"), node_name=said.host, event_at=said.at,
        is_zone_assumed=said.is_zone_assumed, s_since_boot=said.since_boot, gpu_uuid=uuids.get(_address(pci)) if pci else None, number=number,
    )


def _address(pci: str) -> str:
    """A PCI address without its domain's leading zeros and its function."""
    domain, bus, device = pci.lower().split(":")
    return f"{domain.lstrip('0')}:{bus}:{device.partition('.')[0]}"


def _said(data: Data, report: Report) -> Iterator[tuple[Line, _Said | None]]:
    if _DMESG_JSON.match(bytes(data[:256])):
        yield from _dmesg_json(data, report)
        return
    is_journal = bytes(data[:64]).lstrip().startswith(b"{")
    for line in lines(data, report):
        shown = decoded(line, report)
        if is_journal:
            yield line, _journal_said(shown, line, report)
        elif shown.startswith("-- "):  # journalctl's own: -- Boot … --
            continue
        else:
            found = _prefix(shown)
            yield line, None if found is None else _text_said(shown[found.end() :], found)


def _text_said(message: str, found: re.Match[str]) -> _Said:
    groups = {name: value for name, value in found.groupdict().items() if value is not None}
    since = next((float(groups[name]) for name in ("since", "iso_since", "short_since") if name in groups), None)
    host = next((groups[name] for name in ("iso_host", "unix_host", "short_host") if name in groups), None)
    if "unix" in groups:
        return _Said(message, host, _EPOCH + timedelta(microseconds=round(float(groups["unix"]) * 1e6)))
    written = groups.get("iso") or groups.get("dmesg_iso")
    try:
        if written:
            at = datetime.fromisoformat(written.replace(",", "."))
        elif "local" in groups:
            at = datetime.strptime(groups["local"], "%a %b %d %H:%M:%S %Y")
        else:
            return _Said(message, host, since_boot=since)
        is_assumed = at.tzinfo is None
        return _Said(message, host, at.replace(tzinfo=UTC) if is_assumed else at.astimezone(UTC), True if is_assumed else None, since)
    except (ValueError, OverflowError):
        return _Said(message, host, since_boot=since)


def _dmesg_json(data: Data, report: Report) -> Iterator[tuple[Line, _Said]]:
    """Of dmesg -J: one object, with each key on a line of its own; the time comes before the message."""
    since: float | None = None
    for line in lines(data, report):
        if found := _DMESG_KEY.fullmatch(line.data.decode(errors="replace")):
            if found[1] == "time" and not found[2].startswith('"'):
                since = float(found[2])
            elif found[1] == "msg":
                yield line, _Said(str(json.loads(found[2], strict=False)) if found[2].startswith('"') else found[2], since_boot=since)
                since = None


def _journal_said(shown: str, line: Line, report: Report) -> _Said | None:
    """Of a line of the journal's JSON."""
    try:
        said = json.loads(shown)
    except (ValueError, RecursionError):
        report.at("not-json", "the line is not an object of JSON", line, "error")
        return None
    if not isinstance(said, dict) or said.get("_TRANSPORT") != "kernel" or not isinstance(said.get("MESSAGE"), str):
        return None
    stamp, host = said.get("__REALTIME_TIMESTAMP"), said.get("_HOSTNAME")
    at = _EPOCH + timedelta(microseconds=int(stamp)) if isinstance(stamp, str) and stamp.isdecimal() and len(stamp) < 18 else None
    return _Said(said["MESSAGE"], host if isinstance(host, str) else None, at)


TOOL = Tool(_NAME, _is_head, _read)
