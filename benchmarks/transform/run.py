"""Build the same models with each tool, in every scenario, tool after tool in each round so that load hits all alike, and
print CPU seconds of the process tree beside the targets. A figure that falls short is to be profiled, not asserted.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import projects
from measure import CommandFailed, Cost, medians, run
from targets import targets
from telemetry import append_day, copy_days, write_telemetry
from tools import APPEND, CHANGED, FULL, NOOP, REPOSITORY, TOOLS, DbtState, Floor, Sqlmesh, Tool, Wh

# Files that changed less than two seconds ago cannot be told apart by their times: no user's data is that young.
_SETTLED_S = 2.5


@dataclass(frozen=True)
class Contest:
    """One project: its models, its scenarios in order, the tools that take part, and those measured once only, since they
    take minutes and no target asks for them."""

    models: list[projects.Model]
    scenarios: tuple[str, ...]
    tools: frozenset[str] = frozenset(TOOLS)
    once: frozenset[str] = frozenset()


CONTESTS: Mapping[str, Callable[[], Contest]] = {
    "star": lambda: Contest(projects.star(), (FULL, NOOP, CHANGED, APPEND)),
    "chain1000": lambda: Contest(
        projects.chain(1000), (FULL, NOOP, CHANGED), frozenset({Floor.name, Wh.name, DbtState.name, Sqlmesh.name}),
        once=frozenset({DbtState.name, Sqlmesh.name}),
    ),
    "chain5000": lambda: Contest(projects.chain(5000), (FULL,), frozenset({Floor.name, Wh.name}), once=frozenset(TOOLS)),
}


@dataclass
class Results:
    """What was measured so far: costs by (project, scenario, tool), and by (project, tool) why one could not go on."""

    costs: defaultdict[tuple[str, str, str], list[Cost]]
    failures: dict[tuple[str, str], str]
    answers: dict[str, str]

    def medians(self) -> dict[tuple[str, str, str], Cost]:
        return {key: medians(costs) for key, costs in self.costs.items()}


def hold(name: str, tools: Sequence[type[Tool]], runs: int, venvs: Path, telemetry: Path, scratch: Path, results: Results) -> None:
    """Measure one project with each tool, `runs` times, into `results`."""
    contest = CONTESTS[name]()
    edited = projects.changed(contest.models)
    for number in range(runs):
        taking_part = [kind for kind in tools if kind.name in contest.tools and (number == 0 or kind.name not in contest.once)]
        ready = [_prepared(kind, contest.models, venvs, telemetry, scratch / name / kind.name) for kind in taking_part]
        time.sleep(_SETTLED_S)
        for scenario in contest.scenarios:
            for tool in ready:
                if scenario == CHANGED:
                    tool.write(edited)
                if scenario == APPEND:
                    append_day(telemetry, tool.root / "data")
                if scenario in tool.scenarios and (name, tool.name) not in results.failures:
                    _measure(tool, name, scenario, results)
        if APPEND in contest.scenarios:
            results.answers |= {tool.name: _answer(tool) for tool in ready if (name, tool.name) not in results.failures}
        print(f"{name}: round {number + 1} of {runs}", file=sys.stderr, flush=True)


def _prepared(kind: type[Tool], models: list[projects.Model], venvs: Path, telemetry: Path, root: Path) -> Tool:
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    copy_days(telemetry, root / "data")
    tool = kind(root, venvs)
    tool.write(models)
    return tool


def _measure(tool: Tool, project: str, scenario: str, results: Results) -> None:
    try:
        cost = run(tool.command(scenario), tool.root, tool.environment)
    except CommandFailed as error:
        results.failures[project, tool.name] = f"{scenario}: {error}"
        return
    results.costs[project, scenario, tool.name].append(cost)
    if scenario == FULL:
        tool.after_full()


def _answer(tool: Tool) -> str:
    """Counts and checksums of a fact and of what stands at the end of its marts: equal for tools that built the same. The
    sums are rounded: in which order a tool adds floats is its own affair."""
    import duckdb

    con = duckdb.connect(str(tool.database), read_only=True)
    facts = f"select count(*), max(day), round(sum(score), 2) from {tool.schema}.fct_sample"
    marts = f"select count(*), round(sum(delta), 2) from {tool.schema}.mart_regression"
    found = [con.execute(sql).fetchall()[0] for sql in (facts, marts)]
    con.close()
    return f"fct_sample {' '.join(map(str, found[0]))}; mart_regression {' '.join(map(str, found[1]))}"


def report(results: Results, absent: Mapping[str, Path]) -> str:
    """The table of medians with the targets, what could not be measured, and whether the answers were equal."""
    found = results.medians()
    lines = [f"{'project':<10} {'scenario':<8} {'tool':<13} {'CPU s':>7} {'wall s':>7} {'peak MB':>8} {'runs':>5}  targets"]
    for (project, scenario, tool), cost in sorted(found.items(), key=_place):
        asked = targets(project, scenario, found) if issubclass(TOOLS[tool], Wh) else []
        told = "; ".join(target.told(cost) for target in asked)
        count = len(results.costs[project, scenario, tool])
        lines.append(
            f"{project:<10} {scenario:<8} {tool:<13} {cost.cpu_s:>7.2f} {cost.wall_s:>7.2f} {cost.peak_mb:>8.0f} {count:>5}  {told}".rstrip()
        )
    lines += [f"{project}: {tool} failed in {message}" for (project, tool), message in results.failures.items()]
    lines += [f"{tool}: not measured, {program} is not there (environments.sh makes it)" for tool, program in absent.items()]
    if results.answers:
        equal = len(set(results.answers.values())) == 1
        lines.append("after the append all tools hold the same:" if equal else "AFTER THE APPEND THE TOOLS DIFFER:")
        lines += [f"  {tool:<13} {answer}" for tool, answer in results.answers.items()]
    return "\n".join(lines)


def _place(item: tuple[tuple[str, str, str], Cost]) -> tuple[int, int, int]:
    project, scenario, tool = item[0]
    return [*CONTESTS].index(project), (FULL, NOOP, CHANGED, APPEND).index(scenario), [*TOOLS].index(tool)


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
    parser.add_argument("--venvs", type=Path, default=REPOSITORY / ".cache" / "benchmark-venvs", help="made by environments.sh")
    parser.add_argument("--json", action="store_true", help="every single cost, as data")
    args = parser.parse_args()
    # An installed package has its bytecode; a source checkout may not, and the first start would pay for it.
    compileall.compile_dir(REPOSITORY / "warehouse", quiet=1)
    venvs = args.venvs.resolve()
    programs = {name: TOOLS[name](Path(), venvs).program for name in args.tools}
    absent = {name: program for name, program in programs.items() if not program.exists()}
    tools = [TOOLS[name] for name in args.tools if name not in absent]
    results = Results(defaultdict(list), {}, {})
    with tempfile.TemporaryDirectory() as scratch:
        telemetry = Path(scratch) / "telemetry"
        write_telemetry(telemetry, args.rows)
        for name in args.projects:
            hold(name, tools, args.runs, venvs, telemetry, Path(scratch), results)
    if args.json:
        costs = [
            {"project": project, "scenario": scenario, "tool": tool, **asdict(cost)}
            for (project, scenario, tool), found in results.costs.items() for cost in found
        ]
        failures = [{"project": project, "tool": tool, "message": text} for (project, tool), text in results.failures.items()]
        print(json.dumps({"costs": costs, "failures": failures, "absent": [*absent], "answers": results.answers}, indent=2))
        return
    print(report(results, absent))
    print(f"load average at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
