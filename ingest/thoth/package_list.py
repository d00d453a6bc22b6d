"""Lists of packages that thoth-package-extract found in the log of an installation: of pip, yum or dnf."""

from __future__ import annotations

from typing import Any

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import document
from warehouse.landing.readers.json_text import Element, json_elements
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer

from .reading import add_package, is_object, text_of


def add_package_list(bundle: Bundle, raw_path: str, buffer: RowBuffer) -> None:
    """Add the packages of a list, or of the lists of several handlers, and the document that it is."""
    report = Report(buffer, raw_path, None)
    data = document(bundle, raw_path, report)
    key = f"thoth/{bundle.digest[:16]}"
    for element in json_elements(data, report):
        if not is_object(element.value):
            report.at("not-an-object", "a package is expected", element, "error")
        elif isinstance(handled := element.value.get("result"), list):
            for package in handled:
                _add(buffer, raw_path, key, element, package, text_of(element.value, "handler") or "log", report)
        else:
            _add(buffer, raw_path, key, element, element.value, "pip3" if "version_installed" in element.value else "rpm_log", report)
    buffer.add(
        "thoth_document", raw_path, 0, bundle.manifest.by_path[raw_path].bytes, document_key=key, kind="package_extract",
        state="succeeded" if data.strip() else "unknown", subject=raw_path,
    )


def _add(buffer: RowBuffer, raw_path: str, key: str, place: Element, package: Any, source: str, report: Report) -> None:
    values = package if is_object(package) else {}
    name = text_of(values, "package") or text_of(values, "name")
    if name is None:
        report.at("no-name", "a package without a name", place, "error")
        return
    # pip states no version of a package that was there before, but which was asked for.
    version = text_of(values, "version_installed") or text_of(values, "version")
    add_package(buffer, raw_path, place, key, source, name, version)
