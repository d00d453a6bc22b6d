"""A description as a value: what its file says, checked when it is read. Every fault names its key and a way out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from warehouse.errors import WarehouseError, did_you_mean, printable, together
from warehouse.landing.described import units
from warehouse.landing.described.document import NAME, document_of, texts_of
from warehouse.landing.described.expressions import Expression, ExpressionError, parsed, path_of, template, value
from warehouse.landing.described.expressions import Path as ValuePath
from warehouse.landing.described.forms.numerals import Numerals
from warehouse.landing.described.forms.sources import FORMS, JSON, TEXT, Dialect, Pattern, PatternError
from warehouse.landing.described.layout import Check, Description, Layout, Metric, Moment, Records, Rows, Telemetry
from warehouse.landing.described.tables import FABRIC, FABRIC_SCOPES, FABRIC_TEXTS, HARDWARE, REQUEST, REQUEST_TEXTS, SERVING, SOFTWARE

_METRIC = re.compile(r"[A-Za-z][\w.:/%()@ -]{0,119}")
_BETTER = ("lower", "higher", "neither")
_SUMMARIES = ("median", "min", "max")
_KINDS = ("gauge", "counter", "state")
_SECTIONS = {
    "format": frozenset("name version about source sample_by files form requires extends".split()),
    "csv": frozenset("delimiter comment columns decimal thousands".split()),
    "text": frozenset({"decimal", "thousands"}),
    "run": frozenset(
        "each where group id case component component_version started_at ended_at duration_s status node cluster parameters workload "
        "software hardware source".split()
    ),
    "metric": frozenset("name each value unit unit_from stated_in better about when summary".split()),
    "telemetry": frozenset({"each", "where", "at", "labels"}),
    "series": frozenset("name each value unit stated_in when about kind".split()),
    "refuse": frozenset({"when", "reason"}),
    "check": frozenset({"stated", "of", "tolerance", "stated_in", "of_in"}),
    "requests": frozenset({"each", "when", "failed_if", "unfinished_if", "started_at", *REQUEST_TEXTS, *REQUEST}),
    "fabric": frozenset({"each", "when", "failed_if", *FABRIC_TEXTS, *FABRIC}),
}
_TOP = frozenset({*_SECTIONS, "lines", "serving", "version"})
_OF_VERSION = _TOP - {"format", "csv", "text", "lines", "version"} | {"requires"}


def read_description(path: Path, place: str | None = None, standard: Path | None = None) -> Description:
    """The description in a file; what it extends is in the folder `standard`. Raises WH121 with the key at fault, at `place`."""
    place = place or printable(str(path))
    return _described(place, *texts_of(path, place, standard))


@lru_cache(maxsize=256)  # a process loads the ingestors of its project with each ingest, check and build
def _described(place: str, own: bytes, base: bytes | None) -> Description:
    return _Reader(place, document_of(place, own, base)).description()


class _Reader:
    def __init__(self, place: str, document: Mapping[str, Any]) -> None:
        self._place, self._document = place, document
        self._found: list[tuple[str, Expression]] = []
        self._faults: list[WarehouseError] = []

    def description(self) -> Description:
        """The description. Raises WH121 with all faults that can be told apart."""
        found: Description | None = None
        with self._noted():
            found = self._whole()
        if not self._faults and found is not None:
            return found
        raise together(self._faults)

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Keeps a fault, so that what follows is checked, too."""
        try:
            yield
        except WarehouseError as fault:
            self._faults.append(fault)

    def _whole(self) -> Description:
        self._known("", self._document, _TOP)
        head = self._table("format", self._document)
        self._known("format", head, _SECTIONS["format"])
        name = str(head.get("name", ""))
        if not NAME.fullmatch(name):
            raise self._fault("format.name", "has 1 to 48 lower-case letters, digits and _, and begins with a letter")
        forms = self._texts("format.form", head.get("form", JSON))
        for form in forms:
            if form not in FORMS:
                raise self._fault("format.form", f"no form {form!r}", did_you_mean(form, FORMS) or f"one of {', '.join(FORMS)}")
        files = self._texts("format.files", head.get("files", ["*"]))
        if any("/" in each or "\\" in each or len(each) > 100 for each in files):
            raise self._fault("format.files", "a pattern is for the file's name, without folders")
        version = head.get("version", 1)
        if type(version) is not int or version < 1:
            raise self._fault("format.version", "is a whole number from 1")
        patterns = self._patterns()
        if "text" in self._document and not patterns:
            raise self._fault("text", "is for a text format; of a table, [csv] says how numbers are written")
        if (TEXT in forms) != bool(patterns):
            raise self._fault("lines", "a text format has patterns of lines in [lines], and no other form has")
        layouts = [self._layout(f"version {number}", each) for number, each in enumerate(self._overlaid(), 1)]
        if forms == [TEXT]:
            self._check_lines(patterns, layouts)
        about = str(head.get("about", ""))
        if not about:
            raise self._fault("format.about", "says in a line what writes these files")
        return Description(
            name, version, about, tuple(files), tuple(forms), self._dialect(), patterns, tuple(layouts), tuple(self._found)
        )

    def _check_lines(self, patterns: Sequence[Pattern], layouts: Sequence[Layout]) -> None:
        """That the paths of a text lead to its lines and their fields."""
        names = {pattern.name for pattern in patterns}
        fields = {name for pattern in patterns for name, _ in pattern.fields}
        of_file = all(layout.each.is_file for layout in layouts)
        for key, path in ((key, path) for key, each in self._found for path in each.paths if path.steps and path.steps[0][0] == "key"):
            is_of_file = path.start == "$" or not path.start and (key.startswith(("format.", "run.each")) or of_file and key.startswith("run."))
            known, name = names if is_of_file else {*names, *fields}, path.steps[0][1]
            if not path.start.startswith("^") and name not in known and not name.startswith("@"):
                self._faults.append(self._fault(key, f"{path.text}: no line {name!r} in [lines]", did_you_mean(name, known)))

    def _overlaid(self) -> list[Mapping[str, Any]]:
        """The document once for each version, with what the version says in place of what is said for all; or the document alone."""
        base: dict[str, Any] = {key: value for key, value in self._document.items() if key != "version"}
        versions = self._document.get("version", [])
        if not isinstance(versions, list):
            raise self._fault("version", "each version is a table [[version]]")
        found: list[Mapping[str, Any]] = []
        for number, version in enumerate(versions, 1):
            self._known(f"version {number}", version, _OF_VERSION)
            merged = dict(base)
            for key, said in version.items():
                if key == "requires":
                    merged["format"] = {**base["format"], "requires": said}
                else:
                    merged[key] = {**base.get(key, {}), **said} if isinstance(said, dict) else said
            found.append(merged)
        return found if found and "requires" not in base.get("format", {}) else [*found, base]

    def _layout(self, label: str, document: Mapping[str, Any]) -> Layout:
        run = self._table("run", document, {} if "telemetry" in document else None)
        self._known("run", run, _SECTIONS["run"])
        requires = tuple(self._expression("format.requires", each) for each in self._texts("format.requires", document["format"].get("requires", [])))
        if not requires:
            raise self._fault("format.requires", "lists what a file must have to be recognised: paths, or conditions")
        status, failed_if, reason = self._status(run.get("status"))
        serving = self._table("serving", document, {})
        metrics = []
        for number, each in enumerate(document.get("metric", []), 1):
            with self._noted():
                metrics.append(self._metric(f"metric {number}", each))
        for column, stated in serving.items():
            with self._noted():
                if column not in (*SERVING, "point"):
                    raise self._fault(f"serving.{column}", "no such column of serving_outcome_fact", did_you_mean(column, SERVING))
                metrics += [self._column(f"serving.{column}", column, stated, SERVING[column])] if column != "point" else []
        telemetry, requests = self._telemetry(document), self._rows("requests", document, REQUEST_TEXTS, REQUEST)
        fabric = self._rows("fabric", document, FABRIC_TEXTS, FABRIC)
        if not (document.get("metric") or serving or telemetry or requests or fabric):
            raise self._fault("metric", "a description states at least one [[metric]], a column of [serving], [requests], [fabric], or a [[series]]")
        texts = {key: self._value(f"run.{key}", run[key]) for key in ("component", "component_version", "node", "cluster") if key in run}
        texts |= {"case": self._template("run.case", run["case"])} if "case" in run else {}
        if "case" not in texts and (metrics or requests or fabric):
            raise self._fault("run.case", "says what is measured, whoever measured it", 'for example case = "mybench/{name}"')
        return Layout(
            label, requires, self._records("run.each", run.get("each", "$")),
            self._optional("run.where", run.get("where")),
            tuple(self._expression("run.group", each) for each in self._texts("run.group", run.get("group", []))),
            self._template("run.id", run["id"]) if "id" in run else None, texts,
            {key: self._moment(f"run.{key}", run[key]) for key in ("started_at", "ended_at") if key in run},
            self._duration(run.get("duration_s")), failed_if, reason, status, self._parameters(run.get("parameters", [])),
            self._values("run.workload", run.get("workload", {})), self._values("run.software", run.get("software", {}), SOFTWARE),
            self._values("run.hardware", run.get("hardware", {}), HARDWARE),
            self._values("run.source", run.get("source", {}), ("git_commit", "git_branch", "is_dirty", "git_remote")),
            tuple(metrics), self._template("serving.point", serving["point"]) if "point" in serving else None,
            tuple(self._refusal(number, each) for number, each in enumerate(document.get("refuse", []), 1)),
            tuple(self._check(number, each) for number, each in enumerate(document.get("check", []), 1)), telemetry,
            requests, fabric,
        )

    def _column(self, key: str, column: str, stated: Any, unit: str) -> Metric:
        """A column of a canonical table: a value, or `{ value, unit, when }`."""
        each = stated if isinstance(stated, dict) else {"value": stated}
        self._known(key, each, {"value", "unit", "when"})
        given = {"stated_in": each["unit"]} if "unit" in each else {}
        given |= {"when": each["when"]} if "when" in each else {}
        return self._metric(key, {"name": f"'{column}'", "value": each.get("value"), "unit": unit or "1", **given}, column)

    def _rows(self, key: str, document: Mapping[str, Any], texts: tuple[str, ...], numbers: Mapping[str, str]) -> Rows | None:
        if key not in document:
            return None
        stated = self._table(key, document)
        self._known(key, stated, _SECTIONS[key])
        if stated.get("scope", "'point'") not in (f"'{each}'" for each in FABRIC_SCOPES):
            raise self._fault(f"{key}.scope", f"is one of {', '.join(map(repr, FABRIC_SCOPES))}")
        found = Rows(
            self._path(f"{key}.each", stated["each"]) if "each" in stated else None, self._optional(f"{key}.when", stated.get("when")),
            {name: self._value(f"{key}.{name}", stated[name]) for name in texts if name in stated},
            tuple(self._column(f"{key}.{name}", name, stated[name], unit) for name, unit in numbers.items() if name in stated),
            tuple((name, self._expression(f"{key}.{name}_if", stated[f"{name}_if"])) for name in ("failed", "unfinished") if f"{name}_if" in stated),
            self._moment(f"{key}.started_at", stated["started_at"]) if "started_at" in stated else None,
        )
        if not found.numbers:
            raise self._fault(key, f"states at least one of {', '.join(numbers)}")
        return found

    def _records(self, key: str, stated: Any) -> Records:
        return Records(tuple(self._path(key, each) for each in self._texts(key, stated)))

    def _telemetry(self, document: Mapping[str, Any]) -> Telemetry | None:
        stated, series = self._table("telemetry", document, {}), document.get("series", [])
        if not stated and not series:
            return None
        self._known("telemetry", stated, _SECTIONS["telemetry"])
        if "at" not in stated or not series:
            raise self._fault("telemetry", "has `at`, when a sample was taken, and at least one [[series]]")
        return Telemetry(
            self._records("telemetry.each", stated.get("each", "[]")), self._optional("telemetry.where", stated.get("where")),
            self._moment("telemetry.at", stated["at"]), self._values("telemetry.labels", stated.get("labels", {})),
            tuple(self._series(f"series {number}", each) for number, each in enumerate(series, 1)),
        )

    def _series(self, key: str, stated: Any) -> Metric:
        self._known(key, stated, _SECTIONS["series"])
        kind = stated.get("kind", "gauge")
        if kind not in _KINDS:
            raise self._fault(f"{key}.kind", f"is one of {', '.join(_KINDS)}")
        return replace(self._metric(key, {name: each for name, each in stated.items() if name != "kind"}), kind=kind)

    def _metric(self, key: str, stated: Any, column: str | None = None) -> Metric:
        if not isinstance(stated, dict):
            raise self._fault(key, "is a table")
        self._known(key, stated, _SECTIONS["metric"])
        name, value = str(stated.get("name", "")), stated.get("value", "")
        named = self._expression(f"{key}.name", name) if column else self._name(f"{key}.name", name)
        unit_from = stated.get("unit_from")
        unit = units.unit_of(str(stated.get("unit", "1" if unit_from else "")))
        if unit is None:
            wrong = str(stated.get("unit", ""))
            alike = [each for each in units.UNITS if abs(len(each) - len(wrong)) < 2 <= len(each) and ("/" in each) == ("/" in wrong)]
            hint = did_you_mean(wrong, alike)
            hint = f"{hint + ' ' if hint else ''}docs/ingestors.md lists the units; '1' is a number without one"
            raise self._fault(f"{key}.unit", f"no unit {stated.get('unit', '')!r}", hint)
        by_name = units.suffix_unit(name)
        if by_name and not column and "{" not in name and units.factor(unit, by_name) is not None and units.SAME.get(unit, unit) != by_name:
            raise self._fault(f"{key}.name", f"{name} ends in {by_name}, but its unit is {unit}")
        better, summary = stated.get("better"), stated.get("summary", "median")
        for what, choice, choices in (("better", better, (*_BETTER, None)), ("summary", summary, _SUMMARIES)):
            if choice not in choices:
                raise self._fault(f"{key}.{what}", f"is one of {', '.join(filter(None, choices))}")
        stated_in = stated.get("stated_in")
        if stated_in is not None and (given := units.unit_of(str(stated_in))) is not None:
            if units.factor(given, unit) is None:
                raise self._fault(f"{key}.stated_in", f"{given} is no unit of the same quantity as {unit}")
            stated_in = f"'{given}'"
        return Metric(
            named, self._expression(f"{key}.value", value), unit, self._path(f"{key}.each", stated["each"]) if "each" in stated else None,
            self._optional(f"{key}.stated_in", stated_in), better, self._optional(f"{key}.when", stated.get("when")), summary,
            stated.get("about"), column, self._optional(f"{key}.unit_from", unit_from),
        )

    def _name(self, key: str, name: str) -> Expression:
        if "{" not in name and not _METRIC.fullmatch(name):
            raise self._fault(key, "is a metric's name, such as elapsed_s")
        return self._template(key, name)

    def _status(self, stated: Any) -> tuple[str | None, tuple[tuple[str, Expression], ...], Expression | None]:
        if stated is None:
            return None, (), None
        allowed = ("succeeded", "invalid", "failed", "interrupted", "unknown")
        if isinstance(stated, str):
            if stated not in allowed:
                raise self._fault("run.status", f"is one of {', '.join(allowed)}, or {{ failed_if = CONDITION, reason = TEXT }}")
            return stated, (), None
        self._known("run.status", stated, {*(f"{each}_if" for each in allowed), "reason", "else"})
        stated_if = [each for each in allowed[::-1] if f"{each}_if" in stated]
        conditions = tuple((each, self._expression(f"run.status.{each}_if", stated[f"{each}_if"])) for each in stated_if)
        reason = self._template("run.status.reason", stated["reason"]) if "reason" in stated else None
        return stated.get("else"), conditions, reason

    def _duration(self, stated: Any) -> Metric | None:
        each = stated if isinstance(stated, dict) else {"value": stated}
        self._known("run.duration_s", each, {"value", "unit"})
        unit = str(each.get("unit", "s"))
        if units.factor(unit, "s") is None and len(unit) < 4 and unit.isalpha():
            raise self._fault("run.duration_s.unit", f"no unit of time: {unit!r}")
        return None if each.get("value") is None else self._column("run.duration_s", "duration_s", each, "s")

    def _moment(self, key: str, stated: Any) -> Moment:
        each = stated if isinstance(stated, dict) else {"value": stated}
        self._known(key, each, {"value", "format", "unit", "zone"})
        if each.get("zone", "UTC") != "UTC":
            raise self._fault(f"{key}.zone", "only UTC can be stated: any other zone must be in the text")
        if "unit" in each and units.factor(str(each["unit"]), "s") is None:
            raise self._fault(f"{key}.unit", f"no unit of time: {each['unit']!r}")
        return Moment(self._value(key, each.get("value", "")), each.get("format"), each.get("unit"), "zone" in each)

    def _parameters(self, stated: Any) -> tuple[tuple[str | None, ValuePath | Expression], ...]:
        if isinstance(stated, dict):
            return tuple((name, self._value(f"run.parameters.{name}", each)) for name, each in stated.items())
        paths = [self._path("run.parameters", each) for each in self._texts("run.parameters", stated)]
        ends = [path.keys[-1] if path.keys else None for path in paths]
        # Of two keys of one name, as in a.size and b.size, each has its path.
        return tuple((path.text if end and ends.count(end) > 1 else None, path) for path, end in zip(paths, ends, strict=True))

    def _refusal(self, number: int, stated: Any) -> tuple[Expression, Expression]:
        self._known(f"refuse {number}", stated, _SECTIONS["refuse"])
        reason = self._template(f"refuse {number}.reason", stated.get("reason", "the format refuses it"))
        return self._expression(f"refuse {number}.when", stated.get("when", "")), reason

    def _check(self, number: int, stated: Any) -> Check:
        self._known(f"check {number}", stated, _SECTIONS["check"])
        tolerance = stated.get("tolerance", 1e-6)
        if not isinstance(tolerance, (int, float)) or not 0 <= tolerance <= 1:
            raise self._fault(f"check {number}.tolerance", "is a share from 0 to 1")
        of = self._expression(f"check {number}.of", stated.get("of", ""))
        stated_in, of_in = (self._unit_or_path(f"check {number}.{key}", stated.get(key)) for key in ("stated_in", "of_in"))
        if (stated_in is None) != (of_in is None):
            raise self._fault(f"check {number}", "states both units, stated_in and of_in, or none")
        return Check(self._expression(f"check {number}.stated", stated.get("stated", "")), of, tolerance, stated_in, of_in)

    def _unit_or_path(self, key: str, stated: Any) -> Expression | None:
        given = units.unit_of(stated) if isinstance(stated, str) else None
        return self._optional(key, f"'{given}'" if given else stated)

    def _patterns(self) -> tuple[Pattern, ...]:
        found = []
        numerals = self._numerals("text", self._table("text", self._document, {}))
        for name, stated in self._table("lines", self._document, {}).items():
            for several in stated if isinstance(stated, list) else [stated]:
                each = several if isinstance(several, dict) else {"pattern": several}
                self._known(f"lines.{name}", each, {"pattern", "after"})
                for text in self._texts(f"lines.{name}", each.get("pattern", "")):
                    pattern = Pattern(name, text, each.get("after"), numerals)
                    try:
                        pattern.regex  # noqa: B018  # a pattern that cannot be used is told at once
                    except PatternError as error:
                        raise self._fault(f"lines.{name}", str(error)) from error
                    found.append(pattern)
        names = {pattern.name for pattern in found}
        for pattern in found:
            if pattern.after is not None and pattern.after not in names:
                raise self._fault(f"lines.{pattern.name}.after", f"no pattern {pattern.after!r}", did_you_mean(pattern.after, names))
        return tuple(found)

    def _dialect(self) -> Dialect:
        stated = self._table("csv", self._document, {})
        delimiter = stated.get("delimiter", ",")
        if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter == '"':
            raise self._fault("csv.delimiter", "is one character; a blank stands for any blanks")
        numerals = self._numerals("csv", stated)
        if "decimal" in stated and numerals.decimal == delimiter:
            raise self._fault("csv.decimal", "is not the delimiter")
        return Dialect(delimiter, stated.get("comment"), tuple(self._texts("csv.columns", stated.get("columns", []))), numerals)

    def _numerals(self, key: str, stated: Mapping[str, Any]) -> Numerals:
        self._known(key, stated, _SECTIONS[key])
        decimal = stated.get("decimal", ".")
        thousands = stated.get("thousands", "." if decimal == "," else "")
        if decimal not in (".", ","):
            raise self._fault(f"{key}.decimal", 'is "." or ","')
        if thousands not in ("", ".", ",", "'", "_") or thousands == decimal:
            raise self._fault(f"{key}.thousands", """is one of "." "," "'" "_", and not the mark of a fraction""")
        return Numerals(decimal, thousands)

    def _values(self, key: str, stated: Any, allowed: Any = None) -> Mapping[str, Expression]:
        if not isinstance(stated, dict):
            raise self._fault(key, "is a table of names and values")
        for name in stated:
            if allowed is not None and name not in allowed:
                raise self._fault(f"{key}.{name}", "no such column", did_you_mean(name, allowed) or f"one of {', '.join(allowed)}")
        return {name: self._value(f"{key}.{name}", each) for name, each in stated.items()}

    def _texts(self, key: str, stated: Any) -> list[str]:
        found = [stated] if isinstance(stated, str) else stated
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise self._fault(key, "is a text or a list of texts")
        return found

    def _table(self, key: str, document: Mapping[str, Any], default: Any = None) -> Mapping[str, Any]:
        found = document.get(key, default)
        if not isinstance(found, dict):
            raise self._fault(key, f"is missing: a description has a table [{key}]" if found is None else "is a table")
        return found

    def _known(self, key: str, table: Mapping[str, Any], names: Any) -> None:
        if not isinstance(table, dict):
            raise self._fault(key, "is a table")
        for name in table:
            if name not in names:
                hint = did_you_mean(name, names) or f"one of {', '.join(sorted(names))}"
                self._faults.append(self._fault(f"{key}.{name}".lstrip("."), "no such key", hint))

    def _expression(self, key: str, stated: Any) -> Expression:
        return self._read(key, stated, parsed)

    def _template(self, key: str, stated: Any) -> Expression:
        return self._read(key, stated, template)

    def _value(self, key: str, stated: Any) -> Expression:
        return self._read(key, stated, value)

    def _optional(self, key: str, stated: Any) -> Expression | None:
        return None if stated is None else self._read(key, stated, parsed)

    def _path(self, key: str, stated: Any) -> ValuePath:
        self._expression(key, stated)
        try:
            return path_of(str(stated))
        except ExpressionError as error:
            raise self._fault(key, str(error)) from error

    def _read(self, key: str, stated: Any, read: Callable[[str], Expression]) -> Expression:
        if isinstance(stated, bool) or not isinstance(stated, (str, int, float)):
            raise self._fault(key, "is a text: a path, a condition, or 'a constant'")
        try:
            found = read(str(stated))
        except (ExpressionError, RecursionError) as error:
            raise self._fault(key, str(error)[:300], "docs/ingestors.md lists what an expression may be") from error
        self._found.append((key, found))
        return found

    def _fault(self, key: str, message: str, hint: str | None = None) -> WarehouseError:
        return WarehouseError("WH121", f"{key}: {message}", self._place, hint)
