"""Checks of fabrics and nodes: nccl-tests and rccl-tests, perftest, nvbandwidth, GPCNeT, gpu_burn, fio and iperf3.

One bundle is a campaign (a summary and the logs it summarises) or one log; one run is one execution of a tool. Landing
keeps what the tools print, units beside values; conversions are the models'.
"""

from __future__ import annotations

from warehouse.landing.family import Family

from .tables import TABLES

INGESTOR = Family(
    package=__name__, name="fabric_check", version=11, tables=TABLES,
    formats=(
        "nccl-tests and rccl-tests text, 2.0 to 2.18: several tests in a log, launcher prefixes, per-iteration columns",
        "nccl-tests JSON (-J), versions 1 and 2",
        "rccl-tests report files (-x): JSON and CSV",
        "summary.csv of nccl-tests-cluster, compared with the logs it summarises",
        "perftest text: ib_write_bw, ib_read_lat, ib_send_bw and their kin, MB/sec, MiB/sec and Gb/sec",
        "nvbandwidth text and JSON, 0.2 to 0.10",
        "GPCNeT network_test and network_load_test text",
        "gpu_burn text",
        "fio JSON and text, versions 2 and 3",
        "iperf3 JSON (-J, --json-stream) and text",
        "JSON around any of these: a tool's text in a string, a tool's JSON within another document",
        "JSON records that scripts make of nccl-tests, nvbandwidth, fio and iperf3 (algbw_gbps, sum_gbps, bw_mb_s, fwd_gbps)",
    ),
)
