"""A cache of kernels that is a test's own: in this process, or in processes with a folder of the user's files."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap
from typing import Any

import pytest

import volatilis as vl
from volatilis._compiler import calls

RAYLEIGH = '''
import math
from typing import NamedTuple

import volatilis
{imports}


@volatilis.scalar_family
class Rayleigh(NamedTuple):
    """y ~ Rayleigh with density 2 theta y exp(-theta y^2), theta ~ Gamma(shape, rate)."""

    shape: float
    rate: float

    def prior_chi(self, row: int) -> float:
        return self.rate

    def prior_nu(self) -> float:
        return self.shape - 1.0

    def sufficient_statistic(self, y: float, row: int) -> float:
        return {statistic}

    def log_normalizer(self, chi, nu) -> float:
        return math.lgamma(nu + 1.0) - (nu + 1.0) * math.log(chi[0])

    def log_base_measure(self, y: float) -> float:
        return math.log(2.0 * y)

    def mean(self, chi, nu, k: int) -> float:
        return (nu + 1.0) / chi[0]

    def variance(self, chi, nu, k: int) -> float:
        return (nu + 1.0) / chi[0] ** 2

    def flat_chi(self, row: int) -> float:
        return 0.0

    def flat_nu(self) -> float:
        return 0.0
'''
RUN = """
import json, sys
import volatilis as vl
from rayleigh import Rayleigh
trace = vl.run(vl.Leaky(Rayleigh(2.0, 1.0), 0.9), [0.5, 1.0, 2.0])
print(json.dumps({"mean": trace.mean.tolist(), "numba": "numba" in sys.modules}))
"""


def rayleigh(statistic: str = "y * y", imports: str = "") -> str:
    return RAYLEIGH.replace("{statistic}", statistic).replace("{imports}", imports)


class Workshop:
    """A folder with the user's files, and a cache."""

    def __init__(self, folder: pathlib.Path, cache: pathlib.Path | None = None) -> None:
        self.folder, self.cache = folder, cache or folder / "cache"
        folder.mkdir(exist_ok=True)

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.write_text(textwrap.dedent(text))
        # an edit within the same second and of the same size must not be hidden by a stale __pycache__
        shutil.rmtree(self.folder / "__pycache__", ignore_errors=True)
        return path

    def start(self, *args: str, **environment: str) -> subprocess.Popen[str]:
        variables = os.environ | {"VOLATILIS_CACHE_DIR": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"} | environment
        variables["PYTHONPATH"] = os.pathsep.join([str(self.folder), variables.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, *args], cwd=self.folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, program: str, **environment: str) -> Any:
        """What the program printed last, read as JSON; its warnings in `stderr`."""
        process = self.start("-c", textwrap.dedent(program), **environment)
        output, self.stderr = process.communicate(timeout=600)
        assert process.returncode == 0, self.stderr[-2000:]
        return json.loads(output.splitlines()[-1])

    def kernels(self) -> list[pathlib.Path]:
        return sorted(self.cache.glob("*.kernel"))


def first_mean(statistic: Any) -> list[float]:
    """Leaky's first step: chi = phi(y) and nu = 1, so this family's mean is 2 / phi(y)."""
    return [2.0 / statistic(0.5)]


# The cheapest kernel that there is
SMALL = """
    import json, sys
    import volatilis as vl
    trace = vl.run(vl.Leaky(vl.Gaussian(1.0), 0.5), [1.0, 2.0])
    print(json.dumps({"mean": trace.mean.tolist(), "numba": "numba" in sys.modules}))
"""
SMALL_MEAN = [1.0, 2.5 / 1.5]


class OwnCache:
    """A cache on disk for this process alone. Every run begins as a new process does: nothing is loaded yet."""

    def __init__(self, folder: pathlib.Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self._patch, self._compilations = folder, patch, 0
        translate = calls.translate

        def counted(*args: Any) -> Any:
            self._compilations += 1
            return translate(*args)

        patch.setenv("VOLATILIS_CACHE_DIR", str(folder))
        patch.setattr(calls, "translate", counted)

    def put(self, kernel: pathlib.Path) -> pathlib.Path:
        """A copy of a kernel, as if it had been compiled here."""
        self.folder.mkdir(mode=0o700)
        return pathlib.Path(shutil.copy2(kernel, self.folder))

    def forget(self) -> None:
        """As a new process: what was loaded is not known any more."""
        self._patch.setattr(calls, "_by_key", {})
        self._patch.setattr(calls, "_by_types", {})

    def run(self, learner: Any, y: list[float]) -> tuple[list[float], bool]:
        """The means, and whether anything was compiled."""
        self.forget()
        before = self._compilations
        return vl.run(learner, y).mean.tolist(), self._compilations > before

    def compiles_small(self) -> bool:
        """Run the small example; whether it was compiled."""
        means, compiled = self.run(vl.Leaky(vl.Gaussian(1.0), 0.5), [1.0, 2.0])
        assert means == pytest.approx(SMALL_MEAN, rel=1e-15)
        return compiled

    def kernels(self) -> list[pathlib.Path]:
        return sorted(self.folder.glob("*.kernel"))
