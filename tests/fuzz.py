"""Damages evidence and looks at what an ingestor makes of it. For any ingestor: what it needs is a sample of real format.

Each damage is done to one file of one bundle, the rest stays whole. Then, against the parse of the whole sample:

- recognition and parsing neither raise nor take more than `CPU_LIMIT_S`; rows have the declared schema and no NULL where
  it says so, and their places lie within their file
- a number of a row that states another number, or none, never becomes 0 unless the damaged bytes put 0 in its place
- rows that are gone, and numbers that are NULL where the damage struck, are told by an issue with a place in that file;
  but for a number that is kept as the text that now stands there, if that is not a NaN or an infinity

What nobody can know is not asked for: a changed value that still is one, a value that is missing in a lawful way, a key that
became another key, a file without an end mark (`Family.endless`) cut between two lines, what a text for people
(`Family.free_text`) said before it was damaged.
"""

from __future__ import annotations

import random
import re
import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from warehouse.digest import bytes_digest
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import ISSUE_TABLE, Bundle, BundleDraft, Ingestor, Unclaimed
from warehouse.landing.rows import ISSUE_SCHEMA, LINEAGE_FIELDS, decoded_schema

CPU_LIMIT_S = 60  # of one parse of a small sample, or of 200 MB: a hang, not slowness
NESTED = 100_000
_LINEAGE = frozenset(column.name for column in LINEAGE_FIELDS)
# A number as logs and JSON write one, on its own: not a part of a name, a version, a date or a longer number.
_NUMBER = re.compile(rb"(?<![\w.+:/-])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.:/-])")
_JSON_KEY = re.compile(rb'"(?:[^"\\\n]|\\.)*"\s*:\s*\Z')
# What stands in a number's place.
_NOT_FINITE = {"NaN": b"NaN", "Infinity": b"Infinity", "-inf": b"-inf", "overflow": b"1e999", "digits": b"9" * 5000}
_NO_NUMBER = {"text": b'"damaged"', "nested": b"[" * NESTED + b"]" * NESTED, "open nested": b'{"a":' * NESTED}
_MISSING = {"null": b"null", "N/A": b"N/A", "nothing": b""}

_STATEMENTS = r"\w+_(?:entry|stat)|described_value"  # tables of keys and values: a byte makes another key, of a row or of all below it

Rows = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Family:
    """A family's sample for the harness. `write` writes evidence in the real format, small (some 100 kB at most), below
    a folder, which it makes. `endless` matches the raw_paths of files that may end after any line: logs without an end mark, JSON lines;
    `free_text` of files for people, of which a line may say anything. `counted` are columns that the ingestor counts, or takes from other rows (an ordinal,
    a number of requests, the value before): no bytes of the row state their number."""

    write: Callable[[Path], object]
    endless: str = r"(?!)"
    free_text: str = r"(?!)"
    counted: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Damage:
    """What was done to a file: bytes [start, stop) became `instead`. `kind` is what that was: any bytes, or a whole number
    that is now missing, no number, or not finite; or a key that stands twice."""

    name: str
    start: int
    stop: int
    instead: bytes
    kind: str = "bytes"

    def of(self, data: bytes) -> bytes:
        return data[: self.start] + self.instead + data[self.stop :]


Damages = Callable[[str, bytes, random.Random], Sequence[Damage]]


@dataclass
class Subject:
    """One bundle of the sample: its draft, its files' bytes, and the rows of its whole parse."""

    draft: BundleDraft
    files: dict[str, bytes]
    folder: Path
    rows: Rows = field(default_factory=dict)


class Hang(BaseException):
    """More CPU than any parse of a sample needs; no `except Exception` of an ingestor's may take it."""


