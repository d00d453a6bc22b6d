"""The requests of a detailed record: one row each, and the statistics over those that succeeded.

End to end is the time to the first token plus the gaps after it, which is what the clients measure up to the last token;
time per output token is (end to end - time to first token) / (output tokens - 1), for requests of more than one token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.landing.text import Data, Report, landed_text

from .arrays import Gaps, gaps_in, numbers_in, texts_in
from .records import Pair

ARRAYS = ("input_lens", "output_lens", "ttfts", "itls", "start_times", "errors")
_TOGETHER = ("input_lens", "output_lens", "ttfts", "itls", "errors")  # all versions write them, or none of them
_NUMBERS = ("input_lens", "output_lens", "ttfts", "start_times")
PERCENTILES = (50, 90, 95, 99)
_ALL_KNOWN = pc.ScalarAggregateOptions(skip_nulls=False)
_Column = list[Any]


class Place(NamedTuple):
    offset: int
    length: int


class Detail(NamedTuple):
    """All requests of a record: columns of equal length, the gaps of the requests that succeeded, and where the arrays
    are: each with its key, and `all` from the first one's key to the last one's end."""

    columns: Mapping[str, _Column]
    gaps_ms: pa.ChunkedArray
    places: Mapping[str, Place]

    @property
    def count(self) -> int:
        return len(self.columns["status"])

    def total(self, column: str) -> int:
        """The sum of a column over the requests that succeeded."""
        pairs = zip(self.columns[column], self.columns["status"], strict=True)
        return sum(value or 0 for value, status in pairs if status == "succeeded")


def detail_of(data: Data, pairs: Mapping[str, Pair], report: Report) -> Detail | None:
    """The requests in a record's arrays; None where it has none."""
    places = {name: pairs[name] for name in ARRAYS if name in pairs}
    if places and (absent := [name for name in _TOGETHER if name not in pairs]):
        place = next(iter(places.values()))
        message = f"a record of requests without {', '.join(absent)}"
        report("array-missing", message, place.offset, place.stop - place.offset, place.line_number)
    if "ttfts" not in pairs and "output_lens" not in pairs:
        return None
    read = {name: numbers_in(data, pairs[name], report) for name in _NUMBERS if name in pairs}
    found: dict[str, _Column] = {name: array.to_pylist() for name, array in read.items() if array is not None}
    gaps = gaps_in(data, pairs["itls"], report) if "itls" in pairs else None
    if "errors" in pairs:
        found["errors"] = list(texts_in(data, pairs["errors"]))
    lengths = {name: len(column) for name, column in found.items()} | ({"itls": len(gaps.counts)} if gaps else {})
    count = max(lengths.values(), default=0)
    if len(set(lengths.values())) > 1:
        place = next(iter(places.values()))
        stated = ", ".join(f"{name} {length}" for name, length in lengths.items())
        report("array-lengths-differ", stated, place.offset, place.stop - place.offset, place.line_number, "error")
    column = {name: _padded(found.get(name, []), count) for name in (*_NUMBERS, "errors")}
    if count == 0:
        return None
    offset, stop = min(pair.offset for pair in places.values()), max(pair.stop for pair in places.values())
    bytes_of = {name: Place(pair.offset, pair.stop - pair.offset) for name, pair in places.items()}
    bytes_of["all"] = Place(offset, stop - offset)
    return _detail(column, gaps or Gaps(pa.chunked_array([], pa.float64()), []), count, bytes_of)


def _detail(column: Mapping[str, _Column], gaps: Gaps, count: int, places: Mapping[str, Place]) -> Detail:
    status = [_status(*values) for values in zip(column["errors"], column["output_lens"], column["ttfts"], strict=True)]
    counts = _padded(gaps.counts, count)
    sums = _sums(gaps, count)
    first_start = min((start for start in column["start_times"] if start is not None), default=0.0)
    rows: dict[str, _Column] = {name: [] for name in (
        "error", "started_s", "ttft_ms", "tpot_ms", "itl_mean_ms", "e2e_ms", "input_token_count", "output_token_count",
        "output_token_throughput_per_s",
    )}
    for index, ended in enumerate(status):
        ttft, gap_count, start = column["ttfts"][index], counts[index], column["start_times"][index]
        tokens = _whole(column["output_lens"][index])
        if ended != "succeeded" and ttft == 0:  # the field's first value: nothing was measured
            ttft = None
        is_complete = ended == "succeeded" and ttft is not None and gap_count is not None
        gap_sum = sums[index]
        e2e = ttft + gap_sum if is_complete and gap_sum is not None else None
        rows["error"].append(landed_text(column["errors"][index] or "") or None)
        rows["started_s"].append(None if start is None else start - first_start)
        rows["ttft_ms"].append(_ms(ttft))
        after_first = (tokens or 1) - 1
        tpot = gap_sum / after_first if e2e is not None and gap_sum is not None and after_first > 0 else None
        rows["tpot_ms"].append(_ms(tpot))
        rows["itl_mean_ms"].append(_ms(gap_sum / gap_count) if gap_count and gap_sum is not None else None)
        rows["e2e_ms"].append(_ms(e2e))
        rows["input_token_count"].append(_whole(column["input_lens"][index]))
        rows["output_token_count"].append(tokens)
        rows["output_token_throughput_per_s"].append(tokens / e2e if e2e and tokens is not None else None)
    return Detail({"status": status, **rows}, _succeeded(gaps, counts, status), places)


