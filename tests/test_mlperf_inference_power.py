"""Power logs of MLPerf Inference: what is read as a table lands as it does line by line, and as other readers have it."""

from __future__ import annotations

import csv
import random
from datetime import datetime
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import landed
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from landed import Rows, codes

from warehouse.digest import bytes_digest
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.landing.contract import ISSUE_TABLE, Bundle
from warehouse.landing.readers import text

INGESTOR = landed.load("mlperf_inference")
power = import_module("landed_mlperf_inference.power")

SAMPLES = "mlperf_inference_power_sample"
RAW_PATH = "closed/Acme/results/8xA900/llama/Offline/performance/run_1/spl.txt"
IDENTITY = {
    "round": "v5.1", "division": "closed", "submitter": "Acme", "platform": "8xA900", "benchmark": "llama", "scenario": "Offline",
}
COLUMNS = {"Watts": "watts", "Volts": "volts", "Amps": "amps", "PF": "power_factor"}

# What may stand in a measure's place, in turn: numbers a column takes as they are, numbers it does not, and none at all.
MEASURES = (
    "0", "-0.0", "+7", "1e3", ".5", "5.", "1.0000000", "000000000000000000001.5", "999999999999.999999", "1_000", "1.0000005",
    "1e-7", "1e12", "1000000000000", "1e400", "-1e-400", "0e400", "9" * 40, "1" + "0" * 38, "0." + "0" * 40, "nan",
    "-inf", "", " 5", "5 ", "1e-45", "2.5E-44", "7.0e-50", str(2**128 + 1), "0x1", "--1", "\u0663", "7\x00", "1,5",
)
TIMES = (
    "02-29-2024 00:00:00.1", "02-29-2025 00:00:00.100", "12-31-9999 23:59:59.999", "01-01-0000 00:00:00.000",
    "01-01-0001 00:00:00.000", "13-01-2025 00:00:00.000",
    "00-01-2025 00:00:00.000", "01-00-2025 00:00:00.000", "04-31-2025 00:00:00.000",
    "01-01-2025 24:00:00.000", "01-01-2025 23:60:00.000", "01-01-2025 23:59:60.000", "01-01-2025T00:00:00.000",
    "01-01-2025 00:00:00", "01-01-2025 00:00:00.", "01-01-2025 00:00:00.123456", "01-01-2025 00:00:00.1234567",
    "-1-01-2025 00:00:00.000", "01-01-2025 00:00:00.00Z", "\u0661\u0661-01-2025 00:00:00.000", " 01-01-2025 00:00:00.000", "", "never",
)
MARKS = ("a", "", " a ", "\u00e9", "z" * 300)
ENDS = ("\r\n", "\r\r\n", "\n\n", " \n", "\n \n", "")


def rows_of(log: str | bytes, folder: Path) -> Rows:
    """The rows of a log."""
    data = log.encode() if isinstance(log, str) else log
    path = folder / RAW_PATH
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    file = ManifestFile(RAW_PATH, len(data), bytes_digest(data), "text/plain", "power_samples")
    manifest = Manifest(INGESTOR.name, (file,), IDENTITY, {})
    return landed.parsed(INGESTOR, Bundle(manifest.digest, manifest, lambda file: folder / file.raw_path))


