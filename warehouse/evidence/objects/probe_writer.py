"""A process of `evidence.objects.probe`: makes names when it is told, with several writers at once, and says who did.

It reads lines of JSON: the objects (a pickle, in hex), then for each round what to write, and when. It answers each with a line.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from warehouse.errors import WarehouseError
from warehouse.evidence.objects.fsspec_urls import FsspecObjects
from warehouse.evidence.objects.probe import payload

_APART_S = 0.003  # between two names, so that each begins together; who is late goes on


def serve() -> None:
    """Do what comes on standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a client prints is no answer
    sys.setswitchinterval(1e-5)  # so that threads take turns between a client's look and its writing, not after both
    objects: FsspecObjects = pickle.loads(bytes.fromhex(_next()))
    _say(answers, [objects.exists("probes")])  # the client is made, and has its connections
    while task := _next():
        waiting = [(writer, payload(writer, task["bytes"])) for writer in task["writers"]]
        _say(answers, [])
        begin_at = _next()["begin_at"]

        def write(item: tuple[int, bytes], keys: Sequence[str] = task["keys"], begin_at: float = begin_at) -> list[bool | str]:
            return [_made(objects, key, item[1], begin_at + number * _APART_S) for number, key in enumerate(keys)]

        with ThreadPoolExecutor(len(waiting)) as threads:
            _say(answers, list(threads.map(write, waiting)))


def _made(objects: FsspecObjects, key: str, data: bytes, at: float) -> bool | str:
    while time.monotonic() < at:
        pass  # a sleep ends at another moment in each process
    try:
        return objects.put(key, data)
    except (WarehouseError, OSError) as error:
        return error.message if isinstance(error, WarehouseError) else str(error)


def _next() -> Any:
    line = sys.stdin.readline()
    return json.loads(line) if line else None


def _say(answers: Any, word: object) -> None:
    answers.write(f"{json.dumps(word)}\n")
    answers.flush()
