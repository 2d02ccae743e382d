"""Signatures show what a user gives and nothing else."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc

import numpy as np
import pytest

import volatilis as vl

UNKNOWN = vl.MultivariateGaussianUnknownCovariance([0.0, 1.0], 1.0, 5.0, np.eye(2))
KNOWN = vl.MultivariateGaussian(np.eye(2), [0.0, 1.0], 2.0 * np.eye(2))


@pytest.mark.parametrize(
    ("family", "given"),
    [(UNKNOWN, ["mu_0", "kappa_0", "nu_0", "psi_0"]), (KNOWN, ["covariance", "mu_0", "covariance_0"])],
    ids=["unknown", "known"],
)
def test_derived_fields_are_hidden(family: object, given: list[str]) -> None:
    cls = type(family)
    derived = [name for name in cls._fields if name not in given]  # type: ignore[attr-defined]
    assert derived, "compiled code has them"
    assert list(inspect.signature(cls).parameters) == given
    assert list(inspect.signature(cls.__new__).parameters)[1:] == given
    assert cls.__match_args__ == tuple(given)  # type: ignore[attr-defined]
    assert not any(name in repr(family) for name in derived)
    shown = pydoc.plain(pydoc.render_doc(cls)).split("Data descriptors")
    assert not any(f"{name}:" in shown[0] for name in derived)
    assert shown[1].count("Computed from the other fields; never given.") == len(derived)
    values = [getattr(family, name) for name in given]
    with pytest.raises(TypeError, match="and nothing else"):
        cls(*values, np.eye(2))
    with pytest.raises(TypeError, match="and nothing else"):
        cls(*values, **{derived[0]: np.eye(2)})


@pytest.mark.parametrize("family", [UNKNOWN, KNOWN], ids=["unknown", "known"])
def test_copies_and_changes_derive_again(family: vl.MultivariateGaussian) -> None:
    for other in (copy.copy(family), copy.deepcopy(family), pickle.loads(pickle.dumps(family)), type(family)._make(family)):
        assert other == family
        assert all(np.array_equal(a, b) for a, b in zip(other, family, strict=True))
    moved = family._replace(mu_0=[3.0, 4.0])
    assert moved.mu_0.tolist() == [3.0, 4.0]
    assert moved != family


def test_plain_types_and_defaults() -> None:
    shown = inspect.signature(vl.Gaussian).parameters
    assert [one.annotation for one in shown.values()] == [float] * 3
    assert [one.default for one in shown.values()][1:] == [0.0, 1.0]
    assert list(inspect.signature(vl.Nas10).parameters) == ["sigma", "p_c", "mu_0", "sigma_0"]
    assert list(inspect.signature(vl.Merge).parameters) == ["family", "p_c", "n"]
