"""Which models a command is about: patterns as a person types them, resolved to names.

A pure function of the models, which reads which, and what changed. Walks are iterative: a chain of thousands of models is
no special case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from fnmatch import fnmatchcase

from warehouse.errors import ExitCode, WarehouseError, did_you_mean
from warehouse.transform.project.graph import Graph
from warehouse.transform.project.model import Model

_CHANGED = "changed"
_PATTERN = re.compile(r"(\+?)([^+]+)(\+?)")


def select(
    patterns: Iterable[str], models: Mapping[str, Model], graph: Graph, changed: Collection[str]
) -> set[str]:
    """The names, keyed as `models` is, that any of `patterns` chooses; within one, a comma separates conditions that
    all hold. A condition is a name or glob (bare or `schema.name`), `tag:...`, `path:...` or `changed`; a `+` before it
    adds all that is read, one after it all that reads. Raises WH225 for a condition that no model could ever meet."""
    readers: dict[str, set[str]] = {name: set() for name in models}
    for name, read in graph.models.items():
        for other in read:
            readers[other].add(name)
    found: set[str] = set()
    for pattern in patterns:
        found |= set.intersection(
            *(_chosen(condition, pattern, models, graph.models, readers, changed) for condition in pattern.split(","))
        )
    return found


def _chosen(
    condition: str, pattern: str, models: Mapping[str, Model], reads: Mapping[str, Collection[str]],
    readers: Mapping[str, Collection[str]], changed: Collection[str],
) -> set[str]:
    parts = _PATTERN.fullmatch(condition.strip())
    if parts is None:
        hint = "for example: run, staging.*, +run, run+, tag:nightly, path:models/marts, changed"
        raise _no_model(f"{pattern!r} is not a selection", hint)
    up, what, down = parts.groups()
    found = _matching(what, models, changed)
    return found | (_walk(found, reads) if up else set()) | (_walk(found, readers) if down else set())


def _matching(what: str, models: Mapping[str, Model], changed: Collection[str]) -> set[str]:
    if what == _CHANGED:
        return set(changed)
    method, has_method, value = what.partition(":")
    if not has_method:
        names_of = _qualified if "." in what else _bare
        return _those("named", what, models, names_of, fnmatchcase)
    if method == "tag":
        return _those("tagged", value, models, lambda model: model.tags, fnmatchcase)
    if method == "path":
        folder = value.removeprefix("./").rstrip("/")
        return _those("under", folder, models, _paths, str.__eq__)
    hint = did_you_mean(method, ("tag", "path")) or "tag: or path:"
    raise _no_model(f"there is no method {method}: to select by", hint)


def _those(
    how: str, wanted: str, models: Mapping[str, Model], words_of: Callable[[Model], Iterable[str]],
    matches: Callable[[str, str], bool],
) -> set[str]:
    """The models one of whose words matches; none would be a slip."""
    words = {name: words_of(model) for name, model in models.items()}
    found = {name for name, known in words.items() if any(matches(word, wanted) for word in known)}
    if not found:
        near = did_you_mean(wanted, sorted({word for known in words.values() for word in known}))
        raise _no_model(f"no model is {how} {wanted}", near)
    return found


def _bare(model: Model) -> tuple[str, ...]:
    return (model.name,)


def _qualified(model: Model) -> tuple[str, ...]:
    return (model.qualified,)


def _paths(model: Model) -> list[str]:
    """The model's file and every folder it is in."""
    parts = model.place.split("/")
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _walk(start: Collection[str], onward: Mapping[str, Collection[str]]) -> set[str]:
    found, pending = set(start), list(start)
    while pending:
        new = set(onward[pending.pop()]) - found
        found |= new
        pending += new
    return found


def _no_model(message: str, hint: str | None) -> WarehouseError:
    return WarehouseError("WH225", message, None, hint, ExitCode.NOT_FOUND)
