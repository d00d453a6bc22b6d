"""What an attacker who can write into a project, its store or a packet gets for it: one table of attacks, each with the state and exit
code that `wh verify` gives, where signatures are required and where they are not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from forgery import Forgery, forge_record
from samples.values import VALUES_INGESTOR, take_in, value_files, values_project
from stored import bundle_folder

from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.publish.signing import sign_all
from warehouse.claims.verify.packet import verify_packet, write_packet
from warehouse.claims.verify.verdict import exit_code
from warehouse.claims.verify.verification import verify_all, verify_number, verify_publication
from warehouse.digest import bytes_digest, canonical_json, number_id
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger import chain
from warehouse.evidence.ledger import events as ledger_module
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects.local import LocalObjects
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.keys import SigningKey, load_signing_key, make_key
from warehouse.maintenance.fsck import Scope, check_store
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build

SUMS = "select key, sum(value) as total, count(*) as n from reading group by key"
CELL = "claim[key=a].total"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SigningKey]:
    folder = tmp_path_factory.mktemp("keys")
    for name in ("team", "stranger"):
        make_key(folder / f"{name}.pem")
    return {name: load_signing_key(str(folder / f"{name}.pem")) for name in ("team", "stranger")}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory, keys: dict[str, SigningKey]) -> Project:
    """A project of two published queries over three bundles; the evidence and the publications are signed by the team's key."""
    root = tmp_path_factory.mktemp("honest")
    project = values_project(root / "project", SUMS)
    (project.root / "queries" / "over.sql").write_text("/*\ngrain: [key]\n*/\nselect key, total / n as mean from claim")
    take_in(project, value_files(root / "in", "a=1.5\na=2.25\n", "a=4\n", "b=7\n"))
    list(sign_all(project, keys["team"]))
    build(project)
    for query in ("claim", "over"):
        publish(project, query, keys["team"])
    return project


@pytest.fixture
def attacked(honest: Project, tmp_path: Path) -> Project:
    shutil.copytree(honest.root, tmp_path / "project", symlinks=True)
    return read_project(tmp_path / "project")


def record_invented(project: Project) -> str:
    """The published value is another, and every digest and number id follows."""
    [publication] = [each for each in publications(project) if each.query == "claim"]

    def change(forgery: Forgery) -> None:
        cell = forgery.cell("a", "total")
        cell["value"] = ["double", "99.0"] if cell["value"][0] == "double" else cell["value"]
        spec = json.loads((project.store_root / "specs" / f"{publication.record['query_spec_digest']}.json").read_bytes())
        cell["number_id"] = number_id("claim", spec["document"]["sql"], [["text", "a"]], "total", cell["value"])

    folder = forge_record(publication, change)
    [row] = [row for each in publications(project) if each.digest == folder.name for row in each.rows() if row.grain == {"key": "a"}]
    return str(row.cells["total"].number_id)


def memory_poisoned(project: Project) -> str:
    """What earlier versions remembered between commands lies there, and says of an invented number that all holds."""
    invented = record_invented(project)
    digest = publications(project)[0].record["query_spec_digest"]
    known = {digest: {"guarantees": {"G3": {"holds": "no"}}, "ties_tried": {}, "columns": {}}}
    (project.builds / ".established.json").write_text(json.dumps({"made_by": [7], "known": known, "without_rows": {digest: []}}))
    return invented


def build_edited(project: Project) -> str:
    """The current build's own tables are changed, and its record follows."""
    [database] = project.builds.glob("wh-*.duckdb")
    database.chmod(0o644)
    with duckdb.connect(database) as con:
        con.execute("update rollup.claim set total = 99")
    record = database.with_suffix(".json")
    document = json.loads(record.read_bytes()) | {"sha256": bytes_digest(database.read_bytes()), "bytes": database.stat().st_size}
    record.chmod(0o644)
    record.write_text(json.dumps(document))
    return CELL


def ingestor_doubles(project: Project) -> str:
    """The ingestor is edited without a new version number, and everything is built anew."""
    (project.root / "ingest" / "values.py").write_text(VALUES_INGESTOR.replace("float(value)", "2 * float(value)"))
    shutil.rmtree(project.store_root / "landing")
    build(project)
    return published_number(project)


def evidence_edited(project: Project) -> str:
    store = open_store(project)
    number = published_number(project)
    for digest in store.digests():
        for path in (bundle_folder(store, digest) / "files").iterdir():
            path.chmod(0o644)
            path.write_text(path.read_text().replace("4", "5"))
    return number


def signatures_removed(project: Project) -> str:
    shutil.rmtree(project.store_root / "signatures")
    return CELL


def publication_signature_removed(project: Project) -> str:
    for publication in publications(project):
        shutil.rmtree(project.store_root / "signatures" / publication.digest)
    return CELL


def never_signed(project: Project) -> str:
    """A publication that nobody signed."""
    (project.root / "queries" / "other.sql").write_text("/*\ngrain: [key]\n*/\nselect key, max(value) as top from reading group by key")
    build(project)
    publish(project, "other")
    return "other[key=a].top"


