# `make demo` and `make test` are all a newcomer types. `make help` lists the rest.

PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEMO ?= demo
BRIEF := put the red mug in the top drawer and close it
# At most two test processes: each holds compiled worlds and renderers in memory.
TEST_PROCESSES ?= 2

# Numeric libraries must not start threads of their own below several worker processes on few cores.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: help venv system demo test slow check format bench clean

help:
	@echo "make demo    install everything, then one sentence to ten verified episodes and a dataset in ./$(DEMO)"
	@echo "make test    the tests"
	@echo "make slow    the tests that take half a minute or more"
	@echo "make check   formatting, lint, types, import contracts"
	@echo "make venv    only the virtual environment in $(VENV)"
	@echo "make system  only the system libraries for rendering"
	@echo "make format  apply formatting and safe lint fixes"
	@echo "make bench   the speed benchmark: one JSON object"
	@echo "make clean   remove the demo and caches"

venv: $(INSTALLED)

$(INSTALLED): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed and was not found; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else f"Python 3.11 or newer is needed; {sys.executable} is {sys.version.split()[0]}. Set PYTHON=/path/to/python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --no-deps -r requirements.lock
	$(BIN)/python -m pip install --disable-pip-version-check "torch==2.13.0"
	$(BIN)/python -m pip install --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

system:
	@sh scripts/system-libraries.sh

demo: venv system
	@if [ -e "$(DEMO)/run.json" ]; then $(BIN)/smith resume "$(DEMO)"; \
	else $(BIN)/smith doctor && $(BIN)/smith make "$(BRIEF)" -n 10 --out "$(DEMO)"; fi

test: venv system
	$(BIN)/python -m pytest -n auto --maxprocesses $(TEST_PROCESSES)

slow: venv system
	$(BIN)/python -m pytest -m slow -n auto --maxprocesses $(TEST_PROCESSES)

check: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: venv
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: venv system
	$(BIN)/smith bench speed --json

clean:
	rm -rf "$(DEMO)" .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
