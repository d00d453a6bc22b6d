"""What DCGM exports for a value that it lacks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# dcgm_structs.h: DCGM_INT64_BLANK, DCGM_INT32_BLANK and DCGM_FP64_BLANK, each with the three values after it: not found, not supported, not
# permitted. In a double those of 64 bits are one number.
_BLANKS = np.array([float(2**63), *(2.0**31 - 16 + more for more in range(4)), *(2.0**47 + more for more in range(4))])


def is_dcgm(metric: str) -> bool:
    return metric.startswith(("DCGM_FI_", "dcgm_"))  # dcgm_: exporters 1.x


def is_blank(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which values of metrics of DCGM are none."""
    return np.isin(values, _BLANKS)
