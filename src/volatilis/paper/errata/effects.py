"""What the mistakes in the paper and its published code change, in numbers: measured in the data, or computed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from volatilis.learners import Leaky
from volatilis.paper.claims import formulas, identities
from volatilis.paper.figures import Data
from volatilis.paper.published.code import search_grid
from volatilis.paper.settings import CATEGORICAL, GAUSSIAN, RATES
from volatilis.paper.tuned import best_leak, error_of_leak
from volatilis.paper.writing import with_excess

if TYPE_CHECKING:
    import xarray as xr

# The worst cases that the paper's first p-value compares: Delta MSE and its standard error over ten seeds, in the authors' data
PUBLISHED_WORST = {"SOR20": (0.0612304, 0.00084190), "pf20": (0.0332346, 0.00296487)}


def resampling(data: Data) -> str | None:
    if GAUSSIAN not in data:
        return None
    cell = with_excess(data[GAUSSIAN]).excess.sel(noise=0.1, p_c=0.1)
    wrong, right = (_with_error(cell.sel(learner=name)) for name in ("SOR20 (published)", "SOR20"))
    return f"at sigma 0.1, p_c 0.1, error above Exact Bayes: {wrong} as published, {right} done right (paper: 0.061)"


def edges(data: Data) -> str | None:
    """Per learner, where the free value is better by over 1 %: with the best value beyond the authors' bounds, and within."""
    if "tuned" not in data or not len(data["tuned"]) or not {GAUSSIAN, CATEGORICAL} & set(data):
        return None
    gains: dict[str, list[str]] = {"beyond": [], "within": []}
    for (task, name), rows in data["tuned"].groupby(["task", "learner"], sort=False):
        if task not in data or f"{name} (free)" not in data[task].learner.values:
            continue
        error = data[task].error.mean("seed")
        rows = rows[rows.noise.isin(error.noise.values) & rows.p_c.isin(error.p_c.values)]
        for place, chosen in (("beyond", rows[rows.beyond != ""]), ("within", rows[rows.beyond == ""])):
            gained = [_gain(error, name, row.noise, row.p_c) for row in chosen.itertuples()]
            better = [gain for gain, share in gained if share > 0.01]
            if better:
                gains[place].append(f"{name} ({task}) in {len(better)} environments, by up to {max(better):.2g}")
    return (
        f"error lower by over 1 % where the best value lies beyond the grid: {'; '.join(gains['beyond']) or 'nowhere'}. Where it "
        f"lies within, and the value used was another: {'; '.join(gains['within']) or 'nowhere'}"
    )


def _gain(error: xr.DataArray, name: str, noise: float, p_c: float) -> tuple[float, float]:
    """How much lower the error is with the free value, and as a share of it."""
    cell = error.sel(noise=noise, p_c=p_c)
    used, free = float(cell.sel(learner=name)), float(cell.sel(learner=f"{name} (free)"))
    return used - free, (used - free) / free


def bayes_factor(data: Data) -> str:
    """The appendix's formula at sigma = 0.5, belief N(1, 0.1^2), prior N(0, 1), y = 2, mended step by step."""
    sigma, mu, s, y = 0.5, 1.0, 0.01, 2.0
    ratio, a, b = (sigma**2 + s) / (sigma**2 + 1.0), mu / s + y / sigma**2, y / sigma**2
    width, prior_width = 2.0 * (sigma**2 / s + 1.0), 2.0 * (sigma**2 + 1.0)
    right = math.sqrt(ratio) * math.exp(0.5 * (y - mu) ** 2 / (sigma**2 + s) - 0.5 * y**2 / (sigma**2 + 1.0))
    printed = ratio * math.exp(-(mu**2) / (2.0 * s) + a / width + b / prior_width)
    most, all_four = (
        math.sqrt(ratio) * math.exp(mu**2 / (2.0 * s) - factor * a**2 / width + factor * b**2 / prior_width)
        for factor in (1.0, sigma**2)
    )
    return (
        f"at sigma 0.5, belief N(1, 0.01), y = 2: S_BF = {right:.3g}; as printed {printed:.2g}; with root, squares and signs "
        f"mended {most:.2g}; with the factor sigma^2 as well {all_four:.3g}"
    )


def variance_for_deviation(data: Data) -> str:
    """S_BF after one observation if the variance is taken for the standard deviation, at sigma = 0.5, belief N(1, .), y = 2."""
    sigma, mu, y = 0.5, 1.0, 2.0
    variance = 1.0 / (1.0 + 1.0 / sigma**2)

    def surprise(spread: float) -> float:
        return float(formulas.normal(y, 0.0, sigma**2 + 1.0) / formulas.normal(y, mu, sigma**2 + spread))

    return (
        f"after one observation at sigma 0.5 the variance is {variance:.2g}; squared again it is {variance**2:.2g}, and S_BF of "
        f"an observation 1 away (belief at 1) {surprise(variance**2):.3g} instead of {surprise(variance):.3g}; the published "
        "numbers are those of the variance"
    )


