# `make demo` and `make test` work on a fresh clone: each creates .venv and installs its requirements.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The tests start hundreds of processes; without bytecode files each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
# Most of the 27,000 modules that are installed are never imported: those that are compile themselves.
export PIP_NO_COMPILE := 1

# An editable install lists modules by name, so reinstall when the list changes.
MODULES := $(VENV)/.modules-$(shell find src -name '*.py' | LC_ALL=C sort | cksum | cut -d' ' -f1)
NATIVE := CMakeLists.txt CMakePresets.json $(shell find native -name '*.?pp')

.PHONY: demo baseline calibrate simulate-judging load-judging quality torture test lint types layers native-test pytest pytest-native pytest-python pytest-arrays pytest-libraries bench bench-scale bench-accelerator dist docs pictures sanitize clean help

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
	basedpyright --level error tests/typing

layers: $(VENV)/.tools $(VENV)/.installed
	lint-imports

native-test: $(VENV)/.tools
	cmake --preset native-tests
	+cmake --build --preset native-tests
	ctest --preset native-tests

pytest:
	@$(MAKE) pytest-native
	@$(MAKE) --jobs=3 --output-sync=target pytest-python pytest-arrays pytest-libraries

# Spark is started once and has processes of its own; JAX has threads that the processes forked by
# other tests must not inherit; PyTorch takes long to import: so in one process.
ARRAYS := tests/spark tests/training src/berryeval/training \
  $(addprefix tests/metrics/test_,device_arrays.py triton_kernel.py)
# These import the libraries of others, which takes each process ten seconds: so in one process too.
LIBRARIES := $(addprefix tests/,benchmarks/test_named_datasets.py chunkers/test_external.py \
  $(addprefix providers/test_,concurrency.py haystack.py langchain.py origins.py) \
  $(addprefix reports/test_,mlflow.py wandb.py))
pytest-arrays: $(VENV)/.java
	pytest -q $(ARRAYS)

pytest-libraries:
	pytest -q $(LIBRARIES)

pytest-arrays pytest-libraries pytest-native pytest-python: $(VENV)/.tools $(VENV)/.installed $(VENV)/.browser

pytest-native pytest-python: pytest-%:
	BERRYEVAL_BACKEND=$* pytest -q -n auto --dist worksteal $(addprefix --ignore=,$(ARRAYS) $(LIBRARIES)) $(pytest-$*)

# The Python pass runs what has a native twin (data, metrics, scoring, resampling) and the jobs that
# are built on it. All other tests run the same code in both passes, or compare the two, so once.
pytest-python: pytest-python := --ignore-glob='*twins.py' src $(addprefix tests/,\
  _internal/test_backend.py compat data metrics relevance runs/test_record.py scoring stats trec_eval \
  $(addprefix cli/test_,compare.py compare_files.py eval.py gate.py score.py trec_eval.py) \
  $(addprefix gates/test_,alike.py gates.py) \
  $(addprefix workflows/test_,comparing.py living_data.py run_benchmark.py run_folder.py \
    seeded_regression.py trec_files.py))

bench: $(VENV)/.bench  ## time BerryEval, NumPy and the peers in one run, as ratios
	$(BIN)/python benchmarks/bench_arrays.py
	$(BIN)/python benchmarks/bench_engine.py
	$(BIN)/python benchmarks/bench_compat.py
	$(BIN)/python benchmarks/bench_fusion.py --queries 1000 --document
	$(BIN)/python benchmarks/bench_anchors.py
	$(BIN)/python benchmarks/bench_harness.py --document
	$(BIN)/python benchmarks/bench_stats.py
	$(BIN)/python benchmarks/bench_store.py
	$(BIN)/python benchmarks/bench_compat_ranx.py

bench-scale: $(VENV)/.bench $(VENV)/.java  ## measure runs of up to 100 million rows, also on Spark, and write docs/scale.md (needs 30 GB of disk)
	$(BIN)/python benchmarks/bench_scale.py --document
	$(BIN)/python benchmarks/bench_spark.py --document

bench-accelerator: $(VENV)/.tools $(VENV)/.installed  ## time the array metrics on a GPU beside torchmetrics, and write docs/benchmarks.md
	$(BIN)/python benchmarks/bench_accelerator.py --document docs/benchmarks.md

dist: $(VENV)/.made pyproject.toml  ## build the sdist and the wheels into dist/, and try them without a compiler
	scripts/install.sh $(VENV) release
	$(BIN)/python scripts/dist.py

docs: $(VENV)/.installed  ## write the documentation pages that are generated from the code
	$(BIN)/python -m berryeval.metrics.catalogue > docs/metrics.md
	$(BIN)/python -m berryeval.providers.catalogue > docs/providers.md
	$(BIN)/python -m berryeval.workflows.plan > docs/berryeval.schema.json
	$(BIN)/python -m berryeval.reports.exporters.json > docs/report.schema.json

.PHONY: site
site: $(VENV)/.site $(VENV)/.installed  ## build the documentation site in build/site/html; fails on a warning or a broken link
	$(BIN)/python -m scripts.website build/site

pictures: $(VENV)/.tools $(VENV)/.demo $(VENV)/.installed $(VENV)/.browser  ## take the pictures of docs/images again
	$(BIN)/python scripts/pictures.py

calibrate: $(VENV)/.tools $(VENV)/.installed  ## simulate error rates of tests and intervals on real scores, and write docs/statistics.md
	$(BIN)/python benchmarks/calibrate.py

simulate-judging: $(VENV)/.demo $(VENV)/.installed  ## simulate how many judgments the strategy decisive needs, and write docs/judging.md
	$(BIN)/python benchmarks/simulate_judging.py --document

load-judging: $(VENV)/.demo $(VENV)/.installed  ## let 50 judges judge at once while the server is killed, and check every grade
	$(BIN)/python benchmarks/load_judging.py

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
$(VENV)/.demo: $(VENV)/.made pyproject.toml scripts/install.sh | $(VENV)/.installed
	scripts/install.sh $(VENV) demo
	@touch $@

$(VENV)/.site: $(VENV)/.made pyproject.toml scripts/install.sh | $(VENV)/.installed
	scripts/install.sh $(VENV) site
	@touch $@

$(VENV)/.browser: scripts/browser.sh | $(VENV)/.made
	scripts/browser.sh
	@touch $@

$(VENV)/.java: scripts/java.sh | $(VENV)/.made
	scripts/java.sh
	@touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml scripts/install.sh | $(VENV)/.installed
	scripts/install.sh $(VENV) bench
	@touch $@

$(VENV)/.tools: $(VENV)/.made pyproject.toml scripts/install.sh | $(VENV)/.installed
	scripts/install.sh $(VENV) dev
	@touch $@
