"""Metrics in the text of Prometheus: the exposition format 0.0.4, OpenMetrics 1.0, and native histograms as OpenMetrics 2.0 writes them.

Sources of the rules: https://prometheus.io/docs/instrumenting/exposition_formats/ and
https://prometheus.io/docs/specs/om/open_metrics_spec/. A line that breaks them is reported, and the others are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isinf, isnan, nan
from typing import NamedTuple

from warehouse.landing.readers.text import Data, Line, Piece, Report, decoded, pieces

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_BRACES = rf"\{{(?:[^\"}}]|{_QUOTED})*\}}"
# A line that is not plain: the series, the rest.
_SAMPLE = re.compile(rf"(?P<name>{_NAME})?[ \t]*(?P<labels>{_BRACES})?[ \t]*(?P<rest>.*)", re.DOTALL)
_TERM = re.compile(rf"[ \t]*(?P<name>{_NAME}|{_QUOTED})[ \t]*(?:=[ \t]*(?P<value>{_QUOTED}))?[ \t]*(?P<end>,|$)", re.DOTALL)
_REST = re.compile(
    rf"(?P<value>[^ \t#{{]\S*|\{{[^}}]*\}})(?:[ \t]+(?P<time>[^ \t#]\S*))?[ \t]*"
    rf"(?:[ \t]#[ \t]+(?P<exemplar>{_BRACES})[ \t]+(?P<exemplar_value>\S+)(?:[ \t]+(?P<exemplar_time>\S+))?)?[ \t]*",
    re.DOTALL,
)
_METADATA = re.compile(rf"#[ \t]+(?P<word>HELP|TYPE|UNIT)[ \t]+(?P<name>{_NAME}|{_QUOTED})(?:[ \t]+(?P<text>.*))?", re.DOTALL)
_TIMED = re.compile(rb"(?:\} |^[^{} ]+ )([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?) (-?\d{1,15}(?:\.\d{1,9})?)$")  # a plain value and a time
_ESCAPE = re.compile(r'\\([\\n"])')
_IN_UNIT = re.compile(r"\(in (?:units of )?([^()\s]{1,20})\)\.?\s*$")
_ITEM = re.compile(r"(\w+):(\[[^\]]*\]|[^,}\s]+)")
_SUFFIXES = {
    "counter": ("_total", "_created"), "summary": ("_count", "_sum", "_created"),
    "histogram": ("_bucket", "_count", "_sum", "_created"), "gaugehistogram": ("_bucket", "_gcount", "_gsum"), "info": ("_info",),
}


@dataclass(frozen=True)
class Metric:
    """A series: the name of its samples, its labels, and what its family states."""

    name: str
    labels: Mapping[str, str]
    metric_type: str | None  # as TYPE has it
    unit: str | None  # as UNIT has it, or the end of HELP in parentheses: (in MHz)


class Exemplar(NamedTuple):
    """One event behind a sample, such as a trace."""

    labels: Mapping[str, str]
    value: float
    timestamp_s: float | None


class Event(NamedTuple):
    """What a sample has besides a number, by its place among the `Samples`: an exemplar, or the items of a native histogram. The
    histogram's count and sum are samples, named as those of a histogram with buckets."""

    place: int
    exemplar: Exemplar | None
    histogram: Mapping[str, str] | None


@dataclass
class Samples:
    """Samples in the order of their text: the number of the series, the value, seconds since the epoch or NaN, the line's bytes."""

    keys: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def add(self, key: int, value: float, time_s: float, offset: int, length: int) -> None:
        self.keys.append(key)
        self.values.append(value)
        self.times_s.append(time_s)
        self.offsets.append(offset)
        self.lengths.append(length)


