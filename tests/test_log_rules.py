"""Known lines of logs: every rule by its examples, the search on odd files, batches of their own, and what people see of them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

import pytest
from built import built, sql_of
from conftest import WhOn, unpacked_evidence
from samples.values import VALUES_INGESTOR, take_in
from serving import client
from standard import standard_project
from stored import bundle_folder
from test_gate import RUN, query

from warehouse.claims.numbers.recorded import changed_parsers
from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.errors import WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.logs.rules import RULES_FILE, Rule, check_rules, does_match, read_rules
from warehouse.landing.logs.search import search
from warehouse.landing.parse.parsing import parse
from warehouse.landing.parse.refresh import refresh
from warehouse.landing.parse.task import Outcome
from warehouse.landing.readers.text import MAX_LINE_BYTES, Report
from warehouse.landing.registry import faults_of_descriptions, find_ingestors, load_ingestors
from warehouse.landing.rows import RowBuffer
from warehouse.project.making import init_project
from warehouse.project.project import Project, standard_folder
from warehouse.record.command import record
from warehouse.transform.build.build import build

STANDARD = standard_folder() / "ingest" / RULES_FILE
RULES = read_rules([STANDARD]).rules
OWN = """
[[rule]]
name = "shard_missing"
pattern = 'shard \\d+ is missing$'
severity = "error"
meaning = "A shard of the data set is missing"
source = "loader.py"
example = "ERROR shard 7 is missing"
counterexample = "shard 7 is missing a footer"
"""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_matches_its_example_and_not_its_counterexample(rule: Rule) -> None:
    assert does_match(rule.pattern, rule.example) and not does_match(rule.pattern, rule.counterexample)


def test_no_example_is_a_line_of_a_rule_that_says_something_else() -> None:
    """A line may have two rules only where both are true of it; a condition is stated one way."""
    for rule in RULES:
        others = [other for other in RULES if other.condition and rule.condition and does_match(other.pattern, rule.example)]
        assert {other.condition for other in others} <= {rule.condition}, rule.name


def report() -> tuple[RowBuffer, Report]:
    buffer = RowBuffer({}, "digest")
    return buffer, Report(buffer, "server.log", None)


def test_a_known_line_has_its_count_its_first_and_its_last_place_across_pieces() -> None:
    usual = b"INFO nothing happens here\r\n"
    full = b"OSError: [Errno 28] No space left on device\n"
    data = usual * 100_000 + full + usual * 100_000 + full + b"write: No space left on device"
    found = search(data, RULES, report()[1])
    assert found.line_count == 200_003 and found.unknown_count == 0 and [*found.known] == ["disk_full"]
    seen = found.known["disk_full"]
    assert (seen.count, seen.first[0], seen.last[0]) == (3, 100_001, 200_003)
    (_, offset, length), (_, last, last_length) = seen.first, seen.last
    assert data[offset : offset + length] == full[:-1] == seen.text and data[last : last + last_length] == b"write: No space left on device"


def test_lines_that_differ_in_numbers_and_paths_are_one_unknown_line() -> None:
    data = b"".join(
        b"2026-01-31 00:00:%02d ERROR reader: cannot open /data/a%d/shard-%d.tar at 0x7f%04x\n" % (number, number, number, number) for number in range(50)
    )
    data += b"UserWarning: once\n#  size  count  type  error   time\n the error is small\n"
    found = search(data, RULES, report()[1])
    assert {template: seen.count for template, seen in found.unknown.items()} == {
        "<n> <n> ERROR reader: cannot open <path> at <hex>": 50, "UserWarning: once": 1,
    }
    assert found.unknown_count == 51


def test_a_hostile_log_is_bounded(tmp_path: Path) -> None:
    buffer, to = report()
    known = b"No space left on device"
    data = b"x" * (MAX_LINE_BYTES + 1) + b"\n" + b"ERROR " * 2_000_000 + b"\n\0\0\xff\xfe " + known + b"\n" + b"\xe9rror " + known + b"\n" + b"\n" * 1_000_000
    began = time.process_time()
    found = search(data, RULES, to)
    assert time.process_time() - began < 10
    assert found.known["disk_full"].count == 2 and found.known["disk_full"].first[0] == 3
    ((_, issue),) = buffer.rest()
    assert [row["code"] for row in issue.to_pylist()] == ["line-too-long"]
    random_lines = b"".join(b"ERROR %s\n" % chr(97 + number % 26).encode() * (1 + number % 60) for number in range(100_000))
    assert len(search(random_lines, RULES, to).unknown) <= 40


def stored(project: Project, tree: Path) -> None:
    ingest(plan_ingest(tree, load_ingestors(project).values()), open_store(project), "test")


def rows(project: Project, table: str) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    landing = refresh(open_store(project), find_ingestors(project))
    return [row for file in landing.files(table) for row in pq.read_table(file.path).to_pylist()]


def test_a_rule_that_changes_has_logs_read_again_and_nothing_else(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", bare=True)
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "slurm-7.out").write_bytes(b"ERROR shard 7 is missing\r\nERROR shard 8 is missing\nNo space left on device\n")
    (tree / "utf16.log").write_bytes("No space left on device\n".encode("utf-16"))
    (tree / "core.log").write_bytes(b"\x7fELF\0\0No space left on device\n")
    (tree / "trace.bin").write_bytes(b"No space left on device\n" * 1000)
    stored(project, tree)
    parsed: list[Any] = []

    def refreshed() -> list[str]:
        def keeping(*given: Any) -> list[Outcome]:
            outcomes = parse(*given)
            parsed.extend(outcome.batch for outcome in outcomes)
            return outcomes

        parsed.clear()
        refresh(open_store(project), find_ingestors(project), elsewhere=keeping)
        return [batch.ingestor for batch in parsed]

    assert refreshed() == ["unrecognised"]  # a bare project has no rules
    (project.root / "ingest" / RULES_FILE).write_text(OWN)
    assert refreshed() == ["log_rules"] and refreshed() == []
    assert not any(file.table.startswith("evidence_b") for batch in parsed for file in batch.files)
    assert {(row["rule"], row["raw_path"], row["count"]) for row in rows(project, "log_match")} == {
        ("shard_missing", "slurm-7.out", 1), ("disk_full", "slurm-7.out", 1),
    }
    assert [row["code"] for row in rows(project, "evidence_issue") if row["raw_path"] in ("utf16.log", "core.log")] == ["log-not-read"] * 2
    (project.root / "ingest" / RULES_FILE).write_text(OWN.replace("missing$", "missing"))
    assert refreshed() == ["log_rules"]
    assert {row["count"] for row in rows(project, "log_match") if row["rule"] == "shard_missing"} == {2}
    stored(project, tree)
    assert len(rows(project, "evidence_bundle")) == 1
    before = build(project).build.evidence
    (project.root / "ingest" / RULES_FILE).write_text(OWN)
    assert build(project).build.evidence != before  # nothing else is new


# Files of key=value lines, each in a bundle with a log beside it, and the run of the key, whose value is how often a rule is found in the log.
LOGGED = VALUES_INGESTOR.replace("(DraftFile(path.rpartition(\"/\")[2], file),)", "(DraftFile('v.nv', file), DraftFile('v.log', tree.files[path[:-2] + 'log']))")
LOGGED = LOGGED.replace("for path in bundle.manifest.by_path:", "for path in ['v.nv']:")
SEEN = RUN.replace("if(value.value < 0, null, value.value) as value", "(select sum(m.count) from log_match as m where m.artifact_manifest_digest = value.artifact_manifest_digest)::double as value")


def logged_project(tmp_path: Path, models: dict[str, str]) -> Project:
    project = init_project(tmp_path / "project", bare=True)
    (project.root / "ingest" / "values.py").write_text(LOGGED)
    (project.root / "ingest" / RULES_FILE).write_text(OWN)
    for name, text in models.items():
        (project.root / "models" / f"{name}.sql").write_text(text)
    (tmp_path / "in").mkdir()
    for number in range(1, 11):
        (tmp_path / "in" / f"a{number:02}.nv").write_text(f"a{number:02}=1\n")
        (tmp_path / "in" / f"a{number:02}.log").write_text("ERROR shard 7 is missing\n" * 3 + f"ERROR shard {number} is missing a footer\nWARNING: late\n")
    take_in(project, tmp_path / "in")
    return project


def test_a_number_that_other_rules_made_is_not_called_tampered(tmp_path: Path, wh_on: WhOn) -> None:
    project = logged_project(tmp_path, {"run": SEEN})
    (project.root / "queries" / "claim.sql").write_text(query())
    build(project)
    publish(project, "claim", as_provisional=True)
    (published,) = publications(project)
    assert [(cell.value, cell.number_id) for row in published.rows() for cell in row.cells.values()][0][0] == 3.0
    (project.root / "ingest" / RULES_FILE).write_text(OWN + "# the same rules\n")
    build(project)
    assert wh_on(project, "verify", published.digest[:12])[0] == 0
    (project.root / "ingest" / RULES_FILE).write_text(OWN.replace("missing$", "missing"))
    build(project)
    code, out, err = wh_on(project, "verify", published.digest[:12])
    assert code == 1 and "not reproduced" in out + err and "log_rules 1" in out + err and "tampered" not in out + err
    assert sql_of(project)("select v from rollup.claim") == [(4.0,)]


def test_a_bundle_that_is_damaged_has_no_lines_in_the_build(tmp_path: Path) -> None:
    unknown = (standard_folder() / "models" / "marts" / "log_unknown_line.sql").read_text()
    project = logged_project(tmp_path, {"log_unknown_line": unknown})
    store = open_store(project)
    damaged = store.digests()[0]
    path = bundle_folder(store, damaged) / "files" / "v.nv"
    path.chmod(0o644)
    path.write_text("a99=1\n")
    build(project)
    assert sql_of(project)("select count(*), count(distinct artifact_manifest_digest) from log_unknown_line") == [(18, 9)]
    assert sql_of(project)(f"select count(*) from catalog.damaged where place like '%{damaged[:12]}%'") == [(1,)]


# What the archives have: of each rule a file, the number of the first line there, and how many there are, as grep -n and -c have them;
# one torn line of NET/Socket is not counted.
_DELL = "mlcommons__training_results_v5.1/Dell/results"
REAL = (
    ("fabric", "2025-06-26-13-13-06/without_aws.log", {"nccl_no_ib_device": (18, 8), "nccl_socket_transport": (21, 31)}),
    ("fabric", "2024-11-08-21-24-51/with_aws.log", {"nccl_timeout": (12, 9)}),
    ("mlperf-training", f"{_DELL}/1xXE9680Lx8H200-SXM-141GB/retinanet/result_4.txt", {
        "nccl_failure": (1301, 14), "slurm_task_failed": (1469, 2), "slurm_cancelled": (1479, 1)}),
    ("mlperf-training", f"{_DELL}/1xXE9680x8H200-SXM-141GB/llama2_70b_lora/result_4.txt", {"process_group_not_destroyed": (735, 8)}),
)


@pytest.mark.parametrize(("archive", "name", "lines"), REAL, ids=lambda value: value if isinstance(value, str) else None)
def test_lines_of_real_logs_are_found_and_no_others(archive: str, name: str, lines: dict[str, tuple[int, int]]) -> None:
    """The other rules occur in no archive: their examples have the wording of the programs' sources."""
    (path,) = [each for each in unpacked_evidence(archive).rglob(Path(name).name) if str(each).endswith(name)]
    found = search(path.read_bytes(), [rule for rule in RULES if rule.is_for(archive, path.name)], report()[1])
    assert {rule: (seen.first[0], seen.count) for rule, seen in found.known.items()} == lines


