"""The lineage of one number: its row, its query and models, its runs, its raw bytes; and whether they still hold.

For a published number the record is the publication's own, frozen when it was made. For a number that was only built
the same trace is made now, in the build that holds it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.claims.number import parse_argument
from warehouse.claims.search import FoundCell, current_cell, find_cell
from warehouse.digest import file_digest, number_id
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.store import LocalStore
from warehouse.project import Project
from warehouse.transform.digests import MODEL_DOMAIN, QUERY_SPEC_DOMAIN
from warehouse.transform.sql_text import canonical

VERIFIED, TAMPERED, MISSING, UNSUPPORTED = "verified", "tampered", "missing", "unsupported"


@dataclass(frozen=True)
class RawFile:
    """A raw file that the value was read from: where it is, which byte ranges (offset, length), its sha256."""

    artifact_manifest_digest: str
    raw_path: str
    uri: str
    sha256: str
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Lineage:
    """The four steps of a number. `publication` is None for a number that was not published; `now` is what the cell
    holds in the current build when that is another number, `is_gone` that it holds none."""

    number_id: str | None
    query: str
    column: str
    value: Any
    grain: Mapping[str, Any]
    key: str
    publication: str | None
    query_spec_digest: str
    models: tuple[tuple[str, str], ...]
    runs: tuple[Mapping[str, Any], ...]
    raw_files: tuple[RawFile, ...]
    now: tuple[str | None, Any] | None
    is_gone: bool


@dataclass(frozen=True)
class Verification:
    """The state of a number's raw evidence, how many files were found to be whole, and what is wrong with which."""

    state: str
    files_checked: int
    problems: tuple[WarehouseError, ...]

    @property
    def exit_code(self) -> ExitCode:
        codes = {VERIFIED: ExitCode.OK, TAMPERED: ExitCode.TAMPERED, MISSING: ExitCode.MISSING}
        return codes.get(self.state, ExitCode.FAILED)


def lineage(project: Project, argument: str) -> Lineage:
    """The lineage of what a person typed: a number id, `query[key=value,...].column`, or a number as printed. Raises
    WH304 (no such number), WH305 (several), WH306 (its SQL cannot be traced), WH307 (its publication is damaged)."""
    found = find_cell(project, parse_argument(argument))
    if found.publication:
        return _of_published(project, found)
    return _of_built(project, found)


