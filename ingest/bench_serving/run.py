"""What a run is, from all that speaks of it: its record first, then the console beside it, then the names in its path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from warehouse.landing.deployments import Doubt, Stated, stated_text
from warehouse.landing.readers.text import whole as whole_number
from warehouse.landing.rows import workload_columns
from warehouse.landing.serving.path_names import Told
from warehouse.landing.serving.session_loads import load_unit
from warehouse.landing.severity import WARNING

from .deployment import CONSOLE, NAME, RECORD, Deployment, deployment_of, first
from .formats import set_by_sweep
from .table import OVERRIDES

_PREFIXES = {
    "vllm": "vllm-bench", "sglang": "sglang-bench", "inferencex": "inferencex", "inferencex_agg": "inferencex",
    "inferencex_agentic": "inferencex", "stt": "stt-bench", "vllm_failure": "vllm-bench",
}
_RAMP = ("ramp_up_strategy", "ramp_up_start_rps", "ramp_up_end_rps")
_VLLM_DATE = re.compile(r"\d{8}-\d{6}", re.ASCII)
_HOUR = r"(?:[01]\d|2[0-3])"
_ISO_8601 = re.compile(
    rf"(?:\d{{4}}-\d\d-\d\d[T ]{_HOUR}:\d\d(?::\d\d(?:\.\d+)?)?|\d{{8}}T{_HOUR}\d{{4}})(?:Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_IMAGES = {  # by a word in the image's name
    "sglang": "sglang", "vllm": "vllm", "tensorrt-llm": "tensorrt-llm", "tensorrtllm": "tensorrt-llm", "text-generation-inference": "tgi",
    "lmdeploy": "lmdeploy",
}


def run_id(kind: str, raw_path: str, identity: str, occurrence: int) -> str:
    """The run's name: the tool, the path without its suffix, and when it was (or a substitute); from the second
    record of the same name on, which one."""
    stem = raw_path.rpartition(".")[0]
    return "/".join((_PREFIXES[kind], stem, identity)) + (f"/{occurrence}" if occurrence > 1 else "")


def identity_of(stated: Stated, sha256: str) -> str:
    """What tells a run from another of the same path. SGLang states no date: there the duration, to its last digit."""
    for key in ("date", "duration"):
        if value := stated_text(stated, key):
            return value[:64]
    return sha256[:12]


def run_columns(kind: str, stated: Stated, console: Stated, told: Told) -> tuple[dict[str, Any], Deployment]:
    """The columns of the run's row, but for its name and place; and its deployment, which is among them."""
    places: set[str] = set()
    if kind == "vllm_failure" or "run_number" in stated or any(key.startswith(OVERRIDES) for key in stated):
        stated = {**{set_by_sweep(key): entry for key, entry in stated.items()}, **stated}
    deployment = deployment_of(stated, console, told, places)
    columns = {**_load(kind, stated, console, told, places), **deployment.columns}
    columns |= {**_software(kind, stated, console, told), **_times(stated)}
    columns["configuration_stated_in"] = ", ".join(place for place in (RECORD, CONSOLE, NAME) if place in places) or None
    document = _workload_document(kind, columns, stated, console)
    if kind == "vllm_failure":
        errors = (stated_text(stated, key) for key in ("error_type", "error"))
        columns["failure"] = ": ".join(filter(None, errors)) or "unstated"
    return columns | workload_columns(document), deployment


def number(stated: Stated, *keys: str) -> float | None:
    values = (stated[key].number for key in keys if key in stated)
    return next((value for value in values if value is not None), None)


def whole(stated: Stated, *keys: str) -> int | None:
    return whole_number(number(stated, *keys))


def concurrency_doubt(kind: str, stated: Stated) -> Doubt | None:
    """What is wrong if a record states two loads."""
    found = [stated[key] for key in _concurrency_keys(kind) if _positive(whole(stated, key))]
    other = next((entry for entry in found if entry.number != found[0].number), None)
    if other is None:
        return None
    message = f"{found[0].key} is {found[0].value}, but {other.key} is {other.value}: the load is taken as unknown"
    return Doubt("load-contradicted", message, WARNING, other)


def _concurrency_keys(kind: str) -> tuple[str, ...]:
    """SGLang's `concurrency` is the mean number of requests in flight, as measured."""
    return ("max_concurrency", "conc") if kind == "sglang" else ("max_concurrency", "conc", "concurrency")


def _positive(size: int | None) -> int | None:
    return size if size is not None and size > 0 else None


