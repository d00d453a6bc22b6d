"""Rules for lines of logs, as `log_rules.toml` states them: what a line means, and where the program says it.

Patterns are RE2, which takes linear time on any line. A project's rules are added to the standard ones; a rule of the same name replaces one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.errors import WarehouseError
from warehouse.landing.severity import SEVERITIES

RULES_FILE = "log_rules.toml"
_REQUIRED = frozenset({"name", "pattern", "severity", "meaning", "source", "example", "counterexample"})
_OPTIONAL = frozenset({"condition", "families", "files"})
_CONDITION = frozenset({"name", "value"})


@dataclass(frozen=True)
class Rule:
    """A line that is known. `example` is one that matches, `counterexample` one that must not. Empty `families` and `files` (patterns of
    names) are all. A line with a `condition` states a setting that the run had, by name and value."""

    name: str
    pattern: str
    severity: str
    meaning: str
    source: str
    example: str
    counterexample: str
    condition: tuple[str, str] | None = None
    families: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def is_for(self, family: str, file_name: str) -> bool:
        return (not self.families or family in self.families) and (not self.files or _is_named(file_name, self.files))


@dataclass(frozen=True)
class LogRules:
    """The rules, and which files are logs: patterns of names for every family (""), and more for some."""

    rules: tuple[Rule, ...]
    names: Mapping[str, tuple[str, ...]]

    def is_log(self, family: str, raw_path: str) -> bool:
        name = raw_path.rpartition("/")[2].casefold()
        return _is_named(name, self.names.get("", ())) or _is_named(name, self.names.get(family, ()))


def read_rules(files: Iterable[Path]) -> LogRules:
    """The rules of several files, later ones over earlier ones. Raises WH121 with the file and the rule."""
    rules: dict[str, Rule] = {}
    names: dict[str, tuple[str, ...]] = {}
    for file in files:
        document = _document(file)
        fault = partial(_fault, file)
        for family, patterns in document.pop("logs", {}).items():
            family = "" if family == "any" else family
            names[family] = names.get(family, ()) + _texts(patterns, fault)
        for stated in document.pop("rule", []):
            rule = _rule(stated, file)
            rules[rule.name] = rule
        if document:
            raise _fault(file, f"unknown table [{min(document)}]; a file of log rules has [logs] and [[rule]]")
    return LogRules(tuple(rules.values()), names)


def check_rules(file: Path, place: str) -> list[WarehouseError]:
    """What the examples in a file of rules show to be wrong, and patterns that RE2 cannot read. Raises WH121 as `read_rules` does."""
    found = []
    for rule in read_rules([file]).rules:
        try:
            is_matched, is_other = (does_match(rule.pattern, line) for line in (rule.example, rule.counterexample))
        except pa.ArrowInvalid as error:
            found.append(WarehouseError("WH121", f"rule {rule.name}: the pattern is not RE2: {error}", place))
            continue
        if not is_matched:
            found.append(WarehouseError("WH121", f"rule {rule.name}: its pattern does not match its example", place))
        if is_other:
            found.append(WarehouseError("WH121", f"rule {rule.name}: its pattern matches its counterexample", place))
    return found


def does_match(pattern: str, line: str) -> bool:
    """Whether a pattern is found in a line. Raises `pa.ArrowInvalid` if it is not RE2."""
    return bool(pc.match_substring_regex(pa.array([line.encode()], pa.binary()), in_lines(pattern))[0].as_py())


def in_lines(pattern: str) -> str:
    """The pattern for lines that still have their line end: ^ and $ are those of the line."""
    return f"(?m){pattern}"


def _document(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise _fault(file, f"cannot be read: {error}") from error


def _rule(stated: Any, file: Path) -> Rule:
    name = stated.get("name") if isinstance(stated, dict) else None

    def fault(told: str) -> WarehouseError:
        return _fault(file, f"rule {name or '(without a name)'}: {told}")

    if not isinstance(stated, dict) or (missing := _REQUIRED - stated.keys()):
        raise fault(f"{', '.join(sorted(missing))} missing" if isinstance(stated, dict) else "not a table")
    if unknown := stated.keys() - _REQUIRED - _OPTIONAL:
        raise fault(f"unknown key {min(unknown)}")
    texts = {key: stated[key] for key in _REQUIRED}
    if wrong := sorted(key for key, text in texts.items() if not isinstance(text, str) or not text):
        raise fault(f"{wrong[0]} must be a text")
    if texts["severity"] not in SEVERITIES:
        raise fault(f"severity must be one of {', '.join(SEVERITIES)}")
    condition = stated.get("condition")
    if condition is not None and not (
        isinstance(condition, dict) and condition.keys() == _CONDITION and all(isinstance(text, str) for text in condition.values())
    ):
        raise fault("condition must have a name and a value")
    try:
        does_match(texts["pattern"], "")
    except pa.ArrowInvalid as error:
        raise fault(f"the pattern is not RE2: {error}") from error
    return Rule(
        **texts, condition=(condition["name"], condition["value"]) if condition else None,
        families=_texts(stated.get("families", []), fault), files=_texts(stated.get("files", []), fault),
    )


def _texts(values: Any, fault: Callable[[str], WarehouseError]) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        raise fault("families, files and [logs] are lists of texts")
    return tuple(values)


def _fault(file: Path, message: str) -> WarehouseError:
    return WarehouseError("WH121", message, str(file))


def _is_named(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern.casefold()) for pattern in patterns)
