"""`wh build`: parse new evidence, check, bring every table up to date in a shadow file, test, switch the pointer.

A failed build leaves the last good one untouched. The same inputs give the same build digest, and then nothing is built.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.digest import bytes_digest, domain_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger.findings import standing_marks
from warehouse.evidence.ledger.run_decisions import standing
from warehouse.evidence.listing import Listing
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.signatures import signature_stamps
from warehouse.evidence.store import EvidenceStore
from warehouse.project.file import PROJECT_FILE
from warehouse.project.project import KINDS, Project
from warehouse.transform.finished.builds import (
    FORM,
    Build,
    build_path,
    builder_lock,
    find_current,
    finished_build,
    is_unfinished,
    open_shadow,
    publish_build,
    remove_leftovers,
    switch_to,
)
from warehouse.transform.finished.standard_base import standard_base
from warehouse.transform.inputs.current_folder import inside
from warehouse.transform.inputs.sources import FileSet, file_set
from warehouse.version import __version__

if TYPE_CHECKING:
    from warehouse.transform.build.material import Material
    from warehouse.transform.build.session import ModelResult
    from warehouse.transform.inputs.landing_tables import LandingTables
    from warehouse.transform.inputs.made_elsewhere import Elsewhere, MadeElsewhere
    from warehouse.transform.testing.rejected_rows import Rejected
    from warehouse.transform.testing.run_tests import TestResult


@dataclass(frozen=True)
class BuildReport:
    """What a build did. `models` is empty when nothing was built: nothing had changed, or with `is_restored` an earlier
    build of the same digest is current again. With `is_partial` only chosen models were built, and `build` is not current. `damaged` are
    bundles that could not be parsed; `rejected` is what is left out of the tables because it breaks a test."""

    build: Build
    is_new: bool
    is_restored: bool = False
    is_partial: bool = False
    models: "tuple[ModelResult, ...]" = ()
    damaged: tuple[WarehouseError, ...] = ()
    tests: tuple["TestResult", ...] = ()
    rejected: "tuple[Rejected, ...]" = ()


@dataclass(frozen=True)
class Progress:
    """Where a build tells how far it is: which part of it begins (`look`, `parse`, `check`, `copy`, `models`, `tests`,
    `write`), how many bundles are parsed, and each model that is done."""

    began: Callable[[str], None] = lambda part: None
    parsed: Callable[[int, int], None] = lambda done, total: None
    built: "Callable[[ModelResult], None]" = lambda result: None


def build(
    project: Project, progress: Progress = Progress(), *, is_retry: bool = False, now: datetime | None = None,
    choose: "Callable[[Material], Collection[str]] | None" = None, elsewhere: "Elsewhere | None" = None,
) -> BuildReport:
    """Bring the warehouse up to date with its evidence, files and models; with `is_retry`, from where the last build
    failed or was interrupted. With `choose` only the models that it returns, among which is all that they read, in the database of
    the next build: the last one stays current, and a retry does the rest. What can be done `elsewhere` is done there. Detail has the age that it
    has `now` (UTC), when the build begins. Raises WH2xx; then the last build stays current."""
    now = now or datetime.now(UTC)
    with builder_lock(project):
        progress.began("look")
        store = open_store(project)
        # Taken before anything is read: what arrives meanwhile is for the next build.
        evidence = _evidence_fingerprint(project, store)
        texts = _texts_fingerprint(project, evidence)
        current = find_current(project)
        if not choose and current and current.stands_at(now) and current.fingerprint == _fingerprint(texts, _files_now(project, current)):
            if _has_landing(store, current):
                remove_leftovers(project)
                if not current.is_untouched():  # moved, and checked: the next reader need not
                    current = switch_to(project, current)
                return BuildReport(current, is_new=False)
        goes_on = is_retry and is_unfinished(project)
        base = standard_base(project, lambda empty: _make_base(empty, now)) if project.uses_standard and not (current or goes_on) else current
        return _build(project, store, evidence, texts, current, base, progress, is_retry, now, choose, elsewhere)


def _make_base(project: Project, now: datetime) -> BuildReport:
    """Build a project that has no evidence, from nothing."""
    with builder_lock(project):
        store = open_store(project)
        evidence = _evidence_fingerprint(project, store)
        return _build(project, store, evidence, _texts_fingerprint(project, evidence), None, None, Progress(), False, now, None, None)


def gather_material(project: Project, progress: Progress = Progress(), now: datetime | None = None) -> "Material":
    """What a build of the project as it is `now` (UTC) would be made from."""
    store = open_store(project)
    evidence = _evidence_fingerprint(project, store)
    return _gather(project, store, evidence, find_current(project), progress, now or datetime.now(UTC), None)


def texts_fingerprint(project: Project) -> str:
    """A digest of the project's texts and its evidence, cheap to take: all that a build reads but for the files that its
    SQL names."""
    return _texts_fingerprint(project, _evidence_fingerprint(project, open_store(project)))


def _files_now(project: Project, current: Build | None) -> tuple[FileSet, ...]:
    """The file sources of the current build as they are now."""
    if current is None:
        return ()
    known = {file.path: file for found in current.files for file in found.files}
    return tuple(file_set(found.patterns, project.root.resolve(), known) for found in current.files)


def _evidence_fingerprint(project: Project, store: EvidenceStore, listing: Listing | None = None) -> str:
    """A digest of the evidence, of the signatures and of the decisions that are in force, together with the code that parses
    evidence and the keys that check signatures. It is cheap: no heavy import, and no evidence is read. A mere note is not a
    decision, and does not make a build stale."""
    from importlib.metadata import version

    versions = {"wh": __version__, "form": FORM, "duckdb": version("duckdb"), "pyarrow": version("pyarrow")}
    signing = [signature_stamps(store.objects), dict(project.trusted_keys)]
    listing = listing or Listing(store, project.builds)
    events = listing.decisions()
    decisions = [decision.event.sha256 for decision in standing(events).all()]
    marks = [mark.event.sha256 for mark in standing_marks(events).values()]
    parsing = [_digests(project, "ingest", suffix) for suffix in (".py", ".toml")]
    return domain_digest("wh/evidence/7", [parsing, listing.bundles, signing, decisions, marks, versions])


def _texts_fingerprint(project: Project, evidence: str) -> str:
    """A digest of the project's texts and its evidence."""
    texts = [_digests(project, kind, ".sql") for kind in KINDS if kind != "ingest"]
    return domain_digest("wh/texts/1", [texts, bytes_digest((project.root / PROJECT_FILE).read_bytes()), evidence])


