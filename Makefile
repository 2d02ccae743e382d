# `make demo` and `make test` set up everything they need in .venv; `make bench` uses an environment of its own, with the peers.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
# what its networks need, without its sampler, which would bring other versions of NumPy and SciPy
PYHGF := pyhgf 'jax<0.4.32' 'jaxlib<0.4.32' ml_dtypes opt_einsum seaborn graphviz networkx

.PHONY: demo tour test lint bench clean

demo: $(VENV)/.ready
	$(VENV)/bin/volatilis paper all --size quick --out out/paper
	@echo "open out/paper/report.html"

tour: $(VENV)/.ready
	$(VENV)/bin/python examples/demo.py --out out

test: $(VENV)/.ready
	$(VENV)/bin/python -m pytest --numprocesses auto $(PYTEST_OPTIONS)

lint: $(VENV)/.ready
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: $(BENCH)/.ready
	$(BENCH)/bin/python -m benchmarks.run $(BENCH_OPTIONS)

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test,lint]'
	touch $@

$(BENCH)/.ready: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $(PYHGF) || echo "pyhgf does not install here: measured without it"
	touch $@

clean:
	rm -rf $(VENV) $(BENCH) out build dist .pytest_cache .mypy_cache .ruff_cache
