"""A store in S3 alone: bad networks, a server that dies, refusals, Object Lock; and every command from end to end."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import tarfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from conftest import WhOn
from faulty_network import Network, network_to
from places import bucket_store, faults, manifest_of, put
from s3_server import KEYS, Server, new_bucket
from samples.values import value_files, values_project

from warehouse.cli.main import main
from warehouse.digest import bytes_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.objects import cache as object_cache
from warehouse.evidence.objects import s3 as s3_objects
from warehouse.evidence.objects.cache import ObjectCache
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.objects.s3 import S3Objects
from warehouse.evidence.store import EvidenceStore, bundle_key, raw_key
from warehouse.landing.contract import Bundle
from warehouse.maintenance.leftovers import remove_leftovers
from warehouse.maintenance.retention import apply_retention
from warehouse.project.project import Project, read_project

# Small ones, which go from memory, and one that is streamed.
MANY = {**{f"part/{i}": random.Random(i).randbytes(4096) for i in range(40)}, "large": random.Random(0).randbytes(5 << 20)}


@pytest.fixture
def store(endpoint: str, bucket_name: str, tmp_path: Path) -> EvidenceStore:
    return bucket_store(endpoint, bucket_name, tmp_path / "work")


def s3(store: EvidenceStore) -> S3Objects:
    assert isinstance(store.objects, S3Objects)
    return store.objects


def refused(store: EvidenceStore, files: dict[str, bytes], sources: Path) -> WarehouseError:
    with pytest.raises(WarehouseError) as caught:
        put(store, files, sources)
    return caught.value


# --- networks ----------------------------------------------------------------------------------------------------


@pytest.fixture
def network(s3_server: Server) -> Iterator[Network]:
    with network_to(s3_server.port) as network:
        yield network


@pytest.fixture
def far(network: Network, bucket_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EvidenceStore:
    """A store behind the network, of a client that gives up soon."""
    monkeypatch.setattr(s3_objects, "_ANSWER_S", 2)
    monkeypatch.setattr(s3_objects, "_RETRIES", 1)
    return bucket_store(network.url, bucket_name, tmp_path / "work")


def comes_whole(store: EvidenceStore, files: dict[str, bytes], sources: Path) -> None:
    """What was begun is completed by doing it again, and nothing of it was lost or moved aside."""
    put(store, files, sources)
    digest = manifest_of(files).digest
    assert (store.digests(), faults(store, digest)) == ([digest], [])
    assert len(list(store.objects.entries("raw"))) == len(files) + 1


@pytest.mark.parametrize("cut_after", [100, 3 << 20])
def test_a_connection_that_breaks(far: EvidenceStore, network: Network, tmp_path: Path, cut_after: int) -> None:
    network.cut_after = cut_after
    error = refused(far, MANY, tmp_path / "sources")
    assert (error.code, error.message, error.place) == ("WH114", "the store cannot be used: the connection broke", far.objects.url)
    assert error.hint and "again" in error.hint
    network.heal()
    comes_whole(far, MANY, tmp_path / "again")


def test_a_server_that_never_answers(far: EvidenceStore, network: Network, tmp_path: Path) -> None:
    network.holds_answers = True
    for files in ({"small": b"x"}, {"large": MANY["large"]}):
        error = refused(far, files, tmp_path / "sources")
        assert (error.code, error.message) == ("WH114", "the store cannot be used: it does not answer in time")


@pytest.mark.parametrize("name", ["part/1", "large"])
def test_an_answer_that_is_lost(far: EvidenceStore, network: Network, tmp_path: Path, name: str) -> None:
    """What was asked for is done, and nobody says so."""
    network.loses_answers = True
    files = {name: MANY[name]}
    assert refused(far, files, tmp_path / "sources").code == "WH114"
    network.heal()
    comes_whole(far, files, tmp_path / "again")


def test_a_slow_network_is_only_slow(far: EvidenceStore, network: Network, tmp_path: Path) -> None:
    network.bytes_per_s = 400_000  # a connection
    files = {"a": MANY["part/1"], "b": MANY["large"][: 1 << 20]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(s3_objects, "_SMALL_BYTES", 1 << 19)
        patch.setattr(s3_objects, "_ANSWER_S", 60)
        assert put(far, files, tmp_path / "sources") is True
    assert faults(far, manifest_of(files).digest) == []


def test_a_download_that_breaks_is_no_copy(store: EvidenceStore, far: EvidenceStore, network: Network, tmp_path: Path) -> None:
    """A reader gets all bytes or an error, and the next one asks the store again."""
    objects = S3Objects(s3(store).bucket, s3(store).prefix, network.url, None, tmp_path / "other", 730)
    behind = EvidenceStore(objects, tmp_path / "other")
    files = {"large": MANY["large"]}
    put(store, files, tmp_path / "sources")
    digest = manifest_of(files).digest
    [file] = store.manifest(digest).files
    network.holds_answers = True
    with pytest.raises(WarehouseError, match="WH114"):
        behind.local_file(digest, file)
    with pytest.raises(WarehouseError, match="WH114"):  # and no word that anything is missing
        list(behind.check_bundle(digest))
    network.heal()
    assert behind.local_file(digest, file).read_bytes() == MANY["large"]


# --- the server --------------------------------------------------------------------------------------------------


def test_a_server_killed_while_it_is_written_to_loses_nothing(lone_s3_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = bucket_store(lone_s3_server.url, new_bucket(lone_s3_server.url, monkeypatch), tmp_path / "work")
    first = {"first": b"there before"}
    put(store, first, tmp_path / "first")
    files = {f"part/{i}": random.Random(i).randbytes(4096) for i in range(1000)}
    outcome: list[WarehouseError] = []

    def write() -> None:
        try:
            put(store, files, tmp_path / "sources")
        except WarehouseError as error:
            outcome.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    digest = manifest_of(files).digest
    while sum(1 for _ in store.objects.entries(f"{raw_key(digest, 'part')}")) < 40:
        assert writer.is_alive()
    lone_s3_server.stop("KILL")
    writer.join()
    assert [error.code for error in outcome] == ["WH114"]
    assert lone_s3_server.start()
    assert store.digests() == [manifest_of(first).digest]
    assert put(store, files, tmp_path / "again") is True
    assert [faults(store, each) for each in store.digests()] == [[], []]
    assert len(list(store.objects.entries("raw"))) == len(files) + len(first) + 2  # nothing was moved aside: nothing was cut


def test_a_full_store(s3_server: Server, store: EvidenceStore, tmp_path: Path) -> None:
    quota = ("--quota-scope=bucket", f"--bucket={s3(store).bucket}")
    s3_server.admin("quota", "set", *quota, "--max-objects=3")
    s3_server.admin("quota", "enable", *quota)
    files = {str(i): b"%d" % i for i in range(40)}
    error = refused(store, files, tmp_path / "sources")
    assert (error.code, error.message) == ("WH114", "the store is full (QuotaExceeded)")
    s3_server.admin("quota", "disable", *quota)
    comes_whole(store, files, tmp_path / "again")


def test_a_bucket_that_may_only_be_read(store: EvidenceStore, tmp_path: Path) -> None:
    put(store, {"a": b"a"}, tmp_path / "a")
    bucket = s3(store).bucket
    deny = {"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": f"arn:aws:s3:::{bucket}/*"}
    s3(store).client.put_bucket_policy(Bucket=bucket, Policy=json.dumps({"Version": "2012-10-17", "Statement": [deny]}))
    error = refused(store, {"b": b"b"}, tmp_path / "b")
    assert (error.code, error.message) == ("WH114", "the store refuses access (AccessDenied)")
    assert faults(store, manifest_of({"a": b"a"}).digest) == []


WRONG = {
    "secret": ({"AWS_SECRET_ACCESS_KEY": "not-the-secret"}, "the store refuses access (SignatureDoesNotMatch)"),
    "key": ({"AWS_ACCESS_KEY_ID": "nobody"}, "the store refuses access (InvalidAccessKeyId)"),
    "address": ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "the store cannot be used: no server answers there"),
    "no key": ({"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_EC2_METADATA_DISABLED": "true"}, "the store refuses access (NoCredentials)"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_the_way_there_is_told(
    case: str, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wh_on: WhOn
) -> None:
    variables, told = WRONG[case]
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    evidence = value_files(tmp_path / "evidence", "a=1\n")
    for command in (("ingest", str(evidence)), ("build",), ("verify", "--all")):
        status, out, err = wh_on(project, *command)
        assert (status, out) == (ExitCode.FAILED, "")
        assert err.startswith(f"WH114 {project.store_url}: {told}\n  hint: ")
        assert "not-the-secret" not in err and "testsecret" not in err and "Traceback" not in err


def test_keys_that_end_are_asked_for_again(store: EvidenceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of a role do: what they were before the end counts no more."""
    keys, ends = tmp_path / "keys", datetime.now(UTC) + timedelta(seconds=1)
    config = tmp_path / "config"
    config.write_text(f"[profile role]\ncredential_process = cat {keys}\n")
    for name in KEYS.keys() & {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_PROFILE", "role")

    def give(secret: str, end: datetime) -> None:
        told = {"Version": 1, "AccessKeyId": KEYS["AWS_ACCESS_KEY_ID"], "SecretAccessKey": secret, "Expiration": end.isoformat()}
        keys.write_text(json.dumps(told))

    give(KEYS["AWS_SECRET_ACCESS_KEY"], ends)
    assert not store.objects.exists("x")
    give("another", datetime.now(UTC) + timedelta(hours=1))
    with pytest.raises(WarehouseError, match="WH114.*refuses access"):
        while datetime.now(UTC) < ends + timedelta(seconds=20):  # obstore asks ten times a second at most
            store.objects.exists("x")


def test_a_bucket_that_is_not_there(project: Project, wh_on: WhOn, tmp_path: Path) -> None:
    file = project.root / "warehouse.toml"
    file.write_text(file.read_text().replace(str(project.store_url), "s3://no-such-bucket/x"))
    status, _, err = wh_on(read_project(project.root), "ingest", str(value_files(tmp_path / "evidence", "a=1\n")))
    assert status == ExitCode.FAILED and err.startswith("WH114 s3://no-such-bucket/x: there is no such bucket\n  hint: create the bucket, ")


def test_names_that_no_object_can_have_are_left_out(store: EvidenceStore, tmp_path: Path) -> None:
    for name in ("new\nline", "x" * 1100):
        assert refused(store, {name: b"x"}, tmp_path / "sources").code == "WH103"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(s3_objects, "_SMALL_BYTES", 1)
        patch.setattr(s3_objects, "_LARGEST_BYTES", 2)
        assert refused(store, {"large": b"xxx"}, tmp_path / "sources").code == "WH115"
    assert store.digests() == []


# --- Object Lock -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [None, {"DefaultRetention": {"Mode": "GOVERNANCE", "Days": 3}}])
def test_what_is_written_to_a_bucket_with_object_lock_is_locked(
    store: EvidenceStore, endpoint: str, tmp_path: Path, rule: object
) -> None:
    name = f"{s3(store).bucket}l"
    client = s3(store).client
    client.create_bucket(Bucket=name, ObjectLockEnabledForBucket=True)
    if rule:
        configuration = {"ObjectLockEnabled": "Enabled", "Rule": rule}
        client.put_object_lock_configuration(Bucket=name, ObjectLockConfiguration=configuration)
    locked = bucket_store(endpoint, name, tmp_path / "locked")
    files = {"small": b"x", "large": MANY["large"]}
    assert put(locked, files, tmp_path / "sources") is True
    assert put(locked, files, tmp_path / "again") is False
    for entry in locked.objects.entries("raw"):
        found = client.get_object_retention(Bucket=name, Key=s3(locked).full_key(entry.key))["Retention"]
        assert found["Mode"] == ("GOVERNANCE" if rule else "COMPLIANCE")
        assert (found["RetainUntilDate"] - entry.modified_at).days in ((2, 3) if rule else (729, 730))


def test_only_a_bucket_that_gives_versions_is_asked_for_object_lock(store: EvidenceStore, endpoint: str, tmp_path: Path) -> None:
    put(store, {"a": b"x"}, tmp_path / "sources")
    assert "client" not in vars(s3(store))
    name = f"{s3(store).bucket}v"
    client = s3(store).client
    client.create_bucket(Bucket=name)
    client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    versioned = bucket_store(endpoint, name, tmp_path / "versioned")
    assert put(versioned, {"a": b"x"}, tmp_path / "again") is True
    assert "client" in vars(s3(versioned)) and s3(versioned).object_lock() is None


# --- copies ------------------------------------------------------------------------------------------------------


def test_copies_are_of_no_more_than_so_many_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_cache, "_BYTES", 25)
    cache = ObjectCache(tmp_path)
    contents = [bytes([i]) * 10 for i in range(4)]
    for number, data in enumerate(contents[:2]):
        path = cache.add(bytes_digest(data), [data[:5], data[5:]], "x")
        os.utime(path, (number, number))  # long ago, the first one longest
    cache.add(bytes_digest(contents[2]), [contents[2]], "x")
    assert [cache.find(bytes_digest(data)) is not None for data in contents] == [False, True, True, False]
    cache.add(bytes_digest(contents[3]), [contents[3]], "x")  # what was asked for just now stays
    assert [cache.find(bytes_digest(data)) is not None for data in contents] == [False, True, True, True]


