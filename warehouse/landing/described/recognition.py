"""Which description a file is of: by what it must have, never by its name alone. Each file is looked at once for all descriptions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from warehouse.landing.contract import Tree
from warehouse.landing.described.description import Description, Layout
from warehouse.landing.described.expressions import Expression, Scope
from warehouse.landing.described.sources import CSV, JSON, JSON_LINES, TEXT, begun_tree

HEAD_BYTES = 64 << 10
_WHOLE_BYTES = 8 << 20  # of a document that is looked at to its end
_TEXT = re.compile(r"'([^']+)'")
_MOST_NEAR = 0.5  # of what is required, that a file must have to be like a format


@dataclass(frozen=True)
class Recognised:
    """A description that a file is of: its layout, by its place, and the form of the file."""

    description: Description
    layout: int
    form: str


@dataclass
class Formats:
    """All descriptions of a project, and what they made of the tree that was asked for last."""

    descriptions: Sequence[Description]
    _tree: Tree | None = field(default=None, repr=False)
    _found: dict[str, Recognised] = field(default_factory=dict, repr=False)

    def of(self, tree: Tree) -> dict[str, Recognised]:
        """The description of each file that has one, by path. Of several, the one that requires the most counts."""
        if self._tree is not tree:
            self._found = {path: found for path in tree.files if (found := self.recognised(tree, path))}
            self._tree = tree
        return self._found

    def recognised(self, tree: Tree, path: str) -> Recognised | None:
        name = path.rpartition("/")[2]
        candidates = [each for each in self.descriptions if any(fnmatchcase(name, pattern) for pattern in each.files)]
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


def recognised(description: Description, head: bytes, size: int, more: Callable[[int], bytes]) -> Recognised | None:
    """How a file is of a description: by its first bytes, and `more` of them where it is a long document."""
    for place, layout in enumerate(description.layouts):
        hints = list(_hints(description, layout))
        if not any(hint in head for hints_of_one in hints for hint in hints_of_one):
            continue
        for form in description.forms:
            if not _may_be(form, head):
                continue
            part = head
            if form == JSON and size > len(head):
                part = more(_WHOLE_BYTES)
            if all(any(hint in part for hint in hints_of_one) for hints_of_one in hints) and not missing(description, layout, form, part, size <= len(part)):
                return Recognised(description, place, form)
    return None


def missing(description: Description, layout: Layout, form: str, head: bytes, is_whole: bool) -> list[Expression]:
    """What a file lacks to be of a description."""
    tree = begun_tree(head, is_whole, form, description.dialect, description.columns(layout), description.patterns)
    if tree is None:
        return list(layout.requires)
    scope = Scope(tree, "")
    return [each for each in layout.requires if not (each.holds(scope) or _is_there(each, scope))]


def _is_there(each: Expression, scope: Scope) -> bool:
    """Whether a path leads somewhere: null is there, too."""
    return len(each.paths) == 1 and each.paths[0].text == each.text.strip() and any(True for _ in each.paths[0].scopes(scope))


def _may_be(form: str, head: bytes) -> bool:
    begin = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if form == JSON:
        return begin in (b"{", b"[")
    return begin == b"{" if form == JSON_LINES else form == TEXT or begin not in (b"{", b"[") if form == CSV else True


def _hints(description: Description, layout: Layout) -> Iterator[tuple[bytes, ...]]:
    """Bytes of which a file of a description must have one: the last key of each path, the fixed part of a line, or, where a table has no
    header, the texts that a condition asks for."""
    for each in layout.requires:
        if description.dialect.columns:
            if texts := tuple(text.encode() for text in _TEXT.findall(each.text)):
                yield texts
            continue
        for path in each.paths[:1] if not {"or", "not"} & set(each.text.split()) else ():
            keys = [step for kind, step in path.steps if kind == "key" and not step.startswith("@")]
            if keys and keys[0] in description.patterns:
                if literal := description.patterns[keys[0]][0].literal:
                    yield (literal.encode(),)
            elif keys:
                yield (keys[-1].encode(),)


def nearest(tree: Tree, path: str, descriptions: Iterable[Description]) -> str | None:
    """What a file that is of no description is most like, and what it lacks; None if it is like none."""
    head = tree.head(path, HEAD_BYTES)
    is_whole = tree.files[path].bytes <= len(head)
    best: tuple[float, str] | None = None
    for description in descriptions:
        for layout in description.layouts:
            for form in description.forms:
                if len(layout.requires) < 2 or not _may_be(form, head) or not any(hint in head for hints in _hints(description, layout) for hint in hints):
                    continue
                lacking = missing(description, layout, form, head, is_whole)
                share = 1 - len(lacking) / len(layout.requires)
                if lacking and share >= _MOST_NEAR and (best is None or share > best[0]):
                    best = share, f"like {description.name}, but without {', '.join(each.text for each in lacking[:3])}"
    return best[1] if best else None
