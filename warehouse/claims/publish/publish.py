"""`wh publish`: freeze a rollup in the store. What is frozen was run again, traced to its bytes, and the bytes re-hashed.

Nothing in the store is ever overwritten. The same rollup of the same evidence has the same digest, whenever made.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from warehouse.claims.gate.evidence import GATE_VERSION
from warehouse.claims.gate.policy import PROVISIONAL
from warehouse.claims.own_code import code_digest
from warehouse.claims.publish.admissibility import check_admitted
from warehouse.claims.publish.corrections import correction_text, corrections
from warehouse.claims.publish.freezing import Facts, FrozenRows, freeze
from warehouse.claims.publish.guarantees import but_for, remembered_guarantees
from warehouse.claims.publish.interrupted import finish_interrupted
from warehouse.claims.publish.publication import (
    CONTENT,
    JUDGEMENT,
    POLICY,
    PUBLICATION_DOMAIN,
    PUBLICATION_VERSION,
    RECORD,
    publication_key,
    spec_key,
)
from warehouse.claims.publish.reproduced import check_reproduced
from warehouse.claims.publish.signing import check_evidence_signatures, publication_subject, sign_publication
from warehouse.digest import bytes_digest, canonical_json, domain_digest
from warehouse.errors import ExitCode, WarehouseError, counted, did_you_mean
from warehouse.evidence.ledger.events import PUBLICATION as PUBLISHED
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects.base import Objects
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.signatures import VALID
from warehouse.exact import exact
from warehouse.landing.parse.batches import BUNDLE_TABLE
from warehouse.project.project import Project
from warehouse.transform.finished.builds import current_build, not_in_build
from warehouse.transform.project.claim import claim_of
from warehouse.transform.sql.text import canonical
from warehouse.version import __version__

if TYPE_CHECKING:
    import duckdb

    from warehouse.claims.gate.gate import Judged
    from warehouse.evidence.signing.keys import SigningKey
    from warehouse.trace.catalog import BuiltModel
    from warehouse.trace.determinism import Determinism
    from warehouse.transform.finished.builds import Build


OnStep = Callable[[str, int, int], None]
_ROWS_AT_ONCE = 1000


@dataclass(frozen=True)
class Publication:
    """A frozen rollup: its digest, query, `query_spec_digest`, and whether this call made it."""

    digest: str
    query: str
    query_spec_digest: str
    rows: int
    numbers: int
    is_new: bool
    columns: "Mapping[str, Determinism]"  # how exactly each value is determined by its evidence
    unseen: int  # bundles that arrived after the build it is made from
    judged: "Judged"  # what its numbers are worth
    runs: frozenset[str]  # that any of its numbers depends on
    left_out: Sequence[str] = ()  # rows of its runs, or that contradict others, which the build left out: a line a table and test


def no_progress(step: str, done: int, total: int) -> None:
    """Reports nothing."""


def publish(
    project: Project, query: str, key: "SigningKey | None" = None, on_step: OnStep = no_progress, *, as_provisional: bool = False
) -> Publication:
    """Freeze the current build's rollup of a query spec, and sign it with `key`. `on_step` is called with the step that begins, and how many of
    how many parts of it are done.

    The policy of its claim judges its numbers, and what it does not let pass is refused (WH315, and the ledger says so), unless it is
    published `as_provisional`: then every number says what it is worth wherever it goes. Raises WH316 and WH317 for a policy that is not
    valid and a claim that does not fit.

    No clause of it or of a table under it may give another answer each time, no tie may decide, and nothing may depend on
    who signed what (WH306). No run that it depends on may be retracted or superseded, and the build must be of the decisions on
    runs that the ledger has (WH313). The untouched query is run again on the build and must give the rollup's rows (WH303); its
    rows, at least one (WH319), are traced to their runs and bytes (WH306 when its SQL cannot be traced, WH308 when a row depends on none); the
    bytes are re-hashed (WH105, WH106). Raises WH301 for an unknown name, WH218 and WH123 for a build or landing that is not what was made,
    WH307 when a publication or spec that is there already is damaged, WH107 when an event of the ledger is, WH113 when a signature
    of its evidence does not hold, WH312 when the project requires signatures and some evidence has none by a trusted key, WH109,
    WH211.
    """
    finish_interrupted(open_store(project))
    with open_store(project).keeping():  # or what is checked may be gone when it is published
        return _publish(project, query, key, on_step, as_provisional)


@dataclass(frozen=True)
class _Found:
    """What a build holds of a query that is about to be published; `about` are parts of the publication's record."""

    specification: dict[str, Any]
    place: str
    frozen: FrozenRows
    judged: "Judged"
    determined: "Mapping[str, Determinism]"
    about: Mapping[str, Any]


