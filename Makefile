# make demo    record, build, publish, trace and verify a benchmark of this machine
# make test    every kind of test, on a few cases each: about ten minutes on two cores
# make test-changed   the tests that a change can affect: of the working tree, and of its commits since BASE (origin/main)
# make test-share   `make test` and one of twenty shares of the exhaustive tests, the next one with each commit: what CI runs
# make test-all   all tests
# make test-newest   what depends on the engine, with the newest packages that pyproject.toml allows, not the locked ones
# make mutants    plants faults in the tracer and the verifier, one after another; the tests must find each of them
# make lint    ruff and mypy
# make bench   the figures and their floors (benchmarks/README.md)
# make bench-commands   what each command costs on projects of several sizes, beside its target
# make bench-transform   the transform engine, compared with a plain script, dbt and SQLMesh (needs uv)
# make bench-ingest    how fast evidence of each format is parsed, compared with sha256
# make bench-store     how fast evidence is stored, compared with the least that it must cost
# make bench-lineage   what tracing a number costs, compared with its query
# make bench-growth    what each command costs with 1,000, 5,000 and 20,000 runs
# make bench-statistics   coverage of the intervals, false alarms and power of the change detector, compared with other rules
# make bench-changes   false verdicts, findings and cost of `wh compare` and `wh changes`, on builds of simulated runs
# make bench-serving   cost of `wh frontier` and `wh goodput` over 10 million requests
# make bench-telemetry  telemetry of one large run: parsed, sliced and joined, beside sha256 and prometheus_client
# make bench-serve   `wh serve` under 50 readers of a warehouse of 10 million requests, while builds are switched
# make wheel   dist/perf_warehouse-VERSION-py3-none-any.whl
# make lock    resolves the dependencies again

PYTHON ?= python3
UV ?= uv
BIN := .venv/bin

.PHONY: demo test test-changed test-share test-all test-newest mutants lint bench bench-commands bench-transform bench-ingest bench-lineage bench-store bench-growth bench-statistics bench-changes bench-serving bench-serve bench-telemetry wheel lock clean

demo: .venv/installed
	@bash demo.sh $(BIN)

PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist loadfile

test: .venv/installed-test
	$(PYTEST)

test-changed: .venv/installed-test
	files="$$($(BIN)/python tests/affected.py $(BASE))" && { [ -z "$$files" ] || $(PYTEST) $$files; }

test-share: .venv/installed-test
	$(PYTEST) -m '' --share $(shell git rev-list --count --first-parent HEAD)

test-all: .venv/installed-test
	$(PYTEST) -m '' --dist load

# What a release of the engine, or of what parses for it, changes first: its functions, and what was traced, published and verified.
NEWEST := .cache/venv-newest
NEWEST_TESTS := $(addprefix tests/test_,columns.py determinism.py emptiness.py engine_faults.py float_sums.py guarantees.py other_engine.py \
    provenance.py provenance_oracle.py publishable.py sql_text.py tracked_functions.py two_engines.py)

# Installed anew each time: the newest packages are others tomorrow.
test-newest: .venv/installed-test
	$(PYTHON) -m venv --clear $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.[build,test]'
	WH_LOCKED_PYTHON=$(CURDIR)/$(BIN)/python $(NEWEST)/bin/python -m pytest --numprocesses auto --dist loadfile $(NEWEST_TESTS)

mutants: .venv/installed-test
	$(BIN)/python tests/mutants.py

lint: .venv/installed-test
	$(BIN)/ruff check
	$(BIN)/mypy

bench: .venv/installed-test
	$(BIN)/python benchmarks/run.py

bench-commands: .venv/installed-test
	$(BIN)/python benchmarks/commands/run.py $(ARGS)

bench-transform: .venv/installed-test .cache/benchmark-venvs/made
	$(BIN)/python benchmarks/transform/run.py
	$(BIN)/python benchmarks/transform/copy_cost.py

bench-ingest: .venv/installed-test
	$(BIN)/python benchmarks/ingest/run.py

bench-lineage: .venv/installed-test
	$(BIN)/python benchmarks/lineage/run.py

bench-store: .venv/installed-test
	$(BIN)/python benchmarks/store/run.py $(if $(S3),--s3 $(S3))

bench-growth: .venv/installed-test
	$(BIN)/python benchmarks/growth/run.py

bench-statistics: .venv/installed-test
	$(BIN)/python benchmarks/statistics/run.py

bench-changes: .venv/installed-test
	$(BIN)/python benchmarks/changes/run.py

bench-serving: .venv/installed-test
	$(BIN)/python benchmarks/serving/run.py

bench-serve: .venv/installed-test
	$(BIN)/python benchmarks/serve/run.py

bench-telemetry: .venv/installed-test
	$(BIN)/python benchmarks/telemetry/run.py $(ARGS)

.cache/benchmark-venvs/made: benchmarks/transform/environments.sh
	bash benchmarks/transform/environments.sh .cache/benchmark-venvs $(UV)
	@touch $@

.venv/installed: requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.venv/installed-test: .venv/installed requirements-test.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-test.txt
	@touch $@

wheel: .venv/installed
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .

lock:
	uv pip compile pyproject.toml --extra build --extra mcp --extra serve --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --no-header --quiet -o requirements.txt
	uv pip compile pyproject.toml --extra build --extra test --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --no-header --quiet -o requirements-test.txt
	uv pip compile tests/provenance/tpch.in --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --no-header --quiet -o tests/provenance/tpch.txt
	uv pip compile tests/agents/client1.in --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --no-header --quiet -o tests/agents/client1.txt
	uv pip compile tests/optuna.in --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --no-header --quiet -o tests/optuna.txt
	uv pip compile tests/duckdb14.in --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --no-header --quiet -o tests/duckdb14.txt

clean:
	rm -rf .venv .cache .wh
