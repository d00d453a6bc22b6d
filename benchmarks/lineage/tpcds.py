"""What it costs to annotate and run each query of TPC-DS, compared with the query alone: each in a process of its own, so that its peak
memory is known. Texts and data come from packages, which are installed into an environment of their own (`.cache/tpcds`)."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path[:0] = [str(REPOSITORY), str(HERE.parent / "transform")]

from measure import CommandFailed, run

# The extension is bound to its engine, which is not the one that is measured.
_PACKAGES = ("duckdb==1.5.5", "duckdb-extensions==1.5.5", "duckdb-extension-tpcds==1.5.5")
_DATA = """
import duckdb, duckdb_extension_tpcds, json, pathlib, sys
[extension] = pathlib.Path(duckdb_extension_tpcds.__file__).parent.glob("extensions/*/tpcds.duckdb_extension")
folder = pathlib.Path(sys.argv[1])
connection = duckdb.connect()
connection.execute(f"load '{extension}'")
connection.execute(f"call dsdgen(sf = {sys.argv[2]})")
for (table,) in connection.execute("select table_name from duckdb_tables()").fetchall():
    connection.execute(f"copy {table} to '{folder / table}.parquet'")
texts = connection.execute("select query_nr, query from tpcds_queries() order by query_nr").fetchall()
(folder / "texts.json").write_text(json.dumps(dict(texts)))
"""
_REPEATS = 3
_MEDIAN, _Q70, _Q23_MB = 4.0, 100.0, 1000.0


@dataclass(frozen=True)
class Traced:
    """CPU seconds of a query, of its annotated form with the writing of it, and the peak memory of the process; or why it is not traced."""

    number: int
    query_s: float = 0.0
    trace_s: float = 0.0
    peak_mb: float = 0.0
    refusal: str = ""

    @property
    def ratio(self) -> float:
        return self.trace_s / self.query_s


def prepare(folder: Path, scale: str) -> dict[int, str]:
    """Put the tables and texts into a folder; returns the texts. Raises CalledProcessError where the packages cannot be had."""
    home = REPOSITORY / ".cache" / "tpcds"
    python = home / "bin" / "python"
    if not (home / "made").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install", *_PACKAGES], check=True)
        (home / "made").touch()
    subprocess.run([str(python), "-c", _DATA, str(folder), scale], check=True, stdout=sys.stderr)  # it draws a bar
    return {int(number): text for number, text in json.loads((folder / "texts.json").read_text()).items()}


def traced(folder: Path, numbers: list[int]) -> Iterator[Traced]:
    for number in numbers:
        try:
            cost = run([sys.executable, str(Path(__file__)), "--folder", str(folder), "--trace", str(number)], folder)
        except CommandFailed as error:
            yield Traced(number, refusal=str(error).splitlines()[-1])
            continue
        told = json.loads((folder / "benchmark.log").read_text().splitlines()[-1])
        yield Traced(number, told["query_s"], told["trace_s"], cost.peak_mb, told["refusal"])


def trace(folder: Path, number: int) -> dict[str, object]:
    """Run one query and its annotated form in this process."""
    from subjects import traced_session

    from warehouse.errors import WarehouseError
    from warehouse.trace.provenance.annotator import annotate

    sql = json.loads((folder / "texts.json").read_text())[str(number)].strip().removesuffix(";")
    with traced_session(folder / f"{number}.duckdb") as con:
        columns: dict[str, list[str]] = {}
        for path in sorted(folder.glob("*.parquet")):
            con.execute(f"create table {path.stem} as from '{path}'")
            columns[path.stem] = [name for name, *_ in con.execute(f"describe {path.stem}").fetchall()]
        tokens = dict.fromkeys(columns, "{alias}.rowid")
        try:
            query_s = _cpu_s(lambda: con.execute(f"create or replace temp table answer as {sql}"))
            trace_s = _cpu_s(lambda: con.execute(f"create or replace temp table traced as {annotate(sql, columns, tokens, unique=tokens).sql}"))
        except WarehouseError as error:
            return {"query_s": 0, "trace_s": 0, "refusal": str(error).splitlines()[0]}
        finally:
            (folder / f"{number}.duckdb").unlink()
    return {"query_s": query_s, "trace_s": trace_s, "refusal": ""}


def _cpu_s(action: Callable[[], object]) -> float:
    """The median of several times; of what takes long, one."""
    found: list[float] = []
    while len(found) < _REPEATS and sum(found) < 5:
        began = time.process_time()
        action()
        found.append(time.process_time() - began)
    return median(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", default="0.01")
    parser.add_argument("--queries", type=int, nargs="+", help="their numbers; all without it")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--trace", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.trace:
        print(json.dumps(trace(args.folder, args.trace)))
        return
    found: list[Traced] = []
    with TemporaryDirectory(prefix="wh-tpcds-") as name:
        texts = prepare(Path(name), args.scale)
        for each in traced(Path(name), args.queries or sorted(texts)):
            found.append(each)
            told = each.refusal or f"{each.query_s:8.3f} s {each.trace_s:8.3f} s {each.ratio:8.1f} {each.peak_mb:6.0f} MB"
            print(f"Q{each.number:<3} {told}", file=sys.stderr if args.json else sys.stdout, flush=True)
    whole = [each for each in found if not each.refusal]
    summary = {
        "median": median(each.ratio for each in whole) if whole else None,
        "Q70": next((each.ratio for each in whole if each.number == 70), None),
        "Q23 MB": next((each.peak_mb for each in whole if each.number == 23), None),
    }
    if args.json:
        print(json.dumps({**summary, "traced": len(whole), "refused": {each.number: each.refusal for each in found if each.refusal}}, indent=2))
        return
    print(f"{len(whole)} of {len(found)} traced")
    for (name, value), bound in zip(summary.items(), (_MEDIAN, _Q70, _Q23_MB), strict=True):
        print(f"{name}: {value:.1f} <= {bound:g}: {'met' if value <= bound else 'MISSED'}" if value is not None else f"{name}: not measured")


if __name__ == "__main__":
    main()
