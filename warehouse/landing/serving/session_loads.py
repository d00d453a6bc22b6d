"""Loads of sessions: conversations of several turns, and agents. There a concurrency counts sessions, not requests: between its turns a
session has none in flight, by design, and an agent with helpers has several.

A workload document of such a load has `load_unit`: `sessions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from warehouse.landing.readers.text import number_in

_PATH = r"(?:.*[/_.])?"
_TURNS = re.compile(rf"{_PATH}(?:num_)?(?:turns?|rounds)(?:[/_](?:mean|num|count))?")  # more than one
_SIZES = re.compile(rf"{_PATH}(?:session_concurrency|trace_idle_gap_cap_seconds|trajectory_start_(?:min|max)_ratio|user_centric_rate)")
_FLAGS = re.compile(rf"{_PATH}(?:enable_multi_turn(?:_chat)?|multi_turn)")
_KINDS = re.compile(
    rf"{_PATH}(?:scenario(?:_type)?|load_pattern(?:[/_]type)?|(?:custom_|public_)?dataset(?:_type)?|(?:data|dataset|load)[/_](?:type|path)|loader)"
)
_SESSIONS = re.compile(r"agent|multi[ _-]?turn|conversation|session|trace[ _-]?replay", re.IGNORECASE)
_TURNS_IN_TEXT = re.compile(r"\bturns\W{1,4}(?:[2-9]|[1-9]\d+)\b")  # `prompt_tokens=256,turns=3`


def load_unit(stated: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """The part of a workload document that says that its load is one of sessions, by what a configuration states; nothing if it does not."""
    return {"load_unit": "sessions"} if any(_states_sessions(key, value) for key, value in stated) else {}


@lru_cache(4096)  # files of one tool have the same keys
def _may_state(key: str) -> bool:
    return key.rpartition("/")[2] == "data" or any(pattern.fullmatch(key) for pattern in (_TURNS, _SIZES, _FLAGS, _KINDS))


def _states_sessions(key: str, value: Any) -> bool:
    if not _may_state(key):
        return False
    if isinstance(value, bool) or value is None:
        return value is True and bool(_FLAGS.fullmatch(key))
    text = str(value)
    number = number_in(text)
    if number is not None:
        return (number > 1 and bool(_TURNS.fullmatch(key))) or (number > 0 and bool(_SIZES.fullmatch(key)))
    if text.casefold() == "true":
        return bool(_FLAGS.fullmatch(key))
    return bool(_KINDS.fullmatch(key) and _SESSIONS.search(text)) or bool(_TURNS_IN_TEXT.search(text) and key.rpartition("/")[2] == "data")
