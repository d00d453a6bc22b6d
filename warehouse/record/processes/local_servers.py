"""The servers on this host that a command talks to: the rows of `servers.jsonl`. What they use is work for the command, not other work."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warehouse.record.host import utc_text
from warehouse.record.kernel import text
from warehouse.record.processes.process_tree import SHARE, ProcessTree

_ESTABLISHED, _LISTENING = "01", "0A"  # include/net/tcp_states.h
_MAPPED = "0000000000000000FFFF0000"  # an IPv4 address as an IPv6 one, as /proc/net/tcp6 writes it
_SOCKET = re.compile(r"socket:\[(\d+)\]")
_Connection = tuple[str, str]  # its own end and the other one, each address:port


class LocalServers:
    """Called again and again, a row for each server that one of the `own` processes was seen to be connected to: the processor time of its processes,
    since they began. One whose process is not ours to look at has a row without it."""

    def __init__(self, own: Callable[[], frozenset[int]], proc: Path = Path("/proc")) -> None:
        self._own, self._proc = own, proc
        self._ports = set[str]()  # that were looked into
        self._servers: dict[int, tuple[str, ProcessTree | None]] = {}  # by the process that leads it, with the port where it was first seen
        self._not_before_s = 0.0

    def __call__(self) -> list[dict[str, Any]]:
        if time.monotonic() >= self._not_before_s:
            began = time.thread_time()
            self._look()
            self._not_before_s = time.monotonic() + (time.thread_time() - began) / SHARE
        return [self._row(port, tree) for port, tree in self._servers.values()]

    def _row(self, port: str, tree: ProcessTree | None) -> dict[str, Any]:
        row: dict[str, Any] = {"sampled_at": utc_text(datetime.now(UTC)), "port": int(port, 16)}
        if tree is None:
            return row
        tree()
        user_s, system_s = tree.cpu_s
        return row | {"user_cpu_s": user_s, "system_cpu_s": system_s}

    def _look(self) -> None:
        """Find servers that were not seen before."""
        own = self._own()
        sockets = {inode for pid in own for inode in _sockets(self._proc, pid)}
        if not sockets:
            return
        listening, connections = self._connections()
        for ends, inode in connections.items():
            port = ends[1].rpartition(":")[2]
            peer = connections.get((ends[1], ends[0]))
            if inode in sockets and peer is not None and peer not in sockets and port in listening and port not in self._ports:
                self._ports.add(port)
                pid = next((pid for pid in self._pids() if pid not in own and peer in _sockets(self._proc, pid)), None)
                root = -int(port, 16) if pid is None else self._root(pid)
                self._servers.setdefault(root, (port, None if pid is None else ProcessTree(root, self._proc)))

    def _connections(self) -> tuple[set[str], dict[_Connection, str]]:
        """The ports that are listened on, and the socket of each end of a connection."""
        listening, connections = set[str](), dict[_Connection, str]()
        for file in ("tcp", "tcp6"):
            for line in (text(self._proc / "net" / file) or "").splitlines()[1:]:
                words = line.split()
                if len(words) > 9 and words[3] == _LISTENING:
                    listening.add(words[1].rpartition(":")[2])
                elif len(words) > 9 and words[3] == _ESTABLISHED:
                    connections[words[1].removeprefix(_MAPPED), words[2].removeprefix(_MAPPED)] = words[9]
        return listening, connections

    def _pids(self) -> Iterator[int]:
        return (int(name) for name in os.listdir(self._proc) if name.isdigit())

    def _root(self, pid: int) -> int:
        """The process that leads the server's group, unless it started the recorder as well."""
        _, group = self._parent_and_group(pid)
        above, each = set[int](), os.getpid()
        while each > 1 and each not in above:
            above.add(each)
            each, _ = self._parent_and_group(each)
        return group if group not in above and (self._proc / str(group)).exists() else pid

    def _parent_and_group(self, pid: int) -> tuple[int, int]:
        said = (text(self._proc / str(pid) / "stat") or "").rpartition(")")[2].split()
        return (int(said[1]), int(said[2])) if len(said) > 2 else (0, pid)


def _sockets(proc: Path, pid: int) -> Iterable[str]:
    """The inodes of a process's sockets; none where it has ended or is not ours to look at."""
    found = set()
    try:
        for name in os.listdir(proc / str(pid) / "fd"):
            try:
                if match := _SOCKET.fullmatch(os.readlink(proc / str(pid) / "fd" / name)):
                    found.add(match[1])
            except OSError:  # closed meanwhile
                continue
    except OSError:
        pass
    return found
