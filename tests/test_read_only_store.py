"""A store at a URL of fsspec's: all that reads works on it, all that writes is refused."""

from __future__ import annotations

import pickle
import shutil
import sys
from pathlib import Path

import fsspec
import pytest
from conftest import WhOn
from exhaustive import few
from samples.values import take_in, value_files, values_project

from warehouse.claims.publish.publish import publish
from warehouse.cli.main import main
from warehouse.digest import bytes_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.objects.base import UNREACHABLE, Staged
from warehouse.evidence.objects.location import open_store
from warehouse.maintenance.fsck import Scope, check_store
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build

SQL = "select key, sum(value) as total from reading group by key"


@pytest.fixture
def written(tmp_path: Path) -> Project:
    """A project that has published a number of two bundles."""
    project = values_project(tmp_path / "project", SQL)
    take_in(project, value_files(tmp_path / "in", "a=1\n", "a=2\n"))
    build(project)
    publish(project, "claim")
    return project


def moved_to(project: Project, url: str) -> Project:
    """The project with its store at a URL, and nothing of what it had on this machine."""
    shutil.rmtree(project.root / ".wh")
    (project.root / "warehouse.toml").write_text(f'[store]\nurl = "{url}"\n')
    return read_project(project.root)


@pytest.fixture(params=few(["memory", "local"], 1))
def project(request: pytest.FixtureRequest, written: Project, tmp_path: Path) -> Project:
    if request.param == "local":  # another name of a folder
        shutil.copytree(written.store_root, tmp_path / "elsewhere")
        return moved_to(written, f"local://{tmp_path / 'elsewhere'}")
    memory = fsspec.filesystem("memory")
    memory.put(f"{written.store_root}/", f"/{tmp_path.name}/store", recursive=True)
    return moved_to(written, f"memory://{tmp_path.name}/store")


def test_what_reads_works(project: Project, wh_on: WhOn, tmp_path: Path) -> None:
    build(project)
    status, out, err = wh_on(project, "verify", "claim[key=a].total")
    assert status == 0 and "2 raw files hashed, replayed from its own 2 bundles: equal" in out, err
    assert f"{project.store_url}/raw/sha256/" in wh_on(project, "lineage", "claim[key=a].total", "--json")[1]
    found = {(finding.kind, finding.key.partition("/")[0]) for finding in check_store(project, Scope()).findings}
    assert found <= {("orphaned", "incoming"), ("orphaned", "landing"), ("orphaned", ".removal.lock")}  # of the folder that it was
    target = values_project(tmp_path / "target", SQL)
    assert wh_on(target, "pull", str(project.store_url))[0] == 0
    build(target)
    assert wh_on(target, "verify", "claim[key=a].total")[0] == 0
    status, out, _ = wh_on(project, "doctor")
    assert status == 0 and "proven  list" in out and "said    read only" in out and "write " not in out.replace("writes", "")


def test_what_writes_is_refused(project: Project, wh_on: WhOn, tmp_path: Path) -> None:
    build(project)
    wh_on(project, "keygen", "nightly", "-o", str(tmp_path / "nightly.pem"))
    before = list(open_store(project).objects.entries(""))
    more = value_files(tmp_path / "more", "b=1\n")
    for command in (
        ("ingest", str(more)), ("publish", "claim"), ("sign", "--all", "--key", str(tmp_path / "nightly.pem")), ("gc", "--apply"),
        ("retention", "apply"),
    ):
        status, _, err = wh_on(project, *command)
        assert status == ExitCode.FAILED and "WH129 " in err and "wh pull" in err, (command, err)
    other = values_project(tmp_path / "other", SQL)
    take_in(other, more)
    assert wh_on(other, "push", str(project.store_url))[2].startswith("WH129 ")
    assert list(open_store(project).objects.entries("")) == before


def test_no_object_is_made_moved_or_removed(project: Project) -> None:
    objects = open_store(project).objects
    before = list(objects.entries(""))
    staged = Staged(b"x", 1, bytes_digest(b"x"))
    for write in (
        lambda: objects.create("raw/x", b"x"), lambda: objects.create_files({"raw/x": staged}), lambda: objects.move_aside(before[0].key),
        lambda: objects.remove(before[0].key), lambda: objects.remove_below("raw"), objects.keeping, objects.removing,
    ):
        with pytest.raises(WarehouseError) as caught:
            write()
        assert caught.value.code == "WH129" and "wh pull" in str(caught.value.hint)
    assert list(objects.entries("")) == before


def test_its_listings_are_in_the_order_of_keys(project: Project) -> None:
    objects = open_store(project).objects
    keys = [entry.key for entry in objects.entries("")]
    assert keys == sorted(keys, key=str.encode) and len(keys) > 8
    assert [entry.key for entry in objects.entries("raw")] == [key for key in keys if key.startswith("raw/")]
    assert list(objects.entries("nothing")) == [] == objects.matching("nothing/*")
    for entry in objects.entries("raw"):
        assert entry.bytes == objects.size(entry.key) == len(objects.read(entry.key)) == sum(map(len, objects.chunks(entry.key)))
    assert not objects.exists("raw") and not objects.exists("nothing")
    with pytest.raises(FileNotFoundError):
        objects.read("nothing")
    assert pickle.loads(pickle.dumps(objects)).read(keys[-1]) == objects.read(keys[-1])


def test_a_store_that_cannot_be_reached_is_no_loss_of_evidence(written: Project) -> None:
    project = moved_to(written, "sftp://127.0.0.1:1/store")
    with pytest.raises(WarehouseError) as caught:
        open_store(project).digests()
    assert caught.value.code in (UNREACHABLE, "WH006")  # WH006 where its client is not installed


def test_a_project_whose_store_can_only_be_read(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["init", str(tmp_path / "project"), "--bare", "--store", f"local://{tmp_path}/store"]
    (tmp_path / "store").mkdir()
    assert main(arguments) == ExitCode.OK
    out, err = capfd.readouterr()
    assert out == f"{tmp_path}/project\n" and err.startswith("the store can only be read: ") and err.count("\n") == 1
    assert main(arguments) == ExitCode.USAGE
    assert "WH003 " in capfd.readouterr().err
    for place, reason in {"http://x": "cannot list its files", "gopher://x": "that fsspec supports", "a\nb": "invisible characters"}.items():
        assert main(["init", str(tmp_path / "none"), "--store", place]) == ExitCode.USAGE
        assert reason in capfd.readouterr().err and not (tmp_path / "none").exists()
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    assert main(["init", str(tmp_path / "none"), "--store", "gs://x/y"]) == ExitCode.FAILED
    assert capfd.readouterr().err.startswith("WH006 gs://x/y: ") and not (tmp_path / "none").exists()
    assert init_project(tmp_path / 'quo"ted', store='of "us"').store_root == tmp_path / 'quo"ted' / 'of "us"'
    assert init_project(tmp_path / "bucket", store="s3://evidence/team").store_url == "s3://evidence/team"
