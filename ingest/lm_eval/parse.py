"""Turns results into landing rows, a row a metric or setting of a task.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.deployment_record import deployment_columns
from warehouse.landing.deployments import Doubt
from warehouse.landing.readers.entries import Kind, document, is_possible
from warehouse.landing.readers.json_text import Element, is_lost_number, json_entries, json_number, json_pairs, json_text
from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, Report, clean, exact_number, landed_text
from warehouse.landing.rows import RowBuffer, workload_columns

from .bundles import DEPLOYMENT, RESULTS, run_id

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DEPTH = 3
_RESULT = re.compile(r"results/(?P<task>.+)/(?P<name>[^/]+)", re.DOTALL)
_OF_TASK = re.compile(r"(?:n-shot|versions)/(?P<plain>.+)|(?:n-samples|higher_is_better)/(?P<task>.+)/[^/]+", re.DOTALL)
_OF_ALL = re.compile(
    r"config/(?:limit|num_fewshot|gen_kwargs(?:/.+)?|(?:random|numpy|torch|fewshot)_seed)"
    r"|fewshot_as_multiturn|chat_template_sha|system_instruction_sha|max_length"
)
_OF_ALL_TASKS = "lm_eval"
# What the harness repeats or made up of its own settings; arguments may hold an address, and metadata is the user's.
_NOT_LANDED = re.compile(r"(?:configs|groups|group_subtasks|task_hashes|config/(?:model_args|metadata))(?:/|\Z)")
_HOW = {"n-shot": "n_shot", "versions": "version"}  # of a task, in the workload
_NAMED_MODEL = re.compile(r"(?:^|,)\s*(?:pretrained|model)=([^,]+)")
_CONCURRENCY = re.compile(r"_conc([1-9]\d{0,8})\.json")
_TYPES = {bool: "boolean", str: "string", dict: "object", list: "array", type(None): "null"}

_Stated = Mapping[str, Element]  # by the path of its key


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    files = {file.role: file for file in bundle.manifest.files}
    raw_path, run = files[RESULTS].raw_path, run_id(files[RESULTS].sha256)
    report = Report(buffer, raw_path, run)
    data = document(bundle, raw_path, report)
    stated = {str(element.key): element for element in json_pairs(data, report, depth=_DEPTH)}
    is_measured = False
    for key, element in stated.items():
        if _NOT_LANDED.match(key):
            continue
        task, kind, is_number = _meaning(key)
        number = _number(element, report, is_number=is_number)
        is_measured |= kind == "result" and number is not None and "_stderr," not in key
        _add(buffer, raw_path, run, element, task, kind, key.removeprefix("results/") if kind == "result" else key, number)
        yield from buffer.full()
    if not is_measured:
        report("no-results", "the file states no metric of a task", 0, len(data), severity="error")
    served = _deployment(bundle, buffer, run, files[DEPLOYMENT].raw_path) if DEPLOYMENT in files else None
    named = _CONCURRENCY.search(raw_path)
    concurrency, model = int(named[1]) if named else None, served or _model(stated)
    buffer.add(
        "lm_eval_run", raw_path, 0, bundle.manifest.by_path[raw_path].bytes, run_id=run, model=model, is_measured=is_measured,
        backend=_text(stated, "model_source") or _text(stated, "config/model"), version=_text(stated, "lm_eval_version"),
        started_at=_moment(stated.get("date"), report), duration_s=_duration(stated.get("total_evaluation_time_seconds"), report),
        concurrency=concurrency, **workload_columns(_workload(stated, model, concurrency)),
    )
    yield from buffer.full()


def _meaning(key: str) -> tuple[str, str, bool]:
    """Which task a key is of, the kind of what it states, and whether that is a number."""
    if found := _RESULT.fullmatch(key):
        is_metric = "," in found["name"]
        return found["task"], "result" if is_metric else "other", is_metric or found["name"] == "sample_len"
    if found := _OF_TASK.fullmatch(key):
        return found["plain"] or found["task"], "parameter", key.startswith("n-")
    return _OF_ALL_TASKS, "parameter" if _OF_ALL.fullmatch(key) else "other", key.endswith("_seed")


def _number(element: Element, report: Report, *, is_number: bool) -> float | None:
    """Returns the number of a metric or setting. A value that is not a number is reported, unless it is null or N/A."""
    number, value = json_number(element.value), element.value
    if is_lost_number(value):
        report.at("non-finite-number", str(element.key)[:120], element, "error")
    elif is_number and number is None and not (value is None or isinstance(value, str) and value.strip().casefold() in ABSENT):
        report.at("not-a-number", f"{element.key}: {json_text(value)}"[:200], element, "error")
    return number


def _add(buffer: RowBuffer, raw_path: str, run: str, element: Element, task: str, kind: str, key: str, number: float | None) -> None:
    text = json_text(element.value)
    buffer.add(
        "lm_eval_metric", raw_path, element.offset, element.length, run_id=run, task=clean(task)[:MAX_KEY_CHARACTERS], kind=kind,
        key=clean(key)[:MAX_KEY_CHARACTERS], value_type=_TYPES.get(type(element.value), "number"),
        value_text=None if text is None else landed_text(text), value_number=number, line_number=element.line_number,
    )


def _workload(stated: _Stated, model: str | None, concurrency: int | None) -> dict[str, Any]:
    """What was asked: the model, the tasks and how. Addresses and paths are not in it."""
    tasks: dict[str, dict[str, Any]] = {}
    settings = {}
    for key, element in stated.items():
        section, _, rest = key.partition("/")
        if found := _RESULT.fullmatch(key):
            tasks.setdefault(_short(found["task"]), {})
        elif section in _HOW and rest and element.value is not None:
            tasks.setdefault(_short(rest), {})[_HOW[section]] = _plain(element.value)
        elif _OF_ALL.fullmatch(key) and element.value is not None:
            settings[key] = _plain(element.value)
    known = {"model": model, "concurrency": concurrency}
    return {"tool": "lm_eval", "tasks": tasks, **settings, **{key: value for key, value in known.items() if value is not None}}


def _plain(value: Any) -> Any:
    number = json_number(value) if not isinstance(value, str) else None
    text = json_text(value) if number is None else None
    return exact_number(number) if number is not None else None if text is None else _short(text)


def _short(text: str) -> str:
    return clean(text)[:MAX_KEY_CHARACTERS]


def _text(stated: _Stated, key: str) -> str | None:
    value = stated[key].value if key in stated else None
    return _short(value) or None if isinstance(value, str) else None


def _model(stated: _Stated) -> str | None:
    """The model's name: stated since 0.4.3, before that among the arguments."""
    for key in ("model_name", "config/model_args/pretrained", "config/model_args/model"):
        if name := _text(stated, key):
            return name
    arguments = stated["config/model_args"].value if "config/model_args" in stated else None
    named = _NAMED_MODEL.search(arguments) if isinstance(arguments, str) else None
    return _short(named[1].strip()) or None if named else None


