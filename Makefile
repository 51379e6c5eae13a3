# One entry point for a developer, pre-commit and CI. `make help` lists the targets.
# Paths are relative throughout, so that the tree may stand in a folder with a space in its name.

PYTHON ?= python3
PY := .venv/bin/python
RUST_SOURCES := $(shell find src -name '*.rs')
PYTHON_SOURCES := $(shell find python -name '*.py' -o -name '*.pyi')
RUST_FILES := find src tests benches -name '*.rs' -not -path '*/target/*' -print0

.DEFAULT_GOAL := help
.PHONY: help demo build test test-rust test-python test-engines test-slow lint fmt bench bench-quick fuzz docs check-outputs clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):[^#]*## (.*)/\1\t\2/' | awk -F'\t' '{printf "  %-14s %s\n", $$1, $$2}'

.venv/.ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(PY) .ci/extras.py dev | xargs -d '\n' $(PY) -m pip install --quiet --disable-pip-version-check
	@touch .venv/.ready

.venv/.installed: .venv/.ready Cargo.toml Cargo.lock README.md $(RUST_SOURCES) $(PYTHON_SOURCES)
	rm -rf dist
	$(PY) -m maturin build --quiet --release --locked --out dist
	$(PY) -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps dist/*.whl
	@touch .venv/.installed

build: .venv/.installed ## build a release wheel and install it into .venv

demo: build ## score a bundled set of outputs with the gate of examples/validate.json, and run its flow
	$(PY) -m scoregate score examples/validate.json examples/outputs.jsonl -o demo-results.jsonl
	@echo "results: demo-results.jsonl"
	@echo; echo "the same gate in a flow: a good output needs no judge, a bad one does"
	$(PY) -m scoregate run examples/flow.json --agent 'cmd:sh examples/agent.sh good'
	$(PY) -m scoregate run examples/flow.json --agent 'cmd:sh examples/agent.sh bad'

test: lint test-rust test-python ## all lints and all tests, Rust and Python

test-rust: ## the core's tests; no Python needed
	cargo test --quiet --locked

# The compilers that tests run, where npm is there; a test whose compiler is absent skips.
target/node/.ready: tests/tools/package.json tests/tools/package-lock.json
	@mkdir -p target/node
	cp tests/tools/package.json tests/tools/package-lock.json target/node/
	if command -v npm >/dev/null; then cd target/node && npm ci --silent --ignore-scripts --no-audit --no-fund; fi
	@touch target/node/.ready

test-python: build target/node/.ready ## the tests of the installed wheel
	$(PY) -m pytest -q

.venv-engines/.ready: .venv/.ready pyproject.toml
	$(PYTHON) -m venv .venv-engines
	.venv-engines/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(PY) .ci/extras.py engines | xargs -d '\n' .venv-engines/bin/python -m pip install --quiet --disable-pip-version-check
	@touch .venv-engines/.ready

test-engines: build .venv-engines/.ready ## pandas, DuckDB, DataFusion, Daft, Dask, Ray and Spark (large), for real
	.venv-engines/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps dist/*.whl
	cd tests/engines && ../../.venv-engines/bin/python -m pytest -q
	.venv-engines/bin/python -m pytest -q -W default --timeout 300 tests/python/test_docs.py -k "tables or engines"

test-slow: build target/node/.ready ## long runs: big files, full disks
	$(PY) -m pytest -q -m slow --timeout 1800

lint: .venv/.installed ## format and lint checks, types, stubs
	$(RUST_FILES) | xargs -0 rustfmt --check --edition 2024
	cargo clippy --quiet --locked --all-targets -- -D warnings
	cargo clippy --quiet --locked --features python -- -D warnings
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m mypy.stubtest scoregate._native --ignore-disjoint-bases

fmt: .venv/.ready ## format all sources
	$(RUST_FILES) | xargs -0 rustfmt --edition 2024
	$(PY) -m ruff check --fix --quiet . || true
	$(PY) -m ruff format .

bench: build .venv/.bench target/node/.ready ## time everything against its peers; writes docs/benchmarks.md
	$(PY) benches/python/run.py

bench-quick: build .venv/.bench target/node/.ready ## the same on a small corpus; writes nothing
	$(PY) benches/python/run.py --quick

.venv/.bench: .venv/.ready
	$(PY) .ci/extras.py bench | xargs -d '\n' $(PY) -m pip install --quiet --disable-pip-version-check
	@touch .venv/.bench

FUZZ_SECONDS ?= 60
fuzz: build ## fuzz the parsers and look for slow texts, FUZZ_SECONDS each (needs cargo-fuzz)
	cd tests/fuzz && for target in js_regex json_strict json_repair json_stream json_slips contract; do \
	  RUSTC_BOOTSTRAP=1 cargo fuzz run --fuzz-dir . $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done
	$(PY) tests/tools/units.py --seconds $(FUZZ_SECONDS)

docs: build ## build the documentation, strictly, into site/
	$(PY) .ci/extras.py docs | xargs -d '\n' $(PY) -m pip install --quiet --disable-pip-version-check
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet

check-outputs: build target/node/.ready ## check a file of {id, output} lines: make check-outputs FILE=…
	$(PY) tests/python/check_outputs.py "$(FILE)"
	$(PY) tests/python/check_json.py "$(FILE)"
	$(PY) tests/python/check_compile.py "$(FILE)"

clean: ## remove what was built
	rm -rf target dist site .venv .venv-engines demo-results.jsonl
