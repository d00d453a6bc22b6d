"""A performance indicator for a GPU: products of two square bfloat16 matrices (needs PyTorch and an NVIDIA GPU).

The environment variable OPERANDS says what is in the matrices: `zeros` or `random`. The product costs the same operations, but zeros switch few
transistors: the GPU draws less power and keeps its clocks. Random operands need so much power that a GPU at its power limit lowers its clocks.
So the operands cause a throttle on purpose, without a change of the GPU's settings.

`elapsed_ms` is the median over batches of products, each batch timed from an idle queue, during `--seconds`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time

PRODUCTS_PER_BATCH = 20


def measure(size: int, seconds: float) -> dict[str, object]:
    """The indicator document. Raises `ValueError` when a product is wrong."""
    import torch

    torch.manual_seed(1)
    left, right = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    if os.environ.get("OPERANDS", "random") == "zeros":
        left, right = torch.zeros_like(left), torch.zeros_like(right)
    product = left @ right
    expected = left[:8].double() @ right.double()
    if not torch.allclose(product[:8].double(), expected, rtol=0.02, atol=0.02 * size**0.5):
        raise ValueError("the product is wrong")
    elapsed_ms = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        torch.cuda.synchronize()
        started = time.perf_counter()
        for _ in range(PRODUCTS_PER_BATCH):
            torch.matmul(left, right, out=product)
        torch.cuda.synchronize()
        elapsed_ms.append((time.perf_counter() - started) * 1000 / PRODUCTS_PER_BATCH)
    return {
        "name": "TorchGemm",
        "component": "torch",
        "component_version": torch.__version__,
        "@parameters": {"size": size, "dtype": "bfloat16", "seconds": seconds},
        "@result": {
            "elapsed_ms": statistics.median(elapsed_ms),
            "flop_per_s": 2 * size**3 / (statistics.median(elapsed_ms) / 1000),
            "batches": len(elapsed_ms),
        },
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--seconds", type=float, default=20)
    print(json.dumps(measure(**vars(parser.parse_args()))))
