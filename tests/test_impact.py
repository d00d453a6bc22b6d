"""`wh impact`: the published numbers that rest on a run, a bundle, a raw file or a model, and no others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bare_project import write
from conftest import WhOn
from exhaustive import few
from samples.values import take_in, value_files, values_project
from stored import bundle_folder

from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.impact import impact
from warehouse.cli.main import main
from warehouse.errors import ExitCode
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.transform.build.build import build

A, B = ["claim[key=a].n", "claim[key=a].total"], ["claim[key=b].n", "claim[key=b].total"]
# What is named, given the manifest digest of the bundle of a=4 and its file on disk: the cells that rest on it.
ASKED = {
    "a bundle": (lambda digest, file: digest, A),
    "the beginning of its digest": (lambda digest, file: digest[:10], A),
    "a raw path": (lambda digest, file: "r2.nv", B),
    "a copy of a file": (lambda digest, file: str(file), A),
    "a model": (lambda digest, file: "reading", sorted(A + B)),
    "a model with its schema": (lambda digest, file: "main.reading", sorted(A + B)),
    "a model that one query reads": (lambda digest, file: "doubled", ["twice[key=a].two", "twice[key=b].two"]),
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = values_project(tmp_path / "project", "select key, sum(value) as total, count(*) as n from reading group by key")
    write(project, {
        "models/doubled.sql": "select artifact_manifest_digest, key, value * 2 as value from reading",
        "queries/twice.sql": "/*\ngrain: [key]\n*/\nselect key, max(value) as two from doubled group by key",
    })
    take_in(project, value_files(tmp_path / "in", "a=1.5\n", "a=4\n", "b=7\n"))
    build(project)
    publish(project, "claim")
    return project


@pytest.mark.parametrize("asked", few(ASKED, 3))
def test_the_numbers_that_rest_on_it_and_no_others(asked: str, project: Project, tmp_path: Path) -> None:
    publish(project, "twice")
    file = tmp_path / "in" / "r1.nv"
    store = open_store(project)
    digest = next(d for d in store.digests() if (bundle_folder(store, d) / "files" / "r1.nv").exists())
    named, cells = ASKED[asked]
    found = [each.key for each in impact(project, named(digest, file)).numbers if asked.startswith("a model that") or "twice" not in each.key]
    assert sorted(found) == cells


def test_the_command(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--project", str(project.root), "impact", "reading"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 4 and err == "4 numbers of 1 publication depend on it (model)\n"
    assert main(["--project", str(project.root), "impact", "r2.nv", "--json"]) == 0
    assert [(each["key"], each["kind"]) for each in json.loads(capsys.readouterr()[0])] == [
        ("claim[key=b].n", "file"), ("claim[key=b].total", "file")
    ]
    assert main(["--project", str(project.root), "impact", "nothing"]) == ExitCode.NOT_FOUND


def test_what_is_there_and_no_number_depends_on(tmp_path: Path, wh_on: WhOn) -> None:
    """A run, a model, a bundle: the answer is none, which is no mistake."""
    project = values_project(tmp_path / "project", "select key as run_id, sum(value) as total from value group by key", "run_id")
    take_in(project, value_files(tmp_path / "in", "a=1.5\n"))
    [digest] = open_store(project).digests()
    assert wh_on(project, "impact", digest[:12])[0] == ExitCode.OK
    assert wh_on(project, "impact", "a")[0] == ExitCode.NOT_FOUND
    build(project)
    for there in ("a", "reading", "main.reading", digest[:12]):
        assert wh_on(project, "impact", there) == (ExitCode.OK, "", "no published number depends on it\n")
    assert wh_on(project, "impact", "a", "--json")[:2] == (ExitCode.OK, "[]\n")
    status, _, err = wh_on(project, "impact", "b")
    assert status == ExitCode.NOT_FOUND and "WH304" in err
