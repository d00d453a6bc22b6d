"""`wh serve` under load: 50 clients that read pages of a warehouse of 10 million requests while `wh build` switches builds.

Prints for each page how many answers there were, their median and 99th percentile in ms, and the floor: the same client's answers from a page
that computes nothing (`/healthz`), in the same minute. Besides: errors, builds, and the server's peak memory.
"""

from __future__ import annotations

import argparse
import asyncio
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
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from samples.examples import example_project

from warehouse.claims.publish.publication import publications
from warehouse.cli.main import main as main_of_wh
from warehouse.project.project import Project
from warehouse.transform.build.build import build

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
_SQL = "/api/sql?query=select+count(*),+avg(ttft_ms)+from+load_request+where+request+%25+{}+%3D+0"


async def client(place: str, number: int, numbers: list[str], until: float, think: float, found: dict[str, list[float]], errors: list[str]) -> None:
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
        found[name].append(1000 * (time.monotonic() - began))
        if status != 200 and not (name == "sql" and status == 429):
            errors.append(f"{status} {path} {body[:200]!r}")
        await asyncio.sleep(chosen.expovariate(1 / think))
    writing.close()


def keep_building(project: Project, stop: threading.Event, seconds: float) -> int:
    """Change a model and build, again and again: how many builds were made."""
    made = 0
    while not stop.wait(seconds):
        (project.root / "models" / "switched.sql").write_text(f"select {made} as one")
        subprocess.run([sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root), "build"], check=True, capture_output=True)
        made += 1
    return made


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


async def load(place: str, numbers: list[str], options: argparse.Namespace, found: dict[str, list[float]], errors: list[str]) -> None:
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
        project = example_project(Path(folder) / "made")
        (project.root / "models" / "load_request.sql").write_text(_REQUESTS.format(rows=options.rows))
        build(project)
        main_of_wh(["--project", str(project.root), "publish", "serving_results", "--as", "provisional"])
        numbers = [cell.number_id for each in publications(project) for row in each.rows() for cell in row.cells.values() if cell.number_id]
        command = [sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root), "serve", "--port", "0", "--rate", "10000000"]
        serving = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        place = serving.stderr.readline().split()[1]
        found: dict[str, list[float]] = defaultdict(list)
        errors: list[str] = []
        stop, builds = threading.Event(), []
        building = threading.Thread(target=lambda: builds.append(keep_building(project, stop, 20)))
        building.start()
        try:
            asyncio.run(load(place, numbers, options, found, errors))
        finally:
            stop.set()
            building.join()
            status = Path(f"/proc/{serving.pid}/status").read_text()
            serving.send_signal(signal.SIGINT)
            serving.wait()
            told = serving.stderr.read()
        peak = next(int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith("VmHWM:"))
    if "Traceback" in told:
        errors.append(told[-2000:])
    result = {
        "pages": {
            name: {"answers": len(each), "p50_ms": quantile(each, 0.5), "p99_ms": quantile(each, 0.99)} for name, each in sorted(found.items())
        },
        "errors": errors, "builds": builds[0], "peak_mb": peak,
    }
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for name, each in result["pages"].items():
        print(f"{name:13} {each['answers']:6} answers  median {each['p50_ms']:7.1f} ms  p99 {each['p99_ms']:7.1f} ms")
    print(f"{len(errors)} errors, {builds[0]} builds switched, server's peak memory {peak:.0f} MB")
    for each in errors[:5]:
        print(each)


if __name__ == "__main__":
    main()
