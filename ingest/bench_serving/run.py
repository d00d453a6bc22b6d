"""What a run is, from all that speaks of it: its record first, then the console beside it, then the names in its path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from warehouse.landing.deployments import accelerator_of, accelerators_stated, accelerators_used, configuration, split_deployment
from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import Entry
from warehouse.landing.readers.text import whole as whole_number
from warehouse.landing.rows import workload_columns

from .names import Told, precision_in

Stated = Mapping[str, Entry]  # by key: of the record, or of the console

_PREFIXES = {
    "vllm": "vllm-bench", "sglang": "sglang-bench", "inferencex": "inferencex", "inferencex_agg": "inferencex",
    "inferencex_agentic": "inferencex", "stt": "stt-bench",
}
_UNKNOWN = ABSENT - {"nan"}
_RAMP = ("ramp_up_strategy", "ramp_up_start_rps", "ramp_up_end_rps")
_Value = TypeVar("_Value")
_RECORD, _CONSOLE, _NAME = "record", "console", "name"  # where a configuration is stated
_VLLM_DATE = re.compile(r"\d{8}-\d{6}", re.ASCII)
_HOUR = r"(?:[01]\d|2[0-3])"
_ISO_8601 = re.compile(
    rf"(?:\d{{4}}-\d\d-\d\d[T ]{_HOUR}:\d\d(?::\d\d(?:\.\d+)?)?|\d{{8}}T{_HOUR}\d{{4}})(?:Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_MOST_ACCELERATORS = 1 << 31
_SERVERS = frozenset({"vllm", "sglang", "tgi", "lmdeploy", "tensorrt-llm", "trt", "mii", "scalellm"})


def run_id(kind: str, raw_path: str, identity: str, occurrence: int) -> str:
    """The run's name: the tool, the path without its suffix, and when it was (or what stands for that); from the second
    record of the same name on, which one."""
    stem = raw_path.rpartition(".")[0]
    return "/".join((_PREFIXES[kind], stem, identity)) + (f"/{occurrence}" if occurrence > 1 else "")


def identity_of(stated: Stated, sha256: str) -> str:
    """What tells a run from another of the same path. SGLang states no date: there the duration, to its last digit."""
    for key in ("date", "duration"):
        if value := text(stated, key):
            return value[:64]
    return sha256[:12]


def run_columns(kind: str, stated: Stated, console: Stated, told: Told) -> dict[str, Any]:
    """The columns of the run's row, but for its name and place."""
    places: set[str] = set()
    columns = {**_load(kind, stated, console, told, places), **_deployment(stated, console, told, places)}
    columns |= {**_software(kind, stated, console, told), **_times(stated)}
    columns["configuration_stated_in"] = ", ".join(place for place in (_RECORD, _CONSOLE, _NAME) if place in places) or None
    document = _workload_document(columns, stated, console)
    return columns | workload_columns(document)


def accelerators_told(stated: Stated, told: Told) -> int | None:
    """How many accelerators the text that names them states (`8xH100`), else the names in the path."""
    return accelerators_stated(_system(stated)[1] or "") or told.accelerator_count


def text(stated: Stated, *keys: str) -> str | None:
    """The first of several keys that states something."""
    values = (stated[key].value for key in keys if key in stated)
    return next((value for value in values if value is not None and value.strip().casefold() not in _UNKNOWN), None)


def number(stated: Stated, *keys: str) -> float | None:
    values = (stated[key].number for key in keys if key in stated)
    return next((value for value in values if value is not None), None)


def whole(stated: Stated, *keys: str) -> int | None:
    return whole_number(number(stated, *keys))


def _first(places: set[str], **found: _Value | None) -> _Value | None:
    """The first of what the record, the console and the names state, and its place among `places`."""
    for place, value in found.items():
        if value is not None:
            places.add(place)
            return value
    return None


