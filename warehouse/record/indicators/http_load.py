"""An indicator of an HTTP server under load: clients that keep one connection each and send the next request when the last is answered.

The server is a command in which `{port}` is the port that it is to listen on; without one it is Python's own `http.server`.
"""

from __future__ import annotations

import argparse
import http.client
import json
import shlex
import socket
import statistics
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

_OWN = """
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version, wbufsize = "HTTP/1.1", 4096
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\\n")
    def log_message(self, *given): pass
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def measure(server: str | None, path: str, connections: int, seconds: float, start_within: float) -> dict[str, Any]:
    """The indicator's document. Raises `TimeoutError` if the server does not answer in time, and `ValueError` if no request was answered."""
    port = _free_port()
    command = [each.replace("{port}", str(port)) for each in shlex.split(server)] if server else [sys.executable, "-c", _OWN, str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        ready_s = _await(process, port, path, start_within)
        latencies_ms: list[float] = []
        failures: list[str] = []
        ends = time.monotonic() + seconds
        clients = [threading.Thread(target=_ask, args=(port, path, ends, latencies_ms, failures)) for _ in range(connections)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
    if len(latencies_ms) < 2:
        raise ValueError(f"no request was answered: {failures[:1]}")
    hundredths = statistics.quantiles(latencies_ms, n=100)
    return {
        "name": "HttpServerLoad", "component": command[0].rpartition("/")[2] if server else "http.server",
        "@parameters": {"server": server, "path": path, "connections": connections, "seconds": seconds},
        "@result": {
            "requests_per_s": len(latencies_ms) / seconds, "latency_p50_ms": hundredths[49], "latency_p99_ms": hundredths[98],
            "failed_requests": len(failures), "start_s": ready_s,
        },
    }


def _await(process: subprocess.Popen[bytes], port: int, path: str, within: float) -> float:
    """Seconds until the server answered."""
    started = time.monotonic()
    while time.monotonic() - started < within:
        if process.poll() is not None:
            raise SystemExit(f"the server ended with exit code {process.returncode}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        with suppress(OSError, http.client.HTTPException):
            connection.request("GET", path)
            connection.getresponse().read()
            return time.monotonic() - started
        time.sleep(0.02)
    raise TimeoutError(f"the server did not answer within {within:g} s")


def _ask(port: int, path: str, ends: float, latencies_ms: list[float], failures: list[str]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    while time.monotonic() < ends:
        started_ns = time.perf_counter_ns()
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException) as error:
            failures.append(str(error))
            connection.close()
            continue
        if answer.status < 400:
            latencies_ms.append((time.perf_counter_ns() - started_ns) / 1e6)
        else:
            failures.append(f"status {answer.status}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", help="a command, with {port} for the port")
    parser.add_argument("--path", default="/")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--start-within", type=float, default=60)
    print(json.dumps(measure(**vars(parser.parse_args()))))
