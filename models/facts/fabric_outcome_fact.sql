/*
description: >
  One row per test of a fabric or node check, per point that it measured (a message size, a pair of ends, a GPU, a stream), and
  per rank that took part. A test that failed or was waived is a row with that status. What was not measured is NULL.
materialized: incremental
key: [run_id]
grain: [run_id, test_index, scope, scope_name, point_index, placement]
collects: fabric_outcome
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, {relationships: main.benchmark_run_fact.run_id}]}
  artifact_manifest_digest: {type: varchar, description: "The evidence bundle", tests: [not_null]}
  tool: {type: varchar, description: "The tool that measured, e.g. nccl-tests", tests: [not_null]}
  test: {type: varchar, description: "Which of its tests; NULL where the evidence does not say"}
  test_index: {type: bigint, description: "Place of the test in its run, from 1", tests: [not_null]}
  scope: {type: varchar, description: "What the row is about", tests: [not_null, {accepted_values: [test, point, pair, gpu, stream, rank]}]}
  scope_name: {type: varchar, description: "Which pair, GPU, stream or rank"}
  point_index: {type: bigint, description: "Place of the point in its test, from 1; NULL for a test and a rank"}
  placement: {type: varchar, description: "Whether a collective wrote to its input buffer; NULL where that does not apply", tests: [{accepted_values: [out_of_place, in_place]}]}
  direction: {type: varchar, description: "Direction of the data, if the tool states it: read, write, sent, received, bidirectional"}
  status: {type: varchar, description: "reduced: measured, but not up to the size asked for; failed also: wrong values; unknown: the evidence does not say", tests: [not_null, {accepted_values: [measured, reduced, failed, waived, unknown]}]}
  status_reason: {type: varchar, description: "The evidence's own words for the status"}
  nodes: {type: varchar, description: "The nodes that took part, comma-separated, in the order of their ranks"}
  node_count: {type: bigint, description: "How many nodes took part"}
  rank_count: {type: bigint, description: "How many ranks took part"}
  rank_id: {type: bigint, description: "The rank, for scope rank"}
  node_name: {type: varchar, description: "The rank's node"}
  source: {type: varchar, description: "Where data came from, for a pair"}
  target: {type: varchar, description: "Where data went, for a pair"}
  gpu_number: {type: bigint, description: "The GPU's number on its node"}
  gpu_model: {type: varchar, description: "The GPU's model as written"}
  gpu_bus_id: {type: varchar, description: "The GPU's place on the bus as written"}
  gpu_uuid: {type: varchar, description: "The GPU"}
  message_bytes: {type: bigint, unit: bytes, description: "Message size"}
  reduced_to_bytes: {type: bigint, unit: bytes, description: "Largest message that memory allowed, if smaller than asked for"}
  element_count: {type: bigint, description: "Elements in the message"}
  element_type: {type: varchar, description: "Their type"}
  redop: {type: varchar, description: "Reduction; NULL: none"}
  root: {type: bigint, description: "Root rank; NULL: none"}
  iterations: {type: bigint, description: "Iterations measured"}
  time_us: {type: double, unit: us, description: "Time of one operation; for fio, of the whole job"}
  alg_bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Message size / time"}
  bus_bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Algorithm bandwidth times the collective's bus factor"}
  avg_bus_bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Average bus bandwidth over all points of the test, as the tool states it; for a rank, of the test it took part in"}
  peak_bus_bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Largest bus bandwidth of a point of the test"}
  wrong_count: {type: bigint, description: "Wrong elements; NULL: not checked"}
  max_error: {type: double, description: "Largest error of an element, which old versions print instead of a count"}
  bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Bandwidth, mean"}
  peak_bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Bandwidth, largest of an iteration; NULL: not measured"}
  rank_bandwidth_gb_per_s: {type: double, unit: GB/s, description: "Bandwidth per rank, mean over ranks"}
  rank_bandwidth_p99_gb_per_s: {type: double, unit: GB/s, description: "Bandwidth per rank that 99 % of samples reach"}
  message_rate_per_s: {type: double, unit: 1/s, description: "Messages per second"}
  latency_kind: {type: varchar, description: "What the latency is where a tool has several: lat, clat, rtt"}
  latency_mean_us: {type: double, unit: us, description: "Latency, mean"}
  latency_min_us: {type: double, unit: us, description: "Latency, smallest"}
  latency_max_us: {type: double, unit: us, description: "Latency, largest"}
  latency_stdev_us: {type: double, unit: us, description: "Latency, standard deviation"}
  latency_p50_us: {type: double, unit: us, description: "Latency, p50"}
  latency_p90_us: {type: double, unit: us, description: "Latency, p90"}
  latency_p95_us: {type: double, unit: us, description: "Latency, p95"}
  latency_p99_us: {type: double, unit: us, description: "Latency, p99"}
  latency_p999_us: {type: double, unit: us, description: "Latency, p99.9"}
  io_per_s: {type: double, unit: 1/s, description: "I/O operations per second"}
  gflop_per_s: {type: double, unit: Gflop/s, description: "Floating-point rate"}
  error_count: {type: bigint, description: "Errors in computation"}
  temperature_c: {type: double, unit: "°C", description: "GPU temperature"}
  power_w: {type: double, unit: W, description: "GPU power"}
  retransmit_count: {type: bigint, description: "TCP segments sent again"}
  jitter_ms: {type: double, unit: ms, description: "Jitter of packets"}
  lost_pct: {type: double, unit: "%", description: "Packets lost"}
  figures_digest: {type: varchar, description: "Digest of all figures of the test's points: tests that share it state the same figures; NULL unless the test measured"}
*/
select outcome.*
from feed.fabric_outcome as outcome
inner join run_bundle
    on
        run_bundle.run_id = outcome.run_id
        and run_bundle.artifact_manifest_digest = outcome.artifact_manifest_digest