def rollup_over_rollup(project: Project) -> str:
    """No attack: a number over another rollup must not be accused."""
    return "over[key=a].mean"


def untouched(project: Project) -> str:
    return CELL


def published_number(project: Project) -> str:
    [publication] = [each for each in publications(project) if each.query == "claim"]
    [row] = [row for row in publication.rows() if row.grain == {"key": "a"}]
    return str(row.cells["total"].number_id)


# What was done; the state and exit code; and the same where the project requires signatures.
ATTACKS: list[tuple[Callable[[Project], str], str, int, str, int]] = [
    (untouched, "verified", 0, "verified", 0),
    (rollup_over_rollup, "verified", 0, "verified", 0),
    (record_invented, "not reproduced", 1, "not reproduced", 1),
    (memory_poisoned, "not reproduced", 1, "not reproduced", 1),
    (build_edited, "verified", 0, "verified", 0),  # what was published is verified by the store alone
    (ingestor_doubles, "not reproduced", 1, "not reproduced", 1),
    (evidence_edited, "tampered", 3, "tampered", 3),
    (signatures_removed, "verified", 0, "missing", 4),
    (publication_signature_removed, "verified", 0, "missing", 4),
    (never_signed, "verified", 0, "refused", 1),
]


def asked(attack: tuple[Callable[[Project], str], str, int, str, int], required: bool) -> Any:
    """Where signatures are required, what they make no other always runs in one case alone."""
    act, *expected = attack
    is_rare = required and expected[:2] == expected[2:] and act is not record_invented
    name = f"{act.__name__}-{'signatures required' if required else ''}"
    return pytest.param(attack, required, marks=pytest.mark.exhaustive if is_rare else (), id=name)


@pytest.mark.parametrize(("attack", "required"), [asked(attack, required) for attack in ATTACKS for required in (False, True)])
def test_an_attack_on_a_project(
    attack: tuple[Callable[[Project], str], str, int, str, int], required: bool, attacked: Project, keys: dict[str, SigningKey]
) -> None:
    act, *expected = attack
    number = act(attacked)
    project = replace(attacked, trusted_keys={"team": keys["team"].public.text}, requires_signatures=required)
    verdict = verify_number(project, number)
    assert (verdict.state, exit_code([verdict.state])) == tuple(expected[2:] if required else expected[:2]), verdict.reason


def test_what_was_not_published_is_not_taken_from_an_edited_build(attacked: Project) -> None:
    (attacked.root / "queries" / "other.sql").write_text("/*\ngrain: [key]\n*/\nselect key, max(value) as top from reading group by key")
    build(attacked)
    [database] = [each for each in attacked.builds.glob("wh-*.duckdb") if each.samefile(attacked.builds / "current.duckdb")]
    database.chmod(0o644)
    with duckdb.connect(database) as con:
        con.execute("update rollup.other set top = 99")
    record = database.with_suffix(".json")
    record.chmod(0o644)
    document = json.loads(record.read_bytes()) | {"sha256": bytes_digest(database.read_bytes()), "bytes": database.stat().st_size}
    record.write_text(json.dumps(document))
    with pytest.raises(WarehouseError, match="rows are not the same when the SQL runs again"):
        verify_number(attacked, "other[key=a].top")


def test_an_ingestor_edited_without_a_version_parses_again(attacked: Project) -> None:
    (attacked.root / "ingest" / "values.py").write_text(VALUES_INGESTOR.replace("float(value)", "2 * float(value)"))
    build(attacked)
    verdict = verify_number(attacked, published_number(attacked))
    assert verdict.state == "not reproduced" and "the replay gives 15.5; by other code here: recorded with values 1 (code " in verdict.reason
    assert {row.cells["total"].value for row in publications(attacked)[-1].rows()} == {7.75, 7.0}
    publish(attacked, "claim")
    assert verify_number(attacked, "claim[key=a].total").value == 15.5


# --- the ledger --------------------------------------------------------------------------------------------------


def insert_event(project: Project, kind: str, subject: str, at: datetime, **document: object) -> Path:
    """Write an event as if it were of another time."""
    from ulid import ULID

    data = canonical_json({"kind": kind, "subject": subject, "at": at.isoformat().replace("+00:00", "Z"), "by": "x", **document})
    path = project.store_root / f"ledger/{at:%Y/%m/%d}" / f"{ULID.from_datetime(at)}-{bytes_digest(data)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_evidence_that_arrived_later_cannot_be_made_to_look_older(attacked: Project, tmp_path: Path) -> None:
    """A backdated arrival would accuse the publication of having left it out."""
    arrivals = Ledger(open_store(attacked).objects).arrivals()
    take_in(attacked, value_files(tmp_path / "late", "a=100\n"))
    [late] = set(open_store(attacked).digests()) - arrivals.keys()
    for path in (attacked.store_root / "ledger").rglob("*.json"):
        if json.loads(path.read_bytes())["subject"] == late:
            path.unlink()
    before = datetime.now(UTC) - timedelta(days=1)
    for follows in ({}, {"follows": []}):
        path = insert_event(attacked, "arrival", late, before, detail={"family": "values", "from": "x"}, **follows)
        [publication] = [each for each in publications(attacked) if each.query == "claim"]
        assert {verdict.state for verdict in verify_publication(attacked, publication)} == {"verified"}
        found = [finding for finding in check_store(attacked, Scope()).findings if finding.kind == "inserted"]
        assert [finding.key for finding in found] == [path.relative_to(attacked.store_root).as_posix()]
        path.unlink()


