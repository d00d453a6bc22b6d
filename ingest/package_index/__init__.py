"""States of a package index, as `wh freshness` records them: which version of each package was the newest, when, and who says so.

A row is one package of a state. `wh freshness` reads the last state itself, which no build may have yet. A file that a user brought lies beside it as
it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import pyarrow as pa

from warehouse.landing.contract import Bundle, BundleDraft, DraftFile, Tree
from warehouse.landing.readers.json_text import Element, json_pairs
from warehouse.landing.readers.text import Report, clean, report_cut
from warehouse.landing.rows import RowBuffer, landing_schema, parse_utc

_MARKER = re.compile(rb'\s*\{\s*"format"\s*:\s*"warehouse-index-state"')
_NAME = "index-state.json"


class PackageIndex:
    """The ingestor; see `warehouse.landing.contract.Ingestor`."""

    name = "package_index"
    version = 2
    formats = ("states of a package index: index-state.json of wh freshness",)
    tables: Mapping[str, pa.Schema] = {
        "package_index_release": landing_schema(
            pa.field("asked_at", pa.timestamp("us", "UTC")),
            pa.field("source", pa.string(), nullable=False),
            pa.field("package", pa.string(), nullable=False),  # as package indexes spell it: lower case, with -
            pa.field("version", pa.string()),  # NULL: the index has no such package
        ),
    }

    def bundles(self, tree: Tree) -> Iterator[BundleDraft]:
        for path, file in tree.files.items():
            folder, slash, name = path.rpartition("/")
            if name == _NAME and _MARKER.match(tree.head(path)):
                brought = sorted(other for other in tree.files if other.startswith(f"{folder}{slash}brought/"))
                beside = (DraftFile(other[len(folder + slash) :], tree.files[other], None, "brought") for other in brought)
                yield BundleDraft((DraftFile(name, file, "application/json", "index_state"), *beside))

    def parse(self, bundle: Bundle) -> Iterator[tuple[str, pa.RecordBatch]]:
        buffer = RowBuffer(self.tables, bundle.digest)
        report = Report(buffer, _NAME, None)
        data = bundle.map(_NAME)
        try:
            document = json.loads(bytes(data))
            if not isinstance(document["newest"], dict):
                raise ValueError("it has no versions")
            columns = {"asked_at": parse_utc(document["at"]), "source": clean(str(document["source"]))}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            report("not-read", f"it is no state of a package index: {error}", severity="error")
        else:
            for pair in json_pairs(bytes(data), report, depth=2):
                for package, version in _releases(pair):
                    buffer.add("package_index_release", _NAME, pair.offset, pair.length, **columns, package=package, version=version)
        report_cut(data, report)
        yield from buffer.rest()


def _releases(pair: Element) -> Iterator[tuple[str, str | None]]:
    """The packages, each with its newest version, that a pair of the document states."""
    key = str(pair.key)
    if key.startswith("newest/") and isinstance(pair.value, str):
        yield _normalised(key.removeprefix("newest/")), clean(pair.value)
    elif key == "unknown" and isinstance(pair.value, list):
        for package in dict.fromkeys(_normalised(str(each)) for each in pair.value):
            yield package, None


def _normalised(package: str) -> str:
    return re.sub(r"[-_.]+", "-", clean(package)).lower()


INGESTOR = PackageIndex()
