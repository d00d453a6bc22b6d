"""Console output saved beside a result file, and the server's log: arguments, the engine and versions that are stated nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import Data, Entry, Line, Report, clean, is_non_finite, landed_text, lines, number_in

# How arguments are printed: the client's and older servers' parsed, SGLang's, what vLLM was given and what its engine made of it.
_PRINTED = (
    (None, re.compile(rb"\bNamespace\((.*)\)")),
    ("server", re.compile(rb"\bServerArgs\((.*)\)")),
    ("server", re.compile(rb"\bnon-default args: \{(.*)\}")),
    ("engine", re.compile(rb"\bLLM engine \(v[^)]*\) with config: (.*)")),
)
# A server's own command line, and a flag of it.
_COMMAND = re.compile(
    rb"(?:\bvllm serve|-m vllm\.entrypoints\.(?:openai\.)?api_server|-m sglang\.launch_server|\bsglang serve|\btrtllm-serve"
    rb"|\blmdeploy serve api_server)(?= )(.*)"
)
_FLAG = re.compile(rb"(?<!\S)--?([A-Za-z][\w-]{1,63})(?:(?:=| +(?!-[A-Za-z-]))('[^']*+'|\"[^\"]*+\"|\S+))?")
_SECRET = re.compile(r"(?:api_key|_token|password|secret)$")
# A value is a text in quotes, a bracketed one, or anything up to the comma.
_ARGUMENT = re.compile(
    rb"(?:^|, )(?:([A-Za-z_]\w{0,63})=|'([A-Za-z_]\w{0,63})': )('(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|\{[^{}]*+\}|\[[^\[\]]*+\]|<[^<>]*+>|[^,]*+)"
)
_VERSIONS = {
    "vllm_version": re.compile(rb"(?:vLLM API server version|LLM engine \(v|vLLM version:?)[ ]*v?(\d[\w.+-]*)"),
    "sglang_version": re.compile(rb"(?i)\bsglang(?:[ =]+|[ _-]version:? +)v?(\d[\w.+-]*)"),
    "torch_version": re.compile(rb"(?i)\b(?:torch|pytorch)(?: version)?(?:==|: *| )v?(\d[\w.+-]*)"),
    "driver_version": re.compile(rb"Driver Version: *([\w.+/!-]+)"),
    "cuda_version": re.compile(rb"CUDA Version: *([\w.+/!-]+)"),
}
# What only the server itself prints, or its command line.
_ENGINES = {
    "vllm": re.compile(rb"vLLM API server version|\bLLM engine \(v|-m vllm\.entrypoints\.|\bvllm serve "),
    "sglang": re.compile(rb"\bServerArgs\(|-m sglang\.launch_server|\bsglang serve "),
    "tensorrt-llm": re.compile(rb"\btrtllm-serve |\[TensorRT-LLM\]"),
    "lmdeploy": re.compile(rb"\blmdeploy serve api_server"),
    "tgi": re.compile(rb"\btext[-_]generation[-_]launcher\b"),
}
_NO_LIMIT = "inf"  # as Python writes it: of a rate or a length
_NO_VERSION = ABSENT - {"nan"}
_NO_VALUE = frozenset({"None", ""})


def console_entries(data: Data, report: Report) -> Iterator[Entry]:
    """`client/NAME` or `server/NAME` for every argument, as first printed, `engine/NAME` for what vLLM's engine was configured as,
    the versions printed first, and `engine`, the server that printed some of it, if it is one."""
    seen: set[str] = set()
    engines: dict[str, Entry] = {}
    for line in lines(data, report):
        for engine, pattern in _ENGINES.items():
            if engine not in engines and (found := pattern.search(line.data)):
                engines[engine] = _entry("engine", line, found.start(), found.end(), engine.encode())
        for entry in _arguments(line, report):
            if entry.key not in seen:
                seen.add(entry.key)
                yield entry
        for key, pattern in _VERSIONS.items():
            if key not in seen and (found := pattern.search(line.data)):
                if not found[1][:1].isdigit():  # nvidia-smi writes N/A, too
                    if found[1].decode().casefold() not in _NO_VERSION:
                        report.at("malformed-version", f"{key}: {found[1].decode()[:80]}", line)
                    continue
                seen.add(key)
                yield _entry(key, line, found.start(1), found.end(1), found[1])
    if len(engines) == 1:
        yield from engines.values()


def _arguments(line: Line, report: Report) -> Iterator[Entry]:
    for who, printed in _PRINTED:
        if called := printed.search(line.data):
            who = who or ("client" if b"num_prompts=" in called[1] else "server")
            for found in _ARGUMENT.finditer(called[1]):
                group = 1 if found[1] else 2
                yield from _argument(who, line, called.start(1), found, found[group], found.start(group), found[3], report)
    if called := _COMMAND.search(line.data):
        for found in _FLAG.finditer(called[1]):
            yield from _argument("server", line, called.start(1), found, found[1], found.start(1), found[2] or b"True", report)


def _argument(
    who: str, line: Line, start: int, found: "re.Match[bytes]", name: bytes, name_start: int, value: bytes, report: Report
) -> Iterator[Entry]:
    key = f"{who}/{name.decode().replace('-', '_')}"
    if _SECRET.search(key):
        return
    if value[:1] in (b"'", b'"'):
        value = value[1:-1]
    entry = _entry(key, line, start + name_start, start + found.end(), value)
    text = value.decode(errors="replace")
    if is_non_finite(text) and text != _NO_LIMIT:
        report.at("non-finite-number", entry.key, entry, "error")
    yield entry._replace(number=number_in(text))


def _entry(key: str, line: Line, start: int, stop: int, value: bytes) -> Entry:
    """What is stated, as text: a version is no number."""
    text = clean(value.decode(errors="surrogateescape"))
    return Entry(line.offset + start, stop - start, line.number, key, None if text in _NO_VALUE else landed_text(text), None)
