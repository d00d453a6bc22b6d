"""Turns inspections, campaigns and documents into landing rows.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.rows import RowBuffer

from .bundles import DOCUMENT, PACKAGE_LIST, REPORT, RESULT, SCHEDULED
from .campaign import add_campaign
from .document import add_document
from .inspection import add_inspection
from .package_list import add_package_list


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    roles = {file.role: file.raw_path for file in bundle.manifest.files}
    if DOCUMENT in roles:
        add_document(bundle, roles[DOCUMENT], buffer)
    elif PACKAGE_LIST in roles:
        add_package_list(bundle, roles[PACKAGE_LIST], buffer)
    elif RESULT in roles or "build/specification" in {path.removesuffix(".json") for path in bundle.manifest.by_path}:
        yield from add_inspection(bundle, buffer)
    elif REPORT in roles or SCHEDULED in roles or roles:
        add_campaign(bundle, buffer)
    yield from buffer.full()
