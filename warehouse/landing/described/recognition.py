"""Which description a file is of: by what it must have, never by its name alone. Each file is looked at once for all descriptions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase, translate
from functools import cached_property
from weakref import ref

from warehouse.landing.contract import Tree
from warehouse.landing.described.expressions import Expression, Scope, parsed
from warehouse.landing.described.forms.nodes import Node
from warehouse.landing.described.forms.sources import CSV, JSON, JSON_LINES, SQL, TEXT, XML, Dialect, Quiet, begun_tree
from warehouse.landing.described.layout import Description, Layout
from warehouse.landing.described.reading import runs_of

HEAD_BYTES = 64 << 10
_WHOLE_BYTES = 8 << 20  # of a document that is looked at to its end
_MEASUREMENTS = "a measurement in each row: wh ingest --as measurements --map metric=COLUMN,value=value,unit=unit FILE"
_LIKE_BYTES = 1 << 20  # of a document that no description takes
_MOST_NEAR = 0.5  # of what is required, that a file must have to be like a format


@dataclass(frozen=True)
class Recognised:
    """A description that a file is of: its layout, by its place, the form of the file, and how many runs it has; 0: it is too long to know."""

    description: Description
    layout: int
    form: str
    runs: int = 0


@dataclass
class Formats:
    """All descriptions of a project, and what they made of the tree that was asked for last."""

    descriptions: Sequence[Description]
    _tree: Callable[[], Tree | None] = field(default=lambda: None, repr=False)  # not kept alive: it holds what was read of its files
    _found: dict[str, Recognised] = field(default_factory=dict, repr=False)

    @cached_property
    def _names(self) -> list[tuple[Description, Callable[[str], object]]]:
        """Each description, with what the names of its files match."""
        return [(each, re.compile("|".join(map(translate, each.files))).match) for each in self.descriptions]

    def of(self, tree: Tree) -> dict[str, Recognised]:
        """The description of each file that has one, by path. Of several, the one that requires the most counts."""
        if self._tree() is not tree:
            self._found = {path: found for path in tree.files if (found := self.recognised(tree, path))}
            self._tree = ref(tree)
        return self._found

    def recognised(self, tree: Tree, path: str) -> Recognised | None:
        name = path.rpartition("/")[2]
        candidates = [each for each, names in self._names if names(name)]
        if not candidates:
            return None
        head = tree.head(path, HEAD_BYTES)
        best: tuple[int, Recognised] | None = None
        for description in candidates:
            found = recognised(description, head, tree.files[path].bytes, lambda limit: tree.head(path, limit))
            if found is not None:
                weight = len(description.layouts[found.layout].requires)
                if best is None or weight > best[0]:
                    best = weight, found
        return best[1] if best else None


def recognised(
    description: Description, head: bytes, size: int, more: Callable[[int], bytes], *, is_counted: bool = True
) -> Recognised | None:
    """How a file is of a description: by its first bytes, and `more` of them where it is a long document. Its runs are counted if `is_counted`; else
    a long document is read on only where its beginning is not of the first layout."""
    for place, layout in enumerate(description.layouts):
        hints = description.marks[place]
        if not any(hint in head for hints_of_one in hints for hint in hints_of_one):
            continue
        for form in description.forms:
            if not _may_be(form, head):
                continue
            part = head
            if form in (JSON, XML) and size > len(head):
                begun = None if is_counted or place else _begun(description, layout, form, part, False)
                if begun is not None and not _lacking(layout.requires, begun):
                    return Recognised(description, place, form)
                part = more(_WHOLE_BYTES)
            has_all = all(any(hint in part for hint in hints_of_one) for hints_of_one in hints)
            if not has_all:
                continue
            tree = _begun(description, layout, form, part, size <= len(part))
            if tree is not None and not _lacking(layout.requires, tree):
                has_count = is_counted and size <= len(part)
                return Recognised(description, place, form, sum(1 for _ in runs_of(layout, tree, Quiet())) if has_count else 0)
    return None


def _begun(description: Description, layout: Layout, form: str, head: bytes, is_whole: bool) -> Node | None:
    return begun_tree(head, is_whole, form, description.dialect, description.columns(layout), description.patterns)


def missing(description: Description, layout: Layout, form: str, head: bytes, is_whole: bool) -> list[Expression]:
    """What a file lacks to be of a description."""
    return _lacking(layout.requires, _begun(description, layout, form, head, is_whole))


def _lacking(requires: Sequence[Expression], tree: Node | None) -> list[Expression]:
    if tree is None:
        return list(requires)
    scope = Scope(tree, "")
    return [each for each in requires if not (each.holds(scope) or _is_there(each, scope))]


def _is_there(each: Expression, scope: Scope) -> bool:
    """Whether a path leads somewhere: null is there, too."""
    return len(each.paths) == 1 and each.paths[0].text == each.text.strip() and any(True for _ in each.paths[0].scopes(scope))


def _may_be(form: str, head: bytes) -> bool:
    begin = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    begins = {JSON: (b"{", b"["), JSON_LINES: (b"{",), XML: (b"<",)}
    if form == SQL:
        return b"insert" in head[:HEAD_BYTES].lower()
    return begin in begins[form] if form in begins else form == TEXT or begin not in (b"{", b"[")


def nearest(tree: Tree, path: str, descriptions: Iterable[Description], others: Mapping[str, Sequence[str]]) -> str | None:
    """What a file that is of no description is most like, and what it lacks; None if it is like none. `others` are formats in code, by name, with
    what a JSON document of each states. Of a document that is not looked at to its end nothing is said: what it lacks may follow."""
    head = tree.head(path, _LIKE_BYTES)
    size = tree.files[path].bytes
    trees: dict[str, Node | None] = {}  # of JSON, which all formats read the same
    best: tuple[float, str] | None = None
    for name, form, requires, description in _candidates(descriptions, others):
        if len(requires) < 2 or not _may_be(form, head) or form in (JSON, XML) and size > len(head):
            continue
        part = head if form in (JSON, XML) else head[:HEAD_BYTES]
        if form != TEXT and not any(key.encode() in part for each in requires for found in each.paths for kind, key in found.steps if kind == "key"):
            continue
        if form in (JSON, JSON_LINES, XML, SQL):
            if form not in trees:
                trees[form] = begun_tree(part, size <= len(part), form, Dialect(), frozenset(), ())
            lacking = _lacking(requires, trees[form])
        elif description is not None:
            columns = frozenset(found.steps[-1][1] for each in requires for found in each.paths if form == CSV and found.steps[-1][0] == "key")
            is_text = form == TEXT and _has_lines(requires, description, part)
            lacking = list(requires) if form != CSV else _without_header(requires, part, description, columns)
            if is_text and any(fnmatchcase(path.rpartition("/")[2], pattern) for pattern in description.files):
                lacking = _lacking(requires, begun_tree(part, size <= len(part), form, Dialect(), frozenset(), description.patterns))
        share = 1 - len(lacking) / len(requires)
        if lacking and share >= _MOST_NEAR and (best is None or share > best[0]):
            best = share, f"like {name}, but without {', '.join(each.text.removeprefix('[].') for each in lacking[:3])}"
    return best[1] if best else _tidy(head)


def _has_lines(requires: Sequence[Expression], description: Description, head: bytes) -> bool:
    """Whether a text has the fixed parts of so many of the required lines that it may be like the format: quicker than to try all patterns."""
    named = [path.steps[0][1] for each in requires for path in each.paths[:1] if path.steps and path.steps[0][0] == "key"]
    found = [any(pattern.literal and pattern.literal.encode() in head for pattern in description.patterns if pattern.name == name) for name in named]
    return sum(found) >= _MOST_NEAR * len(requires)


def _tidy(head: bytes) -> str | None:
    first = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode(errors="replace")
    columns = [cell.strip().strip('"').casefold() for cell in re.split(r"[,;\t|]", first)]
    return _MEASUREMENTS if len(columns) > 2 and {"value", "unit"}.issubset(columns) else None


def _candidates(
    descriptions: Iterable[Description], others: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str, tuple[Expression, ...], Description | None]]:
    for name, paths in others.items():
        yield name, JSON, tuple(parsed(path) for path in paths), None
        yield name, JSON_LINES, tuple(parsed(f"[].{path}") for path in paths), None
    for description in descriptions:
        for layout in description.layouts:
            for form in description.forms:
                yield description.name, form, layout.requires, description


def _without_header(requires: Sequence[Expression], head: bytes, description: Description, columns: frozenset[str]) -> list[Expression]:
    """The columns of a table without a header line that has all of them: those that its first line lacks."""
    first = next((line for line in head.lstrip(b"\xef\xbb\xbf").splitlines() if line.strip()), b"").decode(errors="replace")
    stated = {cell.strip().strip('"') for cell in first.split(description.dialect.delimiter)}
    return [each for each in requires if each.paths and not {path.steps[-1][1] for path in each.paths} & columns & stated]
