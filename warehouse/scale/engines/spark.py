"""Runs tasks in Spark, by `mapInArrow` over a range: a partition a task. It needs no RDDs, which managed Spark does not always allow."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.scale.engines.local import ATTEMPTS, result_of
from warehouse.scale.task import Place, Result, Task, encoded
from warehouse.scale.worker import run_encoded

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class SparkExecutor:
    """A Spark cluster (`Executor`). `address` is its master's (`spark://host:7077`), one of Spark Connect (`sc://host`), or empty for the
    session that is there, or else one on this machine."""

    place: Place
    address: str = ""

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        try:
            from pyspark.errors import PySparkException
        except ImportError as error:
            raise WarehouseError("WH006", f"--engine spark needs PySpark: {error}", hint="pip install 'perf-warehouse[spark]'") from error
        session, is_own = self._session()
        place, texts = self.place, [encoded(task) for task in tasks]

        def run_partition(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
            import pyarrow as pa

            for batch in batches:
                yield pa.RecordBatch.from_pydict({"result": [run_encoded(place, texts[number]) for number in batch.column(0).to_pylist()]})

        try:
            rows = session.range(0, len(texts), 1, len(texts)).mapInArrow(run_partition, "result binary").collect()
        except PySparkException as error:
            told = str(error).strip().splitlines()[-1][:300]  # of a traceback, what was raised
            raise WarehouseError("WH251", f"Spark ended the work: {told}", self.address or "Spark", "see the log of its executors") from error
        finally:
            if is_own:
                session.stop()
        for row in rows:
            yield result_of(bytes(row.result))

    def _session(self) -> tuple[Any, bool]:
        """A session, and whether it was made here."""
        from pyspark.sql import SparkSession

        if not self.address and (there := SparkSession.getActiveSession()):
            return there, False
        builder: Any = SparkSession.builder
        if self.address.startswith("sc://"):
            return builder.remote(self.address).getOrCreate(), True
        settings = {
            "spark.app.name": "wh build", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
            "spark.task.maxFailures": str(ATTEMPTS),
            "spark.speculation": "true",  # a twin of a task finds its receipt, or makes the same parts
            "spark.sql.execution.arrow.maxRecordsPerBatch": "1",
        }
        if not self.address:
            settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else it takes the first one on the path
        for name, value in settings.items():
            builder = builder.config(name, value)
        return builder.master(self.address or f"local[*,{ATTEMPTS}]").getOrCreate(), True
