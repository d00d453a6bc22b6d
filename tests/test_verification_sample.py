"""Every byte counts, and nothing else does: on a sample of the numbers of all rollups, and on publications made twice.

The rollups are those of the standard project that the evidence written here fills; a new one is among them by being there,
once some evidence of its family is. Which bundles a number rests on is read from its publication; what must follow when one byte of one file changes, and from
where, when and in which order evidence came, is said here. tests/test_lineage.py has a case of each on one number; here all are
exhaustive.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from samples import mlperf_inference
from standard import standard_project
from stored import bundle_folder, folder_of

from warehouse.claims.publish.publication import CONTENT, PublishedCell, PublishedRollup, publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verification import verify_number
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import bundle_key
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project, read_project
from warehouse.record.command import record
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import run_query

REPOSITORY = Path(__file__).resolve().parents[1]
QUERIES = sorted(path.stem for path in (REPOSITORY / "queries").glob("*.sql"))
FILLED = {"indicator_results", "mlperf_inference_results"}  # at least
SUBMITTERS = ("Acme", "Bolt")
SAMPLES = (24, 200)  # of so many numbers

pytestmark = pytest.mark.exhaustive
_BENCHMARK = """
import json, sys, time
result = {"rate_per_s": time.perf_counter_ns() % 997 / 7, "elapsed_ms": time.perf_counter_ns() % 101 / 3}
print(json.dumps({"name": "turns", "component": "python", "@parameters": {"size": sys.argv[1]}, "@result": result}))
"""


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with recordings of a benchmark, two sizes of it; they are made once, for no other time is like it."""
    root = tmp_path_factory.mktemp("recordings")
    script = root / "turns.py"
    script.write_text(_BENCHMARK)
    for size, repeats in (("small", 6), ("large", 2)):
        record([sys.executable, str(script), size], root / "recorded" / size, repeats=repeats)
    return root / "recorded"


def write_evidence(folder: Path, recordings: Path) -> list[Path]:
    """The recordings, and the submissions, each in a folder of its own, each with values of its own."""
    folders = [folder / recorded.name for recorded in sorted(recordings.iterdir())]
    for recorded in folders:
        shutil.copytree(recordings / recorded.name, recorded)
    for number, submitter in enumerate(SUBMITTERS):
        values = mlperf_inference.Values(server_tokens_per_s=24593.768 + number, watts=10400.5 - number)
        folders.append(mlperf_inference.write_submission(folder / submitter, submitter=submitter, values=values))
    return folders


def take_in(project: Project, folder: Path) -> None:
    ingest(plan_ingest(folder, load_ingestors(project).values()), open_store(project), "test")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, recordings: Path) -> Project:
    """The evidence, built, and every rollup of it published. What a test changes it puts back."""
    root = tmp_path_factory.mktemp("sampled")
    project = standard_project(root / "project")
    for folder in write_evidence(root / "evidence", recordings):
        take_in(project, folder)
    build(project)
    for query in filled(project):
        publish(project, query, as_provisional=True)
    return project


def filled(project: Project) -> list[str]:
    """The queries whose rollups have rows."""
    sql = " union all ".join(f"select '{query}', count(*) from rollup.{query}" for query in QUERIES)
    with run_query(current_build(project).path, sql) as result:
        return sorted(query for query, count in result.fetchall() if count)


def sample(published: Project, size: int) -> dict[str, set[Path]]:
    """Numbers of every rollup that has some, as many of each as there are or its share, and more of the largest; by id, each
    with the folders of the bundles in its why-set."""
    by_query = {publication.query: numbers_of(published, publication) for publication in publications(published)}
    assert by_query.keys() >= FILLED and all(by_query.values())
    random, chosen = Random(20261121), dict[str, set[Path]]()
    for place, numbers in enumerate(sorted(by_query.values(), key=len)):
        share = (size - len(chosen)) // (len(by_query) - place)
        chosen |= {number: numbers[number] for number in random.sample(sorted(numbers), min(len(numbers), share))}
    assert len(chosen) == size
    return chosen


def numbers_of(project: Project, publication: PublishedRollup) -> dict[str, set[Path]]:
    return {
        cell.number_id: why_set(project, cell) for row in publication.rows() for cell in row.cells.values() if cell.number_id
    }


