"""The tools that are compared: how each is given the models in its own form, and what its user types.

Each tool works in a folder of its own, `root`, with the telemetry in `data/`.
"""

from __future__ import annotations

import json
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

from measure import run
from projects import Model, ordered, renamed, touched

REPOSITORY = Path(__file__).resolve().parents[2]
FULL, NOOP, CHANGED, APPEND = "full", "noop", "changed", "append"


class Tool(ABC):
    """One tool at work in `root`, from an environment under `venvs` where it has one of its own."""

    name = ""
    schema = "main"  # of the tables in its database
    environment: Mapping[str, str] = {}
    scenarios: tuple[str, ...] = (FULL, NOOP, CHANGED, APPEND)

    def __init__(self, root: Path, venvs: Path) -> None:
        self.root, self.venvs = root, venvs

    @property
    def program(self) -> Path:
        """The executable that must be there."""
        return Path(sys.executable)

    @property
    @abstractmethod
    def database(self) -> Path:
        """The DuckDB database that it builds."""

    @abstractmethod
    def write(self, models: list[Model]) -> None:
        """Give the tool the models; a file that already says so is left as it is."""

    @abstractmethod
    def command(self, scenario: str) -> list[str]:
        """What a user types in a scenario."""

    def after_full(self) -> None:
        """What a user does once after the first build; not measured."""


class Floor(Tool):
    """One plain script in one transaction: nothing that builds all or nothing can be faster. What changed it is told."""

    name = "floor-atomic"
    scenarios = (FULL, CHANGED, APPEND)

    def __init__(self, root: Path, venvs: Path) -> None:
        super().__init__(root, venvs)
        self._written: list[Model] = []

    @property
    def database(self) -> Path:
        return self.root / "floor.duckdb"

    def write(self, models: list[Model]) -> None:
        is_touched = touched(self._written, models)
        self._written = models
        listed = [
            {"name": model.name, "kind": model.kind, "sql": model.sql, "is_touched": model.name in is_touched}
            for model in ordered(models)
        ]
        (self.root / "models.json").write_text(json.dumps(listed), encoding="utf-8")

    def command(self, scenario: str) -> list[str]:
        return [str(self.program), str(Path(__file__).with_name("floor.py")), scenario]


class Wh(Tool):
    """Ours: the facts are incremental by `run_id`, and so is the aggregate of single runs, as its analyst would have it."""

    name = "wh"
    environment = {"PYTHONPATH": str(REPOSITORY)}
    # Key and grain of what is no fact.
    keyed: Mapping[str, tuple[str, str]] = {"agg_run_metric": ("run_id", "run_id, metric_id")}

    @property
    def database(self) -> Path:
        return self.root / ".wh" / "builds" / "current.duckdb"

    def write(self, models: list[Model]) -> None:
        if not (self.root / "warehouse.toml").exists():
            run([*self._wh, "init", "--bare", "."], self.root, self.environment)
        for model in models:
            _write(self.root / "models" / f"{model.name}.sql", self._header(model) + model.sql)

    def command(self, scenario: str) -> list[str]:
        return [*self._wh, "build"]

    @property
    def _wh(self) -> list[str]:
        return [str(self.program), "-m", "warehouse.cli.main"]

    def _header(self, model: Model) -> str:
        if model.name in self.keyed:
            key, grain = self.keyed[model.name]
            return f"/*\nmaterialized: incremental\nkey: [{key}]\ngrain: [{grain}]\n*/\n"
        if model.kind == "table":
            return ""
        keys = {"key": model.key, "grain": model.grain}
        lines = [f"{word}: [{', '.join(columns)}]\n" for word, columns in keys.items() if columns]
        return f"/*\nmaterialized: {model.kind}\n{''.join(lines)}*/\n"


class WhPlainAggregate(Wh):
    """Ours, with keys for the two facts only, as the other tools have them: an append makes the aggregate anew."""

    name = "wh-plain-agg"
    keyed: Mapping[str, tuple[str, str]] = {}


