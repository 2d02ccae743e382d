"""The compiled loop of alarm rules: lines of any keys, one after another."""

from __future__ import annotations

from volatilis.running.drivers import Array

RINGING, QUIET, PLACE, HEAD = range(4)  # of a key: whether an event lasts, how long it is quiet, the place of the next hit, hits


def ring(rule: Array, memory: Array, numbers: Array, values: Array, observed: Array, rang: Array) -> None:
    """A line after the other; compiled. rule: threshold, release, cool-down, k, n."""
    threshold, release, cool_down, least, n = rule[0], rule[1], rule[2], rule[3], int(rule[4])
    for j in range(values.size):
        if observed[j] == 0:
            continue
        key, hits = numbers[j], 0.0
        memory[key, HEAD + int(memory[key, PLACE])] = 1.0 if values[j] > threshold else 0.0
        memory[key, PLACE] = (memory[key, PLACE] + 1.0) % n
        for k in range(n):
            hits += memory[key, HEAD + k]
        if hits < least and not values[j] > release:
            memory[key, RINGING] = 0.0
        if memory[key, QUIET] > 0.0:
            memory[key, QUIET] -= 1.0
        elif hits >= least and memory[key, RINGING] == 0.0:
            rang[j] = 1
            memory[key, RINGING] = 1.0
            memory[key, QUIET] = cool_down