def test_other_rules_are_another_parser_of_every_family() -> None:
    then = {"document": {"landing": [{"table": "log_match", "parsed_by": "log_rules 1.aaaa"}]}, "models": {}}
    now = SimpleNamespace(tables={"log_match": SimpleNamespace(parsed_by="log_rules 1.bbbb")})
    assert changed_parsers(then, cast(Any, now), ["bench_serving"]) == {"log_rules": ("1.aaaa", "1.bbbb")}


@pytest.mark.parametrize(("old", "new", "told"), [
    ("'shard", "'sh[ard", "the pattern is not RE2"),
    ('"error"', '"fatal"', "severity must be one of error, warning, note"),
    ("source =", "sources =", "source missing"),
    ("meaning", 'where = "x"\nmeaning', "unknown key where"),
    ("[[rule]]", "[[rules]]", "unknown table [rules]"),
])
def test_a_wrong_rule_of_a_project_is_named(tmp_path: Path, old: str, new: str, told: str) -> None:
    project = init_project(tmp_path / "project", bare=True)
    (project.root / "ingest" / RULES_FILE).write_text(OWN.replace(old, new))
    with pytest.raises(WarehouseError, match="WH121") as error:
        find_ingestors(project)
    assert told in error.value.message and RULES_FILE in str(error.value.place)