def _load(kind: str, stated: Stated, console: Stated, told: Told, places: set[str]) -> dict[str, Any]:
    dataset = stated_text(stated, "dataset_name", "audio_file") or stated_text(console, "client/dataset_name")
    is_random = dataset is None or dataset.startswith("random")
    lengths = {}
    for which, short in (("input", "isl"), ("output", "osl")):
        named = (f"{which}_len", *((f"random_{which}_len",) if is_random else ()))
        lengths[f"{which}_length"] = first(
            places, record=whole(stated, *named, short), console=whole(console, *(f"client/{name}" for name in named)),
            name=getattr(told, f"{which}_length"),
        )
    concurrency = next((size for key in _concurrency_keys(kind) if (size := _positive(whole(stated, key)))), None)
    if concurrency_doubt(kind, stated):
        concurrency = None
    elif concurrency is None and "max_concurrency" not in stated:  # null: unlimited, whatever names say
        concurrency = _positive(whole(console, "client/max_concurrency")) or told.max_concurrency
    both = None not in lengths.values()
    rate = number(stated, "request_rate")
    return {
        "model": stated_text(stated, "model_id", "model", "server_info/model_path") or stated_text(console, "client/model"),
        "dataset": dataset,
        **lengths,
        "num_prompts": whole(stated, "num_prompts", "num_requests") or whole(console, "client/num_prompts") or told.num_prompts,
        "max_concurrency": concurrency,
        "request_rate_per_s": rate,
        "burstiness": number(stated, "burstiness"),
        "protocol": stated_text(stated, "endpoint_type", "backend") or stated_text(console, "client/backend"),
        "workload_point": (
            f"isl{lengths['input_length']}/osl{lengths['output_length']}" if both else dataset or stated_text(stated, "scenario_type") or "all"
        ),
        "repeat_number": told.repeat_number if told.repeat_number is not None else whole(stated, "run_number"),
    }


def _software(kind: str, stated: Stated, console: Stated, told: Told) -> dict[str, Any]:
    """The server, by its own evidence: InferenceX's `framework`, the server's state, its log or the console, its image, else names in the
    path. `backend` and `endpoint_type` are the protocol that the client spoke: SGLang answers vLLM's, and most servers OpenAI's."""
    image = stated_text(stated, "image")
    printed = [name for name in ("vllm", "sglang") if stated_text(console, f"{name}_version")]
    framework = (
        stated_text(stated, "framework")
        or ("sglang" if kind == "sglang" and stated_text(stated, "server_info/version") else None)
        or stated_text(console, "engine") or (printed[0] if len(printed) == 1 else None) or _engine_in(image) or told.framework
    )
    version = stated_text(stated, "server_info/version") or stated_text(console, f"{framework}_version")
    return {
        "framework": framework.casefold() if framework else None,
        "framework_version": version,
        "image": image,
        "driver_version": stated_text(console, "driver_version"),
        "cuda_version": stated_text(console, "cuda_version"),
        "torch_version": stated_text(console, "torch_version"),
    }


def _engine_in(image: str | None) -> str | None:
    return next((engine for word, engine in _IMAGES.items() if word in (image or "").casefold()), None)


def _times(stated: Stated) -> dict[str, Any]:
    """When a run ended, and from its duration when it began. Nothing but the text, where it is no moment. InferenceX's client
    states both since the epoch, too: then no zone is assumed."""
    date, seconds = stated_text(stated, "date"), number(stated, "duration")
    columns: dict[str, Any] = {"ended_at_text": date}
    began, ended = (number(stated, f"benchmark_{which}_time_unix") for which in ("start", "end"))
    if began and not ended and seconds is not None:
        ended = began + seconds
    with suppress(ValueError, OverflowError, OSError):
        if began and ended and 0 < began <= ended:
            moments = [datetime.fromtimestamp(since_epoch, UTC) for since_epoch in (began, ended)]
            return columns | {"started_at": moments[0], "ended_at": moments[1], "is_zone_assumed": False}
    with suppress(ValueError, OverflowError):
        moment = _moment(date or "")
        ended_at = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        columns |= {"ended_at": ended_at, "is_zone_assumed": moment.tzinfo is None}
        columns["started_at"] = ended_at - timedelta(seconds=seconds) if seconds is not None else None
    return columns


def _moment(date: str) -> datetime:
    """vLLM's date is the local time at which the run had ended; its zone is stated nowhere, and taken as UTC. Forks write ISO 8601,
    with a zone or without. Raises ValueError."""
    if _VLLM_DATE.fullmatch(date):
        return datetime.strptime(date, "%Y%m%d-%H%M%S")
    if not _ISO_8601.fullmatch(date):  # versions of Python take more or less of what else ISO 8601 has
        raise ValueError(date)
    return datetime.fromisoformat(date)


def _workload_document(kind: str, columns: Mapping[str, Any], stated: Stated, console: Stated) -> dict[str, Any]:
    """What was asked of any server. Seed, host, time and the server's own settings are not in it."""
    names = (
        "model", "dataset", "input_length", "output_length", "num_prompts", "max_concurrency", "burstiness", "protocol",
    )
    document = {name: columns[name] for name in names if columns[name] is not None}
    if precision := stated_text(stated, "precision"):  # the precision of the weights, not the server's setting
        document["precision"] = precision
    rate = columns["request_rate_per_s"]
    if written := stated_text(stated, "request_rate"):
        is_unlimited = written.casefold() in ("inf", "infinity")
        document["request_rate"] = rate if rate is not None else "inf" if is_unlimited else written  # such as trace
    if scenario := stated_text(stated, "scenario_type"):
        document["scenario"] = scenario
    document |= {"load_unit": "sessions"} if kind == "inferencex_agentic" else load_unit((key, entry.value) for key, entry in stated.items())
    if (seconds := number(stated, "audio_duration_s")) is not None:
        document["audio_duration_s"] = seconds
    # A ramp of vLLM's client comes with a rate of `inf`.
    document |= {key: written for key in _RAMP if (written := stated_text(stated, key))}
    ratio = number(stated, "random_range_ratio")
    ratio = ratio if ratio is not None else number(console, "client/random_range_ratio")
    return document if ratio is None else {**document, "random_range_ratio": ratio}
