# Every target sets up what it needs: .venv for the program, with the test tools once `make test` asks for them; .venv-bench for the peers.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
PIP := -m pip install --quiet --disable-pip-version-check
# what its networks need, without its sampler, which would bring other versions of NumPy and SciPy
PYHGF := pyhgf 'jax<0.4.32' 'jaxlib<0.4.32' ml_dtypes opt_einsum seaborn graphviz networkx

.PHONY: demo tour test test-all fuzz lint bench clean

demo: $(VENV)/.ready
	$(VENV)/bin/volatilis paper all --size quick --out out/paper
	@echo "open out/paper/report.html"

tour: $(VENV)/.ready
	$(VENV)/bin/python examples/demo.py --out out

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
	$(VENV)/bin/python $(PIP) --editable '.[test,lint]'
	touch $@

$(BENCH)/.ready: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python $(PIP) --editable '.[bench]'
	$(BENCH)/bin/python $(PIP) --no-deps $(PYHGF) || echo "pyhgf does not install here: measured without it"
	touch $@

clean:
	rm -rf $(VENV) $(BENCH) .venv-versions out build dist .pytest_cache .mypy_cache .ruff_cache
