"""Price lists: what an accelerator or a machine costs an hour, from when, and who says so. CSV or TOML, by hand or exported.

CSV has a header line with these names, in any order; TOML has a `[[price]]` table a price, with the same keys:

    accelerator,unit,price_usd_per_hour,effective_date,source          (needed, but for one of accelerator and instance)
    instance,accelerators,provider,region,provisioned_power_w          (may be left out)

`unit` is `accelerator_hour` or `instance_hour`; the latter needs `accelerators`, how many the instance has. `provisioned_power_w` is the
power that is set aside for what the row prices, in watts: an accelerator with its share of the host and the cooling, or an instance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from warehouse.landing.contract import Bundle, BundleDraft, DraftFile, Tree
from warehouse.landing.readers.text import Report, report_cut
from warehouse.landing.rows import RowBuffer, landing_schema

from .rows import csv_rows, looks_like_prices, toml_rows, typed

TABLES: Mapping[str, pa.Schema] = {
    "price_entry": landing_schema(
        pa.field("accelerator", pa.string()),  # as written; NULL: the price is for an instance by name
        pa.field("instance", pa.string()),
        pa.field("provider", pa.string()),
        pa.field("region", pa.string()),
        pa.field("unit", pa.string()),  # accelerator_hour or instance_hour
        pa.field("accelerators", pa.int64()),  # of the instance
        pa.field("price_usd_per_hour", pa.float64()),
        pa.field("provisioned_power_w", pa.float64()),  # of an accelerator, or of the instance, as `unit` says
        pa.field("effective_date", pa.date32()),
        pa.field("source", pa.string()),
        pa.field("line_number", pa.int64(), nullable=False),  # 1-based
    ),
}
_ROWS = {".csv": csv_rows, ".toml": toml_rows}


class Prices:
    """The ingestor; see `warehouse.landing.contract.Ingestor`."""

    name = "prices"
    version = 4
    formats = ("Price lists, CSV or TOML: accelerator or instance, unit, price_usd_per_hour, effective_date, source, provisioned_power_w",)
    tables = TABLES

    def bundles(self, tree: Tree) -> Iterator[BundleDraft]:
        for path, file in tree.files.items():
            if path.endswith(tuple(_ROWS)) and looks_like_prices(path, tree):
                media_type = "text/csv" if path.endswith(".csv") else "application/toml"
                yield BundleDraft((DraftFile(path.rpartition("/")[2], file, media_type, "prices"),))

    def parse(self, bundle: Bundle) -> Iterator[tuple[str, pa.RecordBatch]]:
        buffer = RowBuffer(dict(TABLES), bundle.digest)
        for raw_path in bundle.manifest.by_path:
            report = Report(buffer, raw_path, None)
            data = bundle.map(raw_path)
            row_count = 0
            for row in _ROWS[raw_path[raw_path.rindex(".") :]](data, report):
                row_count += 1
                place = (row.offset, row.length)
                buffer.add("price_entry", raw_path, *place, line_number=row.line_number, **typed(row, report))
                yield from buffer.full()
            if not row_count:
                report("no-price", "no price could be read", severity="error")
            else:
                report_cut(data, report)
        yield from buffer.rest()


INGESTOR = Prices()
