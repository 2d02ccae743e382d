"""People's behaviour: a confusion matrix of six learners, with simulated people fitted by all of them."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

import volatilis as vl
from volatilis.behaviour.cluster import How
from volatilis.behaviour.models import Model
from volatilis.behaviour.recovery import recover
from volatilis.behaviour.scoring import Person, Trials
from volatilis.behaviour.simulation import simulate

FAMILY = vl.Gaussian(sigma=10.0, mu_0=150.0, sigma_0=50.0)
FAMILY_TEXT = "gaussian:sigma=10,mu_0=150,sigma_0=50"
LEARNERS = ("varsmile:m=free", "nas12*:p_c=free", "nas10*:p_c=free", "merge:n=20,p_c=free", "smile:m=free", "leaky:omega=free")


class Measured(NamedTuple):
    """Seconds of wall time, fits, and the share of simulated people whose best model is the true one."""

    seconds: float
    fits: int
    right: float


def confusion_matrix(people: int = 100, trials: int = 500, starts: int = 5, workers: int = 2) -> Measured:
    """So many simulated people of each learner on designs of so many trials; first, people to simulate from are fitted."""
    models = [Model.parse(FAMILY_TEXT, learner, "gaussian:sd=free") for learner in LEARNERS]
    designs = [_person(str(i), trials, i) for i in range(people)]
    _compile(models, designs[0])
    start = time.perf_counter()
    found = recover(models, designs, How(starts=starts, workers=workers))
    seconds = time.perf_counter() - start
    fits = len(models) * (len(designs) + len(found.truths))
    return Measured(seconds, fits, float(np.trace(found.counts()) / found.counts().sum()))


def _person(name: str, trials: int, seed: int) -> Person:
    """Follows VarSMiLe."""
    rng, y = np.random.default_rng(seed), vl.ChangingEnvironment(FAMILY, 0.1).sample(trials, seed=seed).y
    design = Person(name, (Trials(y, np.zeros(trials, dtype=np.uint8), np.zeros(trials), np.ones(trials, dtype=bool)),))
    model = Model.parse(FAMILY_TEXT, LEARNERS[0], "gaussian:sd=free")
    return simulate(model, {"m": rng.lognormal(-1.5, 0.5), "sd": rng.lognormal(2.0, 0.3)}, design, seed)


def _compile(models: list[Model], person: Person) -> None:
    recover(models, [person], How(starts=1, workers=1))


if __name__ == "__main__":
    print(confusion_matrix())