def _digests(project: Project, kind: str, suffix: str) -> dict[str, str]:
    return {project.shown(path): bytes_digest(path.read_bytes()) for path in project.files(kind, suffix)}


def _fingerprint(texts: str, files: Iterable[FileSet]) -> str:
    """A digest of everything a build reads. Which files are read follows from the texts, so those that the last build read
    are the right ones as long as the texts are the same."""
    return domain_digest("wh/inputs/2", [texts, [[list(found.patterns), found.content] for found in files]])


def _has_landing(store: EvidenceStore, build: Build) -> bool:
    """Whether what the build was made from is still there: to trace its numbers needs it."""
    files = [path for table in build.landing.values() for path, *_ in table["files"]]
    return all((store.landing / path).exists() for path in files)


def _gather(
    project: Project, store: EvidenceStore, evidence: str, current: Build | None, progress: Progress, now: datetime,
    elsewhere: "Elsewhere | None",
) -> "Material":
    from warehouse.transform.build.material import gather

    known = {file.path: file for found in (current.files if current else ()) for file in found.files}
    progress.began("parse")
    landing = _landing(project, store, evidence, current, progress, elsewhere)
    progress.began("check")
    return gather(project, landing, known, now)


def _landing(
    project: Project, store: EvidenceStore, evidence: str, current: Build | None, progress: Progress, elsewhere: "Elsewhere | None"
) -> "LandingTables":
    from warehouse.landing.registry import find_ingestors
    from warehouse.transform.inputs.landing_tables import from_json, landing_tables, no_evidence

    if current and current.evidence == evidence and _has_landing(store, current):
        return from_json(current.landing, store.landing)
    found = find_ingestors(project)
    if not found and store.is_empty():
        return no_evidence()
    from warehouse.evidence.signing.keys import public_keys  # this and the next import pyarrow, which no build needs so far
    from warehouse.landing.parse.refresh import refresh

    listing = Listing(store, project.builds)
    events = listing.decisions()  # of one that cannot be read the refresh tells
    decisions, marks = standing(events).all(), standing_marks(events).values()
    keys = public_keys(project.trusted_keys)
    parse = elsewhere.parse if elsewhere else None
    return landing_tables(refresh(store, found, progress.parsed, keys, decisions, marks, parse, (listing.arrivals(), listing.damaged)))