def variance_line(data: Data) -> str:
    printed, mended = formulas.variance_line()
    return (
        f"over 200 random settings the line is off by up to {printed:.0f} times its value, mended by {mended or 0.0:.0e}; the "
        "result is right"
    )


def sign_word(data: Data) -> str:
    printed, _ = identities.sign_bias_word()
    return (
        f"of 1000 random predictions with s = +1, {round(1000 * (1.0 - printed))} overestimate; formula and predictions are right"
    )


def selection(data: Data) -> str | None:
    if "prediction1" not in data:
        return None
    nats = {"bayes_factor": 1.0, "shannon": math.log(10.0)}
    gaps = {}
    for who in ("pf20", "Nas12*"):
        surprise = data["prediction1"].sel(learner=who)
        gaps[who] = [
            float(np.nanmax(np.abs(surprise[measure].sel(variant="right") - unit * surprise[measure].sel(variant="published"))))
            for measure, unit in nats.items()
        ]
    same = "0: every trial passes either test" if max(gaps["pf20"]) < 1e-12 else f"{max(gaps['pf20']):.2g}"
    return (
        f"largest change of an average surprise, pf20: {same}. Nas12*: {gaps['Nas12*'][0]:.2g} of S_BF, {gaps['Nas12*'][1]:.2g} "
        "nats of S_Sh, with its other p_c (erratum 15)"
    )


def categorical_sum(data: Data) -> str | None:
    if CATEGORICAL not in data:
        return None
    worst = float(with_excess(data[CATEGORICAL]).excess.mean("seed").sel(learner="pf20").max())
    return f"pf20's worst case is {worst:.2g} as a sum over categories; as a mean it would be {worst / 5:.2g}"


def patches(data: Data) -> str:
    """At sigma = 0.1, a sharp belief: how often the density of the first observation after a change is 0 in double precision."""
    sigma, m = 0.1, 0.1 / 0.9
    reach = sigma * math.sqrt(2.0 * 745.1)  # exp(-745.1) is the least positive number
    share = math.erfc(reach / math.sqrt(2.0 * (2.0 + sigma**2)))
    return (
        f"at sigma 0.1 about {share:.1%} of changes give an infinite ratio; with 1e16 for it 1 - gamma is {1.0 / (m * 1e16):.0e} "
        "at p_c 0.1, so that learning does not change. Here log-odds need no patch"
    )


def start(data: Data) -> str:
    """The estimate after the first observation y, at sigma = 0.5, p_c = 0.1, as a share of y."""
    rho, gamma = 0.25, 0.1  # before the first observation S_BF = 1, so gamma = p_c
    right, wrong = 1.0 / (rho + 1.0), (1.0 - gamma) / (rho + 2.0) + gamma / (rho + 1.0)
    once = (right - wrong) ** 2 * (1.0 + 0.25)
    return (
        f"at sigma 0.5, p_c 0.1, the estimate after the first observation is {wrong:.2f} y instead of {right:.2f} y: a squared "
        f"distance of {once:.2f} on average, {once / 1e5:.0e} in the mean over 100,000 steps"
    )


def p_values(data: Data) -> str:
    from scipy import stats

    (a, a_error), (b, b_error) = PUBLISHED_WORST["SOR20"], PUBLISHED_WORST["pf20"]
    cells = (a, a_error * math.sqrt(10), 10, b, b_error * math.sqrt(10), 10)
    welch, student = (stats.ttest_ind_from_stats(*cells, equal_var=equal).pvalue for equal in (False, True))
    return (
        f"on the authors' means and standard errors ({a:.4f} ± {a_error:.5f}, {b:.4f} ± {b_error:.4f}) Welch's test gives "
        f"{welch:.4g} (paper: 2.79e-6), Student's {student:.1g}"
    )


# --- found by this project -------------------------------------------------------------------------------------------------


def leak(data: Data) -> str:
    """The best leak at sigma 5, the best of the authors' steps, and what 0.99 costs; in closed form."""
    parts = []
    for p_c in RATES:
        best = best_leak(5.0, p_c)
        on_grid = min(search_grid(Leaky, p_c=p_c).tolist(), key=lambda omega: error_of_leak(omega, 5.0, p_c))
        cost = error_of_leak(0.99, 5.0, p_c) - error_of_leak(best, 5.0, p_c)
        parts.append(f"p_c {p_c:g}: best {best:.4f}, on the steps {on_grid:.2f}, 0.99 costs {cost:.2g}")
    return "; ".join(parts)


def clustering(data: Data) -> str | None:
    """How many times larger the error over seeds is than that over changes taken for independent, at s 5, p_c 0.005."""
    if f"{CATEGORICAL} transient" not in data:
        return None
    after = data[f"{CATEGORICAL} transient"].isel(setting=1)
    if "naive_error" not in after:
        return None
    ratio = (after.standard_error / after.naive_error).mean("n")
    text = ", ".join(f"{who} {float(ratio.sel(learner=who)):.1f}" for who in ("MP20", "MP10", "pf20") if who in ratio.learner)
    return f"errors over seeds as a multiple of those over changes, mean over n, at s 5, p_c 0.005: {text}"


