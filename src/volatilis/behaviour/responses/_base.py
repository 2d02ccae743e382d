"""What response models share: their contract, the decorator that fills it in, and what a learner believes.

A response model is a NamedTuple of parameters with one compiled method, `log_response`. `ResponseModel` lists the methods that it
may have besides; the decorator fills in those that it does not have.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, NamedTuple, Protocol, TypeVar

import numpy as np

from volatilis._compiler.registry import compiled_function, compiled_methods, python_only
from volatilis._core.fields import Positive, Rule, _float, validated
from volatilis._core.records import LOG, Range

if TYPE_CHECKING:
    from volatilis.families._base import Family
    from volatilis.learners._base import Learner, LearnerOf, S

C = TypeVar("C", bound=type)
NonNegative = Annotated[float, Rule(_float, lambda v: 0.0 <= v < np.inf, "a finite number, 0 or more")]
Share = Annotated[float, Rule(_float, lambda v: 0.0 <= v < 1.0, "a number from 0 up to, not including, 1")]
Noise = Annotated[Positive, Range(LOG, 1e-4, 1e2, 0.05, 1.0, unit=True)]
MotorNoise = Annotated[NonNegative, Range(LOG, 1e-4, 1e2, 0.01, 0.3, unit=True)]
PerUncertainty = Annotated[NonNegative, Range(LOG, 1e-4, 1e3, 0.1, 2.0)]
PerUpdate = Annotated[NonNegative, Range(LOG, 1e-4, 1e2, 0.05, 1.0)]


class Moment(NamedTuple):
    """What a simulated person knows when responding.

    mean, sd   of each element of theta; sd is empty for a learner without uncertainty
               on a circle a mean is NaN where the belief has no direction, as a uniform prior
    theta      a draw from the belief, for a response model that `draws_theta`; else NaN
    before     the last response; NaN if there is none
    middle     of the person's own responses: the middle of a slider of known length, if its ends are not known
    family     of the learner: how far apart two places are, and whether on a circle
    worth      what each arm pays if it pays 1; empty where there are none. mean and sd are then of all arms
    """

    mean: np.ndarray
    sd: np.ndarray
    theta: float
    before: float
    middle: float
    family: Family
    worth: np.ndarray = np.zeros(0)


class ResponseModel(Protocol):
    """What fits and simulations ask of a response model."""

    # --- compiled ---

    def log_response(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        """The log probability (or density) of the response; `before` is the last one, NaN if there is none."""

    def log_mass(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        """Of single responses with a probability of their own among others with a density, such as the ends of a slider: the
        log probability of `given` if it is one of them, else -inf."""

    # --- Python only ---

    def draw(self, moment: Moment, rng: np.random.Generator) -> float:
        """A simulated response; raises ValueError where the model cannot be simulated."""

    def draws_theta(self) -> bool:
        """Whether `draw` needs a draw of theta from the belief."""

    def slider_ends(self) -> tuple[float, float] | None:
        """The ends of the slider, if it has any."""

    def chooses(self) -> bool:
        """Whether responses are choices among categories."""

    def chooses_contexts(self) -> bool:
        """Whether responses are choices among contexts, such as arms: what was chosen is the context of the outcome."""

    def noise_law(self) -> tuple[float, float] | None:
        """p and c where log P = -A / sd^p - log sd - c with sd alone, and A depends only on how far the response is from the
        mean: the best sd is then known without a search. None for any other model."""

    def check_learner(self, learner: Learner) -> None:
        """Raises TypeError for a learner that the model cannot be combined with."""

    def check_responses(self, family: Family, given: np.ndarray) -> None:
        """Raises ValueError for responses that the model does not know."""


def response(cls: C) -> C:
    """Make a NamedTuple class with `log_response(self, learner, state, given, before)` a response model.

    cls   the class; its fields are the parameters

    Returns the class. Raises TypeError where it has no `log_response`.

    >>> from typing import NamedTuple
    >>> import volatilis as vl
    >>> from volatilis.behaviour import NonNegative, estimate, log_normal, register_response, response, uncertainty
    >>> @response
    ... class Hesitant(NamedTuple):  # noisier the less sure the learner is
    ...     share: NonNegative = 1.0
    ...     def log_response(self, learner, state, given, before):
    ...         return log_normal(given, estimate(learner, state, 0), self.share * uncertainty(learner, state, 0))
    >>> register_response("hesitant", Hesitant)
    >>> learner = vl.VarSMiLe(vl.Gaussian(sigma=1.0), m=0.1)
    >>> f'{Hesitant(0.5).log_response(learner, learner.init(), 0.2, float("nan")):.3f}'
    '-0.306'
    """
    defined = dir(cls)
    if "log_response" not in defined:
        raise TypeError(f"{cls.__name__} has no method log_response(self, learner, state, given, before)")
    for name, default in vars(_Defaults).items():
        if name not in defined and not name.startswith("_"):
            setattr(cls, name, default)
        elif name in PYTHON_ONLY:
            python_only(vars(cls)[name])
    marked[cls] = None
    return compiled_methods(validated(cls))


marked: dict[type, None] = {}  # in the order of their definition


def can_be_simulated(cls: type) -> bool:
    """Whether a response model says how responses are drawn."""
    return vars(cls).get("draw") is not vars(_Defaults)["draw"]


def is_response(cls: type) -> bool:
    """Whether the class has `@response` above it."""
    return cls in marked


class _Defaults:
    def log_mass(self: object, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        return -np.inf

    @python_only
    def draw(self: object, moment: Moment, rng: np.random.Generator) -> float:
        raise ValueError(f"{type(self).__name__} cannot be simulated: give it a method draw(self, moment, rng)")

    @python_only
    def draws_theta(self: object) -> bool:
        return False

    @python_only
    def slider_ends(self: object) -> tuple[float, float] | None:
        return None

    @python_only
    def chooses(self: object) -> bool:
        return False

    @python_only
    def chooses_contexts(self: object) -> bool:
        return False

    @python_only
    def noise_law(self: object) -> tuple[float, float] | None:
        return None

    @python_only
    def check_learner(self: object, learner: Learner) -> None:
        """Any."""

    @python_only
    def check_responses(self: object, family: Family, given: np.ndarray) -> None:
        """Any."""


PYTHON_ONLY = (
    "draw",
    "draws_theta",
    "slider_ends",
    "chooses",
    "chooses_contexts",
    "noise_law",
    "check_learner",
    "check_responses",
)


@compiled_function
def estimate(learner: LearnerOf[S], state: S, k: int) -> float:
    """E[theta_k]; before a learner without a belief has seen anything, the prior's. For response models of one's own.

    learner, state   as `log_response` gets them
    k                which element of theta, from 0

    Returns the mean. Raises nothing. Example: `response`.
    """
    mean = learner.read_mean(state, k)
    return mean if mean == mean else learner.family.mean(state.pi_0, 0, k)


@compiled_function
def uncertainty(learner: LearnerOf[S], state: S, k: int) -> float:
    """The standard deviation of theta_k. For response models of one's own.

    learner, state   as `log_response` gets them
    k                which element of theta, from 0

    Returns the standard deviation. Raises nothing. Example: `response`.
    """
    return math.sqrt(learner.read_variance(state, k, learner.read_mean(state, k)))


def on_a_line(model: object, learner: Learner) -> None:
    """For response models whose noise does not wrap."""
    around = learner.family.circumference()
    if around < np.inf:
        raise TypeError(
            f"{type(model).__name__} is for numbers on a line, and outcomes of {type(learner.family).__name__} are places on a "
            f"circle ({around:g} once around): a response at one end would seem far from the other; use vonmises:sd=free"
        )


def needs_variance(model: object, learner: Learner) -> None:
    if "variance" not in learner.readouts():
        raise TypeError(f"{type(model).__name__} needs the uncertainty of the belief, and {type(learner).__name__} has none")
