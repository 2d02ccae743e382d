"""The scores of the change-point benchmark, against values worked out by hand; and its short series."""

import numpy as np
import pytest

from benchmarks.series import covering, f1
from benchmarks.short_series import MARKS, SERIES


def test_f1_counts_the_start_and_each_mark_once() -> None:
    assert f1([[10], [10]], [10]) == 1.0
    assert f1([[10]], [10, 12]) == pytest.approx(0.8)  # precision 2/3, recall 1: the second point meets no mark
    assert f1([[10], []], []) == pytest.approx(2 * 1.0 * 0.75 / 1.75)


def test_covering_weighs_segments_by_length() -> None:
    assert covering([[5]], [5], 10) == 1.0
    assert covering([[5]], [], 10) == pytest.approx(0.5)
    assert covering([[], [5]], [5], 10) == pytest.approx((0.5 + 1.0) / 2)


def test_short_series_are_short_and_marked_within() -> None:
    for name, text in SERIES.items():
        values = np.array(text.split(), dtype=float)
        assert len(MARKS[name]) == 5
        assert values.size <= 59
        assert all(0 < mark < values.size for marks in MARKS[name] for mark in marks)