def test_a_check_tries_the_examples_of_a_project(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", bare=True)
    (project.root / "ingest" / RULES_FILE).write_text(OWN.replace("missing$", "missing").replace("ERROR shard 7 is missing", "no shard"))
    assert [error.message for error in faults_of_descriptions(project)] == [
        "rule shard_missing: its pattern does not match its example", "rule shard_missing: its pattern matches its counterexample",
    ]


def test_a_rule_is_tried_where_it_says(tmp_path: Path) -> None:
    file = tmp_path / RULES_FILE
    file.write_text(OWN + 'families = ["slurm"]\nfiles = ["slurm-*"]\n[logs]\nany = ["*.Trace"]\nslurm = ["*.lst"]\n')
    assert check_rules(file, "here") == []
    found = read_rules([STANDARD, file])
    rule = found.rules[-1]
    assert rule.is_for("slurm", "slurm-7.out") and not rule.is_for("slurm", "x.out") and not rule.is_for("vllm", "slurm-7.out")
    names = ("a/b.TRACE", "a/b.lst", "a/server.log", "mlperf_log_detail.txt", "result_0.txt")
    assert [[found.is_log(family, name) for name in names] for family in ("slurm", "mlperf_training")] == [
        [True, True, True, False, False], [True, False, True, False, True],
    ]


BENCH = """
import json, os, sys
head = os.path.exists("head")
print("INFO 05-19 02:38:05 [core.py:1] Initializing")
if head:
    print("INFO 05-19 02:38:06 [vllm.py:1081] Cudagraph is disabled under eager mode", file=sys.stderr)
    for number in range(3):
        print(f"WARNING 05-19 [a.py:{number}] request {number} waits", file=sys.stderr)
print(json.dumps({"name": "Pi", "component": "c", "@parameters": {"n": 1}, "@result": {"rate": 5.0 if head else 10.0}, "overall_score": 0.3}))
"""


def test_a_line_of_a_run_is_on_its_page_in_its_explanation_and_in_a_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wh_on: Callable[..., tuple[int, str, str]]
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "bench.py").write_text(BENCH)
    monkeypatch.chdir(work)
    command = [sys.executable, "bench.py"]
    record(command, tmp_path / "tree" / "base", repeats=2)
    (work / "head").touch()
    record(command, tmp_path / "tree" / "head", repeats=1)
    project = built(tmp_path / "tree", standard_project(tmp_path / "project"))
    sql = sql_of(project)
    ((head, path, line, condition),) = sql("select run_id, raw_path, line_number, condition from log_observation")
    assert (path, line, condition) == ("run-01/stderr.txt", 1, "CUDA graphs")
    base = [run for (run,) in sql(f"select run_id from benchmark_run_fact where run_id <> '{head}' order by 1")]
    assert sql("select run_count, line_count, logged_run_count from log_rule_count") == [(1, 1, 3)]
    assert sql("select template, count, line_number from log_unknown_line") == [("WARNING <n> [a.py:<n>] request <n> waits", 3, 2)]

    def wh(*arguments: str) -> str:
        return wh_on(project, *arguments)[1]

    assert "log CUDA graphs: (not stated) -> disabled" in wh("compare", ",".join(base), head)
    explained = wh("explain", head)
    assert "log: cuda_graphs_disabled" in explained and "run-01/stderr.txt" in explained
    page = client(project).get(f"/runs/{quote(head)}").text
    assert "Known lines of its logs" in page and "The engine runs without CUDA graphs" in page and "request &lt;n&gt; waits" in page
