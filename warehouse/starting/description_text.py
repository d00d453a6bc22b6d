"""The text of a description for files like a sample, as `wh new ingestor` writes it. What the sample does not state is a guess, and says so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.landing.described.units import UNITS, factor, suffix_unit, unit_of
from warehouse.landing.readers.records import ABSENT
from warehouse.starting.guess import BY_HAND, MOST_REQUIRED, Guess, better_of, fault, label_unit, toml, without_unit
from warehouse.starting.lines_text import text_of_lines
from warehouse.starting.sample import SampleColumn
from warehouse.starting.table import Table, is_number, table_of

_MOST_BYTES = 64 << 20
_MOST_DEPTH = 4
_MOST_UNREAD = 20
_MOST_PERCENTILES = 24  # keys that are numbers, in one object
_VALUES = ("value", "estimate", "val", "score", "result", "measurement")
_WHOLE_NAMES = frozenset("ns us ms seconds milliseconds secs sec msec usec nsec bytes KiB MiB GiB".split())  # a key that is a unit's name
_PLAIN = re.compile(r"[A-Za-z_][\w-]*")
_PERCENTILE = re.compile(r"p?\d+(?:[._]\d+)?(?:th|%)?")
_NOTHING = ABSENT | {"-"}  # in place of a number
_RESULT = re.compile(r"(?:.*_)?(?:min|max|mean|avg|average|median|std|stddev|stdev|mdev|errors?|failures?|p\d{2,3})(?:_.*)?")  # also of whole numbers
_TIME_FORMATS = (
    "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M:%S.%f", "%a %b %d %H:%M:%S %Y", "%a, %d %b %Y %H:%M:%S %z",
    "%a %d %b %Y %H:%M:%S",
)
_NO_CONDITION = re.compile(  # names of what each run has of its own
    r"(?:.*[_ -])?(?:id|uuid|guid|time|date|timestamp|status|state|errors?|messages?|msg|comments?|notes?|logs?|output|path|files?|filename|"
    r"dir|directory|folder|url|started|ended|finished)(?:[_ -].*)?"
)
_MEASURE = re.compile(r"(?P<number>[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?)\s+(?P<unit>\S+)")
_NAMES = ("benchmark", "test_name", "test", "case", "name", "fullname", "title", "command", "query", "kernel", "run", "model", "id", "label")
_HOSTS = ("host", "hostname", "host_name", "nodename", "node_name", "node")
_COMMITS = ("git_sha", "commit", "commit_id", "commit_hash", "git_commit", "sha", "revision")
_TIMES = ("time", "date", "datetime", "timestamp", "@timestamp", "started_at", "start_time", "created_at", "ts", "run_at", "started", "began")


@dataclass
class _Leaf:
    """What a key of the records holds: its values, by a path from a record."""

    path: str
    key: str
    values: list[Any] = field(default_factory=list)

    @property
    def is_number(self) -> bool:
        return bool(self.values) and all(is_number(value) for value in self.values)

    @property
    def is_samples(self) -> bool:
        return bool(self.values) and all(isinstance(value, list) and value and all(map(is_number, value)) for value in self.values)

    @property
    def measured_in(self) -> str | None:
        """The unit of values that have each its unit, `1.155 ns`: that of the first, if all are of one quantity."""
        found = [_MEASURE.fullmatch(value.strip()) if isinstance(value, str) else None for value in self.values]
        units = [unit_of(each["unit"]) if each else None for each in found]
        first = units[0] if units else None
        return first if first and all(unit and factor(unit, first) is not None for unit in units) else None

    @property
    def unit(self) -> str | None:
        """The unit that its name ends in, or that of an object that it is in."""
        for part in [self.key, *self.path.split(".")[-2::-1]]:
            snake = re.sub(r"[^a-z0-9]+", "_", part.lower()).strip("_")
            found = SampleColumn(part, snake, "double").unit
            if found:
                return found if found in UNITS else suffix_unit(snake)
            if labelled := label_unit(part.strip('"')) or (part if part in _WHOLE_NAMES else None) and unit_of(part):
                return labelled
        return None


def _json_lines(text: str, error: ValueError, sample: Path) -> list[Any]:
    """The values of the lines of what is no JSON document, by `error`."""
    found: list[Any] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found += [json.loads(line)] if line.strip() else []
        except (ValueError, RecursionError) as broken:
            if not found:
                raise fault(f"it is not JSON: {error}", sample) from broken
            raise fault(f"line {number} is not JSON: {broken}", sample, "give a file of whole lines") from broken
    return found


def read_records(sample: Path) -> tuple[str, list[dict[str, Any]], Mapping[str, str]]:
    """The form of a file, the objects that a list of its is, or its rows, and how the cells of a CSV are written. Raises WH007."""
    form, found = _read(sample)
    if isinstance(found, Table):
        return form, list(found.rows), found.dialect
    return form, [each for each in found if isinstance(each, dict)] if isinstance(found, list) else [], {}


def description_text(name: str, samples: Sequence[Path]) -> Guess:
    """A description of files like the samples. Raises WH007 where they have no records with numbers."""
    found = [_read(sample) for sample in samples]
    forms = list(dict.fromkeys(form for form, _ in found))
    suffixes = sorted({f"*{sample.suffix}" if sample.suffix else "*" for sample in samples})
    if "text" in forms:
        if len(forms) > 1:
            place = samples[[form for form, _ in found].index("text")]
            raise fault("it is read as text, and another sample is not: a format has one form", place, "a table has equally many cells in each line")
        return text_of_lines(name, suffixes, [lines for _, lines in found], samples[0])
    dialects = [document.dialect for _, document in found if isinstance(document, Table)]
    if any(dialect != dialects[0] for dialect in dialects):
        raise fault("its cells are not separated as those of another sample are", samples[0])
    each, records, document = _records([document.rows if isinstance(document, Table) else document for _, document in found])
    leaves = _leaves(records)
    if not any(leaf.is_number or leaf.is_samples or leaf.measured_in for leaf in leaves):
        raise fault("no record in it has a number", samples[0])
    return _described(name, suffixes, forms, each, leaves, document if each not in ("[]", "$") else {}, dialects[0] if dialects else {})


def _read(sample: Path) -> tuple[str, Any]:
    try:
        if sample.stat().st_size > _MOST_BYTES:
            raise fault("it is too large to start from", sample, "give a file with its first records")
        text = sample.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise fault("it is not UTF-8", sample) from error
    except OSError as error:
        raise fault(f"cannot be read: {error.strerror}", sample, code="WH004") from error
    if not text.strip():
        raise fault("it is empty", sample)
    if text.lstrip()[:1] == "<":
        raise fault("from XML none is made", sample, f'write ingest/NAME/format.toml by hand, with form = "xml": {BY_HAND}')
    if text.lstrip()[:1] in ("{", "["):
        try:
            return "json", json.loads(text)
        except RecursionError as error:
            raise fault("it is nested too deep", sample) from error
        except ValueError as error:
            return "json lines", _json_lines(text, error, sample)
    table = table_of(text, printable(str(sample)))
    return ("csv", table) if table is not None else ("text", text.splitlines())


def _records(documents: Sequence[Any]) -> tuple[str, list[dict[str, Any]], dict[str, Any]]:
    """Where the records are, the records, and the document that they are in: the list of objects that states the most numbers."""
    best: tuple[int, str] = (-1, "$")
    for path, value in _lists(documents[0], "", 0):
        count = sum(is_number(leaf) or isinstance(leaf, list) for record in value for leaf in record.values())
        best = max(best, (count, path), key=lambda found: found[0])
    document: dict[str, Any] = documents[0] if isinstance(documents[0], dict) else {}
    if best[0] < 0 or document and sum(map(is_number, document.values())) > best[0]:
        if not document:
            raise WarehouseError("WH007", "its records are not objects", exit_code=ExitCode.USAGE)
        return "$", [each for each in documents if isinstance(each, dict)], document
    records = [record for each in documents for path, value in _lists(each, "", 0) if path == best[1] for record in value]
    return best[1], records, document


def _lists(value: Any, path: str, depth: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        yield f"{path}[]", value
    elif isinstance(value, dict) and depth < _MOST_DEPTH:
        if _are_records(value):
            yield f"{path}.*" if path else "*", [*value.values()]
        for key, each in value.items():
            yield from _lists(each, f"{path}.{_step(key)}" if path else _step(key), depth + 1)


def _are_records(value: Mapping[str, Any]) -> bool:
    """Whether the values of an object are records by name or place, as of threads: objects with the same keys, of which some have numbers."""
    values = [*value.values()]
    if len(values) < 2 or not all(isinstance(each, dict) and any(map(is_number, each.values())) for each in values):
        return False
    return len(set.intersection(*map(set, values))) * 2 >= len(set.union(*map(set, values)))


def _leaves(records: Sequence[Mapping[str, Any]]) -> list[_Leaf]:
    found: dict[str, _Leaf] = {}

    def walk(value: Mapping[str, Any], path: str, depth: int) -> None:
        for key, each in value.items():
            here = f"{path}.{_step(key)}" if path else _step(key)
            are_numbered = isinstance(each, dict) and len(each) > 1 and all(map(_PERCENTILE.fullmatch, each)) and any(map(is_number, each.values()))
            if are_numbered and len(each) > _MOST_PERCENTILES:
                continue  # a histogram
            if are_numbered:
                found.setdefault(f"{here}.*", _Leaf(f"{here}.*", key)).values += [value for value in each.values() if is_number(value)]
            elif isinstance(each, dict) and depth < _MOST_DEPTH:
                walk(each, here, depth + 1)
            elif each not in (None, "", []) and not isinstance(each, dict) and not (isinstance(each, str) and each.strip().casefold() in _NOTHING):
                found.setdefault(here, _Leaf(here, key)).values.append(each)

    for record in records:
        walk(record, "", 0)
    return list(found.values())


def _described(
    name: str, suffixes: list[str], forms: list[str], each: str, leaves: list[_Leaf], document: Mapping[str, Any], dialect: Mapping[str, str]
) -> Guess:
    above = _leaves([{key: value for key, value in document.items() if not isinstance(value, list)}]) if document else []
    texts = [leaf for leaf in leaves if not leaf.is_number and not leaf.is_samples and all(isinstance(value, (str, bool)) for value in leaf.values)]
    moment, moment_path = _moment(leaves, above)
    host, commit = (_named([*leaves, *above], names, above) for names in (_HOSTS, _COMMITS))
    texts = [leaf for leaf in texts if not leaf.measured_in]
    units = {leaf.path: leaf for leaf in texts if leaf.key.lower() in ("unit", "units") and any(unit_of(str(each)) for each in leaf.values)}
    named = [leaf for leaf in texts if leaf is not moment and leaf.path not in {*units, host, commit}]
    case = next((leaf for wanted in _NAMES for leaf in named if leaf.key.lower() == wanted), None)
    telling = [leaf for leaf in named if len(set(map(str, leaf.values))) > 1 and not _NO_CONDITION.fullmatch(leaf.key.lower())]
    case = case or next((leaf for leaf in telling if not any(map(_is_time, map(str, leaf.values)))), None)
    metrics, parameters, unread, doubtful = [], [], [], []
    for leaf in leaves:
        if leaf in (moment, case) or leaf.path in {moment_path, host, commit, *units}:
            continue
        is_result = leaf.unit or leaf.path.endswith(".*") or _RESULT.fullmatch(leaf.key.lower()) or any(not _is_whole(value) for value in leaf.values)
        if leaf.is_samples or leaf.measured_in or leaf.is_number and is_result and "version" not in leaf.key.lower():
            metrics.append(leaf)
        elif (leaf.is_number or leaf in texts and not all(map(_is_time, leaf.values))) and not _NO_CONDITION.fullmatch(leaf.key.lower()):
            # All of these, or two devices were repeats of each other.
            parameters.append(leaf)
        else:
            unread.append(leaf.path)
    if not metrics:
        metrics, parameters = [leaf for leaf in parameters if leaf.is_number], [leaf for leaf in parameters if not leaf.is_number]
    required = [leaf.path for leaf in [*([case] if case else []), *metrics] if len(leaf.values) >= 1][:MOST_REQUIRED]
    prefix, called = "" if each == "$" else f"{each}.", case.path if case else "@key" if each.endswith("*") else None
    lines = [
        "[format]", f"name = {toml(name)}", f'about = "Results of {name}"', f"files = {toml(suffixes)}",
        f"form = {toml(forms[0] if len(forms) == 1 else forms)}", "# What a file must have to be recognised.",
        f"requires = {toml([prefix + path for path in required])}", "",
        *_csv_lines(dialect), "[run]", f"each = {toml(each)}",
        "# guess: what is measured, the same in every run that repeats it", f"case = {toml(f'{name}/{{{called}}}' if called else name)}",
    ]
    if moment:
        lines += [_moment_text(moment_path, epoch_unit(moment.values), _time_format(moment.values))]
    if host:
        lines += [f"node = {toml(host)}  # guess", f"cluster = {toml(host)}  # guess: where the node belongs to"]
    if commit:
        lines += [f"source = {{ git_commit = {toml(commit)} }}"]
    if unread:
        lines += [f"# not read: {printable(', '.join(unread[:_MOST_UNREAD]))}{' and more' if len(unread) > _MOST_UNREAD else ''}"]
    if parameters:
        lines += ["# guess: what was asked for. Runs with other parameters are no repeats of each other. Is one a result? Make it a [[metric]]."]
        lines += [f"parameters = {toml([leaf.path for leaf in parameters])}"]
    for leaf in metrics:
        unit, unit_path = leaf.measured_in or leaf.unit or "1", _unit_beside(leaf, units, metrics)
        better = better_of(unit)
        name_of = _metric_name(leaf, metrics)
        lines += ["", "[[metric]]"]
        if leaf.path.endswith(".*"):  # values by percentile or code
            lines += [f"name = {toml(name_of + '_{@key}')}", f"each = {toml(leaf.path)}", 'value = "@value"']
        else:
            value = f"before({leaf.path}, ' ')" if leaf.measured_in else leaf.path
            lines += [f"name = {toml(name_of)}", f"value = {toml(value)}"]
        is_stated = leaf.measured_in or leaf.unit
        if leaf.measured_in:
            lines += [f"unit = {toml(unit)}", f"""stated_in = {toml(f"after({leaf.path}, ' ')")}"""]
        elif unit_path and not leaf.unit:
            lines += [f"unit_from = {toml(unit_path)}  # guess"]
        else:
            lines += [f"unit = {toml(unit)}" + ("" if is_stated else "  # not stated: no unit")]
        lines += [f"better = {toml(better)}  # guess"]
        if not is_stated and not unit_path:
            doubtful.append(leaf.path)
    unknown = sorted({str(each) for leaf in units.values() for each in leaf.values if not unit_of(str(each))})
    told = (f"no such unit: {printable(', '.join(unknown[:_MOST_UNREAD]))}; values in it are not read",) if unknown else ()
    return Guess("\n".join(lines) + "\n", (*without_unit(doubtful), *told))


def _unit_beside(leaf: _Leaf, units: Mapping[str, _Leaf], metrics: Sequence[_Leaf]) -> str | None:
    """The path of the unit beside a value, in the same object. Where the object has other numbers, which of them it is of is not known: the one that
    is called a value."""
    folder = leaf.path.rpartition(".")[0]
    path = next((path for path in units if path.rpartition(".")[0] == folder), None)
    same = [each for each in metrics if each.path.rpartition(".")[0] == folder]
    return path if path and (same == [leaf] or leaf.key.lower() in _VALUES) else None


def _metric_name(leaf: _Leaf, others: Sequence[_Leaf]) -> str:
    is_alone = [other.key for other in others].count(leaf.key) == 1 and leaf.unit == _Leaf("", leaf.key).unit
    plain = leaf.key if is_alone else leaf.path
    return re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_") or "value"


def _moment(leaves: list[_Leaf], above: list[_Leaf]) -> tuple[_Leaf | None, str]:
    for start, each in (("", leaves), ("$.", above)):
        for wanted in _TIMES:
            for leaf in each:
                is_time = epoch_unit(leaf.values) or all(map(_is_time, leaf.values)) or _time_format(leaf.values)
                if leaf.key.lower() == wanted and is_time:
                    return leaf, f"{start}{leaf.path}"
    return None, ""


def _moment_text(path: str, unit: str | None, written: str | None = None) -> str:
    how = f"unit = {toml(unit)}" if unit else f"format = {toml(written)}" if written else ""
    return f"started_at = {{ value = {toml(path)}, {how} }}  # guess" if how else f"started_at = {toml(path)}"


def _time_format(values: Sequence[Any]) -> str | None:
    """How times are written that are not ISO 8601, where day and month cannot be mistaken for each other."""
    return next((each for each in _TIME_FORMATS if values and all(isinstance(value, str) and _is_time(value, each) for value in values)), None)


def epoch_unit(values: Sequence[Any]) -> str | None:
    """The unit of numbers that can only be seconds, milliseconds and so on since 1970, between 2001 and 2100."""
    if not values or not all(map(is_number, values)):
        return None
    numbers = [float(value) for value in values]
    scales = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
    return next((unit for unit, scale in scales.items() if all(1e9 <= number / scale <= 4.1e9 for number in numbers)), None)


def _is_time(text: Any, written: str | None = None) -> bool:
    if not isinstance(text, str):
        return False
    try:
        datetime.strptime(text, written) if written else datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text))
    except ValueError:
        return False
    return True


def _named(leaves: list[_Leaf], names: Sequence[str], above: list[_Leaf]) -> str | None:
    found = next((leaf for wanted in names for leaf in leaves if leaf.key.lower() == wanted and isinstance(leaf.values[0], str)), None)
    return None if found is None else f"$.{found.path}" if any(found is each for each in above) else found.path


def measurements_text(
    name: str, columns: Mapping[str, str], suffix: str, form: str, dialect: Mapping[str, str], time_unit: str | None
) -> str:
    """A description of tidy records, a measurement each, by the columns that a user named: metric, value, unit, and if there are any case,
    time, host, commit and parameters (with `+` between them)."""
    path = {what: _step(column) for what, column in columns.items()}
    case = f"{name}/{{{path['case']}}}" if "case" in path else name
    metric = f"{{{path['metric']}}}"
    lines = [
        "[format]", f"name = {toml(name)}", 'about = "Measurements, one a record"', f"files = {toml(['*' + suffix] if suffix else ['*'])}",
        f"form = {toml(form)}", f"requires = {toml([f'[].{path[what]}' for what in ('metric', 'value', 'unit')])}", "",
        *_csv_lines(dialect), "[run]", 'each = "[]"', f"case = {toml(case)}",
    ]
    lines += [_moment_text(path["time"], time_unit)] if "time" in path else []
    lines += [f"node = {toml(path['host'])}", f"cluster = {toml(path['host'])}"] if "host" in path else []
    lines += [f"source = {{ git_commit = {toml(path['commit'])} }}"] if "commit" in path else []
    lines += [f"parameters = {toml([_step(each) for each in columns['parameters'].split('+')])}"] if "parameters" in columns else []
    lines += ["", "[[metric]]", f"name = {toml(metric)}", f"value = {toml(path['value'])}"]
    lines += [f"unit_from = {toml(path['unit'])}"]
    return "\n".join(lines) + "\n"


def _csv_lines(dialect: Mapping[str, str]) -> list[str]:
    return ["[csv]", *(f"{key} = {toml(mark)}" for key, mark in dialect.items()), ""] if dialect else []


def _step(key: str) -> str:
    return key if _PLAIN.fullmatch(key) and key not in ("and", "or", "not", "in", "is") else '"' + key.replace('"', "") + '"'


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) or isinstance(value, str) and value.strip().lstrip("+-").isdigit()

