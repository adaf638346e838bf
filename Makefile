# Two commands do everything, each with its own set-up: `make demo` and `make test`. CI adds `make drill`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Two cores: more threads than cores make torch and faiss wait for each other.
export TOKENIZERS_PARALLELISM ?= false
# Nothing is fetched from a hub unless a hub id is named on the command line.
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo test drill lint coverage-table constraints clean

help:
	@echo "make demo   index the sample corpus, ask, measure, write a report"
	@echo "make test   ruff, mypy, import contracts, pytest"
	@echo "make drill  kills, a live server, statistics by simulation (minutes)"

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("Plumbline needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
# torch first and by its exact version: the CPU build where pip is pointed at one.
	$(BIN)/pip install --quiet --constraint constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/plumbline demo

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/pytest

drill: $(STAMP)
	$(BIN)/pytest -m drill --durations=0

coverage-table: $(STAMP)
	$(BIN)/python -m benchmarks.coverage

constraints: $(STAMP)
	(head -1 constraints.txt; $(BIN)/pip freeze --exclude-editable --all | sed 's/+cpu//' | grep -v '^pip==') > constraints.new
	mv constraints.new constraints.txt

clean:
	rm -rf $(VENV) .demo build *.egg-info
