"""Signing in a project: what builds, lineage, verification, publication and packets say of signatures, and what they do not."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import stat
import tarfile
from pathlib import Path

import pytest
from built import sql_of
from conftest import Wh, WhOn
from exhaustive import few
from samples import mlperf_inference
from samples.values import take_in, value_files, values_project
from standard import standard_project

from warehouse.claims.numbers.lineage import lineage
from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.packet import verify_packet, write_packet
from warehouse.claims.verify.verification import verify_all, verify_number
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.ledger.run_decisions import RETRACTION, decide
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.keys import SigningKey, load_signing_key, make_key, read_public_key
from warehouse.evidence.signing.signatures import evidence_subject, sign
from warehouse.project.making import init_project, trust_key
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build

SQL = "select key, sum(value) as total from reading group by key"
CELL = "claim[key=a].total"
SERVER = "mlperf_inference_results[scenario=Server,platform=8xA900_2xCPU].performance_result"


@pytest.fixture(autouse=True)
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, SigningKey]:
    """The keys `nightly` and `stranger`, in a configuration folder of the test's own."""
    return made_keys(tmp_path, monkeypatch)


def made_keys(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, SigningKey]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "conf"))
    for name in ("nightly", "stranger"):
        make_key(folder / "conf" / "wh" / "keys" / f"{name}.pem")
    return {name: load_signing_key(name) for name in ("nightly", "stranger")}


def key_file(folder: Path, name: str) -> Path:
    return folder / "conf" / "wh" / "keys" / f"{name}.pem.pub"


@pytest.fixture
def project(tmp_path: Path, keys: dict[str, SigningKey]) -> Project:
    """Two numbers of a bundle each, built; `nightly` is trusted, nothing is signed."""
    project = values_project(tmp_path / "project", SQL)
    (project.root / "models" / "signing.sql").write_text("select signing_state, key_name, reason from evidence_signing")
    take_in(project, value_files(tmp_path / "in", "a=1\n", "b=2\n"))
    project = trust_key(project, "nightly", keys["nightly"].public.text)
    build(project)
    return project


def rows(project: Project, sql: str) -> list[tuple[object, ...]]:
    return sorted(sql_of(project)(sql))


def states(project: Project) -> list[object]:
    return [state for (state,) in rows(project, "select signing_state from signing")]


def bundle_of(project: Project, key: str) -> str:
    [(digest,)] = rows(project, f"select artifact_manifest_digest from reading where key = '{key}'")
    return str(digest)


def sign_bundles(project: Project, key: SigningKey, *digests: str) -> None:
    for digest in digests or open_store(project).digests():
        sign(Ledger(open_store(project).objects), evidence_subject(digest), key)


def envelope(project: Project, digest: str, key: SigningKey) -> Path:
    return project.store_root / "signatures" / digest / f"{key.public.key_id}.dsse.json"


def flip(path: Path) -> None:
    data = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(data[:40] + bytes([data[40] ^ 1]) + data[41:])


# --- builds ------------------------------------------------------------------------------------------------------


def test_a_build_finds_signatures_that_came_after_and_keys_that_changed(project: Project, keys: dict[str, SigningKey]) -> None:
    assert states(project) == ["unsigned", "unsigned"]
    sign_bundles(project, keys["nightly"], bundle_of(project, "a"))
    report = build(project)
    assert states(project) == ["unsigned", "valid"]
    assert {result.name: result.action for result in report.models if result.action != "keep"} == {"main.signing": "build"}
    assert not build(project).is_new

    file = project.root / "warehouse.toml"
    text = file.read_text()
    file.write_text(text.replace(keys["nightly"].public.text, keys["stranger"].public.text))
    project = read_project(project.root)
    build(project)
    assert states(project) == ["unsigned", "untrusted key"]
    file.write_text(text)
    project = read_project(project.root)
    build(project)
    assert rows(project, "select * from signing where signing_state = 'valid'") == [
        ("valid", "nightly", f"key nightly ({keys['nightly'].public.key_id[:12]}): its signature holds")
    ]

    flip(envelope(project, bundle_of(project, "a"), keys["nightly"]))
    build(project)
    assert states(project) == ["invalid", "unsigned"]
    assert not build(project).is_new


