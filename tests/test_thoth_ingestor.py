"""Thoth: a result of an inspection is a run, its output an indicator, a campaign names the inspections that it scheduled."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from built import built, built_copy, sql_of
from conftest import WhOn, unpacked_evidence
from landed import Subject, codes, landed, place
from samples import thoth
from standard import standard_project
from stored import bundle_folder

from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project
from warehouse.transform.build.build import build

THOTH = Subject("thoth")
_PAGE = Path(__file__).parents[1] / "docs" / "thoth.md"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return built_copy("thoth", thoth.write_all, tmp_path_factory.mktemp("thoth"))


@pytest.fixture(scope="module")
def evidence() -> Path:
    return unpacked_evidence("thoth")


@pytest.fixture(scope="module")
def real(evidence: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = standard_project(tmp_path_factory.mktemp("real"))
    report = ingest(plan_ingest(evidence, load_ingestors(project).values()), open_store(project), "evidence")
    assert {(problem.code, problem.message) for problem in report.problems} <= {("WH104", "a link is not copied")}
    assert not build(project).damaged
    return project


def land_result(folder: Path, **changes: Any) -> dict[str, list[dict[str, Any]]]:
    """The rows of an inspection with one result."""
    thoth.write_inspection(folder / "tree" / thoth.FAST, {0: thoth.result(thoth.FAST, 0, 4.0, **changes)}, batch_size=1)
    return landed(THOTH.ingestor, folder / "tree", folder / "store")


def test_each_result_is_a_run(sample: Project) -> None:
    sql = sql_of(sample)
    at = datetime(2020, 9, 1, 10, 0, 20, 250000, tzinfo=UTC)
    [run] = sql(
        "select benchmark_case_id, status, repeat_index, started_at, duration_s, is_zone_assumed, user_cpu_s, system_cpu_s, max_rss_bytes, minor_page_faults, "
        "major_page_faults, voluntary_context_switches, involuntary_context_switches, scheduler_run_id, pod_uid, node_name, raw_folder "
        f"from benchmark_run_fact where run_id = 'thoth/{thoth.FAST}/0'"
    )
    assert run == (
        "tensorflow/PiConv2D", "succeeded", 1, at, 10.0, True, 14.25, 1.5, 827 * 1024, 1312, 2, 130, 900, thoth.FAST, None, None, "results/0/",
    )
    assert sql(f"select started_at, ended_at, is_zone_assumed, duration_s from benchmark_run_fact where run_id = 'thoth/{thoth.SLOW}/0'") == [
        (None, datetime(2020, 8, 1, 10, 0, 40, 500000, tzinfo=UTC), True, None)
    ]


def test_a_failed_script_and_a_failed_build_are_failed_runs_of_their_case(sample: Project) -> None:
    sql = sql_of(sample)
    assert sql("select run_id, benchmark_case_id, status_reason, exit_code from benchmark_run_fact where status = 'failed' order by 1") == [
        (f"thoth/{thoth.BROKEN}/build", "amun/made-broken", "build: error: build error: Failed to push image", None),
        (f"thoth/{thoth.SLOW}/1", "tensorflow/PiConv2D", "exit code 1", 1),
    ]
    assert sql("select distinct requested_batch_size, result_count from inspection_result order by all") == [(3, 0), (3, 2), (3, 3)]
    assert sql("select count(*) from ingest_issue where code = 'results-missing'") == [(2,)]


@pytest.mark.parametrize(
    ("log", "state", "reason"),
    [
        (thoth.PUSHED, "succeeded", None),
        ("step\nError: received unexpected terminate signal\n", "failed", "Error: received unexpected terminate signal"),
        (thoth.PUSHED.replace("Push successful\n", ""), "unknown", "the log of the build ends without its result"),
    ],
)
def test_a_build_ended_as_its_last_lines_say(log: str, state: str, reason: str | None, tmp_path: Path) -> None:
    thoth.write_inspection(tmp_path / "tree" / thoth.FAST, {}, log)
    rows = landed(THOTH.ingestor, tmp_path / "tree", tmp_path / "store")
    assert [(build["state"], build["reason"]) for build in rows["thoth_build"]] == [(state, reason)]
    assert [run["status"] for run in rows["thoth_run"]] == ["failed"] * (state == "failed")
    assert codes(rows)["no-results"] == (state != "failed")


def test_the_image_is_the_digest_that_was_pushed(sample: Project) -> None:
    query = (
        "select distinct image_digest, software_stack, framework, runtime_version, operating_system, kernel_version from software_version_dim "
        "inner join benchmark_run_fact using (software_version_key) where status = 'succeeded'"
    )
    assert sql_of(sample)(query) == [(thoth.IMAGE, "registry.example/made-ubi8-py36", "tensorflow", "python 3.6", "made 8.2", "5.1.0-made")]


def test_values_lead_to_their_bytes_and_keep_their_types(tmp_path: Path) -> None:
    rows = land_result(tmp_path, stdout=thoth.indicator(4.0, "PiNew", {"on": True, "size": 3, "text": "x", "none": None, "deep": {"a": 1.5}}, extra={"p": {"q": 7}}))
    entries = {(row["kind"], row["key"]): row for row in rows["thoth_indicator_entry"]}
    assert {key: (row["value_type"], row["value_text"], row["value_number"]) for key, row in entries.items() if key[0] in ("parameter", "result")} == {
        ("parameter", "on"): ("boolean", "true", None), ("parameter", "size"): ("integer", "3", 3.0), ("parameter", "text"): ("string", "x", None),
        ("parameter", "none"): ("null", None, None), ("parameter", "deep__a"): ("float", "1.5", 1.5), ("result", "extra__p__q"): ("integer", "7", 7.0),
        ("result", "elapsed"): ("float", "4.0", 4.0), ("result", "rate"): ("float", "1.0", 1.0),
    }
    [store] = (tmp_path / "store").iterdir()
    assert place(entries["result", "extra__p__q"], store) == b'"q": 7'
    assert place(entries["other", "usage/ru_nivcsw".replace("/", "__")], store) == b'"ru_nivcsw": 900'


@pytest.mark.parametrize(
    ("stdout", "code"),
    [
        ({}, "no-indicator"), ("3.6.8\n", "no-indicator"), ('{"@result": {"a"', "no-indicator"), ({"jobs": 3}, "indicator-keys-missing"),
        (thoth.indicator(1.0, parameters={"rate": 3}), "indicator-keys-overlap"), ({**thoth.indicator(1.0), "@result": 3}, "indicator-section-not-an-object"),
        (thoth.indicator(1.0, extra="fast"), "not-a-number"),
    ],
)
def test_odd_output_is_reported_and_the_run_is_there(stdout: Any, code: str, tmp_path: Path) -> None:
    rows = land_result(tmp_path, stdout=stdout)
    assert len(rows["thoth_run"]) == 1 and code in codes(rows)


def test_of_two_keys_with_one_name_the_first_counts(tmp_path: Path) -> None:
    rows = land_result(tmp_path, stdout=thoth.indicator(4.0, a__b=1, a={"b": 2}) | {"usage__ru_nivcsw": 7})
    entries = {(row["kind"], row["key"]): row["value_number"] for row in rows["thoth_indicator_entry"]}
    assert (entries["result", "a__b"], entries["other", "usage__ru_nivcsw"]) == (1.0, 7.0) and codes(rows)["duplicate-key"] == 1


def test_an_indicator_may_be_a_string_and_of_the_first_form(tmp_path: Path) -> None:
    printed = {"@parameters": {"framework": "tensorflow", "name": "matmul", "matrix_size": 8}, "@result": {"rate": 2.0, "elapsed": 4.0}}
    rows = land_result(tmp_path, stdout=json.dumps(printed))
    [run] = rows["thoth_run"]
    assert (run["indicator_name"], run["component"]) == ("matmul", "tensorflow")
    assert {row["key"]: row["value_number"] for row in rows["thoth_indicator_entry"] if row["kind"] == "result"} == {"rate": 2.0, "elapsed": 4.0}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"hostname": "inspection-other-conv2d-99999999-1"}, "identity-mismatch"), ({"exit_code": None}, None),
        ({"end_datetime": "2020-09-01T09:00:00"}, "impossible-time"), ({"start_datetime": "soon"}, "not-a-time"), ({"script_sha256": "?"}, None),
        ({"usage": {"ru_nivcsw": -1}}, "impossible-count"), ({"usage": {"ru_utime": -0.5}}, "negative-measurement"), ({"usage": {"ru_maxrss": "big"}}, "not-a-number"),
    ],
)
def test_a_value_that_cannot_be_is_null_and_reported(changes: dict[str, Any], code: str | None, tmp_path: Path) -> None:
    rows = land_result(tmp_path, **changes)
    [run] = rows["thoth_run"]
    columns = {"usage": ("involuntary_context_switches", "user_cpu_s", "max_rss_kib"), "start_datetime": ("started_at",), "exit_code": ("exit_code",), "script_sha256": ("script_sha256",)}
    for key in changes:
        assert {run[column] for column in columns.get(key, ())} <= {None}
    assert code is None or codes(rows)[code] == 1
    assert run["status"] == ("unknown" if "exit_code" in changes else "succeeded")


def test_a_zone_that_is_stated_is_not_assumed(tmp_path: Path) -> None:
    [run] = land_result(tmp_path, start_datetime="2020-09-01T12:00:00+02:00")["thoth_run"]
    assert (run["started_at"], run["is_zone_assumed"]) == (datetime(2020, 9, 1, 10, tzinfo=UTC), False)


def test_the_machine_is_read_from_the_file_beside_a_result_without_it(tmp_path: Path) -> None:
    rows = land_result(tmp_path, hwinfo=None)
    [run] = rows["thoth_run"]
    assert (run["cpu_model"], run["cpu_count"], run["cpu_hz_actual"], run["cpu_flag_count"], run["l3_cache_bytes"]) == (
        "Made Processor 7", 48, 2600000000, 3, 16777216,
    )
    assert {row["raw_path"] for row in rows["thoth_indicator_entry"] if row["key"].startswith("hwinfo__")} == {"results/0/hwinfo"}


def test_an_inspection_without_its_folder_is_named_by_its_pods(tmp_path: Path) -> None:
    thoth.write_inspection(tmp_path / "tree", {0: thoth.result(thoth.FAST, 0, 4.0)})
    rows = landed(THOTH.ingestor, tmp_path / "tree", tmp_path / "store")
    assert [run["run_id"] for run in rows["thoth_run"]] == [f"thoth/{thoth.FAST}/0"]


def test_another_script_is_another_workload(sample: Project, tmp_path: Path) -> None:
    first, second = (land_result(tmp_path / str(number), script_sha256=digest * 64)["thoth_run"][0] for number, digest in enumerate("ab"))
    assert first["workload_spec_digest"] != second["workload_spec_digest"]
    key = "select comparable_key from measurement where metric = 'elapsed' and run_id in"
    same = sql_of(sample)(f"{key} ('thoth/{thoth.FAST}/0', 'thoth/{thoth.FAST}/1')")
    assert len(same) == 2 and len(set(same)) == 1


def test_the_workload_has_the_parameters_as_the_script_wrote_them(tmp_path: Path) -> None:
    parameters = {"on": True, "none": None, "text": "x", "list": [1, 2.5, "a"], "deep": {"size": 3}, "half": 0.5, "random_seed": 7}
    [run] = land_result(tmp_path, stdout=thoth.indicator(4.0, "PiNew", parameters))["thoth_run"]
    assert json.loads(run["workload_document"]) == {
        "component": "tensorflow", "indicator_name": "PiNew", "script_sha256": thoth.SCRIPT, "cpu_request": "2",
        "parameters": {key: value for key, value in parameters.items() if key != "random_seed"},
    }


def test_units_are_those_of_the_indicator(sample: Project) -> None:
    assert sql_of(sample)("select distinct indicator, metric, unit, better from measurement order by all") == [
        ("PiConv2D", "elapsed", "ms", "lower"), ("PiConv2D", "rate", "Gflop/s", "higher"),
    ]


_MATMUL = 512**3 + 511 * 512**2


_CONV1D = {"batch": 4, "input_width": 161, "filter_width": 5, "input_channels": 5, "output_channels": 32, "strides": 2}
OPERATIONS: list[tuple[str, dict[str, Any], float, tuple[str, str] | None]] = [
    ("PiMatmul", {"matrix_size": 512}, _MATMUL, None),
    # TensorFlow's script with a mini batch: n**3 + (n - 1) * n**2 * mini_batch.
    ("PiMatmul", {"matrix_size": 512, "mini_batch": 40}, 512**3 + 511 * 512**2 * 40, ("rate-disagrees", "warning")),
    ("PiMatmul", {"matrix_size": 512, "mini_batch": 40}, _MATMUL * 40, None),
    ("PiMatmul", {"matrix_size": 512}, _MATMUL * 3, ("rate-disagrees", "error")),
    ("PiConv1D", _CONV1D, 4 * 161 * 5 * 5 * 32, None),
    ("PiConv2D", {**thoth.CONV2D, "mini_batch": 100}, thoth.CONV2D_OPERATIONS, ("mini-batch-not-counted", "note")),
    ("PiConv2D", {**thoth.CONV2D, "strides": 0}, thoth.CONV2D_OPERATIONS, None),
    ("PiImport", {}, 1e9, None),
]


def test_rates_and_campaigns(tmp_path: Path) -> None:
    """Rate times elapsed is the operations; two reports of a campaign have stacks of their own."""
    results = {
        number: thoth.result(thoth.FAST, number, 2.0, stdout=thoth.indicator(2.0, name, {"device": "cpu", **parameters}, rate=operations / 2.0 / 1e6))
        for number, (name, parameters, operations, _) in enumerate(OPERATIONS)
    }
    thoth.write_inspection(tmp_path / "tree" / thoth.FAST, results, batch_size=len(results))
    for name in ("dependency_monkey_report.json", "second_report.json"):
        thoth.put(tmp_path / "tree/made-campaign" / name, thoth.dependency_monkey_report())
    sql = sql_of(built(tmp_path / "tree", standard_project(tmp_path / "project")))
    assert sql("select count(*) from campaign_member") == [(2,)]
    found = sql("select raw_path, code, severity from ingest_issue where raw_path like 'results/%'")
    assert {path: rest for path, *rest in found} == {f"results/{number}/result": [*each[3]] for number, each in enumerate(OPERATIONS) if each[3]}


def test_a_campaign_is_joined_to_the_runs_of_its_inspections(sample: Project) -> None:
    sql = sql_of(sample)
    assert sql("select name, kind, requested_count, status, started_at, ended_at from campaign_dim order by name") == [
        ("made-campaign", "dependency_monkey", 4, "succeeded", datetime(2020, 9, 1, 9, 44, 48, 48600, tzinfo=UTC), datetime(2020, 9, 1, 9, 50, 4, 48600, tzinfo=UTC)),
        ("sent-by-hand", "amun", None, "unknown", None, None),
    ]
    assert sql("select campaign, member, run_id, has_stated_packages, score from campaign_run order by all") == [
        ("made-campaign", thoth.BROKEN, f"thoth/{thoth.BROKEN}/build", None, None),
        *(("made-campaign", thoth.FAST, f"thoth/{thoth.FAST}/{number}", True, 0.5) for number in range(3)),
        *(("made-campaign", thoth.SLOW, f"thoth/{thoth.SLOW}/{number}", False, 0.25) for number in range(2)),
        ("sent-by-hand", "inspection-made-matmul", None, None, None),
    ]
    assert sql(f"select stated_in from campaign_member where member = '{thoth.SLOW}'") == [("report, scheduled",)]


def test_an_adviser_that_failed_is_a_state_and_a_stack_knows_its_runs(sample: Project) -> None:
    assert sql_of(sample)("select state, state_reason, score, recommendation_type, measured_run_count from advised_stack order by all") == [
        ("failed", "Resolver was killed", None, "performance", 0), ("succeeded", None, 1.75, "performance", 6),
    ]
    assert sql_of(sample)("select code from ingest_issue where raw_path like 'adviser%'") == []


def test_an_adviser_s_ranking_is_given_again(tmp_path: Path) -> None:
    """Its products are the best first; equal scores keep their order."""
    advised = thoth.adviser()
    scores = {"1.19.2": 2.5, "1.19.1": 1.0, "1.18.0": 1.0, "1.17.0": -0.5}
    advised["result"]["report"]["products"] = [thoth.product(score, numpy=version) for version, score in scores.items()]
    thoth.put(tmp_path / "tree" / "adviser.json", advised)
    sql = sql_of(built(tmp_path / "tree", standard_project(tmp_path / "project")))
    assert sql("select stack_number, score from advised_stack order by score desc, stack_number") == [*enumerate(scores.values(), start=1)]


def test_documents_state_packages(sample: Project) -> None:
    stated = sql_of(sample)(
        "select dim.software_stack, component, version from software_package_dim inner join software_version_dim as dim using (software_version_key) "
        "where dim.software_stack like 'solver %' or dim.software_stack like 'package_extract %' order by all"
    )
    assert [row[1:] for row in stated] == [("acl", "2.2.51-12.el7"), ("six", "1.9.0"), ("click", "6.7"), ("pipdeptree", "0.13.2"), ("six", "1.15.0")]


def test_metadata_without_a_result_is_not_taken(tmp_path: Path) -> None:
    thoth.put(tmp_path / "metadata.json", thoth.solver()["metadata"])
    thoth.put(tmp_path / "other.json", {"metadata": {"analyzer": "thoth-other"}, "result": {}})
    assert THOTH.drafts(tmp_path) == []


def test_a_model_of_an_indicator_is_made_from_what_was_seen(tmp_path: Path, wh_on: WhOn) -> None:
    printed = thoth.indicator(2.0, "Pi'New", {"select": 1, "rounds": 3, "Mean-x": 1}, mean={"x": 1.5}, mean_x=2.5, is_ok=True, label="a")
    thoth.write_inspection(tmp_path / "tree" / thoth.FAST, {0: thoth.result(thoth.FAST, 0, 2.0, stdout=printed)})
    project = built(tmp_path / "tree", standard_project(tmp_path / "project"))
    assert wh_on(project, "new", "model", "of_it", "--indicator", "Pi'New")[:2] == (0, "models/of_it.sql\n")
    assert wh_on(project, "build")[0] == 0
    query = "select column_name, data_type from information_schema.columns where table_name = 'of_it' order by all"
    assert sql_of(project)(query) == [
        ("component", "VARCHAR"), ("elapsed", "DOUBLE"), ("is_ok", "BOOLEAN"), ("label", "VARCHAR"), ("mean_x", "BIGINT"), ("mean_x_result", "DOUBLE"), ("mean_x_result_2", "DOUBLE"),
        ("parameter_select", "BIGINT"), ("rate", "DOUBLE"), ("rounds", "BIGINT"), ("run_id", "VARCHAR"), ("run_requests_cpu", "VARCHAR"), ("script_sha256", "VARCHAR"),
    ]
    assert sql_of(project)("select parameter_select, mean_x, is_ok, label from of_it") == [(1, 1, True, "a")]
    status, _, err = wh_on(project, "new", "model", "of_none", "--indicator", "PiNone")
    assert status != 0 and "WH004 PiNone: the current build has no performance indicator of this name" in err
    assert wh_on(project, "new", "query", "of_it", "--indicator", "PiNew")[0] != 0


# -- the real evidence ---------------------------------------------------------------------------------------------------


def results_of(evidence: Path) -> dict[str, dict[str, Any]]:
    """The results in the archive by run, read without the parser."""
    return {
        f"thoth/{path.parts[-4]}/{path.parts[-2]}": json.loads(path.read_text())
        for path in evidence.glob("**/inspection-*/results/*/result")
    }


@pytest.mark.exhaustive
def test_every_result_of_the_archive_is_loaded(real: Project, evidence: Path) -> None:
    sql, truth = sql_of(real), results_of(evidence)
    assert len(truth) == 9
    found = sql(
        "select run_id, exit_code, user_cpu_s, system_cpu_s, max_rss_bytes, minor_page_faults, major_page_faults, voluntary_context_switches, "
        "involuntary_context_switches, started_at, ended_at from benchmark_run_fact"
    )
    assert {row[0]: row[1:] for row in found} == {
        run: (
            stated["exit_code"], usage["ru_utime"], usage["ru_stime"], usage["ru_maxrss"] * 1024, usage["ru_minflt"], usage["ru_majflt"], usage["ru_nvcsw"],
            usage["ru_nivcsw"], utc(stated.get("start_datetime")), utc(stated.get("end_datetime", stated.get("datetime"))),
        )
        for run, stated in truth.items() for usage in [stated["usage"]]
    }
    values = sql("select run_id, indicator, kind, key, value_text, value_number, script_sha256 from performance_indicator_fact where kind in ('parameter', 'result') and key not like 'run__%'")
    expected = {
        (run, stated["stdout"]["name"], kind, key, value if isinstance(value, str) else json.dumps(value), None if isinstance(value, str) else float(value), stated["script_sha256"])
        for run, stated in truth.items()
        for kind, section in (("parameter", "@parameters"), ("result", "@result"))
        for key, value in stated["stdout"][section].items()
    }
    assert set(values) == expected and len(values) == len(expected) > 100
    assert sql("select count(*) from indicator_operations where agrees") == [(9,)]
    assert sql("select count(*) from ingest_issue where severity = 'error' and family = 'thoth'") == [(0,)]
    machine = sql("select distinct run_id, cpu_model from hardware_topology_dim inner join benchmark_run_fact using (hardware_topology_key)")
    assert dict(machine) == {run: stated["hwinfo"]["cpu_info"]["brand_raw"] for run, stated in truth.items()}


def utc(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


@pytest.mark.exhaustive
def test_every_package_of_a_lock_is_a_component(real: Project, evidence: Path) -> None:
    for path in evidence.glob("**/inspection-*/build/specification"):
        locked = json.loads(path.read_text())["python"]["requirements_locked"]["default"]
        found = sql_of(real)(
            "select distinct component, version from software_package_dim inner join benchmark_run_fact using (software_version_key) "
            f"where scheduler_run_id = '{path.parts[-3]}'"
        )
        assert dict(found) == {name.lower(): entry["version"].removeprefix("==") for name, entry in locked.items()}


@pytest.mark.exhaustive
def test_every_campaign_of_the_archive_is_loaded(real: Project, evidence: Path) -> None:
    members: dict[str, set[str]] = {}
    for path in evidence.glob("dependency-monkey-zoo/tensorflow/*/*"):
        found = members.setdefault(path.parent.name, set())
        if path.name == "dependency_monkey_report.json":
            found |= {each["response"] for each in json.loads(path.read_text())["result"]["report"]["responses"]}
        elif path.name == "scheduled.txt":
            found |= {re.sub(r"(-[0-9a-f]{8})-[0-9a-z]{5}$", r"\1", line) for line in path.read_text().split()}
        elif path.name.startswith("inspection-"):
            found.add(path.name)
    stated = sql_of(real)("select name, list(member order by member) from campaign_dim inner join campaign_member using (campaign_key) group by name")
    assert {name: set(found) for name, found in stated} == members
    assert {name: len(found) for name, found in members.items()} == {
        "inspection-2020-08-21": 3, "inspection-2020-09-04": 297, "inspection-2020-09-07": 11, "inspection-2020-09-08.1": 100,
    }


@pytest.mark.exhaustive
def test_the_slow_batch_is_reached_from_its_outcome_to_its_file(real: Project, evidence: Path) -> None:
    [query] = re.findall(r"```sql\n(.*?)```", _PAGE.read_text(), re.DOTALL)
    rows = sql_of(real)(query)
    truth = results_of(evidence)
    assert [row[0] for row in rows] == sorted(
        (run for run in truth if "conv2d" in run), key=lambda run: truth[run]["stdout"]["@result"]["elapsed"]
    )
    for run, elapsed, switches, cpu_s, hertz, raw_path, digest in rows:
        [path] = evidence.glob(f"**/{run.split('/')[1]}/{raw_path}")
        stated = json.loads(path.read_text())
        usage = stated["usage"]
        assert (elapsed, switches, cpu_s) == (stated["stdout"]["@result"]["elapsed"], usage["ru_nivcsw"], usage["ru_utime"] + usage["ru_stime"])
        assert hertz == stated["hwinfo"]["cpu_features"]["hz_actual"][0]
        assert (bundle_folder(open_store(real), digest) / "files" / raw_path).read_bytes() == path.read_bytes()
    assert max(row[1] for row in rows if "0f845f38" in row[0]) < 15.2 and min(row[1] for row in rows if "21090f6e" in row[0]) > 86


def test_variables_and_cpus_that_an_inspection_asked_for_tell_its_runs_apart(tmp_path: Path) -> None:
    for number, (threads, cpu) in enumerate([("2", "2"), ("8", "2"), ("8", "4")]):
        name = f"inspection-made-{number}-{number:08x}"
        asked = thoth.specification("made", 1) | {"run": {"requests": {"cpu": cpu, "memory": "4Gi"}}, "environment": [
            {"name": "OMP_NUM_THREADS", "value": threads}, {"name": "API_TOKEN", "value": "hunter2"},
        ]}
        thoth.put(tmp_path / f"tree/{name}/build/specification", asked)
        thoth.put(tmp_path / f"tree/{name}/results/0/result", thoth.result(name, 0, 4.0))
    found = [THOTH.rows(tmp_path / "tree", tmp_path / f"stored-{index}", index) for index in range(3)]
    documents = [json.loads(row["workload_document"]) for rows in found for row in rows["thoth_run"]]
    assert [(each["environment"], each["cpu_request"]) for each in documents] == [
        ({"OMP_NUM_THREADS": "2"}, "2"), ({"OMP_NUM_THREADS": "8"}, "2"), ({"OMP_NUM_THREADS": "8"}, "4"),
    ]
    assert [(row["kind"], row["key"], row["value_text"]) for rows in found for row in rows["thoth_indicator_entry"] if "environment" in row["key"]] == [
        ("parameter", "run__environment__OMP_NUM_THREADS", threads) for threads in ("2", "8", "8")
    ]
    assert "hunter2" not in str(found)
