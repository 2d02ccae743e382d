"""The loop over a person's trials: a learner learns, a response model says how probable each response is. Compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis._drivers import ELAPSE, OBSERVE, RESET


def score_responses(
    learner: Any,
    model: Any,
    state: Any,
    ys: Any,
    events: Any,
    given: Any,
    scored: Any,
    after: bool,
    progress: Any,
    last: Any,
    out: Any,
) -> None:
    """log P(response_t) in out[t], 0 where it does not count, from trial progress[0]; the first starts the learner anew.

    last[0] is the last response; a block begins without one. A response that is missing is no response: the learner goes on
    learning, and the last one stays the last. Stops early, and says where, when the state needs more room.
    """
    if progress[0] == 0:
        learner.family.prior(state.pi_0, 0)  # its parameters may have changed since the last run
        learner.restart(state)
        last[0] = np.nan
    for t in range(progress[0], events.size):
        if not learner.has_room(state):
            progress[0] = t
            return
        event = events[t]
        if event >= RESET:
            learner.restart(state)
            last[0] = np.nan
            event -= RESET
        out[t] = 0.0
        if scored[t] and not after:
            out[t] = model.log_response(learner, state, given[t], last[0])
        if event == OBSERVE:
            learner.update(state, ys[t])
        elif event == ELAPSE:
            learner.elapse(state)
        if scored[t] and after:
            out[t] = model.log_response(learner, state, given[t], last[0])
        if given[t] == given[t]:
            last[0] = given[t]
    progress[0] = events.size
