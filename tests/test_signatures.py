"""Signatures: in-toto statements in DSSE envelopes that anybody can check, and what is said of those that do not hold.

What the product writes is read here by other means: JSON, base64, hashlib and the ed25519 of `cryptography`, on bytes put
together by hand after the DSSE protocol (secure-systems-lab/dsse, protocol.md, "DSSEv1 LEN TYPE LEN BODY").
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from samples.values import take_in, value_files, values_project

from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects.local import LocalObjects
from warehouse.evidence.signing import signatures
from warehouse.evidence.signing.keys import PublicKey, SigningKey, load_signing_key, make_key, public_keys, read_public_key
from warehouse.evidence.signing.signatures import Signing, check_signatures, evidence_subject, sign, signature_stamps

DIGEST, OTHER = "ab" * 32, "cd" * 32


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, SigningKey]:
    """A trusted key and a stranger's."""
    for name in ("nightly", "stranger"):
        make_key(tmp_path / "keys" / f"{name}.pem")
    return {name: load_signing_key(str(tmp_path / "keys" / f"{name}.pem")) for name in ("nightly", "stranger")}


@pytest.fixture
def trusted(keys: dict[str, SigningKey]) -> dict[str, PublicKey]:
    return {keys["nightly"].public.key_id: keys["nightly"].public}


def envelope_path(store: Path, digest: str, key: SigningKey) -> Path:
    return store / "signatures" / digest / f"{key.public.key_id}.dsse.json"


def pae(payload_type: bytes, payload: bytes) -> bytes:
    return b" ".join([b"DSSEv1", str(len(payload_type)).encode(), payload_type, str(len(payload)).encode(), payload])


def raw_private(path: Path) -> Ed25519PrivateKey:
    key = load_pem_private_key(path.read_bytes(), None)
    assert isinstance(key, Ed25519PrivateKey)
    return key


def key_id_of(private: Ed25519PrivateKey) -> str:
    public = private.public_key().public_bytes_raw().hex()
    text = f'{{"keytype":"ed25519","keyval":{{"public":"{public}"}},"scheme":"ed25519"}}'
    return hashlib.sha256(text.encode()).hexdigest()


def by_hand(private: Ed25519PrivateKey, statement: dict[str, Any] | bytes, payload_type: str = "application/vnd.in-toto+json") -> bytes:
    """An envelope as any other tool would make it, in canonical JSON."""
    payload = statement if isinstance(statement, bytes) else json.dumps(statement).encode()
    signature = private.sign(pae(payload_type.encode(), payload))
    document = {
        "payload": base64.b64encode(payload).decode(), "payloadType": payload_type,
        "signatures": [{"keyid": key_id_of(private), "sig": base64.b64encode(signature).decode()}],
    }
    return json.dumps(document, separators=(",", ":"), sort_keys=True).encode()


def statement(sha256: str, predicate_type: str = signatures.EVIDENCE) -> dict[str, Any]:
    return {
        "_type": "https://in-toto.io/Statement/v1", "subject": [{"name": "m", "digest": {"sha256": sha256}}],
        "predicateType": predicate_type, "predicate": {},
    }


def found(store: Path, trusted: dict[str, PublicKey]) -> Signing:
    return check_signatures(LocalObjects(store), evidence_subject(DIGEST), trusted)


# --- what is written ---------------------------------------------------------------------------------------------


def test_an_envelope_is_what_anybody_can_check(tmp_path: Path, keys: dict[str, SigningKey]) -> None:
    assert sign(Ledger(LocalObjects(tmp_path)), evidence_subject(DIGEST), keys["nightly"])
    envelope = json.loads(envelope_path(tmp_path, DIGEST, keys["nightly"]).read_bytes())
    payload = base64.b64decode(envelope["payload"], validate=True)
    assert json.loads(payload) == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": f"raw/sha256/ab/{DIGEST}/manifest.json", "digest": {"sha256": DIGEST}}],
        "predicateType": "urn:perf-warehouse:evidence:v1",
        "predicate": {},
    }
    public = load_pem_public_key((tmp_path / "keys" / "nightly.pem.pub").read_bytes())
    assert isinstance(public, Ed25519PublicKey)
    [signature] = envelope["signatures"]
    public.verify(base64.b64decode(signature["sig"]), pae(envelope["payloadType"].encode(), payload))
    assert signature["keyid"] == key_id_of(raw_private(tmp_path / "keys" / "nightly.pem")) == keys["nightly"].public.key_id
    with pytest.raises(InvalidSignature):
        public.verify(base64.b64decode(signature["sig"]), payload)  # of the bare payload: then PAE would not have been signed


