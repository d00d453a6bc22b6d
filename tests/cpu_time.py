"""What the tests of each file cost, in CPU seconds of the workers and of the processes that they started.

A process counts when it has ended. What is made once in a run (`once`) counts for the first test that needs it; what all
processes need to start and to collect has a line of its own.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator

import pytest

DEAREST = 10
_COLLECTING, _PARENT = "(starting and collecting, in all processes)", "(the workers' parent)"


def cpu_seconds() -> float:
    """What this process and its ended children have used."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


class CpuTime:
    """Measures in each process, adds up in the workers' parent, and reports there."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._spent: Counter[str] = Counter()

    def pytest_collection_finish(self) -> None:
        self._spent[_COLLECTING] = cpu_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        begun = cpu_seconds()
        try:
            return (yield)
        finally:
            self._spent[item.path.name] += cpu_seconds() - begun

    def pytest_sessionfinish(self) -> None:
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["cpu_seconds"] = dict(self._spent)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        self._spent.update(getattr(node, "workeroutput", {}).get("cpu_seconds", {}))  # a worker that crashed reports nothing
        self._spent[_PARENT] = time.process_time()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section(f"CPU seconds: {sum(self._spent.values()):.0f}; the {DEAREST} dearest")
        for name, seconds in self._spent.most_common(DEAREST):
            terminalreporter.write_line(f"{seconds:8.1f}  {name}")
