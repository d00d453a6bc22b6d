"""The smallest evidence there is: files of `key=value` lines, and a project of an ingestor of its own that reads them."""

from __future__ import annotations

from pathlib import Path

from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.making import init_project
from warehouse.project.project import Project

VALUES_INGESTOR = """
import pyarrow as pa
from warehouse.landing.contract import BundleDraft, DraftFile
from warehouse.landing.rows import RowBuffer, landing_schema

TABLES = {"value": landing_schema(pa.field("key", pa.string()), pa.field("value", pa.float64()))}

class Values:
    name, version, tables = "values", 1, TABLES
    def bundles(self, tree):
        for path, file in tree.files.items():
            if path.endswith(".nv"):
                yield BundleDraft((DraftFile(path.rpartition("/")[2], file),))
    def parse(self, bundle):
        buffer = RowBuffer(TABLES, bundle.digest)
        for path in bundle.manifest.by_path:
            offset = 0
            for line in bundle.read(path).decode().splitlines(keepends=True):
                key, _, value = line.strip().partition("=")
                buffer.add("value", path, offset, len(line.strip()), key=key, value=float(value))
                offset += len(line)
        yield from buffer.rest()

INGESTOR = Values()
"""


def take_in(project: Project, path: Path) -> None:
    ingest(plan_ingest(path, load_ingestors(project).values()), open_store(project), str(path))


def values_project(root: Path, sql: str, grain: str = "key") -> Project:
    project = init_project(root, bare=True)
    (root / "ingest" / "values.py").write_text(VALUES_INGESTOR)
    (root / "models" / "reading.sql").write_text("select * from value")
    (root / "queries" / "claim.sql").write_text(f"/*\ngrain: [{grain}]\n*/\n{sql}")
    return project


def value_files(folder: Path, *files: str) -> Path:
    folder.mkdir(parents=True)
    for number, text in enumerate(files):
        (folder / f"r{number}.nv").write_text(text)
    return folder
