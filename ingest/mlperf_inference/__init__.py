"""MLPerf Inference submissions: closed, open and network divisions, rounds v0.5 to v6.x.

One bundle is one (division, submitter, platform, benchmark, scenario). Landing keeps what the files state, as
written; which key is the result of which scenario is the models' knowledge, not the parser's.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from warehouse.landing.contract import Bundle, BundleDraft, Tree, Unclaimed

from .tables import TABLES


class MlperfInference:
    """The ingestor; see `warehouse.landing.contract.Ingestor`."""

    name = "mlperf_inference"
    version = 7
    formats = (
        "MLPerf Inference submissions, rounds v0.5 to v6.x: loadgen logs, accuracy and compliance reports, power logs,"
        " measurements and system descriptions",
    )
    tables = TABLES

    def bundles(self, tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
        from .bundles import cut

        return cut(tree)

    def parse(self, bundle: Bundle) -> Iterator[tuple[str, pa.RecordBatch]]:
        from .parse import landed

        return landed(bundle, TABLES)


INGESTOR = MlperfInference()
