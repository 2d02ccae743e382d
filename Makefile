# Every target sets up what it needs: .venv for the program, with the test tools once `make test` asks for them; .venv-bench for the peers.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
PIP := -m pip install --quiet --disable-pip-version-check
# what its networks need, without its sampler, which would bring other versions of NumPy and SciPy
PYHGF := pyhgf 'jax<0.4.32' 'jaxlib<0.4.32' ml_dtypes opt_einsum seaborn graphviz networkx

.PHONY: demo tour explorer docs dist test test-all fuzz lint bench clean

demo: $(VENV)/.ready
	$(VENV)/bin/volatilis paper all --size quick --out out/paper
	@echo "open out/paper/report.html"

tour: $(VENV)/.ready
	$(VENV)/bin/python examples/demo.py --out out

# One page with all learners, compiled for browsers; needs wasm-ld (Debian: apt-get install lld)
explorer: $(VENV)/.ready
	$(VENV)/bin/python -m volatilis.html.explorer --out out/explorer
	@echo "open out/explorer/index.html"

# The documentation site, with the explorer in it
docs: $(VENV)/.docs
	$(VENV)/bin/python -m sphinx -q -W --keep-going -b html docs out/docs
	$(VENV)/bin/python -m volatilis.html.explorer --out out/docs/explorer --home ../index.html
	@echo "open out/docs/index.html"

# Source archive and wheels; those for Linux carry kernels compiled ahead. Checked by twine, and tried in an empty environment.
dist: $(VENV)/.dist
	$(VENV)/bin/python -m release.wheels --out dist $(DIST_OPTIONS)

# Each worker takes tests that lie side by side, so that it compiles what they share once.
test: $(VENV)/.test
	$(VENV)/bin/python -m pytest --numprocesses auto --dist worksteal $(PYTEST_OPTIONS)

# The core tests with every Python from 3.11 up on this machine, and with the lowest and the newest versions of what is needed
test-all:
	$(PYTHON) tests/versions.py $(VERSIONS_OPTIONS)

# Wild parameters and observations, for as long as one likes: make fuzz FUZZ_OPTIONS='--minutes 60'
fuzz: $(VENV)/.test
	$(VENV)/bin/python -m tests.fuzz $(FUZZ_OPTIONS)

lint: $(VENV)/.test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: $(BENCH)/.ready
	$(BENCH)/bin/python -m benchmarks.run $(BENCH_OPTIONS)

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python $(PIP) --editable .
	touch $@

$(VENV)/.test: $(VENV)/.ready
	$(VENV)/bin/python $(PIP) --editable '.[test,lint,docs]'
	touch $@

$(VENV)/.docs: $(VENV)/.ready
	$(VENV)/bin/python $(PIP) --editable '.[docs]'
	touch $@

$(VENV)/.dist: $(VENV)/.ready
	$(VENV)/bin/python $(PIP) --editable '.[dist]'
	touch $@

$(BENCH)/.ready: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python $(PIP) --editable '.[bench]'
	$(BENCH)/bin/python $(PIP) --no-deps $(PYHGF) || echo "pyhgf does not install here: measured without it"
	touch $@

clean:
	rm -rf $(VENV) $(BENCH) .venv-versions out build dist .pytest_cache .mypy_cache .ruff_cache