class Fuzz:
    """An ingestor and a sample. `findings` fills with what it did wrong, each a line that says how to do it again."""

    def __init__(self, ingestor: Ingestor, family: Family, folder: Path) -> None:
        self.ingestor, self.family = ingestor, family
        self.findings: list[str] = []
        self._evidence = folder / "evidence"
        family.write(self._evidence)
        self._schemas = {**ingestor.tables, ISSUE_TABLE: ISSUE_SCHEMA}
        self.subjects: list[Subject] = []
        for number, draft in enumerate(self._recognised()):
            files = {file.raw_path: file.file.source.read_bytes() for file in draft.files}
            subject = Subject(draft, files, folder / "store" / str(number))
            for raw_path, data in files.items():
                _write(subject.folder / raw_path, data)
            subject.rows = self._parsed(subject)
            self.subjects.append(subject)
        assert self.subjects, "the ingestor does not recognise its sample"

    def run(self, damages: "Damages", limit: int | None) -> int:
        """Do every damage that `damages(raw_path, data, chance)` gives for each file, or `limit` of them. How many."""
        if limit == 0:
            return 0
        chance = random.Random(f"{self.ingestor.name} {damages.__name__}")
        found = [
            (subject, raw_path, damage)
            for subject in self.subjects
            for raw_path, data in sorted(subject.files.items())
            for damage in damages(raw_path, data, chance)
        ]
        if limit is not None and len(found) > limit:
            found = chance.sample(found, limit)
        for subject, raw_path, damage in found:
            self._judge(subject, raw_path, damage)
        return len(found)

    # -- one damage -------------------------------------------------------------------------------------------------

    def _judge(self, subject: Subject, raw_path: str, damage: Damage) -> None:
        whole = subject.files[raw_path]
        data = damage.of(whole)
        [source] = {file.file.source for file in subject.draft.files if file.raw_path == raw_path}
        _write(source, data)
        _write(subject.folder / raw_path, data)
        try:
            with _limited():
                self._recognised()
                rows = self._parsed(subject, {raw_path: data})
        except (Exception, Hang) as error:
            self._find(raw_path, damage, f"{type(error).__name__}: {str(error)[:300]}")
        else:
            for fault in self._faults(subject, raw_path, damage, data, rows):
                self._find(raw_path, damage, fault)
        finally:
            _write(source, whole)
            _write(subject.folder / raw_path, whole)

    def _find(self, raw_path: str, damage: Damage, fault: str) -> None:
        instead = damage.instead[:40] + b"..." if len(damage.instead) > 40 else damage.instead
        self.findings.append(f"{raw_path} [{damage.start}, {damage.stop}) = {instead!r} ({damage.name}): {fault}")

    def _recognised(self) -> list[BundleDraft]:
        tree = list_tree(self._evidence)
        drafts = []
        for found in self.ingestor.bundles(tree):
            paths = [found.path] if isinstance(found, Unclaimed) else [file.file.path for file in found.files]
            assert all(path in tree.files for path in paths)
            drafts += [found] if isinstance(found, BundleDraft) else []
        return drafts

    def _parsed(self, subject: Subject, changed: dict[str, bytes] | None = None) -> Rows:
        """All rows of a bundle, with what holds for every row checked."""
        contents = {**subject.files, **(changed or {})}
        files = tuple(
            ManifestFile(path, len(contents[path]), bytes_digest(contents[path]), file.media_type, file.role)
            for file in subject.draft.files for path in [file.raw_path]
        )
        manifest = Manifest(self.ingestor.name, files, subject.draft.identity, subject.draft.source)
        rows: Rows = defaultdict(list)
        for table, batch in self.ingestor.parse(Bundle(manifest.digest, manifest, lambda file: subject.folder / file.raw_path)):
            assert decoded_schema(batch.schema).equals(self._schemas[table]), f"rows of {table} are not of its schema"
            for column, values in zip(batch.schema, batch.columns, strict=True):
                assert column.nullable or values.null_count == 0, f"NULL in {table}.{column.name}"
            rows[table] += batch.to_pylist()
        for row in (row for found in rows.values() for row in found):
            size = len(contents[row["raw_path"]])
            assert row["artifact_manifest_digest"] == manifest.digest
            assert 0 <= row["raw_offset"] <= row["raw_offset"] + row["raw_length"] <= size, f"outside of its file: {row}"
        return rows

    # -- what must hold ---------------------------------------------------------------------------------------------

    def _faults(self, subject: Subject, raw_path: str, damage: Damage, data: bytes, rows: Rows) -> Iterator[str]:
        yield from self._silent_zeros(subject, raw_path, damage, data, rows)
        is_free_text = re.fullmatch(self.family.free_text, raw_path)
        if _new_issues(subject.rows, rows, raw_path) or (is_free_text and damage.kind != "not finite"):
            return
        if damage.kind in ("no number", "not finite"):
            for lost in self._lost_numbers(subject, raw_path, damage, rows):
                yield f"no issue tells that {lost}"
                return
        if damage.kind == "doubled key":
            if self._stands_in_a_row(subject, raw_path, damage):
                yield "no issue tells of it"
        elif damage.name != "nothing" and not self._may_end_here(raw_path, damage, subject.files[raw_path], data):
            fewer = {
                table: lost for table, found in subject.rows.items()
                if table != ISSUE_TABLE and (lost := len(found) - len(rows.get(table, ()))) > 0
                and not (damage.name == "flip" and re.fullmatch(_STATEMENTS, table))
            }
            if fewer:
                yield f"no issue tells of rows that are gone: {fewer}"

    def _may_end_here(self, raw_path: str, damage: Damage, whole: bytes, data: bytes) -> bool:
        is_cut = damage.stop > damage.start and not damage.instead and damage.start == len(data)
        at_line_end = not data or data.endswith(b"\n") or whole[damage.start : damage.start + 1] == b"\n"
        return is_cut and at_line_end and bool(re.fullmatch(self.family.endless, raw_path))

    def _stands_in_a_row(self, subject: Subject, raw_path: str, damage: Damage) -> bool:
        return any(
            row["raw_path"] == raw_path and row["raw_offset"] <= damage.start < row["raw_offset"] + row["raw_length"]
            for table, found in subject.rows.items() if table != ISSUE_TABLE for row in found
        )

    def _lost_numbers(self, subject: Subject, raw_path: str, damage: Damage, rows: Rows) -> Iterator[str]:
        """The cells that hold the number which stood at [start, stop), and are NULL or gone now."""
        number = float(subject.files[raw_path][damage.start : damage.stop])
        for table, before, after in _aligned(subject.rows, rows, raw_path, damage):
            for column in _numbers(before):
                if column in self.family.counted or float(before[column]) != number or (after is not None and after.get(column) is not None):
                    continue
                is_kept = after is not None and damage.kind == "no number" and _states(after, damage.instead)
                if not is_kept:
                    yield f"{table}.{column} = {before[column]} is {'NULL' if after else 'gone'}"

    def _silent_zeros(self, subject: Subject, raw_path: str, damage: Damage, data: bytes, rows: Rows) -> Iterator[str]:
        """More zeros in a column than before, in rows of the damaged file whose bytes state none."""
        zeros_before = _zeros(subject.rows)
        for (table, column), found in _zeros(rows).items():
            if column in self.family.counted or len(found) <= len(zeros_before.get((table, column), ())):
                continue
            for row in found:
                text = data[row["raw_offset"] : row["raw_offset"] + row["raw_length"]]
                if row["raw_path"] == raw_path and not any(_is_zero(match[0]) for match in re.finditer(rb"[\d.]+", text)):
                    yield f"a silent zero: {table}.{column} of {text[:200]!r}"


