"""`wh ingest --as measurements --map ...`: a user says which columns of a tidy file are what, and the mapping is kept as a description."""

from __future__ import annotations

import re
from pathlib import Path

from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.project.project import Project
from warehouse.starting.description_text import measurements_text
from warehouse.starting.table import Table, table_of

NAME = "measurements"
_HEAD_BYTES = 1 << 20
_NEEDED, _OPTIONAL = ("metric", "value", "unit"), ("case", "time", "host", "commit", "parameters")


def mapped_description(project: Project, mapping: str, files: list[Path]) -> str:
    """The name of the description that a mapping such as `metric=name,value=value,unit=unit` is kept as, `ingest/measurements_FILE`, which is
    written if it is not there. Raises WH004."""
    columns = dict(part.partition("=")[::2] for part in mapping.split(","))
    for what in columns:
        if what not in (*_NEEDED, *_OPTIONAL) or not columns[what]:
            hint = did_you_mean(what, (*_NEEDED, *_OPTIONAL)) or "for example: --map metric=name,value=value,unit=unit,time=date"
            raise _fault(f"{printable(what)}: a mapping is of {', '.join((*_NEEDED, *_OPTIONAL))}", hint)
    if lacking := [what for what in _NEEDED if what not in columns]:
        raise _fault(f"the mapping lacks {', '.join(lacking)}", "for example: --map metric=name,value=value,unit=unit")
    if len(files) != 1 or not files[0].is_file():
        raise _fault("a mapping is for one file", "wh ingest --as measurements --map ... FILE")
    stem = re.sub(r"[^a-z0-9]+", "_", files[0].stem.lower()).strip("_")[:30]
    name = f"{NAME}_{stem}".rstrip("_")
    path = project.root / "ingest" / name / "format.toml"
    table = _table(files[0])
    named = [each for what, column in columns.items() for each in (column.split("+") if what == "parameters" else [column])]
    if table and (unknown := next((each for each in named if each not in table.rows[0]), None)):
        raise _fault(f"the file has no column {printable(unknown)}", did_you_mean(unknown, table.rows[0]) or f"one of {', '.join(table.rows[0])}")
    text = measurements_text(name, columns, files[0].suffix.lower(), table.dialect if table else {})
    if path.is_file() and path.read_text(encoding="utf-8") != text:
        raise _fault(f"{project.shown(path)} maps other columns", f"edit it, or ingest without --map: wh ingest --as {name} FILE")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return name


def _table(file: Path) -> Table | None:
    """The beginning of a file as a table; None if it is none."""
    with file.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    whole = head if len(head) < _HEAD_BYTES else head[: head.rfind(b"\n") + 1]
    text = whole.decode("utf-8-sig", "replace")
    return None if text.lstrip()[:1] in ("{", "[") else table_of(text, printable(str(file)))


def _fault(message: str, hint: str) -> WarehouseError:
    return WarehouseError("WH004", message, "--map", hint, ExitCode.USAGE)
