"""Which parts of a command line and of its environment set how fast a run can be, so that runs with others are of another configuration.

What differs from run to run and sets no speed is left out, by the option's name: seeds, ports, names, notes, where output goes. A bare number under
a name of text (`--output 128`) is a setting all the same. Within other values the parts that a machine made up are left out: names of `mktemp`,
job numbers in paths, times of day; dates only where they are the whole value. A server on this host is the same in all runs, any other is a setting.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

# Variables by name or prefix. What loads other code into a process (LD_PRELOAD) is not taken from a recording.
_SETTING = re.compile(
    r"(?:NCCL|RCCL|UCX|FI|CUDA|NVIDIA(?!_REQUIRE)|HIP|HSA|ROCR|MIOPEN|OMP|KMP|GOMP|MKL|OPENBLAS|NUMEXPR|TORCH|PYTORCH|TORCHINDUCTOR|TRITON|VLLM|SGLANG|SGL|"
    r"TRTLLM|XLA|JAX|TF|MALLOC)_\w+|PYTHONOPTIMIZE|GOMAXPROCS|GOGC|GOMEMLIMIT|(?:RAYON|JULIA|NUMBA)_NUM_THREADS|POLARS_MAX_THREADS"
)
_LONGEST_NAME = 200
_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")
# Names are in lower case, with "-" between their words. `--num-hosts` is a number, and `--model-url` names a model.
_PREFIX = r"(?!(?:.*-)?(?:n|num|number-of|max|min|total|model|dataset|tokenizer|checkpoint|image|config)-)(?:.*-)?"
_OF_THE_RUN = re.compile(
    _PREFIX + r"(?:seed|random-state|ports?|socket|uuid|timestamp|date|trial|attempt|(?:trial|attempt|repeat|replicate)-(?:id|index|number|nr)|"
    r"(?:job|run|session|task|experiment|request|build|pipeline|trace|rdzv|comm|instance|node|pod)-?(?:id|uid|uuid)|(?:local|node)-rank|"
    r"(?:master|rdzv|coordinator|dist-init|head|leader|bind|listen|node|host)-(?:addr|address|ip|host|endpoint)|pid-?file|hostfile|"
    r"verbose|verbosity|(?:log|logging|debug)-level|nccl-debug(?:-.*)?)|"
    r"tf-(?:cpp-.*|config)|miopen-(?:enable-logging.*|user-db-path)|(?:cuda|hip)-(?:home|path|root|bin-path|toolkit-root-dir)|cuda-mps-pipe-directory"
)
_TEXT = re.compile(  # harmless, unless the value is a bare number
    _PREFIX + r"(?:labels?|notes?|comment|description|title|metadata|"
    r"(?:job|run|session|experiment|request|build|pipeline|trace|rdzv|comm|instance|node|pod)-?(?:name|tag|number|prefix)|"
    r"output|out|outfile|outdir|logdir|logfile|logs?|(?:save|write|export|dump)-to|json|csv|save|"
    r"trace-(?:dir|directory|folder|output|out|prefix|root)|"
    r"(?:out|output|results?|report|summary|benchmark|logs?|logging|save|dump|artifacts?|export|profile|debug|cache|tmp|temp|work|working|scratch)"
    r"(?:-(?:dir|directory|folder|file|filename|path|root|home|prefix|json|jsonl|csv|xml|format|results?|detailed))+)"
)
_SERVER = re.compile(r"(?:.*-)?(?:hosts?|hostname|addr|address|ip|ur[il]|endpoints?|servers?|target)")
_WHAT = re.compile(r"(?:.*-)?(?:model|dataset|tokenizer|checkpoint|ckpt|image|config|weights|adapter|lora|engine)(?:-.*)?")  # names what is measured
_DEVICE = re.compile(r"(?:.*-)?(?:gpu|device|cuda)-(?:ids?|index|indices)|(?:.*-)?device")
_CONTAINERS, _OF_A_CONTAINER = ("docker", "podman", "nerdctl"), ("name", "hostname", "cidfile")
# These may stand alone, so the word after them may be an argument.
_FLAG = re.compile(r"(?:.*-)?(?:json|csv|save|save-(?:results?|detailed))")
_FILE = re.compile(r".*(?:/|\.(?:jsonl?|csv|xml|txt|log|out|html|md|ya?ml|parquet))", re.DOTALL)
_LEVEL = re.compile(r"\d+|true|false|yes|no|on|off|debug|info|warn(?:ing)?|error", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?\d[\d.,]*(?:[kmgt]i?b?)?", re.IGNORECASE)
_SHELLS = re.compile(r"(?:ba|da|k|z)?sh")
_PYTHON = re.compile(r"python[\d.]*")
_ASSIGNED = re.compile(r"[A-Za-z_][\w.]*(?==)")
_DATE, _TIME = r"20\d\d(?:-[01]\d-|[01]\d)[0-3]\d", r"[T_ -]?[0-2]\d[:-]?[0-5]\d(?:[:-]?[0-5]\d)?(?:\.\d+)?Z?"
_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_WHOLE = re.compile(rf"{_DATE}(?:{_TIME})?|{_UUID}")
_MOMENTS = re.compile(rf"(?<!\d){_DATE}{_TIME}(?!\w)|{_UUID}|(?<=[-_/.])1[5-9]\d{{8}}(?:\d{{3}})?(?!\w)")  # the last: since 1970, in a name
_DATES = re.compile(rf"(?<!\d){_DATE}(?!\d)")
_OUTPUT_FOLDER = re.compile(r"(?:.*/)?(?:results?|out|outputs?|logs?|runs?|reports?|artifacts?)/", re.DOTALL)
_MADE_UP = (  # parts of paths
    re.compile(r"(?<=/)tmp[._-]?\w{6,}|(?<=/)pytest-\d+(?=/|$)"),
    re.compile(r"(?<=/tmp/)[\w-]{1,60}[._-](?=[A-Za-z_]{0,9}\d\w{0,9}[A-Za-z])(?:\w{6}|\w{8}|\w{10})(?=[./]|$)"),
    re.compile(r"(?<=/)(?:job|slurm|pbs)[._-]?\d+(?=/|$)|(?<=/_temp/)[^/]+|(?<=/scratch/)\d{4,}(?=/|$)|(?<=/tmp/)\d{4,}(?=/|$)|(?<=/jobs/)\d{4,}(?=/|$)"),
)
_PORT = r":(?:80|443|\d{4,5})(?!\w)"  # a shorter number is of slots, as in `mpirun --host a:4`
_PORT_OF_URL, _PORT_OF_SERVER = re.compile(rf"(?<=://)([^/\s]*?){_PORT}"), re.compile(rf"(?<=[\w\]]){_PORT}")
_LISTED_DEVICES = re.compile(r"\W?(?:device=)?\W?((?:cuda|hip|xpu|npu|mlx\d|bnxt_re|irdma|hfi1)[:_])?\d+(?:,(?:\1)?\d+)*\W?")
_LOOPBACK = re.compile(r"(?<![\w.])(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[?::1\]?)(?![\w.])|unix://", re.IGNORECASE)


def is_setting(name: str) -> bool:
    """Whether a variable sets how fast a command can be, wherever it runs."""
    return _SETTING.fullmatch(name) is not None


def settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that make a configuration. Which GPUs are visible is not among them (`visible_gpus`)."""
    names = [name for name in sorted(environment) if is_setting(name) and name not in _VISIBLE]
    return {name: _steady(_plain(name), environment[name]) for name in names if not _is_harmless(_plain(name), environment[name])}