def _aligned(
    before: Rows, after: Rows, raw_path: str, damage: Damage
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any] | None]]:
    """The rows that stood around the damage, each with the one that begins at the same place now, if any. What precedes the
    damage has not moved."""
    for table, found in before.items():
        if table == ISSUE_TABLE:
            continue
        now: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for row in after.get(table, ()):
            if row["raw_path"] == raw_path:
                now[row["raw_offset"]].append(row)
        met: Counter[int] = Counter()
        for row in found:
            if row["raw_path"] != raw_path:
                continue
            start = row["raw_offset"]
            nth = met[start]
            met[start] += 1
            if start <= damage.start and damage.stop <= start + row["raw_length"]:
                yield table, row, now[start][nth] if nth < len(now[start]) else None


def _new_issues(before: Rows, after: Rows, raw_path: str) -> Counter[str]:
    """The issues with a place in the file that the whole sample does not have, by code."""
    counts = [
        Counter((row["code"], row["message"]) for row in rows.get(ISSUE_TABLE, ()) if row["raw_path"] == raw_path)
        for rows in (before, after)
    ]
    return counts[1] - counts[0]


def _numbers(row: dict[str, Any]) -> Iterator[str]:
    for column, value in row.items():
        if column not in _LINEAGE and isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            yield column


