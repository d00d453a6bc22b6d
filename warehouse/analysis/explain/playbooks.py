"""Playbooks as files: each check of a scenario is one SELECT with a header, in `queries/playbooks/` of the project and of the standard one.

A check reads the tables of a build and the table `explained`: the run in question (role `run`) and the runs that it is compared with
(role `baseline`). It returns one row for each thing that it looked at, such as a node. No row means that there is no evidence to look at.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import printable
from warehouse.project import PLAYBOOKS, Project
from warehouse.transform.project.model_files import read_sql_file

_KEYS = frozenset({"description", "playbook", "evidence", "is_symptom", "order"})


@dataclass(frozen=True)
class Check:
    """One check. `description` says what is the case if it is found. `evidence` names the families that would answer it. A symptom says
    whether the playbook's scenario is the case at all. `order` is its place among checks that are equally likely."""

    name: str
    playbook: str
    description: str
    evidence: str
    is_symptom: bool
    order: int
    sql: str  # with the header, so that places in messages are those of the file
    place: str


def read_playbooks(project: Project) -> tuple[Check, ...]:
    """The checks of a project by playbook, symptoms first, then in their order. A project's own check replaces a standard one of the same
    name. Raises WH201 for a header that is not valid."""
    checks: dict[str, Check] = {}
    for layer in project.layers("queries"):
        for path in sorted((layer / PLAYBOOKS).rglob("*.sql")):
            if not path.name.startswith((".", "_")):
                checks[path.stem] = _read(path, printable(project.shown(path)))
    return tuple(sorted(checks.values(), key=lambda each: (each.playbook, not each.is_symptom, each.order, each.name)))


def _read(path: Path, place: str) -> Check:
    header = read_sql_file(path, place, _KEYS)
    texts = {key: (header.text(key) or "").strip() for key in ("description", "playbook", "evidence")}
    for key, text in texts.items():
        if not text:
            raise header.fault(f"a check of a playbook states its {key}", key, hint=f"add to the header: {key}: ...")
    is_symptom, order = header.value("is_symptom"), header.value("order")
    if not isinstance(is_symptom, bool | None):
        raise header.fault(f"is_symptom is true or false, not {is_symptom!r}", "is_symptom")
    if not isinstance(order, int | None) or isinstance(order, bool):
        raise header.fault(f"order is a whole number, not {order!r}", "order")
    return Check(
        path.stem, texts["playbook"], " ".join(texts["description"].split()), " ".join(texts["evidence"].split()), bool(is_symptom),
        order or 0, header.file, place,
    )