def _publish(project: Project, query: str, key: "SigningKey | None", on_step: OnStep, as_provisional: bool) -> Publication:
    build = current_build(project)
    found = _found(project, query, build, on_step, as_provisional)  # its session is closed by now: a replay takes as much memory
    frozen, specification = found.frozen, found.specification
    _check_evidence(project, found.place, frozen, on_step)
    on_step("replaying the evidence", 0, 1)
    admitted = check_admitted(project, build, specification, frozen.runs, found.place)
    check_reproduced(
        project, specification, frozen, found.determined, found.about["guarantees"], admitted, _built_bundles(project, build), found.place
    )
    # Last of all: what is decided meanwhile counts.
    decisions = check_admitted(project, build, specification, frozen.runs, found.place)
    for digest in frozen.bundles:
        open_store(project).objects.check_kept(digest)
    return _store(project, query, replace(found, about={**found.about, **({"decisions": decisions} if decisions else {})}), build, key)


def _found(project: Project, query: str, build: "Build", on_step: OnStep, as_provisional: bool) -> _Found:
    from warehouse.claims.gate.gate import Rollup, judge_rollup, policy_of
    from warehouse.claims.gate.looks import Looks
    from warehouse.claims.publish.operations import determinism_of
    from warehouse.claims.publish.publishable import refuse_unpublishable
    from warehouse.claims.publish.tie_probe import check_ties
    from warehouse.trace.catalog import open_trace_session, rollup_columns
    from warehouse.trace.tracing import trace
    from warehouse.transform.check.text_facts import TextFacts
    from warehouse.transform.testing.rejected_rows import rejected_under

    con, catalog = open_trace_session(build, project.store_root)
    try:
        specification, _ = _specification(project, con, query)
        spec = catalog.models[f"rollup.{query}"]
        texts = TextFacts(project)
        refuse_unpublishable(texts, catalog, query, specification)  # before anything that takes long
        _refuse_without_evidence(con)
        _refuse_empty(con, spec)
        claim = claim_of(specification["document"]["claim"])
        policy = policy_of(project, claim, spec.place)
        columns = rollup_columns(catalog, spec)
        values = [name for name in columns if name not in spec.grain]
        determined = determinism_of(catalog, query, specification["document"]["contract"].get("tolerances", {}), values, texts)
        on_step("trying ties", 0, 1)
        tried = check_ties(con, catalog, query)
        on_step("running the query again", 0, 1)
        _check_same_result(con, spec.qualified, spec.sql, columns)
        on_step("tracing rows to their bytes", 0, 1)
        traced = trace(con, catalog, query, values, traces_rows=True, facts=texts)
        guaranteed = remembered_guarantees(catalog, spec, texts)
        texts.write()
        facts = Facts(con, catalog, traced)
        on_step("judging numbers", 0, 1)
        left_out, contradicts = rejected_under(
            con, [spec.qualified, *(model.qualified for model in catalog.under(spec.qualified))], facts.runs, traced.bundles()
        )
        promised = but_for(guaranteed, left_out, contradicts=contradicts)
        rollup = Rollup(con, catalog, spec, columns, traced, facts, promised, claim)
        judged = judge_rollup(rollup, policy, Looks(open_store(project).objects, query))
        if judged.against and not as_provisional:
            raise _not_publishable(project, specification, query, build, judged, spec.place)
        about = {
            "wh": __version__,
            "code": code_digest(),
            "engine": _engine(con),
            "guarantees": promised,
            "ties_tried": tried,
            "columns": {name: column.document() for name, column in determined.items()},
            "gate": GATE_VERSION,
            "policy": policy.reference,
            "verdicts": dict(judged.verdicts),
            **({"published_as": PROVISIONAL} if judged.against else {}),
        }
        return _Found(specification, spec.place, freeze(con, spec, columns, traced, facts), judged, determined, about)
    finally:
        con.close()


