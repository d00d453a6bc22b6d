"""`wh fsck`: every changed byte and every lost object of a store is found, and a whole one has nothing to tell."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import WhOn
from samples.values import take_in, value_files, values_project

from warehouse.claims.fsck import Scope, check_store
from warehouse.claims.publication import publications
from warehouse.claims.publish import publish
from warehouse.claims.rollup import build
from warehouse.claims.signing import publication_subject
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.finding import Finding
from warehouse.evidence.keys import load_signing_key, make_key
from warehouse.evidence.ledger import Ledger
from warehouse.evidence.location import open_store
from warehouse.evidence.signatures import evidence_subject, sign
from warehouse.project import Project, read_project
from warehouse.transform.build_exchange import push_build
from warehouse.transform.builds import current_build

SQL = "select key, sum(value) as total from reading group by key"
ROUNDS = 200


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A store with an object of every kind: three bundles, one of two files, one signed by a key that nobody trusts, one
    removed by policy; landing tables of two batches; a signed publication; a build."""
    folder = tmp_path_factory.mktemp("whole")
    project = values_project(folder / "project", SQL)
    make_key(folder / "stranger.pem")
    key = load_signing_key(str(folder / "stranger.pem"))
    take_in(project, value_files(folder / "a", "a=1\n", "b=2\n"))
    (folder / "notes").mkdir()
    for name in ("one.txt", "two.txt"):
        (folder / "notes" / name).write_text(f"of no family: {name}\n")
    take_in(project, folder / "notes")
    build(project)
    publish(project, "claim")
    store = open_store(project)
    ledger = Ledger(store.objects)
    sign(ledger, evidence_subject(store.digests()[0]), key)
    [published] = publications(project)
    sign(ledger, publication_subject(published.digest, published.record), key)
    push_build(current_build(project), store)
    ledger.removed("cd" * 32, {})  # of a bundle that arrived before
    before = next(iter((project.store_root / "ledger").rglob("*.json"))).parent
    assert before.is_dir()
    return project


@pytest.fixture
def project(whole: Project, tmp_path: Path) -> Project:
    """A copy of it to be damaged."""
    shutil.copytree(whole.root, tmp_path / "project", symlinks=True)
    return read_project(tmp_path / "project")


def found(project: Project, scope: Scope = Scope()) -> list[Finding]:
    return list(check_store(project, scope).findings)


def told(project: Project, scope: Scope = Scope()) -> list[tuple[str, str]]:
    return [(finding.kind, finding.key) for finding in found(project, scope)]


def test_x(project: Project) -> None:
    for f in found(project): print(f)
    for p in sorted(project.store_root.rglob("*")): 
        if p.is_file(): print(p.relative_to(project.store_root))
    assert 0
