"""The text format of Prometheus, version 0.0.4
(https://github.com/prometheus/docs/blob/main/docs/instrumenting/exposition_formats.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from warehouse.transform.project.hot_metrics import HotMetric

_ESCAPED = str.maketrans({"\\": "\\\\", "\n": "\\n", '"': '\\"', "\0": "\ufffd"})  # Prometheus reads a NUL as the end of the text
_ESCAPED_HELP = str.maketrans({"\\": "\\\\", "\n": "\\n", "\0": "\ufffd"})


def label_text(names: Sequence[str], values: Iterable[str | None]) -> str:
    """The labels of a series in braces; a label without a value is left out, and there are no braces without a label."""
    stated = [f'{name}="{value.translate(_ESCAPED)}"' for name, value in zip(names, values, strict=True) if value]
    return "{" + ",".join(stated) + "}" if stated else ""


def render(samples: Mapping[HotMetric, Sequence[tuple[str, float]]]) -> str:
    """The exposition of metrics, each with its samples: labels as `label_text` has them, and value. Sorted by name; a metric without a sample
    is left out."""
    lines: list[str] = []
    for metric in sorted(samples, key=lambda each: each.name):
        if samples[metric]:
            lines += (f"# HELP {metric.name} {metric.help.translate(_ESCAPED_HELP)}", f"# TYPE {metric.name} {metric.type}")
            lines += (f"{metric.name}{labels} {value!r}" for labels, value in samples[metric])
    return "".join(f"{line}\n" for line in lines)
