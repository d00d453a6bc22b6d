"""A performance indicator for a GPU and for what feeds it: steps of a small transformer (needs PyTorch and an NVIDIA GPU).

The environment variable INPUT says where the batches come from. `resident`: one batch, on the GPU. `process`: each batch is prepared by the training
process itself, while the GPU waits. `disk`: each batch is read from a file, past the page cache. The steps compute the same in each case, so a
difference is the input's.

`elapsed_ms` is the median over steps, each timed until the GPU is done, during `--seconds`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WIDTH, LAYERS, HEADS = 1024, 8, 16
BATCH, TOKENS = 16, 512
STORED_BATCHES = 128


def batches(source: str, folder: Path) -> Callable[[int], Any]:
    """A function that returns the batch of a step, on the GPU."""
    import torch

    shape = (BATCH, TOKENS, WIDTH)
    if source == "resident":
        kept = torch.randn(shape, device="cuda", dtype=torch.bfloat16)
        return lambda step: kept
    if source == "process":
        return lambda step: torch.nn.functional.normalize(torch.randn(shape).sort(dim=-1).values, dim=-1).to("cuda", dtype=torch.bfloat16)
    size = BATCH * TOKENS * WIDTH * 2
    stored = folder / "batches.bin"
    if not stored.exists() or stored.stat().st_size != size * STORED_BATCHES:
        with open(stored, "wb") as stream:
            for _ in range(STORED_BATCHES):
                stream.write(torch.randn(shape).bfloat16().view(torch.int16).numpy().tobytes())
        os.sync()
    opened = os.open(stored, os.O_RDONLY)

    def read(step: int) -> Any:
        os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_DONTNEED)
        data = bytearray(os.pread(opened, size, step % STORED_BATCHES * size))
        return torch.frombuffer(data, dtype=torch.bfloat16).view(shape).to("cuda")

    return read


def measure(seconds: float, folder: Path) -> dict[str, object]:
    """The indicator document."""
    import torch

    torch.manual_seed(1)
    blocks = [
        torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True) for _ in range(LAYERS)
    ]
    net = torch.nn.Sequential(*blocks).cuda().bfloat16()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    batch = batches(os.environ.get("INPUT", "resident"), folder)

    def step(number: int) -> float:
        began = time.perf_counter()
        loss = net(batch(number)).float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        return (time.perf_counter() - began) * 1000

    for warmup in range(5):
        step(warmup)
    elapsed_ms: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        elapsed_ms.append(step(len(elapsed_ms)))
    return {
        "name": "TorchTrainStep",
        "component": "torch",
        "component_version": torch.__version__,
        "@parameters": {"width": WIDTH, "layers": LAYERS, "batch": BATCH, "tokens": TOKENS, "dtype": "bfloat16", "seconds": seconds},
        "@result": {
            "elapsed_ms": statistics.median(elapsed_ms),
            "tokens_per_s": BATCH * TOKENS / (statistics.median(elapsed_ms) / 1000),
            "steps": len(elapsed_ms),
        },
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--folder", type=Path, default=Path("."), help="of the stored batches, where INPUT is disk")
    print(json.dumps(measure(**vars(parser.parse_args()))))
