"""`wh serve` under load: 50 clients that read pages of a warehouse of 10 million requests while `wh build` switches builds.

Prints for each page how many answers there were, their median and 99th percentile in ms, warm, in the five seconds after the start, when all
clients ask at once, and in those after a switch; and the floor: the same client's answers from a page that computes nothing (`/healthz`), in the
same minute. Besides: errors, builds, the CPU time that the server took for an answer, which depends less on what else the machine does, and its
peak memory.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import redirect_stdout
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from samples.examples import example_project

from warehouse.claims.publish.publication import publications
from warehouse.cli.main import main as main_of_wh
from warehouse.project.project import Project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import POINTER

_REQUESTS = """/*
materialized: table
*/
select
    'run ' || range // 5000 as run_id,
    range as request,
    100 * (0.5 + hash(range, 1) / 18446744073709551616.0) as ttft_ms,
    20 * (0.5 + hash(range, 2) / 18446744073709551616.0) as itl_mean_ms
from range({rows})
"""
Found = dict[str, list[tuple[float, float]]]  # of each page, when it was asked for and how long it took
_JUST_AFTER = 5.0  # seconds
_SQL = "/api/sql?query=select+count(*),+avg(ttft_ms)+from+load_request+where+request+%25+{}+%3D+0"


async def client(place: str, number: int, numbers: list[str], until: float, think: float, found: Found, errors: list[str]) -> None:
    """Reads one page after the other over one connection, with a pause after each as a reader has."""
    chosen, parts = random.Random(number), urlsplit(place)
    reading, writing = await asyncio.open_connection(parts.hostname, parts.port)
    pages = {
        "number": lambda: f"/numbers/{chosen.choice(numbers)}", "changes": lambda: "/changes", "publications": lambda: "/publications",
        "sql": lambda: _SQL.format(chosen.randrange(2, 1000)), "floor": lambda: "/healthz",
    }
    names = [*["number"] * 60, *["changes"] * 10, *["publications"] * 10, *["floor"] * 19, "sql"]
    while time.monotonic() < until:
        name = chosen.choice(names)
        path, began = pages[name](), time.monotonic()
        writing.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await reading.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        length = next(int(line[16:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length: "))
        body = await reading.readexactly(length)
        found[name].append((began, 1000 * (time.monotonic() - began)))
        if status != 200 and not (name == "sql" and status == 429):
            errors.append(f"{status} {path} {body[:200]!r}")
        await asyncio.sleep(chosen.expovariate(1 / think))
    writing.close()


def keep_building(project: Project, stop: threading.Event, seconds: float) -> None:
    """Change a model and build, again and again."""
    for number in itertools.count():
        if stop.wait(seconds):
            return
        (project.root / "models" / "switched.sql").write_text(f"select {number} as one")
        subprocess.run([sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root), "build"], check=True, capture_output=True)


def watch(project: Project, stop: threading.Event, switched: list[float]) -> None:
    """Add to `switched` each time when the pointer names another build, which is before `wh build` ends."""
    named = os.readlink(project.builds / POINTER)
    while not stop.wait(0.02):
        if (now := os.readlink(project.builds / POINTER)) != named:
            switched.append(time.monotonic())
            named = now


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0


def summary(answers: list[tuple[float, float]], switched: list[float]) -> dict[str, float]:
    """Latencies of all answers, of warm ones, and of those just after the start or a switch. The first time in `switched` is the start."""
    of_start, of_switches = switched[:1], switched[1:]

    def after(times: list[float]) -> list[float]:
        return [each for began, each in answers if any(0 <= began - at < _JUST_AFTER for at in times)]

    warm = [each for began, each in answers if not any(0 <= began - at < _JUST_AFTER for at in switched)]
    every = [each for _, each in answers]
    return {
        "answers": len(every), "p50_ms": quantile(every, 0.5), "p99_ms": quantile(every, 0.99),
        "warm_p99_ms": quantile(warm, 0.99), "start_p99_ms": quantile(after(of_start), 0.99), "switch_p99_ms": quantile(after(of_switches), 0.99),
    }


def cpu_seconds(pid: int) -> float:
    """What a process took so far, of user and system time."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def load(place: str, numbers: list[str], options: argparse.Namespace, found: Found, errors: list[str]) -> None:
    until = time.monotonic() + options.seconds
    await asyncio.gather(*(client(place, each, numbers, until, options.think, found, errors) for each in range(options.clients)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--think", type=float, default=0.5, help="seconds that a client waits after an answer, on average")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wh-bench-") as folder:
        os.environ |= {"WH_TESTS_MADE_ONCE": folder, "XDG_CONFIG_HOME": f"{folder}/config", "PYTHONPATH": str(ROOT)}
        with redirect_stdout(sys.stderr):
            project = example_project(Path(folder) / "made")
            (project.root / "models" / "load_request.sql").write_text(_REQUESTS.format(rows=options.rows))
            build(project)
            main_of_wh(["--project", str(project.root), "publish", "serving_results", "--as", "provisional"])
        numbers = [cell.number_id for each in publications(project) for row in each.rows() for cell in row.cells.values() if cell.number_id]
        command = [sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root), "serve", "--port", "0", "--rate", "10000000"]
        serving = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        place = serving.stderr.readline().split()[1]
        found: Found = defaultdict(list)
        errors: list[str] = []
        stop, switched, before = threading.Event(), [time.monotonic()], cpu_seconds(serving.pid)
        beside = [threading.Thread(target=keep_building, args=(project, stop, 20)), threading.Thread(target=watch, args=(project, stop, switched))]
        for each in beside:
            each.start()
        try:
            asyncio.run(load(place, numbers, options, found, errors))
            cpu = cpu_seconds(serving.pid) - before
        finally:
            stop.set()
            for each in beside:
                each.join()
            status = Path(f"/proc/{serving.pid}/status").read_text()
            serving.send_signal(signal.SIGINT)
            serving.wait()
            told = serving.stderr.read()
        peak = next(int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith("VmHWM:"))
    if "Traceback" in told:
        errors.append(told[-2000:])
    result = {
        "pages": {name: summary(each, switched) for name, each in sorted(found.items())},
        "errors": errors, "builds": len(switched) - 1, "cpu_ms": 1000 * cpu / sum(map(len, found.values())), "peak_mb": peak,
    }
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for name, each in result["pages"].items():
        print(
            f"{name:13} {each['answers']:6} answers  median {each['p50_ms']:7.1f} ms  p99 {each['p99_ms']:7.1f} ms"
            f"  warm {each['warm_p99_ms']:7.1f} ms  after the start {each['start_p99_ms']:7.1f} ms  after a switch {each['switch_p99_ms']:7.1f} ms"
        )
    print(f"{len(errors)} errors, {result['builds']} builds switched, {result['cpu_ms']:.1f} ms of CPU an answer, server's peak memory {peak:.0f} MB")
    for each in errors[:5]:
        print(each)


if __name__ == "__main__":
    main()