@dataclass
class Exposition:
    """The series of one target, by number, and what is known of their text. One object reads all scrapes of a target, each with `read`."""

    metrics: list[Metric] = field(default_factory=list)
    _labelled: dict[bytes, int] = field(default_factory=dict)  # by the text before the closing brace
    _bare: dict[bytes, int] = field(default_factory=dict)  # by name
    _keys: dict[tuple[str, tuple[tuple[str, str], ...]], int] = field(default_factory=dict)
    _families: dict[str, dict[str, str]] = field(default_factory=dict)
    _comments: set[bytes] = field(default_factory=set)  # that have been read

    def read(self, data: Data, report: Report) -> Iterator[Samples]:
        """The samples of a text, a piece of it at a time."""
        divisor = 1.0 if is_openmetrics(data) else 1000.0
        for piece in pieces(data, report):
            found = Samples()
            self._read(piece, divisor, found, report)
            yield found

    def _read(self, piece: Piece, divisor: float, found: Samples, report: Report) -> None:
        """Most lines are plain: a series that was seen before and a number, perhaps with a time. All in one loop, because a call for
        each line would take as long as reading it."""
        labelled, bare, comments = self._labelled, self._bare, self._comments
        keys, values, times, offsets, lengths = found.keys, found.values, found.times_s, found.offsets, found.lengths
        offset = piece.offset
        for line_number, text in enumerate(piece.data.split(b"\n"), piece.number):
            series, brace, rest = text.rpartition(b"} ")
            if brace:
                key = labelled.get(series)
            else:
                series, _, rest = text.partition(b" ")
                key = bare.get(series)
            value = None
            if key is not None and b"_" not in rest:
                try:
                    value = float(rest)
                except ValueError:
                    value = None
            if value is not None and key is not None:
                keys.append(key)
                values.append(value)
                times.append(nan)
                offsets.append(offset)
                lengths.append(len(text))
            elif text and text not in comments and not text.isspace():
                self._careful(Line(line_number, offset, text.rstrip(b"\r")), key, divisor, found, report)
            offset += len(text) + 1

    def _careful(self, line: Line, known: int | None, divisor: float, found: Samples, report: Report) -> None:
        """Read any other line. `known` is the series that its text begins with, if that was seen before."""
        if known is not None and (timed := _TIMED.search(line.data)):
            found.add(known, float(timed[1]), float(timed[2]) / divisor, line.offset, line.length)
            return
        text = decoded(line, report).strip(" \t")
        if text.startswith("#"):
            self._comments.add(line.data)
            self._metadata(text)
            return
        try:
            sample, rest = _split(text)
            labels = _labels(sample["labels"] or "{}")
            name = sample["name"] or labels.pop("__name__", "")
            if not name or "__name__" in labels:
                raise ValueError("a sample has one name")
            time = number(rest["time"]) / divisor if rest["time"] else nan
            if isinf(time) or (rest["time"] and isnan(time)):
                raise ValueError("the time is not finite")
            items = dict(_ITEM.findall(rest["value"])) if rest["value"].startswith("{") else None
            value = number(rest["value"] if items is None else items.get("count", ""))
            total = number(items.get("sum", "")) if items is not None else nan
            exemplar = _exemplar(rest) if rest["exemplar"] else None
        except ValueError as error:
            report.at("malformed-sample", str(error)[:200], line, "error")
            return
        if exemplar or items:
            found.events.append(Event(len(found.keys), exemplar, items))
        elif sample["labels"]:
            self._labelled[line.data.rpartition(b"} ")[0]] = self._key(name, labels)
        else:
            self._bare[name.encode()] = self._key(name, labels)
        if items is None:
            found.add(self._key(name, labels), value, time, line.offset, line.length)
        else:
            found.add(self._key(f"{name}_count", labels), value, time, line.offset, line.length)
            found.add(self._key(f"{name}_sum", labels), total, time, line.offset, line.length)

    def _key(self, name: str, labels: dict[str, str]) -> int:
        place = name, tuple(sorted(labels.items()))
        key = self._keys.get(place)
        if key is None:
            key = self._keys[place] = len(self.metrics)
            family = self._family(name)
            self.metrics.append(Metric(name, labels, family.get("TYPE"), family.get("UNIT") or family.get("HELP")))
        return key

    def _family(self, name: str) -> dict[str, str]:
        if name in self._families:
            return self._families[name]
        for suffix in (suffix for each in _SUFFIXES.values() for suffix in each):
            family = self._families.get(name.removesuffix(suffix)) if name.endswith(suffix) else None
            if family and suffix in _SUFFIXES.get(family.get("TYPE", ""), ()):
                return family
        return {}

    def _metadata(self, text: str) -> None:
        found = _METADATA.fullmatch(text)
        if found:
            family = self._families.setdefault(_unquoted(found["name"]), {})
            text = found["text"] or ""
            if found["word"] == "HELP":
                in_unit = _IN_UNIT.search(text)
                text = in_unit[1] if in_unit else ""
            if text:
                family[found["word"]] = text.strip()


def is_openmetrics(data: Data) -> bool:
    """Whether the text is OpenMetrics, whose last line is `# EOF`. Its times are in seconds, those of the older format in milliseconds."""
    return bytes(data[max(0, len(data) - 64) :]).rstrip().endswith(b"# EOF")


def number(text: str) -> float:
    """A value as the formats write it: also NaN, +Inf, -Inf. Raises ValueError."""
    if "_" in text:
        raise ValueError(f"not a number: {text[:80]}")
    return float(text)


def _split(text: str) -> tuple[re.Match[str], re.Match[str]]:
    sample = _SAMPLE.fullmatch(text)
    rest = _REST.fullmatch(sample["rest"]) if sample else None
    is_apart = sample is not None and (sample["labels"] is not None or text[sample.end("name") : sample.start("rest")])
    if sample is None or rest is None or not is_apart:
        raise ValueError("not a sample: a name, labels in braces, a value")
    return sample, rest


def _exemplar(rest: re.Match[str]) -> Exemplar:
    when = rest["exemplar_time"]
    return Exemplar(_labels(rest["exemplar"]), number(rest["exemplar_value"]), number(when) if when else None)


def _labels(text: str) -> dict[str, str]:
    """The labels between braces; a name in quotes by itself is the metric's."""
    labels: dict[str, str] = {}
    inside = text[1:-1].strip(" \t")
    place = 0
    while place < len(inside):
        term = _TERM.match(inside, place)
        if term is None or (term["value"] is None and not term["name"].startswith('"')):
            raise ValueError(f"not a label: {inside[place : place + 80]}")
        name, value = ("__name__", term["name"]) if term["value"] is None else (_unquoted(term["name"]), term["value"])
        if name in labels:
            raise ValueError(f"the label {name[:80]} is there twice")
        labels[name] = _unquoted(value)
        place = term.end()
    return labels


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    return _ESCAPE.sub(lambda found: "\n" if found[1] == "n" else found[1], text[1:-1])
