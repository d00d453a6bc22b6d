"""Tasks and receipts: the values that a build and its workers exchange. No row passes between them but through the store.

A task names all that its result follows from, each by its digest. Its receipt is created once, after every part that it lists, so
whoever finds it (a retry, a twin, the next build) need not do the work again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

from warehouse.digest import domain_digest
from warehouse.errors import ExitCode, WarehouseError

PARTS, RECEIPTS, PROJECTS = "tables", "receipts", "tasks"  # the first part of the keys of objects
REJECTED, KEYS = "rejected", "keys"  # parts of a receipt that belong to no table: rows left out, and the keys that were read
PARSE, MODEL = "parse", "model"


@dataclass(frozen=True)
class Place:
    """Where the store is, for a worker to open (`StoreLocation`). It holds no credentials: a worker has its own."""

    store_root: Path
    store_url: str | None = None
    store_endpoint: str | None = None
    store_region: str | None = None
    store_lock_days: int = 0


@dataclass(frozen=True)
class Input:
    """An object that a task reads: the rows of one landing table, as Parquet."""

    table: str
    sha256: str
    rows: int

    @property
    def key(self) -> str:
        return part_key(self.table, self.sha256)


@dataclass(frozen=True)
class Task:
    """Bundles to parse, or models to run on a partition.

    `work` is a digest of the models that are run and of their columns and order; `project` is the object that has their SQL (`ModelWork`).
    `bundles` are those whose rows count; of a model's task none where all rows of its inputs do. `arrivals` are when bundles arrived,
    `ingestor` is where the parser is loaded from: its origin, and its file or its entry point."""

    kind: str
    subject: str  # for people
    versions: Mapping[str, str]
    bundles: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()
    work: str = ""
    project: str = ""
    family: str = ""
    parser: str = ""
    ingestor: tuple[str, str] | None = None
    arrivals: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """Equal for equal work, on every machine. Neither the words for people nor where code lies are part of it."""
        return domain_digest("wh/task/1", {
            "kind": self.kind,
            "versions": dict(self.versions),
            "bundles": list(self.bundles),
            "inputs": [[found.table, found.sha256] for found in self.inputs],
            "work": self.work,
            "parser": [self.family, self.parser],
            "arrivals": dict(self.arrivals),
        })

    @property
    def receipt_key(self) -> str:
        return f"{RECEIPTS}/{self.digest[:2]}/{self.digest}.json"


@dataclass(frozen=True)
class Output:
    """A table that tasks make: the digest of its model, its columns with their types, and the columns that its rows are ordered by."""

    model: str
    columns: tuple[tuple[str, str], ...]
    order: tuple[str, ...]


@dataclass(frozen=True)
class ModelWork:
    """What all model tasks of one build do: the tables that they make, by the model's name; the landing tables (what parses each, and its
    columns: name, Arrow type, engine's type); and the models as `known_project` writes them."""

    outputs: Mapping[str, Output]
    landing: Mapping[str, tuple[str, tuple[tuple[str, str, str], ...]]]
    project: str

    @property
    def digest(self) -> str:
        """Of what decides the rows: neither words for people nor where files lie."""
        outputs = {name: [found.model, [list(column) for column in found.columns], list(found.order)] for name, found in self.outputs.items()}
        return domain_digest("wh/model-work/1", outputs)


@dataclass(frozen=True)
class Part:
    """One Parquet object: a table's rows of one partition. `hash_sum` is a whole number, of more than 64 bits, as text."""

    table: str
    sha256: str
    bytes: int
    rows: int
    hash_sum: str = "0"

    @property
    def key(self) -> str:
        return part_key(self.table, self.sha256)


@dataclass(frozen=True)
class Fault:
    """An error of a task, as text: it crosses machines."""

    code: str
    message: str
    place: str | None
    hint: str | None
    exit_code: int

    @classmethod
    def of(cls, error: WarehouseError) -> "Fault":
        return cls(error.code, error.message, error.place, error.hint, int(error.exit_code))

    def error(self) -> WarehouseError:
        return WarehouseError(self.code, self.message, self.place, self.hint, ExitCode(self.exit_code))


@dataclass(frozen=True)
class Receipt:
    """What a task made. `damaged` are the bundles that could not be parsed: such a receipt is not kept, so that they are asked for again.
    `batch` is the name of the batch that the parsed bundles make, `bundles` those that are in it; `unique` are the models whose grain was
    seen to tell their rows apart."""

    task: str
    parts: tuple[Part, ...] = ()
    seconds: float = 0.0
    batch: str = ""
    bundles: tuple[str, ...] = ()
    unique: tuple[str, ...] = ()
    damaged: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class TaskFailed:
    """A task that could not be done, and why. To run it again would fail again."""

    task: str
    fault: Fault


Result = Receipt | TaskFailed


class Executor(Protocol):
    """What runs tasks somewhere. `map` gives the results in any order, and may give one twice. A worker that dies is the executor's to
    replace; it raises WH251 when a task killed its workers again and again."""

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]: ...


def part_key(table: str, sha256: str) -> str:
    """The key of a part, there or not."""
    return f"{PARTS}/{table}/{sha256}.parquet"


def project_key(sha256: str) -> str:
    """The key of the object that holds the SQL of tasks."""
    return f"{PROJECTS}/{sha256}.json"


def encoded(value: Task | Result | Place) -> bytes:
    """A value as one line of JSON."""
    import msgspec

    return msgspec.json.encode({type(value).__name__: value}, enc_hook=str)


def decoded(text: bytes) -> Task | Result | Place:
    """What `encoded` wrote. Raises ValueError for anything else."""
    import msgspec

    kinds: dict[str, type[Task | Receipt | TaskFailed | Place]] = {kind.__name__: kind for kind in (Task, Receipt, TaskFailed, Place)}
    [(kind, document)] = msgspec.json.decode(text, type=dict[str, msgspec.Raw]).items()
    if kind not in kinds:
        raise ValueError(f"{kind} is no value of a task")
    return msgspec.json.decode(document, type=kinds[kind], dec_hook=lambda kind, text: kind(text))
