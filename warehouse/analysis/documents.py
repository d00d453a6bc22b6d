"""What the answers of this package are as JSON: for `--json`, and for whoever serves them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from warehouse.analysis.compare import Comparison, MetricComparison
from warehouse.analysis.explain.explanation import Explanation
from warehouse.analysis.measurements import Measurement
from warehouse.statistics.interval import Interval, NotSupported


def comparison_document(found: Comparison) -> dict[str, Any]:
    """A comparison, its metrics in the order in which they were found."""
    return {
        "base": {"asked": found.base.asked, "runs": list(found.base.run_ids), "uncounted": dict(found.base.uncounted)},
        "head": {"asked": found.head.asked, "runs": list(found.head.run_ids), "uncounted": dict(found.head.uncounted)},
        "threshold": found.threshold,
        "metrics": [_metric(each) for each in found.metrics],
        "differences": [asdict(each) for each in found.differences],
        "unmatched": {"base": found.unmatched[0], "head": found.unmatched[1]},
        "ambiguous": {"base": found.ambiguous[0], "head": found.ambiguous[1]},
        "not_finite": found.not_finite,
    }


def explanation_document(found: Explanation) -> dict[str, Any]:
    """An explanation: what changed, the causes by likelihood, and every check's answer with the rows that it looked at."""
    return {
        "run_id": found.run_id,
        "baseline": list(found.baseline),
        "chosen_by": found.chosen_by,
        "notes": list(found.notes),
        "differences": [asdict(each) for each in found.differences],
        "changes": [{**asdict(each), "ratio": each.ratio} for each in found.changes],
        "suspected": [name for name in found.playbooks() if found.is_suspected(name)],
        "causes": [each.check.name for each in found.causes()],
        "answers": [
            {
                "check": each.check.name, "playbook": each.check.playbook, "description": each.check.description,
                "is_symptom": each.check.is_symptom, "evidence": each.check.evidence, "state": each.state, "score": each.score,
                "fault": each.fault, "findings": [asdict(finding) for finding in each.findings],
            }
            for each in found.answers
        ],
    }


def interval_document(found: Interval | NotSupported) -> dict[str, Any]:
    """An interval, or what it would need."""
    return {"is_supported": isinstance(found, Interval), **asdict(found)}


def _metric(found: MetricComparison) -> dict[str, Any]:
    judged = found.judged
    return {
        "label": str(found.label), "indicator": found.indicator, "metric": found.metric, "point": found.point, "unit": found.unit,
        "better": found.better, "headline": found.headline,
        "base": _side(found.base, judged.design.base_sessions), "head": _side(found.head, judged.design.head_sessions),
        "ratio": interval_document(judged.ratio), "verdict": judged.verdict, "outcome": judged.outcome, "reason": judged.reason, "p": judged.p,
        "needs": judged.needs, "needs_level": judged.level, "least_detectable_ratio": found.finds,
        "is_paired": judged.is_paired, "order": judged.design.order, "order_note": judged.design.note,
        "is_exploratory": found.is_exploratory, "variables": list(found.variables),
        "noise": asdict(found.noise) if found.noise else None,
    }


def _side(measurements: Sequence[Measurement], sessions: int) -> dict[str, Any]:
    return {
        "runs": len({each.run_id for each in measurements}), "sessions": sessions,
        "median": median(each.value for each in measurements), "values": [each.value for each in measurements],
    }