def _build(
    project: Project, store: EvidenceStore, evidence: str, texts: str, current: Build | None, base: Build | None,
    progress: Progress, is_retry: bool, now: datetime, choose: "Callable[[Material], Collection[str]] | None", elsewhere: "Elsewhere | None",
) -> BuildReport:
    """Make the next build after the `current` one, from a copy of `base`."""
    material = _gather(project, store, evidence, current, progress, now, elsewhere)
    chosen = choose(material) if choose else None
    damaged = material.landing.damaged
    files = tuple(material.inputs.files[call] for call in sorted(material.inputs.files))
    build = Build(
        material.digest, build_path(project, material.digest),
        # Damaged evidence is asked for again at the next build, so its fingerprint must not look finished.
        "" if damaged else _fingerprint(texts, files), files=files,
        evidence="" if damaged else evidence, landing=material.landing.as_json(store.landing),
    )
    finished = finished_build(project, build.digest)
    if finished:
        build = switch_to(project, replace(
            build, sha256=finished.sha256, stands_until=finished.stands_until, tasks=finished.tasks, parts=finished.parts
        ))
        remove_leftovers(project)
        is_restored = current is None or current.digest != build.digest
        return BuildReport(build, is_new=False, is_restored=is_restored, damaged=damaged)
    from warehouse.transform.testing.run_tests import keep_failures, refuse_failures

    made = elsewhere.tables(store, material) if elsewhere else None
    progress.began("copy")
    if made:
        from warehouse.transform.inputs.part_tables import place_parts

        place_parts(made, {name: model.qualified for name, model in material.checked.models.items()}, project)
    shadow = open_shadow(project, base, is_retry=is_retry)
    try:
        done = bring_up_to_date(shadow, material, progress, chosen, is_first=base is not current, elsewhere=made)
    except WarehouseError:
        material.check_unchanged()  # a file that changed while it was read is reported as that, not as a model's fault
        raise
    progress.began("write")
    keep_failures(project.builds, done.tests)
    refuse_failures(done.tests, len(material.checked.tests))
    material.check_unchanged()
    if chosen is not None:
        built = replace(build, path=shadow)
        return BuildReport(
            built, is_new=True, is_partial=True, models=done.models, damaged=damaged, tests=done.tests, rejected=done.rejected
        )
    build = publish_build(project, shadow, replace(
        build, stands_until=done.stands_until, tasks=made.tasks if made else (), parts=done.parts
    ))
    return BuildReport(build, is_new=True, models=done.models, damaged=damaged, tests=done.tests, rejected=done.rejected)


@dataclass(frozen=True)
class Done:
    """What bringing a database up to date came to: every model, the tests that had to be run, until when (UTC) it holds
    what its inputs give ("": for ever), and what was left out of its tables, and which of them stay in parts."""

    models: "tuple[ModelResult, ...]"
    tests: "tuple[TestResult, ...]"
    stands_until: str
    rejected: "tuple[Rejected, ...]" = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # as in `Build`


def bring_up_to_date(
    database: Path, material: "Material", progress: Progress = Progress(), chosen: Collection[str] | None = None, *,
    is_first: bool = False, elsewhere: "MadeElsewhere | None" = None,
) -> Done:
    """Bring a database up to date, or fill a new one, and test it; a test that passed on the same rows is not run again. With `chosen`
    models only these, and the tests of them. `is_first`: what it holds is of no build of this project. What is good in it stays there when
    something fails."""
    # The engine looks for a path without a pattern in the current folder first.
    with inside(material.root):
        return _bring_up_to_date(database.resolve(), material, progress, chosen, is_first, elsewhere)


