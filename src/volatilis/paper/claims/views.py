"""A dataset seen with the published code or done right: which learner a name of the paper stands for, and its numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis.paper.claims.statistics import Difference, MissingDataError, Outcome, difference, known, stratified

if TYPE_CHECKING:
    import xarray as xr


EXACT = "Exact Bayes"
PANELS = "ABCD"
ORDER = ("task", "panel", "setting", "noise", "p_c", "assuming", "n", "seed")

Cells = Callable[[np.ndarray, np.ndarray], np.ndarray]  # from noise and p_c of the cells to which of them are meant


class View(NamedTuple):
    """A dataset, and whether the mended variants (SOR done right, free tuning) stand under the paper's names."""

    dataset: xr.Dataset
    mended: bool

    def name(self, learner: str) -> str:
        """Under which name the learner is in the dataset. A learner without a mended variant is the same in both views."""
        names = set(self.dataset.learner.values.tolist())
        wanted = [f"{learner} (free)", learner] if self.mended else [f"{learner} (published)", learner]
        if learner.startswith("SOR") and not self.mended:
            wanted = wanted[:1]
        for name in wanted:
            if name in names:
                return name
        raise MissingDataError(f"{wanted[-1]} is not in the dataset")

    def values(self, variable: str, learner: str) -> np.ndarray:
        array = self.dataset[variable].sel(learner=self.name(learner)).transpose(*ORDER, missing_dims="ignore")
        return np.asarray(array.values, dtype=float)

    def coordinate(self, name: str) -> np.ndarray:
        return np.asarray(self.dataset[name].values, dtype=float)


Check = Callable[[View], Outcome]


class Statement(NamedTuple):
    """A statement of the paper, the dataset it is about, and how to check it there."""

    key: str
    dataset: str
    figure: str
    where: str
    statement: str
    published: str
    check: Check


class DistanceGrid(NamedTuple):
    """Cells of a grid, by the mean squared distance to Exact Bayes.

    Its expectation is that of Delta MSE (Methods, mean squared error as an optimality measure), with far less noise.
    """

    cells: Cells = lambda noise, p_c: np.full(np.broadcast_shapes(noise.shape, p_c.shape), True)

    def samples(self, view: View, learner: str, variable: str = "distance") -> np.ndarray:
        chosen = np.broadcast_to(self.cells(*cell_coordinates(view)), grid_shape(view))
        if not chosen.any():
            raise MissingDataError("the cells are not in the dataset")
        return view.values(variable, learner)[chosen]

    def level(self, view: View, learner: str) -> Difference:
        return stratified(self.samples(view, learner))

    def compare(self, view: View, smaller: str, larger: str) -> Difference:
        return stratified(self.samples(view, larger) - self.samples(view, smaller))

    def method(self, view: View) -> str:
        return f"paired t-test over {view.dataset.sizes['seed']} seeds of the distance to Exact Bayes, stratified by cell"


ALL_CELLS = DistanceGrid()


class Panel(NamedTuple):
    """The regret in a panel of the robustness figures, for all p_c, those below or those above the assumed p_c."""

    panel: str
    side: str = "all"

    def samples(self, view: View, learner: str) -> np.ndarray:
        chosen = self.chosen(view)
        if not chosen.any():
            raise MissingDataError(f"no p_c on that side of p_c' in panel {self.panel}")
        return view.values("regret", learner)[PANELS.index(self.panel)][chosen]

    def chosen(self, view: View) -> np.ndarray:
        p_c, assumed = view.coordinate("p_c"), view.coordinate("assumed")[PANELS.index(self.panel)]
        return {"all": p_c > 0.0, "below": p_c < assumed, "above": p_c > assumed}[self.side]

    def level(self, view: View, learner: str) -> Difference:
        return stratified(self.samples(view, learner))

    def compare(self, view: View, smaller: str, larger: str) -> Difference:
        return stratified(self.samples(view, larger) - self.samples(view, smaller))

    def method(self, view: View) -> str:
        return f"paired t-test over {view.dataset.sizes['seed']} seeds, stratified by p_c"


class After(NamedTuple):
    """The error after a change, in the left (0) or right (1) panel: over all steps, the first fifth (early) or last (late)."""

    setting: int
    phase: str = "all"

    def steps(self, view: View) -> np.ndarray:
        steps = np.flatnonzero(np.isfinite(view.values("mean", EXACT)[self.setting]))
        fifth = max(1, len(steps) // 5)
        if not len(steps):
            raise MissingDataError("no step after a change")
        return {"all": steps, "early": steps[:fifth], "late": steps[-fifth:]}[self.phase]

    def by_seed(self, view: View, learner: str) -> np.ndarray | None:
        """The mean error per seed, where the dataset keeps it apart (mean_by_seed: setting x learner x n x seed)."""
        if "mean_by_seed" not in view.dataset:
            return None
        return np.asarray(view.values("mean_by_seed", learner)[self.setting][self.steps(view)].mean(axis=0))

    def level(self, view: View, learner: str) -> Difference:
        """Errors of successive steps go together, so their standard errors are averaged, not reduced."""
        steps = self.steps(view)
        mean, error = (view.values(name, learner)[self.setting][steps] for name in ("mean", "standard_error"))
        return known(mean.mean(), error.mean(), view.dataset.sizes.get("seed", np.inf))

    def compare(self, view: View, smaller: str, larger: str) -> Difference:
        low, high = self.by_seed(view, smaller), self.by_seed(view, larger)
        if low is None or high is None:
            return difference(self.level(view, larger), self.level(view, smaller))
        return stratified(high - low)

    def method(self, view: View) -> str:
        if "mean_by_seed" in view.dataset:
            return f"paired t-test over {view.dataset.sizes['seed']} seeds"
        return "z-test on the standard errors over changes, unpaired and so cautious"


Source = DistanceGrid | Panel | After


def cell_coordinates(view: View) -> tuple[np.ndarray, np.ndarray]:
    return view.coordinate("noise")[:, None], view.coordinate("p_c")[None, :]


def grid_shape(view: View) -> tuple[int, int]:
    return view.dataset.sizes["noise"], view.dataset.sizes["p_c"]


def cell_name(view: View, index: tuple[int, int]) -> str:
    p_c, attributes = view.coordinate("p_c")[index[1]], view.dataset.attrs
    noise = f"{attributes.get('noise_name', 'noise')} {view.coordinate('noise')[index[0]]:g}"
    return f"{attributes['rows'][index[0]] if 'rows' in attributes else noise}, p_c {p_c:g}"
