"""Console output saved beside a result file: the client's arguments and the versions that are stated nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.records import ABSENT
from warehouse.landing.text import Data, Entry, Line, Report, clean, is_non_finite, landed_text, lines, number_in

_NAMESPACE = re.compile(rb"\bNamespace\((.*)\)")
# A value is a text in quotes, a bracketed one, or anything up to the comma.
_ARGUMENT = re.compile(
    rb"(?:^|, )([A-Za-z_]\w{0,63})=('(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|\{[^{}]*+\}|\[[^\[\]]*+\]|<[^<>]*+>|[^,]*+)"
)
_VERSIONS = {
    "vllm_version": re.compile(rb"(?:vLLM API server version|LLM engine \(v|vLLM version:?)[ ]*v?(\d[\w.+-]*)"),
    "sglang_version": re.compile(rb"(?i)\bsglang(?:[ =]+|[ _-]version:? +)v?(\d[\w.+-]*)"),
    "torch_version": re.compile(rb"(?i)\b(?:torch|pytorch)(?: version)?(?:==|: *| )v?(\d[\w.+-]*)"),
    "driver_version": re.compile(rb"Driver Version: *([\w.+/!-]+)"),
    "cuda_version": re.compile(rb"CUDA Version: *([\w.+/!-]+)"),
}
_NO_LIMIT = "inf"  # as Python writes it: of a rate or a length
_NO_VERSION = ABSENT - {"nan"}
_NO_VALUE = frozenset({"None", ""})


def console_entries(data: Data, report: Report) -> Iterator[Entry]:
    """`client/NAME` or `server/NAME` for every argument of the first call of each, and the versions printed first."""
    seen: set[str] = set()
    for line in lines(data, report):
        if called := _NAMESPACE.search(line.data):
            who = "client" if b"num_prompts=" in called[1] else "server"
            if who not in seen:
                seen.add(who)
                yield from _arguments(who, line, called, report)
        for key, pattern in _VERSIONS.items():
            if key not in seen and (found := pattern.search(line.data)):
                if not found[1][:1].isdigit():  # nvidia-smi writes N/A, too
                    if found[1].decode().casefold() not in _NO_VERSION:
                        report.at("malformed-version", f"{key}: {found[1].decode()[:80]}", line)
                    continue
                seen.add(key)
                yield _entry(key, line, found.start(1), found.end(1), found[1])


def _arguments(who: str, line: Line, called: re.Match[bytes], report: Report) -> Iterator[Entry]:
    start = called.start(1)
    for found in _ARGUMENT.finditer(called[1]):
        value = found[2]
        if value[:1] in (b"'", b'"'):
            value = value[1:-1]
        entry = _entry(f"{who}/{found[1].decode()}", line, start + found.start(1), start + found.end(2), value)
        text = value.decode(errors="replace")
        if is_non_finite(text) and text != _NO_LIMIT:
            report("non-finite-number", entry.key, entry.offset, entry.length, entry.line_number)
        yield entry._replace(number=number_in(text))


def _entry(key: str, line: Line, start: int, stop: int, value: bytes) -> Entry:
    """What is stated, as text: a version is no number."""
    text = clean(value.decode(errors="surrogateescape"))
    return Entry(line.offset + start, stop - start, line.number, key, None if text in _NO_VALUE else landed_text(text), None)