def test_what_another_tool_signed_holds(tmp_path: Path, keys: dict[str, SigningKey], trusted: dict[str, PublicKey]) -> None:
    path = envelope_path(tmp_path, DIGEST, keys["nightly"])
    path.parent.mkdir(parents=True)
    path.write_bytes(by_hand(raw_private(tmp_path / "keys" / "nightly.pem"), statement(DIGEST)))
    assert found(tmp_path, trusted).state == "valid"


def test_a_key_s_id_is_that_of_securesystemslib(keys: dict[str, SigningKey]) -> None:
    assert keys["nightly"].public.key_id == keys["nightly"].signer.public_key.keyid


def test_signing_again_changes_nothing_and_another_file_there_is_refused(tmp_path: Path, keys: dict[str, SigningKey]) -> None:
    subject, path = evidence_subject(DIGEST), envelope_path(tmp_path, DIGEST, keys["nightly"])
    assert sign(Ledger(LocalObjects(tmp_path)), subject, keys["nightly"])
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    assert not sign(Ledger(LocalObjects(tmp_path)), subject, keys["nightly"])
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    path.write_bytes(b"{}")
    with pytest.raises(WarehouseError, match="WH113") as error:
        sign(Ledger(LocalObjects(tmp_path)), subject, keys["nightly"])
    assert error.value.exit_code == ExitCode.TAMPERED and path.read_bytes() == b"{}"
    assert [name for name in os.listdir(tmp_path / "incoming") if not name.startswith(".")] == []


# --- the states --------------------------------------------------------------------------------------------------

# What lies where the signature of `key` would: the finding, the state, and whether the key is the trusted one.
Make = Callable[[Ed25519PrivateKey], bytes]
FINDINGS: dict[str, tuple[str, str, str, Make]] = {
    "trusted": ("nightly", "signed by a trusted key", "valid", lambda key: by_hand(key, statement(DIGEST))),
    "tampered payload": (
        "nightly", "tampered", "invalid",
        lambda key: json.dumps(
            json.loads(by_hand(key, statement(OTHER))) | {"payload": base64.b64encode(json.dumps(statement(DIGEST)).encode()).decode()},
            separators=(",", ":"), sort_keys=True,
        ).encode(),
    ),
    "unknown key": ("stranger", "signed by an unknown key", "untrusted key", lambda key: by_hand(key, statement(DIGEST))),
    "another digest": ("nightly", "for another digest", "invalid", lambda key: by_hand(key, statement(OTHER))),
    "another digest, unknown key": ("stranger", "for another digest", "invalid", lambda key: by_hand(key, statement(OTHER))),
    "no envelope": ("nightly", "malformed", "invalid", lambda key: b"hello"),
    "empty": ("nightly", "malformed", "invalid", lambda key: b""),
    "another JSON": ("nightly", "malformed", "invalid", lambda key: b'{"payload":1,"payloadType":[],"signatures":{}}'),
    "deep": ("nightly", "malformed", "invalid", lambda key: b"[" * 100_000),
    "no signature": (
        "nightly", "malformed", "invalid",
        lambda key: by_hand(key, statement(DIGEST)).partition(b'"signatures"')[0] + b'"signatures":[]}',
    ),
    "spaces": ("nightly", "malformed", "invalid", lambda key: by_hand(key, statement(DIGEST)) + b"\n"),
    "another statement of it": ("nightly", "malformed", "invalid", lambda key: by_hand(key, statement(DIGEST, "urn:x:retracted"))),
    "no statement": ("nightly", "malformed", "invalid", lambda key: by_hand(key, DIGEST.encode())),
    "two subjects": (
        "nightly", "malformed", "invalid",
        lambda key: by_hand(key, statement(DIGEST) | {"subject": statement(DIGEST)["subject"] + statement(OTHER)["subject"]}),
    ),
    "another type": ("nightly", "malformed", "invalid", lambda key: by_hand(key, statement(DIGEST), "text/plain")),
}