def _load(kind: str, stated: Stated, console: Stated, told: Told, places: set[str]) -> dict[str, Any]:
    dataset = text(stated, "dataset_name", "audio_file") or text(console, "client/dataset_name")
    is_random = dataset is None or dataset.startswith("random")
    lengths = {}
    for which, short in (("input", "isl"), ("output", "osl")):
        named = (f"{which}_len", *((f"random_{which}_len",) if is_random else ()))
        lengths[f"{which}_length"] = _first(
            places, record=whole(stated, *named, short), console=whole(console, *(f"client/{name}" for name in named)),
            name=getattr(told, f"{which}_length"),
        )
    concurrency = whole(stated, "max_concurrency", "conc")
    if concurrency is None and kind != "sglang":  # there it is the mean number of requests in flight, as measured
        concurrency = whole(stated, "concurrency")
    if concurrency is None and "max_concurrency" not in stated:  # null: unlimited, whatever names say
        concurrency = whole(console, "client/max_concurrency") or told.max_concurrency
    both = None not in lengths.values()
    rate = number(stated, "request_rate")
    return {
        "model": text(stated, "model_id", "model", "server_info/model_path") or text(console, "client/model"),
        "dataset": dataset,
        **lengths,
        "num_prompts": whole(stated, "num_prompts", "num_requests") or whole(console, "client/num_prompts") or told.num_prompts,
        "max_concurrency": concurrency,
        "request_rate_per_s": rate,
        "burstiness": number(stated, "burstiness"),
        "protocol": text(stated, "endpoint_type", "backend") or text(console, "client/backend"),
        "workload_point": (
            f"isl{lengths['input_length']}/osl{lengths['output_length']}" if both else dataset or text(stated, "scenario_type") or "all"
        ),
        "repeat_number": told.repeat_number if told.repeat_number is not None else whole(stated, "run_number"),
    }


def _deployment(stated: Stated, console: Stated, told: Told, places: set[str]) -> dict[str, Any]:
    sizes = {}
    for name, short in (("tensor", "tp"), ("data", "dp"), ("pipeline", "pp"), ("expert", "ep")):
        keys = _size_keys(name, short)
        sizes[f"{name}_parallel"] = _first(
            places, record=whole(stated, f"server_info/{short}_size", *keys),
            console=whole(console, *(f"{who}/{key}" for who in ("server", "engine") for key in keys)),
            name=getattr(told, f"{name}_parallel"),
        )
    key, system = _system(stated)
    accelerator = accelerator_of(system) if system and key == "hw" else system
    # With attention data-parallel inside the tensor-parallel group, the replicas add no accelerators.
    replicas = None if text(stated, "server_info/enable_dp_attention") == "true" else sizes["data_parallel"]
    multiplied = (sizes["tensor_parallel"], replicas, sizes["pipeline_parallel"], whole(stated, "pcp_size"))
    used = accelerators_used(multiplied, accelerators_told(stated, told))
    if any(size in told.contradictory and sizes[size] is None for size in ("tensor_parallel", "data_parallel", "pipeline_parallel")):
        used = None  # a size that names state twice is not the servers' default
    if impossible_sizes(stated) or impossible_sizes(console):
        used = None
        sizes |= {name: None for name in ("tensor_parallel", "data_parallel", "pipeline_parallel") if (sizes[name] or 1) < 1}
    split = [whole(stated, "num_prefill_gpu"), whole(stated, "num_decode_gpu")]
    if None not in split:
        used = sum(filter(None, split)) or told.accelerator_count
    return {
        **sizes,
        "split_deployment": split_deployment(lambda key: whole(stated, key)),
        **configuration(lambda key: stated[key].value if key in stated else None),
        "system_name": system or told.system_name,
        "accelerator": accelerator or told.accelerator,
        "accelerator_count": used,
        "decode_accelerator_count": split[1],
        "precision": _first(
            places,
            record=_precision(stated, "precision", "server_info/quantization", "quantization"),
            console=_precision(console, "server/quantization", "engine/quantization"),
            name=precision_in(text(stated, "model_id", "model") or "") or told.precision,
        ) or _first(
            # The data type of what is not quantised.
            places, record=_precision(stated, "server_info/dtype", "dtype"), console=_precision(console, "server/dtype", "engine/dtype"),
        ),
    }


