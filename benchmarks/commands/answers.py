"""`wh serve`, asked over one connection that is kept: wall milliseconds of an answer, CPU milliseconds of a page just after a build switch."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from urllib.parse import quote

_ANSWERS = 50
_QUERIES = 10
_SWITCHES = 3
_BETWEEN_S = 2.0  # readers pause; meanwhile the process of the next query starts


def served(project: Path, number: str, environment: Mapping[str, str]) -> Iterator[tuple[str, float, float]]:
    """What each costs, in milliseconds, and its target."""
    everything = {**os.environ, **environment}
    wh = [sys.executable, "-m", "warehouse.cli.main", "--project", str(project)]
    serving = subprocess.Popen([*wh, "serve", "--port", "0", "--rate", "1000000"], stderr=subprocess.PIPE, text=True, env=everything)
    try:
        assert serving.stderr
        connection = http.client.HTTPConnection(serving.stderr.readline().split()[1].removeprefix("http://").rstrip("/"))

        def ask(path: str) -> float:
            """The wall milliseconds of an answer."""
            began = time.perf_counter()
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200, (path, answer.status)
            return 1000 * (time.perf_counter() - began)

        page = f"/numbers/{number}"
        ask(page)
        yield "each answer on a kept connection", median(ask(page) for _ in range(_ANSWERS)), 3
        taken = []
        for each in range(_QUERIES):
            time.sleep(_BETWEEN_S)  # a person reads an answer before asking again; meanwhile the server starts the next process
            taken.append(ask(f"/api/sql?query={quote(f'select count(*), {each} from serving_results')}"))
        yield "a query of the SQL page", median(taken), 20
        costs = []
        for each in range(_SWITCHES):
            (project / "models" / "switched.sql").write_text(f"select {each} as one")
            subprocess.run([*wh, "build"], check=True, capture_output=True, env=everything)
            connection.close()  # the server closes it after five seconds without a request
            ask("/publications")  # opens the new build
            before = _cpu_ms(serving.pid)
            ask(page)
            costs.append(_cpu_ms(serving.pid) - before)
        yield "Number page just after a build switch", median(costs), 20
    finally:
        serving.send_signal(signal.SIGINT)
        serving.wait()


def _cpu_ms(pid: int) -> float:
    """What the threads of a process have computed, by the scheduler's clock: that of /proc/PID/stat has steps of 10 ms."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e6
