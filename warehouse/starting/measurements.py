"""`wh ingest --as measurements --map ...`: a user says which columns of a tidy file are what, and the mapping is kept as a description."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.landing.described.ingestor import DescribedIngestor, described_ingestor
from warehouse.project.project import Project
from warehouse.starting.description_text import epoch_unit, measurements_text, read_records

NAME = "measurements"
_NEEDED, _OPTIONAL = ("metric", "value", "unit"), ("case", "time", "host", "commit", "parameters")
_EXAMPLE = "for example: --map metric=name,value=value,unit=unit"
_MOST_NAMED = 12


@dataclass(frozen=True)
class Mapped:
    """A mapping as the description that it is kept as."""

    name: str
    file: Path
    text: str

    @cached_property
    def ingestor(self) -> DescribedIngestor:
        """The ingestor that the description is, also before it is kept."""
        with TemporaryDirectory(prefix="wh-mapped-") as folder:
            file = Path(folder) / self.file.name
            file.write_text(self.text, encoding="utf-8")
            return described_ingestor(file, str(self.file))

    def keep(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(self.text, encoding="utf-8")


def mapped_description(project: Project, mapping: str, files: Sequence[Path]) -> Mapped:
    """The description of a mapping such as `metric=name,value=value,unit=unit`, which belongs into `ingest/measurements_FILE`. Nothing is written.
    Raises WH004."""
    columns = dict(part.partition("=")[::2] for part in mapping.split(","))
    for what in columns:
        if what not in (*_NEEDED, *_OPTIONAL) or not columns[what]:
            hint = did_you_mean(what, (*_NEEDED, *_OPTIONAL)) or f"{_EXAMPLE},time=date"
            raise _fault(f"{printable(what)}: a mapping is of {', '.join((*_NEEDED, *_OPTIONAL))}", hint)
    if lacking := [what for what in _NEEDED if what not in columns]:
        raise _fault(f"the mapping lacks {', '.join(lacking)}", _EXAMPLE)
    if len(files) != 1 or not files[0].is_file():
        raise _fault("a mapping is for one file", "wh ingest --as measurements --map ... FILE")
    form, records, dialect = read_records(files[0])
    if form not in ("csv", "json", "json lines") or not records:
        raise _fault("the file is no CSV with a header, JSON lines or JSON array of objects", "for other files: wh new ingestor NAME --from FILE")
    _check_columns(columns, records)
    stem = re.sub(r"[^a-z0-9]+", "_", files[0].stem.lower()).strip("_")[:30]
    name = f"{NAME}_{stem}".rstrip("_")
    path = project.root / "ingest" / name / "format.toml"
    unit = epoch_unit([record.get(columns["time"]) for record in records]) if "time" in columns else None
    text = measurements_text(name, columns, files[0].suffix.lower(), form, dialect, unit)
    if path.is_file() and path.read_text(encoding="utf-8") != text:
        raise _fault(f"{project.shown(path)} maps other columns", f"edit it, or ingest without --map: wh ingest --as {name} FILE")
    return Mapped(name, path, text)


def _check_columns(columns: Mapping[str, str], records: Sequence[Mapping[str, Any]]) -> None:
    known = list(dict.fromkeys(name for record in records for name in record))
    for what, column in columns.items():
        for each in column.split("+") if what == "parameters" else [column]:
            if each not in known:
                hint = did_you_mean(each, known) or f"it has {', '.join(known[:_MOST_NAMED])}"
                raise _fault(f"the file has no column {printable(each)}", printable(hint))


def _fault(message: str, hint: str) -> WarehouseError:
    return WarehouseError("WH004", message, "--map", hint, ExitCode.USAGE)
