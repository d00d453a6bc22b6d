"""The requests of a detailed record: one row each, and the statistics over those that succeeded.

End to end is the time to the first token plus the gaps after it, which is what the clients measure up to the last token;
time per output token is (end to end - time to first token) / (output tokens - 1), for requests of more than one token.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from warehouse.landing.readers.text import Data, Place, Report, landed_text

from .arrays import Gaps, Numbers, gaps_in, numbers_in, texts_in
from .records import Pair

ARRAYS = ("input_lens", "output_lens", "ttfts", "itls", "start_times", "errors")
_TIMES = ("ttfts", "itls")
_TOGETHER = ("input_lens", "output_lens", *_TIMES, "errors")  # written together, but for runs of which only lengths are kept
_NUMBERS = ("input_lens", "output_lens", "ttfts", "start_times")
PERCENTILES = (50, 90, 95, 99)


class Detail(NamedTuple):
    """All requests of a record: columns of equal length, which of them succeeded, the gaps of those, and where the arrays
    are: each with its key, and `all` from the first one's key to the last one's end."""

    columns: Mapping[str, pa.Array]
    is_succeeded: NDArray[np.bool_]
    gaps_ms: pa.Array
    places: Mapping[str, Place]

    @property
    def requests(self) -> int:
        return len(self.is_succeeded)

    @property
    def failed(self) -> int:
        return self.requests - int(np.count_nonzero(self.is_succeeded))

    def of_succeeded(self, column: str) -> pa.Array:
        return self.columns[column].filter(pa.array(self.is_succeeded))


def detail_of(data: Data, pairs: Mapping[str, Pair], completed: float | None, report: Report) -> Detail | None:
    """The requests in a record's arrays; None where it has none. `completed` is how many the record says succeeded."""
    places = {name: pairs[name] for name in ARRAYS if name in pairs}
    if any(name in pairs for name in _TIMES) and (absent := [name for name in _TOGETHER if name not in pairs]):
        report.at("array-missing", f"a record of requests without {', '.join(absent)}", next(iter(places.values())))
    if not {"ttfts", "output_lens", "errors"} & places.keys():  # nothing of how they ended
        return None
    read = {name: numbers_in(data, pairs[name], report) for name in _NUMBERS if name in pairs}
    found = {name: numbers for name, numbers in read.items() if numbers is not None}
    gaps = gaps_in(data, pairs["itls"], report) if "itls" in pairs else None
    errors = list(texts_in(data, pairs["errors"])) if "errors" in pairs else None
    lengths = {name: len(numbers) for name, numbers in found.items()}
    lengths |= ({"errors": len(errors)} if errors is not None else {}) | ({"itls": len(gaps.counts)} if gaps else {})
    count = max(lengths.values(), default=0)
    if len(set(lengths.values())) > 1:
        stated = ", ".join(f"{name} {length}" for name, length in lengths.items())
        report.at("array-lengths-differ", stated, next(iter(places.values())), "error")
    if count == 0:
        return None
    offset, stop = min(pair.offset for pair in places.values()), max(pair.stop for pair in places.values())
    bytes_of = {name: Place(pair.offset, pair.length) for name, pair in places.items()}
    bytes_of["all"] = Place(offset, stop - offset)
    numbers = {name: _padded(found.get(name, []), count) for name in _NUMBERS}
    errors = [*(errors or ()), *[None] * (count - len(errors or ()))]
    return _detail(numbers, errors, completed, gaps or Gaps(np.empty(0), []), bytes_of)


