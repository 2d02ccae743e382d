"""Seeds: explicit, validated, and never used up by being used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np

Seed = int | np.random.SeedSequence


def seed_sequence(seed: Seed) -> np.random.SeedSequence:
    """A fresh SeedSequence from a whole number, 0 or more, or from the caller's own SeedSequence, which stays unchanged."""
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key, pool_size=seed.pool_size)
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed = {seed!r} is not accepted; it must be a whole number, 0 or more, or a numpy SeedSequence")
    return np.random.SeedSequence(int(seed))


def generator_key(seed: Seed) -> int:
    """64 bits for the generator inside compiled code."""
    return int(seed_sequence(seed).generate_state(1, np.uint64)[0])


def named_seed(seed: int, name: Sequence[str]) -> np.random.SeedSequence:
    """The seed of a group or a key: it depends on its name, not on which other groups there are."""
    digest = hashlib.sha256(json.dumps(list(name)).encode()).digest()
    return np.random.SeedSequence([seed, *np.frombuffer(digest[:16], dtype=np.uint32).tolist()])
