"""States of a package index, as `wh freshness` records them: which version of each package was the newest, when, and who says so.

The document has no landing table: `wh freshness` reads the last one. A file that a user brought lies beside it as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime

import pyarrow as pa

from warehouse.landing.contract import Bundle, BundleDraft, DraftFile, Tree
from warehouse.landing.readers.text import Report, report_cut
from warehouse.landing.rows import RowBuffer

_MARKER = re.compile(rb'\s*\{\s*"format"\s*:\s*"warehouse-index-state"')
_NAME = "index-state.json"


class PackageIndex:
    """The ingestor; see `warehouse.landing.contract.Ingestor`."""

    name = "package_index"
    version = 1
    formats = ("states of a package index: index-state.json of wh freshness",)
    tables: Mapping[str, pa.Schema] = {}

    def bundles(self, tree: Tree) -> Iterator[BundleDraft]:
        for path, file in tree.files.items():
            folder, slash, name = path.rpartition("/")
            if name == _NAME and _MARKER.match(tree.head(path)):
                brought = sorted(other for other in tree.files if other.startswith(f"{folder}{slash}brought/"))
                beside = (DraftFile(other[len(folder + slash) :], tree.files[other], None, "brought") for other in brought)
                yield BundleDraft((DraftFile(name, file, "application/json", "index_state"), *beside))

    def parse(self, bundle: Bundle) -> Iterator[tuple[str, pa.RecordBatch]]:
        buffer = RowBuffer({}, bundle.digest)
        report = Report(buffer, _NAME, None)
        data = bundle.map(_NAME)
        try:
            document = json.loads(bytes(data))
            if not (isinstance(document["newest"], dict) and datetime.fromisoformat(document["at"]).tzinfo):
                raise ValueError("it has no versions, or a time without a zone")
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            report("not-read", f"it is no state of a package index: {error}", severity="error")
        report_cut(data, report)
        yield from buffer.rest()


INGESTOR = PackageIndex()
