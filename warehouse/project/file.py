"""A project's file as it is written: its sections and values, and faults at their lines (WH002)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse.errors import WarehouseError, did_you_mean, place_of_byte

PROJECT_FILE = "warehouse.toml"
# What the file may say, section by section.
_KNOWN: Mapping[str, frozenset[str]] = {
    "project": frozenset({"name", "standard"}),
    "store": frozenset({"url", "endpoint", "region"}),
    "build": frozenset({"folder", "keep", "memory"}),
    "scale": frozenset({"engine", "address", "part", "table"}),
    "openlineage": frozenset({"file", "url"}),
    "sql": frozenset({"timeout", "memory", "spill", "rows"}),
    "sources": frozenset(),  # its keys are names of tables
    "trusted_keys": frozenset(),  # and these names of keys
    "publication": frozenset({"require_signatures"}),
    "record": frozenset({"redact"}),
    "hot_metrics": frozenset({"max_series"}),
    "retention": frozenset({"hot_days", "warm_days", "cold_days", "keep_detail"}),
    "freshness": frozenset({"verified_days", "expiry_days", "lock_days", "index_days"}),
    "notify": frozenset({"to", "quiet_hours"}),
}
_FREE = frozenset({"sources", "trusted_keys"})  # sections whose keys are names
_WRITTEN = {int: "a whole number", str: "text in quotes", bool: "true or false"}


@dataclass(frozen=True)
class ProjectFile:
    """The text of a `warehouse.toml` and what it says; it has only known sections and keys."""

    text: str
    document: Mapping[str, Any]

    def section(self, name: str) -> Mapping[str, Any]:
        """The values of a section; empty when it is not there."""
        found: Mapping[str, Any] = self.document.get(name, {})
        return found

    def value(self, section: str, key: str, kind: type, default: Any) -> Any:
        """A value of a type, `default` when it is not there. Raises WH002 for another type."""
        value = self.section(section).get(key, default)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.fault(section, key, f"{section}.{key} is {_WRITTEN[kind]}", f"for example: {key} = {_toml(default)}")
        return value

    def fault(self, section: str, key: str | None, message: str, hint: str) -> WarehouseError:
        """A WH002 at the line that gives the section, or the key in it."""
        return _fault(self.text, section, key, message, hint)


def read_project_file(root: Path) -> ProjectFile:
    """The file in exactly this folder. Raises WH002 when it cannot be read, is not TOML, or has an unknown section or key."""
    text = _read_text(root / PROJECT_FILE)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(error, text) from error
    except RecursionError as error:
        raise WarehouseError("WH002", "it is nested too deeply", PROJECT_FILE, "no setting needs a list within a list") from error
    except ValueError as error:  # Python reads no integer of thousands of digits
        raise _endless_number(text) from error
    for section, keys in document.items():
        if section not in _KNOWN:
            raise _fault(text, section, None, f"unknown section [{section}]", _nearest(section, _KNOWN))
        if not isinstance(keys, dict):
            raise _fault(text, section, None, f"{section} is a section", f"write it on a line of its own: [{section}]")
        for key in keys if section not in _FREE else ():
            if key not in _KNOWN[section]:
                raise _fault(text, section, key, f"unknown key {section}.{key}", _nearest(key, _KNOWN[section]))
    return ProjectFile(text, document)


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")  # some editors put a byte order mark first
    except UnicodeDecodeError as error:
        raise WarehouseError(
            "WH002", f"the byte 0x{error.object[error.start]:02x} is not UTF-8", f"{PROJECT_FILE}:{place_of_byte(error)}",
            "save the file as UTF-8",
        ) from error
    except OSError as error:
        raise WarehouseError("WH002", str(error.strerror), str(file), "it is a file that you may read") from error


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool | int) else f'"{value}"'


def _nearest(word: str, known: Iterable[str]) -> str:
    return did_you_mean(word, known) or f"known: {', '.join(sorted(known))}"


def _not_toml(error: tomllib.TOMLDecodeError, text: str) -> WarehouseError:
    message, _, where = str(error).partition(" (at ")
    numbers = [int(number) for number in re.findall(r"\d+", where)]
    line, column = numbers if len(numbers) == 2 else (max(1, len(text.splitlines())), 1)
    return _shown_fault(text, f"it is not TOML: {message}", line, column, "put text in double quotes; write true and false without quotes")


def _endless_number(text: str) -> WarehouseError:
    number, line = max(enumerate(text.splitlines(), 1), key=lambda found: len(max(re.findall(r"[\d_]*", found[1]), key=len)))
    column = re.search(r"[\d_]{1000}", line)
    return WarehouseError(
        "WH002", "a number has too many digits", f"{PROJECT_FILE}:{number}:{column.start() + 1 if column else 1}", "write a smaller one"
    )


def _fault(text: str, section: str, key: str | None, message: str, hint: str) -> WarehouseError:
    """A WH002 at the line that gives the section, or the key in it; on the first when it is written otherwise."""
    within = False
    for number, line in enumerate(text.splitlines(), 1):
        opens = re.match(r"\s*\[+\s*\"?([\w-]+)", line)
        within = opens[1] == section if opens else within
        word = re.match(r"\s*\"?([\w-]+)\"?\s*[.=]", line)
        if (key is None and (within or (word and word[1] == section))) or (key and within and word and word[1] == key):
            return _shown_fault(text, message, number, len(line) - len(line.lstrip()) + 1, hint)
    return _shown_fault(text, message, 1, 1, hint)


def _shown_fault(text: str, message: str, line: int, column: int, hint: str) -> WarehouseError:
    shown = (text.splitlines() or [""])[line - 1]
    excerpt = f"\n{shown}\n{' ' * (column - 1)}^" if shown else ""
    return WarehouseError("WH002", f"{message}{excerpt}", f"{PROJECT_FILE}:{line}:{column}", hint)
