"""The star of `benchmarks/transform` as evidence, a bundle a day, built by itself and by tasks: every table must be equal.

    python benchmarks/scale/star.py [--rows 10000000] [--engines local ray spark] [--address ADDRESS]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "benchmarks")]

from scale.equal import built, compared
from scale.run import wh
from transform import projects, telemetry

INGESTOR = """
from io import BytesIO
import pyarrow as pa
import pyarrow.parquet as pq
from warehouse.landing.contract import BundleDraft, DraftFile
from warehouse.landing.rows import landing_schema

RUNS = landing_schema(
    pa.field("run_id", pa.string()), pa.field("host_id", pa.int32()), pa.field("suite_id", pa.int64()), pa.field("commit_id", pa.int64()),
    pa.field("started_at", pa.timestamp("us")), pa.field("duration_s", pa.float64()), pa.field("status", pa.string()),
)
SAMPLES = landing_schema(
    pa.field("run_id", pa.string()), pa.field("metric_id", pa.int32()), pa.field("iteration", pa.int32()), pa.field("value", pa.float64()),
    pa.field("ts", pa.timestamp("us")),
)

class Star:
    name, version, tables = "star_day", 1, {"star_run": RUNS, "star_sample": SAMPLES}
    def bundles(self, tree):
        days = {}
        for path, file in tree.files.items():
            days.setdefault(path.rpartition("/")[2], []).append(DraftFile(path, file))
        yield from (BundleDraft(tuple(files)) for files in days.values())
    def parse(self, bundle):
        for path, file in bundle.manifest.by_path.items():
            name, schema = ("star_run", RUNS) if "runs/" in path else ("star_sample", SAMPLES)
            rows = pq.read_table(BytesIO(bundle.read(path)), partitioning=None).combine_chunks()
            same = {"artifact_manifest_digest": bundle.digest, "raw_path": path, "raw_offset": 0, "raw_length": file.bytes}
            columns = {each: pa.repeat(pa.scalar(value), len(rows)) for each, value in same.items()}
            columns |= {each: rows[each].cast(schema.field(each).type).combine_chunks() for each in rows.column_names}
            table = pa.table([columns[each] for each in schema.names], schema=schema)
            yield from ((name, batch) for batch in table.to_batches(max_chunksize=100_000))

INGESTOR = Star()
"""
READS = {
    "read_parquet('data/runs/*.parquet', hive_partitioning = false)": "(select * replace (run_id::bigint as run_id) from star_run)",
    "read_parquet('data/samples/*.parquet', hive_partitioning = false)": "(select * replace (run_id::bigint as run_id) from star_sample)",
    **{f"read_parquet('data/base/{name}.parquet')": f"({sql})" for name, sql in telemetry._DIMENSIONS.items()},
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--engines", nargs="+", default=["local", "ray", "spark"])
    parser.add_argument("--address", default="")
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        days, plain = Path(name, "days"), Path(name, "none")
        script = Path(telemetry.__file__)
        subprocess.run([sys.executable, str(script), str(days), str(args.rows)], check=True)
        wh(Path(name), "init", str(plain), "--bare")
        (plain / "ingest").mkdir(exist_ok=True)
        (plain / "ingest/star_day.py").write_text(INGESTOR)
        for model in projects.star():
            sql = model.sql
            for file, rows in READS.items():
                sql = sql.replace(file, rows)
            (plain / f"models/{model.name}.sql").write_text(sql)
        for part in ("base", "next"):
            shutil.rmtree(days / part)
        wh(plain, "ingest", str(days))
        shutil.rmtree(days)
        for engine in args.engines:
            shutil.copytree(plain, Path(name, engine), symlinks=True)
            with Path(name, engine, "warehouse.toml").open("a") as file:
                file.write('\n[scale]\npart = "8MB"\ntable = "8MB"\n')
        wanted, _, told = built(plain, "none")
        print(f"none: {told}", flush=True)
        for engine in args.engines:
            found, parts, told = built(Path(name, engine), engine, args.address)
            is_equal, words = compared(wanted, found, parts)
            failed += not is_equal
            print(f"{engine}: {words}; {told}", flush=True)
            shutil.rmtree(Path(name, engine))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