def _moment(element: Element | None, report: Report) -> datetime | None:
    number = _possible(element, Kind.MOMENT, report)
    return None if number is None else _EPOCH + timedelta(seconds=number)


def _duration(element: Element | None, report: Report) -> float | None:
    return _possible(element, Kind.DURATION, report)


def _possible(element: Element | None, kind: Kind, report: Report) -> float | None:
    if element is None or element.value is None:
        return None
    number = json_number(element.value)
    if number is None or not is_possible(kind, number):
        report.at(f"impossible-{kind}", f"{element.key}: {json_text(element.value)}"[:200], element, "error")
        return None
    return number


def _deployment(bundle: Bundle, buffer: RowBuffer, run: str, raw_path: str) -> str | None:
    """Add the deployment; the model that it names."""
    report = Report(buffer, raw_path, run)
    data = document(bundle, raw_path, report)
    stated = {entry.key: entry for entry in json_entries(data, report, scalars_only=True)}

    def tell(doubt: Doubt) -> None:
        report(doubt.code, doubt.message, 0, len(data), severity=doubt.severity)

    buffer.add("lm_eval_deployment", raw_path, 0, len(data), run_id=run, **deployment_columns(stated, tell))
    model = stated["model"].value if "model" in stated else None
    return _short(model) or None if model else None
