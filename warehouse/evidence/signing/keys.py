"""Keys that sign: ed25519, the private one in a PEM file of its owner's alone, the public one a line of text.

A key's id is that of in-toto and securesystemslib: sha256 of its canonical description.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.digest import bytes_digest, canonical_json
from warehouse.errors import WarehouseError, printable
from warehouse.evidence.durable import fsync_folder, make_folder

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from securesystemslib.signer import CryptoSigner  # type: ignore[attr-defined]  # documented there, not re-exported by type

PRIVATE_SUFFIX = ".pem"
PUBLIC_SUFFIX = ".pub"  # after the private key's whole name, as ssh-keygen has it
_TEXT = re.compile(r"ed25519:([0-9a-f]{64})")
_KEY_BYTES = 65_536  # no file of one key is larger


@dataclass(frozen=True)
class PublicKey:
    """A public key by its owner's name for it. `text` is `ed25519:` and 64 hex characters."""

    name: str
    text: str

    @cached_property
    def key_id(self) -> str:
        """64 hex characters; computed without the library, so that who only names keys need not import it."""
        return bytes_digest(canonical_json(self.document))

    @property
    def document(self) -> dict[str, object]:
        """The key as in-toto layouts and securesystemslib write it."""
        return {"keytype": "ed25519", "scheme": "ed25519", "keyval": {"public": self.text.removeprefix("ed25519:")}}


def key_folder() -> Path:
    """Where keys lie that were given no other place: of the user, and in no project."""
    configuration = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(configuration) / "wh" / "keys"


def make_key(path: Path) -> PublicKey:
    """Make a pair of keys: the private one at `path`, readable by its owner alone, the public one beside it as PEM. Raises
    WH110 when a file is there already: no key is ever replaced."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    private = Ed25519PrivateKey.generate()
    public = private.public_key()
    beside = path.with_name(path.name + PUBLIC_SUFFIX)
    try:
        make_folder(path.parent)
        if os.path.lexists(beside):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(beside))
        _write_new(path, private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), 0o600)
        _write_new(beside, public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), 0o644)
        fsync_folder(path.parent)
    except OSError as error:
        hint = "choose another name" if isinstance(error, FileExistsError) else None
        raise WarehouseError("WH110", f"cannot be written: {error.strerror}", str(error.filename or path), hint) from error
    return _public(path, public)


def _write_new(path: Path, data: bytes, mode: int) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def find_key(named: str) -> Path:
    """The file of a private key: a path, or the name of one that `make_key` put into the `key_folder`. Raises WH110."""
    candidates = (Path(named), key_folder() / f"{named}{PRIVATE_SUFFIX}")
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        raise WarehouseError("WH110", f"no such key, and none in {key_folder()}", printable(named), "make one with: wh keygen NAME")
    return found


@dataclass(frozen=True)
class SigningKey:
    """A private key that was loaded, and its public half."""

    public: PublicKey
    signer: "CryptoSigner"


def load_signing_key(named: str) -> SigningKey:
    """The private key that `find_key` finds. Raises WH110: it is none, is no ed25519 key, has a passphrase, or others may
    read it."""
    path = find_key(named)
    data, mode = _read(path)
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise WarehouseError(
            "WH110", f"users other than its owner may read it (mode {stat.S_IMODE(mode):04o})", str(path), f"run: chmod 600 {path}"
        )
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from securesystemslib.signer import CryptoSigner  # type: ignore[attr-defined]  # documented there, not re-exported by type

    try:
        private = load_pem_private_key(data, password=None)
    except (ValueError, TypeError) as error:  # TypeError: it has a passphrase
        raise WarehouseError("WH110", f"not a private key in PEM without a passphrase: {error}", str(path)) from error
    if not isinstance(private, Ed25519PrivateKey):
        raise WarehouseError("WH110", "a private key, but not an ed25519 one", str(path), "make one with: wh keygen NAME")
    return SigningKey(_public(path, private.public_key()), CryptoSigner(private))


def read_public_key(path: Path) -> PublicKey:
    """The public key in a file: PEM, or the line that `wh keygen` prints. Its name is the file's. Raises WH110."""
    data, _ = _read(path)
    text = data.decode(errors="replace").strip()
    if _TEXT.fullmatch(text):
        return PublicKey(_name(path), text)
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(data)
    except ValueError as error:
        raise WarehouseError("WH110", f"not a public key in PEM: {error}", str(path), "wh keygen writes it as NAME.pem.pub") from error
    if not isinstance(key, Ed25519PublicKey):
        raise WarehouseError("WH110", "a public key, but not an ed25519 one", str(path))
    return _public(path, key)


def public_keys(texts: Mapping[str, str]) -> dict[str, PublicKey]:
    """Public keys by key id, from their texts by name."""
    keys = [PublicKey(name, text) for name, text in texts.items()]
    return {key.key_id: key for key in keys}


def _public(path: Path, key: "Ed25519PublicKey") -> PublicKey:
    return PublicKey(_name(path), f"ed25519:{key.public_bytes_raw().hex()}")


def _name(path: Path) -> str:
    return path.name.removesuffix(PUBLIC_SUFFIX).removesuffix(PRIVATE_SUFFIX)


def _read(path: Path) -> tuple[bytes, int]:
    try:
        with open(path, "rb") as stream:
            return stream.read(_KEY_BYTES), os.fstat(stream.fileno()).st_mode
    except OSError as error:
        raise WarehouseError("WH110", f"cannot be read: {error.strerror}", str(path)) from error
