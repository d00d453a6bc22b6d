"""Build the same models with each tool in every scenario, and print CPU seconds of the process tree beside the targets.

The tools take turns in each round, so that load hits all alike. A figure that falls short is to be profiled: nothing
here is a test.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import projects
from measure import CommandFailed, Cost, medians, run
from targets import targets
from telemetry import append_day, copy_days
from tools import APPEND, CHANGED, FULL, NOOP, REPOSITORY, TOOLS, DbtState, Floor, Sqlmesh, Tool, Wh, WhPlainAggregate

HERE = Path(__file__).resolve().parent
# Files that changed less than two seconds ago cannot be told apart by their times: no user's data is that young.
_SETTLED_S = 2.5


@dataclass(frozen=True)
class Contest:
    """One project: its models, its scenarios in order, the tools that take part, and those measured once only, since
    they take minutes and no target asks for them."""

    models: list[projects.Model]
    scenarios: tuple[str, ...]
    tools: frozenset[str] = frozenset(TOOLS)
    once: frozenset[str] = frozenset()


CONTESTS: Mapping[str, Callable[[], Contest]] = {
    "star": lambda: Contest(projects.star(), (FULL, NOOP, CHANGED, APPEND)),
    "chain1000": lambda: Contest(
        projects.chain(1000), (FULL, NOOP, CHANGED), frozenset(TOOLS) - {WhPlainAggregate.name},
        once=frozenset({DbtState.name, Sqlmesh.name}),
    ),
    "chain5000": lambda: Contest(projects.chain(5000), (FULL,), frozenset({Floor.name, Wh.name}), frozenset(TOOLS)),
}


@dataclass
class Results:
    """What was measured of one project: costs by (scenario, tool), why a tool could not go on, what tools answered."""

    costs: defaultdict[tuple[str, str], list[Cost]] = field(default_factory=lambda: defaultdict(list))
    failures: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)


def hold(name: str, tools: Sequence[type[Tool]], runs: int, venvs: Path, telemetry: Path, scratch: Path) -> Results:
    """Measure one project with each tool, `runs` times."""
    contest, results = CONTESTS[name](), Results()
    edited = projects.changed(contest.models)
    for number in range(runs):
        left_out = contest.once if number else frozenset()
        taking_part = [kind for kind in tools if kind.name in contest.tools - left_out - results.failures.keys()]
        ready = [_prepared(kind, contest.models, venvs, telemetry, scratch / name / kind.name) for kind in taking_part]
        time.sleep(_SETTLED_S)  # not for luck: younger files are read again at every look, which no user's are
        for scenario in contest.scenarios:
            for tool in ready:
                if scenario == CHANGED:
                    tool.write(edited)
                if scenario == APPEND:
                    append_day(telemetry, tool.root / "data")
                if scenario in tool.scenarios and tool.name not in results.failures:
                    _measure(tool, scenario, results)
        if APPEND in contest.scenarios:
            results.answers |= {tool.name: _answer(tool) for tool in ready if tool.name not in results.failures}
        print(f"{name}: round {number + 1} of {runs}", file=sys.stderr, flush=True)
    return results


def _prepared(kind: type[Tool], models: list[projects.Model], venvs: Path, telemetry: Path, root: Path) -> Tool:
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    copy_days(telemetry, root / "data")
    tool = kind(root, venvs)
    tool.write(models)
    return tool


def _measure(tool: Tool, scenario: str, results: Results) -> None:
    try:
        cost = run(tool.command(scenario), tool.root, tool.environment)
    except CommandFailed as error:
        results.failures[tool.name] = f"{scenario}: {error}"
        return
    results.costs[scenario, tool.name].append(cost)
    if scenario == FULL:
        tool.after_full()


def _answer(tool: Tool) -> str:
    command = [sys.executable, str(HERE / "answer.py"), str(tool.database), tool.schema]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def header() -> str:
    figures = f"{'CPU s':>7} {'wall s':>7} {'peak MB':>8} {'runs':>5}"
    return f"{'project':<10} {'scenario':<8} {'tool':<13} {figures}  targets"


def report(name: str, results: Results) -> str:
    """The medians of one project with the targets, what failed, and whether the answers were equal."""
    found = {key: medians(costs) for key, costs in results.costs.items()}
    lines = []
    for (scenario, tool), costs in results.costs.items():
        cost = found[scenario, tool]
        asked = targets(name, scenario, found) if issubclass(TOOLS[tool], Wh) else []
        told = "; ".join(target.told(cost) for target in asked)
        figures = f"{cost.cpu_s:>7.2f} {cost.wall_s:>7.2f} {cost.peak_mb:>8.0f} {len(costs):>5}"
        lines.append(f"{name:<10} {scenario:<8} {tool:<13} {figures}  {told}".rstrip())
    lines += [f"{name}: {tool} failed in {message}" for tool, message in results.failures.items()]
    if results.answers:
        equal = len(set(results.answers.values())) == 1
        lines.append("after the append all tools hold the same:" if equal else "AFTER THE APPEND THE TOOLS DIFFER:")
        lines += [f"  {tool:<13} {answer}" for tool, answer in results.answers.items()]
    return "\n".join(lines)


def as_json(name: str, results: Results) -> dict[str, Any]:
    """Every single cost of one project, and the rest of its results."""
    costs = [
        {"scenario": scenario, "tool": tool, **asdict(cost)}
        for (scenario, tool), found in results.costs.items() for cost in found
    ]
    return {"project": name, "costs": costs, "failures": results.failures, "answers": results.answers}


def _names(known: Mapping[str, object]) -> Callable[[str], list[str]]:
    """What reads an argument: names of `known` with commas between them."""

    def read(text: str) -> list[str]:
        names = text.split(",")
        if unknown := [name for name in names if name not in known]:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: known are {', '.join(known)}")
        return names

    return read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tools", type=_names(TOOLS), default=[*TOOLS], help=f"of {', '.join(TOOLS)}")
    parser.add_argument("--projects", type=_names(CONTESTS), default=[*CONTESTS], help=f"of {', '.join(CONTESTS)}")
    parser.add_argument("--rows", type=int, default=1_000_000, help="samples in the star (default: a million)")
    venvs = REPOSITORY / ".cache" / "benchmark-venvs"
    parser.add_argument("--venvs", type=Path, default=venvs, help="the environments that environments.sh made")
    parser.add_argument("--json", action="store_true", help="every single cost, as data")
    args = parser.parse_args()
    # An installed package has its bytecode; a source checkout may not, and the first start would pay for it.
    compileall.compile_dir(REPOSITORY / "warehouse", quiet=1)
    venvs = args.venvs.resolve()
    programs = {name: TOOLS[name](Path(), venvs).program for name in args.tools}
    absent = {name: program for name, program in programs.items() if not program.exists()}
    tools = [TOOLS[name] for name in args.tools if name not in absent]
    for name, program in absent.items():
        print(f"{name}: not measured, {program} is not there (environments.sh makes it)", file=sys.stderr)
    documents = []
    if not args.json:
        print(header(), flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        telemetry = Path(scratch) / "telemetry"
        subprocess.run([sys.executable, str(HERE / "telemetry.py"), str(telemetry), str(args.rows)], check=True)
        for name in args.projects:
            results = hold(name, tools, args.runs, venvs, telemetry, Path(scratch))
            documents.append(as_json(name, results))
            if not args.json:
                print(report(name, results), flush=True)
    load = os.getloadavg()[0]
    if args.json:
        print(json.dumps({"projects": documents, "absent": [*absent], "load_average": load}, indent=2))
    else:
        print(f"load average at the end: {load:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
