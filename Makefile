# Everything runs in .venv, which the first target makes: Python 3.11+, git and make are all it takes.
.PHONY: demo test test-all check bench docs clean

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

demo: $(READY)  ## pictures -> codes -> evaluation with a plot -> index -> searches
	$(BIN)/kinhash demo

test: $(READY)  ## the default tests
	$(BIN)/python -m pytest

test-all: $(READY)  ## with the slow ones
	$(BIN)/python -m pytest -m "not gpu and not network and not engine"

check: $(READY)  ## lint, types, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

bench: $(READY)  ## every guard on speed, one after the other
	@status=0; for script in benchmarks/*.py; do \
	  echo "== $$script"; $(BIN)/python $$script --check || status=1; \
	done; exit $$status

docs: $(READY)  ## the docs site, into site/; warnings are errors
	$(BIN)/mkdocs build --strict --quiet

$(READY): pyproject.toml constraints.txt tools/setup_venv.py
	$(PYTHON) tools/setup_venv.py
	@touch $@

clean:
	rm -rf .venv dist site demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