def visible_gpus(environment: Mapping[str, str], of_machine: int | None) -> int | None:
    """How many GPUs the command could see: another one of the same machine is no other configuration. None where nothing tells."""
    counts = [count for count in (_count(environment[name]) for name in _VISIBLE if name in environment) if count is not None]
    if of_machine:
        counts.append(of_machine)
    return min(counts, default=None)


def options(argv: Sequence[str], script: str | None = None, hostname: str | None = None) -> dict[str, str]:
    """The options of a command by name, its other arguments by their place, and its program. `script`: the file whose digest is known, so that its
    folder does not matter. `hostname`: that of the machine."""
    program, *rest = argv
    name = program.rpartition("/")[2]
    if _SHELLS.fullmatch(name) and len(rest) > 1 and re.fullmatch(r"-l?c", rest[0]):
        rest = [*_words(rest[1]), *rest[2:]]
    found: dict[str, list[str]] = {"program": ["python" if _PYTHON.fullmatch(name) else name]}
    of_container = _OF_A_CONTAINER if name in _CONTAINERS else ()
    file = script.rpartition("/")[2] if script else None
    place = 0
    while rest:
        argument, *rest = rest
        option, is_given, value = argument.partition("=")
        if _is_option(argument):
            if not is_given and rest and not _is_option(rest[0]) and _takes(_plain(option), rest[0]):
                value, *rest = rest
        elif not _ASSIGNED.match(argument):
            place += 1
            option, value = f"argument {place}", file if file and argument.endswith(f"/{file}") else argument
        plain = _plain(option)
        if plain not in of_container and not _is_harmless(plain, value):
            found.setdefault(option, []).append(_steady(plain, value, hostname))
    return {option: " ".join(values) for option, values in found.items()}


