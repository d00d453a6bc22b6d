"""Small price lists, one of each format."""

from __future__ import annotations

from pathlib import Path

CSV = """\
# what we pay
accelerator,unit,price_usd_per_hour,effective_date,source,instance,accelerators,provider
"H100 SXM",accelerator_hour,2.50,2026-01-01,"contract, page 2",,,runpod
NVIDIA B200,instance_hour,40,2025-06-01,list,dgx,8,x
"""
TOML = """\
title = "prices"

[[price]]
accelerator = "MI300X"
unit = "accelerator_hour"
price_usd_per_hour = 3
effective_date = 2026-02-01
source = "list"

[[price]]
instance = "p5.48xlarge"
accelerators = 8
unit = "instance_hour"
price_usd_per_hour = 98.32
effective_date = "2024-01-01"
source = "list"
"""


def write_lists(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "prices.csv").write_text(CSV)
    (folder / "prices.toml").write_text(TOML)