@pytest.mark.parametrize("case", FINDINGS)
def test_each_kind_of_signature_is_told(
    case: str, tmp_path: Path, keys: dict[str, SigningKey], trusted: dict[str, PublicKey]
) -> None:
    name, finding, state, make = FINDINGS[case]
    path = envelope_path(tmp_path, DIGEST, keys[name])
    path.parent.mkdir(parents=True)
    path.write_bytes(make(raw_private(tmp_path / "keys" / f"{name}.pem")))
    signing = found(tmp_path, trusted)
    [signature] = signing.signatures
    assert (signature.finding, signature.state, signing.state) == (finding, state, state)
    assert signature.key_id == keys[name].public.key_id and signature.key_name == ("nightly" if name == "nightly" else None)
    assert (signing.problem("here") is not None) == (state == "invalid")


def test_five_findings_and_one_of_them_is_valid() -> None:
    states = {finding: state for _, finding, state, _ in FINDINGS.values()}
    assert len(states) == 5 and [finding for finding, state in states.items() if state == "valid"] == ["signed by a trusted key"]


def test_what_is_not_signed_is_unsigned(tmp_path: Path, trusted: dict[str, PublicKey]) -> None:
    signing = found(tmp_path, trusted)
    assert (signing.state, signing.reason, signing.deciding, signing.problem("here")) == ("unsigned", None, None, None)


def test_a_signature_of_another_key_under_a_trusted_key_s_name_is_malformed(
    tmp_path: Path, keys: dict[str, SigningKey], trusted: dict[str, PublicKey]
) -> None:
    sign(Ledger(LocalObjects(tmp_path)), evidence_subject(DIGEST), keys["stranger"])
    envelope_path(tmp_path, DIGEST, keys["stranger"]).rename(envelope_path(tmp_path, DIGEST, keys["nightly"]))
    assert found(tmp_path, trusted).signatures[0].finding == "malformed"


def test_any_byte_changed_makes_it_invalid(tmp_path: Path, keys: dict[str, SigningKey], trusted: dict[str, PublicKey]) -> None:
    sign(Ledger(LocalObjects(tmp_path)), evidence_subject(DIGEST), keys["nightly"])
    path = envelope_path(tmp_path, DIGEST, keys["nightly"])
    data = path.read_bytes()
    assert found(tmp_path, trusted).state == "valid"
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert found(tmp_path, trusted).state == "invalid", place


def test_one_signature_that_holds_is_enough_and_the_others_are_told(
    tmp_path: Path, keys: dict[str, SigningKey], trusted: dict[str, PublicKey]
) -> None:
    subject = evidence_subject(DIGEST)
    sign(Ledger(LocalObjects(tmp_path)), subject, keys["nightly"])
    sign(Ledger(LocalObjects(tmp_path)), subject, keys["stranger"])
    signing = found(tmp_path, trusted)
    assert signing.state == "valid" and signing.deciding and signing.deciding.key_name == "nightly"
    assert "its signature holds" in str(signing.reason) and "was not checked" in str(signing.reason)
    both = trusted | {keys["stranger"].public.key_id: keys["stranger"].public}
    envelope_path(tmp_path, DIGEST, keys["nightly"]).write_bytes(b"x")
    assert found(tmp_path, both).state == "valid"
    assert found(tmp_path, trusted).state == "invalid"  # an unknown key makes nothing good
    assert found(tmp_path, {}).state == "invalid"


@pytest.mark.parametrize("what", ["link", "pipe"])
def test_what_is_no_file_is_neither_followed_nor_waited_for(
    what: str, tmp_path: Path, keys: dict[str, SigningKey], trusted: dict[str, PublicKey]
) -> None:
    sign(Ledger(LocalObjects(tmp_path)), evidence_subject(DIGEST), keys["nightly"])
    path = envelope_path(tmp_path, DIGEST, keys["nightly"])
    path.rename(tmp_path / "real")
    {"link": lambda: path.symlink_to(tmp_path / "real"), "pipe": lambda: os.mkfifo(path)}[what]()
    assert found(tmp_path, trusted).signatures[0].finding == "malformed"


def test_a_folder_in_an_envelope_s_place_is_no_signature(
    tmp_path: Path, keys: dict[str, SigningKey], trusted: dict[str, PublicKey]
) -> None:
    """As where the envelope is gone: `wh fsck` misses it."""
    sign(Ledger(LocalObjects(tmp_path)), evidence_subject(DIGEST), keys["nightly"])
    path = envelope_path(tmp_path, DIGEST, keys["nightly"])
    path.unlink()
    path.mkdir()
    assert found(tmp_path, trusted).state == "unsigned"


