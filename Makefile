# From a bare checkout: `make demo` or `make test` creates .venv, installs everything into it once, and runs.
.PHONY: install demo test notebooks lint format types docs bench rivals results clean
.DEFAULT_GOAL := install

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST_ARGS ?= -n 2
DATA ?= ../shared/data
TIMELINES ?= $(DATA)/dyknow/timelines.countries.jsonl

# No test, demo or measurement asks a model hub or reports home.
export HF_HUB_OFFLINE = 1
export ANONYMIZED_TELEMETRY = False
export TOKENIZERS_PARALLELISM = false

install: $(STAMP)

# torch first and alone: the pin decides which build the rest is resolved against.
$(STAMP): pyproject.toml constraints.txt
	@echo "Installing into $(VENV): once, some minutes."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@echo "  torch ..."
	@$(BIN)/python -m pip install --quiet -c constraints.txt torch
	@echo "  the package, its extras and the tools of the tests ..."
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[all,docs]' --group test --group lint
	@touch $@

# The story; then the main job on real timelines, where the public data set is there (see CONTRIBUTING.md).
demo: $(STAMP)
	@$(BIN)/ko demo
	@if [ -e $(TIMELINES) ]; then $(BIN)/ko demo --timelines $(TIMELINES); \
	else echo "No real timelines: $(TIMELINES) is absent."; fi

test: $(STAMP)
	$(BIN)/python -m pytest $(PYTEST_ARGS) --ignore=tests/notebooks/test_notebooks.py

# Every notebook from a clean kernel, against its committed outputs: some minutes.
notebooks: $(STAMP)
	$(BIN)/python -m pytest $(PYTEST_ARGS) tests/notebooks

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP)
	$(BIN)/mypy

docs: $(STAMP)
	$(BIN)/mkdocs build --strict --site-dir site

bench: $(STAMP)
	$(BIN)/ko bench core --json bench-core.json
	$(BIN)/ko bench crash --rounds 100 --json bench-crash.json

# Every figure of the documentation: measures all (about an hour, on a quiet machine), fills README.md and docs/.
results: $(STAMP)
	$(BIN)/ko results results --measure --data $(DATA)

# One workload through other memories and this one, for docs/rivals.md: a quarter of an hour, on a quiet machine.
rivals: $(STAMP)
	$(BIN)/python -m pip install --quiet -c constraints.txt --group rivals
	mkdir -p results
	-$(BIN)/ko bench rivals --json results/bench-rivals.json
	$(BIN)/ko results results

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
