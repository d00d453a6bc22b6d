"""What the tests of each file cost, in CPU seconds of the workers and of the processes that they started.

A process counts when it has ended. What is made once in a run (`once`) has a line of its own, and so has what all processes
need to start and to collect.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import pytest
from once import MADE, cpu_seconds

DEAREST = 10
_COLLECTING, _PARENT = "(starting and collecting, in all processes)", "(the workers' parent)"


class CpuTime:
    """Measures in each process, adds up in the workers' parent, and reports there."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._spent: Counter[str] = Counter()

    def pytest_collection_finish(self) -> None:
        self._spent[_COLLECTING] = cpu_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        begun = cpu_seconds() - MADE.total()
        try:
            return (yield)
        finally:
            self._spent[item.path.name] += cpu_seconds() - MADE.total() - begun

    def pytest_sessionfinish(self) -> None:
        self._spent.update({f"(once: {name})": seconds for name, seconds in MADE.items()})
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