def test_an_event_that_was_removed_is_missed(attacked: Project) -> None:
    assert list(check_store(attacked, Scope()).findings) == []
    arrivals = [path for path in (attacked.store_root / "ledger").rglob("*.json") if json.loads(path.read_bytes())["kind"] == "arrival"]
    arrivals[0].unlink()
    found = [finding for finding in check_store(attacked, Scope()).findings if finding.message.startswith("the event that it follows is gone")]
    assert len(found) == 1


def test_processes_that_write_for_long_follow_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ingest of hundreds of bundles, and a publication in the middle of it: nobody is accused."""
    monkeypatch.setattr(ledger_module, "_LOOK_AGAIN_S", 0.0)
    monkeypatch.setattr(chain, "CLOCKS_DIFFER", timedelta(0))
    objects = LocalObjects(tmp_path)
    ingesting, publishing = Ledger(objects), Ledger(objects)
    for number in range(600):
        ingesting.arrived(f"{number:064x}", "f", "here")
        if number % 250 == 100:
            publishing.published("ab" * 32, "query", "build")
            publishing.signed("ab" * 32, "key", b"an envelope")
    Ledger(objects).published("cd" * 32, "query", "build")
    events = list(Ledger(objects).events())
    assert list(chain.chain_findings(events, {event.sha256 for event in events})) == []
    assert len(chain.ancestors(events, events[-1])) == len(events) - 1


def test_evidence_that_arrives_between_build_and_publication_accuses_nobody(tmp_path: Path) -> None:
    project = values_project(tmp_path / "project", SUMS)
    take_in(project, value_files(tmp_path / "one", "a=1\n"))
    build(project)
    take_in(project, value_files(tmp_path / "two", "a=2\n", "b=3\n"))
    assert publish(project, "claim").unseen == 2
    assert {verdict.state for verdict in verify_all(project)} == {"verified"}
    build(project)
    assert publish(project, "claim").unseen == 0
    assert {verdict.state for verdict in verify_all(project)} == {"verified", "stale"}


# --- packets -----------------------------------------------------------------------------------------------------


def test_a_packet_without_keys_says_that_its_origin_is_not_known(honest: Project, tmp_path: Path, keys: dict[str, SigningKey]) -> None:
    packet = tmp_path / "p.tar"
    signed = replace(honest, trusted_keys={"team": keys["team"].public.text})
    write_packet(signed, CELL, packet)
    verdict = verify_packet(packet, honest)
    assert verdict.state == "verified" and verdict.reason.startswith("it reproduces, but no key that is trusted here signed its publication")
    verdict = verify_packet(packet, honest, {"team": keys["team"].public.text})
    assert verdict.state == "verified" and "its origin is not known" not in verdict.reason
    assert verdict.signings and verdict.signings.checkpoint and verdict.signings.checkpoint.state == "valid"
    assert "its origin is not known" in verify_packet(packet, honest, {"stranger": keys["stranger"].public.text}).reason
    strict = replace(honest, requires_signatures=True)
    assert verify_packet(packet, strict, {"stranger": keys["stranger"].public.text}).state == "refused"
    assert verify_packet(packet, strict, {"team": keys["team"].public.text}).state == "verified"


def test_a_packet_of_chosen_evidence_is_vouched_for_by_nobody(tmp_path: Path, keys: dict[str, SigningKey]) -> None:
    """Whoever leaves out evidence in a store of his own makes a number that reproduces itself; the team's key is not under it."""
    project = values_project(tmp_path / "project", SUMS)
    take_in(project, value_files(tmp_path / "in", "a=100\n"))
    build(project)
    publish(project, "claim", keys["stranger"])
    write_packet(replace(project, trusted_keys={"me": keys["stranger"].public.text}), CELL, tmp_path / "p.tar")
    verdict = verify_packet(tmp_path / "p.tar", project, {"team": keys["team"].public.text})
    assert verdict.reason.startswith("it reproduces, but no key that is trusted here signed its publication")


def test_when_evidence_arrived_is_not_evidence(tmp_path: Path) -> None:
    """No replay knows it: what depends on it is refused when it is published, not accused when it is verified."""
    project = values_project(tmp_path / "project", "select 'x' as key, max(arrived_at) as last from evidence_bundle")
    take_in(project, value_files(tmp_path / "in", "a=1\n"))
    build(project)
    with pytest.raises(WarehouseError, match="last depends on evidence_bundle.arrived_at, which is not evidence"):
        publish(project, "claim")
