"""Which parts of a command line and of its environment set how fast a run can be, so that runs with others are of another configuration.

What differs from run to run and sets no speed is left out: seeds, ports, hosts, names, notes, where output goes. A path of a temporary folder, a
date, an address or a UUID within a value counts as the same in all runs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

# Variables by name or prefix. What loads other code into a process (LD_PRELOAD) is not taken from a recording.
_SETTING = re.compile(
    r"(?:NCCL|RCCL|UCX|FI|CUDA|NVIDIA(?!_REQUIRE)|HIP|ROCR|OMP|KMP|GOMP|MKL|OPENBLAS|NUMEXPR|TORCH|PYTORCH|TORCHINDUCTOR|TRITON|VLLM|SGLANG|SGL|TRTLLM|"
    r"XLA|JAX|MALLOC)_\w+|PYTHONOPTIMIZE|TF_(?:XLA_FLAGS|GPU_ALLOCATOR)"
)
_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")
# By name: lower case, with "-" between its words. `--num-hosts` is a number, and `--model-url` names a model.
_HARMLESS = re.compile(
    r"(?!(?:.*-)?(?:n|num|number-of|max|min|total|model|dataset|tokenizer|checkpoint|image|config)-)(?:.*-)?(?:"
    r"seed|ports?|hosts?|hostname|hostfile|addr|address|ip|ur[il]|rdzv-endpoint|uuid|timestamp|date|tags?|labels?|notes?|comment|description|title|metadata|"
    r"(?:job|run|session|task|experiment|request|build|pipeline|trace|rdzv|comm|instance|node|pod)-?(?:id|uid|uuid|name|tag|number|prefix)|"
    r"output|out|outfile|outdir|logdir|logfile|logs?|save|verbose|nccl-debug(?:-.*)?|"
    r"(?:out|output|results?|report|logs?|logging|save|dump|artifacts?|export|profile|trace|debug|cache|tmp|temp|work|working|scratch)"
    r"(?:-(?:dir|directory|folder|file|filename|path|root|home|prefix|json|jsonl|csv|level|format|results?|detailed))+)|o"
)
_SHELLS = re.compile(r"(?:ba|da|k|z)?sh")
_PYTHON = re.compile(r"python[\d.]*")
_ASSIGNED = re.compile(r"[A-Za-z_][\w.]*(?==)")
_OF_THE_RUN = (
    re.compile(r"(?<=://)[^/\s]+"),
    re.compile(r"\b(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?\b"),
    re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"),
    re.compile(r"20\d\d-[01]\d-[0-3]\d(?:[T_ -]?[0-2]\d[:-]?[0-5]\d(?:[:-]?[0-5]\d)?(?:\.\d+)?Z?)?"),
    re.compile(r"(?<=[-_/.])20\d\d[01]\d[0-3]\d(?:[T_-]?[0-2]\d[0-5]\d(?:[0-5]\d)?)?Z?(?![\w])"),
    re.compile(r"(?<=[-_/.])1[5-9]\d{8}(?:\d{3})?(?!\w)"),  # seconds or milliseconds since 1970, in a name
    re.compile(r"(?:/var)?/tmp/[^\s,;:]*/|/dev/shm/[^\s,;:]*/"),
)
_LOOPBACK = re.compile(r"(?<![\w.])(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[?::1\]?)(?![\w.])|unix://", re.IGNORECASE)


def is_setting(name: str) -> bool:
    """Whether a variable sets how fast a command can be, wherever it runs."""
    return _SETTING.fullmatch(name) is not None


def settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that make a configuration. Which GPUs are visible is not among them (`visible_gpus`)."""
    names = [name for name in sorted(environment) if is_setting(name) and name not in _VISIBLE and not is_harmless(name)]
    return {name: _steady(environment[name]) for name in names}


def visible_gpus(environment: Mapping[str, str], of_machine: int | None) -> int | None:
    """How many GPUs the command could see: another one of the same machine is no other configuration. None where nothing tells."""
    counts = [count for count in (_count(environment[name]) for name in _VISIBLE if name in environment) if count is not None]
    if of_machine:
        counts.append(of_machine)
    return min(counts, default=None)


def options(argv: Sequence[str]) -> dict[str, str]:
    """The options of a command by name, its other arguments by their place, and its program."""
    program, *rest = argv
    name = program.rpartition("/")[2]
    if _SHELLS.fullmatch(name) and len(rest) > 1 and re.fullmatch(r"-l?c", rest[0]):
        rest = [*_words(rest[1]), *rest[2:]]
    found: dict[str, list[str]] = {"program": ["python" if _PYTHON.fullmatch(name) else name]}
    place = 0
    while rest:
        argument, *rest = rest
        option, is_given, value = argument.partition("=")
        if _is_option(argument):
            if not is_given and rest and not _is_option(rest[0]):
                value, *rest = rest
        elif not _ASSIGNED.match(argument):
            place += 1
            option, value = f"argument {place}", argument
        if not is_harmless(option):
            found.setdefault(option, []).append(_steady(value))
    return {option: " ".join(values) for option, values in found.items()}


def is_harmless(name: str) -> bool:
    """Whether an option or a variable of this name sets no speed."""
    return _HARMLESS.fullmatch(re.sub(r"[_.]", "-", name.lstrip("-")).lower()) is not None


def names_this_host(argv: Sequence[str]) -> bool:
    """Whether a command is told to talk to a server on its own host."""
    return any(_LOOPBACK.search(argument) for argument in argv)


def _is_option(argument: str) -> bool:
    return len(argument) > 1 and argument[0] == "-" and re.fullmatch(r"-\.?\d.*", argument) is None


def _words(script: str) -> list[str]:
    try:
        return shlex.split(script)
    except ValueError:  # a quote that is not closed
        return script.split()


def _steady(value: str) -> str:
    """A value without what each run has of its own."""
    for pattern in _OF_THE_RUN:
        value = pattern.sub("*", value)
    return value


def _count(devices: str) -> int | None:
    """How many devices a list shows: those before the first that is none (CUDA C++ Programming Guide, CUDA_VISIBLE_DEVICES). None: all."""
    if devices.strip().lower() == "all":
        return None
    listed = [each.strip() for each in devices.split(",")]
    none = next((place for place, each in enumerate(listed) if each in ("", "none", "void", "NoDevFiles") or each.startswith("-")), len(listed))
    return none