def statistics(detail: Detail) -> Iterator[tuple[str, float, Place]]:
    """(key as the client writes it, milliseconds, the bytes it was computed from) for each statistic over the requests that
    succeeded: percentiles by linear interpolation, the population's standard deviation, as numpy's defaults are."""
    succeeded = pa.array([status == "succeeded" for status in detail.columns["status"]])
    for metric, column in (("ttft", "ttft_ms"), ("tpot", "tpot_ms"), ("e2el", "e2e_ms")):
        values = pa.array(detail.columns[column], pa.float64()).filter(succeeded)
        place = detail.places["ttfts" if metric == "ttft" and "ttfts" in detail.places else "all"]
        yield from ((key, value, place) for key, value in _described(metric, values))
    if "itls" in detail.places:
        yield from ((key, value, detail.places["itls"]) for key, value in _described("itl", detail.gaps_ms))


def rows_of(detail: Detail, run_id: str, first: int, stop: int) -> dict[str, Sequence[Any]]:
    """The columns of the requests `first` to `stop`, which are numbered from 0 in the file's order."""
    size = stop - first
    return {"run_id": [run_id] * size, "request_index": range(first, stop)} | {
        name: column[first:stop] for name, column in detail.columns.items()
    }


def _described(metric: str, values: pa.Array | pa.ChunkedArray) -> Iterator[tuple[str, float]]:
    if len(values) == values.null_count:
        return
    found = {"mean": pc.mean(values).as_py(), "std": pc.stddev(values, ddof=0).as_py()}
    ranks = pc.quantile(values, q=[percentile / 100 for percentile in PERCENTILES], interpolation="linear").to_pylist()
    found.update({"median" if rank == 50 else f"p{rank}": value for rank, value in zip(PERCENTILES, ranks, strict=True)})
    yield from ((f"{name}_{metric}_ms", value) for name, value in found.items() if value is not None)


def _status(error: str | None, output_length: float | None, ttft: float | None) -> str:
    """Failed where the client says so. Some failures have no words: then nothing was answered either."""
    return "failed" if error or (not output_length and not ttft) else "succeeded"


def _sums(gaps: Gaps, count: int) -> list[float | None]:
    """The sum of each request's gaps; None where one of them is not known."""
    sums: list[float | None] = [0.0] * count
    if len(gaps.numbers):
        table = pa.table({"row": _owners(gaps), "gap": gaps.numbers})
        summed = table.group_by("row", use_threads=False).aggregate([("gap", "sum", _ALL_KNOWN)])
        for row, total in zip(summed["row"].to_pylist(), summed["gap_sum"].to_pylist(), strict=True):
            sums[row] = total
    return sums


def _owners(gaps: Gaps) -> pa.Array:
    """For each gap, the index of its request."""
    lengths = pa.array([length or 0 for length in gaps.counts], pa.int64())
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(lengths)])
    rows = pa.LargeListArray.from_arrays(offsets, pa.nulls(len(gaps.numbers), pa.int8()))
    return pc.list_parent_indices(rows)


def _succeeded(gaps: Gaps, counts: Sequence[int | None], status: Sequence[str]) -> pa.ChunkedArray:
    in_ms = pc.multiply(gaps.numbers, 1e3)
    if all(ended == "succeeded" for ended, length in zip(status, counts, strict=True) if length):
        return in_ms
    kept = pa.array([ended == "succeeded" for ended in status]).take(_owners(gaps))
    return in_ms.filter(pa.chunked_array([kept]))


def _padded(values: Sequence[Any], count: int) -> _Column:
    return [*values, *[None] * (count - len(values))]


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def _whole(number: float | None) -> int | None:
    return int(number) if number is not None and number.is_integer() and 0 <= number < 2**53 else None
