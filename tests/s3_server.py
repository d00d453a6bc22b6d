"""A real S3 server on loopback (Ceph's radosgw), one a run of the tests, and the fixtures that give a test its bucket there.

Where it cannot be had the tests that need it are skipped with the reason; with `WH_TESTS_NEED_S3` set, as CI sets it, they fail.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from once import made, once

if TYPE_CHECKING:
    from s3fs import S3FileSystem

REPOSITORY = Path(__file__).resolve().parents[1]
TOOL = REPOSITORY / "tests" / "radosgw.sh"
PROGRAM = REPOSITORY / ".cache" / "radosgw"
_SERVER = "s3"
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "testsecret123", "AWS_DEFAULT_REGION": "us-east-1"}


@dataclass(frozen=True)
class Server:
    """A server with its data in a folder; `kill` and `start` it again, and it has the same objects."""

    data: Path
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> bool:
        """Whether it came up; if not, nothing of it is left."""
        starter = subprocess.Popen(
            ["bash", TOOL, "up", PROGRAM, self.data, str(self.port)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )
        with suppress(subprocess.TimeoutExpired):
            if starter.wait(timeout=90) == 0:
                return True
        with suppress(ProcessLookupError):
            os.killpg(starter.pid, signal.SIGKILL)
        starter.wait(timeout=30)
        return False

    def stop(self, signal_name: str = "TERM") -> None:
        subprocess.run(["bash", TOOL, "stop", self.data, signal_name], check=True, timeout=30)

    def admin(self, *arguments: str) -> None:
        """Do what only the server's operator may."""
        subprocess.run(
            ["bash", TOOL, "admin", PROGRAM, self.data, *arguments], check=True, timeout=60, stdin=subprocess.DEVNULL,
            capture_output=True,
        )


def free_port() -> int:
    """A port that is free on loopback, as is the one a thousand above it, which the server takes too; below those that the
    kernel hands to clients, one of whom might have it by then."""
    for port in random.sample(range(10_000, 30_000), 100):
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + 1000))
            except OSError:
                continue
        return port
    raise AssertionError("no two free ports")


def cannot_be_had(reason: str) -> NoReturn:
    """The test bed's fault, not the product's; in CI there must be one."""
    if os.environ.get("WH_TESTS_NEED_S3"):
        pytest.fail(reason)
    pytest.skip(reason)


def install() -> None:
    """Fetch and unpack the server's packages, once."""
    try:
        installed = subprocess.run(
            ["bash", TOOL, "install", PROGRAM], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
        )
    except subprocess.TimeoutExpired:
        cannot_be_had("the S3 server's packages do not come within five minutes")
    if installed.returncode:
        cannot_be_had(f"the S3 server's packages cannot be had: {installed.stderr.strip()[-200:]}")


def started(folder: Path) -> Server:
    """A new server, its data in `folder`."""
    install()
    for number in range(3):  # on a busy machine its storage daemon now and then greets too early, and gives up ("wrong fsid")
        server = Server(folder / f"radosgw-{number}", free_port())
        if server.start():
            return server
    cannot_be_had(f"the S3 server does not start: see {folder}")


@pytest.fixture(scope="session")
def s3_server() -> Server:
    """The server of the run, which all workers share."""

    def make(folder: Path) -> None:
        server = started(folder)
        (folder / "server").write_text(f"{server.port}\n{server.data}")

    port, data = (once(_SERVER, make) / "server").read_text().splitlines()
    return Server(Path(data), int(port))


@pytest.fixture(scope="module")
def lone_s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the test file's own, which it may kill."""
    server = started(tmp_path_factory.mktemp("s3"))
    yield server
    server.stop()
    shutil.rmtree(server.data, ignore_errors=True)


def stop_servers() -> None:
    """Stop what `s3_server` started."""
    server = made(_SERVER) / "server"
    if server.exists():
        port, data = server.read_text().splitlines()
        Server(Path(data), int(port)).stop()


@pytest.fixture(scope="session")
def endpoint(s3_server: Server) -> str:
    """The URL of the run's server."""
    return s3_server.url


@pytest.fixture
def fresh_client() -> Iterator[None]:
    """Clients are kept by the process, with the endpoint and keys that they began with."""
    from s3fs import S3FileSystem

    S3FileSystem.clear_instance_cache()
    yield
    S3FileSystem.clear_instance_cache()


def client_of(endpoint: str) -> "S3FileSystem":
    """A client of the tests' own: not the one that the warehouse reads or writes by."""
    from s3fs import S3FileSystem  # half a second that only these tests need

    return S3FileSystem(
        endpoint_url=endpoint, key=KEYS["AWS_ACCESS_KEY_ID"], secret=KEYS["AWS_SECRET_ACCESS_KEY"], skip_instance_cache=True,
        use_listings_cache=False,
    )


@pytest.fixture
def bucket_name(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty bucket of the test's own, in the store that the environment names."""
    return new_bucket(endpoint, monkeypatch)


def new_bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty bucket of a server, which the environment names from now on."""
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": endpoint}.items():
        monkeypatch.setenv(name, value)
    name = f"b{uuid.uuid4().hex}"
    client_of(endpoint).mkdir(name)
    return name
