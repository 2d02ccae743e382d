"""The same wild cases at every run of the tests: as many of each pair of family and learner as take about a minute.

Streams and missing observations with two families, whose kernels other tests compile anyway; with all by `python -m tests.fuzz`.
"""

from __future__ import annotations

import pytest

from .cases import FAMILIES, PAIRS, make
from .checks import problems

OF_EACH_PAIR = 150
EVERYTHING = ("Gaussian", "Categorical")


@pytest.mark.parametrize("family", FAMILIES)
def test_wild_cases(family: str) -> None:
    pairs = [place for place, (name, _) in enumerate(PAIRS) if name == family]
    cases = (make(place + len(PAIRS) * turn) for turn in range(OF_EACH_PAIR) for place in pairs)
    failed = [f"{case}\n    {'; '.join(wrong)}" for case in cases if (wrong := problems(case, family in EVERYTHING))]
    assert not failed, f"{len(failed)} cases:\n" + "\n".join(failed[:5])


def test_a_case_is_made_of_its_seed_alone() -> None:
    for seed in range(len(PAIRS)):
        assert str(make(seed)) == str(make(seed))
