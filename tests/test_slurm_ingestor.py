"""Output of Slurm's commands: recognition, what lands and where, and what cannot be read."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from landed import ISSUE_TABLE, Rows, Subject, codes, place
from samples import slurm as sample

from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import Unclaimed

SLURM = Subject("slurm")


def rows_of(tmp_path: Path, name: str, text: str | bytes) -> Rows:
    (tmp_path / "tree").mkdir(parents=True)
    (tmp_path / "tree" / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return SLURM.rows(tmp_path / "tree", tmp_path / "stored")


def at(*moment: int) -> datetime:
    return datetime(*moment, tzinfo=UTC)


def test_output_is_recognised_by_what_it_begins_with(tmp_path: Path) -> None:
    sample.write_all(tmp_path / "slurm")
    (tmp_path / "other.json").write_text('{"jobs": [{"name": "build", "status": "ok"}]}')
    (tmp_path / "other.csv").write_text("JobID,Comment\n1,x\n")
    (tmp_path / "qos.txt").write_text("Name|Priority|GraceTime\nnormal|0|00:00:00\n")
    roles = {draft.files[0].raw_path: draft.files[0].role for draft in SLURM.drafts(tmp_path)}
    assert roles == {
        "sacct.txt": "sacct", "scontrol.txt": "scontrol", "sinfo.txt": "sinfo", "squeue.json": "json", "sinfo.json": "json", "groups.json": "json",
        "sdiag.json": "json",
    }


def test_tables_that_cannot_be_read_say_how_to_write_them(tmp_path: Path) -> None:
    (tmp_path / "sacct.txt").write_text("JobID           JobName      State \n------------ ---------- ---------- \n501               train  COMPLETED \n")
    (tmp_path / "squeue.txt").write_text("             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n")
    found = list(SLURM.ingestor.bundles(list_tree(tmp_path)))
    assert [(each.path, each.reason.partition(":")[0]) for each in found if isinstance(each, Unclaimed)] == [
        ("sacct.txt", "sacct without -P"), ("squeue.txt", "squeue as a table")
    ]
    assert len(found) == 2


@pytest.mark.parametrize("delimiter", ["|", "|#", ","])
def test_accounting(tmp_path: Path, delimiter: str) -> None:
    records = [record | {"AllocTRES": "cpu=96;gres/gpu=24" if delimiter == "," else record.get("AllocTRES", "")} for record in (sample.JOB, sample.STEP)]
    rows = rows_of(tmp_path, "a.txt", sample.sacct(*records, delimiter=delimiter))
    job, step = rows["slurm_job"]
    assert codes(rows) == {} and job["gpu_count"] == 24
    assert (job["job_id"], job["step"], step["job_id"], step["step"]) == ("501", None, "501", "batch")
    assert (job["submitted_at"], job["submitted_text"]) == (at(2026, 3, 1, 23, 50), "2026-03-01T23:50:00")
    assert (job["started_at"], job["ended_at"], job["is_zone_assumed"]) == (at(2026, 3, 1, 23, 58, 20), at(2026, 3, 2, 1, 10, 40), True)
    assert (job["elapsed_s"], job["node_count"], job["cpu_count"], job["exit_code"], job["exit_signal"]) == (4340, 3, 96, 0, None)
    assert [row["node_name"] for row in rows["slurm_allocation_entry"]] == ["n08", "n09", "n10", "n08"]
    assert place(step, tmp_path / "stored").startswith(b"501.batch")


def test_what_accounting_does_not_know_is_null(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "a.txt", sample.sacct(sample.CANCELLED, sample.JOB | {"AllocTRES": "cpu=4,mem=1G", "State": "FAILED", "ExitCode": "0:9"}))
    cancelled, failed = rows["slurm_job"]
    assert (cancelled["job_id"], cancelled["displayed_id"], cancelled["state"], cancelled["cancelled_by"]) == ("510", "502_7", "CANCELLED", "1001")
    assert (cancelled["started_at"], cancelled["eligible_at"], cancelled["nodes"], cancelled["gpu_count"]) == (None, None, None, None)
    assert (failed["gpu_count"], failed["exit_code"], failed["exit_signal"], failed["state_reason"]) == (None, 0, 9, None)
    assert codes(rows) == {}


def test_a_comment_may_hold_line_breaks(tmp_path: Path) -> None:
    """Only a newline ends a line, and a record goes on until it has all its cells."""
    text = sample.sacct(sample.RUNNING, sample.JOB, delimiter="|#")
    rows = rows_of(tmp_path, "a.txt", text)
    running, job = rows["slurm_job"]
    assert (running["job_id"], running["ended_at"], job["job_id"], job["line_number"]) == ("503", None, "501", 4)
    assert place(running, tmp_path / "stored").decode().count("\n") == 1 and codes(rows) == {}


def test_a_record_that_does_not_fit_is_told_and_the_next_is_read(tmp_path: Path) -> None:
    header, good = sample.sacct(sample.JOB).splitlines()
    short, long = "502|502|broken", good.replace("train", "a|b")
    rows = rows_of(tmp_path, "a.txt", "\n".join([header, short, good, long, good.replace("501|501", "504|504"), ""]))
    assert [row["job_id"] for row in rows["slurm_job"]] == ["501", "504"]
    assert [(row["code"], row["line_number"]) for row in rows[ISSUE_TABLE]] == [("malformed-row", 2), ("malformed-row", 4)]


def test_bytes_that_are_no_text_are_told_and_the_record_is_read(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "a.txt", sample.sacct(sample.JOB).encode().replace(b"train", b"tr\xffin"))
    assert (rows["slurm_job"][0]["job_name"], codes(rows)) == ("tr\ufffdin", {"invalid-utf8": 1})


@pytest.mark.parametrize(
    ("changes", "code", "column"),
    [
        ({"Start": "yesterday"}, "not-a-time", "started_at"), ({"AllocNodes": "3.5"}, "impossible-count", "node_count"),
        ({"AllocNodes": "-3"}, "impossible-count", "node_count"), ({"ElapsedRaw": "1e30"}, "impossible-duration", "elapsed_s"),
        ({"ExitCode": "0"}, "not-an-exit-code", "exit_code"), ({"NodeList": "n[3-1]"}, "not-a-node-list", None),
        ({"AllocTRES": "cpu=1,gres/gpu=many"}, "not-a-number", "gpu_count"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, changes: dict[str, str], code: str, column: str | None) -> None:
    rows = rows_of(tmp_path, "a.txt", sample.sacct(sample.JOB | changes))
    assert codes(rows) == {code: 1} and [row["severity"] for row in rows[ISSUE_TABLE]] == ["error"]
    assert column is None or rows["slurm_job"][0][column] is None


def test_output_of_several_calls_has_one_header_each(tmp_path: Path) -> None:
    text = sample.sacct(sample.JOB) + sample.sacct(sample.JOB | {"JobID": "504", "JobIDRaw": "504"})
    rows = rows_of(tmp_path, "a.txt", text)
    assert [row["job_id"] for row in rows["slurm_job"]] == ["501", "504"] and codes(rows) == {}


def test_seconds_of_the_epoch_have_a_zone(tmp_path: Path) -> None:
    """SLURM_TIME_FORMAT=%s (sacct's manual, ENVIRONMENT VARIABLES)."""
    rows = rows_of(tmp_path, "a.txt", sample.sacct(sample.JOB | dict.fromkeys(("Submit", "Eligible", "Start", "End"), "1772400000") | {"ElapsedRaw": "0"}))
    (job,) = rows["slurm_job"]
    assert (job["started_at"], job["is_zone_assumed"], codes(rows)) == (at(2026, 3, 1, 21, 20), False, {})


def test_a_stated_zone_is_not_assumed(tmp_path: Path) -> None:
    moments = {name: f"2026-03-01T10:0{index}:00+0200" for index, name in enumerate(("Submit", "Eligible", "Start", "End"))}
    (job,) = rows_of(tmp_path, "a.txt", sample.sacct(sample.JOB | moments))["slurm_job"]
    assert (job["submitted_at"], job["is_zone_assumed"]) == (at(2026, 3, 1, 8, 0), False)


@pytest.mark.parametrize("is_one_line", [False, True])
def test_controller_blocks(tmp_path: Path, is_one_line: bool) -> None:
    text = sample.SCONTROL.replace("NodeName", "\nNodeName").replace("PartitionName", "\nPartitionName")
    if is_one_line:
        text = "\n".join(" ".join(block.split()) for block in text.split("\n\n") if block) + "\n"
    rows = rows_of(tmp_path, "a.txt", text)
    (job,), (node,), (partition,) = rows["slurm_job"], rows["slurm_node"], rows["slurm_partition_entry"]
    assert (job["job_id"], job["displayed_id"], job["job_name"], job["user_name"], job["restarts"]) == ("601", "600_1", "my job", "ada", 2)
    assert (job["node_count"], job["gpu_count"], job["started_at"]) == (3, 20, at(2026, 3, 2, 8, 30))
    allocated = {row["node_name"]: row["gpu_indexes"] for row in rows["slurm_allocation_entry"]}
    assert allocated == {"n01": "0-7", "n02": "0-7", "n05": "0-3"}
    assert (node["state"], node["reason"], node["reason_at"]) == ("MIXED+DRAIN", "ECC errors", at(2026, 3, 2, 7, 15))
    assert (node["gpu_type"], node["gpu_count"], node["allocated_gpu_count"], node["allocated_cpu_count"]) == ("a100", 8, 3, 32)
    assert (partition["partition"], partition["node_count"], partition["gpu_count"], partition["availability"]) == ("gpu", 16, 128, "up")
    assert codes(rows) == {}


def test_json_of_newer_versions(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "squeue.json", json.dumps(sample.SQUEUE, indent=1))
    running, pending = rows["slurm_job"]
    assert (running["job_id"], running["state"], running["gpu_count"], running["exit_code"], running["restarts"]) == ("701", "RUNNING", 16, 0, 1)
    assert (running["submitted_at"], running["is_zone_assumed"]) == (datetime.fromtimestamp(1772400000, UTC), False)
    assert (pending["displayed_id"], pending["state_reason"], pending["eligible_at"], pending["nodes"]) == ("702_[1-10]", "Priority", None, None)
    (asked,) = rows["slurm_diagnostic_entry"]
    assert (asked["key"], asked["value_at"]) == ("last_update", datetime.fromtimestamp(1772401000, UTC)) and codes(rows) == {}


@pytest.mark.parametrize(
    ("value", "code", "signal"),
    [(0, 0, None), (256, 1, None), (9, 0, 9), ({"status": "ERROR", "return_code": 3}, 3, None), ({"set": True, "infinite": False, "number": 512}, 2, None)],
)
def test_exit_codes_of_three_generations(tmp_path: Path, value: Any, code: int, signal: int | None) -> None:
    document = json.loads(json.dumps(sample.SQUEUE))
    document["jobs"][0]["exit_code"] = value
    job = rows_of(tmp_path, "squeue.json", json.dumps(document))["slurm_job"][0]
    assert (job["exit_code"], job["exit_signal"]) == (code, signal)


def test_nodes_and_statistics(tmp_path: Path) -> None:
    sample.write_all(tmp_path / "tree")
    found = {draft.files[0].raw_path: SLURM.parsed(SLURM.stored(draft, tmp_path / "stored")) for draft in SLURM.drafts(tmp_path / "tree")}
    assert [row["state"] for row in found["sinfo.json"]["slurm_node"]] == ["MIXED", "IDLE+DRAIN", "DOWN+NOT_RESPONDING"]
    assert [row["allocated_gpu_count"] for row in found["sinfo.json"]["slurm_node"]] == [3, 1, 2]
    (group,) = found["groups.json"]["slurm_partition_entry"]
    assert (group["partition"], group["node_state"], group["node_count"], group["availability"]) == ("gpu", "IDLE+DRAIN", 5, "up")
    statistics = {row["key"]: row["value_number"] for row in found["sdiag.json"]["slurm_diagnostic_entry"]}
    assert (statistics["jobs_pending"], statistics["jobs_running"], statistics["req_time"]) == (120, 44, None)
    table = [(row["partition"], row["availability"], row["node_state"], row["node_count"]) for row in found["sinfo.txt"]["slurm_partition_entry"]]
    assert table == [("gpu", "up", "DRAINED", 2), ("gpu", "up", "MIXED", 7), ("cpu", "down", "IDLE", 4)]


def test_a_list_that_would_unfold_without_end(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "a.txt", sample.sacct(sample.JOB | {"NodeList": "n[0-999][0-999][0-999]"}))
    assert codes(rows) == {"not-a-node-list": 1} and rows["slurm_allocation_entry"] == []


def times(tmp_path: Path, **changes: str) -> tuple[Any, ...]:
    """The end, run time and suspended time of one job, and the codes of its issues."""
    rows = rows_of(tmp_path, "sacct.txt", sample.sacct(sample.JOB | changes))
    (job,) = rows["slurm_job"]
    return job["ended_at"], job["elapsed_s"], job["suspended_s"], sorted(codes(rows))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # The clock was set back while it ran: an hour is missing between the local times, or the end is before the start.
        ({"Start": "2026-11-01T00:50:00", "End": "2026-11-01T01:50:00", "ElapsedRaw": "7200"}, (at(2026, 11, 1, 2, 50), 7200.0, None, ["ambiguous-time"])),
        ({"Start": "2026-11-01T01:50:00", "End": "2026-11-01T01:10:00", "ElapsedRaw": "1200"}, (at(2026, 11, 1, 2, 10), 1200.0, None, ["ambiguous-time"])),
        ({"Start": "2026-11-01T01:50:00", "End": "2026-11-01T01:10:00", "ElapsedRaw": ""}, (None, None, None, ["ambiguous-time"])),
        ({"Start": "2026-11-01T01:50:00Z", "End": "2026-11-01T01:10:00Z", "ElapsedRaw": ""}, (None, None, None, ["impossible-time"])),
        # Slurm's run time leaves out the time suspended.
        ({"Start": "2026-11-02T10:00:00", "End": "2026-11-02T11:00:00", "ElapsedRaw": "3000"}, (at(2026, 11, 2, 11), 3000.0, 600.0, [])),
        ({"Start": "2026-11-02T10:00:00", "End": "2026-11-02T11:00:00", "ElapsedRaw": "3601"}, (at(2026, 11, 2, 11), 3601.0, None, [])),
    ],
)
def test_the_run_time_that_slurm_counted_decides_over_local_times(tmp_path: Path, changes: dict[str, str], expected: tuple[Any, ...]) -> None:
    assert times(tmp_path, **changes) == expected