def _size_keys(name: str, short: str) -> tuple[str, ...]:
    """Beside SGLang's and InferenceX's own: what a sweep, or a person by --metadata, puts into vLLM's record."""
    return f"{name}_parallel_size", f"{short}_size", short


def impossible_sizes(stated: Stated) -> list[Entry]:
    """The stated parallel sizes that are not positive whole numbers. With such a size the number of accelerators is unknown: the servers'
    default, 1, applies only to a size that is not stated."""
    kinds = (("tensor", "tp"), ("data", "dp"), ("pipeline", "pp"))
    own = [key for name, short in kinds for key in (f"server_info/{short}_size", *_size_keys(name, short))]
    keys = [*own, "pcp_size", *(f"{who}/{key}" for who in ("server", "engine") for key in own)]
    return [stated[key] for key in keys if text(stated, key) is not None and not 0 < (whole(stated, key) or 0) < _MOST_ACCELERATORS]


def _system(stated: Stated) -> tuple[str | None, str | None]:
    """The key and text that name the accelerators in a record. `"gpu": 8` is no name. A name is landed whole: what its words mean, the
    warehouse's rules tell."""
    names = ((key, text(stated, key)) for key in ("hw", "gpu", "gpu_type", "accelerator", "hardware"))
    return next(((key, name) for key, name in names if name and any(map(str.isalpha, name))), (None, None))


def _precision(stated: Stated, *keys: str) -> str | None:
    """The first of several keys that states one; `auto` leaves it to the server."""
    values = (text(stated, key) for key in keys)
    return next((value.removeprefix("torch.") for value in values if value and value.casefold() != "auto"), None)


def _software(kind: str, stated: Stated, console: Stated, told: Told) -> dict[str, Any]:
    version = text(stated, "server_info/version") or text(console, "sglang_version", "vllm_version")
    framework = text(stated, "framework") or text(stated, "backend", "endpoint_type")
    framework = framework.casefold() if framework else None
    if kind in ("vllm", "inferencex") and text(console, "vllm_version"):
        framework = "vllm"
    elif kind == "sglang" and text(stated, "server_info/version"):
        framework = "sglang"
    elif not kind.startswith("inferencex_") and framework not in _SERVERS:
        framework = told.framework  # `openai` names a protocol
    image = text(stated, "image")
    return {
        "framework": framework,
        "framework_version": version,
        "image": image,
        "driver_version": text(console, "driver_version"),
        "cuda_version": text(console, "cuda_version"),
        "torch_version": text(console, "torch_version"),
    }


def _times(stated: Stated) -> dict[str, Any]:
    """When a run ended, and from its duration when it began. Nothing but the text, where it is no moment. InferenceX's client
    states both since the epoch, too: then no zone is assumed."""
    date, seconds = text(stated, "date"), number(stated, "duration")
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


def _workload_document(columns: Mapping[str, Any], stated: Stated, console: Stated) -> dict[str, Any]:
    """What was asked of any server. Seed, host, time and the server's own settings are not in it."""
    names = (
        "model", "dataset", "input_length", "output_length", "num_prompts", "max_concurrency", "burstiness", "protocol",
    )
    document = {name: columns[name] for name in names if columns[name] is not None}
    if precision := text(stated, "precision"):  # of the model's weights; what a server was told is its own setting
        document["precision"] = precision
    rate = columns["request_rate_per_s"]
    if written := text(stated, "request_rate"):
        is_unlimited = written.casefold() in ("inf", "infinity")
        document["request_rate"] = rate if rate is not None else "inf" if is_unlimited else written  # such as trace
    if scenario := text(stated, "scenario_type"):
        document["scenario"] = scenario
    if (seconds := number(stated, "audio_duration_s")) is not None:
        document["audio_duration_s"] = seconds
    # A ramp of vLLM's client stands beside a rate of `inf`.
    document |= {key: written for key in _RAMP if (written := text(stated, key))}
    ratio = number(stated, "random_range_ratio")
    ratio = ratio if ratio is not None else number(console, "client/random_range_ratio")
    return document if ratio is None else {**document, "random_range_ratio": ratio}
