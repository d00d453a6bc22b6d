"""Every byte counts, and nothing else does: on a sample of published numbers, and on one publication made twice.

Which bundles a number rests on is read from its publication; what must follow when one byte of one file changes, and from
where, when and in which order evidence came, is said here.
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

from warehouse.claims.publication import PublishedCell, publications
from warehouse.claims.publish import publish
from warehouse.claims.rollup import build
from warehouse.claims.verification import verify_all, verify_number
from warehouse.evidence.store import LocalStore
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project import Project, init_project, read_project

REPOSITORY = Path(__file__).resolve().parents[1]
QUERY = "mlperf_inference_results"
SUBMITTERS = ("Acme", "Bolt")
SAMPLE = 200


def write_evidence(folder: Path) -> list[Path]:
    """The submissions, each in a folder of its own, each with values of its own."""
    folders = []
    for number, submitter in enumerate(SUBMITTERS):
        values = mlperf_inference.Values(server_tokens_per_s=24593.768 + number, watts=10400.5 - number)
        folders.append(mlperf_inference.write_submission(folder / submitter, submitter=submitter, values=values))
    return folders


def take_in(project: Project, folder: Path) -> None:
    ingest(plan_ingest(folder, load_ingestors(project).values()), LocalStore(project.store_root), "test")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The submissions, built and published. What a test changes it puts back."""
    root = tmp_path_factory.mktemp("sampled")
    project = init_project(root / "project")
    for folder in write_evidence(root / "evidence"):
        take_in(project, folder)
    build(project)
    publish(project, QUERY)
    return project


@pytest.fixture(scope="module")
def sample(published: Project) -> dict[str, set[Path]]:
    """Published numbers by id, each with the folders of the bundles in its why-set."""
    (publication,) = publications(published)
    cells = [cell for row in publication.rows() for cell in row.cells.values()]
    numbers = {cell.number_id: why_set(published, cell) for cell in cells if cell.number_id}
    return {number: numbers[number] for number in Random(20261121).sample(sorted(numbers), SAMPLE)}


def why_set(project: Project, cell: PublishedCell) -> set[Path]:
    digests = {file["artifact_manifest_digest"] for file in cell.evidence}
    digests |= {run["artifact_manifest_digest"] for run in cell.runs}
    return {LocalStore(project.store_root).folder(digest) for digest in digests}


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


def test_a_byte_of_the_why_set_is_told(published: Project, sample: dict[str, set[Path]]) -> None:
    random = Random(4)
    for number, bundles in sample.items():
        with one_byte_changed(any_file(random.choice(sorted(bundles)), random), random):
            assert verify_number(published, number).state == "tampered"


def test_a_byte_outside_the_why_set_changes_nothing(published: Project, sample: dict[str, set[Path]]) -> None:
    """Until every number of the sample has been verified beside a damaged bundle that it does not rest on."""
    random, unproven = Random(5), set(sample)
    store = LocalStore(published.store_root)
    for folder in map(store.folder, store.digests()):
        inside = {number for number, bundles in sample.items() if folder in bundles}
        if not unproven - inside:
            continue
        with one_byte_changed(any_file(folder, random), random):
            states = {verdict.number_id: verdict.state for verdict in verify_all(published)}
        assert {number: states[number] for number in sample} == {
            number: "tampered" if number in inside else "verified" for number in sample
        }
        unproven &= inside
    assert not unproven


def test_a_file_that_no_manifest_lists_is_no_evidence(published: Project, sample: dict[str, set[Path]]) -> None:
    number, bundles = next(iter(sample.items()))
    stray = sorted(bundles)[0] / "files" / "notes.txt"
    stray.write_text("not in the record")
    try:
        assert verify_number(published, number).state == "verified"
    finally:
        stray.unlink()


# --- the same publication, made twice --------------------------------------------------------------------------------


def rows_of(project: Project) -> tuple[str, bytes]:
    (publication,) = publications(project)
    return publication.digest, (publication.folder / "rows.jsonl").read_bytes()


def test_a_rebuilt_warehouse_publishes_the_same(published: Project, tmp_path: Path) -> None:
    root = tmp_path / "rebuilt"
    shutil.copytree(published.root, root, symlinks=True)
    project = read_project(root)
    shutil.rmtree(project.builds)
    for folder in ("landing", "publications", "specs"):
        shutil.rmtree(project.store_root / folder)
    build(project)
    assert publish(project, QUERY).is_new
    assert rows_of(project) == rows_of(published)


def test_another_folder_order_and_number_of_threads_publish_the_same(published: Project, tmp_path: Path) -> None:
    """As another user would: from the command line, on one processor, the last submission first, one at a time."""
    environment = {
        **{name: value for name, value in os.environ.items() if name != "WH_PROJECT"}, "PYTHONPATH": str(REPOSITORY),
        "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "ARROW_IO_THREADS": "1",
    }

    def wh(folder: Path, *arguments: str) -> str:
        command = [sys.executable, "-c", _ON_ONE_PROCESSOR, *arguments]
        return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout

    evidence = write_evidence(tmp_path / "else" / "where")
    project = tmp_path / "a project with another name"
    wh(tmp_path, "init", str(project))
    for folder in reversed(evidence):
        wh(project, "ingest", str(folder))
        wh(project, "build")
    told: dict[str, Any] = json.loads(wh(project, "publish", QUERY, "--json"))
    assert told["publication"] == rows_of(published)[0]
    assert rows_of(read_project(project)) == rows_of(published)


_ON_ONE_PROCESSOR = """
import os, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from warehouse.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
