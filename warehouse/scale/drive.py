"""The side of the build: cuts its work into tasks, has an executor run those without a receipt, and hands on what the receipts list."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.digest import bytes_digest, file_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.durable import make_folder, scratch_folder
from warehouse.evidence.manifest import Manifest
from warehouse.evidence.objects.base import Staged
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.parse.batches import (
    BUNDLE_TABLE,
    DECIDED_TABLES,
    OWN_TABLES,
    Batch,
    LandingFile,
    batch_name,
    batch_parser,
    check_landing_file,
    record,
    record_path,
)
from warehouse.landing.parse.task import Outcome, bundle_bytes
from warehouse.project.project import Project
from warehouse.scale.choice import part_of_project, partitioned_models, read_by_key
from warehouse.scale.cohorts import Arrived, cohorts
from warehouse.scale.keys import kept_models, path_id
from warehouse.scale.parsers import source_name
from warehouse.scale.task import (
    KEYS,
    MODEL,
    PARSE,
    REJECTED,
    Executor,
    Input,
    ModelWork,
    Output,
    Part,
    Place,
    Receipt,
    Task,
    TaskFailed,
    part_key,
    project_key,
)
from warehouse.scale.worker import durable_digest, find_receipt, versions
from warehouse.transform.build.known_project import SoundProject, document_of
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.incremental.row_order import order_of
from warehouse.transform.inputs.landing_tables import LandingTable, LandingTables, landing_order, landing_rows
from warehouse.transform.inputs.made_elsewhere import KeyWay, MadeElsewhere, PartFile, missing
from warehouse.transform.project.model import BUNDLE_COLUMN, RUN_COLUMN

if TYPE_CHECKING:
    from warehouse.landing.registry import RegisteredIngestor
    from warehouse.transform.build.material import Material

_BATCHES_A_PARTITION = 2
_THREADS = 16  # a bucket's answers are waited for together


@dataclass(frozen=True)
class Work:
    """How much of a build's work is done: of which kind, tasks done, tasks there are, and the seconds that workers took for them."""

    kind: str
    done: int
    total: int
    found: int  # of those done, the ones that had a receipt
    seconds: float


