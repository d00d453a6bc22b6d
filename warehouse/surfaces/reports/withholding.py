"""What a report for others does not say: names of our machines, people, folders and jobs.

Columns that name these are withheld whole. In all other text, paths, addresses and job numbers are found by their form, and the names that
the current build knows (nodes, clusters, jobs, runs) wherever they occur.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from warehouse.surfaces.parts import Chart, Column, Fact, Part
from warehouse.transform.finished.builds import Build
from warehouse.transform.finished.query import open_build
from warehouse.transform.finished.role_tables import role_table
from warehouse.transform.project.model import CONDITIONS, RUNS

WITHHELD = "(withheld)"
_OURS = frozenset(
    {
        "run", "node", "nodes", "nodelist", "host", "hosts", "hostname", "user", "username", "owner", "path", "file", "folder", "dir", "job", "jobs",
        "pod", "session", "cluster", "testbed", "queue", "tenant", "region", "zone", "pool", "uuid", "ip", "address", "scheduler", "location",
        "machine", "machines", "rack", "account", "namespace", "email", "author", "login",
    }
)
_FORMS = (
    re.compile(r"\w+://[^\s'\"<>]+"),
    re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*"),
    re.compile(r"(?<![\w/])(?:~|\.{1,2})?/(?=[\w.@~+-])[^\s'\"`,;|<>()]*"),
    re.compile(r"(?<![\w/.-])[\w.@+-]+(?:/[\w.@+-]+){2,}/?"),
    re.compile(r"(?<![\w\\])[A-Za-z]:\\[^\s'\"]+"),
    re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])"),
    re.compile(r"(?<![\w.-])(?:[A-Za-z0-9-]+\.){2,}[A-Za-z]{2,}(?![\w-])"),
    re.compile(r"\b(?:job|slurm|pod|uid|run)[ _-]?(?:id|uid)?[ _=:#-]*\d{2,}\b", re.IGNORECASE),
)
_RUN_NAMES = ("node_name", "gpu_uuid", "job_uid", "pod_uid", "scheduler_run_id", "run_id")
_SHORTEST = 3  # characters of a name that is looked for: "0" is everywhere
_MOST_INSIDE = 2000  # names that are looked for inside of words; the others as whole words


def names_ours(column: str) -> bool:
    """Whether a column or condition names a machine, a person, a folder or a job of ours."""
    return bool(_OURS & set(re.split(r"[^a-z]+", column.lower())))


@dataclass(frozen=True)
class Withholding:
    """What is withheld: the names of the machines, and of the jobs and runs."""

    machines: frozenset[str] = frozenset()
    jobs: frozenset[str] = frozenset()

    @cached_property
    def _inside(self) -> re.Pattern[str] | None:
        names = sorted(self.machines, key=lambda name: (-len(name), name))[:_MOST_INSIDE]
        return re.compile("|".join(map(re.escape, names)), re.IGNORECASE) if names else None

    @cached_property
    def _words(self) -> frozenset[str]:
        return self.machines | self.jobs

    def text(self, text: str) -> str:
        """The text without what is withheld."""
        for form in _FORMS:
            text = form.sub(WITHHELD, text)
        if self._inside:
            text = self._inside.sub(WITHHELD, text)
        return re.sub(r"[\w.:-]+", lambda word: WITHHELD if word[0].strip(".:-") in self._words else word[0], text)

    def grain(self, grain: Mapping[str, Any]) -> dict[str, Any]:
        return {name: None if value is None else WITHHELD if names_ours(name) else self._value(value) for name, value in grain.items()}

    def part(self, part: Part) -> Part:
        """A part without what is withheld in any of its texts."""
        return replace(part, **{each.name: self._value(getattr(part, each.name)) for each in fields(part) if each.name not in ("name", "form")})

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Column | Chart):
            return value
        if isinstance(value, Fact):
            return replace(value, value=self._value(value.value), note=self.text(value.note))
        if isinstance(value, tuple | list):
            return tuple(map(self._value, value))
        return value if isinstance(value, int | float) or value is None or hasattr(value, "__round__") else self.text(str(value))


def read_withholding(build: Build | None) -> Withholding:
    """The names of ours that a build knows; none without one."""
    if build is None:
        return Withholding()
    machines, jobs = set[str](), set[str]()
    runs, conditions = role_table(build.path, RUNS), role_table(build.path, CONDITIONS)
    con = open_build(build.path)
    try:
        for name in _RUN_NAMES:
            if runs and name in runs.columns:
                values = _texts(con.execute(f"select distinct {name}::varchar from {runs.sql} where {name} is not null").fetchall())
                (machines if name == "node_name" else jobs).update(values)
        if conditions and {"kind", "name", "value_text"} <= conditions.columns:
            named = con.execute(f"select distinct kind, name from {conditions.sql}").fetchall()
            for kind, name in named:
                is_ours = names_ours(name) and kind in ("declared", "reported", "parameter", "option", "environment", "package", "hardware")
                if is_ours or kind == "testbed" or (kind, name) == ("git", "remote"):
                    rows = con.execute(
                        f"select distinct value_text from {conditions.sql} where kind = ? and name = ? and value_number is null", [kind, name]
                    ).fetchall()
                    machines.update(_texts(rows))
    finally:
        con.close()
    return Withholding(_long(machines), _long(jobs))


def _texts(rows: Iterable[tuple[Any, ...]]) -> set[str]:
    """The values, and the names in those that are lists."""
    found = {str(row[0]) for row in rows if row[0] is not None}
    return found | {part for text in found for part in re.split(r"[\s,;\[\]'\"]+", text)}


def _long(names: Iterable[str]) -> frozenset[str]:
    # A bare number or truth is a value of many things, not a name.
    return frozenset(name for name in names if len(name) >= _SHORTEST and not re.fullmatch(r"[\d.]+|true|false|null", name.lower()))
