"""The benchmark of the confusion matrix measures what it says."""

from __future__ import annotations

from benchmarks import fits


def test_a_small_confusion_matrix() -> None:
    found = fits.confusion_matrix(people=2, trials=40, workers=1)
    assert found.fits == 6 * (2 + 6 * 2)
    assert found.seconds > 0.0
    assert 0.0 < found.right <= 1.0
