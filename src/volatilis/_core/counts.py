"""How probable a count is; for Python alone."""


def at_least(count: int, n: int, p: float) -> float:
    """P(X >= count) of a binomial X. By the incomplete beta function: importing SciPy's distributions takes half a second."""
    from scipy.special import betainc

    if count <= 0:
        return 1.0
    return 0.0 if count > n else float(betainc(count, n - count + 1.0, p))
