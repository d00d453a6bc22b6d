"""An ingestor made of a description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pyarrow as pa

from warehouse.landing.contract import Bundle, BundleDraft, DraftFile, Tree, Unclaimed
from warehouse.landing.described import reading
from warehouse.landing.described.description import read_description
from warehouse.landing.described.forms.sources import CSV, JSON, JSON_LINES, XML
from warehouse.landing.described.layout import Description
from warehouse.landing.described.recognition import HEAD_BYTES, Formats, recognised
from warehouse.landing.described.tables import TABLES
from warehouse.landing.readers.text import Data
from warehouse.landing.rows import RowBuffer
from warehouse.landing.telemetry import TELEMETRY_TABLES

_MEDIA = {JSON: "application/json", JSON_LINES: "application/jsonl", CSV: "text/csv", XML: "application/xml"}


class DescribedIngestor:
    """Reads files as a description says. A bundle is one file."""

    def __init__(self, description: Description) -> None:
        self.description = description
        runs = {} if description.is_of_telemetry_alone else TABLES
        samples = TELEMETRY_TABLES if any(layout.telemetry for layout in description.layouts) else {}
        self.tables: Mapping[str, pa.Schema] = {**runs, **samples}
        self.name, self.version = description.name, description.version
        self.formats: tuple[str, ...] = (description.about,)
        self.together = Formats((description,))  # with the other descriptions of a project, once they are known

    def bundles(self, tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
        for path, found in self.together.of(tree).items():
            if found.description is self.description:
                name = path.rpartition("/")[2]
                runs = (name,) if found.runs == 1 else tuple(f"{name}#{number}" for number in range(1, found.runs + 1))
                yield BundleDraft((DraftFile(name, tree.files[path], _MEDIA.get(found.form, "text/plain"), "results"),), runs=runs)

    def parse(self, bundle: Bundle) -> Iterator[tuple[str, pa.RecordBatch]]:
        buffer = RowBuffer(self.tables, bundle.digest)
        for raw_path, file in bundle.manifest.by_path.items():
            data = bundle.map(raw_path)
            found = recognised(self.description, bytes(data[:HEAD_BYTES]), file.bytes, partial(_first, data), is_counted=False)
            if found is None:
                buffer.issue("not-recognised", f"{self.name}: what the description requires is not there", raw_path, severity="error")
                continue
            layout = self.description.layouts[found.layout]
            yield from reading.landed(self.description, layout, found.form, data, bundle, raw_path, buffer)
        yield from buffer.rest()


def _first(data: Data, limit: int) -> bytes:
    return bytes(data[:limit])


def described_ingestor(file: Path, place: str | None = None, standard: Path | None = None) -> DescribedIngestor:
    """The ingestor that a description is; what it extends is in the folder `standard`. Raises WH121, at `place`."""
    return DescribedIngestor(read_description(file, place, standard))
