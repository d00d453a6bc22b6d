"""Campaigns of Dependency Monkey: what was asked for, which inspections were scheduled, and with which stacks.

A campaign is a folder of inputs with the report or the list of what was scheduled, or of specifications that were sent to Amun by
hand. Its key is its document's id; the reports that are known have none, so it is a digest of what lists its members.
"""

from __future__ import annotations

import re
from typing import Any

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.text import Report, clean, decoded, landed_text, lines
from warehouse.landing.rows import RowBuffer

from .bundles import REPORT, SCHEDULED, SPECIFICATION
from .document import add_stack, duration, parameters_of, state_of
from .reading import Stated, add_lock, stated_in

_MEMBER = re.compile(r"(inspection-.*?[0-9a-f]{8})(?:-[0-9a-z]{5})?", re.DOTALL)  # the suffix is of a pod
_DEPTH = 3
_RESPONSE_DEPTH = 5  # down to the packages of a stack


def add_campaign(bundle: Bundle, buffer: RowBuffer) -> None:
    """Add the campaign and its members."""
    by_role: dict[str | None, list[str]] = {}
    for file in bundle.manifest.files:
        by_role.setdefault(file.role, []).append(file.raw_path)
    name = bundle.manifest.identity.get("name")
    reports, scheduled, specifications = (by_role.get(role, []) for role in (REPORT, SCHEDULED, SPECIFICATION))
    first = (reports or scheduled or specifications)[0]
    stated = stated_in(bundle, first, Report(buffer, first, None), _DEPTH) if reports else None
    document_id = stated.text("metadata/document_id") if stated else None
    kind = "dependency_monkey" if reports or scheduled else "amun"
    key = f"thoth/{document_id or f'{kind}-{bundle.manifest.by_path[first].sha256[:16]}'}"
    for path in reports:
        found = stated if path == first and stated else stated_in(bundle, path, Report(buffer, path, None), _DEPTH)
        _add_responses(buffer, path, key, key if path == first else f"{key}/{path}", found)
    for path in scheduled:
        _add_scheduled(bundle, buffer, path, key)
    for path in specifications:
        _add_specification(bundle, buffer, path, key)
    columns: dict[str, Any] = {"state": "unknown"}
    if stated is not None:
        state, reason = state_of(stated)
        ended, is_assumed = stated.moment("metadata/datetime")
        columns = {
            "state": state, "state_reason": reason, "ended_at": ended, "is_zone_assumed": is_assumed, "duration_s": duration(stated),
            "tool_version": stated.text("metadata/analyzer_version"), "parameters": parameters_of(stated),
            "seed": stated.record.text("result/parameters/seed"), "requested_count": stated.record.count("result/parameters/count"),
            "skipped_count": stated.record.count("result/report/skipped"),
        }
    buffer.add(
        "thoth_campaign", first, 0, bundle.manifest.by_path[first].bytes, campaign_key=key, kind=kind,
        name=landed_text(clean(name)) if isinstance(name, str) else None, **columns,
    )


def _add_responses(buffer: RowBuffer, raw_path: str, key: str, document_key: str, stated: Stated) -> None:
    for number, element in enumerate(stated.objects("result/report/responses"), start=1):
        response = stated.within(element, _RESPONSE_DEPTH)
        stack_key, digest, score = add_stack(buffer, raw_path, document_key, number, response, element, "product/")
        member = response.text("response")
        if member is None:
            stated.report.at("no-member", f"response {number} names no inspection", element)
            continue
        buffer.add(
            "thoth_campaign_member", raw_path, element.offset, element.length, campaign_key=key, stated_in=REPORT,
            stack_key=stack_key, packages_digest=digest, score=score, **_named(member, Report(buffer, raw_path, None), element),
        )


def _add_scheduled(bundle: Bundle, buffer: RowBuffer, raw_path: str, key: str) -> None:
    report = Report(buffer, raw_path, None)
    for line in lines(bundle.map(raw_path), report):
        member = decoded(line, report).strip()
        named = _named(member, report, line)
        buffer.add("thoth_campaign_member", raw_path, line.offset, len(line.data), campaign_key=key, stated_in=SCHEDULED, **named)


def _add_specification(bundle: Bundle, buffer: RowBuffer, raw_path: str, key: str) -> None:
    asked = stated_in(bundle, raw_path, Report(buffer, raw_path, None), 4)
    member = clean(raw_path.partition("/")[0])
    digest = add_lock(buffer, raw_path, f"{key}#{member}", asked, "python/requirements_locked/")
    buffer.add(
        "thoth_campaign_member", raw_path, 0, bundle.manifest.by_path[raw_path].bytes, campaign_key=key, member=member,
        stated_in=SPECIFICATION, stack_key=f"{key}#{member}", packages_digest=digest,
    )


def _named(member: str, report: Report, place: Any) -> dict[str, str | None]:
    found = _MEMBER.fullmatch(member)
    if found is None:
        report.at("not-an-inspection", f"{member[:120]!r} is not the name of an inspection", place)
    return {"member": clean(member)[:256], "inspection_id": clean(found[1]) if found else None}
