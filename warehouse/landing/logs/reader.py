"""Reads the logs of bundles of any family, beside the ingestor that the bundles are of.

Its rows are in batches of its own: a rule that changes has logs read again, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from warehouse.evidence.manifest import Manifest
from warehouse.landing.contract import Bundle, BundleDraft, Tree, Unclaimed
from warehouse.landing.logs.rules import LogRules, Rule, read_rules
from warehouse.landing.logs.search import Seen, is_warning, search
from warehouse.landing.readers.text import Data, Report, clean
from warehouse.landing.rows import RowBuffer, landing_schema

LOG_TABLE, MATCH_TABLE, TEMPLATE_TABLE = "log_file", "log_match", "log_template"
_LAST = (
    pa.field("count", pa.int64(), nullable=False),  # lines of the file
    pa.field("line_number", pa.int64(), nullable=False),  # of the first, whose bytes the row names
    pa.field("last_line_number", pa.int64(), nullable=False),
    pa.field("last_offset", pa.int64(), nullable=False),
    pa.field("last_length", pa.int64(), nullable=False),
    pa.field("text", pa.string(), nullable=False),  # of the first line
)
TABLES: Mapping[str, pa.Schema] = {
    LOG_TABLE: landing_schema(  # a log that was read
        pa.field("line_count", pa.int64(), nullable=False),
        pa.field("unknown_count", pa.int64(), nullable=False),  # lines that look like a warning or an error, and no rule knows
    ),
    MATCH_TABLE: landing_schema(
        *(pa.field(name, pa.string(), nullable=False) for name in ("rule", "severity", "meaning", "source")),
        *(pa.field(name, pa.string()) for name in ("condition", "condition_value")),
        *_LAST,
    ),
    TEMPLATE_TABLE: landing_schema(
        pa.field("template", pa.string(), nullable=False),
        pa.field("severity", pa.string(), nullable=False),
        *_LAST,
    ),
}
_HEAD_BYTES = 8 << 10
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class LogReader:
    """Looks for known lines in logs. It recognises no evidence: its bundles are those of others."""

    name, version = "log_rules", 1
    formats: tuple[str, ...] = ("logs in bundles of any family: lines that log_rules.toml knows, and frequent warnings and errors",)
    tables = TABLES

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files

    @cached_property
    def rules(self) -> LogRules:
        """Raises WH121."""
        return read_rules(self._files)

    def bundles(self, tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
        return iter(())

    def logs_of(self, manifest: Manifest) -> Manifest:
        """A manifest without the files that are not logs: nothing else is fetched and read."""
        files = tuple(file for file in manifest.files if self.rules.is_log(manifest.family, file.raw_path))
        return manifest if len(files) == len(manifest.files) else replace(manifest, files=files)

    def parse(self, bundle: Bundle) -> Iterator[tuple[str, pa.RecordBatch]]:
        buffer = RowBuffer(self.tables, bundle.digest)
        family = bundle.manifest.family
        for file in bundle.manifest.files:
            data = bundle.map(file.raw_path)
            if (why := _not_text(data)) is not None:
                buffer.issue("log-not-read", f"not searched for known lines: {why}", file.raw_path, severity="note")
                continue
            name = file.raw_path.rpartition("/")[2].casefold()
            rules = [rule for rule in self.rules.rules if rule.is_for(family, name)]
            _add(buffer, file.raw_path, data, rules)
            yield from buffer.full()
        yield from buffer.rest()


class _Notes(Report):
    """Lines that are too long are left out of the search alone: the file's own ingestor may have read them."""

    def __call__(
        self, code: str, message: str, offset: int = 0, length: int = 0, line_number: int | None = None, severity: str = "warning"
    ) -> None:
        super().__call__("log-not-read", f"not searched for known lines: a line of {message}", offset, length, line_number, "note")


def _add(buffer: RowBuffer, raw_path: str, data: Data, rules: Sequence[Rule]) -> None:
    found = search(data, rules, _Notes(buffer, raw_path, None))
    buffer.add(LOG_TABLE, raw_path, 0, len(data), line_count=found.line_count, unknown_count=found.unknown_count)
    for rule in rules:
        if (seen := found.known.get(rule.name)) is not None:
            condition, value = rule.condition or (None, None)
            _add_seen(
                buffer, MATCH_TABLE, raw_path, seen, rule=rule.name, severity=rule.severity, meaning=rule.meaning, source=rule.source,
                condition=condition, condition_value=value,
            )
    for template, seen in found.unknown.items():
        severity = "warning" if is_warning(template) else "error"
        _add_seen(buffer, TEMPLATE_TABLE, raw_path, seen, template=clean(template), severity=severity)


def _add_seen(buffer: RowBuffer, table: str, raw_path: str, seen: Seen, **columns: str | None) -> None:
    (line_number, offset, length), (last_line, last_offset, last_length) = seen.first, seen.last
    buffer.add(
        table, raw_path, offset, length, count=seen.count, line_number=line_number, last_line_number=last_line, last_offset=last_offset,
        last_length=last_length, text=clean(seen.text.decode(errors="replace")), **columns,
    )


def _not_text(data: Data) -> str | None:
    head = bytes(data[:_HEAD_BYTES])
    if head.startswith(_UTF16):
        return "the file is UTF-16"
    return "the file is binary" if b"\0" in head else None
