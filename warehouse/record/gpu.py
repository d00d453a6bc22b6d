"""NVIDIA GPUs, as the driver's management library (NVML) describes them. Without a driver, or if a GPU does not support a value, the answer is None
or left out, never zero. Names end in NVML's own units (nvml.h of CUDA 13)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from warehouse.record.host import utc_text

# By NVML's field number. Times in which clocks were held back count from the start of the driver, in ns.
_FIELDS = {
    3: "ecc_corrected_count",  # since the driver was loaded
    4: "ecc_uncorrected_count",
    74: "throttle_power_cap_ns",
    75: "throttle_thermal_ns",
    76: "throttle_sync_boost_ns",
    77: "throttle_board_limit_ns",
    78: "throttle_low_utilisation_ns",
    79: "throttle_reliability_ns",
    82: "memory_temperature_c",
    83: "energy_mj",
    94: "pcie_replay_count",
    186: "power_instant_mw",
    269: "throttle_software_thermal_ns",
    270: "throttle_hardware_thermal_ns",
    271: "throttle_power_brake_ns",
}
_MEMBERS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")  # of the union of values, by the type of value


@lru_cache(maxsize=1)
def _nvml() -> Any:
    """The initialised library, or None if there is no driver."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    return pynvml


def _asked(function: Callable[..., Any], *arguments: Any) -> Any:
    """What NVML answers, or None if it does not know."""
    nvml = _nvml()
    try:
        return function(*arguments)
    except nvml.NVMLError:
        return None


def _handles() -> list[Any]:
    nvml = _nvml()
    if nvml is None:
        return []
    found = (_asked(nvml.nvmlDeviceGetHandleByIndex, index) for index in range(_asked(nvml.nvmlDeviceGetCount) or 0))
    return [handle for handle in found if handle is not None]


def gpus() -> list[dict[str, Any]] | None:
    """One entry a GPU (`name`, `uuid`, `memory_bytes`, `driver_version`); None if there is no driver."""
    nvml = _nvml()
    if nvml is None:
        return None
    driver_version = _asked(nvml.nvmlSystemGetDriverVersion)
    return [
        {
            "name": _asked(nvml.nvmlDeviceGetName, handle),
            "uuid": _asked(nvml.nvmlDeviceGetUUID, handle),
            "memory_bytes": getattr(_asked(nvml.nvmlDeviceGetMemoryInfo, handle), "total", None),
            "driver_version": driver_version,
        }
        for handle in _handles()
    ]


def cuda_version() -> str | None:
    """The newest CUDA version the driver supports; None if unknown."""
    nvml = _nvml()
    number = nvml and _asked(nvml.nvmlSystemGetCudaDriverVersion_v2)  # 13000 is 13.0
    return f"{number // 1000}.{number % 1000 // 10}" if number else None


def gpu_readings() -> list[dict[str, Any]]:
    """What each GPU says now: a row of `gpu.jsonl` a GPU. Power is the driver's mean over a second, `power_instant_mw` is not."""
    nvml = _nvml()
    rows = []
    for handle in _handles():
        identity = {
            "sampled_at": utc_text(datetime.now(UTC)),
            "gpu_index": _asked(nvml.nvmlDeviceGetIndex, handle),
            "gpu_uuid": _asked(nvml.nvmlDeviceGetUUID, handle),
        }
        use = _asked(nvml.nvmlDeviceGetUtilizationRates, handle)
        values = {
            "sm_clock_mhz": _asked(nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM),
            "memory_clock_mhz": _asked(nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_MEM),
            "temperature_c": _asked(nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
            "power_mw": _asked(nvml.nvmlDeviceGetPowerUsage, handle),
            "power_limit_mw": _asked(nvml.nvmlDeviceGetEnforcedPowerLimit, handle),
            "util_pct": getattr(use, "gpu", None),
            "memory_copy_util_pct": getattr(use, "memory", None),
            "memory_used_bytes": getattr(_asked(nvml.nvmlDeviceGetMemoryInfo, handle), "used", None),
            "clock_event_reasons": _asked(nvml.nvmlDeviceGetCurrentClocksEventReasons, handle),
        } | _field_values(nvml, handle)
        rows.append(identity | {name: value for name, value in values.items() if value is not None})
    return rows


def _field_values(nvml: Any, handle: Any) -> dict[str, Any]:
    found = _asked(nvml.nvmlDeviceGetFieldValues, handle, list(_FIELDS)) or []
    return {
        _FIELDS[field.fieldId]: getattr(field.value, _MEMBERS[field.valueType])
        for field in found
        if field.nvmlReturn == nvml.NVML_SUCCESS and field.valueType < len(_MEMBERS)
    }
