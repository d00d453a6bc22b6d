"""What the pages of published numbers show of a publication: their addresses, titles, and which columns are side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.transform.export.publication_values import Publication, PublishedFile, PublishedRow
from warehouse.transform.finished.query import plain_cell

MOST_FILES = 12  # of the numbers of one origin
_MOST_MEASURES = 6  # beside the grain of a row; its own page has all
_LEADING_DIGITS = 6
_MOST_CHARACTERS = 80  # of a value in a table
_DIGEST = re.compile(r"[0-9a-f]{32,}")


@dataclass(frozen=True)
class Overview:
    """A publication as a table: `constant` is the part of the grain that is the same in all rows shown, `varying` the columns of the rest;
    `measures` are columns of numbers with their units, `left_out` how many more there are."""

    title: str
    constant: Mapping[str, Any]
    varying: tuple[str, ...]
    row_titles: tuple[str, ...]
    measures: tuple[tuple[str, str | None], ...]
    left_out: int


def overview(publication: Publication) -> Overview:
    rows = publication.rows
    grain = list(rows[0].grain) if rows else []
    constant = {name: rows[0].grain[name] for name in grain if len(rows) > 1 and len({repr(row.grain[name]) for row in rows}) == 1}
    varying = tuple(name for name in grain if name not in constant)
    measures = {number.column: number.unit for number in publication.numbers if number.is_measure}
    # What has a unit was measured; what has none is mostly a setting or a count.
    listed = tuple(sorted(measures.items(), key=lambda measure: measure[1] is None))
    return Overview(
        publication.query or f"publication {publication.digest[:12]}", constant, varying, tuple(_title(row, varying) for row in rows),
        listed[:_MOST_MEASURES], max(0, len(listed) - _MOST_MEASURES),
    )


def _title(row: PublishedRow, varying: Iterable[str]) -> str:
    return " · ".join(short(row.grain[name]) for name in varying if row.grain[name] is not None) or "the only row"


def publication_page(publication: Publication) -> str:
    return f"published/{publication.digest[:16]}.html"


def row_page(publication: Publication, place: int) -> str:
    """The page of a row, by its place in the publication: the same as long as it is published."""
    return f"published/{publication.digest[:16]}/{place + 1}.html"


def listed_files(row: PublishedRow) -> list[PublishedFile]:
    """The files whose ranges a row's page shows, each once."""
    listed = {(file.artifact_manifest_digest, file.raw_path): file for _, _, files in row.origins for file in files[:MOST_FILES]}
    return [listed[key] for key in sorted(listed)]


def file_places(row: PublishedRow) -> dict[tuple[str, str], int]:
    """The place of each of these files in their list, from 1, by bundle and path."""
    return {(file.artifact_manifest_digest, file.raw_path): place for place, file in enumerate(listed_files(row), 1)}


def replaced(publications: Iterable[Publication]) -> frozenset[str]:
    """The digests of those after which their query was published again."""
    last: dict[str | None, str] = {}
    digests = [(each.digest, last.setdefault(each.query, each.digest)) for each in publications]
    return frozenset(digest for digest, newest in digests if digest != newest)


def shown_value(value: Any) -> str:
    """A value as text, whole."""
    return "NULL" if value is None else str(plain_cell(value))


def short(value: Any) -> str:
    """A value as text for a table: digests by their first characters, long text cut."""
    text = _DIGEST.sub(lambda match: f"{match[0][:8]}…", shown_value(value))
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def is_digest(value: Any) -> bool:
    """Whether a value is nothing but a digest, which says nothing to a reader."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def digits(value: Any, leading: int = _LEADING_DIGITS) -> tuple[str, str]:
    """A number with its thousands apart, in two parts: up to as many digits as a reader takes in, never fewer than are before the point,
    and the rest."""
    text = f"{value:,}"
    head, point, tail = text.partition(".")
    if not point or "e" in text:
        return text, ""
    before = sum(character.isdigit() for character in head) if head.strip("-0") else -len(tail) + len(tail.lstrip("0"))
    kept = max(0, leading - before)
    return (f"{head}.{tail[:kept]}" if kept else head, tail[kept:] if kept else f".{tail}")