@dataclass
class Distribution:
    """Work of a build, done by an executor (`Elsewhere`)."""

    project: Project
    executor: Executor
    on_work: Callable[[Work], None] = field(default=lambda work: None)

    def parse(
        self, store: EvidenceStore, waiting: Mapping[str, Mapping[str, Manifest]], arrivals: Mapping[str, str],
        ingestors: "Mapping[str, RegisteredIngestor]", on_bundle: Callable[[int, int], None],
    ) -> list[Outcome]:
        """Parse the waiting bundles of each family, by digest. Raises WH251, WH252."""
        known = versions()
        tasks = [
            Task(
                PARSE, f"{family} {min(some)[:12]} to {max(some)[:12]}", known, tuple(some), family=family,
                parser=batch_parser(ingestors.get(family)),
                ingestor=source_name(ingestors[family].source) if family in ingestors else None,
                arrivals={digest: arrivals[digest] for digest in some if digest in arrivals},
            )
            for family, manifests in sorted(waiting.items())
            for some in self._batches(manifests, arrivals)
        ]
        total, done, outcomes = sum(map(len, waiting.values())), 0, []
        receipts = self._receipts(store, tasks)
        for task in tasks:
            outcomes.append(landed(store, task, receipts[task.digest]))
            done += len(task.bundles)
            on_bundle(done, total)
        return outcomes

    def _batches(self, manifests: Mapping[str, Manifest], arrivals: Mapping[str, str]) -> list[tuple[str, ...]]:
        """Bundles that arrived together, so that a partition's rows lie in few landing files, and no others in these."""
        known = [Arrived(digest, arrivals.get(digest, ""), bundle_bytes(manifest)) for digest, manifest in manifests.items()]
        return cohorts(known, (), self.project.scale.part_bytes / _BATCHES_A_PARTITION)

    def tables(self, store: EvidenceStore, material: "Material") -> MadeElsewhere:
        """The tables that are local to a run or a bundle, made on partitions. Raises what a model raises, WH251, WH252."""
        models = partitioned_models(material)
        parts = cohorts(_arrived(material.landing), _links(material.landing), self.project.scale.part_bytes)
        if not models or not parts:
            return MadeElsewhere()
        tasks = _model_tasks(store, material, models, parts)
        receipts = self._receipts(store, tasks, lambda waiting: _offer(store, material.landing, waiting))
        found = [receipts[task.digest] for task in tasks]
        self._fetch(store, found)
        keys, checked = _files(store, found, KEYS), material.checked
        for part in keys:
            part.check()
        kept = kept_models(models, checked, [part.path for part in keys])
        made = MadeElsewhere(
            {name: _files(store, found, checked.models[name].qualified) for name in kept}, _files(store, found, REJECTED),
            tuple(sorted({*receipts, *(task.project for task in tasks)})), partial(_earlier, store),
            unique=frozenset(name for name in kept if _is_unique(name, checked.models[name].qualified, found)),
        )
        by_key = read_by_key(checked, kept)
        large = frozenset(
            name for name, parts in made.tables.items() if name in by_key and sum(part.bytes for part in parts) > self.project.scale.table_bytes
        )
        if not large:
            return made
        landing = {name for name in by_key if name in material.landing.tables and name not in OWN_TABLES}
        ways = [
            KeyWay(
                path_id(path, checked.columns[name]), checked.models[name].qualified, _qualified(path.leaf, checked),
                tuple(checked.models[name].key), path.leaf_columns,
            )
            for name in kept for path in checked.key_plans[name].paths if path.leaf in large | landing
        ]
        inputs = {task.digest: [(file.table, file.sha256) for file in task.inputs if file.table in landing] for task in tasks}
        return replace(made, as_parts=large, keys=keys, ways=ways, inputs=inputs)

    def _fetch(self, store: EvidenceStore, receipts: Sequence[Receipt]) -> None:
        store.objects.fetch({part.key: part.sha256 for receipt in receipts for part in receipt.parts})

    def _receipts(
        self, store: EvidenceStore, tasks: Sequence[Task], before: Callable[[Sequence[Task]], None] = lambda waiting: None
    ) -> dict[str, Receipt]:
        """A receipt for every task, by its digest. Raises the error of the first task that failed, when all others are done."""
        with ThreadPoolExecutor(_THREADS) as threads:
            known = threads.map(lambda task: find_receipt(store.objects, task), tasks)
        found = {receipt.task: receipt for receipt in known if receipt}
        there, seconds = len(found), 0.0
        waiting = [task for task in tasks if task.digest not in found]
        failed: dict[str, WarehouseError] = {}
        if not waiting and tasks:
            self.on_work(Work(tasks[0].kind, len(tasks), len(tasks), there, seconds))
        if waiting:
            before(waiting)
            self.on_work(Work(tasks[0].kind, len(found), len(tasks), there, seconds))
            for result in self.executor.map(waiting):
                if isinstance(result, TaskFailed):
                    failed[result.task] = result.fault.error()
                elif result.task not in found:  # a twin gives the same
                    found[result.task] = result
                    seconds += result.seconds
                    self.on_work(Work(tasks[0].kind, len(found), len(tasks), there, seconds))
        for task in waiting:
            if error := failed.get(task.digest):
                raise error
        if missing := [task for task in waiting if task.digest not in found]:
            raise WarehouseError("WH251", "the engine ended without a result of this task", missing[0].subject, "run: wh build --retry")
        return found


def _is_unique(name: str, table: str, receipts: Sequence[Receipt]) -> bool:
    """Whether the grain of a table was seen to tell its rows apart, in each partition: all rows of a key are in one."""
    return all(name in receipt.unique for receipt in receipts if any(part.table == table for part in receipt.parts))


def _qualified(name: str, checked: CheckedProject) -> str:
    return checked.models[name].qualified if name in checked.models else name


def place_of(project: Project) -> Place:
    """Where a worker finds the store of a project."""
    return Place(project.store_root, project.store_url, project.store_endpoint, project.store_region, project.store_lock_days)


