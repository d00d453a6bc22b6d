"""Archives of results are read as their contents: the bundles of the unpacked folder, bounded, and walked back to archive and member."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest
from conftest import WhOn
from samples import bench_serving
from standard import standard_project

from warehouse.digest import file_digest
from warehouse.evidence import archives
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import Plan, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.surfaces.all_views import view_named
from warehouse.surfaces.view import Visit, utc_now
from warehouse.transform.export.docs.published_pages import short
from warehouse.transform.finished.builds import find_current

NAME = "h100_tp8_isl1024_osl128_conc4.json"
RECORD = json.dumps(
    bench_serving.vllm_record(bench_serving.requests(40, 4), model_id="acme/7b", max_concurrency=4, date="20260131-020004")
).encode()
LINK = zipfile.ZipInfo("link.json")
LINK.external_attr = 0o120777 << 16


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def tarred(path: Path, members: dict[str, bytes], mode: Literal["w", "w:gz"] = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def zstd(path: Path, data: bytes) -> Path:
    with pa.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(data)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "results"
    made.mkdir()
    return made


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return init_project(tmp_path / "project")


def planned(project: Project, path: Path, tmp_path: Path) -> Plan:
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    return plan_ingest(path, load_ingestors(project).values(), project.store_root, scratch=scratch)


def reasons(plan: Plan) -> dict[str, str | None]:
    return {leftover.file.path: leftover.reason for leftover in plan.leftovers}


@pytest.mark.parametrize("form", [".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".json.gz", ".json.zst"])
def test_every_form_gives_the_bundle_of_the_file_itself(form: str, project: Project, folder: Path, tmp_path: Path, wh_on: WhOn) -> None:
    (tmp_path / NAME).write_bytes(RECORD)
    assert wh_on(project, "ingest", str(tmp_path / NAME))[0] == 0
    path = folder / f"{'nightly' if form in ('.zip', '.tgz') or 'tar' in form else NAME.removesuffix('.json')}{form}"
    if form == ".zip":
        zipped(path, {f"runs/{NAME}": RECORD})
    elif form == ".tar.zst":
        zstd(path, tarred(tmp_path / "plain.tar", {f"./runs/{NAME}": RECORD}, "w").read_bytes())
    elif "t" in form.split(".")[1][:1]:
        tarred(path, {f"./runs/{NAME}": RECORD}, "w" if form == ".tar" else "w:gz")
    elif form == ".json.gz":
        path.write_bytes(gzip.compress(RECORD))
    else:
        zstd(path, RECORD)
    status, out, err = wh_on(project, "ingest", str(folder), "--json")
    (bundle,) = json.loads(out)
    assert (status, bundle["family"], bundle["status"]) == (0, "bench_serving", "present"), err


def test_a_number_walks_back_to_archive_member_and_line(folder: Path, tmp_path: Path, wh_on: WhOn) -> None:
    project = standard_project(tmp_path / "project")
    path = zipped(folder / "nightly.zip", {f"runs/{NAME}": RECORD, "runs/notes.txt": b"a fan was loud\n"})
    assert wh_on(project, "ingest", str(path))[0] == wh_on(project, "build")[0] == 0
    number = wh_on(project, "sql", "select number_ids.output_token_throughput_per_s from serving_results")[1].split()[-1]
    status, out, _ = wh_on(project, "lineage", number)
    assert status == 0 and f"unpacked from nightly.zip: runs/{NAME}, sha256 {file_digest(path)[:12]}" in out
    document = json.loads(wh_on(project, "lineage", number, "--json")[1])
    (file,) = document["raw_files"]
    assert file["origin"] == {"archive": "nightly.zip", "sha256": file_digest(path), "member": f"runs/{NAME}"}
    view = view_named("number")
    page = view.answer(Visit(project, find_current(project), view.read([], {"number_id": number}), utc_now())).table("files")
    assert page is not None and page.records()[0]["origin"] == f"nightly.zip: runs/{NAME}, sha256 {short(file_digest(path))}"
    with zipfile.ZipFile(path) as archive:
        offset, length = file["ranges"][0]
        assert archive.read(file["origin"]["member"])[offset : offset + length] in RECORD


def test_no_member_leaves_the_archive_and_links_are_not_read(project: Project, folder: Path, tmp_path: Path) -> None:
    zipped(folder / "evil.zip", {f"runs/{NAME}": RECORD, "../up.json": b"{}", "/top.json": b"{}", "a/../../b.json": b"{}", "a//c.json": b"{}"})
    with zipfile.ZipFile(folder / "evil.zip", "a") as archive:
        archive.writestr(LINK, "/etc/passwd")
    with tarfile.open(folder / "evil.tar", "w") as archive_of_links:
        for name, kind in (("hard", tarfile.LNKTYPE), ("soft", tarfile.SYMTYPE), ("null", tarfile.CHRTYPE), ("pipe", tarfile.FIFOTYPE)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive_of_links.addfile(entry)
        entry = tarfile.TarInfo("new\nline.json")
        archive_of_links.addfile(entry)
    before = {path for path in tmp_path.rglob("*") if "scratch" not in path.parts}
    plan = planned(project, folder, tmp_path)
    assert [family for family, _ in plan.recognised] == ["bench_serving"]
    assert sorted((each.code, str(each.place)) for each in plan.problems) == [
        ("WH103", "evil.tar: new\\nline.json"), ("WH103", "evil.zip: ../up.json"), ("WH103", "evil.zip: /top.json"),
        ("WH103", "evil.zip: a/../../b.json"), ("WH103", "evil.zip: a//c.json"), ("WH104", "evil.tar: hard"), ("WH104", "evil.tar: null"),
        ("WH104", "evil.tar: pipe"), ("WH104", "evil.tar: soft"), ("WH104", "evil.zip: link.json"),
    ]
    assert {path for path in tmp_path.rglob("*") if "scratch" not in path.parts} == before
    assert all(path.name.isdecimal() for path in (tmp_path / "scratch").iterdir())


def test_an_archive_in_an_archive_is_read_and_one_in_that_is_not(project: Project, folder: Path, tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", {NAME: RECORD}).read_bytes()
    tarred(folder / "night.tar.gz", {"inner.zip": inner, "deep.zip": zipped(tmp_path / "deep.zip", {"inner.zip": inner}).read_bytes()})
    plan = planned(project, folder, tmp_path)
    ((family, draft),) = plan.recognised
    assert family == "bench_serving" and str(draft.files[0].file.origin) == f"night.tar.gz: inner.zip/{NAME}"
    assert reasons(plan) == {"night/deep.zip": "an archive, and no ingestor recognises a file in it; night.tar.gz: deep.zip/inner.zip:"
                                               " an archive that is not opened: unpack it and ingest the folder"}


def test_what_is_unpacked_is_bounded_and_an_archive_is_read_whole_or_not_at_all(
    project: Project, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = zipped(folder / "a.zip", {NAME: RECORD}).read_bytes()
    (folder / "cut.zip").write_bytes(whole[:-40])
    (folder / "cut.json.gz").write_bytes(gzip.compress(RECORD)[:-300])
    (folder / "zeros.json.gz").write_bytes(gzip.compress(bytes(4 << 20)))
    monkeypatch.setattr("warehouse.landing.ingest.Room", partial(archives.Room, members_left=100, bytes_left=2 << 20))
    plan = planned(project, folder, tmp_path)
    assert [family for family, _ in plan.recognised] == ["bench_serving"]
    found = reasons(plan)
    assert {path: str(reason).rpartition(": ")[2] for path, reason in found.items()} == {
        "cut.json.gz": "copy the whole file", "cut.zip": "copy the whole file", "zeros.json.gz": "unpack it and ingest the folder",
    }
    assert str(found["zeros.json.gz"]).startswith("more than ")


def test_a_header_of_a_tar_is_bounded(project: Project, folder: Path, tmp_path: Path) -> None:
    entry = tarfile.TarInfo("paxheader")
    entry.type, entry.size = tarfile.XHDTYPE, 4 << 30  # it would be read into memory
    (folder / "a.tar").write_bytes(entry.tobuf() + bytes(10240))
    assert "an extended header is too long" in str(reasons(planned(project, folder, tmp_path))["a.tar"])


STRANGERS: dict[str, tuple[bytes, str]] = {
    "lfs.json": (b"version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 12\n", "git lfs pull"),
    "cut.json": (b'{"rows": [1, 2, "thr', "the JSON breaks off: copy the whole file"),
    "nested.json": (b'{"a": {"b": 1}', "the JSON breaks off: copy the whole file"),
    "wrong.json": (b'{"a": nope}\n', "not valid JSON: line 1, column 7"),
    "old.7z": (b"7z\xbc\xaf\x27\x1c\x00\x04", "unpack it and ingest the folder"),
    "page.csv": (b"<!DOCTYPE html><title>404</title>", "an HTML page"),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_what_is_no_evidence_is_told_at_once_with_the_way_out(name: str, project: Project, folder: Path, wh_on: WhOn) -> None:
    data, told = STRANGERS[name]
    (folder / name).write_bytes(data)
    status, _, err = wh_on(project, "ingest", str(folder))
    assert status == 0 and f"unrecognised: {name}: " in err and told in err


def test_a_warehouse_is_no_evidence(project: Project, tmp_path: Path, wh_on: WhOn) -> None:
    (tmp_path / "log.txt").write_text("x")
    wh_on(project, "ingest", str(tmp_path / "log.txt"))
    other = init_project(tmp_path / "other")
    for path in (project.root / ".wh", project.store_root, project.store_root / "raw"):
        for each in (project, other):
            status, _, err = wh_on(each, "ingest", str(path))
            assert status == 2 and "not evidence: the " in err and "hint: " in err, path
    status, _, err = wh_on(other, "ingest", str(project.root))
    assert status == 1 and "WH104 .wh: not evidence: the folder of a warehouse" in err
    (digest,) = open_store(project).digests()
    assert wh_on(other, "ingest", str(project.store_root / "raw" / "sha256" / digest[:2] / digest / "files"))[0] == 0


def test_the_ledger_names_the_archive_once(project: Project, folder: Path, wh_on: WhOn) -> None:
    zipped(folder / "a.zip", {NAME: RECORD})
    for _ in range(2):
        wh_on(project, "ingest", str(folder))
    details: list[Any] = [event.detail for event in Ledger(open_store(project).objects).events()]
    assert [detail["unpacked"] for detail in details] == [
        [{"archive": "a.zip", "sha256": file_digest(folder / "a.zip"), "members": {NAME: NAME}}]
    ]