def test_what_landing_keeps_of_signatures_may_be_deleted(project: Project, keys: dict[str, SigningKey]) -> None:
    sign_bundles(project, keys["nightly"])
    before = build(project).build.digest
    shutil.rmtree(project.store_root / "landing")
    shutil.rmtree(project.builds)
    assert build(project).build.digest == before and states(project) == ["valid", "valid"]


def test_the_standard_project_says_it_of_every_run(tmp_path: Path, keys: dict[str, SigningKey]) -> None:
    project = trust_key(standard_project(tmp_path / "project"), "nightly", keys["nightly"].public.text)
    take_in(project, mlperf_inference.write_submission(tmp_path / "evidence"))
    store = open_store(project)
    signed, strange = store.digests()[:2]
    sign_bundles(project, keys["nightly"], signed)
    sign_bundles(project, keys["stranger"], strange)
    build(project)
    sql = "select distinct artifact_manifest_digest, signing_state, signing_key_name, signing_key_id from artifact_lineage_dim"
    told = {digest: said for digest, *said in rows(project, sql)}
    assert told[signed] == ["valid", "nightly", keys["nightly"].public.key_id]
    assert told[strange] == ["untrusted key", None, keys["stranger"].public.key_id]
    assert {tuple(said) for digest, said in told.items() if digest not in (signed, strange)} == {("unsigned", None, None)}


# --- numbers do not depend on it ---------------------------------------------------------------------------------


def test_signatures_make_no_other_number_and_no_other_publication(project: Project, keys: dict[str, SigningKey]) -> None:
    before = publish(project, "claim")
    unsigned = {verdict.number_id: verdict.state for verdict in verify_all(project)}
    sign_bundles(project, keys["nightly"])
    build(project)
    after = publish(project, "claim", keys["nightly"])
    assert (after.digest, after.is_new) == (before.digest, False)
    verdicts = list(verify_all(project))
    assert {verdict.number_id: verdict.state for verdict in verdicts} == unsigned == dict.fromkeys(unsigned, "verified")
    assert {str(verdict.signings) for verdict in verdicts} == {"1 bundle valid (nightly), publication valid (nightly), ledger when it was published valid (nightly)"}


# Queries over a model that shows the signing state, and whether the state has a part in them.
USES = {
    "select key, sum(value) as total from signed_reading group by key": False,
    "select key, max(signing_state) as total from signed_reading group by key": True,
    "select key, sum(value) as total from signed_reading where signing_state = 'valid' group by key": True,
    "select key, sum(value) as total from signed_reading group by key having max(key_name) is not null": True,
}


@pytest.mark.parametrize("sql", few(USES, 2))
def test_no_claim_depends_on_who_signed_its_evidence(sql: str, project: Project, keys: dict[str, SigningKey]) -> None:
    (project.root / "models" / "signed_reading.sql").write_text(
        "select reading.*, signing_state, key_name from reading left join evidence_signing using (artifact_manifest_digest)"
    )
    (project.root / "queries" / "claim.sql").write_text(f"/*\ngrain: [key]\n*/\n{sql}")
    sign_bundles(project, keys["nightly"])
    build(project)
    if USES[sql]:
        with pytest.raises(WarehouseError, match="WH306.*depends on evidence_signing.*no replay could reproduce it"):
            publish(project, "claim")
        assert publications(project) == []
    else:
        publish(project, "claim")
        assert {verdict.state for verdict in verify_all(project)} == {"verified"}


# --- verification and lineage check again ------------------------------------------------------------------------


def test_verification_checks_now_and_not_what_the_build_found(project: Project, keys: dict[str, SigningKey]) -> None:
    sign_bundles(project, keys["nightly"])
    build(project)
    publish(project, "claim", keys["nightly"])
    flip(envelope(project, bundle_of(project, "a"), keys["nightly"]))
    assert states(project) == ["valid", "valid"]  # as it was when it was built
    verdict = verify_number(project, CELL)
    assert (verdict.state, [problem.code for problem in verdict.problems]) == ("tampered", ["WH113"])
    assert verdict.signings and verdict.signings.evidence[bundle_of(project, "a")].state == "invalid"
    assert verify_number(project, "claim[key=b].total").state == "verified"
    signings = lineage(project, CELL).signings
    assert signings and str(signings) == "1 bundle invalid (nightly), publication valid (nightly), ledger when it was published valid (nightly)"


