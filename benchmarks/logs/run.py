"""What it costs to search logs for known lines, beside `grep -E` of the same patterns on the same file.

    python benchmarks/logs/run.py [MEGABYTES]

The log is made up: lines of an engine and of NCCL, one in 200 a warning or an error, of which one in ten is the example of a rule. Both read from
the page cache. It prints CPU seconds of each, and their ratio, whose floor is 5.
"""

from __future__ import annotations

import mmap
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from warehouse.landing.logs.rules import RULES_FILE, read_rules
from warehouse.landing.logs.search import LEVEL, search
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer
from warehouse.project.project import standard_folder

FLOOR = 5.0
_RULES = read_rules([standard_folder() / "ingest" / RULES_FILE]).rules
_USUAL = (
    "INFO 05-19 02:38:{a:02d} [loggers.py:123] Engine 000: Avg prompt throughput: {b}.{c} tokens/s, Running: {b} reqs, Waiting: {a} reqs",
    'INFO:     10.0.0.{a}:{b} - "POST /v1/completions HTTP/1.1" 200 OK',
    "gpu{a:02d}:{b}:{c} [{a}] NCCL INFO Channel {a:02d}/0 : {a}[{a}] -> {b}[{a}] via P2P/CUMEM",
    " iteration {b}/ 5000 | consumed samples: {c} | elapsed time per iteration (ms): {b}.{a} | lm loss: 2.{c} | grad norm: 0.{b}",
)
_WARNINGS = (
    "WARNING 05-19 02:38:{a:02d} [scheduler.py:{b}] request {c} waits for {b} ms",
    "[rank{a}]:[W ProcessGroupNCCL.cpp:{b}] Warning: rank {c} is late",
    "ERROR:root:cannot read /data/shard-{c}.tar: attempt {a}",
)


def write_log(path: Path, size: int) -> None:
    """A log of about `size` bytes."""
    chance = random.Random(1)
    with open(path, "w", encoding="utf-8") as stream:
        while stream.tell() < size:
            block = []
            for _ in range(20_000):
                kind = chance.random()
                some = {"a": chance.randrange(60), "b": chance.randrange(9000), "c": chance.randrange(10**6)}
                line = chance.choice(_USUAL if kind > 0.005 else _WARNINGS).format(**some)
                block.append(chance.choice(_RULES).example if kind < 0.0005 else line)
            stream.write("\n".join(block) + "\n")


def _for_grep(pattern: str) -> str:
    """A pattern as grep -E reads it: without groups that are not captured, and with its own way of writing sets."""
    for ours, theirs in ((r"[\d,\[\]-]", "[][0-9,-]"), (r"[\d.]", "[0-9.]"), (r"[\w-]", "[[:alnum:]_-]"), (r"[\w.-]", "[[:alnum:]_.-]"),
                         (r"[:\]]", "[]:]"), (r"[^\n]", "."), ("(?:", "("), (r"\d", "[0-9]")):
        pattern = pattern.replace(ours, theirs)
    return pattern


def main(megabytes: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "server.log"
        write_log(path, megabytes << 20)
        patterns = _for_grep("|".join(f"({pattern})" for pattern in (*(rule.pattern for rule in _RULES), LEVEL)))
        with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            sum(data[place] for place in range(0, len(data), 4096))
            began = time.process_time()
            found = search(data, _RULES, Report(RowBuffer({}, ""), path.name, None))
            own = time.process_time() - began
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(["grep", "-aEc", patterns, str(path)], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        grep = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode > 1:
        print(done.stderr.strip())
        return 1
    known = sum(seen.count for seen in found.known.values())
    print(f"{megabytes} MB, {found.line_count} lines, {len(_RULES)} rules: {known} known lines, {found.unknown_count} other warnings and errors")
    print(f"grep -E {grep:.2f} s ({done.stdout.strip()} lines), search {own:.2f} s: {own / grep:.1f} times (at most {FLOOR:g})")
    return int(own > FLOOR * grep)


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
