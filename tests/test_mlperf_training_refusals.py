"""Training logs that are no result: copies of another log, clocks that do not run forward, statistics that cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from built import Sql, built, sql_of
from landed import codes
from samples import mlperf_training as sample
from standard import standard_project
from test_mlperf_training_ingestor import rows_of, rows_of_text

from warehouse.landing.contract import ISSUE_TABLE

Change = dict[str, tuple[str, str]]
LOG = sample.result_log()


def write_copies(root: Path, *texts: str, benchmark: str = "retinanet") -> Path:
    """A set whose logs are these."""
    folder = sample.write_set(root, [sample.Run()], benchmark=benchmark)
    for number, text in enumerate(texts):
        sample.write(folder / f"result_{number}.txt", text)
    return folder


def shifted(text: str, by_ms: int) -> str:
    """The log with another date."""
    lines = []
    for line in text.splitlines():
        if ":::MLLOG" in line:
            marker, _, document = line.partition(":::MLLOG")
            fields = json.loads(document)
            fields["time_ms"] += by_ms
            line = f"{marker}:::MLLOG {json.dumps(fields)}"
        lines.append(line)
    return "\n".join(lines) + "\n"


# A log that was made from LOG, and so is no other run.
COPIES = {
    "the same bytes": LOG,
    "blanks": LOG.replace('": ', '":  ').replace("\n", "\r\n"),
    "without noise, with a task's label": "".join(f"3: {line}\n" for line in LOG.splitlines() if ":::MLLOG" in line),
    "another seed": LOG.replace("31214", "31215"),
    "fewer lines": "".join(f"{line}\n" for line in LOG.splitlines() if "eval_" not in line),
    "another day": shifted(LOG, 86_400_000),
}
# A run of its own.
OTHERS = {
    "a run of another length": sample.result_log(sample.Run(minutes=10.001)),
    "a run that was cut before anything happened": sample.event("cache_clear", True, -10) + "\n",
    "a run that began later": sample.result_log(sample.Run(init_s=30.002, eval_s=(5.0, 7.001))),
}


@pytest.mark.parametrize("kind", COPIES)
def test_a_copied_log_is_an_error_and_no_run(kind: str, tmp_path: Path) -> None:
    rows = rows_of(write_copies(tmp_path / "tree", LOG, COPIES[kind]), tmp_path / "store")
    (issue,) = [row for row in rows[ISSUE_TABLE] if row["code"] == "copied-log"]
    assert issue["severity"] == "error" and "as result_0.txt: it is a copy" in issue["message"]
    first, copy = rows["mlperf_training_run"]
    assert (first["refusal"], first["copy_of"]) == (None, None)
    assert (copy["refusal"], copy["copy_of"]) == ("copied-log", first["run_id"]) and issue["run_id"] == copy["run_id"]


@pytest.mark.parametrize("kind", OTHERS)
def test_another_run_is_no_copy(kind: str, tmp_path: Path) -> None:
    rows = rows_of(write_copies(tmp_path / "tree", LOG, OTHERS[kind]), tmp_path / "store")
    assert "copied-log" not in codes(rows) and {row["copy_of"] for row in rows["mlperf_training_run"]} == {None}


def test_models_that_are_trained_together_may_start_and_stop_together(tmp_path: Path) -> None:
    folder = sample.write_set(tmp_path / "tree", [sample.Run(), sample.Run(step_times_s=(0.25, 0.5, 0.25))])
    assert codes(rows_of(folder, tmp_path / "strong")) == {"copied-log": 1}
    (folder.parent / "weak").mkdir()
    weak = folder.rename(folder.parent / "weak" / folder.name)
    assert codes(rows_of(weak, tmp_path / "weak")) == {}
    sample.write(weak / "result_1.txt", (weak / "result_0.txt").read_bytes())
    assert codes(rows_of(weak, tmp_path / "copied")) == {"copied-log": 1}


def test_one_log_copied_ten_times_is_one_run_and_no_result(refused: Sql) -> None:
    assert refused("""
        select official_minutes, unscaled_minutes, run_count, required_run_count, succeeded_count, failed_count, copied_count, used_count
        from mlperf_training_results where benchmark = 'bert'
    """) == [(None, None, 1, 10, 1, 0, 9, 0)]
    sql = f"select status, regexp_extract(status_reason, '^[^:]*'), count(*) from benchmark_run_fact where {of('bert')} group by all order by all"
    assert refused(sql) == [("invalid", "copied-log", 9), ("succeeded", "success", 1)]
    sql = f"select count(time_to_train_s), min(reliability_pct) from training_outcome_fact where phase = 'train' and {of('bert')}"
    assert refused(sql) == [(1, 100.0)]
    assert refused("select severity, count(*) from ingest_issue where code = 'copied-log' group by all") == [("error", 9)]


def test_the_errors_of_a_copied_set_are_in_the_summary_of_the_ingest(tmp_path: Path, wh_on: Any) -> None:
    write_copies(tmp_path / "tree", *[LOG] * 10)
    status, _, err = wh_on(standard_project(tmp_path / "project"), "ingest", str(tmp_path / "tree"))
    assert status == 0 and "issues in what was copied: 9 errors" in err
    assert "result_1.txt" in err and "copied-log: the log has the same start and stop as result_0.txt" in err


def moved(key: str, after_ms: float, text: str = LOG) -> str:
    """The log with a line of a key at another time."""
    (line,) = [line for line in text.splitlines() if f'"{key}"' in line]
    fields = json.loads(line.removeprefix(":::MLLOG"))
    fields["time_ms"] = sample.START_MS + round(after_ms)
    return text.replace(line, f":::MLLOG {json.dumps(fields)}")


def without(key: str) -> str:
    return "".join(f"{line}\n" for line in LOG.splitlines() if f'"{key}"' not in line)


# The log; the refusal; what its error says; the run's status and its reason.
REFUSED = {
    "it stops before it starts": (moved("run_stop", 20_000), "impossible-duration", "run_stop is 10 s before run_start", "invalid", "impossible-duration"),
    "it stops as it starts": (moved("run_stop", 30_000), "impossible-duration", "in the same millisecond", "invalid", "impossible-duration"),
    "it never starts": (without("run_start"), "no-run-start", "no run_start", "invalid", "no-run-start"),
    "it starts twice": (
        LOG + sample.event("run_start", None, 60_000) + "\n", "several-run-starts", "is another run_start", "invalid", "several-run-starts",
    ),
    "it starts twice at once": (
        LOG + sample.event("run_start", None, 30_000) + "\n", "repeated-run-start", "is the same run_start", "invalid", "repeated-run-start",
    ),
    "it stops twice": (
        LOG + sample.event("run_stop", None, 900_000, status="success") + "\n", "several-run-stops", "is another run_stop", "invalid",
        "several-run-stops",
    ),
    "it stops twice, and did not converge": (
        LOG + sample.event("run_stop", None, 900_000, status="aborted") + "\n", "several-run-stops", "is another run_stop", "failed", "aborted",
    ),
    "it does not stop": (without("run_stop"), None, "ends before its run_stop", "interrupted", "no run_stop"),
    "it does not stop and says success": (
        without("run_stop") + sample.event("status", "success", 1e6, status="success") + "\n", None, "ends before its run_stop", "interrupted",
        "no run_stop",
    ),
    "its stop has no time": (
        LOG.replace(f'"time_ms": {sample.START_MS + 630_000}', '"time_ms": null'), "malformed-time", "run_stop", "invalid", "malformed-time",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_clock_that_does_not_run_forward_is_an_error(case: str, tmp_path: Path) -> None:
    text, refusal, said, _, _ = REFUSED[case]
    rows = rows_of_text(text, tmp_path)
    errors = [row for row in rows[ISSUE_TABLE] if row["severity"] == "error"]
    assert any(said in row["message"] for row in errors)
    assert [row["refusal"] for row in rows["mlperf_training_run"]] == [refusal]
    assert refusal is None or refusal in {row["code"] for row in errors}


def backwards() -> str:
    text = moved("init_stop", -5_000)
    (stop, *_) = [line for line in text.splitlines() if '"eval_stop"' in line]
    fields = json.loads(stop.removeprefix(":::MLLOG"))
    fields["time_ms"] -= 60_000
    return text.replace(stop, f":::MLLOG {json.dumps(fields)}")


def of(benchmark: str) -> str:
    """The condition for its runs."""
    return f"run_id like '%/{benchmark}/%'"


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Sql:
    """Sets of several benchmarks: `bert` is one log ten times, of which the rules ask for ten; each `bN` has a clock of `REFUSED` and
    runs of 11 and 12 minutes; in `backwards` intervals end before they begin; a step of `llama31_8b` takes no time."""
    top = tmp_path_factory.mktemp("refused")
    write_copies(top / "tree", *[LOG] * 10, benchmark="bert")
    for number, (text, *_) in enumerate(REFUSED.values()):
        write_copies(top / "tree", text, *(sample.result_log(sample.Run(minutes=minutes)) for minutes in (11, 12)), benchmark=f"b{number}")
    write_copies(top / "tree", backwards(), benchmark="backwards")
    write_copies(top / "tree", LOG.replace('"train_step_time": 0.5', '"train_step_time": 0'), benchmark="llama31_8b")
    return sql_of(built(top / "tree", standard_project(top / "project")))


def test_no_number_comes_from_such_a_clock(refused: Sql) -> None:
    names = {f"b{number}": case for number, case in enumerate(REFUSED)}
    first = "run_id like '%result_0' and regexp_matches(run_id, '/b[0-9]+/')"
    assert {names[benchmark]: (status, reason) for benchmark, status, reason in refused(f"""
        select regexp_extract(run_id, '/(b[0-9]+)/', 1), status, status_reason from benchmark_run_fact where {first}
    """)} == {case: (status, reason) for case, (*_, status, reason) in REFUSED.items()}
    assert refused(f"select count(*), count(time_to_train_s), count(duration_s) from training_outcome_fact where {first} and phase = 'train'") == [
        (len(REFUSED), 0, 0)
    ]
    # Such a run is the slowest of three, so the result is that of 12 minutes.
    sql = "select unscaled_minutes, succeeded_count, failed_count, count(*) from mlperf_training_results where regexp_matches(benchmark, '^b[0-9]+$') group by all"
    assert refused(sql) == [(12.0, 2, 1, len(REFUSED))]


def test_an_interval_that_ends_before_it_begins_has_no_duration(refused: Sql) -> None:
    assert refused(f"select phase, duration_s from training_outcome_fact where {of('backwards')} order by all") == [("eval", None), ("train", None)]
    sql = "select message from ingest_issue where code = 'impossible-duration' and severity = 'error' and message like '%_stop is % before the %' order by all"
    messages = [message for (message,) in refused(sql)]
    assert len(messages) == 2 and "eval_stop is 55 s before the eval_start in line" in messages[0] and "init_stop is 5.003 s before" in messages[1]


def test_a_step_that_takes_no_time_is_an_error_and_no_rate(refused: Sql) -> None:
    assert refused("select severity, message from ingest_issue where code = 'impossible-statistic'") == [("error", "train_step_time is 0: it is not used")]
    # Two steps of 0.25 s and a batch of 32 are left.
    sql = f"select step_count, step_time_mean_s, samples_per_s from training_outcome_fact where phase = 'train' and {of('llama31_8b')}"
    assert refused(sql) == [(2, 0.25, 128.0)]


@pytest.mark.parametrize("number", ["0", "-0.25"])
def test_a_step_of_no_time_or_less_is_an_error(number: str, tmp_path: Path) -> None:
    rows = rows_of_text(LOG.replace('"train_step_time": 0.5', f'"train_step_time": {number}'), tmp_path)
    assert [(row["code"], row["severity"], row["message"]) for row in rows[ISSUE_TABLE]] == [
        ("impossible-statistic", "error", f"train_step_time is {number}: it is not used")
    ]
