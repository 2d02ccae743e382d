"""How probable a person's responses are under a learner and a response model: one compiled loop over the trials of a part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from volatilis._compiler import Call, words_of
from volatilis._core.seeds import generator_key
from volatilis.behaviour.drivers import score_responses, score_with_copies
from volatilis.behaviour.people import Person, Trials
from volatilis.behaviour.responses._base import ResponseModel
from volatilis.behaviour.situations import situation_of
from volatilis.learners._base import Learner
from volatilis.running.drivers import OBSERVE, RESET

Make = Callable[
    [Mapping[str, float]], tuple[Learner, ResponseModel]
]  # learner and response model from values of what is free or in a column


def log_likelihoods(learner: Learner, model: ResponseModel, trials: Trials, keys: Sequence[int] = (0,)) -> np.ndarray:
    """The log probability of each response given those before it; 0 where none counts.

    learner   with all its parameters
    model     a response model, such as GaussianNoise(8.0)
    trials    one part of a person
    keys      seeds of learners that sample: the likelihood is the mean over them

    Returns a number for each trial. Raises TypeError for a learner that the response model cannot be used with.

    >>> import volatilis as vl
    >>> from volatilis.behaviour import GaussianNoise, Model, Source, log_likelihoods, read_people
    >>> model = Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=50", "varsmile:m=free", "gaussian:sd=free")
    >>> person = read_people(Source("people.csv"), model).persons[0]
    >>> learner = vl.VarSMiLe(vl.Gaussian(sigma=10.0, mu_0=150.0, sigma_0=50.0), m=0.1)
    >>> log_likelihoods(learner, GaussianNoise(8.0), person.parts[0])[:3].round(2)
    array([-5.08, -4.12, -3.23])
    """
    part = _kind(keys)(lambda values: (learner, model), trials, {}, np.array(keys, dtype=np.uint64))
    part.run(())
    return part.out


def log_likelihood(make: Make, person: Person, keys: Sequence[int] = (0,)) -> float:
    """Of all responses, for values that `make` knows."""
    return Likelihood(make, person, {}, keys)(())


class Likelihood:
    """The log likelihood of a person's responses as a function of free parameters.

    make     gives learner and response model for the values of free parameters and a part's columns
    ends     what is free, and the ends of its range: both are tried at once, so that a wrong one is known at the beginning
    keys     of random generators, for a learner that samples: several make as many copies of it (`score_with_copies`), and the
             result's exponential has the likelihood as its expectation; one makes one run
    """

    def __init__(self, make: Make, person: Person, ends: Mapping[str, tuple[float, float]], keys: Sequence[int] = (0,)) -> None:
        kind = _kind(keys)
        self._parts = [kind(make, part, ends, np.array(keys, dtype=np.uint64)) for part in person.parts]

    def __call__(self, values: Sequence[float]) -> float:
        """For values in the order of `ends`."""
        total = 0.0
        for part in self._parts:
            total += part.run(values)
        return total


class _Part:
    """One part's state, room for its results, and the native call bound to them.

    The call's arguments are words in memory, and some of them are the free parameters: another value is written there, which
    takes next to no time. A parameter that is not just a word (others are derived from it) makes learner and response anew.
    """

    def __init__(self, make: Make, trials: Trials, ends: Mapping[str, tuple[float, float]], keys: np.ndarray) -> None:
        self._make, self._trials, self._names, self._keys = make, trials, tuple(ends), keys
        self._last, self.out = np.empty(1), np.empty(trials.events.size)
        low = {name: end[0] for name, end in ends.items()}
        self._learner, self._model = self._made(low)
        self._model.check_learner(self._learner)
        self._learner.check_observations(trials.values[trials.events % RESET == OBSERVE])
        self._model.check_responses(self._learner.family, trials.given[trials.scored])
        self._prepare()
        self._bind()
        self._places = self._find(low, ends) if self._words is not None else None

    def _made(self, values: Mapping[str, float]) -> tuple[Learner, ResponseModel]:
        return self._make({**self._trials.columns, **values})

    def _prepare(self) -> None:
        """The state, and what else the loop works with."""
        self._state, self._progress = self._learner.init(0), np.zeros(1, dtype=np.int64)
        self._random: np.ndarray | None = self._state.generator()
        self._driver: Callable[..., None] = score_responses
        self._rooms: tuple[np.ndarray, ...] = (self._progress, self._last, self.out)

    def _bind(self) -> None:
        trials = self._trials
        arguments = (
            situation_of(self._learner, self._model, trials),
            trials.values,
            trials.events,
            trials.given,
            trials.scored,
            trials.after,
            *self._rooms,
        )
        call = Call(self._driver, self._learner, self._model, self._state, *arguments, release_gil=True)
        self._call, words = call.run, call.words()
        self._words = None if words is None else words.view(np.float64)

    def _find(self, low: Mapping[str, float], ends: Mapping[str, tuple[float, float]]) -> list[tuple[int, int]] | None:
        """Which words each parameter is, as pairs (place, number of the parameter); None if one is more than words."""
        pairs, at_low = [], words_of(self._learner, self._model)
        for number, (name, (first, last)) in enumerate(ends.items()):
            at_high = words_of(*self._made({**low, name: last}))
            places = np.flatnonzero(at_low != at_high) if at_low.shape == at_high.shape else np.zeros(0, dtype=int)
            if not places.size or np.any(at_low.view(float)[places] != first) or np.any(at_high.view(float)[places] != last):
                return None
            pairs += [(int(place), number) for place in places]
        return pairs

    def run(self, values: Sequence[float]) -> float:
        """The log likelihood for these values."""
        if self._places is not None and self._words is not None:
            for place, number in self._places:
                self._words[place] = values[number]
        else:
            self._learner, self._model = self._made(dict(zip(self._names, values, strict=True)))
            self._bind()
        self._go()
        return float(np.add.reduce(self.out))

    def _go(self) -> None:
        if self._random is not None:
            self._random[...] = self._keys[0]
        self._progress[0] = 0
        self._call()
        while self._progress[0] < self.out.size:
            self._grow()
            self._call()

    def _grow(self) -> None:
        self._state = self._learner.grow(self._state)
        self._random, words = self._state.generator(), self._words
        self._bind()
        if words is not None and self._words is not None and self._places is not None:
            for place, _ in self._places:
                self._words[place] = words[place]


def _kind(keys: Sequence[int]) -> type[_Part]:
    return _Part if len(keys) == 1 else _SampledPart


class _SampledPart(_Part):
    """The same for a learner that samples: as many copies of it as there are keys, and a generator for choosing among them."""

    def _prepare(self) -> None:
        copies = self._keys.size
        self._chooser = generator_key(np.random.SeedSequence(self._keys.tolist()))
        self._state, self._choosing = self._learner.init(0).many(copies), np.empty(1, dtype=np.uint64)
        self._driver = score_with_copies
        self._rooms = (self._choosing, self._last, np.empty(copies), np.empty(copies), self.out)

    def _go(self) -> None:
        self._state.generators().reshape(self._keys.size, -1)[:] = self._keys[:, None]
        self._choosing[0] = self._chooser
        self._call()
