"""An inspection: what was asked for, how its image was built, and its results, each of which is a run.

Its id is its folder's name; where that is none, the one in the name of a result's pod, which is the id and a number.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.text import Report, clean, landed_text, lines
from warehouse.landing.rows import RowBuffer, workload_columns

from .bundles import BUILD_LOG, HWINFO, RESULT, SPECIFICATION
from .indicator import DEPTH, Indicator, Pair, add_values
from .reading import Stated, add_lock, is_object, stated_in, text_of
from .result import Result

_POD = re.compile(r"(inspection-.*[0-9a-f]{8})-[0-9]+", re.DOTALL)
_PUSHED = re.compile(rb"Successfully pushed \S+@(sha256:[0-9a-f]{64})\s*\Z")
_SUCCESS = b"Push successful"
_FAILURE = re.compile(rb"error:|Error:|ERROR:")
_URL = re.compile(r"https?://\S+")
_TAIL_LINES = 40  # of a build log, in which the builder says how it ended
_SECRET = re.compile(r"token|secret|passw|credential|api_?key|access_?key|private", re.IGNORECASE)
_SEED = re.compile(r"(?:.*_)?seed", re.IGNORECASE | re.DOTALL)


class _Build(NamedTuple):
    state: str
    reason: str | None
    image_digest: str | None


def add_inspection(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add the rows of an inspection; yields batches that are full."""
    paths = {(file.role, _number(file.raw_path)): file.raw_path for file in bundle.manifest.files}
    numbers = sorted(number for role, number in paths if role == RESULT and number is not None)
    results = {number: stated_in(bundle, paths[RESULT, number], Report(buffer, paths[RESULT, number], None), DEPTH) for number in numbers}
    inspection_id = _inspection_id(bundle, results)
    specification = paths.get((SPECIFICATION, None))
    asked = None
    if specification is not None:
        asked = stated_in(bundle, specification, Report(buffer, specification, None), 4)
        _add_specification(bundle, specification, asked, inspection_id, len(numbers), buffer)
    environment = _environment(asked) if asked else []
    conditions = _conditions(asked, environment) if asked else {}
    build = _add_build(bundle, paths.get((BUILD_LOG, None)), inspection_id, buffer)
    yield from buffer.full()
    runs = []
    for number, stated in results.items():
        hwinfo = paths.get((HWINFO, number))
        is_apart = hwinfo is not None and bool(stated.elements) and not _has_hwinfo(stated)
        apart = stated_in(bundle, hwinfo, Report(buffer, hwinfo, None), DEPTH, "hwinfo/") if hwinfo and is_apart else None
        run = Result(paths[RESULT, number], f"thoth/{inspection_id}/{number}", number, stated, apart, hwinfo)
        run.report_identity(inspection_id)
        runs.append((run, indicator := run.add_indicator(buffer)))
        if asked is not None and specification is not None:
            add_values(buffer, specification, run.run_id, indicator, environment, asked.report)
        yield from buffer.full()
    documents = [_indicator_document(indicator, run.script_sha256, conditions) for run, indicator in runs]
    known = {json.dumps(document, sort_keys=True): document for document in documents if document}
    for (run, indicator), document in zip(runs, documents, strict=True):
        # A run that printed no indicator counts against the workload of the others, if they agree.
        found = document or (next(iter(known.values())) if len(known) == 1 else _script_document(asked, run.script_sha256, conditions))
        run.add(buffer, inspection_id, indicator, workload_columns(found) if found else {})
        yield from buffer.full()
    if not numbers:
        _add_unrun(bundle, paths, _script_document(asked, None, conditions), inspection_id, build, buffer)


def _number(raw_path: str) -> int | None:
    return int(raw_path.split("/")[1]) if raw_path.startswith("results/") else None


def _has_hwinfo(stated: Stated) -> bool:
    return any(key.startswith("hwinfo/") for key in stated.elements)


def _inspection_id(bundle: Bundle, results: dict[int, Stated]) -> str:
    stated = bundle.manifest.identity.get("inspection_id")
    if isinstance(stated, str):
        return clean(stated)
    for result in results.values():
        hostname = result.value("hostname")
        if isinstance(hostname, str) and (found := _POD.fullmatch(hostname)):
            return clean(found[1])
    return bundle.digest[:16]


