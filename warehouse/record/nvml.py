"""The management library of NVIDIA's driver (NVML), asked so that what it does not know is None."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def _library() -> Any:
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    return pynvml


def nvml() -> Any:
    """The initialised library, or None if there is no driver."""
    return _library()


def asked(function: Callable[..., Any], *arguments: Any) -> Any:
    """What NVML answers, or None if it does not know."""
    driver = nvml()
    try:
        return function(*arguments)
    except driver.NVMLError:
        return None


def handles() -> list[Any]:
    driver = nvml()
    if driver is None:
        return []
    found = (asked(driver.nvmlDeviceGetHandleByIndex, index) for index in range(asked(driver.nvmlDeviceGetCount) or 0))
    return [handle for handle in found if handle is not None]
