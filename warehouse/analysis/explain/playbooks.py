"""Playbooks as files: each check of a scenario is one SELECT with a header, in `queries/playbooks/` of the project and of the standard one.

A check reads the tables of a build and the table `explained`: the run in question (role `run`) and the runs that it is compared with
(role `baseline`). It returns one row for each thing that it looked at, such as a node. No row means that there is no evidence to look at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import printable
from warehouse.project.project import PLAYBOOKS, Project, standard_folder
from warehouse.transform.project.model_files import read_sql_file

_KEYS = frozenset({"description", "playbook", "evidence", "is_symptom", "order", "part"})
_QUOTED = re.compile(r"'([a-z][a-z0-9_%\\]+)'")


@dataclass(frozen=True)
class Check:
    """One check. `description` says what is the case if it is found. `evidence` names the families that would answer it. A symptom says
    whether the playbook's scenario is the case at all. `order` is its place among checks that are equally likely. `part` names the part of a run's
    time that the cause takes: the checks of one part may see one cause. `is_standard`: it comes with
    this package, whose code it is as much as any Python."""

    name: str
    playbook: str
    description: str
    evidence: str
    is_symptom: bool
    order: int
    sql: str  # with the header, so that places in messages are those of the file
    place: str
    is_standard: bool
    part: str | None = None


def read_playbooks(project: Project) -> tuple[Check, ...]:
    """The checks of a project by playbook, symptoms first, then in their order; a check of several playbooks is there once for each. A project's
    own check replaces a standard one of the same name. Raises WH201 for a header that is not valid."""
    checks: dict[str, tuple[Check, ...]] = {}
    for layer in project.layers("queries"):
        for path in sorted((layer / PLAYBOOKS).rglob("*.sql")):
            if not path.name.startswith((".", "_")):
                checks[path.stem] = _read(path, printable(project.shown(path)), layer == standard_folder() / "queries")
    listed = (check for of_name in checks.values() for check in of_name)
    return tuple(sorted(listed, key=lambda each: (each.playbook, not each.is_symptom, each.order, each.name)))


def metrics_in(sql: str) -> list[str]:
    """The names of metrics in a check, patterns of LIKE as those of a shell; other quoted words, too."""
    return [name.replace("\\_", "_").replace("%", "*") for name in _QUOTED.findall(sql)]


def _read(path: Path, place: str, is_standard: bool) -> tuple[Check, ...]:
    """The check in a file, for each of its playbooks."""
    header = read_sql_file(path, place, _KEYS)
    playbooks = header.value("playbook")
    names = playbooks if isinstance(playbooks, list) else [header.text("playbook") or ""]
    texts = {key: (header.text(key) or "").strip() for key in ("description", "evidence")}
    for key, stated in {**texts, "playbook": names and all(isinstance(name, str) and name.strip() for name in names)}.items():
        if not stated:
            raise header.fault(f"a check of a playbook states its {key}", key, hint=f"add to the header: {key}: ...")
    is_symptom, order = header.value("is_symptom"), header.value("order")
    if not isinstance(is_symptom, bool | None):
        raise header.fault(f"is_symptom is true or false, not {is_symptom!r}", "is_symptom")
    if not isinstance(order, int | None) or isinstance(order, bool):
        raise header.fault(f"order is a whole number, not {order!r}", "order")
    description, evidence = (" ".join(text.split()) for text in texts.values())
    return tuple(
        Check(path.stem, name.strip(), description, evidence, bool(is_symptom), order or 0, header.file, place, is_standard, header.text("part"))
        for name in dict.fromkeys(names)
    )