def _of_published(project: Project, found: FoundCell) -> Lineage:
    publication = found.publication
    assert publication
    publication.check()
    digest = str(publication.record["query_spec_digest"])
    path = project.store_root / "specs" / f"{digest}.json"
    try:
        specification = json.loads(path.read_bytes())
        models = _specification_models(specification, digest)
        _check_number(found, specification)
    except FileNotFoundError as error:
        raise WarehouseError(
            "WH307", "the query's spec is missing", str(path), "publish the query again, or restore the store from a copy",
            ExitCode.MISSING,
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WarehouseError(
            "WH307", f"the publication and its spec do not hold together: {error}", str(path), exit_code=ExitCode.TAMPERED
        ) from error
    runs = tuple(run for run in found.row.runs if run["run_id"] in found.cell.runs)
    now = current_cell(project, found.query, found.row.grain, found.cell.column)
    is_other = now is not None and now.cell.number_id != found.cell.number_id
    return _lineage(
        project, found, publication.digest, digest, models, runs, found.cell.evidence,
        (now.cell.number_id, now.cell.value) if now and is_other else None, now is None,
    )


def _specification_models(specification: dict[str, Any], digest: str) -> list[tuple[str, str]]:
    """The models under a query, nearest first, each checked against its digest down to the leaves."""
    from warehouse.digest import domain_digest

    if domain_digest(QUERY_SPEC_DOMAIN, specification["document"]) != digest:
        raise ValueError("the document differs from its digest")
    listed: dict[str, str] = {}
    pending = _by_name(specification["document"]["parents"])
    while pending:
        parent = pending.pop(0)
        document = specification["models"][parent["digest"]]["document"]
        if domain_digest(MODEL_DOMAIN, document) != parent["digest"]:
            raise ValueError(f"model {parent['name']} differs from its digest")
        if parent["name"] not in listed:
            listed[parent["name"]] = parent["digest"]
            pending += _by_name(document["parents"])
    return list(listed.items())


def _check_number(found: FoundCell, specification: dict[str, Any]) -> None:
    """A number id commits to its cell and value: one that does not was not made by `publish`."""
    grain = [found.row.grain_forms[name] for name in specification["document"]["contract"]["grain"]]
    text = canonical(specification["source"])
    if number_id(found.query, text, grain, found.cell.column, found.cell.form) != found.cell.number_id:
        raise ValueError(f"{found.cell.number_id} does not commit to the value {found.cell.value!r} that stands beside it")


def _by_name(parents: list[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(parents, key=lambda parent: parent["name"])


def _of_built(project: Project, found: FoundCell) -> Lineage:
    from warehouse.claims.catalog import open_trace_session
    from warehouse.claims.publish import evidence_document, file_hashes, run_facts
    from warehouse.claims.trace import trace
    from warehouse.transform.builds import current_build

    assert found.rowid is not None
    con, catalog = open_trace_session(current_build(project), project.store_root)
    try:
        traced = trace(con, catalog, found.query, [found.cell.column], [found.rowid])[found.rowid]
        own = traced.runs_of(found.cell.column)
        about = run_facts(con, catalog, list(own))
        evidence = tuple(evidence_document(traced, found.cell.column, file_hashes(con, [traced])))
    finally:
        con.close()
    spec = catalog.models[f"rollup.{found.query}"]
    models = [(model.qualified, model.digest) for model in catalog.under(spec.qualified)]
    runs = tuple(about.get(run, {"run_id": run}) for run in own)
    return _lineage(project, found, None, spec.digest, models, runs, evidence, None, False)


def _lineage(
    project: Project,
    found: FoundCell,
    publication: str | None,
    query_spec_digest: str,
    models: list[tuple[str, str]],
    runs: tuple[Mapping[str, Any], ...],
    evidence: tuple[Mapping[str, Any], ...],
    now: tuple[str | None, Any] | None,
    is_gone: bool,
) -> Lineage:
    store = LocalStore(project.store_root)
    raw_files = tuple(
        RawFile(
            file["artifact_manifest_digest"], file["raw_path"], raw_uri(store, file["artifact_manifest_digest"], file["raw_path"]),
            file["sha256"], tuple((offset, length) for offset, length in file["ranges"]),
        )
        for file in evidence
    )
    return Lineage(
        found.cell.number_id, found.query, found.cell.column, found.cell.value, found.row.grain, found.key, publication,
        query_spec_digest, tuple(models), runs, raw_files, now, is_gone,
    )


def raw_uri(store: LocalStore, digest: str, raw_path: str) -> str:
    """Where a raw file lies; the manifest itself counts as one."""
    return (store.folder(digest) / raw_path).resolve().as_uri() if raw_path == "manifest.json" else store.uri(digest, raw_path)


def verify(project: Project, number: Lineage) -> Verification:
    """Re-hash every raw file of every bundle that the number's runs and value rest on, manifests included.

    A missing file is `missing`, any other difference `tampered`; tampered outweighs missing. A value that was read from no raw
    file, such as a constant of the query, is `unsupported`: there is nothing to verify it by.
    """
    store = LocalStore(project.store_root)
    bundles = {run["artifact_manifest_digest"] for run in number.runs if "artifact_manifest_digest" in run}
    bundles |= {file.artifact_manifest_digest for file in number.raw_files}
    problems = [problem for digest in sorted(bundles) for problem in store.check_bundle(digest)]
    if not problems:
        checked = sum(len(store.manifest(digest).files) for digest in bundles)
        return Verification(VERIFIED if number.raw_files else UNSUPPORTED, checked, ())
    state = MISSING if all(problem.code == "WH106" for problem in problems) else TAMPERED
    return Verification(state, 0, tuple(problems))


def excerpts(project: Project, file: RawFile, ranges: int = 4, limit: int = 160) -> list[str] | None:
    """The first bytes of a file's first ranges as text, each on one line; None when the file is not the record's."""
    store = LocalStore(project.store_root)
    folder = store.folder(file.artifact_manifest_digest)
    path = folder / "manifest.json" if file.raw_path == "manifest.json" else folder / "files" / file.raw_path
    texts = []
    try:
        if file_digest(path) != file.sha256:
            return None
        with open(path, "rb") as stream:
            for offset, length in file.ranges[:ranges]:
                stream.seek(offset)
                text = stream.read(min(length, limit)).decode("utf-8", errors="replace")
                texts.append(" ".join(text.split()) + ("…" if length > limit else ""))
    except OSError:
        return None
    return texts
