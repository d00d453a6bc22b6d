"""Measure what the statistics claim: coverage, false alarms, power, cost, and how the change detector does beside others' rules."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1])]

import aa
import beside
import coverage
import detection
import gate
import labelled
import rules
from figure import Figure

from warehouse.statistics.change_points import SeriesState, advance
from warehouse.statistics.splits import LEAST_BEFORE

SERIES = HERE.parents[2] / "shared" / "changepoints"
_GROUPS = {"tcpd and otava": ("tcpd", "otava"), "nab": ("nab",), "mozilla, labelled by Perfherder itself": ("mozilla",)}


def ours(values: rules.Floats) -> list[int]:
    """What a report of one series lists: changes that a series of this length without a change would show in 5 % of cases at most. What
    lasted for a few points is listed once, with its end."""
    scale = "ratio" if values.min() > 0 else "difference"
    return [
        change.index for change in detection.changes(advance(SeriesState(scale), values))
        if change.p <= 0.05 and not (change.is_return and change.points_before < LEAST_BEFORE)
    ]


RULES: Mapping[str, Callable[[rules.Floats], list[int]]] = {
    "ours": ours, "Perfherder": rules.perfherder, "asv": rules.asv, "Otava": rules.otava, "PELT": rules.pelt,
    "nothing found": lambda values: [],
}


def on_labelled(folder: Path) -> Iterator[Figure]:
    series = list(labelled.read(folder))
    for group, names in _GROUPS.items():
        scores = {
            name: np.mean([labelled.score(one, rule(one.values)) for one in series if one.group in names], axis=0)
            for name, rule in RULES.items()
        }
        rivals = ["asv", "Otava"] if names == ("mozilla",) else ["asv", "Otava", "Perfherder"]
        for name, (precision, recall, f1) in scores.items():
            text = f"{name}: F1 (precision {precision:.2f}, recall {recall:.2f})"
            yield Figure(f"labelled series, {group}", text, float(f1), low=max(float(scores[one][2]) for one in rivals) if name == "ours" else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=8000, help="samples for each coverage")
    parser.add_argument("--series", type=int, default=600, help="series for each share")
    parser.add_argument("--scan", type=int, default=6000, help="series for what is expected in a scan of 2,000")
    parser.add_argument("--labelled", type=Path, default=SERIES, help="folder of labelled series")
    parser.add_argument("--only", choices=("coverage", "gate", "aa", "detection", "beside", "kinds", "labelled"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    parts: dict[str, Callable[[], Iterator[Figure]]] = {
        "coverage": lambda: coverage.figures(options.trials),
        "gate": lambda: gate.figures(options.trials // 8),
        "aa": lambda: aa.figures(options.series),
        "detection": lambda: detection.figures(options.series, options.scan),
        "beside": lambda: beside.figures(options.series),
        "kinds": lambda: beside.of_kinds(options.series // 2),
        "labelled": lambda: on_labelled(options.labelled) if options.labelled.is_dir() else iter(()),
    }
    group = None
    for name, figures in parts.items():
        if options.only in (None, name):
            for figure in figures():
                if options.json:
                    print(json.dumps(asdict(figure) | {"is_met": figure.is_met}))
                    continue
                if figure.group != group:
                    group = figure.group
                    print(f"\n{group}")
                print("  " + figure.told(), flush=True)


if __name__ == "__main__":
    main()
