"""One odd bundle never stops a build: it costs its rows, with an issue, and the honest bundles beside it have the rows that they had."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import fuzz
import pytest
from built import sql_of
from samples import mlperf_training, thoth
from samples.families import FAMILIES
from standard import standard_project

from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verification import verify_all
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project
from warehouse.record.command import record
from warehouse.transform.build.build import BuildReport, build
from warehouse.transform.project.model import BUNDLE_COLUMN, Model
from warehouse.transform.project.model_files import load_models

HONEST = ("bench_serving", "prices", "fabric_check", "guidellm", "mlperf_training", "thoth", "kineto", "slurm")
ABSURD = (b"1e308", b"-9223372036854775808", b"18446744073709551616", b"-7", b"2.5")

# --- odd bundles of every family ------------------------------------------------------------------------------------


def _absurd(data: bytes, chance: random.Random) -> bytes:
    """A number that cannot be."""
    found = list(fuzz._NUMBER.finditer(data))
    number = chance.choice(found)
    return data[: number.start()] + chance.choice(ABSURD) + data[number.end() :]


def _contradicting(data: bytes, chance: random.Random) -> bytes:
    """A line again, with another number."""
    lines = data.split(b"\n")
    place = chance.choice([number for number, line in enumerate(lines) if fuzz._NUMBER.search(line)])
    number = chance.choice(list(fuzz._NUMBER.finditer(lines[place])))
    lines.insert(place, lines[place][: number.start()] + b"7" + lines[place][number.end() :])
    return b"\n".join(lines)


def write_odd(root: Path) -> list[Path]:
    """Two odd bundles of each family that is not honest, and more: at least 40 folders."""
    folders = []
    for family in sorted(FAMILIES.keys() - set(HONEST)):
        for oddity in (_absurd, _contradicting):
            folder, chance = root / family / oddity.__name__, random.Random(f"{family} {oddity.__name__}")
            FAMILIES[family].write(folder)
            files = [path for path in sorted(folder.rglob("*")) if path.is_file() and fuzz._NUMBER.search(path.read_bytes())]
            for path in chance.sample(files, min(3, len(files))):
                path.write_bytes(oddity(path.read_bytes(), chance))
            folders.append(folder)
    return folders


# --- odd rows of every feed: a team's own ingestor, whose models promise nothing ----------------------------------------

INGESTOR = '''
import pyarrow as pa
from warehouse.landing.contract import BundleDraft, DraftFile
from warehouse.landing.rows import RowBuffer, landing_schema

TABLES = {"odd_row": landing_schema(pa.field("feed", pa.string()), pa.field("number", pa.int64()))}

class Odd:
    name, version, formats, tables = "odd", 1, ("odd rows",), TABLES
    def bundles(self, tree):
        for path, file in tree.files.items():
            if path.endswith(".odd"):
                yield BundleDraft((DraftFile(path, file),))
    def parse(self, bundle):
        buffer = RowBuffer(TABLES, bundle.digest)
        [path] = bundle.manifest.by_path
        for place, line in enumerate(bytes(bundle.map(path)).decode().split()):
            feed, number = line.split(":")
            buffer.add("odd_row", path, place, 1, feed=feed, number=int(number))
        yield from buffer.rest()

INGESTOR = Odd()
'''
STEPS = "/*\ngrain: [run_id]\ncolumns:\n  steps: {type: bigint}\n*/\nselect run_id, count(*) as steps from step_fact group by run_id"
VALUES = {
    "varchar": "'odd'", "bigint": "1", "double": "0.5 + number / 100.0", "boolean": "true", "timestamptz": "timestamptz '2026-01-01 00:00:00+00'",
    "map(varchar, varchar)": "map {'odd': number::varchar}",
}


def odd_model(collector: Model) -> str:
    """A feeder of four rows: two that should be one and differ, one that states nothing but its run, and one that is right where a count
    tells rows apart."""
    named = {"run_id": "raw_path", "artifact_manifest_digest": "artifact_manifest_digest", "raw_path": "raw_path"}
    items = []
    for column in collector.columns.values():
        kind = column.type.lower()
        if not column.in_feed or not (kind in VALUES or column.name in named):
            continue
        value = named.get(column.name, VALUES.get(kind, ""))
        if column.name not in named:
            tests = {test.kind: test.argument for test in column.tests}
            honest = f"'{tests['accepted_values'][0]}'" if "accepted_values" in tests else value
            differs = column.name not in collector.grain and kind == "varchar" and "accepted_values" not in tests
            if column.name in collector.grain and kind == "double":
                honest = "0.5"
            if column.name in collector.grain and kind == "bigint":
                honest = "greatest(number, 2) - 1"
            value = f"case when number = 2 then null else {honest}{' || number' if differs else ''} end::{kind}"
        items.append(f'    {value} as "{column.name}"')
    columns = ",\n".join(items)
    return f"/*\nfeeds: {collector.collects}\n*/\nselect\n{columns}\nfrom odd_row\nwhere feed = '{collector.collects}'\n"


def rows_of(project: Project, honest: list[str]) -> dict[str, list[str]]:
    """The rows of all facts and dimensions that are of these bundles, or that their runs name, as text."""
    sql = sql_of(project)
    of_bundles = f"artifact_manifest_digest in ({', '.join(map(repr, honest))})"
    runs = f"(from benchmark_run_fact where {of_bundles})"
    found = {}
    for (table,) in sql("select table_name from duckdb_tables() where schema_name = 'main' order by all"):
        columns = [name for name, in sql(f"select column_name from duckdb_columns() where table_name = '{table}' and schema_name = 'main'")]
        key = next((name for name in ("software_version_key", "hardware_topology_key", "cluster_region_key", "workload_spec_digest") if name in columns), None)
        if BUNDLE_COLUMN in columns:
            query = f"select * exclude ({'copies' if table == 'raw_artifact' else 'issue_number' if table == 'ingest_issue' else '[]'}) from {table} where {of_bundles}"
            found[table] = sorted(map(repr, sql(query.replace(" exclude ([])", ""))))
        elif key:
            found[table] = sorted(map(repr, sql(f"from {table} semi join {runs} using ({key})")))
    return found


def taken_in(project: Project, tree: Path) -> BuildReport:
    ingest(plan_ingest(tree, load_ingestors(project).values()), open_store(project), "evidence")
    return build(project)


def test_descriptions_that_contradict_nothing_cost_nothing(tmp_path: Path) -> None:
    """Each of these stopped the build: a component in two words, a repeat that failed, and a document that two bundles hold."""
    tree = tmp_path / "tree"
    home = mlperf_training.write_set(tree, [mlperf_training.Run()]).parents[2]
    described = mlperf_training.system(framework="CUDA 13.0.1, PyTorch 2.8")
    mlperf_training.write(home / "systems/box_n1.json", json.dumps(described))
    script, ran = tmp_path / "bench.py", tmp_path / "ran"
    printed = json.dumps({"name": "PiMatmul", "@parameters": {"reps": 20}, "@result": {"elapsed_ms": 3.5}})
    script.write_text(f"import pathlib, sys\nran = pathlib.Path({str(ran)!r})\nif ran.exists(): sys.exit(1)\nran.touch()\nprint({printed!r})")
    record([sys.executable, str(script)], tree / "recording", repeats=2)
    for copy in ("a", "b"):
        thoth.put(tree / f"thoth-{copy}/advised.json", thoth.adviser() | {"copy": copy})
    project = standard_project(tmp_path / "project")
    assert not taken_in(project, tree).rejected
    sql = sql_of(project)
    assert sql("select version, stated_as from software_package_dim where component = 'cuda'") == [("13.0.1", "CUDA 13.0.1")]
    assert sql("select run.status, model from benchmark_run_fact as run inner join workload_dim using (workload_spec_digest)"
               " where family = 'recorded_run' order by all") == [("failed", "PiMatmul"), ("succeeded", "PiMatmul")]
    assert sql("select count(*), count(distinct (document_key, stack_number)) from mart.advised_stack") == [(1, 1)]


@pytest.mark.exhaustive
def test_forty_odd_bundles_cost_their_rows_and_no_build(tmp_path: Path, odd_evidence: None) -> None:
    project = standard_project(tmp_path / "project")
    for family in HONEST:
        FAMILIES[family].write(tmp_path / "honest" / family)
    assert not taken_in(project, tmp_path / "honest").rejected
    sql = sql_of(project)
    honest = [digest for (digest,) in sql("select distinct artifact_manifest_digest from raw_artifact")]
    before = rows_of(project, honest)
    assert len(before) > 20 and sum(map(bool, before.values())) > 15

    folders = write_odd(tmp_path / "odd/families")
    (project.root / "ingest/odd.py").write_text(INGESTOR)
    (tmp_path / "odd/rows").mkdir()
    (project.root / "models/staging").mkdir(parents=True, exist_ok=True)
    collected = {collector.collects: collector for collector in load_models(project).values() if collector.collects}
    for feed, collector in collected.items():
        (project.root / f"models/staging/odd_{feed}.sql").write_text(odd_model(collector))
    # A run whose every other row is odd, and a run that is odd itself.
    lines = [f"{feed}:{number}" for feed in collected for number in range(1 if feed == "benchmark_run" else 4)]
    (tmp_path / "odd/rows/rows.odd").write_text(" ".join(lines))
    (tmp_path / "odd/rows/run.odd").write_text(" ".join(f"benchmark_run:{number}" for number in range(3)))
    assert len(folders) >= 40
    report = taken_in(project, tmp_path / "odd")

    assert not report.damaged
    left_out = {found.table for found in report.rejected}
    # A run that contradicts itself is none (stated_run), so nothing of it reaches these; and statements are kept of runs that several bundles state.
    assert {collector.qualified for collector in collected.values()} - left_out == {
        "main.benchmark_run_fact", "staging.run_node", "staging.run_statement", "staging.run_window"
    }
    after = rows_of(project, honest)
    assert [table for table in before if before[table] != after[table]] == []
    named = {digest for (digest,) in sql("select distinct artifact_manifest_digest from ingest_issue")}
    assert len(named - set(honest)) >= 40

    # A number says what its run lost, and is verified.
    (project.root / "queries").mkdir(exist_ok=True)
    (project.root / "queries/steps.sql").write_text(STEPS)
    build(project)
    assert sql("select steps from rollup.steps where run_id = 'rows/rows.odd'") == [(1,)]
    publication = publish(project, "steps")
    assert [line for line in publication.left_out if line.startswith("main.step_fact")] == [
        "main.step_fact: 2 rows of rows/rows.odd left out by step_fact.grain",
        "main.step_fact: 1 row of rows/rows.odd left out by step_fact.position_not_null",
    ]
    verdicts = list(verify_all(project))
    assert len(verdicts) > 1 and {verdict.state for verdict in verdicts} == {"verified"}
