"""Traces in OTLP/JSON: what lands, and which run a span belongs to."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import timedelta
from pathlib import Path

from landed import Subject, codes, place
from samples import otlp as sample
from test_telemetry import built

OTLP = Subject("otlp")


def test_documents_and_lines_are_spans_with_their_bytes(tmp_path: Path) -> None:
    sample.write_all(tmp_path / "tree")
    rows = OTLP.rows(tmp_path / "tree", tmp_path / "stored")
    assert codes(rows) == {}
    spans = {row["span_id"]: row for row in rows["otlp_span"]}
    assert len(spans) == 4
    first = next(row for row in spans.values() if json.loads(row["attributes"])["gen_ai.request.id"] == "cmpl-1")
    assert (first["trace_id"], first["parent_span_id"], first["kind"], first["scope"]) == ("5b8efff798038103d269b633813fc60d", None, "2", "vllm.llm_engine")
    assert (first["started_at"], first["duration_ns"]) == (sample.START, 1_500_000_000)
    assert json.loads(first["attributes"])["gen_ai.usage.completion_tokens"] == "16"
    assert json.loads(first["resource"]) == {"k8s.node.name": "gpu01", "service.name": "vllm-server"}
    assert json.loads(place(first, tmp_path / "stored"))["spanId"] == first["span_id"]
    failed = next(row for row in spans.values() if row["status"])
    assert (failed["status"], failed["status_message"], failed["raw_path"]) == ("STATUS_CODE_ERROR", "out of memory", "exported.jsonl")
    assert json.loads(place(failed, tmp_path / "stored"))["status"]["message"] == "out of memory"


def test_identifiers_of_other_writers_are_the_same(tmp_path: Path) -> None:
    """Base64, as a plain conversion of protobuf writes bytes, is the same span; zeros are no parent."""
    trace, span = bytes.fromhex("5b8efff798038103d269b633813fc60c"), bytes.fromhex("eee19b7ec3c1b174")
    encoded = {"traceId": b64encode(trace).decode(), "spanId": b64encode(span).decode(), "parentSpanId": b64encode(span).decode()}
    spans = [
        sample.span(1, sample.START, 0.5) | encoded, sample.span(2, sample.START, 0.5) | {"parentSpanId": "0" * 16},
        sample.span(3, sample.START, 0.5) | {"traceId": "run/7"},
    ]
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/t.json").write_text(json.dumps(sample.document(*spans)))
    rows = OTLP.rows(tmp_path / "tree", tmp_path / "stored")
    first, second, third = rows["otlp_span"]
    assert (first["trace_id"], first["span_id"], first["parent_span_id"]) == (trace.hex(), span.hex(), span.hex())
    assert (second["parent_span_id"], third["trace_id"]) == (None, "run/7") and codes(rows) == {"malformed-identifier": 1}


def test_times_that_cannot_be_are_told(tmp_path: Path) -> None:
    backwards = sample.span(1, sample.START, 0.5) | {"endTimeUnixNano": "1"}
    unknown = sample.span(2, sample.START, 0.5) | {"startTimeUnixNano": "0", "spanId": None}
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/t.json").write_text(json.dumps(sample.document(backwards, unknown, sample.span(3, sample.START, 1) | {"startTimeUnixNano": 0})))
    rows = OTLP.rows(tmp_path / "tree", tmp_path / "stored")
    assert codes(rows) == {"impossible-duration": 1, "missing-key": 1}
    assert [(row["started_at"] is None, row["duration_ns"]) for row in rows["otlp_span"]] == [(False, None), (True, None)]


def test_a_span_belongs_to_the_run_on_its_node_or_to_none(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    spans = [sample.span(number, sample.START + timedelta(seconds=second), 0.5) for number, second in enumerate((10, 70, 200))]
    stated = sample.span(9, sample.START, 0.5)
    stated["attributes"].append({"key": "benchmark.run_id", "value": {"stringValue": "a"}})
    (tmp_path / "tree/t.json").write_text(json.dumps(sample.document(*spans, stated)))
    found = built(tmp_path, [], ("a", 0, 120, "gpu01", None, None), ("b", 60, 120, "gpu01", None, None), ("c", 0, 120, "gpu02", None, None))
    rows = found.sql("select request_id, run_id, join_method, is_ambiguous, queue_ms, ttft_ms, output_tokens from trace_span_fact order by all").to_pylist()
    assert [(row["request_id"], row["run_id"], row["join_method"], row["is_ambiguous"]) for row in rows] == [
        ("cmpl-0", "a", "node", False), ("cmpl-1", None, None, True), ("cmpl-2", None, None, False), ("cmpl-9", "a", "run_id", False),
    ]
    assert (rows[0]["queue_ms"], rows[0]["ttft_ms"], rows[0]["output_tokens"]) == (500, 750, 16)
