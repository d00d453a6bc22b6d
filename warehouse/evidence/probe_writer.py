"""A process of `evidence.probe`: makes names when it is told, with several writers at once, and says who did.

It reads lines of JSON: the objects (a pickle, in hex), then for each round what to write, and when. It answers each with a line.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from warehouse.errors import WarehouseError
from warehouse.evidence.fsspec_objects import FsspecObjects
from warehouse.evidence.probe import payload


def serve() -> None:
    """Do what comes on standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a client prints is no answer
    objects: FsspecObjects = pickle.loads(bytes.fromhex(_next()))
    _say(answers, [objects.exists("probes")])  # the client is made, and has its connections
    while task := _next():
        waiting = [(writer, payload(writer, task["bytes"])) for writer in task["writers"]]
        _say(answers, [])
        begin_at = _next()["begin_at"]

        def write(item: tuple[int, bytes], key: str = task["key"], begin_at: float = begin_at) -> bool | str:
            while time.monotonic() < begin_at:
                pass  # a sleep ends at another moment in each process
            try:
                return objects.put(key, item[1])
            except (WarehouseError, OSError) as error:
                return error.message if isinstance(error, WarehouseError) else str(error)

        with ThreadPoolExecutor(len(waiting)) as threads:
            _say(answers, list(threads.map(write, waiting)))


def _next() -> Any:
    line = sys.stdin.readline()
    return json.loads(line) if line else None


def _say(answers: Any, word: object) -> None:
    answers.write(f"{json.dumps(word)}\n")
    answers.flush()
