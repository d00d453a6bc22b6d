"""How a number is checked: the gate rule by rule, what its cell held before and after, its signatures, and what anybody can run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from warehouse.claims.gate.evidence import RUN_ID
from warehouse.claims.gate.judgement import RuleVerdict
from warehouse.claims.gate.policy import Policy
from warehouse.claims.numbers.history import cell_history
from warehouse.claims.numbers.lineage import Lineage
from warehouse.claims.numbers.search import FoundCell
from warehouse.claims.publish.publication import PublishedRollup
from warehouse.errors import counted, printable
from warehouse.evidence.ledger.events import CORRECTION, Event
from warehouse.evidence.signing.signatures import Signing
from warehouse.surfaces.parts import Column, Fact, Form, Part, Table, Text, without_empty
from warehouse.surfaces.view import Visit, address
from warehouse.surfaces.views.analysis.wording import percent
from warehouse.surfaces.views.claims.number_runs import RUN
from warehouse.transform.finished.query import plain_cell

_MOST_PUBLICATIONS = 12
_MOST_ROWS = 3  # of the rows that a rule's figure comes from
_MOST_BUNDLES = 20
_MOST_RULE_RUNS = 200
_MONTH = 28  # days


def gate(number: Lineage) -> Iterator[Part]:
    """What each rule of the policy says."""
    worth = number.worth
    if worth is None:
        text = f"It was not judged: only published numbers are. To judge it without publishing it: wh judge {number.query}"
        yield Text("gate", text, title="Is it worth believing?")
    elif worth.policy is None or not worth.rules:
        text = f"It is {worth.verdict}: " + (
            "its publication was made without a policy." if worth.policy is None
            else f"the policy {worth.policy} has no rule, or the query claims nothing of this column. No policy judges this number."
        )
        yield Text("gate", text, title="Is it worth believing?")
    else:
        columns = (
            Column("verdict", "says", "state"), Column("rule"), Column("figure", kind="number"), Column("asked", "publishable if"),
            Column("why"), Column("severity", is_minor=True), Column("source", is_minor=True), Column("id", kind="code", is_minor=True),
        )
        rows = tuple(
            (
                each.told, each.rule.says, each.figure, str(each.rule.publishable),
                each.why or (_rows_text(each.rows) if not each.is_met else None), each.rule.severity, each.rule.source, each.rule.id,
            )
            for each in sorted(worth.rules, key=lambda each: each.is_met)
        )
        unmet = [str(each) for each in worth.rules if not each.is_met]
        said = f"{len(unmet)} of {counted(len(rows), 'rule')} not met" if unmet else f"All {counted(len(rows), 'rule')} are met"
        title, note = "Is it worth believing?", f"{said}. {_policy_text(worth.policy)}"
        if unmet:
            yield Text("unmet", "\n".join(unmet), title=title, note=note)
            title = note = ""
        yield Table("gate", without_empty(columns, rows), rows, title, note, is_folded=True)
        yield from _rule_runs(worth.rules)


def _rule_runs(rules: Sequence[RuleVerdict]) -> Iterator[Table]:
    """The runs behind the rules that are not met: on demand."""
    rows = [
        (each.rule.says, row.get(RUN_ID), _without_run(row) or None) for each in rules if not each.is_met for row in each.rows if row.get(RUN_ID)
    ]
    if rows:
        columns = (Column("rule"), Column("run_id", "run", "code", link=RUN), Column("what"))
        title = "Runs behind the rules that are not met"
        yield Table("rule_runs", without_empty(columns, rows), tuple(rows[:_MOST_RULE_RUNS]), title, total=len(rows), is_folded=True)


def _policy_text(policy: Policy) -> str:
    described = f": {policy.description}" if policy.description else ""
    return f"Policy {policy.name} {policy.version} ({policy.digest[:12]}){described}"


def _rows_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """What a rule's rows state, each thing once, and of how many runs: which runs these are is in a table of their own."""
    said = Counter(_without_run(row) for row in rows)
    told = [f"{words}{f' ({count} runs)' if count > 1 else ''}" for words, count in said.most_common(_MOST_ROWS) if words]
    if not told:
        return counted(len({row.get(RUN_ID) for row in rows}), "run") if rows else ""
    return "; ".join([*told, *([f"and {len(said) - _MOST_ROWS} more"] if len(said) > _MOST_ROWS else [])])


