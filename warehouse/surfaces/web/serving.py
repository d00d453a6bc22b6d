"""Runs the application: listens, and ends with its process."""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import ip_address

from warehouse.errors import ExitCode, WarehouseError
from warehouse.project.project import Project
from warehouse.surfaces.web.tokens import Tokens


def serve(project: Project, host: str, port: int, names: frozenset[str], rate: int, started: Callable[[str], None]) -> None:
    """Serve a project until the process is stopped; `started` gets the address. Raises WH006 (an optional package is not installed),
    WH602 (visitors of other machines, and no tokens), WH005 (the address cannot be listened on)."""
    try:
        import fastapi  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise WarehouseError("WH006", f"{error.name} is not installed", hint="pip install 'perf-warehouse[serve]'") from error
    from warehouse.surfaces.web.app import application
    from warehouse.surfaces.web.guard import LOOPBACK

    needs_token = bool(Tokens(project).all()) or not _is_loopback(host)
    if not _is_loopback(host) and not Tokens(project).all():
        raise WarehouseError(
            "WH602", f"{host} can be reached from other machines, and there are no tokens", hint="wh token new NAME", exit_code=ExitCode.USAGE
        )
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise WarehouseError("WH005", f"it cannot listen: {error.strerror or error}", f"{host}:{port}", "choose another port: --port 0") from error
    # asyncio sets it only on sockets that name their protocol, and Python's own constructor names none; without it the second part of
    # each answer on a kept connection waits 40 ms for the client's acknowledgement. Connections inherit it.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    shown = f"[{host}]" if ":" in host else host
    app = application(project, LOOPBACK | names | {host}, rate, needs_token)
    started(f"http://{shown}:{listening.getsockname()[1]}/")
    # No server header, no access log with the requests; a proxy's header about the client is not trusted.
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, proxy_headers=False, timeout_graceful_shutdown=5
    )
    uvicorn.Server(config).run(sockets=[listening])


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
