"""What the values of a stream are like, as far as they themselves show it: binary, or a level and a noise."""

from __future__ import annotations

import math


class Scale:
    """Learns from the first values; the noise more exactly whenever there are twice as many.

    Each value is compared with the mean of its stretch, from one drift to the next, so that drifts are not taken for noise.
    """

    def __init__(self, warm_up: int) -> None:
        self.warm_up = warm_up
        self.first: list[float] = []  # values, and no more than the warm-up has
        self.is_binary = True  # so far
        self._level, self._noise, self._due = 0.0, 0.0, warm_up
        self._seen, self._squares = 0, 0.0  # all values; squares around the means of stretches
        self._count, self._mean, self._stretches = 0, 0.0, 1

    @property
    def is_known(self) -> bool:
        """Whether values can be scaled: constant ones say nothing of noise."""
        return self._seen >= self.warm_up and (self.is_binary or self._noise > 0.0)

    @property
    def is_longer(self) -> bool:
        """Whether more values came than the warm-up has."""
        return self._seen > self.warm_up

    def see(self, value: float) -> None:
        """One more value; NaN is missing."""
        if value != value:
            return
        if len(self.first) < self.warm_up:
            self.first.append(value)
        self.is_binary = self.is_binary and value in (0.0, 1.0)
        self._seen, self._count = self._seen + 1, self._count + 1
        apart = value - self._mean
        self._mean += apart / self._count
        self._squares += apart * (value - self._mean)
        if self._noise == 0.0 and self._seen >= self.warm_up:
            self._noise, self._level = self._measured(), self._mean
        elif self._seen >= self._due:
            self._noise, self._due = self._measured(), 2 * self._seen

    def start_at(self, value: float) -> None:
        """A drift was found: a new stretch, around this value."""
        if value == value:
            self._count, self._mean, self._stretches, self._level = 0, 0.0, self._stretches + 1, value

    def scaled(self, value: float) -> float:
        """In units of the noise, from the level; binary values as they are."""
        return value if self.is_binary else (value - self._level) / self._noise

    def _measured(self) -> float:
        return math.sqrt(self._squares / max(self._seen - self._stretches, 1))
