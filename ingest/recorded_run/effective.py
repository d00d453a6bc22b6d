"""What a server or engine in the run said of its settings: those that it was given, and what it made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.text import Data, Entry, Line, Report, lines
from warehouse.landing.rows import RowBuffer
from warehouse.landing.serving.console import console_entries

_WHO = ("server", "engine")
_SAID = re.compile(rb"LLM engine \(v|ServerArgs\(|non-default args: |vllm serve |launch_server|trtllm-serve ")
# What vLLM's engine settles on after it has looked at the machine, in the words of its versions 0.6 to 0.11.
_SETTLED = {
    "kv_cache_tokens": re.compile(rb"GPU KV cache size: ([\d,]+) tokens"),
    "gpu_blocks": re.compile(rb"# (?:GPU|cuda) blocks: (\d+)"),
    "attention_backend": re.compile(rb"Using (\w+(?: \w+)?)(?: attention)? backend(?: on V\d engine)?\.?\s*$"),
    "max_num_batched_tokens": re.compile(rb"Chunked prefill is enabled with max_num_batched_tokens=(\d+)"),
}


def add_settings(bundle: Bundle, run: str, run_id: str, buffer: RowBuffer) -> None:
    """Add a row for each setting that the run's output states, as first stated."""
    seen: set[tuple[str, str]] = set()
    for path in (f"{run}/stdout.txt", f"{run}/stderr.txt"):
        if path not in bundle.manifest.by_path or not bundle.manifest.by_path[path].bytes:
            continue
        data = bundle.map(path)
        if _SAID.search(data) is None:
            continue
        report = Report(buffer, path, run_id)
        for entry in (*console_entries(data, report), *_settled(data, report)):
            who, _, name = entry.key.partition("/")
            if who in _WHO and name and entry.value is not None and (who, name) not in seen:
                seen.add((who, name))
                buffer.add(
                    "recorded_setting_stated", path, entry.offset, entry.length, run_id=run_id, is_effective=who == "engine", name=name,
                    value=entry.value,
                )


def _settled(data: Data, report: Report) -> Iterator[Entry]:
    for line in lines(data, report):
        for name, pattern in _SETTLED.items():
            if found := pattern.search(line.data):
                yield _entry(line, name, found)


def _entry(line: Line, name: str, found: "re.Match[bytes]") -> Entry:
    value = found[1].decode(errors="replace")
    text = value.replace(",", "") if name == "kv_cache_tokens" else value
    return Entry(line.offset + found.start(1), found.end(1) - found.start(1), line.number, f"engine/{name}", text, None)
