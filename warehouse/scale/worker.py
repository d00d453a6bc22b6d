"""What does one task, in any process on any machine: it reads objects by digest, runs the engine on one thread, makes parts, and then the
receipt. It refuses tasks of other versions than its own, since their result would be another one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from warehouse.digest import bytes_digest, file_digest, open_file_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.durable import scratch_folder
from warehouse.evidence.objects.base import Objects, Staged, damage
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import EvidenceStore
from warehouse.scale.keys import path_id
from warehouse.scale.parsers import source_of
from warehouse.scale.task import (
    KEYS,
    MODEL,
    REJECTED,
    Fault,
    ModelWork,
    Part,
    Place,
    Receipt,
    Result,
    Task,
    TaskFailed,
    decoded,
    encoded,
    project_key,
)
from warehouse.transform.incremental.changed_keys import FILE_COLUMN
from warehouse.version import __version__

if TYPE_CHECKING:
    from warehouse.transform.build.known_project import SoundProject
    from warehouse.transform.build.material import Material
    from warehouse.transform.inputs.landing_tables import LandingTable

_GROUP_ROWS = 122_880  # of a row group, the engine's own; named, so that another version makes the same bytes
_KEYS = '"wh keys"'


def versions() -> dict[str, str]:
    """What the result of a task depends on beside its inputs."""
    from importlib.metadata import version

    from warehouse.digest import memo_digest
    from warehouse.transform.finished.builds import FORM
    from warehouse.transform.sql.duck import PINNED_SETTINGS

    settings = memo_digest("wh/settings/1", dict(PINNED_SETTINGS))
    return {"wh": __version__, "form": str(FORM), "duckdb": version("duckdb"), "pyarrow": version("pyarrow"), "settings": settings[:16]}


def run_encoded(place: Place, text: bytes) -> bytes:
    """`run` on a task as text: what the engines call."""
    task = decoded(text)
    assert isinstance(task, Task)
    return encoded(run(place, task))


def run(place: Place, task: Task) -> Result:
    """Do a task, unless its receipt is there. An error of the task is part of the result: only a process that dies is worth a retry."""
    started = time.monotonic()
    try:
        _refuse_other_versions(task)
        store = _opened(place)
        known = find_receipt(store.objects, task)
        if known:
            return known
        with scratch_folder(store.scratch) as scratch:
            made, staged = _run_models(place, store, task, scratch) if task.kind == MODEL else _parse(store, task, scratch)
            receipt = replace(made, seconds=round(time.monotonic() - started, 3))
            with store.objects.keeping():  # a part that is there already, of another task, must not go meanwhile
                store.objects.create_files(staged)
                if not receipt.damaged:
                    store.objects.create(task.receipt_key, encoded(receipt))
        return receipt
    except WarehouseError as error:
        return TaskFailed(task.digest, Fault.of(error))
    except OSError as error:
        return TaskFailed(task.digest, Fault("WH005", f"{error.strerror or error}", task.subject, None, int(ExitCode.FAILED)))


def find_receipt(objects: Objects, task: Task) -> Receipt | None:
    """The receipt of a task that was done before, by whomever."""
    try:
        found = decoded(objects.read(task.receipt_key))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise WarehouseError("WH105", "it is not a receipt", task.receipt_key, "remove it: the task is done again", ExitCode.TAMPERED) from error
    return found if isinstance(found, Receipt) and found.task == task.digest else None


def _refuse_other_versions(task: Task) -> None:
    own = versions()
    if differing := sorted(name for name in own if own[name] != task.versions.get(name)):
        told = ", ".join(f"{name} is {own[name]} here and {task.versions.get(name)} in the build" for name in differing)
        raise WarehouseError("WH252", told, task.subject, "install the same versions on the workers as on the machine that builds")


def _opened(place: Place) -> EvidenceStore:
    """The store; of one in a bucket, what is no evidence lies in a folder of this machine."""
    if place.store_url is None:
        return open_store(place)
    folder = Path(os.environ.get("WH_WORKER_FOLDER") or Path(gettempdir()) / f"wh-worker-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise WarehouseError("WH253", "the folder of this worker belongs to another user", str(folder), "name one in WH_WORKER_FOLDER")
    return open_store(replace(place, store_root=folder))


def durable_digest(path: Path) -> str:
    """Put a file's bytes on the disk; their sha256."""
    with open(path, "rb") as stream:
        digest = open_file_digest(stream)
        os.fsync(stream.fileno())
    return digest