def first_trial(data: Data) -> str | None:
    if "prediction2" not in data:
        return None
    surprise = data["prediction2"].bayes_factor.sel(learner="pf20")
    gap = np.abs(surprise.sel(variant="right") - surprise.sel(variant="published"))
    return f"average S_BF of pf20 with and without the first trial: apart by up to {float(np.nanmax(gap)):.2g}"


def assumed(data: Data) -> str | None:
    parts = []
    for task in (GAUSSIAN, CATEGORICAL):
        values = data[f"{task} robustness"].attrs if f"{task} robustness" in data else {}
        for who in ("pf20", "MP20"):
            if f"value {who}" in values:
                shown = ", ".join(f"{value:.3g}" for value in values[f"value {who}"])
                parts.append(f"{who} ({task}) {shown}")
    return f"assumed in panels A to D, where p_c' is 0.0412, 0.00412, 0.0412, 0.00412: {'; '.join(parts)}" if parts else None


def tuned_rate(data: Data) -> str | None:
    if "prediction1" not in data:
        return None
    shannon = data["prediction1"].shannon.sel(learner="Nas12*")
    gap = np.abs(shannon.sel(variant="right") - math.log(10.0) * shannon.sel(variant="published"))
    return (
        f"tuned p_c {data['prediction1'].attrs['nas12_p_c']:.3g}, true 0.1: average Shannon surprises of Nas12* differ by up to "
        f"{float(np.nanmax(gap)):.2g} nats"
    )


def slope_needs_confidence(data: Data) -> str:
    factor, shannon = identities.effect_grows_for_every_confidence(), identities.shannon_effect_grows_for_every_confidence()
    return (
        "largest slope against the claim, for sigma_C up to 3: "
        f"{factor.printed:.2g} (S_BF, of the logarithm of the difference), {shannon.printed:.2g} (S_Sh); for sigma_C up to 1: 0"
    )


def windows(data: Data) -> str:
    """Prediction 2: the mean ratio of two independent numbers within p ± 0.0125."""
    width = 0.0125
    means = {p: p * math.log((p + width) / (p - width)) / (2.0 * width) for p in (0.025, 0.05, 0.2)}
    text = ", ".join(f"{mean:.3f} at p = {p:g}" for p, mean in means.items())
    effect = f"prediction 2: a mean S_BF of {text} instead of 1, for probabilities spread evenly over the window"
    if "prediction1" in data:
        mean = data["prediction1"].control_bayes_factor.sel(variant="right").mean("delta")
        gaps = (mean.sel(sign=1) - mean.sel(sign=-1)) / mean.mean("sign")
        text = ", ".join(f"{who} {float(gaps.sel(learner=who)):+.1%}" for who in gaps.learner.values)
        effect += (
            f"; prediction 1: with a flat prior, where there should be none, a difference of S_BF between the signs of {text}"
        )
    return effect


def wrong_way_round(data: Data) -> str:
    ratio = float(formulas.normal(2.0, 0.0, 1.25) / formulas.normal(2.0, 1.0, 0.26))
    return f"at sigma 0.5, belief N(1, 0.01), y = 2: S_BF = {ratio:.3g}; the other way round {1.0 / ratio:.3g}"


def bound(data: Data) -> str:
    """KL to the belief N(1, 0.1^2) of the posterior and of the scaled likelihood of y = 2, at sigma = 0.5, prior N(0, 1)."""
    mu, s, y, sigma = 1.0, 0.01, 2.0, 0.5

    def divergence(mean: float, variance: float) -> float:
        return 0.5 * (variance / s - 1.0 - math.log(variance / s) + (mean - mu) ** 2 / s)

    posterior, likelihood = divergence(y / (1.0 + sigma**2), sigma**2 / (1.0 + sigma**2)), divergence(y, sigma**2)
    return f"at sigma 0.5, belief N(1, 0.01), y = 2: B_max = {posterior:.3g} in the text, {likelihood:.3g} here"


def highest_density(data: Data) -> str | None:
    top = 1.0 / math.sqrt(2.0 * math.pi * 1.25)
    text = f"the prior's predictive density is at most {top:.3f}, {top + 0.0125:.3f} with the window"
    if "prediction2" in data:
        subjects = data["prediction2"].subjects.sel(variant="right").sum("learner")
        empty = [f"{p:g}" for p in subjects.p.values[subjects.values == 0]]
        text += f"; without any trial: p = {', '.join(empty) or 'none'}"
    return text


def _with_error(values: xr.DataArray) -> str:
    spread = float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else math.nan
    return f"{float(values.mean()):.3g} ± {spread:.1g}"