def _bring_up_to_date(
    database: Path, material: "Material", progress: Progress, chosen: Collection[str] | None, is_first: bool,
    elsewhere: "MadeElsewhere | None",
) -> Done:
    import duckdb

    from warehouse.transform.build.catalog import write_catalog
    from warehouse.transform.build.other_clients import serve_other_clients
    from warehouse.transform.build.session import Session
    from warehouse.transform.build.state import (
        drop_unfinished,
        read_described,
        read_passed,
        read_states,
        record_described,
        record_passed,
        tests_to_run,
    )
    from warehouse.transform.incremental.detail_rows import bundles_present
    from warehouse.transform.incremental.row_order import PARTS
    from warehouse.transform.inputs.made_elsewhere import NOTHING
    from warehouse.transform.inputs.part_tables import find_parts, forget_keys, record_keys
    from warehouse.transform.sql.duck import connect, text_literal
    from warehouse.transform.sql.engine_faults import message_of
    from warehouse.transform.testing.rejected_rows import rejected
    from warehouse.transform.testing.run_tests import run_tests

    progress.began("models")
    is_there = database.exists()
    try:
        con = connect(database, files_root=material.root)
    except duckdb.Error as error:
        raise WarehouseError("WH218", "the files that the last build left cannot be opened", str(database), "run: wh build") from error
    try:
        states = read_states(con)
        if is_there and not states:  # made by another engine: nothing in it can be kept
            con.close()
            database.unlink()
            con = connect(database, files_root=material.root)
        described = read_described(con) if states else ""
        is_empty, knows_project = not states, described == material.project_key != ""
        # Few checkpoints (`tables_made`), and one at the end: those that each commit would make write every table's metadata again.
        con.execute("set checkpoint_threshold = '1 TB'")
        if states and not described:
            drop_unfinished(con, states)
        con.execute("checkpoint")  # of what an interrupted build left
        if material.memory:
            con.execute(f"set memory_limit = {text_literal(material.memory)}")
        # The models of a build read the same files one after another: a third of what a small file takes is its footer.
        con.execute("set parquet_metadata_cache = true")
        made, names = elsewhere or NOTHING, {name: model.qualified for name, model in material.checked.models.items()}
        if made.as_parts or any(state.layout == PARTS for state in states.values()):
            find_parts(con, material.root, database.parent)
        session = Session(con, material, states, progress.built, is_first=is_first, elsewhere=made)
        models = session.run(chosen)
        parts = session.in_parts()
        if made.as_parts:
            record_keys(con, made, names)
        elif not parts:
            forget_keys(con)
        else:  # what reads landing tables now is not known: a trace opens them whole
            con.execute("delete from state.part where not contains(read, '.')")
        progress.began("tests")
        asked = [test for test in material.checked.tests if chosen is None or (test.reads and test.reads <= set(chosen))]
        # Outside a transaction: a test that cannot run would end it.
        tests = run_tests(
            con, tests_to_run(
                read_passed(con), [test for test in asked if not test.is_kept], session.contents, session.unique, session.without_rows()
            )
        )
        progress.began("write")
        left_out = tuple(rejected(con))
        if chosen is not None:  # the catalog is of a whole build
            con.execute("checkpoint")
            return Done(tuple(models), tests, "", left_out)
        broken = {result.name for result in tests if result.status != "pass"}
        con.execute("begin")
        record_passed(con, [test for test in asked if test.name not in broken], session.contents)
        write_catalog(con, material, models, tests, knows_project=knows_project)
        serve_other_clients(con, material.checked, session.remade if knows_project or is_empty else None, parts)
        record_described(con, material.project_key)
        con.execute("commit")
        until = material.tier.stands_until(bundles_present(con, material.tier)) if material.tier else None
        con.execute("checkpoint")
    except duckdb.Error as error:
        raise WarehouseError("WH209", message_of(error), str(database), "check that the disk has space") from error
    finally:
        con.close()
    return Done(tuple(models), tests, until.isoformat() if until else "", left_out, parts)


@dataclass(frozen=True)
class Newer:
    """What a build has not seen: evidence (with what parses it, signatures and decisions on runs), and models or the files they read."""

    evidence: bool
    models: bool


def newer_than(project: Project, build: Build, listing: Listing | None = None) -> Newer:
    """What has changed since a build, as cheaply as a build with nothing to do finds out; `listing` is of the project's store, where the caller
    has it."""
    evidence = _evidence_fingerprint(project, open_store(project), listing)
    texts = _texts_fingerprint(project, build.evidence)
    return Newer(build.evidence != evidence, build.fingerprint != _fingerprint(texts, _files_now(project, build)))
