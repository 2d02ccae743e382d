"""Markov chains whose transition probabilities change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis._core.fields import Rule, derived, whole_number
from volatilis.families._base import AcceptedNumbers
from volatilis.families._chains import ChainTuple, chain
from volatilis.families._dirichlet import plausible_count
from volatilis.families._kinds import AnyFamily, FamilyRecord
from volatilis.families._observations import whole_observations
from volatilis.families.categorical import Categorical, SymbolCount
from volatilis.families.given import Given

MOST = 100_000  # contexts
Symbols = Annotated[int, Rule(whole_number, lambda v: 2 <= v <= 300, "a whole number from 2 to 300")]
Order = Annotated[int, Rule(whole_number, lambda v: 1 <= v <= 16, "a whole number from 1 to 16")]


@chain(
    FamilyRecord(
        name="transitions",
        place=210,
        observes="one of k symbols 0, 1, ..., k - 1",
        likelihood="$y_t = j$ with probability $p_{j | i}$, where $i = y_{t-1}$",
        theta="$p_{j | i}$ (`p[0|0]`, `p[1|0]`, ...)",
        prior=r"$p_{\cdot | i} \sim \mathrm{Dirichlet}(s, \ldots, s)$",
    )
)
class Transitions(ChainTuple):
    """y_t is j with probability p[j|i], i the symbol before it; at each change all p[.|i] ~ Dirichlet(s, ..., s) anew.

    theta is p[j|i] for all j of i = 0, then of i = 1, and so on. The first symbol after a start, a reset or a gap is conditioned
    on, not scored. With a higher order i is the row of symbols before it, the oldest first: p[1|0,1] comes after 0, 1.

        k       how many symbols there are
        s       the prior's pseudo-count of each transition
        order   how many symbols before it decide about the next

    >>> import volatilis as vl
    >>> vl.run(vl.Merge(vl.transitions(2), p_c=0.01, n=20), [0, 1, 0, 1, 0]).mean[-1].round(3)
    array([0.253, 0.747, 0.749, 0.251])
    """

    k: Symbols
    s: SymbolCount = 1.0
    order: Order = 1
    family: AnyFamily = derived()

    def write_row(self, memory: np.ndarray, past: int, at: int, y: float) -> None:
        context = 0.0
        for back in range(self.order):
            context = context * self.k + memory[past + self.order - 1 - back]
        memory[at] = context
        memory[at + 1] = y

    @staticmethod
    def _derive(k: int, s: float, order: int) -> dict[str, Any]:
        if k**order > MOST:
            raise ValueError(f"Transitions: {k} symbols and order {order} have {k**order:,} pasts; {MOST:,} at most are accepted")
        return {"family": Given(Categorical(k, s), k**order)}

    @python_only
    def observations(self, ys: object) -> tuple[np.ndarray, np.ndarray]:
        return whole_observations("Transitions", ys, lambda v: (v >= 0) & (v < self.k), f"a whole number from 0 to {self.k - 1}")

    @python_only
    def plausible(self, sequences: Sequence[np.ndarray]) -> Transitions:
        """From what came after each row of `order` symbols."""
        after: dict[tuple[int, ...], list[int]] = {}
        for one in sequences:
            for t in range(self.order, len(one)):
                after.setdefault(tuple(one[t - self.order : t].tolist()), []).append(int(one[t]))
        return transitions(self.k, plausible_count(self.k, [np.array(symbols) for symbols in after.values()]), self.order)

    @python_only
    def accepted_numbers(self) -> AcceptedNumbers:
        return AcceptedNumbers(0.0, self.k - 1.0, whole=True)

    @python_only
    def categories(self) -> int:
        return self.k

    @python_only
    def invalid_memory(self, memory: np.ndarray) -> str | None:
        symbols, known = memory[..., 1 : 1 + self.order], memory[..., 0]
        if not np.isin(known, np.arange(self.order + 1)).all() or not np.isin(symbols, np.arange(self.k)).all():
            return f"the symbols before are not from 0 to {self.k - 1}"
        return None

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        def past(context: int) -> str:
            return ",".join(str(context // self.k**back % self.k) for back in reversed(range(self.order)))

        return tuple(f"p[{j}|{past(c)}]" for c in range(self.k**self.order) for j in range(self.k))

    @python_only
    def sample_segment(
        self, theta: np.ndarray, n: int, rng: np.random.Generator, given: np.ndarray | None, past: np.ndarray
    ) -> np.ndarray:
        """The first symbols of a sequence, which have no past, are drawn evenly."""
        if given is not None:
            raise TypeError("Transitions finds the context by itself, so it takes no given")
        symbols = [int(symbol) for symbol in past[-self.order :]]
        cumulative = np.cumsum(theta.reshape(-1, self.k), axis=1)
        for u in rng.random(n):
            if len(symbols) < self.order:
                symbols.append(int(u * self.k))
                continue
            context = 0
            for symbol in symbols[-self.order :]:
                context = context * self.k + symbol
            symbols.append(min(int(np.searchsorted(cumulative[context], u, side="right")), self.k - 1))
        return np.array(symbols[len(symbols) - n :], dtype=np.int64)

    @python_only
    def sample_broad_in(
        self, spread: float, n: int, rng: np.random.Generator, given: np.ndarray | None, past: np.ndarray
    ) -> np.ndarray:
        return rng.integers(0, self.k, n)


def transitions(k: int, s: float = 1.0, order: int = 1) -> Transitions:
    """A chain of k symbols whose transition probabilities change: `Transitions(k, s, order)`.

    k       how many symbols there are
    s       the prior count of each transition
    order   how many symbols before are the context

    Returns the family. Raises ValueError for numbers that are not accepted.

    >>> import volatilis as vl
    >>> vl.transitions(2).parameter_names()
    ('p[0|0]', 'p[1|0]', 'p[0|1]', 'p[1|1]')
    """
    return Transitions(k, s, order)