def why_set(project: Project, cell: PublishedCell) -> set[Path]:
    digests = {file["artifact_manifest_digest"] for file in cell.evidence}
    digests |= {run["artifact_manifest_digest"] for run in cell.runs}
    return {project.store_root / bundle_key(digest) for digest in digests}


@contextmanager
def one_byte_changed(path: Path, random: Random) -> Iterator[None]:
    before = path.read_bytes()
    place = random.randrange(len(before))
    path.chmod(0o644)
    path.write_bytes(before[:place] + bytes([before[place] ^ 1 << random.randrange(8)]) + before[place + 1 :])
    try:
        yield
    finally:
        path.write_bytes(before)


def any_file(folder: Path, random: Random) -> Path:
    """A raw file of a bundle that has a byte."""
    return random.choice(sorted(path for path in (folder / "files").rglob("*") if path.is_file() and path.stat().st_size))


@pytest.mark.parametrize("size", SAMPLES)
def test_a_changed_byte_of_the_why_set_is_found(published: Project, size: int) -> None:
    random = Random(4)
    for number, bundles in sample(published, size).items():
        with one_byte_changed(any_file(random.choice(sorted(bundles)), random), random):
            assert verify_number(published, number).state == "tampered"


@pytest.mark.parametrize("size", SAMPLES)
def test_a_byte_outside_the_why_set_changes_nothing(published: Project, size: int) -> None:
    """Until every number of the sample has been verified beside a damaged bundle that it does not depend on."""
    random, unproven = Random(5), sample(published, size)
    store = open_store(published)
    for folder in (bundle_folder(store, digest) for digest in store.digests()):
        outside = [number for number, bundles in unproven.items() if folder not in bundles]
        if not outside:
            continue
        with one_byte_changed(any_file(folder, random), random):
            assert {verify_number(published, number).state for number in outside} == {"verified"}
        unproven = {number: bundles for number, bundles in unproven.items() if number not in outside}
    assert not unproven


# --- the same publication, made twice --------------------------------------------------------------------------------


def content_of(project: Project) -> dict[str | None, tuple[str, list[bytes]]]:
    """By query the digest and the files of its publication."""
    files = ("publication.json", *CONTENT)
    return {
        publication.query: (publication.digest, [(folder_of(publication) / name).read_bytes() for name in files])
        for publication in publications(project)
    }


def test_a_rebuilt_warehouse_publishes_the_same(published: Project, tmp_path: Path) -> None:
    root = tmp_path / "rebuilt"
    shutil.copytree(published.root, root, symlinks=True)
    project = read_project(root)
    shutil.rmtree(project.builds)
    for folder in ("landing", "publications", "specs"):
        shutil.rmtree(project.store_root / folder)
    build(project)
    assert all(publish(project, query, as_provisional=True).is_new for query in filled(project))
    assert content_of(project) == content_of(published)


def test_another_folder_order_and_number_of_threads_publish_the_same(
    published: Project, recordings: Path, tmp_path: Path
) -> None:
    """As another user would: from the command line, on one processor, the last submission first, one at a time."""
    environment = {
        **{name: value for name, value in os.environ.items() if name != "WH_PROJECT"}, "PYTHONPATH": str(REPOSITORY),
        "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "ARROW_IO_THREADS": "1",
    }

    def wh(folder: Path, *arguments: str) -> str:
        command = [sys.executable, "-c", _ON_ONE_PROCESSOR, *arguments]
        return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout

    evidence = write_evidence(tmp_path / "else" / "where", recordings)
    project = tmp_path / "a project with another name"
    wh(tmp_path, "init", str(project))
    for folder in reversed(evidence):
        wh(project, "ingest", str(folder))
        wh(project, "build")
    told: dict[str, dict[str, Any]] = {query: json.loads(wh(project, "publish", query, "--as", "provisional", "--json")) for query in filled(published)}
    assert {query: one["publication"] for query, one in told.items()} == {
        query: digest for query, (digest, _) in content_of(published).items()
    }
    assert content_of(read_project(project)) == content_of(published)


_ON_ONE_PROCESSOR = """
import os, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from warehouse.cli.main import main
from warehouse.evidence.objects.location import open_store
sys.exit(main(sys.argv[1:]))
"""