def test_a_publication_s_signature_is_checked_too(project: Project, keys: dict[str, SigningKey]) -> None:
    digest = publish(project, "claim", keys["nightly"]).digest
    flip(envelope(project, digest, keys["nightly"]))
    for verdict in verify_all(project):
        assert (verdict.state, [problem.code for problem in verdict.problems]) == ("tampered", ["WH113"])


def test_a_publication_s_signature_names_its_record_as_sha256sum_sees_it(project: Project, keys: dict[str, SigningKey]) -> None:
    import base64

    digest = publish(project, "claim", keys["nightly"]).digest
    payload = json.loads(base64.b64decode(json.loads(envelope(project, digest, keys["nightly"]).read_bytes())["payload"]))
    record = project.store_root / "publications" / digest / "publication.json"
    assert payload["subject"] == [
        {"name": f"publications/{digest}/publication.json", "digest": {"sha256": hashlib.sha256(record.read_bytes()).hexdigest()}}
    ]
    # A signature of evidence is none of a publication, and the other way round.
    sign(Ledger(open_store(project).objects), evidence_subject(digest), keys["stranger"])
    [publication] = publications(project)
    strange = envelope(project, digest, keys["stranger"])
    strange.rename(envelope(project, digest, keys["nightly"]))
    assert verify_number(project, CELL).state == "tampered"


def test_a_forger_with_a_key_of_his_own_signs_nothing_that_is_trusted(
    project: Project, keys: dict[str, SigningKey], tmp_path: Path
) -> None:
    """He replaces evidence, envelope, publication and ledger by those of other bytes, every digest right."""
    sign_bundles(project, keys["nightly"])
    publish(project, "claim", keys["nightly"])
    true_envelope = envelope(project, bundle_of(project, "a"), keys["nightly"]).read_bytes()
    forged = values_project(tmp_path / "forged", SQL)
    (forged.root / "models" / "signing.sql").write_text((project.root / "models" / "signing.sql").read_text())
    take_in(forged, value_files(tmp_path / "other", "a=100\n", "b=2\n"))
    build(forged)
    sign_bundles(forged, keys["stranger"])
    publish(forged, "claim", keys["stranger"])
    for folder in (project.store_root, project.builds):
        shutil.rmtree(folder)
    shutil.copytree(forged.store_root, project.store_root, symlinks=True)
    build(project)

    verdict = verify_number(project, CELL)
    assert (verdict.value, verdict.state) == (100.0, "verified")  # by its own bytes: only the signatures tell
    stranger = f"key {keys['stranger'].public.key_id[:12]}"
    assert str(verdict.signings) == f"1 bundle untrusted key ({stranger}), publication untrusted key ({stranger}), ledger when it was published untrusted key ({stranger})"
    assert states(project) == ["untrusted key", "untrusted key"]

    # The true envelope beside the forged bundle is for another digest.
    envelope(project, bundle_of(project, "a"), keys["nightly"]).write_bytes(true_envelope)
    verdict = verify_number(project, CELL)
    assert verdict.state == "tampered" and "for another digest" in verdict.problems[0].message
    # And so is an old signature of the true publication beside the forged one.
    project.root.joinpath("warehouse.toml").write_text(
        project.root.joinpath("warehouse.toml").read_text() + "\n[publication]\nrequire_signatures = true\n"
    )
    envelope(project, bundle_of(project, "a"), keys["nightly"]).unlink()
    with pytest.raises(WarehouseError, match="WH312"):
        publish(read_project(project.root), "claim")


# --- publication -------------------------------------------------------------------------------------------------


