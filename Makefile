# Every target makes its own environment: nothing but Python (>= 3.11) and make is needed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.ready-dev
DOCS := $(VENV)/.ready-docs
# keep compiled modules whatever the environment says: the tests start hundreds of processes
export PYTHONDONTWRITEBYTECODE :=
SMOKE := tests/test_public_names.py tests/test_imports.py tests/test_version_0_1_0.py tests/kernels/test_rng.py \
  tests/counts tests/text tests/cli/test_cli_questions.py

.PHONY: demo docs paper test test-long test-smoke test-slow bench lint wheel-test clean
.DELETE_ON_ERROR:

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "bayesvec needs Python 3.11 or newer; say which with: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(DEV): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(DOCS): $(DEV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

demo: $(READY)
	$(BIN)/bayesvec demo
	@echo "Here: $(BIN)/python -m pip install --editable '.[explore]' && $(BIN)/bayesvec explore demo/python-docs.run"

test: $(DEV)
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

# what takes many seconds, a browser or a cluster: CI runs it too
test-long: $(DEV)
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m 'long and not slow'

# a part of the tests that reaches every folder, for another Python
test-smoke: $(DEV)
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal $(SMOKE)

test-slow: $(DOCS)
	$(BIN)/python -m pytest -m slow

# the code on the pages is run; after the set-up no network is needed, nor to read what is built
docs: $(DOCS)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# docs/paper.md and its pictures from the records of single cells; computes none
paper: $(DEV)
	$(BIN)/bayesvec reproduce all --out experiments/records --page docs/paper.md

# build the sdist and, from it, the wheel; install the wheel alone in a new environment and run it from elsewhere
wheel-test:
	rm -rf build/wheel-test
	$(PYTHON) -m venv build/wheel-test/maker
	build/wheel-test/maker/bin/python -m pip install --quiet --disable-pip-version-check build
	build/wheel-test/maker/bin/python -m build --outdir build/wheel-test/dist .
	$(PYTHON) -m venv build/wheel-test/venv
	build/wheel-test/venv/bin/python -m pip install --quiet --disable-pip-version-check build/wheel-test/dist/*.whl
	cd build/wheel-test && printf 'the cat saw a dog\nthe dog saw a cat\n' > text.txt && \
	  venv/bin/bayesvec fit text.txt --dim 2 --draws 20 --warmup 10 --quiet --out text.run && \
	  venv/bin/bayesvec similarity text.run cat dog && \
	  venv/bin/bayesvec report text.run --out text.html

bench: $(DEV)
	$(BIN)/python benchmarks/all.py

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) build dist site .docs .pytest_cache .mypy_cache .ruff_cache
