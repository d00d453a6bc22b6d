"""What every command prints on a terminal of 100 columns and 40 lines: its lines, its widest line, and those that do not fit a screen.

The commands run on a copy of a project, which is made of the evidence if no project is given; each runs on a terminal of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EVIDENCE = ROOT.parent / "shared" / "evidence" / "serving.tar.gz"
COLUMNS, LINES = 100, 40
_WH = [sys.executable, "-m", "warehouse.cli.main"]
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

# {name} is filled in with what the warehouse has. The order matters: what decides comes after what only reads.
COMMANDS = """
--help | -v --help | --version | | status | ingestors | tables | tables --all | builds | metrics | contracts | docs | doctor | fsck | gc
retention plan | token list | ledger | plan | check | build | ingest {evidence} | ingest --dry-run {evidence} | test
describe {query} | describe {fact} | columns {query}.{value} | columns {query}
sql 'select * from {query}' | sql 'select * from {fact}' | sql 'select * from {query} limit 1'
judge {query} | judge {query} --full | publish {query} --as provisional
lineage {number} | lineage {number} --full | lineage {query} | verify {number} | verify {query}
impact {run} | impact {bundle} | impact {fact} | impact {query} | ledger {run} | ledger {publication}
frontier | frontier --within 40 | frontier --where 'model={model}' | goodput | goodput ttft_ms<=500 | validity | validity --rules
similar {run} | changes | changes --regressed | explain {run} | compare | compare {run} {other} | compare session= session=
compare model={model} software= | diff {number} {number2}
report --audience engineering --glance | report --audience product --glance | report --audience partner --glance
report --audience engineering -o report.html | export mlflow {run} | audit-packet {number} -o packet.zip | validate run.yaml
note {run} 'a note' | retract {run} --reason 'tried' | status | ledger {run} | verify {publication} | reinstate {run} --reason 'tried'
withdraw {publication} --reason 'tried' | settle {run} --bundle {bundle} --reason 'tried' | new model tried_model | new query tried_query
push ./elsewhere --create | pull ./elsewhere | record -- true
nothing | lineage nothing | verify nothing | impact nothing | judge nothing | publish nothing | describe nothing
sql 'select nothing from {query}' | frontier --x nothing | frontier --where 'model=nothing' | goodput nothing
validity --where 'model=nothing' | explain nothing | compare nothing nothing | columns nothing | diff nothing nothing | ingest nothing
validate nothing | report --audience nothing | plan nothing | build nothing | changes nothing | pull ./nowhere
"""


def shown(arguments: list[str], project: Path, environment: dict[str, str]) -> tuple[int, list[str]]:
    """The status of a command and the lines that it leaves on a terminal of this size."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    with subprocess.Popen([*_WH, *arguments], cwd=project, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        data = b""
        while True:
            try:
                read = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not read:
                break
            data += read
        os.close(ours)
    text = _ESCAPES.sub("", data.decode(errors="replace")).replace("\r\n", "\n")
    # A progress bar writes over its own line.
    lines = [line.rsplit("\r", 1)[-1].rstrip() for line in text.removesuffix("\n").split("\n")]
    return process.returncode, lines if text else []


def width(line: str) -> int:
    """The columns that a line takes on a terminal."""
    return sum(0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in line)


def answer(arguments: list[str], project: Path, environment: dict[str, str]) -> Any:
    """The JSON that a command prints."""
    found = subprocess.run([*_WH, *arguments], cwd=project, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(found.stdout)


def subjects(project: Path, query: str, environment: dict[str, str]) -> dict[str, str]:
    """What the commands are asked about."""
    def rows(sql: str) -> list[dict[str, Any]]:
        return list(answer(["sql", sql, "--format", "json"], project, environment))

    publication = answer(["publish", query, "--as", "provisional", "--json"], project, environment)
    impact = answer(["impact", "benchmark_run_fact", "--json"], project, environment)
    first = impact[0]
    found = rows("select run_id, artifact_manifest_digest as bundle from benchmark_run_fact order by run_id")
    scopes = answer(["frontier", "--json"], project, environment)["frontiers"] if query == "serving_results" else []
    model = max(scopes, key=lambda each: len(each["points"]), default={"scope": {"model": "*"}})["scope"]["model"]
    return {
        "query": query, "publication": publication["publication"][:12], "value": first["key"].rpartition(".")[2], "number": first["number_id"],
        "number2": impact[-1]["number_id"], "run": found[0]["run_id"], "other": found[-1]["run_id"], "bundle": found[0]["bundle"][:12],
        "fact": "benchmark_run_fact", "model": model, "build": answer(["builds", "--json"], project, environment)[0]["build_digest"][:12],
        "evidence": "evidence",
    }


def command_lines(found: dict[str, str]) -> Iterator[list[str]]:
    """All command lines, then the help of each command."""
    sys.path.insert(0, os.environ.get("PYTHONPATH", str(ROOT)).split(":")[0])
    from warehouse.cli.commands import COMMANDS as named

    for line in COMMANDS.strip().split("\n"):
        for each in line.split("|"):
            yield [word.format(**found) for word in shlex.split(each)]
    for name in named:
        yield [name, "--help"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evidence", type=Path, default=EVIDENCE)
    parser.add_argument("--project", type=Path, help="a project that is built, instead of the evidence")
    parser.add_argument("--query", default="serving_results")
    parser.add_argument("--texts", type=Path, help="write what each command printed into this folder")
    parser.add_argument("--only", help="only command lines that begin so")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wh-screens-") as folder:
        size = {"COLUMNS": str(COLUMNS), "LINES": str(LINES), "TERM": "xterm", "NO_COLOR": "1"}
        environment = os.environ | size | {"XDG_CONFIG_HOME": f"{folder}/config"}
        environment.setdefault("PYTHONPATH", str(ROOT))
        project = Path(folder) / "project"
        if options.project:
            shutil.copytree(options.project, project, symlinks=True)
        else:
            subprocess.run([*_WH, "init", str(project)], env=environment, check=True, capture_output=True)
            subprocess.run([*_WH, "ingest", str(options.evidence)], cwd=project, env=environment, check=True, capture_output=True)
            subprocess.run([*_WH, "build"], cwd=project, env=environment, check=True, capture_output=True)
        (project / "evidence").symlink_to(options.evidence)
        found = subjects(project, options.query, environment)
        results = []
        for words in command_lines(found):
            if options.only and not shlex.join(words).startswith(options.only):
                continue
            status, lines = shown(words, project, environment)
            widest = max((width(line) for line in lines if " " in line.strip()), default=0)  # a path is one word, which programs read
            results.append({"command": shlex.join(["wh", *words]), "status": status, "lines": len(lines), "widest": widest})
            if options.texts:
                options.texts.mkdir(parents=True, exist_ok=True)
                (options.texts / f"{len(results):03}.txt").write_text("\n".join([results[-1]["command"], *lines, ""]))
            each = results[-1]
            if not options.json:
                mark = "" if each["lines"] <= LINES and each["widest"] <= COLUMNS else "  more than a screen"
                print(f"{each['lines']:5} lines  widest {each['widest']:4}  status {status:2}  {each['command']}{mark}", flush=True)
    if options.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