def judge_query(
    project: Project, query: str, policies: Sequence[str | None] = (None,), on_step: OnStep = no_progress
) -> "list[Judged]":
    """What policies, None for that of the query's claim, say of the numbers of the current build. Nothing is published; the ledger says
    that they were looked at. Raises WH301, WH306, WH316, WH317, WH218, WH123."""
    from warehouse.claims.gate.gate import Judged, Rollup, judge_rollup, policy_of
    from warehouse.claims.gate.looks import Looks
    from warehouse.claims.publish.publishable import refuse_unpublishable
    from warehouse.trace.catalog import open_trace_session, rollup_columns
    from warehouse.trace.tracing import trace
    from warehouse.transform.check.text_facts import TextFacts
    from warehouse.transform.finished.query import open_build

    build, objects = current_build(project), open_store(project).objects
    with open_build(build.path) as plain:
        specification, place = _specification(project, plain, query)
    claim = claim_of(specification["document"]["claim"])
    chosen = [policy_of(project, claim, place, policy) for policy in policies]
    if not claim.numbers:
        return [Judged(policy) for policy in chosen]
    con, catalog = open_trace_session(build, project.store_root)
    try:
        spec = catalog.models[f"rollup.{query}"]
        columns = rollup_columns(catalog, spec)
        texts = TextFacts(project)
        refuse_unpublishable(texts, catalog, query, specification)
        on_step("tracing rows to their bytes", 0, 1)
        traced = trace(con, catalog, query, [name for name in columns if name not in spec.grain], traces_rows=True, facts=texts)
        promised = remembered_guarantees(catalog, spec, texts)
        texts.write()
        on_step("judging numbers", 0, 1)
        rollup = Rollup(con, catalog, spec, columns, traced, Facts(con, catalog, traced), promised, claim)
        judged = [judge_rollup(rollup, policy, Looks(objects, query)) for policy in chosen]
    finally:
        con.close()
    first = judged[0]
    Ledger(objects).judged(
        str(specification["query_spec_digest"]), query, build.digest, first.verdicts, _unseen(project, build), first.seen, first.stopping
    )
    return judged


def _specification(project: Project, con: "duckdb.DuckDBPyConnection", query: str) -> tuple[dict[str, Any], str]:
    """The spec of a query in a build, and its file. Raises WH301 for an unknown name."""
    recorded = con.execute("select specification, place from catalog.model where schema_name = 'rollup' and name = ?", [query]).fetchall()
    if not recorded:
        known = [name for name, in con.execute("select name from catalog.model where schema_name = 'rollup' order by name").fetchall()]
        hint = not_in_build(project, query) or did_you_mean(query, known) or f"known: {', '.join(known) or 'none'}"
        raise WarehouseError("WH301", f"no query spec {query!r} in this build", hint=hint, exit_code=ExitCode.NOT_FOUND)
    [(document, place)] = recorded
    return json.loads(document), str(place)


