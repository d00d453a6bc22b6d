"""The scorer of labelled series, by hand, and the rules of others on a step that nobody can miss."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import REPOSITORY

sys.path.append(str(REPOSITORY / "benchmarks" / "statistics"))

import labelled
import rules


def test_scores_are_those_of_the_definition() -> None:
    """Two annotators: one marks 20, the other 20 and 60. Found are 23, 24 and 90, and the beginning. Right are two of four; of the first
    annotator's marks two of two, of the second's two of three."""
    series = labelled.Labelled("a", "g", np.zeros(100), [[(15, 25)], [(15, 25), (55, 65)]])
    precision, recall, f1 = labelled.score(series, [23, 24, 90])
    assert (precision, recall) == (pytest.approx(2 / 4), pytest.approx((1 + 2 / 3) / 2))
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall))
    windows = labelled.Labelled("w", "g", np.zeros(100), [[(10, 40)]], has_windows=True)
    assert labelled.score(windows, [12, 30, 90])[:2] == (pytest.approx(2 / 3), 1.0)  # the second in the window counts for nothing
    assert labelled.score(labelled.Labelled("b", "g", np.zeros(9), [[]]), []) == (1, 1, 1)


def test_series_of_every_form_are_read(tmp_path: Path) -> None:
    documents = {
        "tcpd_a": {"name": "tcpd_a", "n_dim": 1, "series": [{"raw": [1, None, 3, 4]}], "annotations": {"6": [3], "7": []}},
        "tcpd_b": {"name": "tcpd_b", "n_dim": 2, "series": [], "annotations": {}},
        "nab_c": {"name": "nab_c", "values": [1, 2, 3], "window_indices": [[1, 2]]},
        "otava_d": {"name": "otava_d", "values": [1, 2, 3], "change_points": [2]},
    }
    for name, document in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    nab, otava, tcpd = labelled.read(tmp_path)
    assert (nab.group, nab.annotators) == ("nab", [[(1, 2)]])
    assert otava.annotators == [[(-3, 7)]]
    assert tcpd.values.tolist() == [1, 3, 4] and len(tcpd.annotators) == 2


@pytest.mark.parametrize("rule", [rules.otava, rules.perfherder, rules.asv])
def test_every_rule_finds_an_obvious_step_and_nothing_in_a_constant(rule) -> None:
    values = 100 + np.random.default_rng(1).normal(size=80)
    values[40:] += 20
    assert rule(values) == [40]
    assert rule(np.full(60, 3.0)) == []


def test_the_threshold_rule_wants_two_low_days() -> None:
    days = [np.array([100.0])] * 6
    assert not rules.hud([*days, np.array([90.0])], 0.95)
    assert rules.hud([*days, np.array([90.0]), np.array([90.0])], 0.95)
    assert not rules.hud([*days, np.array([90.0]), np.array([97.0])], 0.95)


def test_the_benchmark_of_compare_and_changes_runs_without_the_labelled_series(tmp_path: Path) -> None:
    script = [sys.executable, str(REPOSITORY / "benchmarks" / "changes" / "run.py"), "--json"]
    done = subprocess.run([*script, "--series", "4", "--only", "sessions"], capture_output=True, text=True, check=True)
    assert [json.loads(line)["is_met"] for line in done.stdout.splitlines()] == [True, None]
    done = subprocess.run([*script, "--labelled", str(tmp_path / "none"), "--only", "labelled"], capture_output=True, text=True, check=True)
    assert done.stdout == "" and "no labelled series in" in done.stderr
