"""What a GPU does between two readings: how active its units are, if it measures that (GPM, since Hopper), and the errors that its driver reports."""

from __future__ import annotations

from typing import Any

from warehouse.record.nvml import asked, handles, nvml

# By NVML's number of the metric.
_METRICS = {2: "sm_active_pct", 3: "sm_occupancy_pct", 5: "tensor_active_pct", 10: "dram_active_pct"}


class Activity:
    """How active the units of one GPU were between two calls, in percent of the time."""

    def __init__(self, handle: Any) -> None:
        self._handle, self._before = handle, None
        driver = nvml()
        support = asked(driver.nvmlGpmQueryDeviceSupport, handle)
        if getattr(support, "isSupportedDevice", False):
            self._samples = [asked(driver.nvmlGpmSampleAlloc), asked(driver.nvmlGpmSampleAlloc)]
        else:
            self._samples = []

    @property
    def is_supported(self) -> bool:
        return bool(self._samples) and None not in self._samples

    def __call__(self) -> dict[str, float]:
        driver = nvml()
        if not self.is_supported:
            return {}
        before, now = self._before, self._samples[0]
        if asked(driver.nvmlGpmSampleGet, self._handle, now) is None:
            return {}
        self._before, self._samples = now, self._samples[::-1]
        if before is None:
            return {}
        wanted = driver.c_nvmlGpmMetricsGet_t()
        wanted.version, wanted.numMetrics, wanted.sample1, wanted.sample2 = driver.NVML_GPM_METRICS_GET_VERSION, len(_METRICS), before, now
        for place, number in enumerate(_METRICS):
            wanted.metrics[place].metricId = number
        found = asked(driver.nvmlGpmMetricsGet, wanted)
        metrics = found.metrics[: len(_METRICS)] if found is not None else ()
        return {_METRICS[each.metricId]: each.value for each in metrics if each.nvmlReturn == driver.NVML_SUCCESS}


class ErrorEvents:
    """The driver's critical errors (XID) from its creation on. Called again and again: by GPU, those since the last call."""

    def __init__(self) -> None:
        driver = nvml()
        self._events = asked(driver.nvmlEventSetCreate) if driver else None
        for handle in handles() if self._events is not None else ():
            asked(driver.nvmlDeviceRegisterEvents, handle, driver.nvmlEventTypeXidCriticalError, self._events)

    def __call__(self) -> dict[str, list[int]]:
        driver, found = nvml(), dict[str, list[int]]()
        while self._events is not None and (event := asked(driver.nvmlEventSetWait_v2, self._events, 0)) is not None:
            found.setdefault(str(asked(driver.nvmlDeviceGetUUID, event.device)), []).append(event.eventData)
        return found