def _detail(
    numbers: Mapping[str, Numbers], errors: list[str | None], completed: float | None, gaps: Gaps, places: Mapping[str, Place]
) -> Detail:
    count = len(errors)
    ttft, output, start = numbers["ttfts"].copy(), numbers["output_lens"], numbers["start_times"]
    # Failed where the client says so. Some failures have no words: then nothing was answered either. But neither is a request
    # for an embedding, or one that ends at once: those succeeded, where the record counts them so.
    is_answered = ~(_is_nothing(output) & _is_nothing(ttft))
    is_succeeded = ~np.fromiter(map(bool, errors), np.bool_, count)
    if completed != np.count_nonzero(is_succeeded):
        is_succeeded &= is_answered
    ttft[~(is_succeeded & is_answered) & (ttft == 0)] = np.nan  # the field's first value: nothing was measured
    gap_count = _padded(gaps.counts, count)
    gap_sum = _sums(gaps, count)
    tokens = np.where(_is_whole(output), output, np.nan)
    with np.errstate(all="ignore"):
        e2e = np.where(is_succeeded & ~np.isnan(gap_count), ttft + gap_sum, np.nan)
        found = {
            "started_s": start - np.fmin.reduce(start),
            "ttft_ms": ttft * 1e3,
            "tpot_ms": np.where(~np.isnan(e2e) & (tokens > 1), gap_sum / (tokens - 1), np.nan) * 1e3,
            "itl_mean_ms": np.where(gap_count > 0, gap_sum / gap_count, np.nan) * 1e3,
            "e2e_ms": e2e * 1e3,
            "output_token_throughput_per_s": np.where(e2e != 0, tokens / e2e, np.nan),
        }
    columns = {
        "status": pa.array(["succeeded" if succeeded else "failed" for succeeded in is_succeeded.tolist()]),
        "error": pa.array([landed_text(error or "") or None for error in errors], pa.string()),
        "input_token_count": _whole(numbers["input_lens"]), "output_token_count": _whole(output),
        **{name: pa.array(values, from_pandas=True) for name, values in found.items()},
    }
    return Detail(columns, is_succeeded, _succeeded(gaps, is_succeeded), places)


def statistics(detail: Detail) -> Iterator[tuple[str, float, Place]]:
    """(key as the client writes it, milliseconds, the bytes it was computed from) for each statistic over the requests that
    succeeded: percentiles by linear interpolation, the population's standard deviation, as numpy's defaults are."""
    for metric, column in (("ttft", "ttft_ms"), ("tpot", "tpot_ms"), ("e2el", "e2e_ms")):
        place = detail.places["ttfts" if metric == "ttft" and "ttfts" in detail.places else "all"]
        yield from ((key, value, place) for key, value in _described(metric, detail.of_succeeded(column)))
    if "itls" in detail.places:
        yield from ((key, value, detail.places["itls"]) for key, value in _described("itl", detail.gaps_ms))


def _described(metric: str, values: pa.Array) -> Iterator[tuple[str, float]]:
    if len(values) == values.null_count:
        return
    found = {"mean": pc.mean(values).as_py(), "std": pc.stddev(values, ddof=0).as_py()}
    ranks = pc.quantile(values, q=[percentile / 100 for percentile in PERCENTILES], interpolation="linear").to_pylist()
    found.update({"median" if rank == 50 else f"p{rank}": value for rank, value in zip(PERCENTILES, ranks, strict=True)})
    yield from ((f"{name}_{metric}_ms", value) for name, value in found.items() if value is not None and math.isfinite(value))


def _sums(gaps: Gaps, count: int) -> Numbers:
    """The sum of each request's gaps, in their order; NaN where one of them is not known."""
    return np.bincount(_owners(gaps), gaps.numbers, count).astype(np.float64, copy=False)


def _owners(gaps: Gaps) -> NDArray[np.int64]:
    """For each gap, the index of its request."""
    return np.repeat(np.arange(len(gaps.counts)), [length or 0 for length in gaps.counts])


def _succeeded(gaps: Gaps, is_succeeded: NDArray[np.bool_]) -> pa.Array:
    """The gaps of the requests that succeeded, in ms."""
    return pa.array(gaps.numbers[is_succeeded[_owners(gaps)]] * 1e3, from_pandas=True)


def _padded(values: Sequence[float | None] | Numbers, count: int) -> Numbers:
    """`count` numbers, NaN where there is none."""
    found = np.full(count, np.nan)
    found[: len(values)] = values
    return found


def _is_nothing(numbers: Numbers) -> NDArray[np.bool_]:
    is_nothing: NDArray[np.bool_] = np.isnan(numbers) | (numbers == 0)
    return is_nothing


def _is_whole(numbers: Numbers) -> NDArray[np.bool_]:
    is_whole: NDArray[np.bool_] = (numbers >= 0) & (numbers < 2**53) & (numbers == np.floor(numbers))
    return is_whole


def _whole(numbers: Numbers) -> pa.Array:
    is_whole = _is_whole(numbers)
    return pa.array(np.where(is_whole, numbers, 0).astype(np.int64), mask=~is_whole)