def landed(store: EvidenceStore, task: Task, receipt: Receipt) -> Outcome:
    """The batch of a parsing task, put into the landing folder."""
    damaged = tuple(fault.error() for fault in receipt.damaged)
    if not receipt.batch:
        return Outcome(None, damaged)
    is_of_task = set(receipt.bundles) <= set(task.bundles) and receipt.batch == batch_name(task.family, task.parser, receipt.bundles)
    if not is_of_task or any("/" in part.table for part in receipt.parts):
        raise WarehouseError("WH105", "the receipt is not of its task", task.receipt_key, "remove it: the task is done again", ExitCode.TAMPERED)
    store.objects.fetch({part.key: part.sha256 for part in receipt.parts})
    files = []
    with scratch_folder(store.scratch) as scratch:
        for part in receipt.parts:
            final = store.landing / part.table / f"{receipt.batch}.parquet"
            make_folder(final.parent)
            _bring(store, part, scratch / f"{part.table}.parquet")
            os.replace(scratch / f"{part.table}.parquet", final)
            files.append(LandingFile(part.table, final, part.sha256, part.rows))
        batch = Batch(receipt.batch, task.family, task.parser, receipt.bundles, tuple(files))
        return Outcome(record(store.landing, batch, scratch), damaged)


def _bring(store: EvidenceStore, part: Part, to: Path) -> None:
    """A part under another name: the same file where the file system allows it."""
    file = _file(store, part)
    file.check()
    try:
        os.link(file.path, to)
    except OSError:
        shutil.copyfile(file.path, to)
        durable_digest(to)


def _arrived(landing: LandingTables) -> list[Arrived]:
    rows = _select(landing, BUNDLE_TABLE, f"{BUNDLE_COLUMN}, coalesce(epoch_us(arrived_at), 0), bytes")
    return [Arrived(digest, f"{time:020d}", size or 0) for digest, time, size in rows]


def _links(landing: LandingTables) -> Iterator[tuple[str, str]]:
    """Every bundle with each run that it states."""
    for name, table in landing.tables.items():
        if name not in OWN_TABLES and {BUNDLE_COLUMN, RUN_COLUMN} <= table.types.keys():
            yield from _select(landing, name, f"distinct {BUNDLE_COLUMN}, {RUN_COLUMN}", f"where {RUN_COLUMN} is not null")


def _select(landing: LandingTables, table: str, columns: str, where: str = "") -> "Iterator[Any]":
    from warehouse.transform.sql.duck import connect

    files = [file for file in landing.tables[table].files if file.rows]
    if not files:
        return
    con = connect()
    try:
        yield from con.execute(f"select {columns} from ({landing_rows(files)}) {where}").fetchall()
    finally:
        con.close()


def _model_tasks(store: EvidenceStore, material: "Material", models: Sequence[str], parts: Sequence[tuple[str, ...]]) -> list[Task]:
    checked, landing = material.checked, material.landing
    part = part_of_project(SoundProject("", checked, material.made, material.logic), models)
    read = sorted({table for name in part.checked.graph.order for table in part.checked.graph.landing[name]})
    work = ModelWork(
        {
            name: Output(
                f"{material.made[name].digest} {material.logic[name].own}", tuple(checked.columns[name].items()),
                tuple(order_of(checked.models[name], checked.columns[name])),
            )
            for name in models
        },
        {name: (table.parsed_by, table.columns) for name, table in landing.tables.items()},
        _text_of(part),
    )
    project, digest, held, known = _project_object(store, work), work.digest, _bundles_of_files(store, landing, read), versions()
    decided = _decisions(store, landing, [landing.tables[table] for table in read if table in DECIDED_TABLES], parts)
    tasks = []
    for number, bundles in enumerate(parts, 1):
        wanted = set(bundles)
        files = [(file, of) for file, of in held if not wanted.isdisjoint(of)]
        is_whole = all(wanted.issuperset(of) for _, of in files)
        tasks.append(Task(
            MODEL, f"partition {number} of {len(parts)}, bundles {bundles[0][:12]} to {bundles[-1][:12]}", known,
            () if is_whole else bundles,
            (*(Input(file.table, file.sha256, file.rows) for file, _ in files), *decided.get(number - 1, ())), digest, project,
        ))
    return tasks


