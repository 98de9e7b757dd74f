# One entry for everything. `make demo` and `make test` do their own set-up on a fresh machine.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SERVE  ?= 1
ONLY   ?=
# The tag or commit that `make bench ONLY=http` compares with.
BEFORE ?=
# One more than there are processors: tests that wait for a disk or for a process leave theirs to others.
JOBS   ?= $(shell expr $$(nproc) + 1)

.PHONY: setup check test tools suite demo bench soak docs docs-site screenshots assets lock check-deps release clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[dev,plot]"
	$(BIN)/python -m compileall -q querygate adapters  # as an installation does: it is a third of a short command's time
	touch $@

check: setup
	$(BIN)/ruff check querygate adapters tests
	$(BIN)/ruff format --check querygate adapters tests
	$(BIN)/mypy
	$(BIN)/lint-imports

# The checks take one processor, so they run beside the tests; what is installed is there before either begins.
test: setup tools
	$(MAKE) --no-print-directory --jobs=2 --output-sync=line check suite

tools: setup
	tests/install_tools.sh
	tests/install_spark.sh $(BIN)/pip

suite: setup
	TMPDIR=$${TMPDIR:-$$(tests/scratch_folder.sh)} PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	  $(BIN)/pytest -n $(JOBS) --dist worksteal tests

demo: setup
	$(BIN)/querygate demo $(if $(filter 0,$(SERVE)),,--serve)

bench: setup
	QUERYGATE_BENCH_BEFORE=$(BEFORE) $(BIN)/python -m tests.bench $(ONLY)

soak: setup
	$(BIN)/python -m tests.soak $(ONLY)

docs: setup
	$(BIN)/python -m querygate.cli.reference_pages docs/reference
	$(BIN)/python docs/reference/make_statistics.py
	$(BIN)/python docs/reference/make_map.py
	test ! -f build/bench.json || $(BIN)/python docs/measured.py

# The same pages that a gate serves under /docs, for any web server.
docs-site: setup
	$(BIN)/python -m querygate.web.manual.static_site build/docs-site

# Pictures of the main pages, light and dark, wide and narrow: docs/figures/pages.
screenshots: setup
	$(BIN)/python docs/figures/screenshots.py

# The console's scripts are committed; only who changes clients/console needs Node.
assets:
	cd clients/console && npm install --no-audit --no-fund && npm run build

# Libraries for an image, each with its hashes, for Python 3.11 and later. No index is named in it.
lock: setup
	$(BIN)/pip install --quiet --disable-pip-version-check "uv>=0.4,<1"
	$(BIN)/uv pip compile --quiet --generate-hashes --no-annotate --no-header --python-version 3.11 \
	  --extra evidence --extra postgres --extra extracts --extra oidc --extra otel -o deploy/requirements.lock pyproject.toml

# Known vulnerabilities of what is in the lock. Asks a database on the internet, and fails where that is not reached.
check-deps: setup
	$(BIN)/pip install --quiet --disable-pip-version-check "pip-audit>=2.7,<3"
	$(BIN)/pip-audit --strict --require-hashes --disable-pip -r deploy/requirements.lock

# TAG=0 makes no tag.
release: setup
	$(BIN)/pip install --quiet --disable-pip-version-check "build>=1.2,<2" "cyclonedx-bom>=5,<8"
	$(BIN)/python deploy/release.py $(if $(filter 0,$(TAG)),--no-tag)

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