def test_a_project_may_require_signatures_of_all_that_a_publication_rests_on(project: Project, keys: dict[str, SigningKey]) -> None:
    file = project.root / "warehouse.toml"
    file.write_text(file.read_text() + "\n[publication]\nrequire_signatures = true\n")
    project = read_project(project.root)
    build(project)
    a, b = bundle_of(project, "a"), bundle_of(project, "b")
    sign_bundles(project, keys["nightly"], a)
    with pytest.raises(WarehouseError, match=f"WH312.*bundle {b[:12]} is unsigned"):
        publish(project, "claim")
    sign_bundles(project, keys["stranger"], b)
    with pytest.raises(WarehouseError, match=f"WH312.*bundle {b[:12]} is untrusted key"):
        publish(project, "claim")
    assert publications(project) == []
    sign_bundles(project, keys["nightly"], b)
    assert publish(project, "claim").is_new


def test_what_a_broken_signature_is_of_is_not_published(project: Project, keys: dict[str, SigningKey]) -> None:
    sign_bundles(project, keys["nightly"])
    flip(envelope(project, bundle_of(project, "b"), keys["nightly"]))
    with pytest.raises(WarehouseError, match="WH113") as error:
        publish(project, "claim")
    assert error.value.exit_code == ExitCode.TAMPERED and publications(project) == []


# --- the commands ------------------------------------------------------------------------------------------------


def test_keygen_makes_a_key_that_the_project_trusts(project: Project, wh: Wh, tmp_path: Path) -> None:
    status, out, err = wh("keygen", "release")
    path = tmp_path / "conf" / "wh" / "keys" / "release.pem"
    assert status == 0 and read_project(project.root).trusted_keys["release"] == out.strip()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and not list(project.root.rglob("*.pem"))
    assert load_signing_key("release").public.key_id in err
    before = (project.root / "warehouse.toml").read_bytes()
    for line in (("release",), ("nightly",), ("no.name",)):
        status, out, err = wh("keygen", *line, "-o", str(tmp_path / "another.pem"))
        assert status != 0 and out == ""
        (tmp_path / "another.pem").unlink(missing_ok=True)
        (tmp_path / "another.pem.pub").unlink(missing_ok=True)
    assert (project.root / "warehouse.toml").read_bytes() == before


def test_sign_takes_digests_runs_and_evidence_on_disk(
    project: Project, wh_on: WhOn, tmp_path: Path, keys: dict[str, SigningKey]
) -> None:
    a, b = bundle_of(project, "a"), bundle_of(project, "b")
    status, out, err = wh_on(project, "sign", a[:10], "--key", "nightly")
    assert (status, out) == (0, f"{a}\n") and "signed 1 with key nightly" in err
    status, out, err = wh_on(project, "sign", str(tmp_path / "in"), "--key", "nightly", "--json")
    assert [(line["digest"], line["is_new"]) for line in map(json.loads, out.splitlines())] == [(a, False), (b, True)] or out
    assert {line["digest"]: line["is_new"] for line in map(json.loads, out.splitlines())} == {a: False, b: True}
    digest = publish(project, "claim").digest
    assert wh_on(project, "sign", digest, "--key", "nightly")[1] == f"{digest}\n"
    assert str(verify_number(project, CELL).signings) == "1 bundle valid (nightly), publication valid (nightly), ledger when it was published valid (nightly)"

    (tmp_path / "new.nv").write_text("c=3\n")
    for what in ("nothing", str(tmp_path / "new.nv"), "0" * 64):
        status, out, err = wh_on(project, "sign", what, "--key", "nightly")
        assert (status, out) == (ExitCode.NOT_FOUND, "") and err.startswith("WH111")
    assert wh_on(project, "sign", "--key", "nightly")[0] == ExitCode.USAGE
    assert "does not trust the key" in wh_on(project, "sign", "--all", "--key", "stranger")[2]


def test_a_run_is_signed_by_its_name(tmp_path: Path, wh_on: WhOn) -> None:
    project = standard_project(tmp_path / "project")
    take_in(project, mlperf_inference.write_submission(tmp_path / "evidence"))
    build(project)
    run, digest = rows(project, "select run_id, artifact_manifest_digest from benchmark_run_fact")[0]
    assert wh_on(project, "sign", str(run), "--key", "nightly")[:2] == (0, f"{digest}\n")


