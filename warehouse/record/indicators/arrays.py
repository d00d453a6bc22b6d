"""Thoth's indicators of array libraries: PiMatmul, PiConv1D and PiConv2D, by PyTorch where it is installed, else by NumPy.

Parameters come from the environment, under Thoth's names. `elapsed` is the median time of a repetition in ms, and `rate` the Gflop/s of the
operations that Thoth counts. A repetition is `mini_batch` products or convolutions. Data are made outside the timed part, and a result is checked.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

_Case = tuple[dict[str, Any], float, Callable[[], Any], float]
_DTYPES = ("float32", "float64", "float16", "bfloat16")


class _Arrays:
    """Ones, products and convolutions of one library. `device` is cpu or gpu."""

    def __init__(self, device: str, dtype: str) -> None:
        try:
            import torch
        except ImportError:
            import numpy

            self.torch, self.numpy = None, numpy
            self.component, self.version = "numpy", numpy.__version__
            if device != "cpu":
                raise SystemExit("NumPy runs on the CPU alone: install PyTorch for the device gpu") from None
            self.dtype = numpy.dtype(dtype)
        else:
            self.torch, self.component, self.version = torch, "pytorch", torch.__version__
            self.device, self.dtype = "cuda" if device == "gpu" else device, getattr(torch, dtype)

    def ones(self, *shape: int) -> Any:
        if self.torch:
            return self.torch.ones(shape, dtype=self.dtype, device=self.device)
        return self.numpy.ones(shape, dtype=self.dtype)

    def convolved(self, data: Any, kernel: Any, strides: int, pads: list[tuple[int, int]]) -> Any:
        """`data` (batch, channels, sizes...) by `kernel` (outputs, channels, sizes...), padded by so many before and after in each direction."""
        if self.torch:
            padding = [each for pair in reversed(pads) for each in pair]
            padded = self.torch.nn.functional.pad(data, padding) if any(padding) else data
            by_directions = {1: self.torch.nn.functional.conv1d, 2: self.torch.nn.functional.conv2d}
            return by_directions[len(pads)](padded, kernel, stride=strides)
        padded = self.numpy.pad(data, [(0, 0), (0, 0), *pads])
        axes = tuple(range(2, 2 + len(pads)))
        windows = self.numpy.lib.stride_tricks.sliding_window_view(padded, kernel.shape[2:], axis=axes)
        windows = windows[(slice(None), slice(None), *[slice(None, None, strides)] * len(pads))]
        # Channels and the directions within a window are summed up.
        summed = [1, *range(2 + len(pads), 2 + 2 * len(pads))]
        return self.numpy.tensordot(windows, kernel, axes=(summed, list(range(1, kernel.ndim))))

    def finished(self) -> None:
        """Wait for what a GPU has yet to do: its work is only queued when a call returns."""
        if self.torch and self.device == "cuda":
            self.torch.cuda.synchronize()


def _matmul(arrays: _Arrays, parameters: dict[str, Any]) -> _Case:
    size = _count("MATMUL_MATRIX_SIZE", 512)
    one, two = arrays.ones(size, size), arrays.ones(size, size)
    operations = size**3 + (size - 1) * size**2
    return {**parameters, "matrix_size": size}, operations, lambda: one @ two, size


def _convolution(arrays: _Arrays, parameters: dict[str, Any], directions: int) -> _Case:
    batch, channels, outputs = _count("BATCH", 4), _count("TENSOR_INPUT_CHANNELS", 1), _count("FILTER_OUTPUT_CHANNELS", 32)
    data_format = _one_of("CONV_DATA_FORMAT", ("NCW",) if directions == 1 else ("NCHW",))
    padding, strides = _one_of("FILTER_PADDING", ("SAME", "VALID")), _count("FILTER_STRIDES", 2)
    sizes = {"input_height": _count("TENSOR_INPUT_HEIGHT", 700), "input_width": _count("TENSOR_INPUT_WIDTH", 161)}
    kernels = {"filter_height": _count("FILTER_INPUT_HEIGHT", 20), "filter_width": _count("FILTER_INPUT_WIDTH", 5)}
    if directions == 1:
        sizes.pop("input_height"), kernels.pop("filter_height")
    pads = []
    for size, width in zip(sizes.values(), kernels.values(), strict=True):
        # TensorFlow's rule of SAME: as many outputs as inputs by the strides, the odd element after.
        total = max((-(-size // strides) - 1) * strides + width - size, 0) if padding == "SAME" else 0
        pads.append((total // 2, total - total // 2))
    data, kernel = arrays.ones(batch, channels, *sizes.values()), arrays.ones(outputs, channels, *kernels.values())
    operations = batch * channels * outputs * 2 / strides**directions
    largest = float(channels)
    for size, width in zip(sizes.values(), kernels.values(), strict=True):
        operations *= size * width
        largest *= width
    stated = {
        **parameters, "data_format": data_format, "batch": batch, **sizes, "input_channels": channels, **kernels, "output_channels": outputs,
        "strides": strides, "padding": padding,
    }
    return stated, operations, lambda: arrays.convolved(data, kernel, strides, pads), largest


def measure(name: str) -> dict[str, Any]:
    """The indicator's document. Raises `ValueError` if a result is wrong: a wrong answer has no speed."""
    prefix = "MATMUL" if name == "PiMatmul" else "CONV"
    dtype = _one_of("MATMUL_DTYPE" if name == "PiMatmul" else "TENSOR_DTYPE", _DTYPES)
    parameters: dict[str, Any] = {
        "dtype": dtype, "device": _one_of(f"{name.removeprefix('Pi').upper()}_DEVICE", ("cpu", "gpu")), "reps": _count(f"{prefix}_REPS", 30),
        "mini_batch": _count(f"{prefix}_MINI_BATCH", 1),
    }
    arrays = _Arrays(parameters["device"], dtype)
    if name == "PiMatmul":
        parameters, operations, work, expected = _matmul(arrays, parameters)
    else:
        parameters, operations, work, expected = _convolution(arrays, parameters, directions=1 if name == "PiConv1D" else 2)
    largest = float(work().max())  # one that is not timed: it loads libraries and touches memory
    if dtype in ("float32", "float64") and abs(largest / expected - 1) > 0.001:  # sums of shorter types stop at a few thousand
        raise ValueError(f"{name} gave a wrong result")
    times_ms = []
    for _ in range(parameters["reps"]):
        arrays.finished()
        started_ns = time.perf_counter_ns()
        for _ in range(parameters["mini_batch"]):
            work()
        arrays.finished()
        times_ms.append((time.perf_counter_ns() - started_ns) / 1e6)
    elapsed = statistics.median(times_ms)
    return {
        "name": name, "component": arrays.component, "component_version": arrays.version, "@parameters": parameters,
        "@result": {"elapsed": elapsed, "rate": operations * parameters["mini_batch"] / elapsed / 1e6},
    }


def _count(variable: str, default: int) -> int:
    text = os.environ.get(variable, str(default))
    if not text.isdigit() or int(text) < 1:
        raise SystemExit(f"{variable} is {text!r}: give a whole number from 1 on")
    return int(text)


def _one_of(variable: str, values: tuple[str, ...]) -> str:
    text = os.environ.get(variable, values[0])
    if text not in values:
        raise SystemExit(f"{variable} is {text!r}: give {' or '.join(values)}")
    return text


if __name__ == "__main__":
    if sys.argv[1:] not in (["PiMatmul"], ["PiConv1D"], ["PiConv2D"]):
        raise SystemExit("give one of PiMatmul, PiConv1D, PiConv2D")
    print(json.dumps(measure(sys.argv[1])))
