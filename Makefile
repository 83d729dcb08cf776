# Every target makes what it needs: a machine with Python 3.11, Rust, make and git can call any of them on a fresh clone.
# Words for pytest go in ARGS:  make python ARGS="-k ctrl_c -x"

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

# The first interpreter that is new enough; another one by `make PYTHON=/path/to/python3.12 ...`.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$p && break; done)
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --no-input --quiet --disable-pip-version-check
# The lock file is part of the source: a build that would change it fails instead.
CARGO_FLAGS ?= --locked
ARGS ?=
WORKERS ?= 2

# Cargo, clippy and maturin all build the binding for the interpreter of .venv.
export PYO3_PYTHON := $(CURDIR)/$(PY)
export PIP_NO_INPUT := 1

# make fuzz FUZZ_TARGETS=encode FUZZ_SECONDS=600
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= split encode cut decode train loaders

RUST_SOURCES := $(shell find crates -name '*.rs' -o -name '*.toml' -o -name '*.bin' -o -name '*.txt') Cargo.toml Cargo.lock
PYTHON_SOURCES := python tests benchmarks fuzz $(wildcard examples) .ci

# One extra of pyproject.toml, as arguments for pip: the tools are needed before the package itself can be built.
define requirements
$$($(PY) -c 'import sys, tomllib; extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; \
	print(*(line.replace(" ", "") for name in sys.argv[1:] for line in extras[name]))' $(1))
endef

.PHONY: help venv build demo test lint rust python exhaustive fuzz sanitize arm bench bench-train instructions format clean missing
missing:

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | while IFS=$$'\t' read -r name what; do \
		printf '  make %-12s %s\n' "$$name" "$$what"; done

venv: $(VENV)/.tools ## make .venv with the tools that build and test

$(VENV)/.maturin: pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: no Python of version 3.11 or later was found: install one, or name it by make PYTHON=/path/to/python" >&2; exit 1; }
	@test -x $(PY) || { "$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); echo "error: $(PYTHON) cannot make a virtual environment: on Debian, apt-get install python3-venv" >&2; exit 1; }; }
	$(PIP) "$$($(PY) -c 'import tomllib; print(tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"][0])')"
	@touch $@

$(VENV)/.tools: $(VENV)/.maturin pyproject.toml
	$(PIP) $(call requirements,test lint spark)
# An oracle that is one file of a package, which would bring torch with it; its tests are skipped where it is missing.
	$(PIP) --no-deps $(call requirements,test-megatron) || echo "note: megatron-core does not install here, and is left out" >&2
	@touch $@

# The browser tests drive Chromium; the file holds its path.
$(VENV)/.chromium: $(VENV)/.maturin .ci/chromium
	.ci/chromium > $@.part
	@mv $@.part $@

# The engine lands beside the Python sources (python/digram/_native.*.so, one for each Python version, ignored by git), the package is installed
# editable: Python files need no rebuild.
build: $(VENV)/.built ## build the engine into .venv

$(VENV)/.built: $(VENV)/.maturin pyproject.toml $(RUST_SOURCES) $(if $(wildcard python/digram/_native*.so),,missing)
	@command -v cargo >/dev/null || { echo "error: cargo is missing: install Rust $$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml) or later" >&2; exit 1; }
	@echo "building the engine: some minutes the first time"
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PY) -m maturin develop --release --quiet $(CARGO_FLAGS)
	@touch $@

demo: build ## train, encode and decode the text of Python's standard library
	$(PY) examples/demo.py

test: lint rust python ## every check and test of the default suite

lint: $(VENV)/.tools build ## formats, lints, types, and the stub against the engine
	$(PY) -m ruff check $(PYTHON_SOURCES)
	$(PY) -m ruff format --check $(PYTHON_SOURCES)
	$(PY) -m mypy
	$(PY) -m mypy.stubtest --mypy-config-file pyproject.toml digram._native
	cargo fmt --all --check
	cargo clippy --workspace --all-targets $(CARGO_FLAGS) -- -D warnings