def names_this_host(argv: Sequence[str]) -> bool:
    """Whether a command is told to talk to a server on its own host."""
    return any(_LOOPBACK.search(argument) for argument in argv)


def _plain(name: str) -> str:
    return re.sub(r"[_.]", "-", name.lstrip("-")[:_LONGEST_NAME]).lower()


def _is_harmless(name: str, value: str) -> bool:
    """Whether an option or a variable of this name and value sets no speed."""
    if name == "o":
        return "/" in value or "." in value
    return _OF_THE_RUN.fullmatch(name) is not None or _TEXT.fullmatch(name) is not None and _NUMBER.fullmatch(value) is None


def _takes(name: str, word: str) -> bool:
    """Whether the word after an option is its value."""
    if name in ("verbose", "v"):
        return _LEVEL.fullmatch(word) is not None
    return _FLAG.fullmatch(name) is None or _FILE.fullmatch(word) is not None


def _is_option(argument: str) -> bool:
    return len(argument) > 1 and argument[0] == "-" and re.fullmatch(r"-\.?\d.*", argument) is None


def _words(script: str) -> list[str]:
    try:
        return shlex.split(script)
    except ValueError:  # a quote that is not closed
        return script.split()


def _steady(name: str, value: str, hostname: str | None = None) -> str:
    """A value without what each run has of its own."""
    listed = _LISTED_DEVICES.fullmatch(value)
    if listed and (listed[1] or "device=" in value or _DEVICE.fullmatch(name)):
        return f"{listed[1] or ''}{value.count(',') + 1} devices"
    if _SERVER.fullmatch(name):
        value = _PORT_OF_SERVER.sub("", value)
    if _SERVER.fullmatch(name) or "://" in value:
        value = _LOOPBACK.sub("localhost", _PORT_OF_URL.sub(r"\1", value))
        if hostname:
            value = re.sub(rf"(?<![\w.-]){re.escape(hostname)}(?![\w.-])", "localhost", value)
    for pattern in _MADE_UP:
        value = pattern.sub("*", value)
    if _WHAT.fullmatch(name):
        return value
    if _WHOLE.fullmatch(value):
        return "*"
    value = _MOMENTS.sub("*", value)
    return _DATES.sub("*", value) if name.startswith("argument ") and _OUTPUT_FOLDER.match(value) else value


def _count(devices: str) -> int | None:
    """How many devices a list shows: those before the first that is none (CUDA C++ Programming Guide, CUDA_VISIBLE_DEVICES). None: all."""
    if devices.strip().lower() == "all":
        return None
    listed = [each.strip() for each in devices.split(",")]
    none = next((place for place, each in enumerate(listed) if each in ("", "none", "void", "NoDevFiles") or each.startswith("-")), len(listed))
    return none
