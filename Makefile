# Everything one types. Needs make and a Python 3.10 to 3.13 with venv; nothing else, no Docker, no JDK.
# More for a command: make up ARGS="payments", make logs ARGS="kafka", make test ARGS="-k kafka".

ARGS ?=
VENV := .venv
PY := $(VENV)/bin/python
UV := $(VENV)/bin/uv
LAKEHOUSE := $(VENV)/bin/lakehouse
PYTHONS := $(PYTHON) python3 python3.13 python3.12 python3.11 python3.10

# A venv that was copied, moved or lost its Python is made anew, whatever its stamps say. A sound one
# is never cleared: services run on the Java and the jars inside it.
FIT := (3, 10) <= sys.version_info < (3, 14)
HERE := not os.path.exists("$(VENV)/.made") or open("$(VENV)/.made").read() == sys.prefix
CLEAR := $(shell $(PY) -c 'import os, sys; sys.exit(not ($(FIT) and ($(HERE))))' 2>/dev/null \
	|| echo --clear)
ifneq ($(CLEAR),)
.PHONY: $(VENV)/.made
endif

.DEFAULT_GOAL := help
FEEDS := charges refunds disputes subscriptions
.PHONY: help setup demo test up down restart wipe status logs bench lint lock $(FEEDS) payments stop
.NOTPARALLEL:

help: ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | \
		while IFS='|' read -r name text; do printf '%-16s %s\n' "$$name" "$$text"; done

setup: $(VENV)/.synced ## install what is missing: Python packages and jars, pinned by checksum
	@$(PY) -m lakehouse_assets.services.setup

demo: setup ## start, produce a burst, build every table, run every check, print what happened
	@$(LAKEHOUSE) demo $(ARGS)

test: setup ## run every test, against the real services
	@$(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(ARGS)

up: setup ## live: services, generators, sensors and the Dagster UI
	@$(LAKEHOUSE) up $(ARGS)

down: | $(LAKEHOUSE) ## stop everything this lake started; its data stays
	@$(LAKEHOUSE) down $(ARGS)

restart: setup ## down, then up
	@$(LAKEHOUSE) restart $(ARGS)

wipe: | $(LAKEHOUSE) ## stop everything and delete this lake's data (not the packages and jars)
	@$(LAKEHOUSE) wipe $(ARGS)

status: | $(LAKEHOUSE) ## services, tables, lag, last checks
	@$(LAKEHOUSE) status $(ARGS)

logs: | $(LAKEHOUSE) ## follow the services' logs
	@$(LAKEHOUSE) logs --follow $(ARGS)

payments: setup ## send all payment events in the background; make charges, refunds, disputes, subscriptions: one feed
	@$(LAKEHOUSE) up kafka
	@$(LAKEHOUSE) generate payments --background $(ARGS)

$(FEEDS): setup
	@$(LAKEHOUSE) up kafka
	@$(LAKEHOUSE) generate payments --only $@ --background $(ARGS)

stop: | $(LAKEHOUSE) ## stop sending events
	@$(LAKEHOUSE) down generate

bench: setup ## measure, e.g. make bench ARGS="ingest --json"
	@$(LAKEHOUSE) bench $(ARGS)

lint: setup ## ruff and mypy
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/mypy

lock: setup ## pin anew what pyproject.toml and deploy/jars.xml ask for
	@$(UV) pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-emit-index-url --all-extras \
		pyproject.toml -o requirements.lock
	@$(PY) -m lakehouse_assets.services.setup --lock

$(LAKEHOUSE):
	@echo "Not set up yet. Run: make setup" >&2; exit 1

# A stamp goes first and comes back last, so that it never outlives a run that broke half-way.
$(VENV)/.synced: requirements.lock pyproject.toml $(VENV)/.made
	@rm -f $@
	@echo "Installing the Python packages of requirements.lock" >&2
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > $(VENV)/uv.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/uv.txt
	@$(UV) pip sync --quiet --python $(PY) --require-hashes requirements.lock
	@$(UV) pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.made:
	@for python in $(PYTHONS); do \
		"$$python" -c 'import sys, ensurepip; sys.exit(not $(FIT))' \
			2>/dev/null && exec "$$python" -m venv $(CLEAR) $(VENV); \
	done; \
	echo "No Python 3.10 to 3.13 with venv among: $(PYTHONS)." >&2; \
	echo "Install one (Debian: apt install python3 python3-venv) or name it:" \
		"make setup PYTHON=/path/to/python3.12" >&2; exit 1
	@$(PY) -c 'import sys; print(sys.prefix, end="")' > $@
