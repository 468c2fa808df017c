# `make demo` and `make test` work on a fresh clone: each creates .venv and installs its requirements.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The tests start hundreds of processes; without bytecode files each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

# An editable install lists modules by name, so reinstall when the list changes.
MODULES := $(VENV)/.modules-$(shell find src -name '*.py' | LC_ALL=C sort | cksum | cut -d' ' -f1)
NATIVE := CMakeLists.txt CMakePresets.json $(shell find native -name '*.?pp')

.PHONY: demo baseline calibrate quality torture test lint types layers native-test pytest pytest-native pytest-python bench docs sanitize clean help

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 14

demo: $(VENV)/.demo $(VENV)/.installed  ## compare four providers on a bundled benchmark, one of them a real PostgreSQL
	@$(BIN)/python examples/demo.py

test:  ## run every check that must pass before a change lands
	@$(MAKE) --jobs=2 lint types layers native-test $(VENV)/.browser
	@$(MAKE) pytest

lint: $(VENV)/.tools
	ruff check .
	ruff format --check .
	clang-format --dry-run --Werror $(filter %.cpp %.hpp,$(NATIVE))
	check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	check-jsonschema --builtin-schema vendor.github-actions action.yml

types: $(VENV)/.tools $(VENV)/.installed
	mypy

layers: $(VENV)/.tools $(VENV)/.installed
	lint-imports

native-test: $(VENV)/.tools
	cmake --preset native-tests
	cmake --build --preset native-tests
	ctest --preset native-tests

pytest: pytest-native pytest-python

pytest-native pytest-python: pytest-%: $(VENV)/.tools $(VENV)/.installed $(VENV)/.browser
	BERRYEVAL_BACKEND=$* pytest -q -n auto --dist worksteal $(pytest-$*)

# Tests that compute no score, or that compare the backends, run once, in the native pass.
pytest-python: pytest-python := $(addprefix --ignore-glob=,'*twins.py' '*/test_list_*.py') \
  $(addprefix --ignore=tests/,\
  anchors chunkers benchmarks providers runner reports pytest_plugin \
  $(addprefix _internal/test_,door.py formatting.py json_text.py optional.py postgres_address.py registry.py visible.py) \
  $(addprefix cli/test_,benchmarks.py eval_addresses.py eval_again.py eval_given_up.py eval_tags.py init.py \
    options.py report.py runs.py screen.py to_stdout.py verbosity.py) \
  $(addprefix workflows/test_,batches.py budget.py config_faults.py faults.py functions.py hostile_servers.py http_faults.py \
    missing_packages.py postgres_faults.py resume.py secrets.py) \
  $(addprefix runs/test_,store.py store_safety.py) \
  test_build.py test_docs.py test_house.py test_quality_in_ci.py test_registries.py)

bench: $(VENV)/.bench  ## time BerryEval, NumPy and the peers in one run, as ratios
	$(BIN)/python benchmarks/bench_arrays.py
	$(BIN)/python benchmarks/bench_engine.py
	$(BIN)/python benchmarks/bench_anchors.py
	$(BIN)/python benchmarks/bench_harness.py --document
	$(BIN)/python benchmarks/bench_stats.py
	$(BIN)/python benchmarks/bench_store.py

docs: $(VENV)/.installed  ## write the documentation pages that are generated from the code
	$(BIN)/python -m berryeval.metrics.reference > docs/metrics.md
	$(BIN)/python -m berryeval.providers.catalogue > docs/providers.md
	$(BIN)/python -m berryeval.workflows.plan > docs/berryeval.schema.json
	$(BIN)/python -m berryeval.reports.exporters.json > docs/report.schema.json

calibrate: $(VENV)/.tools $(VENV)/.installed  ## simulate error rates of tests and intervals on real scores, and write docs/statistics.md
	$(BIN)/python benchmarks/calibrate.py

baseline: $(VENV)/.demo $(VENV)/.installed  ## measure the bundled providers again and write docs/baseline.md
	$(BIN)/berryeval eval --benchmarks technical-docs spring-boot --providers bm25 dense hybrid \
	  --baseline-doc docs/baseline.md

# eval exits with 1 if a rule is broken; the gate reports it again, with files. Other errors stop here.
QUALITY := build/quality
quality: $(VENV)/.demo $(VENV)/.installed  ## judge the golden sets against quality/baseline.json; fails on a regression
	@rm -rf $(QUALITY)
	@$(BIN)/berryeval eval --config quality/berryeval.yaml --output $(QUALITY)/golden-sets --quiet \
	  || test $$? -eq 1
	@$(BIN)/berryeval gate $(QUALITY)/golden-sets --config quality/berryeval.yaml \
	  --export junit markdown --output $(QUALITY)

sanitize: $(VENV)/.tools  ## native tests under the address, undefined behaviour and thread sanitizers
	for preset in sanitize sanitize-thread; do \
	  cmake --preset $$preset && cmake --build --preset $$preset && ctest --preset $$preset || exit 1; \
	done

SECONDS ?= 1200
torture: $(VENV)/.tools $(VENV)/.installed  ## try to break everything for SECONDS=1200: kills, faults, damaged files, fuzzing, bombs
	cmake --preset sanitize && cmake --build --preset sanitize --target fuzz
	$(BIN)/python -m tests.torture --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

clean:  ## remove everything built or installed here
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made: scripts/bootstrap.sh
	scripts/bootstrap.sh $(VENV) $(PYTHON)
	@touch $@

$(MODULES): $(VENV)/.made
	@rm -f $(VENV)/.modules-*
	@touch $@

$(VENV)/.installed: $(VENV)/.made $(MODULES) pyproject.toml src/berryeval/__init__.py $(NATIVE)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# After .installed if both are needed: two pips must not write to one environment at once.
$(VENV)/.demo: $(VENV)/.made pyproject.toml | $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group demo
	@touch $@

$(VENV)/.browser: scripts/browser.sh | $(VENV)/.made
	scripts/browser.sh
	@touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml | $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group bench
	@touch $@

$(VENV)/.tools: $(VENV)/.made pyproject.toml | $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@
