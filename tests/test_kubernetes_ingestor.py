"""Events, nodes and pods: recognition, both kinds of event, and the listing that has ages instead of times."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from landed import Rows, Subject, codes, place
from samples import kubernetes as sample
from samples import kueue

KUBERNETES = Subject("kubernetes")


def at(*moment: int) -> datetime:
    return datetime(2026, 3, 2, *moment, tzinfo=UTC)


def rows_of(tmp_path: Path, name: str, text: str) -> Rows:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / name).write_text(text)
    return KUBERNETES.rows(tmp_path / "tree", tmp_path / "stored")


def test_what_a_cluster_reported_is_recognised_and_manifests_are_not(tmp_path: Path) -> None:
    sample.write_all(tmp_path / "kubernetes")
    kueue.write_all(tmp_path / "kueue")  # names Pods and Jobs as owners
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "i"}]}}
    (tmp_path / "pod.yaml").write_text(yaml.safe_dump(manifest))
    found = {draft.files[0].file.path: draft.files[0].role for draft in KUBERNETES.drafts(tmp_path)}
    assert found == {"kubernetes/events.json": "objects", "kubernetes/events.txt": "listing", "kubernetes/nodes-and-pods.yaml": "objects"}


def test_both_kinds_of_event(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "events.json", json.dumps(sample.EVENTS, indent=1))
    scheduled, backoff, failed = rows["kubernetes_event"]
    assert (scheduled["event_at"], scheduled["first_seen_at"], scheduled["count"]) == (at(8, 2, 0, 250000), None, None)
    assert (backoff["event_at"], backoff["first_seen_at"], backoff["last_seen_at"], backoff["count"]) == (None, at(8, 5), at(8, 25), 12)
    assert (backoff["component"], backoff["host"], scheduled["component"]) == ("kubelet", "gpu-node-1", "default-scheduler")
    assert (failed["event_at"], failed["last_seen_at"], failed["count"]) == (at(8, 1), at(8, 1, 40), 3)
    assert json.loads(place(backoff, tmp_path / "stored"))["reason"] == "BackOff" and codes(rows) == {}


def test_an_event_of_the_newer_api(tmp_path: Path) -> None:
    event = {
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "a", "uid": "u"}, "note": "killed it", "reason": "OOMKilling",
        "regarding": {"kind": "Node", "name": "n1", "uid": "n-uid"}, "reportingController": "kernel-monitor", "deprecatedCount": 4,
        "deprecatedFirstTimestamp": "2026-03-02T08:00:00Z", "deprecatedLastTimestamp": "2026-03-02T08:09:00Z", "eventTime": None,
    }
    (row,) = rows_of(tmp_path, "event.json", json.dumps(event))["kubernetes_event"]
    assert (row["object_kind"], row["object_name"], row["message"], row["component"]) == ("Node", "n1", "killed it", "kernel-monitor")
    assert (row["first_seen_at"], row["last_seen_at"], row["count"]) == (at(8, 0), at(8, 9), 4)


def test_the_listing_has_ages_and_no_times(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "events.txt", sample.LISTING)
    first, second, third = rows["kubernetes_event"]
    assert (first["last_seen_age"], first["first_seen_age"], first["count"], first["line_number"]) == ("58m", None, None, 4)
    assert (second["last_seen_age"], second["first_seen_age"], second["count"]) == ("56m", "58m", 5)
    assert (third["last_seen_age"], third["count"], third["object_kind"], third["object_name"]) == ("3m30s", 256, "Pod", "train-0")
    assert second["message"] == 'Container image "busybox:1.35"   already present'
    assert {row[name] for row in (first, second, third) for name in ("event_at", "first_seen_at", "last_seen_at", "created_at")} == {None}
    assert codes(rows) == {}


@pytest.mark.parametrize("line", ["soon   Normal   X   Pod/a   m", "58m", "58m" + " " * 60 + "without an object"])
def test_a_line_that_is_no_event_is_told(tmp_path: Path, line: str) -> None:
    rows = rows_of(tmp_path, "events.txt", f"{sample.LISTING}{line}\n")
    assert len(rows["kubernetes_event"]) == 3 and codes(rows) == {"malformed-row": 1}


def test_listing_of_all_namespaces(tmp_path: Path) -> None:
    text = (
        "NAMESPACE   LAST SEEN   TYPE      REASON    OBJECT      MESSAGE\n"
        "lab         <unknown>   Warning   Failed    pod/a-1     Error: x\n"
        "other       5m          Normal    Started   node/n-2    Started\n"
    )
    unknown, known = rows_of(tmp_path, "events.log", text)["kubernetes_event"]
    assert (unknown["object_namespace"], unknown["last_seen_age"], unknown["object_kind"]) == ("lab", None, "Pod")
    assert (known["object_namespace"], known["last_seen_age"], known["object_kind"], known["object_name"]) == ("other", "5m", "Node", "n-2")


def test_nodes_and_pods(tmp_path: Path) -> None:
    sample.write_all(tmp_path / "tree")
    rows = KUBERNETES.rows(tmp_path / "tree", tmp_path / "stored", 2)
    node, _ = rows["kubernetes_node"]
    assert (node["zone"], node["node_pool"], node["instance_type"]) == ("europe-west4-b", "h100-pool", "a3-highgpu-8g")
    assert (node["gpu_product"], node["gpu_driver"], node["gpu_count"], node["allocatable_gpu_count"]) == ("NVIDIA-H100-80GB-HBM3", "550.54.15", 8, 7)
    assert (node["cpu_count"], node["memory_bytes"], node["is_unschedulable"]) == (208, 1923 * 2**30, True)
    assert node["taints"] == "nvidia.com/gpu=present:NoSchedule"
    ready = [row for row in rows["kubernetes_condition_entry"] if (row["object_name"], row["type"]) == ("gpu-node-1", "Ready")]
    assert [(row["status"], row["heartbeat_at"], row["transition_at"]) for row in ready] == [("Unknown", at(8, 20), at(8, 10))]
    (pod,) = rows["kubernetes_pod"]
    assert (pod["node_name"], pod["job_uid"], pod["gpu_count"], pod["service_name"]) == ("gpu-node-1", sample.JOB_UID, 4, "llama")
    waiting, killed = rows["kubernetes_container_entry"]
    assert (waiting["state"], waiting["reason"], waiting["is_last"], waiting["restarts"]) == ("waiting", "CrashLoopBackOff", False, 3)
    assert (killed["state"], killed["reason"], killed["is_last"], killed["exit_code"]) == ("terminated", "OOMKilled", True, 137)
    assert killed["finished_at"] == at(8, 14, 30) and codes(rows) == {}


def test_items_of_a_typed_list_have_its_kind(tmp_path: Path) -> None:
    node = {key: value for key, value in sample.node("n", "True").items() if key not in ("kind", "apiVersion")}
    text = json.dumps({"kind": "NodeList", "apiVersion": "v1", "items": [node, 7]})
    rows = rows_of(tmp_path, "nodes.json", text)
    assert [row["name"] for row in rows["kubernetes_node"]] == ["n"] and codes(rows) == {"not-an-object": 1}


def test_places_in_yaml_that_is_not_ascii(tmp_path: Path) -> None:
    nodes = [sample.node("größe", "True"), sample.node("näher", "False")]
    rows = rows_of(tmp_path, "nodes.yaml", yaml.safe_dump({"apiVersion": "v1", "items": nodes, "kind": "List"}, allow_unicode=True))
    for row, name in zip(rows["kubernetes_node"], ("größe", "näher"), strict=True):
        text = place(row, tmp_path / "stored").decode()
        assert text.startswith("apiVersion: v1") and f"name: {name}\n" in text


@pytest.mark.parametrize("kind", ["documents", "lines", "watch events"])
def test_objects_that_were_watched_are_all_read(tmp_path: Path, kind: str) -> None:
    """kubectl get --watch -o json prints a document after another; with --output-watch-events, as the API does, each with its type."""
    events = sample.EVENTS["items"]
    if kind == "documents":
        text = "".join(json.dumps(event, indent=4) + "\n" for event in events)
    else:
        text = "".join(json.dumps({"type": "ADDED", "object": event} if kind == "watch events" else event) + "\n" for event in events)
    rows = rows_of(tmp_path, "events.jsonl" if kind == "lines" else "events.json", text)
    assert [row["reason"] for row in rows["kubernetes_event"]] == [event["reason"] for event in events] and codes(rows) == {}
    assert all(json.loads(place(row, tmp_path / "stored")) for row in rows["kubernetes_event"])


def test_a_watch_that_was_cut_keeps_what_came_before(tmp_path: Path) -> None:
    first, second, *_ = (json.dumps(event, indent=4) for event in sample.EVENTS["items"])
    rows = rows_of(tmp_path, "events.json", f"{first}\n{second[:-20]}")
    assert len(rows["kubernetes_event"]) == 1 and codes(rows) == {"malformed-json": 1}
