# Two commands do everything on a fresh machine: `make run` and `make test`.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL := $(PIP) install --require-hashes --no-build-isolation --no-deps
export PIP_ROOT_USER_ACTION := ignore
export PYTHONDONTWRITEBYTECODE :=
LOCK := $(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-header --no-annotate

.DEFAULT_GOAL := help
.PHONY: help run demo test check unit format lock clean
.DELETE_ON_ERROR:

help: ## Show what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/'

run: $(VENV)/run.stamp ## Run everything on this machine (UP_ARGS="--web-port 8080" and the like)
	@exec $(BIN)/switchgear up $(UP_ARGS)

demo: $(VENV)/run.stamp ## Play the story and judge it (SABOTAGE=parallel|double|early-ready|lost)
	@SABOTAGE="$(SABOTAGE)" $(BIN)/switchgear demo $(DEMO_ARGS)

check: $(VENV)/test.stamp ## All static checks, and the unit tests
	$(MAKE) --no-print-directory static
	$(BIN)/python -m pytest -q --ignore=tests/integration --ignore=tests/acceptance

static: $(VENV)/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
.PHONY: static

test: $(VENV)/test.stamp ## All checks and all tests, with coverage by branch
	$(MAKE) --no-print-directory static
	$(BIN)/python tests/covered.py

format: $(VENV)/test.stamp ## Put the code into its form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(VENV)/test.stamp ## Lock the newest versions that the .in files allow
	$(LOCK) --upgrade -o requirements/run.txt requirements/run.in
	$(LOCK) --upgrade -o requirements/build.txt requirements/build.in
	$(LOCK) --upgrade -o requirements/test.txt requirements/test.in

clean: ## Remove what was installed and cached; state folders stay
	rm -rf $(VENV) .cache .hypothesis

# A virtual environment of the checkout. Nothing is fetched that has no hash: what comes as source is
# built with the locked tools, not in an environment that pip would fill by itself.
$(VENV)/venv.stamp: requirements/build.txt
	@test -n "$(PYTHON)" || { echo "make: Python 3.11 is needed, and there is no python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "make: Python 3.11 or newer is needed; say which with PYTHON=" >&2; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' || \
		{ echo "make: this Python has no venv (Debian: apt install python3-venv)" >&2; exit 1; }
	@echo "making a virtual environment in $(VENV)"
	@rm -rf $(VENV)
	@"$(PYTHON)" -m venv $(VENV)
	@$(INSTALL) -r requirements/build.txt
	@touch $@

$(VENV)/run.stamp: $(VENV)/venv.stamp requirements/run.txt setup.cfg
	@echo "installing what Switchgear needs (locked, with hashes)"
	@$(INSTALL) -r requirements/run.txt
	@$(PIP) install --no-index --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/test.stamp: $(VENV)/run.stamp requirements/test.txt
	@echo "installing what the tests need (locked, with hashes)"
	@$(INSTALL) -r requirements/test.txt
	@touch $@