def test_a_copy_that_was_altered_is_found(store: EvidenceStore, tmp_path: Path) -> None:
    put(store, {"a": b"abc"}, tmp_path / "sources")
    digest = manifest_of({"a": b"abc"}).digest
    bundle = Bundle(digest, store.manifest(digest), partial(store.local_file, digest))
    assert bundle.read("a") == b"abc"
    store.local_file(digest, store.manifest(digest).files[0]).write_bytes(b"abd")
    with pytest.raises(WarehouseError, match="WH105"):
        bundle.read("a")


# --- end to end --------------------------------------------------------------------------------------------------


@pytest.fixture
def project(bucket_name: str, tmp_path: Path) -> Project:
    made = values_project(tmp_path / "project", "select key, sum(value) as total from reading group by key")
    file = made.root / "warehouse.toml"
    file.write_text(file.read_text().replace('url = ".wh/store"', f'url = "s3://{bucket_name}/team/store"'))
    return read_project(made.root)


@pytest.mark.exhaustive
def test_every_command_works_on_a_store_in_s3(project: Project, tmp_path: Path, wh_on: WhOn) -> None:
    def wh(*arguments: str) -> str:
        status, out, err = wh_on(project, *arguments)
        assert status == 0, err
        return out

    wh("keygen", "nightly", "-o", str(tmp_path / "nightly.pem"))
    evidence = value_files(tmp_path / "evidence", "a=1\nb=2\n", "a=3\n")
    assert wh("ingest", str(evidence), "--sign", str(tmp_path / "nightly.pem")).count("added") >= 1
    assert "present" in wh("ingest", str(evidence))
    wh("build")
    assert wh("sql", "select key, total from rollup.claim order by key", "--format", "csv").split() == ["key,total", "a,4.0", "b,2.0"]
    wh("publish", "claim", "--sign", str(tmp_path / "nightly.pem"))
    lineage = json.loads(wh("lineage", "claim[key=a].total", "--json"))
    assert f"{project.store_url}/raw/sha256/" in json.dumps(lineage)
    assert "a=1" in wh("lineage", "claim[key=a].total", "--open")
    wh("verify", "--all")
    assert "2 raw files hashed, replayed from its own 2 bundles: equal" in wh("verify", "claim[key=a].total")
    wh("audit-packet", "claim[key=a].total", "-o", str(tmp_path / "packet.tar"))
    with tarfile.open(tmp_path / "packet.tar") as packet:  # its raw files are the bucket's
        raw = [packet.extractfile(name) for name in packet.getnames() if "/files/" in name]
        assert sorted(file.read() for file in raw if file) == [b"a=1\nb=2\n", b"a=3\n"]
    assert not (project.root / ".wh" / "store").exists()
    # Another machine, with nothing but the project's own files.
    shutil.rmtree(project.root / ".wh")
    wh("verify", "--all")
    assert "2 raw files hashed, replayed from its own 2 bundles: equal" in wh("verify", "claim[key=a].total")
    wh("build")
    # Somebody changes evidence behind its back: nobody is content with an old copy of it.
    store = open_store(project)
    digest = store.digests()[0]
    [file] = store.manifest(digest).files
    with suppress(FileNotFoundError):
        store.objects.remove(raw_key(digest, file.raw_path))
    store.objects.create(raw_key(digest, file.raw_path), b"a=9\nb=2\n")
    status, out, _ = wh_on(project, "verify", "--all")
    assert status == ExitCode.TAMPERED and "tampered" in out
    # What its own policy removes, when it is old enough and no publication needs it, is gone from the bucket too.
    wh("ingest", str(value_files(tmp_path / "unneeded", "c=4\n")))
    half_made = raw_key("ab" * 32, "a")
    store.objects.create(half_made, b"left by a crash")
    [removed] = list(apply_retention(project, datetime.now(UTC) + timedelta(days=731)))
    assert (removed.state, removed.digest in store.digests(), len(store.digests())) == ("due", False, 2)
    assert [leftover.key for leftover in remove_leftovers(store, datetime.now(UTC) + timedelta(days=1))] == [bundle_key("ab" * 32)]
    assert not store.objects.exists(half_made) and not list(store.objects.entries("holds/marks"))
    assert "added" in wh("ingest", str(tmp_path / "unneeded"))