def _not_publishable(
    project: Project, specification: Mapping[str, Any], query: str, build: "Build", judged: "Judged", place: str
) -> WarehouseError:
    """The refusal of what its policy does not let pass; the ledger has it, for whoever adds runs now has seen the number."""
    Ledger(open_store(project).objects).judged(
        str(specification["query_spec_digest"]), query, build.digest, judged.verdicts, _unseen(project, build), judged.seen, judged.stopping
    )
    from warehouse.claims.gate.gate import listed_numbers

    numbers = counted(len(judged.against), "number is", "numbers are")
    return WarehouseError(
        "WH315", f"{numbers} not publishable by policy {judged.policy}:\n{listed_numbers(judged.against)}", place,
        f"wh judge {query} says what each rule found; to publish them with these verdicts: wh publish {query} --as provisional",
    )


def _refuse_without_evidence(con: "duckdb.DuckDBPyConnection") -> None:
    """A build that had to do without evidence that was altered or is gone is no ground for a publication."""
    lost = con.execute("select code, place from catalog.damaged where code in ('WH105', 'WH106') order by place").fetchall()
    if lost:
        code, place = lost[0]
        bundles = counted(len(lost), "bundle that was altered or is gone", "bundles that were altered or are gone")
        raise WarehouseError(
            code, f"the build was made without {bundles}", place,
            "restore the store from a copy, or ingest the evidence again; then run: wh build",
            ExitCode.TAMPERED if code == "WH105" else ExitCode.MISSING,
        )


def _refuse_empty(con: "duckdb.DuckDBPyConnection", spec: "BuiltModel") -> None:
    """A publication of no numbers would say nothing, and look like a success."""
    from warehouse.transform.sql.duck import quoted

    if con.execute(f"select count(*) from {quoted(spec.qualified)}").fetchall() == [(0,)]:
        hint = (
            "ingest evidence that it reads and run wh build, or see what its WHERE and its joins leave out; if a publication of it no longer holds:"
            " wh withdraw DIGEST --reason TEXT"
        )
        raise WarehouseError("WH319", "nothing is published: the query has no rows in the current build", spec.place, hint)


def _check_evidence(project: Project, place: str, frozen: FrozenRows, on_step: OnStep) -> None:
    """Every row depends on evidence, all of it is what its manifests say, and signed as the project requires. Raises WH308, WH105,
    WH106, WH107, WH113, WH312."""
    if not frozen.is_evident:
        raise WarehouseError(
            "WH308", "a row depends on no run and no raw file", place, "publish only what is computed from evidence"
        )
    store = open_store(project)
    for done, digest in enumerate(sorted(frozen.bundles)):
        on_step("hashing bundles", done, len(frozen.bundles))
        for problem in store.check_bundle(digest):
            raise problem
        signing = check_evidence_signatures(project, digest)
        if invalid := signing.problem(f"signatures/{digest[:12]}"):
            raise invalid
        if project.requires_signatures and signing.state != VALID:
            raise WarehouseError(
                "WH312", f"bundle {digest[:12]} is {signing.state}, and publication.require_signatures is true", place,
                f"run: wh sign {digest[:12]} --key KEY, with a key that the project trusts",
            )


def _engine(con: "duckdb.DuckDBPyConnection") -> dict[str, Any]:
    """The engine that the query was run on, to its build, and the settings that every build is made with."""
    from warehouse.transform.sql.duck import PINNED_SETTINGS

    version, source = con.execute("select library_version, source_id from pragma_version()").fetchall()[0]
    return {"name": "duckdb", "version": version.removeprefix("v"), "build": source, "settings": dict(PINNED_SETTINGS)}


def _names(columns: list[str]) -> str:
    from warehouse.transform.sql.duck import quote

    return ", ".join(map(quote, columns))


def _check_same_result(con: "duckdb.DuckDBPyConnection", table: str, sql: str, columns: list[str]) -> None:
    """The published values are those of the untouched query, here and now, to the last bit; and those of its canonical text,
    by which it is recorded and replayed."""

    def forms(query: str) -> Counter[str]:
        """How often each row comes, by the digest of its exact form."""
        found, result = Counter[str](), con.execute(query)
        while rows := result.fetchmany(_ROWS_AT_ONCE):
            found.update(bytes_digest(repr(list(map(exact, row))).encode()) for row in rows)
        return found

    built = forms(f"select {_names(columns)} from {table}")
    for name, text in (("the query run again", sql), ("its canonical text", canonical(sql))):
        fresh = forms(text)
        if fresh != built:
            different = max((fresh - built).total(), (built - fresh).total())
            raise WarehouseError(
                "WH303", f"{counted(different, 'row differs', 'rows differ')} between the build's rollup and {name}", table,
                "the query is not deterministic: order its aggregates and windows totally",
            )


