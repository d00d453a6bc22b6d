"""Objects of Kueue and KServe: recognition, what lands from YAML and JSON, and what cannot be read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from landed import ISSUE_TABLE, Subject, codes, place
from samples import kserve, kueue

KUEUE, KSERVE = Subject("kueue"), Subject("kserve")


def test_objects_are_recognised_by_their_kind(tmp_path: Path) -> None:
    kueue.write_all(tmp_path / "kueue")
    kserve.write_all(tmp_path / "kserve")
    (tmp_path / "manual.md").write_text("apiVersion: kueue.x-k8s.io/v1beta1\nkind: Workload\n")
    (tmp_path / "deployment.yaml").write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kueue}\n")
    assert [draft.files[0].file.path for draft in KUEUE.drafts(tmp_path)] == ["kueue/later.json", "kueue/now.yaml"]
    assert [draft.files[0].file.path for draft in KSERVE.drafts(tmp_path)] == ["kserve/llm.json", "kserve/services.yaml"]


@pytest.mark.parametrize("write", [kueue.write_yaml, kueue.write_list])
def test_a_workload_is_the_same_in_yaml_and_json(tmp_path: Path, write) -> None:
    write(tmp_path / "tree" / ("a.yaml" if write is kueue.write_yaml else "a.json"), kueue.workload(*kueue.FIRST), kueue.PROVISIONING)
    rows = KUEUE.rows(tmp_path / "tree", tmp_path / "stored")
    (workload,), (provisioning,) = rows["kueue_workload"], rows["kueue_provisioning"]
    assert (workload["uid"], workload["job_uid"], workload["owner_kind"], workload["queue_name"]) == (kueue.UID, kueue.JOB_UID, "Job", "lab-queue")
    assert (workload["cluster_queue"], workload["flavors"], workload["gpu_count"], workload["pod_count"]) == ("gpus", "h100,small", 8, 2)
    assert (workload["created_at"], workload["priority"], workload["is_active"]) == (datetime(2026, 3, 2, 8, tzinfo=UTC), 7, True)
    assert (provisioning["zone"], provisioning["owner_uid"], provisioning["node_pool"]) == ("europe-west4-b", kueue.UID, "h100-pool")
    found = [(row["object_kind"], row["position"], row["type"], row["status"]) for row in rows["kueue_condition_entry"]]
    assert found == [
        ("Workload", 0, "QuotaReserved", "True"), ("Workload", 1, "Admitted", "True"), ("Workload", 2, "PodsReady", "True"),
        ("ProvisioningRequest", 0, "Provisioned", "True"),
    ]
    assert b"0a1b2c3d" in place(workload, tmp_path / "stored") and b"SelectedZone" in place(provisioning, tmp_path / "stored")
    assert codes(rows) == {}


def test_gpus_that_were_asked_for_where_none_are_assigned(tmp_path: Path) -> None:
    kueue.write_yaml(tmp_path / "tree/a.yaml", kueue.workload(admission=None))
    (workload,) = KUEUE.rows(tmp_path / "tree", tmp_path / "stored")["kueue_workload"]
    assert (workload["gpu_count"], workload["cluster_queue"], workload["flavors"]) == (8, None, None)


def test_quotas_of_a_queue(tmp_path: Path) -> None:
    kueue.write_list(tmp_path / "tree/a.json", kueue.CLUSTER_QUEUE, kueue.LOCAL_QUEUE)
    rows = KUEUE.rows(tmp_path / "tree", tmp_path / "stored")
    quotas = {(row["kind"], row["flavor"], row["resource"]): row for row in rows["kueue_quota_entry"]}
    gpus = quotas["ClusterQueue", "h100", "nvidia.com/gpu"]
    assert (gpus["nominal_quota"], gpus["borrowing_limit"], gpus["used"], gpus["reserved"], gpus["borrowed"]) == (64, 8, 56, 60, 4)
    cpu = quotas["ClusterQueue", "h100", "cpu"]
    assert (cpu["nominal_quota"], cpu["used"], cpu["borrowing_limit"]) == (1.5, None, None)
    assert quotas["LocalQueue", "h100", "nvidia.com/gpu"]["used"] == 16
    assert [(row["kind"], row["cluster_queue"], row["pending_workloads"]) for row in rows["kueue_queue"]] == [
        ("ClusterQueue", "gpus", 17), ("LocalQueue", "gpus", 9)
    ]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("'2026-03-02T08:00:05Z'", "yesterday", "not-a-time"), ("nvidia.com/gpu: '8'", "nvidia.com/gpu: lots", "not-a-quantity"),
        ("type: Admitted", "kind: Admitted", "no-condition-type"), ("kind: Workload", "kind: Wokload", "other-kind"),
        ("priority: 7", "priority: NaN", "non-finite-number"), ("count: 2", "count: -2", "impossible-count"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, before: str, after: str, code: str) -> None:
    kueue.write_yaml(tmp_path / "tree/a.yaml", kueue.workload(*kueue.FIRST), kueue.PROVISIONING)
    path = tmp_path / "tree/a.yaml"
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after, 1))
    rows = KUEUE.rows(tmp_path / "tree", tmp_path / "stored")
    assert codes(rows) == {code: 1}
    assert len(rows["kueue_workload"]) == (code != "other-kind") and len(rows["kueue_provisioning"]) == 1


def test_an_alias_does_not_unfold(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    text = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Workload\nmetadata: &m {name: a, uid: u}\nspec: {x: *m, y: [*m, *m]}\n"
    (tmp_path / "tree/a.yaml").write_text(text)
    rows = KUEUE.rows(tmp_path / "tree", tmp_path / "stored")
    assert len(rows["kueue_workload"]) == 1 and codes(rows) == {"yaml-alias": 3}


def test_a_list_that_breaks_off_keeps_what_it_states(tmp_path: Path) -> None:
    kueue.write_list(tmp_path / "tree/a.json", kueue.workload(*kueue.FIRST), kueue.CLUSTER_QUEUE)
    path = tmp_path / "tree/a.json"
    path.write_text(path.read_text().partition('"cohort"')[0])
    rows = KUEUE.rows(tmp_path / "tree", tmp_path / "stored")
    assert len(rows["kueue_workload"]) == 1 and rows["kueue_queue"] == []
    assert [(row["code"], row["severity"]) for row in rows[ISSUE_TABLE]] == [("malformed-json", "error")]


def test_services(tmp_path: Path) -> None:
    kserve.write_all(tmp_path / "tree")
    services = {}
    for number, draft in enumerate(KSERVE.drafts(tmp_path / "tree")):
        rows = KSERVE.parsed(KSERVE.stored(draft, tmp_path / str(number)))
        assert codes(rows) == {}
        services |= {row["name"]: row for row in rows["kserve_service"]}
    llama, iris, deepseek = services["llama"], services["iris"], services["deepseek"]
    assert (llama["deployment_mode"], llama["runtime"], llama["model_format"]) == ("RawDeployment", "kserve-huggingfaceserver", "huggingface")
    assert (llama["min_replicas"], llama["max_replicas"], llama["tensor_parallel_size"], llama["gpu_count"]) == (2, 6, 8, 8)
    assert (llama["model_uri"], llama["model_state"], llama["is_disaggregated"]) == ("hf://meta-llama/Llama-3.1-8B", "Loaded", None)
    assert (iris["model_format"], iris["model_uri"], iris["min_replicas"], iris["url"]) == ("sklearn", "gs://bucket/iris", None, None)
    assert (deepseek["tensor_parallel_size"], deepseek["data_parallel_size"], deepseek["is_expert_parallel"]) == (4, 16, True)
    assert (deepseek["is_disaggregated"], deepseek["prefill_replicas"], deepseek["min_replicas"], deepseek["gpu_count"]) == (True, 5, 3, 4)