def _decisions(
    store: EvidenceStore, landing: LandingTables, tables: Sequence[LandingTable], parts: Sequence[tuple[str, ...]]
) -> dict[int, list[Input]]:
    """The rows of decisions on runs, each where its run is, as objects of the store; of runs without evidence in the first partition."""
    from warehouse.transform.sql.duck import connect, quote, text_literal

    held = [(table, [file for file in table.files if file.rows]) for table in tables]
    if not any(files for _, files in held):
        return {}
    part_of = {bundle: number for number, bundles in enumerate(parts) for bundle in bundles}
    places = {run: part_of[bundle] for bundle, run in _links(landing) if bundle in part_of}
    found: dict[int, list[Input]] = {}
    with scratch_folder(store.scratch) as scratch, connect() as con:
        values = [list(places), list(places.values())]
        con.execute("create temp table place as select unnest(?::varchar[]) as run, unnest(?::integer[]) as part", values)
        for table, files in held:
            for file in files:
                check_landing_file(file)
            con.execute(
                f"create or replace temp table decided as select t.*, coalesce(place.part, 0) as part from ({landing_rows(files)}) t"
                f" left join place on place.run = t.{RUN_COLUMN}"
            )
            for (number,) in con.execute("select distinct part from decided order by part").fetchall():
                path, order = scratch / f"{table.name}-{number}", ", ".join(landing_order(table.types))
                [(rows,)] = con.execute(
                    f"copy (select {', '.join(map(quote, table.types))} from decided where part = {number} order by {order})"
                    f" to {text_literal(str(path))} (format parquet)"
                ).fetchall()
                made = Input(table.name, durable_digest(path), rows)
                store.objects.create_files({made.key: Staged(path, path.stat().st_size, made.sha256)})
                found.setdefault(number, []).append(made)
    return found


def _bundles_of_files(store: EvidenceStore, landing: LandingTables, tables: Sequence[str]) -> list[tuple[LandingFile, set[str]]]:
    """The files of landing tables, in order, each with the bundles of its batch: of the others it has no rows."""
    batch_bundles: dict[str, set[str]] = {}
    found = []
    for file in (file for table in tables if table not in OWN_TABLES for file in landing.tables[table].files if file.rows):
        name = file.path.stem
        if name not in batch_bundles:
            batch_bundles[name] = set(json.loads(record_path(store.landing, name).read_bytes())["bundles"])
        found.append((file, batch_bundles[name]))
    return found


def _text_of(part: SoundProject) -> str:
    text = document_of(part)
    if text is None:
        raise WarehouseError("WH253", "a header holds a value that a task cannot carry, such as a date", "models", "put it in quotes")
    return text.decode()


def _project_object(store: EvidenceStore, work: ModelWork) -> str:
    """The object that has the SQL of tasks; its digest."""
    import msgspec

    data = msgspec.json.encode(work)
    digest = bytes_digest(data)
    if not store.objects.exists(project_key(digest)):
        store.objects.create(project_key(digest), data)
    return digest


def _offer(store: EvidenceStore, landing: LandingTables, tasks: Sequence[Task]) -> None:
    """Put the landing files that tasks read where workers find them."""
    wanted = {found.sha256 for task in tasks for found in task.inputs}
    files = {(file.table, file.sha256): file for table in landing.tables.values() for file in table.files if file.sha256 in wanted}
    staged = {}
    with scratch_folder(store.scratch) as scratch:
        for (table, sha256), file in files.items():
            key = Input(table, sha256, file.rows).key
            if store.objects.exists(key):
                continue
            if file_digest(file.path) != sha256:
                hint = "delete the landing folder: wh build makes it again"
                raise WarehouseError("WH123", "the file differs from its batch record", str(file.path), hint, ExitCode.TAMPERED)
            copy = scratch / f"{table}-{sha256}"
            with suppress(OSError):
                os.link(file.path, copy)
            staged[key] = Staged(copy if copy.exists() else file.path, file.path.stat().st_size, sha256)
        store.objects.create_files(staged)


def _files(store: EvidenceStore, receipts: Sequence[Receipt], table: str) -> list[PartFile]:
    return [_file(store, part, receipt.task) for receipt in receipts for part in receipt.parts if part.table == table]


def _earlier(store: EvidenceStore, table: str, sha256: str) -> PartFile | None:
    """A part that an earlier build took, if it is still there."""
    key = part_key(table, sha256)
    return PartFile(store.objects.local_copy(key, sha256), sha256) if store.objects.exists(key) else None


def _file(store: EvidenceStore, part: Part, task: str = "") -> PartFile:
    """A part as a file of this machine. Raises WH106."""
    try:
        path = store.objects.local_copy(part.key, part.sha256)
        return PartFile(path, part.sha256, part.rows, part.bytes, int(part.hash_sum), task)
    except FileNotFoundError as error:
        raise missing(part.key) from error