# --- models -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2)  # the tasks of one build have the same
def _work(place: Place, sha256: str) -> "tuple[ModelWork, SoundProject]":
    import msgspec

    from warehouse.transform.build.known_project import project_of

    data = _opened(place).objects.read(project_key(sha256))
    if bytes_digest(data) != sha256:
        raise WarehouseError("WH105", "the SQL of a task does not hash to its name", project_key(sha256), "remove it", ExitCode.TAMPERED)
    work = msgspec.json.decode(data, type=ModelWork)
    return work, project_of(work.project.encode())


def _run_models(place: Place, store: EvidenceStore, task: Task, scratch: Path) -> tuple[Receipt, dict[str, Staged]]:
    import duckdb

    from warehouse.transform.build.material import Material, landing_inputs
    from warehouse.transform.build.session import Session
    from warehouse.transform.build.state import Inputs
    from warehouse.transform.inputs.landing_tables import LandingTable, LandingTables
    from warehouse.transform.sql.duck import connect, text_literal
    from warehouse.transform.sql.engine_faults import message_of

    work, sound = _work(place, task.project)
    con = connect(scratch / "partition.duckdb", files_root=scratch)
    try:
        con.execute(f"set memory_limit = '{_memory_mb()}MB'")
        con.execute(f"set temp_directory = {text_literal(str(scratch / 'spilled'))}")
        con.execute("set checkpoint_threshold = '1 TB'")
        schemas = {name: LandingTable(name, parsed_by, columns, ()) for name, (parsed_by, columns) in work.landing.items()}
        landing = LandingTables(_landing(con, store, task, schemas, scratch))
        material = Material(sound.checked, {}, sound.logic, landing, Inputs(landing_inputs(landing), {}), scratch)
        session = Session(con, material, {})
        session.run()
        receipt, staged = _Export(con, task, material, scratch).receipt(work)
        return replace(receipt, unique=tuple(sorted(session.unique & work.outputs.keys()))), staged
    except duckdb.Error as error:
        raise WarehouseError("WH209", message_of(error), task.subject, "give the workers more memory or disk") from error
    finally:
        con.close()


def _memory_mb() -> int:
    """The engine's share of a machine on which every core may have a worker."""
    pages, cores = os.sysconf("SC_PHYS_PAGES"), len(os.sched_getaffinity(0))
    return max(512, int(pages * os.sysconf("SC_PAGE_SIZE") * 0.7 / cores) >> 20)


def _landing(
    con: Any, store: EvidenceStore, task: Task, schemas: "Mapping[str, LandingTable]", scratch: Path
) -> "dict[str, LandingTable]":
    """The landing tables of a partition: the files themselves, or where they hold other bundles too, the rows of its own."""
    from warehouse.landing.parse.batches import DECIDED_TABLES, LandingFile, check_landing_file
    from warehouse.transform.inputs.landing_tables import landing_order, landing_rows
    from warehouse.transform.project.model import BUNDLE_COLUMN
    from warehouse.transform.sql.duck import quote, text_literal

    store.objects.fetch({found.key: found.sha256 for found in task.inputs})
    files: dict[str, list[LandingFile]] = {}
    for found in task.inputs:
        path = store.objects.local_copy(found.key, found.sha256)
        files.setdefault(found.table, []).append(LandingFile(found.table, path, found.sha256, found.rows))
    if task.bundles:
        con.execute("create temp table \"wh bundles\" as select unnest(?::varchar[]) as digest", [list(task.bundles)])
        for table, whole in files.items():
            if table in DECIDED_TABLES:
                continue  # only decisions on runs of the partition are in it
            for file in whole:
                check_landing_file(file)
            path, types = scratch / f"{table}.parquet", schemas[table].types
            [(rows,)] = con.execute(
                f"copy (select {', '.join(map(quote, types))} from ({landing_rows(whole)}) where {BUNDLE_COLUMN} in (from \"wh bundles\")"
                f" order by {', '.join(landing_order(types))}) to {text_literal(str(path))} (format parquet)"
            ).fetchall()
            files[table] = [LandingFile(table, path, file_digest(path), rows)] if rows else []
    return {name: replace(table, files=tuple(files.get(name, ()))) for name, table in schemas.items()}