def test_altered_evidence_is_not_signed(project: Project, wh: Wh) -> None:
    raw = next(project.store_root.glob(f"raw/sha256/*/{bundle_of(project, 'a')}/files/*.nv"))
    raw.chmod(0o644)
    raw.write_text("a=9\n")
    assert wh("sign", bundle_of(project, "a"), "--key", "nightly")[0] == ExitCode.TAMPERED
    assert not (project.store_root / "signatures").exists()


def test_ingest_and_publish_sign(project: Project, wh: Wh, tmp_path: Path) -> None:
    files = value_files(tmp_path / "more", "a=3\n")
    shutil.copy(tmp_path / "in" / "r0.nv", files / "old.nv")  # its name is another: another bundle
    shutil.copy(tmp_path / "in" / "r1.nv", files / "r1.nv")
    status, out, err = wh("ingest", str(files), "--sign", "nightly")
    assert status == 0 and "3 bundles signed by key nightly" in err
    wh("build")
    assert states(project) == ["unsigned", "valid", "valid", "valid"]  # also what was there before
    status, out, err = wh("publish", "claim", "--sign", "nightly", "--json")
    assert json.loads(out)["signed_by"] == load_signing_key("nightly").public.key_id
    status, out, err = wh("verify", "claim[key=b].total")
    assert status == 0 and "signatures: 1 bundle valid (nightly), publication valid (nightly), ledger when it was published valid (nightly); trusted keys: nightly" in out
    status, out, err = wh("lineage", "claim[key=a].total", "--json")
    said = json.loads(out)["signatures"]
    assert sorted(each["state"] for each in said["evidence"]) == ["unsigned", "valid", "valid"]
    assert said["publication"]["signatures"][0]["finding"] == "signed by a trusted key"


