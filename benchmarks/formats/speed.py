"""How fast described files are read, beside DuckDB's read_json and read_csv of the same records on one thread, in CPU seconds."""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from warehouse.digest import bytes_digest
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.landing.contract import Bundle
from warehouse.landing.described.ingestor import described_ingestor
from warehouse.landing.registry import Source

_INGEST = Path(__file__).resolve().parents[2] / "ingest"


def write(folder: Path, form: str, count: int) -> tuple[str, Path]:
    """A file of so many records, made of a sample; the description that reads it."""
    path = folder / {"json": "a.json", "jsonl": "a.jsonl", "csv": "a.csv"}[form]
    if form == "json":
        document = json.loads((_INGEST / "google_benchmark/sample.json").read_text())
        document["benchmarks"] = [document["benchmarks"][0] | {"name": f"b{number}", "real_time": number / 3} for number in range(count)]
        path.write_text(json.dumps(document))
        return "google_benchmark", path
    if form == "jsonl":
        record = json.loads((_INGEST / "llama_bench/sample.jsonl").read_text().splitlines()[0])
        path.write_text("".join(json.dumps(record | {"avg_ts": 100 + number / 7}) + "\n" for number in range(count)))
        return "llama_bench", path
    rows = list(csv.DictReader((_INGEST / "llama_bench/sample.csv").read_text().splitlines()))
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows[number % len(rows)] | {"avg_ts": str(100 + number / 7)} for number in range(count))
    return "llama_bench", path


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    before = time.process_time()
    found = work()
    return time.process_time() - before, found


def parsed(name: str, path: Path, manifest: Manifest) -> int:
    """How many rows the description lands of a file."""
    ingestor = described_ingestor(_INGEST / name / "format.toml")
    return sum(batch.num_rows for _, batch in ingestor.parse(Bundle(manifest.digest, manifest, lambda _: path)))


def parsed_by_code(path: Path, data: bytes) -> int:
    """How many rows the ingestor of SuperBench, which is code, lands of lines of JSON objects: a row a key."""
    manifest = Manifest("superbench", (ManifestFile(path.name, len(data), bytes_digest(data), None, "results"),))
    ingestor = Source("standard", "superbench", _INGEST / "superbench/__init__.py").load()
    return sum(batch.num_rows for _, batch in ingestor.parse(Bundle(manifest.digest, manifest, lambda _: path)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=4000)
    count = parser.parse_args().records
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(config={"threads": 1}) as con:
        for form in ("jsonl", "csv", "json"):
            name, path = write(Path(folder), form, count)
            data = path.read_bytes()
            manifest = Manifest(name, (ManifestFile(path.name, len(data), bytes_digest(data)),))
            took, rows = cpu_seconds(partial(parsed, name, path, manifest))
            statement = f"create or replace temp table read as select * from read_{'csv' if form == 'csv' else 'json'}('{path}')"
            con.execute(statement)
            read, _ = cpu_seconds(partial(con.execute, statement))
            each = f"{took / rows * 1e6:.0f} us a row"
            if form == "jsonl":
                took_by_code, rows_by_code = cpu_seconds(partial(parsed_by_code, path, data))
                print(f"{form} by SuperBench's reader: {rows_by_code} rows in {took_by_code:.2f} s, 1/{took / took_by_code:.2f}")
            print(f"{form}: {len(data) / 1e6:.1f} MB, {rows} rows in {took:.2f} s, {each}; DuckDB {read:.3f} s, 1/{took / read:.0f}")


if __name__ == "__main__":
    main()
