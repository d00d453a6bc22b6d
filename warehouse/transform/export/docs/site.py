"""The documentation site on disk: pages, assets and the artifacts that catalogues read, in one folder.

Writes into a folder that is new, empty or a site made before; it never touches a folder that holds anything else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warehouse.errors import WarehouseError
from warehouse.transform.export.artifact_manifest import manifest
from warehouse.transform.export.artifact_results import run_results
from warehouse.transform.export.description import ProjectDescription
from warehouse.transform.export.docs.pages import asset_files, page_files

_MARK = "assets/search-index.js"  # what tells a site from any other folder


def write_site(folder: Path, project: ProjectDescription) -> Path:
    """Write the site and return its first page. Raises WH227 when the folder holds something else."""
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARK).is_file():
        raise WarehouseError("WH227", "it holds other files", str(folder), "name another folder: wh docs -o DIR")
    written = set()
    for name, text in site_files(project, datetime.now(UTC)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.add(path)
    for path in [*folder.glob("tables/*.html"), *folder.glob("published/**/*.html")]:
        if path not in written:
            path.unlink()  # of a table or a publication that is gone
    return folder / "index.html"


def site_files(project: ProjectDescription, generated_at: datetime) -> Iterator[tuple[str, str]]:
    """Path and text of every file of the site."""
    yield from asset_files()
    yield from page_files(project)
    used = project.in_use()
    yield "manifest.json", _json(manifest(used, generated_at))
    if used.last_build:
        yield "run_results.json", _json(run_results(used, generated_at))


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
