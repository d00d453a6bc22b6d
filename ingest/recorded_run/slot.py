"""Which run of a campaign a recording is, and what its limits did."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.rows import RowBuffer

from .bundles import SLOT
from .files import clean, document_in, rejecter, typed_columns
from .tables import SLOT_FIELDS


def add_slot(bundle: Bundle, run_ids: Mapping[str, str], buffer: RowBuffer) -> None:
    """Add the slot of the bundle's run."""
    document = document_in(bundle, SLOT, buffer) or {}
    for run, run_id in run_ids.items():
        path = f"{run}/run.json"
        seen = (document_in(bundle, path, buffer, run_id) or {}) if path in bundle.manifest.by_path else {}
        ended_by = seen.get("ended_by_limit")
        buffer.add(
            "recorded_slot", SLOT, 0, bundle.manifest.by_path[SLOT].bytes, run_id=run_id,
            **typed_columns(SLOT_FIELDS, document, rejecter(buffer, SLOT, run_id)),
            factors=_json(document.get("values")), ended_by_limit=clean(ended_by) if isinstance(ended_by, str) else None,
            **typed_columns((("refused_processes", pa.int64()),), seen, rejecter(buffer, path, run_id)),
            limits=_json(seen.get("limits")), limit_mechanisms=_json(seen.get("limit_mechanisms")),
        )


def _json(value: Any) -> str | None:
    return clean(json.dumps(value, sort_keys=True)) if isinstance(value, dict) else None