def _store(project: Project, query: str, found: _Found, build: "Build", key: "SigningKey | None") -> Publication:
    specification, frozen, judged = found.specification, found.frozen, found.judged
    content = {
        **frozen.content, JUDGEMENT: b"".join(line + b"\n" for line in judged.lines), POLICY: canonical_json(dict(judged.policy.document)),
    }
    record = {
        "publication_version": PUBLICATION_VERSION,
        "query": query,
        "query_spec_digest": specification["query_spec_digest"],
        **found.about,
        "rows": frozen.rows,
        "numbers": frozen.numbers,
        "sha256": {name: bytes_digest(data) for name, data in content.items()},
    }
    digest = domain_digest(PUBLICATION_DOMAIN, record)
    objects = open_store(project).objects
    if correction := corrections(project).get(digest):
        raise WarehouseError("WH318", f"the same numbers were {correction_text(correction)}", f"publication {digest[:12]}")
    ledger, unseen, intent = Ledger(objects), _unseen(project, build), None
    if not objects.exists(publication_key(digest, RECORD)):
        spec = str(specification["query_spec_digest"])
        intent = ledger.publishing(digest, query, build.digest, spec, unseen, judged.seen, judged.stopping)
    try:
        _create_or_same(objects, spec_key(specification["query_spec_digest"]), canonical_json(dict(specification)))
        for name in CONTENT:
            _create_or_same(objects, publication_key(digest, name), content[name])
        data = canonical_json(record)
        is_new = _create_or_same(objects, publication_key(digest, RECORD), data)
    except OSError as error:
        place = f"{objects.url}/publications/{digest}"
        raise WarehouseError("WH109", f"cannot be written: {error.strerror}", place) from error
    if is_new or not _is_last(ledger, query, digest):
        ledger.published(digest, query, build.digest, unseen, intent)
    if key:
        sign_publication(project, ledger, publication_subject(digest, bytes_digest(data)), key)
    return Publication(
        digest, query, str(record["query_spec_digest"]), frozen.rows, frozen.numbers, is_new, found.determined, len(unseen), judged, frozen.runs,
        record["guarantees"].get("left_out", {}).get("rows", ()),
    )


def _unseen(project: Project, build: "Build") -> frozenset[str]:
    """The bundles of the store that the build does not hold: they arrived after it."""
    return frozenset(open_store(project).digests()) - _built_bundles(project, build)


def _built_bundles(project: Project, build: "Build") -> frozenset[str]:
    from warehouse.transform.inputs.landing_tables import built_rows

    rows = built_rows(build.landing, open_store(project).landing, BUNDLE_TABLE, ("artifact_manifest_digest",))
    return frozenset(row["artifact_manifest_digest"] for row in rows)


def _is_last(ledger: Ledger, query: str, digest: str) -> bool:
    """Whether the ledger has this publication as the query's last: going back to an earlier one is news too."""
    said = [event.subject for event in ledger.events() if event.kind == PUBLISHED and event.detail.get("query") == query]
    return bool(said) and said[-1] == digest


def _create_or_same(objects: Objects, key: str, data: bytes) -> bool:
    """Create an object, or find it there with the same bytes; whether it was created. Raises WH307 when others are there."""
    if objects.create(key, data):
        return True
    if objects.read(key) != data:
        raise WarehouseError(
            "WH307", "what was published before has been altered", f"{objects.url}/{key}", "restore the store from a copy",
            ExitCode.TAMPERED,
        )
    return False