def rows_line_by_line(log: str | bytes, folder: Path) -> Rows:
    """The rows of a log that is not read as a table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(power, "_as_table", lambda piece: None)
        return rows_of(log, folder)


def line_of(second: int, watts: str = "1500.250000", channels: int = 2) -> str:
    """A line as the daemon writes it, without its end."""
    readings = f"Watts,{watts},Volts,213.033333,Amps,4.603000,PF,0.981575"
    fields = [f"Time,07-28-2025 04:{second // 60:02}:{second % 60:02}.622", readings, "Mark,2025-07-28_03-30-24_testing"]
    return ",".join([*fields, *(f"Ch{channel},{readings}" for channel in range(1, channels + 1))])


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the lines that were read one by one."""
    read = power._line_samples
    found: list[int] = []
    monkeypatch.setattr(power, "_line_samples", lambda line, *others: found.append(line.number) or read(line, *others))
    return found


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    chance = random.Random(draw(st.integers(0, 10**6)))
    oddness = draw(st.sampled_from([0, 0.02, 0.2]))

    def odd(usual: str, others: tuple[str, ...]) -> str:
        return chance.choice(others) if chance.random() < oddness else usual

    def readings() -> list[str]:
        pairs = [(odd(name, ("Hz", "", " Watts", "Ch1")), odd(f"{chance.uniform(-9, 3000):.6f}", MEASURES)) for name in COLUMNS]
        return [field for pair in pairs for field in pair]

    written = []
    channels = chance.choice([0, 1, 3])
    for second in range(draw(st.integers(1, 40))):
        fields = ["Time", odd(f"07-28-2025 04:22:{second:02}.{chance.randrange(1000):03}", TIMES), *readings()]
        fields += ["Mark", odd("testing", MARKS)] if chance.random() >= oddness else []
        for channel in range(channels):
            fields += [f"Ch{channel + 1}", *readings()]
        written.append(",".join(fields) + odd("\n", ENDS))
    log = bytearray("".join(written).encode())
    for place, byte in draw(st.lists(st.tuples(st.integers(0, len(log)), st.sampled_from(b"\n\r, \x00\xff7e")), max_size=2)):
        log[place : place + 1] = bytes([byte])
    return bytes(log[: draw(st.sampled_from([len(log), len(log), len(log) // 2]))])


@given(log=logs())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_read_as_a_table_as_line_by_line(log: bytes, tmp_path: Path) -> None:
    assert rows_of(log, tmp_path) == rows_line_by_line(log, tmp_path)


def test_whatever_stands_in_a_field(tmp_path: Path) -> None:
    odd = [line_of(7, measure) for measure in MEASURES]
    odd += [line_of(7).replace("07-28-2025 04:00:07.622", time) for time in TIMES]
    odd += [line_of(7).replace("2025-07-28_03-30-24_testing", mark) for mark in MARKS]
    for line in odd + [line_of(7) + end for end in ENDS]:
        log = f"{line_of(6)}\n{line}\n{line_of(8)}\n"
        assert rows_of(log, tmp_path) == rows_line_by_line(log, tmp_path), line


@pytest.mark.parametrize("channels", [0, 3])
def test_a_long_log_lands_as_csv_reads_it(channels: int, tmp_path: Path, alone: list[int]) -> None:
    chance = random.Random(channels)
    log = "\n".join(line_of(second, f"{chance.uniform(-1, 9000):.6f}", channels) for second in range(1200)) + "\n\n"
    rows = rows_of(log, tmp_path)
    expected: list[dict[str, Any]] = []
    for fields in csv.reader(log.splitlines()[:-1]):
        time = datetime.strptime(fields[1], "%m-%d-%Y %H:%M:%S.%f")
        for first in (2, *range(13, len(fields), 9)):
            channel, measures = None if first == 2 else fields[first - 1], fields[first : first + 8]
            measured = {COLUMNS[name]: Decimal(value) for name, value in zip(measures[::2], measures[1::2], strict=True)}
            shared = {"sampled_at_local": time, "sampled_at_text": fields[1], "mark": fields[11]}
            expected.append({**shared, "channel": channel, **measured})
    assert [{name: row[name] for name in expected[0]} for row in rows[SAMPLES]] == expected
    assert [log.encode()[row["raw_offset"] :][: row["raw_length"]].decode() for row in rows[SAMPLES]] == [
        line for line in log.splitlines() if line for _ in range(channels + 1)
    ]
    assert not rows[ISSUE_TABLE] and not alone


# What is odd about one line of many, what of its system's sample is not as in the others, and what is told.
ODD: dict[str, tuple[str, dict[str, Any], set[str]]] = {
    "no number": (line_of(50, "nan"), {"watts": None}, {"not-a-number"}),
    "overflow": (line_of(50, "1e400"), {"watts": None}, {"not-a-number"}),
    "nothing": (line_of(50, ""), {"watts": None}, set()),
    "minus zero": (line_of(50, "-0.0"), {"watts": Decimal(0)}, set()),
    "thirteen digits": (line_of(50, "1000000000000"), {"watts": None}, {"not-a-number"}),
    "twelve digits": (line_of(50, "999999999999.999999"), {"watts": Decimal("999999999999.999999")}, set()),
    "seven decimals": (line_of(50, "0.1234565"), {"watts": Decimal("0.123456")}, {"rounded-number"}),
    "two's power": (line_of(50, str(2**128 + 1)), {"watts": None}, {"not-a-number"}),
    "all but nothing": (line_of(50, "1e-45"), {"watts": Decimal(0)}, {"rounded-number"}),
    # 1 is what stands behind Watts; then 5 is a measure's name, and what stands behind it a value, and so on.
    "a comma": (
        line_of(50, "1,5", 0), {"watts": Decimal(1), "volts": None, "amps": None, "power_factor": None, "mark": None},
        {"malformed-power-line"},
    ),
    "cut": (line_of(50, channels=0).partition(",Amps")[0], {"amps": None, "power_factor": None, "mark": None}, set()),
    "backwards": (
        line_of(3), {"sampled_at_local": datetime(2025, 7, 28, 4, 0, 3, 622000), "sampled_at_text": "07-28-2025 04:00:03.622"}, set(),
    ),
    "no such day": (
        line_of(50).replace(",07-28", ",06-31"), {"sampled_at_local": None, "sampled_at_text": "06-31-2025 04:00:50.622"},
        {"malformed-time"},
    ),
    "not ASCII": (line_of(50).replace("testing", "t\u00e9sting"), {"mark": "2025-07-28_03-30-24_t\u00e9sting"}, set()),
    "not UTF-8": (line_of(50).replace("testing", "t\udcffsting"), {"mark": "2025-07-28_03-30-24_t\ufffdsting"}, {"invalid-utf8"}),
    "CRLF": (line_of(50) + "\r", {}, set()),
    "blank lines": ("\n \n\r\n" + line_of(50) + "\n", {}, set()),
}


@pytest.mark.parametrize("name", ODD)
def test_one_odd_line_of_many(name: str, tmp_path: Path) -> None:
    odd, differs, told = ODD[name]
    written = [line_of(second, channels=0) for second in range(50)] + [odd] + [line_of(second) for second in range(51, 120)]
    rows = rows_of(("\n".join(written) + "\n").encode(errors="surrogateescape"), tmp_path)
    systems = [row for row in rows[SAMPLES] if row["channel"] is None]
    assert len(systems) == 120 and len(rows[SAMPLES]) == 120 + 2 * 69 + (2 if "Ch1" in odd else 0)
    times = [datetime(2025, 7, 28, 4, second // 60, second % 60, 622000) for second in range(120)]
    expected = {
        "sampled_at_local": times[50], "sampled_at_text": "07-28-2025 04:00:50.622", "mark": "2025-07-28_03-30-24_testing",
        "watts": Decimal("1500.25"), "volts": Decimal("213.033333"), "amps": Decimal("4.603"),
        "power_factor": Decimal("0.981575"),
    }
    assert {column: systems[50][column] for column in expected} == expected | differs
    for second, row in [*enumerate(systems[:50]), *enumerate(systems[51:], 51)]:
        assert (row["sampled_at_local"], row["watts"], row["amps"]) == (times[second], expected["watts"], expected["amps"])
    assert codes(rows).keys() == told
    assert all(issue["line_number"] == 51 for issue in rows[ISSUE_TABLE])


def test_the_last_line_of_a_log_cut_short(tmp_path: Path) -> None:
    rows = rows_of("".join(line_of(second) + "\n" for second in range(99)) + line_of(99)[:-3], tmp_path)
    (issue,) = rows[ISSUE_TABLE]
    assert (issue["code"], issue["severity"], issue["line_number"]) == ("truncated-power-line", "error", 100)
    assert len(rows[SAMPLES]) == 300 and rows[SAMPLES][-1]["power_factor"] == Decimal("0.981")


def test_a_line_without_end_among_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MAX_LINE_BYTES", 200_000)
    lines = [line_of(second) for second in range(200)]
    log = "\n".join([*lines[:100], "7" * 200_001, "7" * 200_000, *lines[100:]]) + "\n"
    rows = rows_of(log, tmp_path)
    assert [row["watts"] for row in rows[SAMPLES]] == [Decimal("1500.25")] * 600
    assert [(issue["code"], issue["line_number"], issue["raw_length"]) for issue in rows[ISSUE_TABLE]] == [
        ("line-too-long", 101, 200_001), ("malformed-power-line", 102, 200_000),
    ]
    assert rows[SAMPLES][-1]["raw_offset"] == len(log) - len(lines[-1]) - 1
