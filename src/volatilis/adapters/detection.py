"""Change points with the habits of ruptures and scikit-learn: `fit(signal)`, `predict()` -> ends of segments."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from volatilis.changepoints import Changes, changes
from volatilis.learners._base import Learner


class ChangePointDetector:
    """The most probable segmentation of a signal, as ruptures gives it: the ends of segments, the last one its length.

    learner   ExactBayes(family, p_c), as for `volatilis.changes`

    >>> import volatilis as vl
    >>> from volatilis.adapters import ChangePointDetector
    >>> detector = ChangePointDetector(vl.ExactBayes(vl.Gaussian(sigma=0.5, sigma_0=3.0), p_c=0.05))
    >>> detector.fit_predict([0.1, -0.2, 0.3, 5.0, 5.2, 4.9])
    [3, 6]
    """

    def __init__(self, learner: Learner) -> None:
        self.learner = learner

    def __repr__(self) -> str:
        return f"ChangePointDetector({self.learner!r})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """As scikit-learn asks for them: so it can be cloned. `deep` makes no difference."""
        return {"learner": self.learner}

    def set_params(self, **params: Any) -> Self:
        """As scikit-learn sets them: learner alone is among `params`. Raises ValueError for any other."""
        for name, value in params.items():
            if name != "learner":
                raise ValueError(f"ChangePointDetector has no parameter {name!r}; it has learner")
            self.learner = value
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of the last step of a pipeline."""
        from sklearn.utils import InputTags, Tags, TargetTags

        inputs = InputTags(one_d_array=True, two_d_array=True, sparse=False)
        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=inputs)

    def __sklearn_is_fitted__(self) -> bool:
        return "changes_" in vars(self)

    def fit(self, signal: object, y: object = None) -> Self:
        """Look back over a `signal`: (T,), or (T, 1) as ruptures makes it; (T, p) for a family of vectors. `y` is ignored."""
        shape: tuple[int, ...] = getattr(signal, "shape", ())
        values = np.asarray(signal)[:, 0] if len(shape) == 2 and shape[1] == 1 else signal
        self.changes_: Changes = changes(values, self.learner)
        return self

    def predict(self, pen: object = None) -> list[int]:
        """The ends of segments of the signal that was fitted.

        pen   None, as for ruptures; or that signal again, as a scikit-learn pipeline gives it. There is no penalty: p_c of the
              learner says how many changes to expect.
        """
        if pen is not None and np.ndim(pen) == 0:  # type: ignore[arg-type]
            raise ValueError(f"pen = {pen!r} is not accepted: the learner's p_c takes the place of a penalty")
        if pen is not None:
            return self.fit(pen).predict()
        if not self.__sklearn_is_fitted__():
            raise AttributeError("predict comes after fit(signal)")
        return [*self.changes_.points.tolist(), len(self.changes_)]

    def fit_predict(self, signal: object, pen: object = None) -> list[int]:
        """Both at once, of the `signal`; `pen` as for `predict`."""
        return self.fit(signal).predict(None if pen is None or np.ndim(pen) else pen)  # type: ignore[arg-type]