def test_stamps_tell_when_a_signature_came_or_changed(tmp_path: Path, keys: dict[str, SigningKey]) -> None:
    seen = [signature_stamps(LocalObjects(tmp_path))]
    sign(Ledger(LocalObjects(tmp_path)), evidence_subject(DIGEST), keys["nightly"])
    seen.append(signature_stamps(LocalObjects(tmp_path)))
    sign(Ledger(LocalObjects(tmp_path)), evidence_subject(DIGEST), keys["nightly"])
    assert signature_stamps(LocalObjects(tmp_path)) == seen[-1]
    sign(Ledger(LocalObjects(tmp_path)), evidence_subject(OTHER), keys["nightly"])
    seen.append(signature_stamps(LocalObjects(tmp_path)))
    path = envelope_path(tmp_path, DIGEST, keys["nightly"])
    data = path.read_bytes()
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    seen.append(signature_stamps(LocalObjects(tmp_path)))
    path.unlink()
    seen.append(signature_stamps(LocalObjects(tmp_path)))
    assert len({tuple(stamps) for stamps in seen}) == len(seen)


# --- keys --------------------------------------------------------------------------------------------------------


def test_a_private_key_is_its_owner_s_and_none_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "k" / "a.pem"
    key = make_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert key == read_public_key(tmp_path / "k" / "a.pem.pub") == PublicKey("a", key.text)
    assert key.text == f"ed25519:{raw_private(path).public_key().public_bytes_raw().hex()}"
    before = path.read_bytes()
    for taken in (path, tmp_path / "k" / "b.pem"):
        (tmp_path / "k" / "b.pem.pub").touch()
        with pytest.raises(WarehouseError, match="WH110.*File exists"):
            make_key(taken)
    assert path.read_bytes() == before and not (tmp_path / "k" / "b.pem").exists()
    (tmp_path / "line").write_text(key.text + "\n")
    assert read_public_key(tmp_path / "line").text == key.text


def pem(key: Any, password: bytes | None = None) -> bytes:
    hidden = BestAvailableEncryption(password) if password else NoEncryption()
    data: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, hidden)
    return data


@pytest.mark.parametrize(
    ("data", "mode", "said"),
    [
        (pem(Ed25519PrivateKey.generate()), 0o640, "users other than its owner may read it .mode 0640"),
        (pem(Ed25519PrivateKey.generate(), b"secret"), 0o600, "without a passphrase"),
        (pem(generate_private_key(65537, 2048)), 0o600, "not an ed25519 one"),
        (b"hello", 0o600, "not a private key"),
    ],
)
def test_a_key_that_cannot_be_used_is_refused(data: bytes, mode: int, said: str, tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(data)
    path.chmod(mode)
    with pytest.raises(WarehouseError, match=f"WH110.*{said}"):
        load_signing_key(str(path))
    with pytest.raises(WarehouseError, match="WH110"):
        read_public_key(path)


def test_a_key_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(WarehouseError, match="WH110 nightly: no such key"):
        load_signing_key("nightly")
    make_key(tmp_path / "wh" / "keys" / "nightly.pem")
    assert load_signing_key("nightly").public.name == "nightly"
    assert public_keys({}) == {}


# --- what does not sign, does not pay ----------------------------------------------------------------------------


def test_without_signatures_no_library_of_them_is_imported(tmp_path: Path) -> None:
    project = values_project(tmp_path / "p", "select key, sum(value) as total from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1\n"))
    program = (
        "import sys\nfrom warehouse.cli.main import main\n"
        "for line in sys.argv[1:]:\n    try: assert main(line.split()) == 0, line\n    except SystemExit as end: assert not end.code\n"
        "print({name.split('.')[0] for name in sys.modules} & {'securesystemslib', 'cryptography'})"
    )
    acts = ["--help", "build", "build", "publish claim", "lineage claim[key=a].total", "verify --all"]
    done = subprocess.run(
        [sys.executable, "-c", program, *acts], capture_output=True, text=True, check=False, cwd=project.root,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY), "HOME": str(tmp_path)},
    )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "set()"), done.stderr
