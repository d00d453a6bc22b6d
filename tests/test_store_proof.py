"""A store under a URL of fsspec's is written to where it is proven that a name is given once, and nowhere else."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import file_systems
import fsspec
import pytest
from conftest import WhOn
from places import FILES, manifest_of, put
from s3_server import client_of
from samples.values import VALUES_INGESTOR, take_in, value_files

from warehouse.cli.main import main
from warehouse.digest import bytes_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.objects.base import Staged
from warehouse.evidence.objects.fsspec_urls import FsspecObjects
from warehouse.evidence.objects.location import open_store, prove_store
from warehouse.evidence.objects.probe import prove
from warehouse.evidence.store import EvidenceStore
from warehouse.maintenance.fsck import Scope, check_store
from warehouse.project import Project
from warehouse.project_making import init_project

SMALL = (1 << 16,)


@pytest.fixture(scope="module", autouse=True)
def file_systems_of_others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A package with file systems is installed, for this process and those that it starts."""
    folder = tmp_path_factory.mktemp("packages")
    file_systems.install(folder)
    sys.path.insert(0, str(folder))
    fsspec.process_entries()
    yield
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project of a store that was proven as `wh init` does it."""
    folder = tmp_path_factory.mktemp("proven")
    project = init_project(folder / "project", bare=True, store=f"linked://{folder}/store")
    assert prove_store(project) is None
    (project.root / "ingest" / "values.py").write_text(VALUES_INGESTOR)
    (project.root / "models" / "reading.sql").write_text("select * from value")
    (project.root / "queries" / "claim.sql").write_text("/*\ngrain: [key]\n*/\nselect key, sum(value) as total from reading group by key")
    return project


def objects_at(url: str, tmp_path: Path) -> FsspecObjects:
    return FsspecObjects(url, tmp_path / "cache")


@pytest.mark.parametrize(
    ("protocol", "reason"),
    {
        "heedless": "of 8 writers made the same name",
        "looking": "of 8 writers made the same name",
        "halving": "it is not there as a whole",
        "belated": "an object that was made is not in the listing",
        "timeless": "the store says that an object was made 1970-01-01T00:00:00Z, which is not now",
        "local": "fsspec.implementations.local.LocalFileSystem looks whether a name is free, and then writes",
        "memory": "of 8 writers made the same name",  # each process has one of its own
    }.items(),
)
def test_what_does_not_hold_is_found_out(protocol: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "store" / "probes").mkdir(parents=True)
    objects = objects_at(f"{protocol}://{tmp_path}/store", tmp_path)
    told = prove(objects, larger=SMALL)
    assert told and reason in told
    assert objects.is_read_only and objects.find_proof() is None
    for write in (objects.create, lambda key, data: objects.create_files({key: Staged(data, len(data), bytes_digest(data))}), lambda key, data: objects.remove(key)):
        with pytest.raises(WarehouseError) as caught:
            write("raw/name", b"x")
        assert caught.value.code == "WH129" and f"wh init DIR --store {objects.url}" in str(caught.value.hint)
    assert not [path for path in (tmp_path / "store").rglob("*") if path.is_file()]  # the probes are gone


def test_a_proven_store_is_one(proven: Project, wh_on: WhOn, tmp_path: Path) -> None:
    key = str(tmp_path / "nightly.pem")
    wh_on(proven, "keygen", "nightly", "-o", key)
    for command in (
        ("ingest", str(value_files(tmp_path / "in", "a=1\n", "a=2\n")), "--sign", key), ("build",), ("publish", "claim", "--sign", key),
        ("verify", "claim[key=a].total"), ("gc", "--apply"), ("retention", "apply"),
    ):
        status, _, err = wh_on(proven, *command)
        assert status == 0, (command, err)
    assert list(check_store(proven, Scope()).findings) == []
    assert [entry.key for entry in open_store(proven).objects.entries("holds/keeping")] == []
    status, out, _ = wh_on(proven, "doctor")
    assert status == 0 and "broken" not in out and "proven  create if absent, many at once" in out
    assert "proven 20" in out and "by file_systems.Linked of file_systems 1.0 for linked:// with fsspec" in out
    other = init_project(tmp_path / "other", bare=True)
    (other.root / "ingest" / "values.py").write_text(VALUES_INGESTOR)
    take_in(other, value_files(tmp_path / "more", "b=1\n"))
    assert wh_on(other, "push", str(proven.store_url))[0] == 0
    assert set(open_store(other).digests()) < set(open_store(proven).digests())


def test_a_name_is_given_once(proven: Project, tmp_path: Path) -> None:
    objects = open_store(proven).objects
    assert (objects.create("specs/x", b"first"), objects.create("specs/x", b"second"), objects.read("specs/x")) == (True, False, b"first")
    objects.move_aside("specs/x")
    [aside] = objects.matching("specs/x.damaged-*")
    assert objects.read(aside) == b"first" and not objects.exists("specs/x")
    with open_store(proven).removing():
        objects.remove(aside)
    assert objects.matching("specs/x*") == []
    store = EvidenceStore(objects, tmp_path / "work")
    assert [put(store, FILES, tmp_path / "sources") for _ in range(2)] == [True, False]
    damaged = f"raw/sha256/{manifest_of(FILES).digest[:2]}/{manifest_of(FILES).digest}/manifest.json"
    Path(f"{objects.url.removeprefix('linked://')}/{damaged}").write_bytes(b"{}")
    assert put(store, FILES, tmp_path / "sources") is True  # whole again, and what was there lies beside it
    assert [objects.read(key) for key in objects.matching(f"{damaged}.damaged-*")] == [b"{}"]


def test_a_proof_counts_for_its_url_and_its_client(proven: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = str(proven.store_url).removeprefix("linked://")
    shutil.copytree(source, tmp_path / "copy")
    assert not objects_at(f"linked://{source}/", tmp_path).is_read_only  # another spelling of the same
    assert objects_at(f"linked://{tmp_path}/copy", tmp_path).is_read_only
    assert objects_at(f"heedless://{source}", tmp_path).is_read_only
    monkeypatch.setattr(fsspec, "__version__", "2099.1.0")
    assert objects_at(f"linked://{source}", tmp_path).is_read_only


def test_what_is_larger_than_was_tried_is_refused(tmp_path: Path) -> None:
    objects = objects_at(f"linked://{tmp_path}/store", tmp_path)
    assert prove(objects, rounds=1, larger=SMALL) is None
    small, large = (Staged(data, len(data), bytes_digest(data)) for data in (b"x" * SMALL[0], b"x" * (SMALL[0] + 1)))
    with pytest.raises(WarehouseError) as caught:
        objects.create_files({"raw/small": small, "raw/large": large})
    assert (caught.value.code, caught.value.place) == ("WH115", "raw/large") and not list(objects.entries("raw"))
    assert objects.create_files({"raw/small": small}) == {"raw/small"} and objects.size("raw/small") == SMALL[0]
    # What is tried again counts alone.
    (tmp_path / "store" / "probes").rmdir()
    (tmp_path / "store" / "probes").symlink_to("/dev/null")
    assert prove(objects, rounds=1, larger=SMALL) is not None and objects.is_read_only


def test_a_damaged_proof_is_none(proven: Project, tmp_path: Path) -> None:
    shutil.copytree(str(proven.store_url).removeprefix("linked://"), tmp_path / "store")
    objects = objects_at(f"linked://{tmp_path}/store", tmp_path)
    [key] = objects.matching("proofs/*")
    file = tmp_path / "store" / key
    file.write_bytes(file.read_bytes().replace(str(proven.store_url).encode(), objects.url.encode()))  # to have it count here
    assert objects.is_read_only
    project = init_project(tmp_path / "project", bare=True, store=objects.url)
    assert ("altered", key) in {(finding.kind, finding.key) for finding in check_store(project, Scope()).findings}


def test_a_client_that_says_it_in_other_words(endpoint: str, bucket_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """s3fs by the other name that fsspec gives it: of a name that is taken it says that an argument is invalid."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    objects = objects_at(f"s3a://{bucket_name}/by-fsspec", tmp_path)
    assert prove(objects, rounds=1, larger=SMALL) is None
    assert (objects.create("specs/x", b"first"), objects.create("specs/x", b"second"), objects.read("specs/x")) == (True, False, b"first")
    client_of(endpoint).copy(f"{bucket_name}/by-fsspec/proofs", f"{bucket_name}/copied/proofs", recursive=True)
    assert objects_at(f"s3a://{bucket_name}/copied", tmp_path).is_read_only


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["init", str(tmp_path / "project"), "--bare", "--store", f"local://{tmp_path}/store"]
    for _ in range(2):  # what is there is tried again
        assert main(arguments) == ExitCode.OK
        out, err = capfd.readouterr()
        assert out == f"{tmp_path}/project\n" and err.startswith("the store can only be read: fsspec") and err.count("\n") == 1
    for other in (["--store", f"local://{tmp_path}/other", "--bare"], ["--store", arguments[-1]], ["--bare"]):
        assert main([*arguments[:2], *other]) == ExitCode.USAGE
        assert "WH003 " in capfd.readouterr().err
    for place, reason in {"http://x": "does not tell what it has", "gopher://x": "what fsspec knows", "a\nb": "cannot be seen"}.items():
        assert main(["init", str(tmp_path / "none"), "--store", place]) == ExitCode.USAGE
        assert reason in capfd.readouterr().err and not (tmp_path / "none").exists()
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    assert main(["init", str(tmp_path / "none"), "--store", "gs://x/y"]) == ExitCode.FAILED
    assert capfd.readouterr().err.startswith("WH006 gs://x/y: ") and not (tmp_path / "none").exists()
    assert init_project(tmp_path / 'quo"ted', store='of "us"').store_root == tmp_path / 'quo"ted' / 'of "us"'
    assert init_project(tmp_path / "bucket", store="s3://evidence/team").store_url == "s3://evidence/team"
