"""Audit packets that somebody made to harm whoever verifies them."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from conftest import WhOn
from samples.published import SERVER, published_submission

from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.specification import read_specification
from warehouse.claims.verify import replay
from warehouse.claims.verify.packet import verify_packet, write_packet
from warehouse.claims.verify.time_limit import time_limit
from warehouse.errors import ExitCode, WarehouseError
from warehouse.project.project import Project
from warehouse.transform.build.recorded import recorded_project
from warehouse.transform.inputs.landing_tables import project_landing_types

DEEP = b"[" * 100_000 + b"]" * 100_000
# None ends in this century.
ENDLESS = (
    "with recursive t (n) as (select 1 union all select n + 1 from t where n > 0) select count(*) from t",
    "select count(*) from range(10000000000) a, range(10000000000) b where (a.range * b.range) % 7 = 9",
    "create table made as select * from range(10000000000000000)",
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = published_submission(tmp_path_factory.mktemp("packed"))
    write_packet(project, SERVER, project.root / "server.tar")
    return project


@pytest.fixture
def packet(project: Project, tmp_path: Path) -> Path:
    """A copy to be spoilt."""
    return Path(shutil.copy(project.root / "server.tar", tmp_path / "server.tar"))


def with_member(packet: Path, entry: tarfile.TarInfo, data: bytes = b"") -> Path:
    entry.size = len(data)
    with tarfile.open(packet, "a") as archive:
        archive.addfile(entry, io.BytesIO(data))
    return packet


def test_a_sparse_file_is_not_unpacked(packet: Path, tmp_path: Path) -> None:
    (tmp_path / "raw" / "sha256").mkdir(parents=True)
    with open(tmp_path / "raw" / "sha256" / "log.txt", "wb") as stream:
        stream.write(b"a line\n")
        stream.truncate(3 << 30)
    subprocess.run(["tar", "--sparse", "-cf", tmp_path / "sparse.tar", "-C", tmp_path, "raw"], check=True)
    assert (tmp_path / "sparse.tar").stat().st_size < 100_000
    began = time.monotonic()
    verdict = verify_packet(tmp_path / "sparse.tar")
    assert (verdict.state, time.monotonic() - began < 1) == ("tampered", True)
    assert "it has a member that no packet has: raw" in verdict.reason


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE])
def test_only_files_are_unpacked(packet: Path, kind: bytes) -> None:
    entry = tarfile.TarInfo("raw/sha256/more")
    entry.type, entry.linkname = kind, "packet.json"
    verdict = verify_packet(with_member(packet, entry))
    assert (verdict.state, verdict.reason) == ("tampered", "it is not a packet any more: it has a member that no packet has: raw/sha256/more")


@pytest.mark.parametrize("name", ["evil.py", "ingest/values.py", "raw", "raw/" + "a/" * 1000 + "b", "/etc/passwd", "../out.txt"])
def test_only_names_that_a_packet_has_are_unpacked(packet: Path, name: str) -> None:
    verdict = verify_packet(with_member(packet, tarfile.TarInfo(name), b"x"))
    assert verdict.state == "tampered" and "a member that no packet has" in verdict.reason


def test_no_more_is_unpacked_than_the_archive_has(packet: Path) -> None:
    data = bytearray(packet.read_bytes())
    with tarfile.open(packet) as archive:
        entry = archive.getmember("README.txt")
    entry.size = 1 << 40
    data[entry.offset : entry.offset + 512] = entry.tobuf(tarfile.GNU_FORMAT)[:512]
    packet.write_bytes(data)
    verdict = verify_packet(packet)
    assert verdict.state == "tampered" and "it has a member that no packet has: README.txt" in verdict.reason


def spoilt(packet: Path, target: Path, change: Callable[[str, bytes], bytes]) -> Path:
    with tarfile.open(packet) as old, tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as new:
        for member in old.getmembers():
            stream = old.extractfile(member)
            assert stream
            entry, data = tarfile.TarInfo(member.name), change(member.name, stream.read())
            entry.size = len(data)
            new.addfile(entry, io.BytesIO(data))
    return target


JSON = ["packet.json", "keys.json", r"specs/.*", r"publications/.*publication\.json", r"ledger/.*", r"raw/.*manifest\.json"]


@pytest.mark.parametrize("name", JSON)
def test_deep_nesting_is_a_verdict_and_no_traceback(packet: Path, tmp_path: Path, name: str, project: Project, wh_on: WhOn) -> None:
    def change(member: str, data: bytes) -> bytes:
        return DEEP if re.fullmatch(name, member) else data

    status, out, err = wh_on(project, "verify", str(spoilt(packet, tmp_path / "deep.tar", change)))
    assert (status, "tampered" in out, "Traceback" in err) == (ExitCode.TAMPERED, True, False)


@pytest.mark.parametrize("text", [b"[]", b"7", b"null", b'{"packet_version": 3}', b"{", b"1" * 5000])
@pytest.mark.parametrize("name", ["packet.json", "keys.json"])
def test_json_of_another_form_is_a_verdict(packet: Path, tmp_path: Path, name: str, text: bytes) -> None:
    verdict = verify_packet(spoilt(packet, tmp_path / "other.tar", lambda member, data: text if member == name else data))
    assert verdict.state == "tampered"


def test_many_headers_before_a_file_are_a_verdict(packet: Path) -> None:
    header = tarfile.TarInfo("README.txt").create_pax_global_header({"comment": "x"})
    packet.write_bytes(header * 5000 + packet.read_bytes())
    assert verify_packet(packet).state == "tampered"


@pytest.mark.parametrize("sql", ENDLESS)
def test_sql_that_never_ends_is_stopped(sql: str, tmp_path: Path) -> None:
    began = time.monotonic()
    with duckdb.connect(tmp_path / "a.duckdb") as con, pytest.raises(TimeoutError), time_limit(0.5):
        con.execute("set threads = 1")
        con.execute(sql)
    assert 0.4 < time.monotonic() - began < 5


def test_work_in_time_is_not_stopped() -> None:
    with time_limit(0.3):
        pass
    with pytest.raises(ValueError), time_limit(0.3):
        raise ValueError
    time.sleep(0.5)  # a timer that was left on would go off now


def test_a_packet_that_takes_too_long_is_refused(packet: Path, project: Project, wh_on: WhOn) -> None:
    status, out, _ = wh_on(project, "verify", str(packet), "--timeout", "0.1")
    assert status == ExitCode.FAILED
    assert out.splitlines()[1] == "  refused: not finished after 0.1 s: wh verify --timeout SECONDS gives it longer"
    assert wh_on(project, "verify", str(packet), "--timeout", "300")[0] == ExitCode.OK


def test_a_replay_reads_no_file_but_its_evidence(packet: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sessions: list[list[object]] = []
    outside = tmp_path / "outside.csv"
    outside.write_text("a\n1\n")

    def noted(con: duckdb.DuckDBPyConnection, model: object) -> object:
        for sql in (f"from read_csv('{outside}')", f"copy (select 1) to '{tmp_path}/out.csv'", "set enable_external_access = true"):
            with pytest.raises(duckdb.Error, match="(?i)permission|disabled|cannot"):
                con.execute(sql)
        sessions.append([con])
        return rows_of(con, model)

    rows_of = replay._rows
    monkeypatch.setattr(replay, "_rows", noted)
    assert verify_packet(packet).state == "verified"
    assert sessions and not (tmp_path / "out.csv").exists()


def test_binding_a_recorded_model_opens_no_file(project: Project, tmp_path: Path) -> None:
    [publication] = publications(project)
    specification = json.loads(json.dumps(read_specification(project, publication).document))
    outside = tmp_path / "outside.csv"
    outside.write_text("secret\n1\n")
    model = next(iter(specification["models"].values()))
    model["sql"] = f"select * from read_csv('{outside}')"
    with pytest.raises(WarehouseError, match="cannot access file"):
        recorded_project(specification, project_landing_types(project))
