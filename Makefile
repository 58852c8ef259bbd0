# Short names for what people run. `make verify` and `make test` need Python 3.11 or later and a package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
KERNEL ?= f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256.co

.PHONY: verify test sweep check bench clean

verify: $(VENV)/.emulator
	$(BIN)/argpack kernels fetch
	$(BIN)/argpack verify $(KERNEL)

test: $(VENV)/.test
	PYTHON=$(BIN)/python bash tools/need_llvm
	$(BIN)/argpack kernels fetch
	$(BIN)/python -m pytest -n 2 -m "not sweep" --cov --cov-report=term-missing:skip-covered --cov-fail-under=90

sweep: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 -m sweep

check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.test
	$(BIN)/python tools/bench

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "argpack needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version). Try make PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "python3 cannot make a virtual environment: on Debian install python3-venv" >&2; exit 2; }

$(VENV)/.emulator: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[emulator]'
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

$(VENV)/.check: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[check]'
	@touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
