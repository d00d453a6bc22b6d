"""perf_analyzer's raw export: per request the time it was sent, and each response with its time and its text.

genai-perf's time to first token is that of the first response with content; its request latency that of the last response
that is not [DONE]. The first response of a chat only names the role, the last only ends the stream: taken naively, both
times are off by some microseconds (recomputed from saved exports to the last digit).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from warehouse.landing.readers.entries import Kind, is_possible
from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.records import Flag, Record, shown
from warehouse.landing.readers.text import Data, Place, Report
from warehouse.landing.rows import Row

_LOADS = {"concurrency": Kind.CONCURRENCY, "request_rate": Kind.REQUEST_RATE}
_TIMES, _OUTPUTS = "response_timestamps", "response_outputs"


@dataclass
class Experiment:
    """One load: its mode and value as stated, its place, and the latencies of its requests in ns."""

    offset: int
    length: int = 0
    mode: str | None = None
    value: float | None = None
    requests: int = 0
    first_tokens_ns: list[int] = field(default_factory=list)
    latencies_ns: list[int] = field(default_factory=list)


def request_rows(data: Data, report: Report, experiments: list[Experiment]) -> Iterator[Row]:
    """A row for each request; `experiments` is filled on the way."""
    with JsonStream(data, report) as stream:
        for pair in stream.pairs():
            if pair.key != "experiments" or stream.kind() != "[":
                continue
            for offset in stream.elements():
                experiments.append(Experiment(offset))
                yield from _requests(stream, report, experiments)
                experiments[-1].length = stream.offset - offset
        if not experiments:
            report("no-requests", "the export has no experiments", 0, len(data), severity="error")


def _requests(stream: JsonStream, report: Report, experiments: list[Experiment]) -> Iterator[Row]:
    experiment = experiments[-1]
    has_requests = False
    for pair in stream.pairs():
        if pair.key == "experiment":
            start = stream.offset
            found = stream.value()
            flag = report.flag(Place(start, stream.offset - start))
            if isinstance(found, dict):
                record = Record(found, flag)
                experiment.mode, experiment.value = record.text("mode"), record.number("value")
                if experiment.mode in _LOADS and experiment.value is not None and not is_possible(_LOADS[experiment.mode], experiment.value):
                    flag(f"impossible-{_LOADS[experiment.mode]}", f"value: {shown(record.values['value'])}")
                    experiment.value = None
            else:
                flag("not-an-object", f"experiment: {shown(found)}")
        elif pair.key == "requests" and stream.kind() == "[":
            has_requests = True
            for offset, length, request in stream.objects():
                yield Row(offset, length, {"point_index": len(experiments) - 1, **_columns(request, experiment)})
    if not has_requests:
        start = experiment.offset
        report("no-requests", "the experiment has none", start, stream.offset - start, stream.line_number(start), "error")


def _columns(record: Record, experiment: Experiment) -> dict[str, Any]:
    times, outputs = (_list(record.values.get(key)) for key in (_TIMES, _OUTPUTS))
    if len(times) != len(outputs):
        record.flag("responses-and-times-differ", f"{len(outputs)} responses, {len(times)} times")
    count = min(len(outputs), len(times))
    first = next((index for index in range(count) if _has_content(_text(outputs[index]), record.flag)), None)
    last = next((index for index in range(count - 1, -1, -1) if not _is_end(_text(outputs[index]))), None)
    sent = record.count("timestamp")
    columns = {
        "request_index": experiment.requests,
        "timestamp_ns": sent,
        "first_content_ns": _time(record, times, first),
        "last_response_ns": _time(record, times, last) if first is not None else None,
        "response_gaps": last - first if first is not None and last is not None else None,
        **_usage([_text(output) for output in outputs[max(0, count - 3) : count]], record.flag),
    }
    experiment.requests += 1
    if sent is not None and columns["first_content_ns"] is not None and columns["last_response_ns"] is not None:
        experiment.first_tokens_ns.append(columns["first_content_ns"] - sent)
        experiment.latencies_ns.append(columns["last_response_ns"] - sent)
    return columns


def _list(value: Any) -> list[Any]:
    """An array's elements; none of anything else."""
    return value if isinstance(value, list) else []


def _time(record: Record, times: list[Any], index: int | None) -> int | None:
    return None if index is None else Record({_TIMES: times[index]}, record.flag).count(_TIMES)


def _text(output: Any) -> str:
    """A response's text; Triton's own output fields as the JSON they would be in an event."""
    if not isinstance(output, dict):
        return ""
    response = output.get("response")
    return response if isinstance(response, str) else json.dumps(output)


def _is_end(text: str) -> bool:
    return text.strip() in ("", "data: [DONE]", "data:[DONE]", "[DONE]")


def _events(text: str, flag: Flag) -> Iterator[dict[str, Any]]:
    """The JSON objects of a response, which is one document or server-sent events. A broken one is reported."""
    for line in text.splitlines() if "data:" in text else [text]:
        line = line.strip().removeprefix("data:").strip()
        if line.startswith("{"):
            try:
                found = _loaded(line)
            except (ValueError, RecursionError) as error:
                flag("malformed-event", str(error)[:200])
                continue
            if isinstance(found, dict):
                yield found


def _loaded(document: str) -> Any:
    """As `json.loads` does it, which takes what is no standard JSON, and thrice as long."""
    try:
        return msgspec.json.decode(document)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return json.loads(document)


def _has_content(text: str, flag: Flag) -> bool:
    return any(_content(event) for event in _events(text, flag))


def _content(event: dict[str, Any]) -> Any:
    """The text that an event brings, in OpenAI's formats (chat, completions, not streamed) and Triton's."""
    choices = event.get("choices")
    if isinstance(choices, list):
        choice = choices[0] if choices and isinstance(choices[0], dict) else {}
        message = choice.get("delta", choice.get("message"))
        return message.get("content") if isinstance(message, dict) else choice.get("text")
    return event.get("text_output") or event.get("output_ids")


def _usage(texts: list[str], flag: Flag) -> dict[str, int | None]:
    """The server's own count of tokens, which is in one of the last responses."""
    found: dict[str, int | None] = {"prompt_tokens": None, "completion_tokens": None}
    for text in texts:
        if '"usage"' in text:
            for event in _events(text, flag):
                usage = Record(event, flag).within("usage")
                for key in found:
                    count = usage.count(key)
                    found[key] = found[key] if count is None else count
    return found
