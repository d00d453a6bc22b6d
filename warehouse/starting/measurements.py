"""`wh ingest --as measurements --map ...`: a user says which columns of a tidy file are what, and the mapping is kept as a description."""

from __future__ import annotations

import re
from pathlib import Path

from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.project.project import Project
from warehouse.starting.description_text import measurements_text

NAME = "measurements"
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
    text = measurements_text(name, columns, files[0].suffix.lower())
    if path.is_file() and path.read_text(encoding="utf-8") != text:
        raise _fault(f"{project.shown(path)} maps other columns", f"edit it, or ingest without --map: wh ingest --as {name} FILE")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return name


def _fault(message: str, hint: str) -> WarehouseError:
    return WarehouseError("WH004", message, "--map", hint, ExitCode.USAGE)
