"""Result documents of Thoth's analysers. A document without a report, because its analyser failed, is a row with that state."""

from __future__ import annotations

from typing import Any

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.json_text import Element
from warehouse.landing.readers.text import Report, clean, landed_text
from warehouse.landing.rows import RowBuffer

from .reading import Stated, add_lock, add_package, is_object, json_of, stated_in, text_of

_DEPTH = 3
_KINDS = {"thoth-adviser": "adviser", "thoth-solver": "solver", "thoth-package-extract": "package_extract"}
_STACK_DEPTH = 4  # down to the packages of a stack


def add_document(bundle: Bundle, raw_path: str, buffer: RowBuffer) -> None:
    """Add the rows of one document."""
    report = Report(buffer, raw_path, None)
    stated = stated_in(bundle, raw_path, report, _DEPTH)
    kind = _KINDS.get(str(stated.value("metadata/analyzer")), "unknown")
    document_id = stated.text("metadata/document_id")
    key = f"thoth/{document_id or bundle.digest[:16]}"
    state, reason = state_of(stated)
    subject = None
    if kind == "unknown":
        report("unknown-analyzer", f"{stated.value('metadata/analyzer')!r}: its result is not read"[:200], severity="error")
    if kind == "adviser":
        add_stacks(buffer, raw_path, key, stated, "result/report/products")
        subject = stated.text("result/parameters/recommendation_type")
    elif kind == "solver":
        _add_tree(buffer, raw_path, key, stated)
        subject = _requirements(stated)
    elif kind == "package_extract":
        _add_extracted(buffer, raw_path, key, stated)
        arguments = stated.value("metadata/arguments/extract-image")
        subject = text_of(arguments, "image") if is_object(arguments) else None
    ended, is_assumed = stated.moment("metadata/datetime")
    buffer.add(
        "thoth_document", raw_path, 0, bundle.manifest.by_path[raw_path].bytes, document_key=key, kind=kind, document_id=document_id,
        analyzer_version=stated.text("metadata/analyzer_version"), deployment=stated.text("metadata/thoth_deployment_name"),
        ended_at=ended, is_zone_assumed=is_assumed, duration_s=duration(stated), state=state, state_reason=reason,
        parameters=parameters_of(stated), subject=subject,
    )


def state_of(stated: Stated) -> tuple[str, str | None]:
    """Whether the analyser failed, and in which words. Only thoth-adviser says that it did not."""
    error = stated.value("result/error")
    if error is True:
        return "failed", stated.text("result/error_msg")
    if error is None:
        has_result = any(key.startswith("result/") for key in stated.elements)
        return ("succeeded", None) if has_result else ("unknown", None)
    if error is not False:
        stated.report.at("not-a-boolean", f"result/error: {error!r}"[:120], stated.elements["result/error"], "error")
        return "unknown", None
    return "succeeded", None


def duration(stated: Stated) -> float | None:
    """Seconds, as the analysers' metadata have it; older documents state none."""
    number = stated.record.number("metadata/duration")
    if number is not None and number < 0:
        stated.report.at("negative-measurement", f"metadata/duration: {number}", stated.elements["metadata/duration"], "error")
        return None
    return number


def parameters_of(stated: Stated) -> str | None:
    """The parameters as one JSON object; the project is left out, because its stacks have rows."""
    start = "result/parameters/"
    found = {key.removeprefix(start): element.value for key, element in stated.elements.items() if key.startswith(start)}
    found.pop("project", None)
    return json_of(found) if found else None


def add_stacks(buffer: RowBuffer, raw_path: str, document_key: str, stated: Stated, key: str) -> None:
    """Add the stacks of a list of products."""
    for number, element in enumerate(stated.objects(key), start=1):
        add_stack(buffer, raw_path, document_key, number, stated.within(element, _STACK_DEPTH), element, "")


def add_stack(
    buffer: RowBuffer, raw_path: str, document_key: str, number: int, product: Stated, place: Element, prefix: str
) -> tuple[str, str | None, float | None]:
    """Add a stack, and return its key, the digest of its packages and its score."""
    stack_key = f"{document_key}#{number}"
    digest = add_lock(buffer, raw_path, stack_key, product, f"{prefix}project/requirements_locked/")
    score = product.record.number(f"{prefix}score")
    environment = f"{prefix}project/runtime_environment/"
    buffer.add(
        "thoth_stack", raw_path, place.offset, place.length, stack_key=stack_key, document_key=document_key, stack_number=number,
        score=score, justification=json_of(product.value(f"{prefix}justification")),
        python_version=product.record.text(f"{environment}python_version"), cuda_version=product.record.text(f"{environment}cuda_version"),
        os_name=product.record.text(f"{environment}operating_system/name"),
        os_version=product.record.text(f"{environment}operating_system/version"), packages_digest=digest,
    )
    return stack_key, digest, score


def _requirements(stated: Stated) -> str | None:
    """What a solver was asked to solve; the command was called pypi at first."""
    arguments = (stated.value(f"metadata/arguments/{command}") for command in ("python", "pypi"))
    return next((text_of(each, "requirements") for each in arguments if is_object(each)), None)


def _add_tree(buffer: RowBuffer, raw_path: str, key: str, stated: Stated) -> None:
    """Add the packages that were solved, each by itself, and those that were in the environment before."""
    # In 2018 `environment` was the list of packages, since then it describes the interpreter.
    installed = "result/environment_packages" if "result/environment_packages" in stated.elements else "result/environment"
    for source, path in (("tree", "result/tree"), ("environment", installed)):
        if source == "environment" and not isinstance(stated.value(path), list):
            continue
        for element in stated.objects(path):
            values = element.value
            name = text_of(values, "package_name")
            if name is None:
                stated.report.at("no-name", f"{path}: a package without a name", element, "error")
                continue
            version, index_url = text_of(values, "package_version"), text_of(values, "index_url")
            add_package(buffer, raw_path, element, key, source, name, version, index_url, values.get("sha256"))


def _add_extracted(buffer: RowBuffer, raw_path: str, key: str, stated: Stated) -> None:
    """Add the packages that were found in an image: of its package manager, and of Python and others in its files."""
    for element in stated.objects("result/rpm-dependencies"):
        values = element.value
        if (name := text_of(values, "name")) is None:
            stated.report.at("no-name", "result/rpm-dependencies: a package without a name", element, "error")
            continue
        version = "-".join(part for part in (text_of(values, "version"), text_of(values, "release")) if part) or None
        add_package(buffer, raw_path, element, key, "rpm", name, version)
    for element in stated.objects("result/mercator"):
        found: Any = element.value.get("result")
        name = text_of(found, "name") if is_object(found) else None
        if name is None:
            stated.report.at("no-name", "result/mercator: an entry without a package", element, "note")
            continue
        ecosystem = landed_text(clean(str(element.value.get("ecosystem"))[:80])) or "unknown"
        add_package(buffer, raw_path, element, key, ecosystem.lower(), name, text_of(found, "version"))
