"""What a query of `wh sql` may take: time, memory, room on the disk and rows; and the error when it takes more (WH215)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from warehouse.errors import WarehouseError

_MOST_SECONDS = 86_400 * 365
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt])(i?)b", re.IGNORECASE)


@dataclass(frozen=True)
class SqlLimits:
    """`timeout` in seconds, from the beginning of the query to its last row; `memory` of the engine; `spill`, the size of the
    temporary files for what does not fit into it; `rows` of the result (None: any number)."""

    timeout: float = 600
    memory: str = "4GB"
    spill: str = "20GB"
    rows: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.timeout <= _MOST_SECONDS:
            raise ValueError(f"a timeout is a number of seconds above 0, at most {_MOST_SECONDS}")
        if self.rows is not None and self.rows < 1:
            raise ValueError("a number of rows is at least 1")
        if size_bytes(self.memory) == 0:
            raise ValueError("a query needs some memory")
        size_bytes(self.spill)

    def changed(self, timeout: float | None, memory: str | None, spill: str | None, rows: int | None) -> SqlLimits:
        """With those that are given. Raises ValueError."""
        given: dict[str, Any] = {"timeout": timeout, "memory": memory, "spill": spill, "rows": rows}
        return replace(self, **{name: value for name, value in given.items() if value is not None})


def size_bytes(text: str) -> int:
    """The bytes of a size as the engine writes it: 512MB, 1.5 GiB. Raises ValueError."""
    if not (found := _SIZE.fullmatch(text.strip())):
        raise ValueError(f"{text!r} is not a size, such as 512MB or 4GB")
    base = 1024 if found[3] else 1000
    return int(float(found[1]) * base ** ("kmgt".index(found[2].lower()) + 1))


def timed_out(limits: SqlLimits) -> WarehouseError:
    return _reached(f"it took longer than {limits.timeout:g} seconds", "--timeout SECONDS", "timeout")


def out_of_memory(limits: SqlLimits) -> WarehouseError:
    return _reached(f"it took more memory than {limits.memory}", "--memory SIZE", "memory", "aggregate or filter first; or ")


def out_of_spill(limits: SqlLimits) -> WarehouseError:
    message = f"it took more than {limits.memory} of memory and {limits.spill} of temporary files"
    return _reached(message, "--spill SIZE", "spill", "aggregate or filter first; or ")


def too_many_rows(limits: SqlLimits) -> WarehouseError:
    return _reached(f"its result has more than {limits.rows:,} rows", "--rows N", "rows", "add a limit to the query; or ")


def too_many_bytes(most: int) -> WarehouseError:
    return WarehouseError("WH215", f"its result is larger than {most:,} bytes", "query", "aggregate or filter first, or ask for fewer rows")


def _reached(message: str, option: str, key: str, way_out: str = "") -> WarehouseError:
    return WarehouseError("WH215", message, "query", f"{way_out}raise it with {option}, or with {key} in [sql] of warehouse.toml")
