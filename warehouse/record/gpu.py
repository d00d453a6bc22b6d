"""NVIDIA GPUs, as the driver's management library (NVML) describes them. Without a driver, or if a GPU does not support a value, the answer is None
or left out, never zero. Names end in NVML's own units (nvml.h of CUDA 13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from warehouse.record.gpu_activity import Activity, ErrorEvents
from warehouse.record.host import utc_text
from warehouse.record.nvml import asked, handles, nvml

# By NVML's field number. Times in which clocks were held back count from the start of the driver, in ns; bytes and errors of links likewise.
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
    52: "nvlink_replay_count",
    59: "nvlink_recovery_count",
    94: "pcie_replay_count",
    138: "nvlink_sent_kib",  # all links, without headers
    139: "nvlink_recv_kib",
    142: "remapped_corrected_rows",
    143: "remapped_uncorrected_rows",
    144: "remap_pending",
    145: "remap_failed",
    173: "pcie_correctable_error_count",
    186: "power_instant_mw",
    197: "pcie_sent_bytes",
    198: "pcie_recv_bytes",
    269: "throttle_software_thermal_ns",
    270: "throttle_hardware_thermal_ns",
    271: "throttle_power_brake_ns",
}
_ALL_LINKS = 0xFFFFFFFF
_ASKED = [(number, _ALL_LINKS) if number in (138, 139) else number for number in _FIELDS]
_MEMBERS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")  # of the union of values, by the type of value


def gpus() -> list[dict[str, Any]] | None:
    """One entry a GPU: what it is, and the most that it could do (clocks in MHz, power in mW, PCIe link); None if there is no driver."""
    driver = nvml()
    if driver is None:
        return None
    driver_version = asked(driver.nvmlSystemGetDriverVersion)
    return [
        {
            "name": asked(driver.nvmlDeviceGetName, handle),
            "uuid": asked(driver.nvmlDeviceGetUUID, handle),
            "memory_bytes": getattr(asked(driver.nvmlDeviceGetMemoryInfo, handle), "total", None),
            "driver_version": driver_version,
            "max_sm_clock_mhz": asked(driver.nvmlDeviceGetMaxClockInfo, handle, driver.NVML_CLOCK_SM),
            "application_sm_clock_mhz": asked(driver.nvmlDeviceGetApplicationsClock, handle, driver.NVML_CLOCK_SM),
            "default_power_limit_mw": asked(driver.nvmlDeviceGetPowerManagementDefaultLimit, handle),
            "max_pcie_width": asked(driver.nvmlDeviceGetMaxPcieLinkWidth, handle),
            "max_pcie_generation": asked(driver.nvmlDeviceGetMaxPcieLinkGeneration, handle),
            "is_mig_enabled": _is_mig_enabled(driver, handle),
        }
        for handle in handles()
    ]


def _is_mig_enabled(driver: Any, handle: Any) -> bool | None:
    mode = asked(driver.nvmlDeviceGetMigMode, handle)  # now, and after the next reset
    return None if mode is None else mode[0] == driver.NVML_DEVICE_MIG_ENABLE


def cuda_version() -> str | None:
    """The newest CUDA version the driver supports; None if unknown."""
    driver = nvml()
    number = driver and asked(driver.nvmlSystemGetCudaDriverVersion_v2)  # 13000 is 13.0
    return f"{number // 1000}.{number % 1000 // 10}" if number else None


class GpuReadings:
    """Called again and again, what each GPU says then: a row of `gpu.jsonl` a GPU. Power is the driver's mean over a second,
    `power_instant_mw` is not. Of GPUs that measure their units' activity, that is the mean since the last call."""

    def __init__(self) -> None:
        self._activity: dict[str, Activity] = {}
        self._errors = ErrorEvents()

    def __call__(self) -> list[dict[str, Any]]:
        errors = self._errors()
        return [row for handle in handles() for row in self._of_gpu(handle, errors)]

    def _of_gpu(self, handle: Any, errors: Mapping[str, Sequence[int]]) -> Iterator[dict[str, Any]]:
        driver = nvml()
        uuid = asked(driver.nvmlDeviceGetUUID, handle)
        identity = {"sampled_at": utc_text(datetime.now(UTC)), "gpu_index": asked(driver.nvmlDeviceGetIndex, handle), "gpu_uuid": uuid}
        use = asked(driver.nvmlDeviceGetUtilizationRates, handle)
        if uuid not in self._activity:
            self._activity[uuid] = Activity(handle)
        values = {
            "sm_clock_mhz": asked(driver.nvmlDeviceGetClockInfo, handle, driver.NVML_CLOCK_SM),
            "memory_clock_mhz": asked(driver.nvmlDeviceGetClockInfo, handle, driver.NVML_CLOCK_MEM),
            "temperature_c": asked(driver.nvmlDeviceGetTemperature, handle, driver.NVML_TEMPERATURE_GPU),
            "power_mw": asked(driver.nvmlDeviceGetPowerUsage, handle),
            "power_limit_mw": asked(driver.nvmlDeviceGetEnforcedPowerLimit, handle),
            "util_pct": getattr(use, "gpu", None),
            "memory_copy_util_pct": getattr(use, "memory", None),
            "memory_used_bytes": getattr(asked(driver.nvmlDeviceGetMemoryInfo, handle), "used", None),
            "clock_event_reasons": asked(driver.nvmlDeviceGetCurrentClocksEventReasons, handle),
            "pcie_width": asked(driver.nvmlDeviceGetCurrPcieLinkWidth, handle),
            "pcie_generation": asked(driver.nvmlDeviceGetCurrPcieLinkGeneration, handle),
        } | _field_values(driver, handle) | self._activity[uuid]()
        yield identity | {name: value for name, value in values.items() if value is not None}
        yield from (identity | {"xid": number} for number in errors.get(uuid, ()))  # each error is a row


def _field_values(driver: Any, handle: Any) -> dict[str, Any]:
    found = asked(driver.nvmlDeviceGetFieldValues, handle, _ASKED) or []
    return {
        _FIELDS[field.fieldId]: getattr(field.value, _MEMBERS[field.valueType])
        for field in found
        if field.nvmlReturn == driver.NVML_SUCCESS and field.valueType < len(_MEMBERS)
    }
