# SPDX-License-Identifier: Apache-2.0
# Everything from a checkout, with nothing but Python 3.10-3.12 and a C++ compiler. Each target does the set-up that it
# needs, once. PYTHON=python3.12 chooses the Python.

SHELL := /bin/bash
.DEFAULT_GOAL := help
export PYTHON HEADLESS HASHES
# What is imported compiles itself once, also where the environment forbids it, as containers' often does: else each of
# the nodes and each of the tests' workers would compile all of it anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help
help:  ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

.PHONY: build
build:  ## environment, interfaces and package, ready to run
	@scripts/setup .venv requirements.txt
	@scripts/build & scripts/kernels; kernels=$$?; wait $$! && exit $$kernels

# The demo doesn't wait for kernels that its scene has no use for: these are compiled by whoever needs them first.
.PHONY: demo
demo:  ## HRP-2 stands, squats, is pushed, steps when it must, on a local page; HEADLESS=1 writes out/ and ends by itself
	@scripts/setup .venv requirements.txt
	@scripts/build & scripts/kernels demo; kernels=$$?; wait $$! && exit $$kernels
	@scripts/run python -m humanoid_ros.demo

# Three workers for two cores, up to eight: many tests wait for nodes. Those of one file stay together and share what they
# have started.
WORKERS = -n $$(( $$(nproc) < 6 ? ($$(nproc) * 3 + 1) / 2 : 8 )) --dist loadfile

.PHONY: build-test
build-test: build
	@scripts/setup .venv requirements-test.txt

.PHONY: test
test: build-test  ## all tests but the slow ones and the studies'; TESTS="test/humanoid_sim -k slope" for some of them
	@scripts/run python -m pytest $(WORKERS) -m "not slow" $(or $(TESTS),test)

.PHONY: test-studies
test-studies: build-test  ## the tests of the studies but the slow ones
	@scripts/run python -m pytest $(WORKERS) -m "not slow" studies/test

.PHONY: test-slow
test-slow: build-test  ## the slow tests, the studies' too
	@scripts/run python -m pytest $(WORKERS) -m slow $(TESTS)

.PHONY: test-everywhere
test-everywhere: build-test  ## all tests, slow ones too, in the arithmetic of other processors and on a busy one: hours
	@scripts/run python test/everywhere.py -- $(WORKERS) $(TESTS)

.PHONY: soak
soak: build-test  ## the whole stack for an hour, walking and planning; then each mechanism, dragged at random; MINUTES=5 for less
	@scripts/run python test/soak.py --minutes $(or $(MINUTES),60)
	@scripts/run python benchmark/dragging.py --minutes $(or $(MINUTES),60)

.PHONY: mutants
mutants: build  ## breaks the stack in one place after the other: do the tests notice? ROWS="000-F051 003" for some rows
	@scripts/run python test/mutations/run.py -j $$(nproc) $(ROWS)

.PHONY: coverage
coverage:  ## the features of the theses, with their states and tests, in out/coverage.md
	@scripts/setup .venv requirements.txt
	@mkdir -p out
	@.venv/bin/python scripts/feature_table.py > out/coverage.md
	@sed -n 3p out/coverage.md; echo "-- out/coverage.md"

.PHONY: test-pin3
test-pin3:  ## the libraries on Pinocchio 3, as ROS 2 Jazzy's apt carries it
	@scripts/setup .venv-pin3 requirements-pin3.txt
	@.venv-pin3/bin/python -m pytest $(WORKERS) -m "not slow" test/humanoid_model test/humanoid_codegen test/humanoid_sim test/humanoid_planner $(TESTS)

.PHONY: bench
bench: build  ## our figures beside the peers', which have an environment of their own
	@scripts/setup .venv-peers benchmark/requirements.txt
	@scripts/run python benchmark/standing.py --peers .venv-peers/bin/python
	@for name in creep free_boxes robots walking falls; do scripts/run python benchmark/$$name.py --peers .venv-peers/bin/python; done
	@scripts/run python benchmark/contact_solvers.py
	@scripts/run python benchmark/detection.py
	@scripts/run python benchmark/integration.py
	@scripts/run python benchmark/generated_operations.py --peers .venv-peers/bin/python
	@scripts/run python benchmark/generated_dynamics.py --peers .venv-peers/bin/python
	@scripts/run python benchmark/gait_space.py
	@scripts/setup .venv-crocoddyl benchmark/gait_requirements.txt
	@scripts/run python benchmark/gait_peers.py --peers .venv-crocoddyl/bin/python
	@scripts/run python benchmark/equilibrium.py --peers .venv-peers/bin/python
	@scripts/run python benchmark/kinematics.py --peers .venv-peers/bin/python
	@scripts/run python benchmark/distances.py
	@scripts/run python benchmark/postures.py

.PHONY: metrics
metrics:  ## the structure in numbers: layers, import cycles, argument lists, classes, callbacks
	@scripts/setup .venv requirements.txt
	@.venv/bin/python test/ground/structure.py

.PHONY: lint
lint:  ## ruff and mypy
	@scripts/setup .venv requirements.txt
	@scripts/setup .venv requirements-test.txt
	.venv/bin/ruff check .
	.venv/bin/mypy

.PHONY: docs
docs: build  ## docs/ and the public names of all packages as a site in out/site
	@scripts/setup .venv-docs requirements-docs.txt
	@mkdir -p out
	@scripts/run python scripts/node_pages.py > out/nodes.md
	@.venv-docs/bin/mkdocs build --quiet
	@echo "-- out/site/index.html"

.PHONY: clean
clean:  ## remove what builds and tests left behind; the environments stay
	rm -rf build install log out dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +

.PHONY: clean-all
clean-all: clean  ## remove the environments too
	rm -rf .venv .venv-pin3 .venv-peers .venv-docs