def _add_specification(bundle: Bundle, raw_path: str, asked: Stated, inspection_id: str, result_count: int, buffer: RowBuffer) -> None:
    found = asked.value("python/requirements_locked/_meta/hash")
    packages = add_lock(buffer, raw_path, inspection_id, asked, "python/requirements_locked/")
    count = asked.record.count("batch_size")
    if count is not None and count != result_count:
        # Amun's own interface gives the number of results as the batch's size (job/batch-size).
        message = f"{count} results were asked for, {result_count} are here"
        asked.report.at("results-missing" if count > result_count else "results-unexpected", message, asked.elements["batch_size"])
    buffer.add(
        "thoth_inspection", raw_path, 0, bundle.manifest.by_path[raw_path].bytes, inspection_id=inspection_id,
        identifier=asked.text("identifier"), base_image=asked.text("base"), package_manager=asked.text("package_manager"),
        script=_script(asked), requested_batch_size=count, result_count=result_count,
        build_cpu=asked.record.text("build/requests/cpu"), build_memory=asked.record.text("build/requests/memory"),
        run_cpu=asked.record.text("run/requests/cpu"), run_memory=asked.record.text("run/requests/memory"),
        created_at=asked.moment("@created")[0], lock_sha256=text_of(found, "sha256") if is_object(found) else None, packages_digest=packages,
    )


def _script(asked: Stated) -> str | None:
    """The script's address; of a script that is given as text, its digest."""
    script = asked.value("script")
    if not isinstance(script, str) or not script:
        return None
    return landed_text(clean(script)) if _URL.fullmatch(script) else f"sha256:{hashlib.sha256(clean(script).encode()).hexdigest()}"


def _add_build(bundle: Bundle, raw_path: str | None, inspection_id: str, buffer: RowBuffer) -> _Build:
    """Add how the build ended, by the last lines of its log."""
    if raw_path is None:
        return _Build("unknown", None, None)
    report = Report(buffer, raw_path, None)
    data = bundle.map(raw_path)
    tail = list(lines(data, report))[-_TAIL_LINES:]
    if not tail:
        report("empty-document", "the file states nothing")
        return _Build("unknown", None, None)
    pushed = next((line for line in reversed(tail) if _PUSHED.search(line.data)), None)
    digest = _PUSHED.search(pushed.data) if pushed else None
    failure = next((line for line in reversed(tail) if _FAILURE.search(line.data)), None)
    if tail[-1].data.strip() == _SUCCESS:
        place, state, reason = pushed or tail[-1], "succeeded", None
    elif failure is not None:
        place, state, reason = failure, "failed", landed_text(clean(failure.data.decode(errors="replace")).strip())
    else:
        place, state, reason = tail[-1], "unknown", "the log of the build ends without its result"
        report.at("unfinished-log", reason, place)
    build = _Build(state, reason, digest[1].decode() if digest else None)
    buffer.add("thoth_build", raw_path, place.offset, len(place.data), inspection_id=inspection_id, **build._asdict())
    return build


def _add_unrun(
    bundle: Bundle, paths: dict[tuple[str | None, int | None], str], document: dict[str, Any] | None, inspection_id: str, build: _Build,
    buffer: RowBuffer,
) -> None:
    """Add the run that a failed build took the place of. An inspection without results whose build did not fail is an issue."""
    raw_path = paths.get((BUILD_LOG, None)) or paths[SPECIFICATION, None]
    if build.state != "failed":
        buffer.issue("no-results", f"the inspection has no results; its build: {build.state}", raw_path, severity="warning")
        return
    buffer.add(
        "thoth_run", raw_path, 0, bundle.manifest.by_path[raw_path].bytes, run_id=f"thoth/{inspection_id}/build",
        inspection_id=inspection_id, status="failed", status_reason=f"build: {build.reason}", **(workload_columns(document) if document else {}),
    )


def _environment(asked: Stated) -> list[Pair]:
    """The variables that the script was to run with, by their names. One that seems to hold a secret does not land."""
    found = []
    for element in asked.objects("environment"):
        name, value = element.value.get("name"), element.value.get("value")
        if isinstance(name, str) and name and isinstance(value, (str, int, float)) and not _SECRET.search(name):
            found.append(Pair("parameter", f"run/environment/{name}", element._replace(value=value)))
    return found


def _conditions(asked: Stated, environment: list[Pair]) -> dict[str, Any]:
    """What tells workloads of one script apart beside its parameters: a thread count is set by a variable or follows from the CPUs."""
    variables = {clean(pair.key.rpartition("/")[2]): clean(str(pair.element.value)) for pair in environment}
    cpu = asked.record.text("run/requests/cpu")
    return {**({"environment": variables} if variables else {}), **({"cpu_request": cpu} if cpu else {})}


def _indicator_document(indicator: Indicator | None, script_sha256: str | None, conditions: dict[str, Any]) -> dict[str, Any] | None:
    """The workload, as a recording of the same script has it, and what the inspection asked for. The seed is no part of it."""
    if indicator is None or indicator.name is None or indicator.parameters is None:
        return None
    return {
        "indicator_name": indicator.name, "component": indicator.component, "script_sha256": script_sha256,
        "parameters": {key: value for key, value in indicator.parameters.items() if not _SEED.fullmatch(key)}, **conditions,
    }


def _script_document(asked: Stated | None, script_sha256: str | None, conditions: dict[str, Any]) -> dict[str, Any] | None:
    script = _script(asked) if asked else None
    return {"script": script, "script_sha256": script_sha256, **conditions} if script or script_sha256 else None
