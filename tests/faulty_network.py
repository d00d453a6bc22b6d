"""A TCP proxy on loopback that does to connections what bad networks do."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass


@dataclass
class Network:
    """What is done to all connections from now on. `cut_after`: a connection is closed when so many bytes have gone up.
    `holds_answers`: what goes up arrives, and nothing comes back. `loses_answers`: the connection is closed when the first
    answer is about to come back. `bytes_per_s`: how quickly bytes go up."""

    url: str
    cut_after: int | None = None
    holds_answers: bool = False
    loses_answers: bool = False
    bytes_per_s: int | None = None

    def heal(self) -> None:
        self.cut_after, self.bytes_per_s, self.holds_answers, self.loses_answers = None, None, False, False


@contextmanager
def network_to(port: int) -> Iterator[Network]:
    """A network that leads to a port on loopback."""
    listener = socket.create_server(("127.0.0.1", 0))
    network = Network(f"http://127.0.0.1:{listener.getsockname()[1]}")
    threading.Thread(target=_accept, args=(listener, port, network), daemon=True).start()
    with closing(listener):
        yield network


def _accept(listener: socket.socket, port: int, network: Network) -> None:
    with suppress(OSError):  # the test is over
        while True:
            client, _ = listener.accept()
            server = socket.create_connection(("127.0.0.1", port))
            for work in (_up, _down):
                threading.Thread(target=work, args=(client, server, network), daemon=True).start()


def _up(client: socket.socket, server: socket.socket, network: Network) -> None:
    gone = 0
    with suppress(OSError):
        while data := client.recv(16_384):
            gone += len(data)
            if network.cut_after is not None and gone > network.cut_after:
                break
            if network.bytes_per_s:
                time.sleep(len(data) / network.bytes_per_s)  # that is what slow means
            server.sendall(data)
    _close(client, server)


def _down(client: socket.socket, server: socket.socket, network: Network) -> None:
    with suppress(OSError):
        while data := server.recv(16_384):
            if network.loses_answers:
                break
            if not network.holds_answers:
                client.sendall(data)
    _close(client, server)


def _close(*sockets: socket.socket) -> None:
    for one in sockets:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()