def _states(row: dict[str, Any], text: bytes) -> bool:
    """Whether a column has the text, or what it is as a JSON string."""
    return bool({text.decode(), text.decode().strip('"')} & {value for value in row.values() if isinstance(value, str)})


def _zeros(rows: Rows) -> dict[tuple[str, str], list[dict[str, Any]]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for table, some in rows.items():
        for row in some if table != ISSUE_TABLE else ():
            for column in _numbers(row):
                if row[column] == 0:
                    found[table, column].append(row)
    return found


def _is_zero(text: bytes) -> bool:
    return b"0" in text and not text.strip(b"0.")


# -- damages ----------------------------------------------------------------------------------------------------------


def cuts_at_lines(raw_path: str, data: bytes, chance: random.Random) -> list[Damage]:
    """The file ends after each of its lines, with and without the line's end; and before the first."""
    ends = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    return [
        Damage("cut at a line", end - back, len(data), b"")
        for end in ends for back in (0, 1) if 0 <= end - back < len(data)
    ]


def cuts(raw_path: str, data: bytes, chance: random.Random) -> list[Damage]:
    """The file ends anywhere."""
    return [Damage("cut", chance.randrange(len(data)), len(data), b"") for _ in range(500 if data else 0)]


def flips(raw_path: str, data: bytes, chance: random.Random) -> list[Damage]:
    """A byte is another."""
    places = [chance.randrange(len(data)) for _ in range(500 if data else 0)]
    return [Damage("flip", place, place + 1, bytes([chance.randrange(256)])) for place in places]


def numbers_replaced(raw_path: str, data: bytes, chance: random.Random) -> list[Damage]:
    """In a number's place stands what is none, in each of the ways that producers and disks have."""
    replacements = {"not finite": _NOT_FINITE, "no number": _NO_NUMBER, "missing": _MISSING}
    return [
        Damage(name, match.start(), match.end(), instead, kind)
        for match in _NUMBER.finditer(data) for kind, some in replacements.items() for name, instead in some.items()
    ]


def numbers_quoted(raw_path: str, data: bytes, chance: random.Random) -> list[Damage]:
    """A JSON number is a string."""
    return [
        Damage("quoted", match.start(), match.end(), b'"' + match[0] + b'"', "no number")
        for match in _NUMBER.finditer(data) if _key_before(data, match.start())
    ]


def keys_doubled(raw_path: str, data: bytes, chance: random.Random) -> list[Damage]:
    """A JSON key with a number stands twice, first with another number."""
    found = []
    for match in _NUMBER.finditer(data):
        if key := _key_before(data, match.start()):
            found.append(Damage("doubled key", match.start(), match.start(), b"987654321, " + key, "doubled key"))
    return found


def long_lines(raw_path: str, data: bytes, chance: random.Random) -> list[Damage]:
    """A line of 24 MB in the middle of the file, and a JSON string of that size."""
    return _long(data, 24 << 20, chance)


def huge_lines(raw_path: str, data: bytes, chance: random.Random) -> list[Damage]:
    """The same of 200 MB."""
    return _long(data, 200 << 20, chance)


def _long(data: bytes, size: int, chance: random.Random) -> list[Damage]:
    middle = data.find(b"\n", len(data) // 2) + 1 or len(data)
    found = [Damage("long line", middle, middle, _filler(size, b"\n"))]
    strings = list(re.finditer(rb'(?<=: ")[^"\\\n]*(?=")', data))
    if strings:
        match = chance.choice(strings)
        found.append(Damage("long string", match.start(), match.end(), _filler(size, b"")))
    return found


@cache  # shared by all damages of a size
def _filler(size: int, end: bytes) -> bytes:
    return b"x" * size + end


def _key_before(data: bytes, place: int) -> bytes | None:
    """`"key": ` where it stands right before `place`."""
    match = _JSON_KEY.search(data, max(0, place - 200), place)
    return match[0] if match else None


# -- plumbing ---------------------------------------------------------------------------------------------------------


def _write(path: Path, data: bytes) -> None:
    """A new file under the name: the old one may still be mapped."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(data)


@contextmanager
def _limited() -> Iterator[None]:
    def hangs(*_: object) -> None:
        raise Hang(f"more than {CPU_LIMIT_S} CPU seconds")

    before = signal.signal(signal.SIGPROF, hangs)
    signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