class DbtState(Tool):
    """dbt, with `state:modified+` against the artifacts of the full build: its documented way to build what changed.
    It does not see new files, so an append is a plain run."""

    name = "dbt-state"
    environment = {
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "DO_NOT_TRACK": "1", "DBT_PROFILES_DIR": ".", "NO_COLOR": "1"
    }

    @property
    def program(self) -> Path:
        return self.venvs / "dbt" / "bin" / "dbt"

    @property
    def database(self) -> Path:
        return self.root / "dbt.duckdb"

    def write(self, models: list[Model]) -> None:
        _write(self.root / "dbt_project.yml", "name: bench\nversion: '1.0'\nprofile: bench\nmodel-paths: [models]\n")
        target = f"{{type: duckdb, path: {self.database.name}, schema: {self.schema}, threads: 2}}"
        _write(self.root / "profiles.yml", f"bench:\n  target: dev\n  outputs:\n    dev: {target}\n")
        names = {model.name for model in models}
        for model in models:
            sql = renamed(model, names, lambda name: f"{{{{ ref('{name}') }}}}")
            strategy, where = "", ""
            if model.day:
                strategy = ", incremental_strategy='append'"
                is_new = f"{model.day} > (select max(day) from {{{{ this }}}})"
                where = f"{{% if is_incremental() %}}where {is_new}{{% endif %}}\n"
            head = f"{{{{ config(materialized='{model.kind}'{strategy}) }}}}\n"
            _write(self.root / "models" / f"{model.name}.sql", head + sql + where)

    def command(self, scenario: str) -> list[str]:
        selected = ["--select", "state:modified+", "--state", "state"] if scenario in (NOOP, CHANGED) else []
        return [str(self.program), "--no-version-check", "run", *selected]

    def after_full(self) -> None:
        shutil.copytree(self.root / "target", self.root / "state", dirs_exist_ok=True)


class Sqlmesh(Tool):
    """SQLMesh with DuckDB for data and state, two tasks at a time."""

    name = "sqlmesh"
    schema = "wh"
    environment = {"SQLMESH__DISABLE_ANONYMIZED_ANALYTICS": "1", "NO_COLOR": "1"}

    @property
    def program(self) -> Path:
        return self.venvs / "sqlmesh" / "bin" / "sqlmesh"

    @property
    def database(self) -> Path:
        return self.root / "bench.duckdb"

    def write(self, models: list[Model]) -> None:
        connection = f"{{type: duckdb, database: {self.database.name}, concurrent_tasks: 2}}"
        defaults = "{dialect: duckdb, start: '2026-08-11', cron: '@daily'}"
        _write(
            self.root / "config.yaml",
            f"gateways:\n  local:\n    connection: {connection}\ndefault_gateway: local\nmodel_defaults: {defaults}\n"
            "disable_anonymized_analytics: true\n",
        )
        kinds = {"view": "VIEW", "table": "FULL", "incremental": "INCREMENTAL_BY_TIME_RANGE (time_column day)"}
        names = {model.name for model in models}
        for model in models:
            where = f"where {model.day} between @start_date and @end_date\n" if model.day else ""
            sql = renamed(model, names, lambda name: f"{self.schema}.{name}")
            head = f"MODEL (name {self.schema}.{model.name}, kind {kinds[model.kind]});\n"
            _write(self.root / "models" / f"{model.name}.sql", head + sql + where)

    def command(self, scenario: str) -> list[str]:
        if scenario == APPEND:
            return [str(self.program), "run"]
        time = "2026-11-19 01:00:00" if scenario == FULL else "2026-11-19 02:00:00"
        return [str(self.program), "plan", "--auto-apply", "--no-prompts", "--execution-time", time]


TOOLS: Mapping[str, type[Tool]] = {tool.name: tool for tool in (Floor, Wh, WhPlainAggregate, DbtState, Sqlmesh)}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