def _without_run(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {plain_cell(value)}" for name, value in row.items() if name != RUN_ID and value not in (None, ""))


def history(number: Lineage, found: FoundCell, published: Sequence[PublishedRollup], events: Sequence[Event]) -> Table:
    """What the publications of the query hold in the same cell, this one among them, and the current build."""
    rows = [
        (
            each.event.at if each.event else None, each.value, each.number_id, _history_state(each.correction, each.fault),
            _history_words(number, each.publication, each.number_id, each.correction, each.fault), each.publication,
            each.event.by if each.event else None,
        )
        for each in cell_history(published, events, found, _MOST_PUBLICATIONS)
    ]
    total = sum(each.query == number.query for each in published)
    columns = (
        Column("published_at", "published", "moment"), Column("value", kind="number", unit=number.unit, link="/numbers/{number}"),
        Column("number", kind="code", link="/numbers/{number}"), Column("state", kind="state"), Column("words", "what became of it"),
        Column("publication", kind="code", link="/publications/{publication}", is_minor=True), Column("by", is_minor=True),
    )
    return Table("history", columns, tuple(rows), "What was published in its cell", empty="never published", total=total)


def before(number: Lineage, found: FoundCell, published: Sequence[PublishedRollup], events: Sequence[Event]) -> Fact | None:
    """What its cell held a month before, or when it was published last before that; None where it was not."""
    at = number.published.at if number.published else None
    earlier = [
        (each.event.at, each) for each in cell_history(published, events, found, _MOST_PUBLICATIONS)
        if each.event and each.value is not None and each.number_id != number.number_id and (at is None or each.event.at < at)
    ]
    if not earlier:
        return None
    month = (datetime.fromisoformat(at) if at else datetime.now(UTC)) - timedelta(days=_MONTH)
    when, last = next((each for each in earlier if datetime.fromisoformat(each[0]) <= month), earlier[0])
    link = address("/numbers/{number_id}", number_id=last.number_id) if last.number_id else None
    is_number = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (last.value, number.value))
    since = f", {percent(number.value / last.value)} since" if is_number and last.value else ""
    return Fact("before", last.value, number.unit, link, "number", note=f"published {when[:10]}{since}")


def _history_state(correction: Event | None, fault: str | None) -> str:
    if fault:
        return "damaged"
    return "counts" if correction is None else "superseded" if correction.kind == CORRECTION else "withdrawn"


def _history_words(number: Lineage, publication: str, number_id: str | None, correction: Event | None, fault: str | None) -> str:
    words = [
        fault or "",
        "this number" if publication == number.publication else "the same number" if number_id == number.number_id else "",
        "no such cell" if number_id is None and not fault else "",
    ]
    if correction:
        words.append(f"{correction.at[:16].replace('T', ' ')} UTC by {correction.by}: {correction.detail.get('reason')}")
    return "; ".join(filter(None, words))


def verification(number: Lineage) -> Form:
    """The button that verifies the number now."""
    return Form(
        "verification", address("/numbers/{number_id}/verify", number_id=number.number_id), (), "Verify now", "Check it", "post",
    )


def signatures(number: Lineage) -> Table:
    """What the signatures under the number are now."""
    signings = number.signings
    rows: list[tuple[Any, ...]] = []
    if signings:
        if signings.publication:
            rows.append(_signing("publication", number.publication, signings.publication))
        if signings.checkpoint:
            rows.append(_signing("ledger when it was published", None, signings.checkpoint))
        rows += [_signing("decision", digest, each) for digest, each in signings.decisions.items()]
        rows += [_signing("bundle", digest, each) for digest, each in signings.evidence.items()]
    columns = (Column("what"), Column("digest", kind="code"), Column("state", kind="state"), Column("key"), Column("found", is_minor=True))
    note = f"{counted(len(signings.trusted), 'trusted key')}, checked now." if signings else ""
    return Table("signatures", columns, tuple(rows[:_MOST_BUNDLES]), "Signatures", note, "nothing to sign", len(rows), is_folded=True)


def _signing(what: str, digest: str | None, signing: Signing) -> tuple[Any, ...]:
    deciding = signing.deciding
    return what, digest, signing.state, deciding and (deciding.key_name or deciding.key_id[:12]), signing.reason


def citation(visit: Visit, number: Lineage) -> Text:
    """How to cite the number: what it is, where it was published, and the version of the data."""
    unit = f" {number.unit}" if number.unit else ""
    software = ", ".join(f"{name if name == 'wh' else ''} {version}".strip() for name, version in number.software.items())
    if number.publication:
        at = f", published {number.published.at[:10]}" if number.published else ""
        data = f"publication sha256:{number.publication}{at}, query_spec_digest sha256:{number.query_spec_digest}"
    else:
        data = f"not published, build {visit.build.digest if visit.build else ''}, query_spec_digest sha256:{number.query_spec_digest}"
    worth = f" ({number.worth.verdict})" if number.worth else ""
    cited = f"{printable(number.key)} = {number.value}{unit}{worth}. Number {number.number_id}"
    return Text("citation", "; ".join(filter(None, [cited, f"{visit.project.name}, {data}", software])), "raw", "Cite it")