# --- what the project's file says --------------------------------------------------------------------------------

LOCATIONS = {
    'url = "gopher://x"': "store.url 'gopher://x': a store is a folder, an S3 bucket, or a URL that fsspec supports",
    'url = "https://x.example/store"': "store.url 'https://x.example/store': a web server cannot list its files, and a store must be listed",
    **{
        f'url = "{url}"': f"store.url '{url}' names no bucket: a bucket name has 3 to 63 characters of a-z, 0-9, - and single dots"
        for url in ("s3://", "s3://B_", "s3://ab/c", "s3://a..b/c", "s3://192.168.0.1/c", "s3://abc-", f"s3://{'a' * 64}")
    },
    'url = "s3://bucket/a//b"': "store.url 's3://bucket/a//b': the part after the bucket is not a folder name",
    'url = "s3://bucket/../b"': "store.url 's3://bucket/../b': the part after the bucket is not a folder name",
    'url = "s3://bucket"\nendpoint = "localhost:80"': "store.endpoint 'localhost:80' is not an http or https address",
}


@pytest.mark.parametrize("lines", LOCATIONS)
def test_a_location_that_is_none(lines: str, tmp_path: Path) -> None:
    (tmp_path / "warehouse.toml").write_text(f"[store]\n{lines}\n")
    with pytest.raises(WarehouseError) as caught:
        read_project(tmp_path)
    assert (caught.value.code, caught.value.message.splitlines()[0]) == ("WH002", LOCATIONS[lines])
    assert "warehouse.toml:" in str(caught.value.place)


