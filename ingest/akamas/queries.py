"""The unit of a metric, by the PromQL that collected it."""

from __future__ import annotations

import re

# The units in which exporters give a metric that a query only aggregates (DCGM's documentation, vLLM's metrics).
_PLAIN = re.compile(r"(?:avg|max|min|sum)(?:\s+by\s*\([^)]*\))?\s*\(\s*([a-zA-Z_:][\w:]*)\{[^}]*\}\s*\)")
_UNITS = (
    (re.compile(r"DCGM_FI_PROF_\w+_(?:ACTIVE|OCCUPANCY)|vllm:\w*cache_usage_perc"), "ratio"),
    (re.compile(r"DCGM_FI_DEV_\w*UTIL"), "%"),
    (re.compile(r"DCGM_FI_DEV_FB_(?:USED|FREE|TOTAL|RESERVED)"), "MiB"),
    (re.compile(r"DCGM_FI_DEV_POWER_(?:USAGE|MGMT_LIMIT)"), "W"),
    (re.compile(r"DCGM_FI_DEV_(?:GPU|MEMORY)_TEMP"), "C"),
    (re.compile(r"DCGM_FI_DEV_(?:SM|MEM)_CLOCK"), "MHz"),
    (re.compile(r"vllm:num_requests_\w+"), "count"),
)
_TOKEN_RATE = re.compile(r"sum\s*\(\s*rate\s*\(\s*\w+:?\w*tokens_total\{[^}]*\}\[[^]]*\]\s*\)\s*\)")
_QUANTILE = re.compile(r"\(?\s*histogram_quantile\(.*_seconds_bucket\b.*?\)\s*\)*\s*(\*\s*1000)?", re.DOTALL)
_MEAN = re.compile(
    r"\(?\s*sum\s*\(\s*rate\s*\(\s*[\w:]+_seconds_sum\b.*_seconds_count\b.*?\)\s*\)*\s*(?:,\s*[\de.-]+\s*\)\s*\)?)?\s*(\*\s*1000)?", re.DOTALL
)


def unit_of(query: str) -> str | None:
    """The unit of what a query returns; None if no rule knows it."""
    if plain := _PLAIN.fullmatch(query.strip()):
        return next((unit for names, unit in _UNITS if names.fullmatch(plain[1])), None)
    if _TOKEN_RATE.fullmatch(query.strip()):
        return "tokens/s"
    for pattern in (_QUANTILE, _MEAN):
        if found := pattern.fullmatch(query.strip()):
            return "ms" if found[1] else "s"
    return None
