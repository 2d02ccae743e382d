"""Which model do most people follow? Random-effects Bayesian model selection.

Each person n follows one model, drawn with probabilities r ~ Dirichlet(alpha_0), and has log evidence L_nk under model k. The
posterior of r is approximated by Dirichlet(alpha), Stephan et al. (2009):

    u_nk ~ exp(L_nk + psi(alpha_k) - psi(sum alpha)),   sum_k u_nk = 1,   alpha = alpha_0 + sum_n u_n

Where people's evidence is unclear (differences of one or two) this posterior is narrower than the exact one: exceedance may come
out 0.1 too high. Where it is clear the two agree.

The exceedance probability of a model is that of its r being the largest. It takes for granted that models differ in frequency;
the Bayesian omnibus risk (Rigoux et al. 2014) is the probability that they do not (r_k = 1 / K), and the protected exceedance
probability averages over both.

Stephan, Penny, Daunizeau, Moran, Friston (2009) NeuroImage 46, 1004.
Rigoux, Stephan, Friston, Daunizeau (2014) NeuroImage 84, 971.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ROUNDS, CLOSE = 1_000_000, 1e-10  # of one person; with many people who say little, each round gains little


class Selection(NamedTuple):
    """What can be said about a group; `select` returns it.

    alpha         of the Dirichlet posterior of the models' frequencies
    frequency     the expected share of people who follow each model
    assigned      P(person follows model), people x models
    exceedance    P(this model is the most frequent)
    protected     the same, allowing that none is
    omnibus_risk  P(all models are equally frequent)
    evidence      log evidence that frequencies differ (a bound) and that they are equal
    """

    alpha: np.ndarray
    frequency: np.ndarray
    assigned: np.ndarray
    exceedance: np.ndarray
    protected: np.ndarray
    omnibus_risk: float
    evidence: tuple[float, float]


def select(log_evidence: np.ndarray, alpha_0: float = 1.0) -> Selection:
    """Which model do people follow, and how many of them: random-effects model selection.

    log_evidence   of each person (row) under each model (column)
    alpha_0        the prior count of each model

    Returns a Selection. Raises ValueError for a table of another shape, and for what is not finite.

    >>> from volatilis.behaviour import select
    >>> select([[-10.0, -14.0], [-20.0, -25.0], [-12.0, -11.5]]).frequency.round(2)
    array([0.74, 0.26])
    """
    logs = np.asarray(log_evidence, dtype=float)
    if logs.ndim != 2 or 0 in logs.shape:
        raise ValueError(f"log evidence has the shape {logs.shape}; one row per person and one column per model are needed")
    if not np.all(np.isfinite(logs)):
        where = np.argwhere(~np.isfinite(logs))[0]
        raise ValueError(f"the log evidence of person {where[0] + 1} under model {where[1] + 1} is {logs[tuple(where)]}")
    if not 0.0 < alpha_0 < np.inf:
        raise ValueError(f"alpha_0 = {alpha_0} is not accepted; it must be above 0")
    models = logs.shape[1]
    alpha, assigned = _posterior(logs, alpha_0)
    evidence = _bound(logs, alpha_0, alpha, assigned), _equal(logs)
    risk = float(1.0 / (1.0 + np.exp(min(evidence[0] - evidence[1], 700.0)))) if models > 1 else 0.0
    exceeding = exceedance(alpha)
    protected = exceeding * (1.0 - risk) + risk / models
    return Selection(alpha, alpha / alpha.sum(), assigned, exceeding, protected, risk, evidence)


def _posterior(logs: np.ndarray, alpha_0: float) -> tuple[np.ndarray, np.ndarray]:
    from scipy.special import psi, softmax

    alpha = np.full(logs.shape[1], alpha_0 + logs.shape[0] / logs.shape[1])
    for _ in range(ROUNDS):
        assigned = softmax(logs + psi(alpha), axis=1)
        before, alpha = alpha, alpha_0 + assigned.sum(axis=0)
        if np.abs(alpha - before).max() < CLOSE:
            return alpha, assigned
    raise ValueError(f"model selection did not settle in {ROUNDS:,} rounds")


def _bound(logs: np.ndarray, alpha_0: float, alpha: np.ndarray, assigned: np.ndarray) -> float:
    """The free energy: a lower bound of log P(data), frequencies free."""
    from scipy.special import gammaln, psi, xlogy

    expected, prior = psi(alpha) - psi(alpha.sum()), np.full(alpha.size, alpha_0)

    def log_dirichlet(a: np.ndarray) -> float:
        return float(gammaln(a.sum()) - gammaln(a).sum() + (a - 1.0) @ expected)

    people = float((assigned * (logs + expected)).sum() - xlogy(assigned, assigned).sum())
    return people + log_dirichlet(prior) - log_dirichlet(alpha)


def _equal(logs: np.ndarray) -> float:
    """log P(data) where every model has the frequency 1 / K."""
    from scipy.special import logsumexp

    return float((logsumexp(logs, axis=1) - np.log(logs.shape[1])).sum())


def exceedance(alpha: np.ndarray) -> np.ndarray:
    """P(r_k is the largest) for r ~ Dirichlet(alpha), by quadrature, to about eight digits.

    r is proportional to independent gamma variables g, so P = E[prod_j P(g_j < g_k)] over g_k alone.
    """
    from scipy.integrate import quad
    from scipy.special import gammainc, gammaincinv

    alpha = np.asarray(alpha, dtype=float)
    if alpha.size == 1:
        return np.ones(1)

    def others_below(share: float, k: int) -> float:
        return float(np.prod(gammainc(np.delete(alpha, k), gammaincinv(alpha[k], share))))

    shares = np.array(
        [quad(others_below, 0.0, 1.0, args=(k,), epsabs=1e-10, epsrel=1e-8, limit=500)[0] for k in range(alpha.size)]
    )
    return shares / shares.sum()
