"""The frozen workload document of each run: what was measured, with what parameters, by which script."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import rfc8785

from warehouse.landing.contract import workload_spec_digest

from .indicator import Indicator


def workload_documents(
    indicators: Mapping[str, Indicator | None], shared: Mapping[str, Any]
) -> dict[str, dict[str, Any] | None]:
    """The workload document of each run, None where nothing is known.

    A run that printed no indicator (it failed, say) has that of the other runs of the same command if they agree, so
    that a failure counts against the workload that failed. Without an indicator that has a name and parameters it is
    the command itself: else any two uses of a tool that prints JSON would be one workload.
    """
    script, argv = shared["script_sha256"], shared["argv"]
    documents: dict[str, dict[str, Any] | None] = {
        run: _indicator_document(indicator, script)
        for run, indicator in indicators.items()
        if indicator and indicator.name is not None and indicator.parameters is not None
    }
    if len({_canonical(document) for document in documents.values()}) == 1:
        fallback = next(iter(documents.values()))
    else:
        # The program by name: where it is installed says nothing of the work.
        fallback = {"argv": [argv[0].rpartition("/")[2], *argv[1:]], "script_sha256": script} if argv else None
    return {run: documents.get(run, fallback) for run in indicators}


def _indicator_document(indicator: Indicator, script_sha256: str | None) -> dict[str, Any]:
    assert indicator.parameters is not None
    # The seed is not part of a workload (DESIGN.md, Words).
    is_seed = re.compile(r"(.*_)?seed", re.IGNORECASE).fullmatch
    parameters = {key: value for key, value in indicator.parameters.items() if not is_seed(key)}
    return {
        "indicator_name": indicator.name,
        "component": indicator.component,
        "parameters": parameters,
        "script_sha256": script_sha256,
    }


def _canonical(document: dict[str, Any] | None) -> str | None:
    try:
        return rfc8785.dumps(document).decode()
    except (ValueError, RecursionError):  # a number that is not finite or beyond 2**53, a lone surrogate
        return None


def workload_columns(document: dict[str, Any] | None, reject: Callable[[str, str], None]) -> dict[str, str]:
    """`workload_document` and its digest; nothing, and an issue, if it has no canonical form."""
    if document is None:
        return {}
    text = _canonical(document)
    if text is None:
        reject("workload-not-canonical", "the workload has no canonical JSON form")
        return {}
    return {"workload_document": text, "workload_spec_digest": workload_spec_digest(document)}
