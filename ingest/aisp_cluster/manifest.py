"""The manifest of a cluster run: what it states of the run, and the state of each file that it lists.

A listed file that is not in the bundle is missing raw. The manifest of a flat run lists itself, with the hash of what was there before.
"""

from __future__ import annotations

from warehouse.landing.contract import Bundle, canonical_json
from warehouse.landing.readers.json_text import Element
from warehouse.landing.readers.text import MAX_VALUE_CHARACTERS, Place, Report, clean
from warehouse.landing.rows import RowBuffer
from warehouse.landing.severity import NOTE

from .documents import Document
from .times import moment

PRESENT, MISSING, DIFFERS, SELF, UNHASHED = "present", "missing raw", "differs", "self", "unhashed"


def land_manifest(bundle: Bundle, buffer: RowBuffer, raw_path: str, cluster_run_id: str) -> dict[str, str]:
    """Add the rows of a manifest. The labels of its nodes, by host."""
    report = Report(buffer, raw_path, None)
    found = Document(bundle, raw_path, report)
    whole = Place(0, len(found.data))
    nodes = found.value("nodes")
    nodes = [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else []
    hosts = [clean(node["host"]) for node in nodes if isinstance(node.get("host"), str)]
    record = found.record(Element(whole.offset, whole.length, 1, None, {key: pair.value for key, pair in found.pairs.items()}))
    summary, git = record.within("summary"), record.within("git")
    stated = found.text("run_id")
    if stated != cluster_run_id and found.pairs:
        report.at("identity-mismatch", f"the manifest is of {str(stated)[:80]}", found.pairs.get("run_id", whole))
    buffer.add(
        "aisp_manifest", raw_path, *whole[:2], cluster_run_id=cluster_run_id, manifest_version=record.count("manifest_version"),
        manifest_mode=found.text("manifest_mode"), written_at=moment(record, "timestamp_utc"), is_finalized=_flag(record.values.get("finalized")),
        status=found.text("status"), suite_status=found.text("suite_status"), is_success=_flag(record.values.get("success")),
        completeness=found.text("completeness"), issues=_json(record.values.get("issues")), git_commit=git.text("commit"),
        is_git_dirty=_flag(git.values.get("dirty")), nodes=",".join(hosts)[:MAX_VALUE_CHARACTERS] or None, listed_count=summary.count("file_count"),
    )
    _land_files(bundle, buffer, raw_path, cluster_run_id, found)
    labelled = (node for node in nodes if isinstance(node.get("label"), str) and node["label"])
    return {clean(str(node.get("host") or node["label"])): clean(node["label"]) for node in labelled}


def _land_files(bundle: Bundle, buffer: RowBuffer, manifest_path: str, cluster_run_id: str, found: Document) -> None:
    listed: dict[str, tuple[Element, str | None]] = {}
    if "files" in found.pairs and isinstance(found.value("files"), list):
        for element in found.inside(found.pairs["files"]):
            if isinstance(element.value, str):
                listed[clean(element.value)] = (element, None)
            else:
                found.report.at("not-a-text", "files", element, "error")
    if "summary" in found.pairs and isinstance(found.value("summary"), dict):
        hashes = next((pair for pair in found.inside(found.pairs["summary"]) if pair.key == "sha256"), None)
        for pair in found.inside(hashes) if hashes and isinstance(hashes.value, dict) else ():
            if isinstance(pair.value, str):
                listed[str(pair.key)] = (pair, clean(pair.value).lower()[:64])
            else:
                found.report.at("not-a-text", f"sha256 of {str(pair.key)[:80]}", pair, "error")
    missing = 0
    for path, (element, sha256) in listed.items():
        raw_path = raw_path_of(path)
        file = bundle.manifest.by_path.get(raw_path)
        state = (
            SELF if raw_path == manifest_path else MISSING if file is None else UNHASHED if sha256 is None
            else PRESENT if file.sha256 == sha256 else DIFFERS
        )
        missing += state == MISSING
        buffer.add(
            "aisp_manifest_entry", manifest_path, element.offset, element.length, cluster_run_id=cluster_run_id,
            path=path[:MAX_VALUE_CHARACTERS], listed_sha256=sha256, state=state,
            file_raw_path=raw_path if file else None, file_sha256=file.sha256 if file else None,
        )
    if missing:
        message = f"{missing} of {len(listed)} listed files are not in the bundle: aisp_manifest_file lists them"
        found.report("missing-raw", message, severity=NOTE)


def raw_path_of(path: str) -> str:
    """The path in a bundle of a file as a manifest lists it."""
    return "figures/" + path.removeprefix("docs/figures/") if path.startswith("docs/figures/") else path.removeprefix("results/")


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _json(value: object) -> str | None:
    try:
        return clean(canonical_json(value).decode())[:MAX_VALUE_CHARACTERS] if isinstance(value, list) and value else None
    except (ValueError, RecursionError, TypeError):
        return None