class _Export:
    """Writes the tables of a session as parts."""

    def __init__(self, con: Any, task: Task, material: "Material", scratch: Path) -> None:
        self._con, self._task, self._material, self._scratch = con, task, material, scratch
        self._parts: list[Part] = []
        self._staged: dict[str, Staged] = {}

    def receipt(self, work: ModelWork) -> tuple[Receipt, dict[str, Staged]]:
        """Write all parts, and list them."""
        from warehouse.transform.sql.duck import quote, quoted, text_literal
        from warehouse.transform.testing.rejected_rows import STATE

        models = self._material.checked.models
        for name, output in work.outputs.items():
            table = quoted(models[name].qualified)
            self._add(models[name].qualified, f"select * from {table} order by {', '.join(map(quote, output.order))}", dict(output.columns), table)
        named = ", ".join(text_literal(models[name].qualified) for name in work.outputs)
        self._add(REJECTED, f"select * from {STATE} where table_name in ({named}) order by all")
        self._read_keys(list(work.outputs))
        self._add(KEYS, f"select * from {_KEYS} order by all")
        return Receipt(self._task.digest, tuple(self._parts)), self._staged

    def _add(self, name: str, rows: str, types: Mapping[str, str] | None = None, table: str = "") -> None:
        """Write some rows as a part, unless there are none. With `types`, they must come back from it as they are in `table`."""
        from warehouse.transform.inputs.content import ROW, row_hash
        from warehouse.transform.sql.duck import parquet, text_literal

        path = self._scratch / f"{name}.part"
        [(count,)] = self._con.execute(
            f"copy ({rows}) to {text_literal(str(path))} (format parquet, compression zstd, row_group_size {_GROUP_ROWS})"
        ).fetchall()
        if not count:
            return
        total = 0
        if types:
            total, given = (
                self._con.execute(f"select sum({row_hash(types)}) from {source} as {ROW}").fetchall()[0][0]
                for source in (parquet([path]), table)
            )
            if total != given:
                told = f"{name} has values that do not come back from Parquet"
                raise WarehouseError("WH251", told, self._task.subject, "run: wh build --engine none")
        sha256 = durable_digest(path)
        part = Part(name, sha256, path.stat().st_size, count, str(total))
        self._parts.append(part)
        self._staged[part.key] = Staged(path, part.bytes, sha256)

    def _read_keys(self, names: Sequence[str]) -> None:
        """The keys that each way from an input to a model leads to, hashed: of two partitions none may have the same."""
        from warehouse.transform.inputs.landing_tables import landing_rows
        from warehouse.transform.sql.duck import quote, quoted

        checked, landing = self._material.checked, self._material.landing.tables
        self._con.execute(f"create temp table {_KEYS} (path varchar, key ubigint)")
        done: set[str] = set()
        for name in names:
            for path in checked.key_plans[name].paths:
                number = path_id(path, checked.columns[name])
                files = landing[path.leaf].files if path.leaf in landing else ()
                if number in done or (path.leaf in landing and not files):
                    continue
                done.add(number)
                leaf = landing_rows(files) if files else f"select * from {quoted(checked.models[path.leaf].qualified)}"
                types = checked.columns[name]  # hashes depend on them
                keys = ", ".join(f"{quote(column)}::{types[column]}" for _, column in path.layers[-1])
                found = path.keys_of(f"select *, '' as {quote(FILE_COLUMN)} from ({leaf})")
                self._con.execute(f"insert into {_KEYS} select '{number}', hash({keys}) from ({found})")


# --- parsing ----------------------------------------------------------------------------------------------------


def _parse(store: EvidenceStore, task: Task, scratch: Path) -> tuple[Receipt, dict[str, Staged]]:
    from warehouse.landing.parse.batches import batch_parser
    from warehouse.landing.parse.task import Task as ParseTask
    from warehouse.landing.parse.task import run as parse
    from warehouse.landing.registry import RegisteredIngestor

    found = None
    if task.ingestor:
        source = source_of(*task.ingestor)
        found = RegisteredIngestor(source.load(), source)
    if (own := batch_parser(found)) != task.parser:
        told = f"the parser is {own} here and {task.parser} in the build"
        raise WarehouseError("WH252", told, task.subject, "install the same versions on the workers as on the machine that builds")
    manifests, damaged = {}, []
    for digest in task.bundles:
        try:
            manifests[digest] = store.manifest(digest)
        except WarehouseError as error:
            damaged.append(damage(error))
    own_store = EvidenceStore(store.objects, scratch)  # its landing folder is the task's own
    parsing = ParseTask(own_store, task.family, manifests, task.arrivals, task.parser, found.source if found else None)
    outcome = parse(parsing, found.ingestor if found else None, lambda: None)
    faults = tuple(Fault.of(error) for error in (*damaged, *outcome.damaged))
    if outcome.batch is None:
        return Receipt(task.digest, damaged=faults), {}
    parts, staged = [], {}
    for file in outcome.batch.files:
        part = Part(file.table, file.sha256, file.path.stat().st_size, file.rows)
        parts.append(part)
        staged[part.key] = Staged(file.path, part.bytes, file.sha256)
    receipt = Receipt(task.digest, tuple(parts), batch=outcome.batch.name, bundles=outcome.batch.bundles, damaged=faults)
    return receipt, staged
