# Every target is a contributor's command; bare `make` prints them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest --quiet
CORE := policies webhook certs tests
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev

.PHONY: help install demo check test lint types unit e2e golden crds bench requirements clean

help: ## Print these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(RUNTIME) ## Install the product into .venv, so that .venv/bin/rdma-webhook is the command

demo: $(RUNTIME) ## Equip real pods through a real server on the example networks, no cluster needed
	@$(BIN)/python -m tests.demo.demo

check: $(DEV) ## All that needs no cluster: lint, types, unit, golden and property tests (under 60 s)
	@$(MAKE) --no-print-directory --jobs=3 lint types unit

test: $(DEV) ## Everything: check, then control plane and data plane (first run builds Kubernetes)
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory e2e

lint: $(DEV) ## Style, imports between rooms, spelling, generated files
	@echo "lint: style, import contracts, spelling, generated files"
	@$(BIN)/ruff check $(CORE)
	@$(BIN)/ruff format --check --quiet $(CORE)
	@$(BIN)/lint-imports > $(VENV)/lint-imports.log || (cat $(VENV)/lint-imports.log; exit 1)
	@$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md docs deploy $(CORE)
	@$(BIN)/rdma-webhook crds --check deploy/crds
	@$(BIN)/rdma-webhook crds --admission-policies --check deploy/admission

types: $(DEV) ## Static types
	@echo "types: mypy --strict"
	@$(BIN)/mypy $(CORE)

unit: $(DEV) ## Unit, golden and property tests, the core at 100 % of its branches
	@echo "unit: unit, golden and property tests"
	@$(PYTEST) --ignore=tests/e2e -n 2 --cov --cov-report=term --cov-fail-under=100 tests

e2e: $(DEV) ## Tests on a real API server, scheduler, Multus and macvlan
	@echo "e2e: real control plane and data plane; the first run compiles Kubernetes, about 12 minutes"
	@$(BIN)/python -m tests.harness.build all
	@$(PYTEST) tests/e2e

golden: $(DEV) ## Rewrite what golden cases expect; the diff is what reviewers read
	@$(BIN)/python -m tests.harness.golden --rewrite

crds: $(RUNTIME) ## Write deploy/crds from the models, deploy/admission from its rules
	@$(BIN)/rdma-webhook crds --output deploy/crds
	@$(BIN)/rdma-webhook crds --admission-policies --output deploy/admission

bench: $(RUNTIME) ## Print ratios of cost, measured in one run, beside their targets
	@$(BIN)/rdma-webhook bench

requirements: $(DEV) ## Compile requirements*.txt from requirements*.in
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header requirements.in -o requirements.txt
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header requirements-dev.in -o requirements-dev.txt

clean: ## Remove the virtual environment and caches
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .import_linter_cache

$(VENV)/pyvenv.cfg:
	@echo "install: virtual environment"
	@$(PYTHON) -m venv $(VENV)

$(RUNTIME): requirements.txt pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "install: the product and what it needs into $(VENV)"
	@$(PIP) --require-hashes --requirement requirements.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): requirements-dev.txt $(RUNTIME)
	@echo "install: what checks and tests need"
	@$(PIP) --require-hashes --requirement requirements-dev.txt
	@touch $@
