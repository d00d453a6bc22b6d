"""`wh doctor`: what a store promises is tried, and what it does not keep is said."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import WhOn, unprivileged
from places import bucket_store

from warehouse.errors import ExitCode
from warehouse.evidence.examination import BROKEN, PROVEN, SAID, examine
from warehouse.evidence.objects.base import Objects
from warehouse.evidence.objects.local import LocalObjects
from warehouse.evidence.objects.s3 import S3Objects
from warehouse.project.making import init_project

PROMISES = ("list", "write", "read", "create if absent", "create if absent, many at once", "clock", "delete")


@pytest.fixture(params=["folder", "bucket"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    if request.param == "folder":
        (tmp_path / "store").mkdir()
        return LocalObjects(tmp_path / "store")
    return bucket_store(request.getfixturevalue("endpoint"), request.getfixturevalue("bucket_name"), tmp_path / "work").objects


def states(objects: Objects) -> dict[str, str]:
    return {finding.promise: finding.state for finding in examine(objects)}


def test_a_store_that_keeps_its_promises(objects: Objects) -> None:
    found = states(objects)
    assert {promise: found[promise] for promise in PROMISES} == dict.fromkeys(PROMISES, PROVEN)
    assert {state for promise, state in found.items() if promise not in PROMISES} == {SAID}
    assert list(objects.entries("probes")) == []


def test_a_store_that_overwrites_is_found(objects: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server does that does not know the condition: it takes the second object."""

    def overwrites(self: Objects, key: str, data: bytes) -> bool:
        with suppress(FileNotFoundError):
            self.remove(key)
        create(self, key, data)
        return True

    create = type(objects).create
    monkeypatch.setattr(type(objects), "create", overwrites)
    found = states(objects)
    assert (found["write"], found["create if absent"], found["delete"]) == (PROVEN, BROKEN, PROVEN)


def test_a_clock_that_is_wrong_is_found(objects: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = type(objects).entries
    monkeypatch.setattr(
        type(objects), "entries",
        lambda self, prefix: (replace(entry, modified_at=entry.modified_at + timedelta(hours=1)) for entry in entries(self, prefix)),
    )
    found = {finding.promise: finding for finding in examine(objects)}
    assert found["clock"].state == BROKEN and found["clock"].detail.endswith("s ahead of this machine's")
    assert 3500 < int(found["clock"].detail.split()[0]) < 3700


def test_what_a_bucket_is_protected_by(endpoint: str, bucket_name: str, tmp_path: Path) -> None:
    plain = bucket_store(endpoint, bucket_name, tmp_path / "plain").objects
    assert isinstance(plain, S3Objects)
    assert plain.protections() == {"object lock": "none: who may delete there may delete evidence", "versioning": "none"}
    plain.client.create_bucket(Bucket=f"{bucket_name}l", ObjectLockEnabledForBucket=True)
    locked = bucket_store(endpoint, f"{bucket_name}l", tmp_path / "locked").objects
    assert locked.protections() == {
        "object lock": "COMPLIANCE for 730 days, which wh asks for with every object", "versioning": "enabled"
    }
    rule = {"ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": {"Mode": "GOVERNANCE", "Days": 1}}}
    plain.client.put_object_lock_configuration(Bucket=f"{bucket_name}l", ObjectLockConfiguration=rule)
    assert locked.protections()["object lock"] == "GOVERNANCE for 1 days, by the bucket's own rule"


def test_the_command(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    status, out, err = wh_on(project, "doctor", "--json")
    assert status == 0 and err == f"store {project.store_root}\n"
    assert {line["promise"] for line in map(json.loads, out.splitlines())} >= set(PROMISES)


def test_a_folder_that_may_only_be_read() -> None:
    with tempfile.TemporaryDirectory(prefix="wh-test-") as folder:
        os.chmod(folder, 0o555)
        with unprivileged():
            found = list(examine(LocalObjects(Path(folder))))
    assert [(finding.promise, finding.state) for finding in found] == [("list", PROVEN), ("write", BROKEN)]
    assert found[-1].detail == "Permission denied"


def test_the_command_on_a_server_that_is_not_there(tmp_path: Path, wh_on: WhOn, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y"}.items():
        monkeypatch.setenv(name, value)
    project = init_project(tmp_path / "project", bare=True)
    file = project.root / "warehouse.toml"
    file.write_text(file.read_text().replace(".wh/store", "s3://bucket/store"))
    status, out, err = wh_on(project, "doctor")
    assert (status, out.split()) == (ExitCode.FAILED, "broken list the store cannot be used: no server answers there".split())
    assert err == "store s3://bucket/store\n"
