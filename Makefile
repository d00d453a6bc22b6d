# make demo    record, ingest, build, publish, walk back: the whole job on this machine
# make test    everything that is tested
# make test-all   that, and the oracles over thousands of random queries
# make mutants    plants faults in the tracer and the verifier, one after another: the tests must find each
# make lint    what ruff and mypy say of the code
# make bench   the figures, each beside its floor (benchmarks/README.md)
# make bench-transform   the transform engine beside a plain script, dbt and SQLMesh (needs uv)
# make bench-ingest    how quickly evidence of each format is parsed, beside sha256
# make bench-store     how quickly evidence goes into a store, beside what it must cost
# make bench-lineage   what it costs to trace a number, beside the query that gives it
# make bench-growth    what each command costs with 1,000, 5,000 and 20,000 runs in the warehouse
# make bench-statistics  coverage of the intervals, false alarms and power of the change detector, beside others' rules
# make lock    resolve the dependencies anew

PYTHON ?= python3
UV ?= uv
BIN := .venv/bin

.PHONY: demo test test-all mutants lint bench bench-transform bench-ingest bench-lineage bench-store bench-growth bench-statistics lock clean

demo: .venv/installed
	@bash demo.sh $(BIN)

test: .venv/installed-test
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

test-all: .venv/installed-test
	$(BIN)/python -m pytest --numprocesses auto -m ''

mutants: .venv/installed-test
	$(BIN)/python tests/mutants.py

lint: .venv/installed-test
	$(BIN)/ruff check
	$(BIN)/mypy

bench: .venv/installed-test
	$(BIN)/python benchmarks/run.py

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

lock:
	uv pip compile pyproject.toml --extra build --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --no-header --quiet -o requirements.txt
	uv pip compile pyproject.toml --extra build --extra test --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --no-header --quiet -o requirements-test.txt
	uv pip compile tests/provenance/tpch.in --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --no-header --quiet -o tests/provenance/tpch.txt

clean:
	rm -rf .venv .cache .wh