@pytest.mark.parametrize("endpoint", ["localhost:9000", "http://", "http://host:port", "http://a b", "ftp://host"])
def test_an_endpoint_of_the_environment_that_is_none(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "warehouse.toml").write_text('[store]\nurl = "s3://bucket/trailing/"\n')
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    with pytest.raises(WarehouseError) as caught:
        open_store(read_project(tmp_path))
    assert (caught.value.code, caught.value.message) == ("WH114", f"the endpoint {endpoint!r} is not an http or https address")
    assert "AWS_ENDPOINT_URL" in str(caught.value.hint)


def test_a_folder_may_be_given_as_a_url(tmp_path: Path) -> None:
    (tmp_path / "warehouse.toml").write_text(f'[store]\nurl = "{(tmp_path / "elsewhere").as_uri()}"\n')
    project = read_project(tmp_path)
    assert (project.store_root, project.store_url) == (tmp_path / "elsewhere", None)


def test_the_client_of_a_store_in_s3_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "warehouse.toml").write_text('[store]\nurl = "s3://bucket/of-nobody"\n')
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(WarehouseError) as caught:
        open_store(read_project(tmp_path))
    assert (caught.value.code, caught.value.hint) == ("WH006", "pip install 'perf-warehouse[s3]'")
    assert main(["init", str(tmp_path / "new"), "--store", "s3://bucket/of-us"]) == ExitCode.FAILED and not (tmp_path / "new").exists()


def test_a_project_is_made_where_its_bucket_is(bucket_name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for url, told in {
        "s3://no-such-bucket/x": "WH114 s3://no-such-bucket/x: there is no such bucket\n  hint: create the bucket, ",
        "s3://192.168.0.1/x": "WH002 s3://192.168.0.1/x: 's3://192.168.0.1/x' names no bucket: ",
    }.items():
        assert main(["init", str(tmp_path / "new"), "--store", url]) != ExitCode.OK
        assert capfd.readouterr().err.startswith(told) and not (tmp_path / "new").exists()
    assert main(["init", str(tmp_path / "new"), "--store", f"s3://{bucket_name}/x"]) == ExitCode.OK
    assert read_project(tmp_path / "new").store_url == f"s3://{bucket_name}/x"
