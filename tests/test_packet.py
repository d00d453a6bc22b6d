"""Audit packets: what is packed verifies where there is nothing else, and a byte changed anywhere in it is found."""

from __future__ import annotations

import io
import os
import random
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import REPOSITORY
from exhaustive import few
from samples.published import SERVER, published_submission
from samples.values import take_in, value_files, values_project

from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.packet import verify_packet, write_packet
from warehouse.errors import ExitCode, WarehouseError
from warehouse.project.project import Project
from warehouse.transform.build.build import build


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return published_submission(tmp_path_factory.mktemp("packed"))


@pytest.fixture(scope="module")
def packet(project: Project) -> Path:
    path = project.root / "server.tar"
    assert write_packet(project, SERVER, path).state == "verified"
    return path


def wh(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A `wh` process in a folder of no project."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "warehouse.cli.main", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_it_verifies_where_there_is_nothing_else(packet: Path, tmp_path: Path) -> None:
    shutil.copy(packet, tmp_path / "mine.tar")
    done = wh(tmp_path, "verify", "mine.tar")
    assert (done.returncode, done.stderr) == (0, "")
    number, verdict = done.stdout.splitlines()
    assert number.startswith("n-") and "24593.8" in number and "replayed from its own 1 bundle: equal" in verdict
    with tarfile.open(packet) as archive:
        names = archive.getnames()
        page = archive.extractfile("README.txt")
        assert page and "24593.8" in page.read().decode()
    assert sum(name.endswith("/manifest.json") for name in names) == 1  # of one bundle, not of the store
    assert any(name.endswith("Server/performance/run_1/mlperf_log_detail.txt") for name in names)


def test_it_is_the_same_whoever_packs_it(project: Project, packet: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(project.root, elsewhere, symlinks=True)
    done = wh(tmp_path, "--project", str(elsewhere), "audit-packet", SERVER, "-o", "again.tar")
    assert (done.returncode, done.stdout) == (0, "again.tar\n")
    assert (tmp_path / "again.tar").read_bytes() == packet.read_bytes()


def places(packet: Path) -> list[int]:
    """Offsets in every kind of bytes that the archive has, and some anywhere."""
    found = [0]
    with tarfile.open(packet) as archive:
        members = archive.getmembers()
        for member in members:
            found += [member.offset + 136, member.offset_data, member.offset_data + member.size - 1]  # a time, first, last
            found += [member.offset_data + member.size] if member.size % 512 else []  # padding
    size = packet.stat().st_size
    return sorted({*found, size - 1, *random.Random(4).sample(range(size), 40)})


def test_a_byte_changed_anywhere_is_found(packet: Path, tmp_path: Path) -> None:
    data = packet.read_bytes()
    altered = tmp_path / "altered.tar"
    for place in places(packet):
        altered.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        verdict = verify_packet(altered)
        assert verdict.state == "tampered", (place, verdict)


def rewritten(packet: Path, target: Path, change: Callable[[str, bytes], tuple[str, bytes] | None]) -> Path:
    with tarfile.open(packet) as old, tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as new:
        for member in old.getmembers():
            stream = old.extractfile(member)
            assert stream
            if changed := change(member.name, stream.read()):
                entry = tarfile.TarInfo(changed[0])
                entry.size = len(changed[1])
                new.addfile(entry, io.BytesIO(changed[1]))
    return target


# What somebody does to the packet's files, and what is said of it.
CHANGES: dict[str, tuple[Callable[[str, bytes], tuple[str, bytes] | None], str]] = {
    "nothing": (lambda name, data: (name, data), "verified"),
    "a log line": (lambda name, data: (name, data.replace(b"24593.768", b"34593.768")), "tampered"),
    "the page": (lambda name, data: (name, data.replace(b"24593.8", b"34593.8") if name == "README.txt" else data), "tampered"),
    "a file less": (lambda name, data: None if name.endswith("mlperf_log_detail.txt") else (name, data), "tampered"),
    "another number": (lambda name, data: (name, data.replace(b'"n-', b'"n-2') if name == "packet.json" else data), "tampered"),
    "a path out of it": (lambda name, data: ("../out.txt", data) if name == "README.txt" else (name, data), "tampered"),
    "whose the spec is": (
        lambda name, data: (name, data.replace(b'"query_spec_digest"', b'"query_spec_digesT"') if name.startswith("specs/") else data),
        "tampered",
    ),
    "no record": (lambda name, data: None if name == "packet.json" else (name, data), "tampered"),
}


@pytest.mark.parametrize("change", few(CHANGES, 4))
def test_a_packet_that_was_opened_and_closed_again(change: str, packet: Path, tmp_path: Path) -> None:
    altered = rewritten(packet, tmp_path / "altered.tar", CHANGES[change][0])
    verdict = verify_packet(altered)
    assert verdict.state == CHANGES[change][1], verdict
    assert not (tmp_path / "out.txt").exists()


def test_what_is_no_packet_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"total": 8703}' * 100)
    done = wh(tmp_path, "verify", "a.json")
    assert (done.returncode, done.stdout) == (ExitCode.USAGE, "")
    assert "a.json is a file, but neither an audit packet nor a report" in done.stderr


@pytest.mark.parametrize("name", ["packet.whp", "packet"])
def test_a_packet_without_its_beginning_is_damaged_and_no_slip_of_the_reader(name: str, packet: Path, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(bytes(512) + packet.read_bytes()[512:])
    done = wh(tmp_path, "verify", name)
    assert done.returncode == ExitCode.TAMPERED and "it is not a packet any more" in done.stdout and "Traceback" not in done.stderr


def test_an_ingestor_that_is_not_here_is_no_loss_of_evidence(tmp_path: Path) -> None:
    project = values_project(tmp_path / "project", "select key, sum(value) as total from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1.5\n", "b=2.5\n"))
    build(project)
    publish(project, "claim")
    write_packet(project, "claim[key=a].total", tmp_path / "a.tar")  # without the evidence of b
    verdict = verify_packet(tmp_path / "a.tar")
    assert verdict.state == "refused" and "value was parsed by values 1, and no ingestor here gives it" in verdict.reason
    assert verify_packet(tmp_path / "a.tar", project).state == "verified"  # that project's ingestors are
    done = wh(project.root, "verify", str(tmp_path / "a.tar"))
    assert (done.returncode, "verified" in done.stdout) == (ExitCode.OK, True)


def test_only_a_published_number_that_verifies_is_packed(tmp_path: Path) -> None:
    project = values_project(tmp_path / "project", "select key, sum(value) as total from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1\n"))
    build(project)
    with pytest.raises(WarehouseError, match="WH310.*only a published number"):
        write_packet(project, "claim[key=a].total", tmp_path / "a.tar")
    publish(project, "claim")
    assert write_packet(project, "claim[key=a].total", tmp_path / "a.tar").state == "verified"
    # Its ingestor is the project's own, and no packet brings code that would be run.
    assert verify_packet(tmp_path / "a.tar").state == "refused"
    next(project.store_root.rglob("*.nv")).unlink()
    with pytest.raises(WarehouseError, match="WH310.*it is missing"):
        write_packet(project, "claim[key=a].total", tmp_path / "b.tar")
    assert not (tmp_path / "b.tar").exists()