rust: $(VENV)/.maturin ## the engine's own tests
	@if cargo nextest --version >/dev/null 2>&1; then \
		set -x; cargo nextest run --workspace $(CARGO_FLAGS) --no-fail-fast; \
		cargo test --workspace --doc $(CARGO_FLAGS); \
	else set -x; cargo test --workspace $(CARGO_FLAGS) --no-fail-fast; fi

# All of them run in WORKERS processes, a file of tests in one of them; some of them, by ARGS, in this one.
python: $(VENV)/.tools $(VENV)/.chromium build ## the tests of the package and of the reference
	$(PY) -m pytest $(if $(strip $(ARGS)),$(ARGS),-n $(WORKERS) --dist loadfile)

# Exit code 5 of pytest means that it found no test; in the default suite that is a failure, here it may be so.
exhaustive: $(VENV)/.tools build ## the long tests: all code points, 100,000 strings
	cargo test --workspace $(CARGO_FLAGS) -- --ignored
	DIGRAM_HYPOTHESIS=slow $(PY) -m pytest -m exhaustive -o faulthandler_timeout=1200 $(ARGS) || { code=$$?; test $$code -eq 5 && echo "no Python test is marked exhaustive"; }

fuzz: $(VENV)/.tools build ## each fuzz target for FUZZ_SECONDS, with coverage and AddressSanitizer; findings in fuzz/artifacts
	@case " $(FUZZ_TARGETS) " in *" loaders "*) $(PIP) $(call requirements,fuzz) || { \
		echo "error: atheris, which fuzzes the readers, does not install here: leave it out by make fuzz FUZZ_TARGETS='split encode cut decode train'" >&2; exit 1; };; esac
	$(PY) fuzz/run.py --seconds $(FUZZ_SECONDS) $(FUZZ_TARGETS)

sanitize: $(VENV)/.maturin ## the engine's tests under AddressSanitizer, with that of its C code
	$(PY) fuzz/run.py --sanitize

# What cross-compiles and runs may be named by CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER and ..._RUNNER.
arm: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER ?= aarch64-linux-gnu-gcc
arm: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER ?= qemu-aarch64 -L /usr/aarch64-linux-gnu
arm: ## the engine's tests of splitting on an emulated 64-bit ARM processor
	@for program in $(firstword $(CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER)) $(firstword $(CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER)); do \
		command -v $$program >/dev/null || { echo "error: $$program is missing: on Debian, apt-get install gcc-aarch64-linux-gnu qemu-user, and rustup target add aarch64-unknown-linux-gnu" >&2; exit 1; }; done
	cargo test -p digram --lib --target aarch64-unknown-linux-gnu $(CARGO_FLAGS) -- $(if $(strip $(ARGS)),$(ARGS),split)

# Rivals are installed one by one: one that has no package for this machine is named, and its column is missing.
bench: $(VENV)/.tools build ## speed beside other libraries (see benchmarks/README.md)
	@for rival in $(call requirements,bench); do $(PIP) "$$rival" || echo "note: $$rival does not install here, and is left out" >&2; done
	$(PY) benchmarks/speed.py $(ARGS)

bench-train: $(VENV)/.tools build ## speed and memory of training beside other libraries
	@for rival in $(call requirements,bench-train); do $(PIP) "$$rival" || echo "note: $$rival does not install here, and is left out" >&2; done
	$(PY) benchmarks/train.py $(ARGS)

instructions: $(VENV)/.maturin ## instructions of the engine's kernels beside those of before (needs valgrind)
	$(PY) benchmarks/instructions.py $(ARGS)

format: $(VENV)/.tools ## rewrite the sources in the project's format
	$(PY) -m ruff check --fix $(PYTHON_SOURCES)
	$(PY) -m ruff format $(PYTHON_SOURCES)
	cargo fmt --all

clean: ## remove all that was built, .venv too
	rm -rf $(VENV) target build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find python tests benchmarks fuzz examples .ci -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
	rm -f python/digram/_native*.so python/digram/_native*.pyd
