"""Finds metrics of Prometheus by their content, whatever the files are named. The files of a folder are a bundle."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

TEXT, ANSWER, EXPORT = "exposition", "query_answer", "export"
_HEAD_BYTES = 8192
_METADATA = re.compile(
    rb"(?m)^#[ \t]+(?:HELP[ \t]+\S|TYPE[ \t]+\S+[ \t]+"
    rb"(?:counter|gauge|histogram|summary|untyped|unknown|info|stateset|gaugehistogram))"
)
_SAMPLE = re.compile(rb'(?:[a-zA-Z_:][\w:]*)?\{[^\n]*\}[ \t]+[-+.\dNI][^\s]*(?:[ \t]+-?[\d.]+)?[ \t]*\r?')
_ANSWER = re.compile(rb'"resultType"\s*:\s*"(?:matrix|vector)"')
_EXPORT = re.compile(rb'\s*\{\s*"metric"\s*:\s*\{[^{}]*\}\s*,\s*"values"\s*:\s*\[')


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a folder."""
    folders = defaultdict[str, list[DraftFile]](list)
    for path, file in tree.files.items():
        folder, _, name = path.rpartition("/")
        role = _role(tree.head(path, _HEAD_BYTES))
        if role:
            media_type = {TEXT: "text/plain", ANSWER: "application/json", EXPORT: "application/jsonl"}[role]
            folders[folder].append(DraftFile(name, file, media_type, role))
    for folder in sorted(folders):
        yield BundleDraft(tuple(folders[folder]))


def _role(head: bytes) -> str | None:
    if _EXPORT.match(head):
        return EXPORT
    if _ANSWER.search(head):
        return ANSWER
    if _METADATA.search(head):
        return TEXT
    first = [line for line in head.lstrip(b"\xef\xbb\xbf").split(b"\n") if line.strip()][:3]
    return TEXT if len(first) > 1 and all(_SAMPLE.fullmatch(line) for line in first[:2]) else None