# --- packets -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def packing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a packet of a number whose evidence, publication and decision on a run `nightly` signed, and its evidence a
    stranger too; and the keys."""
    folder = tmp_path_factory.mktemp("packing")
    with pytest.MonkeyPatch.context() as monkeypatch:
        keys = made_keys(folder, monkeypatch)
        project = trust_key(standard_project(folder / "project"), "nightly", keys["nightly"].public.text)
        take_in(project, mlperf_inference.write_submission(folder / "evidence"))
        sign_bundles(project, keys["nightly"])
        sign_bundles(project, keys["stranger"])
        decide(open_store(project).objects, RETRACTION, "another run", "the clock was wrong", key=keys["nightly"])
        build(project)
        publish(project, "mlperf_inference_results", keys["nightly"], as_provisional=True)
        assert write_packet(project, SERVER, folder / "packet.tar").state == "verified"
    return folder


@pytest.fixture
def packed(packing: Path) -> Path:
    return packing / "packet.tar"


@pytest.mark.exhaustive
def test_a_packet_carries_signatures_and_says_which_keys_were_trusted(
    packing: Path, packed: Path, tmp_path: Path, wh_on: WhOn
) -> None:
    nightly = read_public_key(key_file(packing, "nightly"))
    with tarfile.open(packed) as archive:
        signatures = [name for name in archive.getnames() if name.startswith("signatures/")]
        stream = archive.extractfile("keys.json")
        assert stream and json.loads(stream.read()) == {nightly.key_id: nightly.text}
    assert len(signatures) == 4 and all(name.endswith(f"/{nightly.key_id}.dsse.json") for name in signatures)

    # Its own keys are never trusted.
    verdict = verify_packet(packed)
    shown = f"key {nightly.key_id[:12]}"
    assert (verdict.state, str(verdict.signings)) == (
        "verified",
        f"1 bundle untrusted key ({shown}), 1 decision untrusted key ({shown}), publication untrusted key ({shown}),"
        f" ledger when it was published untrusted key ({shown})",
    )
    elsewhere = init_project(tmp_path / "elsewhere")
    assert "trusted keys: none" in wh_on(elsewhere, "verify", str(packed))[1]
    given = str(key_file(packing, "nightly"))
    status, out, _ = wh_on(elsewhere, "verify", str(packed), "--trust", given)
    assert status == 0 and f"publication valid ({given}), ledger when it was published valid ({given}); trusted keys: {given} {nightly.key_id[:12]}" in out
    trust_key(elsewhere, "partner", nightly.text)
    assert "1 bundle valid (partner), 1 decision valid (partner), publication valid (partner)" in wh_on(elsewhere, "verify", str(packed))[1]
    other = str(key_file(packing, "stranger"))
    assert "untrusted key" in wh_on(elsewhere, "verify", str(packed), "--trust", other)[1]  # instead of the project's


@pytest.mark.exhaustive
def test_a_byte_changed_in_a_packet_s_signatures_or_keys_is_found_by_whoever_trusts_nobody(packed: Path, tmp_path: Path) -> None:
    data, altered = packed.read_bytes(), tmp_path / "altered.tar"
    with tarfile.open(packed) as archive:
        members = [member for member in archive.getmembers() if member.name.startswith(("signatures/", "keys.json"))]
    assert len(members) == 5
    for member in members:
        for place in range(member.offset_data, member.offset_data + member.size, 89):
            altered.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
            assert verify_packet(altered).state == "tampered", (member.name, place)


@pytest.mark.exhaustive
def test_a_signature_left_out_of_a_packet_is_missed_by_its_name_alone(packed: Path, tmp_path: Path) -> None:
    """Without its signatures a packet is another packet, whole in itself: it says that it is not signed."""
    with tarfile.open(packed) as old, tarfile.open(tmp_path / "less.tar", "w", format=tarfile.PAX_FORMAT) as new:
        for member in old.getmembers():
            stream = old.extractfile(member)
            assert stream
            if not member.name.startswith("signatures/"):
                data = b"{}" if member.name == "keys.json" else stream.read()
                entry = tarfile.TarInfo(member.name)
                entry.size = len(data)
                new.addfile(entry, io.BytesIO(data))
    assert verify_packet(tmp_path / "less.tar").state == "tampered"  # its page names the keys


# --- the project's file ------------------------------------------------------------------------------------------


def test_a_key_is_written_where_the_project_s_file_has_room_for_it(tmp_path: Path, keys: dict[str, SigningKey]) -> None:
    project = init_project(tmp_path / "p", bare=True)
    file, text = project.root / "warehouse.toml", keys["nightly"].public.text
    before = file.read_text()
    project = trust_key(project, "one", text)
    assert trust_key(project, "one", text) is project
    project = trust_key(project, "two", keys["stranger"].public.text)
    assert dict(project.trusted_keys) == {"one": text, "two": keys["stranger"].public.text}
    assert file.read_text().startswith(before.rstrip())
    with pytest.raises(WarehouseError, match="WH002.*another key is trusted as one"):
        trust_key(project, "one", keys["stranger"].public.text)
    file.write_text(f'trusted_keys.old = "{text}"\n' + before)
    changed = file.read_bytes()
    with pytest.raises(WarehouseError, match="WH002.*not written as a section"):
        trust_key(read_project(project.root), "new", text)
    assert file.read_bytes() == changed


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('[trusted_keys]\nme = "ssh-ed25519 AAAA"', "trusted_keys.me is no public key"),
        ("[trusted_keys]\nme = 1", "trusted_keys.me is no public key"),
        ("[publication]\nrequire_signatures = 1", "publication.require_signatures is true or false"),
        ("[retention]\ncold_days = 0", "retention.cold_days must be at least warm_days, 180"),
        ("[retention]\nhot_days = 0", "retention.hot_days must be at least 1"),
        ("[retention]\nlukewarm_days = 3", "unknown key retention.lukewarm_days"),
    ],
)
def test_the_project_s_file_is_checked(lines: str, said: str, tmp_path: Path) -> None:
    project = init_project(tmp_path / "p", bare=True)
    file = project.root / "warehouse.toml"
    file.write_text(file.read_text() + lines + "\n")
    with pytest.raises(WarehouseError, match=f"WH002.*{said}"):
        read_project(project.root)
