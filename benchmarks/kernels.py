"""Kernels written by hand, one for each learner and family: what the library's one definition for all is measured against.

Each kernel is the library's algorithm for one case alone, in plain Numba, with what the one case allows: scalars in
registers, arrays allocated once, constants computed once, one division where two quantities share it, no room for missing
observations, resets or other families, and no test of its arguments. Gaussian kernels keep the run length in nu = rho + r,
categorical ones compare predictives rather than their logarithms, MessagePassing puts the new hypothesis in the place of the
one that goes, SMiLe computes once what stays fixed while it searches for gamma.

The compiler may contract a product and a sum and reorder sums (`fastmath={"contract", "reassoc"}`), so that loops vectorise;
it may not assume that numbers are finite. `math.exp` and `math.log` are the C library's (Intel's vector library is not part
of a plain installation of Numba), so a loop with an exponential calls it once per hypothesis.

    check()     the kernels and the library agree
    ratios()    the library's time per observation over the kernel's
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

import volatilis

NOTHING = 1e-300  # a weight below this is none
FAR = 1e-200  # below this evidence the predictives are computed again, in units of the largest
HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31, _SHIFT_11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)

_compiled = numba.njit(error_model="numpy", fastmath={"contract", "reassoc"})


class Readouts(NamedTuple):
    """What a run returns; an array that the learner does not define is empty."""

    mean: np.ndarray
    variance: np.ndarray
    log_p: np.ndarray
    log_p_0: np.ndarray
    gamma: np.ndarray
    run_length: np.ndarray


# --- helpers -----------------------------------------------------------------------------------------------------------


@_compiled
def _room(length):
    return np.empty(length), np.empty(length), np.empty(length), np.empty(length), np.empty(length), np.empty(length)


@_compiled
def _room_for_rows(length, k):
    return (
        np.empty((length, k)),
        np.empty((length, k)),
        np.empty(length),
        np.empty(length),
        np.empty(length),
        np.empty(length),
    )


@_compiled
def _unit(state):
    """The number in [0, 1) that SplitMix64 makes of its state."""
    z = (state ^ (state >> _SHIFT_30)) * _MIX_1
    z = (z ^ (z >> _SHIFT_27)) * _MIX_2
    return float((z ^ (z >> _SHIFT_31)) >> _SHIFT_11) * 2.0**-53


@_compiled
def _gaussian_far(w, mu, nu, n, y, precision, exponent_0, height_0, p):
    """Nobody expected y: weighted predictives in units of the largest, the prior's included. Rare.

    Returns the logarithm of the evidence, and the evidence and the prior's predictive in these units.
    """
    top = -np.inf
    for i in range(n):
        z = (y - mu[i]) * precision
        p[i] = -0.5 * z * z * (nu[i] / (nu[i] + 1.0))
        top = max(top, p[i])
    evidence = 0.0
    for i in range(n):
        p[i] = w[i] * (math.exp(p[i] - top) * math.sqrt(nu[i] / (nu[i] + 1.0)))
        evidence += p[i]
    log_evidence = top + math.log(evidence)
    unit = max(top, exponent_0)
    scale = math.exp(top - unit)
    for i in range(n):
        p[i] *= scale
    return log_evidence, evidence * scale, height_0 * math.exp(exponent_0 - unit)


@_compiled
def _larger(x, capacity):
    """The same array with more room in its last axis."""
    result = np.empty(capacity)
    result[: x.size] = x
    return result


@_compiled
def _larger_rows(x, capacity):
    result = np.empty((x.shape[0], capacity))
    result[:, : x.shape[1]] = x
    return result


# --- exact inference ---------------------------------------------------------------------------------------------------


@_compiled
def _exact_bayes_gaussian(ys, sigma, mu_0, sigma_0, p_c, cutoff):
    mean, variance, log_p, log_p_0, gamma, run_length = _room(ys.size)
    rho, precision = (sigma / sigma_0) ** 2, 1.0 / sigma
    share_0, log_norm = rho / (rho + 1.0), -math.log(sigma) - HALF_LOG_2_PI
    height_0 = math.sqrt(share_0)
    log_height_0 = math.log(height_0) + log_norm
    threshold, capacity, n = max(cutoff, NOTHING), 128, 1
    w, p, mu, nu, gain = np.empty(capacity), np.empty(capacity), np.empty(capacity), np.empty(capacity), np.empty(capacity)
    w[0], mu[0], nu[0] = 1.0, mu_0, rho
    for t in range(ys.size):
        y = ys[t]
        # Predictives: one division serves the predictive, the update and the variance
        for i in range(n):
            gain[i] = 1.0 / (nu[i] + 1.0)
            z = (y - mu[i]) * precision
            p[i] = -0.5 * z * z * (nu[i] * gain[i])
        for i in range(n):
            p[i] = math.exp(p[i])
        evidence = 0.0
        for i in range(n):
            p[i] *= w[i] * math.sqrt(nu[i] * gain[i])
            evidence += p[i]
        z = (y - mu_0) * precision
        exponent_0 = -0.5 * z * z * share_0
        if evidence > FAR:
            log_evidence, p_0 = math.log(evidence), height_0 * math.exp(exponent_0)
        else:
            log_evidence, evidence, p_0 = _gaussian_far(w, mu, nu, n, y, precision, exponent_0, height_0, p)
        # Weights, beliefs and readouts
        norm = 1.0 / (p_c * p_0 + (1.0 - p_c) * evidence)
        change, factor = p_c * p_0 * norm, (1.0 - p_c) * norm
        log_p[t], log_p_0[t], gamma[t] = log_evidence + log_norm, exponent_0 + log_height_0, change
        m = within = seen = 0.0
        for i in range(n):
            weight = factor * p[i]
            weight = weight if weight >= NOTHING else 0.0
            w[i] = weight
            mu[i] += (y - mu[i]) * gain[i]
            nu[i] += 1.0
            m += weight * mu[i]
            within += weight * gain[i]
            seen += weight * nu[i]
        if t == 0:
            w[0] += change  # a change is no news
            n, m, within, seen = 0, 0.0, 0.0, 0.0
            change = 1.0
        if n == capacity:
            capacity *= 2
            w, p, mu, nu, gain = (
                _larger(w, capacity),
                np.empty(capacity),
                _larger(mu, capacity),
                _larger(nu, capacity),
                _larger(gain, capacity),
            )
        w[n], nu[n], gain[n] = change, rho + 1.0, 1.0 / (rho + 1.0)
        mu[n] = mu_0 + (y - mu_0) * gain[n]
        m += change * mu[n]
        within += change * gain[n]
        seen += change * nu[n]
        n += 1
        between = 0.0
        for i in range(n):
            between += w[i] * (mu[i] - m) * (mu[i] - m)
        mean[t], variance[t], run_length[t] = m, within * sigma * sigma + between, seen - rho
        # Forget the light ones, when there are enough of them to be worth it
        light = 0
        for i in range(n):
            light += 1 if w[i] < threshold else 0
        if light > n / 16:
            kept, total = 0, 0.0
            for i in range(n):
                if w[i] >= threshold:
                    w[kept], mu[kept], nu[kept] = w[i], mu[i], nu[i]
                    total += w[i]
                    kept += 1
            n = kept
            if total != 1.0:
                for i in range(n):
                    w[i] /= total
    return mean, variance, log_p, log_p_0, gamma, run_length


@_compiled
def _exact_bayes_categorical(ys, k, s, p_c, cutoff):
    mean, variance, log_p, log_p_0, gamma, run_length = _room_for_rows(ys.size, k)
    nu_0, p_0 = k * s, 1.0 / k
    log_prior, threshold, capacity, n = math.log(p_0), max(cutoff, NOTHING), 128, 1
    w, p, nu, inverse, following = (
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity),
    )
    chi = np.empty((k, capacity))
    w[0], nu[0], inverse[0], following[0] = 1.0, nu_0, 1.0 / nu_0, 1.0 / (nu_0 + 1.0)
    chi[:, 0] = s
    for t in range(ys.size):
        y = ys[t]
        evidence = 0.0
        for i in range(n):
            p[i] = w[i] * (chi[y, i] * inverse[i])
            evidence += p[i]
        norm = 1.0 / (p_c * p_0 + (1.0 - p_c) * evidence)
        change, factor = p_c * p_0 * norm, (1.0 - p_c) * norm
        log_p[t], log_p_0[t], gamma[t] = math.log(evidence), log_prior, change
        if t == 0:
            n, change = 0, 1.0
        seen = 0.0
        for i in range(n):
            weight = factor * p[i]
            weight = weight if weight >= NOTHING else 0.0
            w[i] = weight
            chi[y, i] += 1.0
            nu[i] += 1.0
            inverse[i] = following[i]  # 1 / nu
            following[i] = 1.0 / (nu[i] + 1.0)
            seen += weight * nu[i]
        if n == capacity:
            capacity *= 2
            w, p, nu, inverse, following = (
                _larger(w, capacity),
                np.empty(capacity),
                _larger(nu, capacity),
                _larger(inverse, capacity),
                _larger(following, capacity),
            )
            chi = _larger_rows(chi, capacity)
        w[n], nu[n], inverse[n], following[n] = change, nu_0 + 1.0, 1.0 / (nu_0 + 1.0), 1.0 / (nu_0 + 2.0)
        chi[:, n] = s
        chi[y, n] += 1.0
        seen += change * nu[n]
        n += 1
        run_length[t] = seen - nu_0
        for row in range(k):
            m = 0.0
            for i in range(n):
                p[i] = chi[row, i] * inverse[i]
                m += w[i] * p[i]
            spread = 0.0
            for i in range(n):
                spread += w[i] * (p[i] * (1.0 - p[i]) * following[i] + (p[i] - m) * (p[i] - m))
            mean[t, row], variance[t, row] = m, spread
        light = 0
        for i in range(n):
            light += 1 if w[i] < threshold else 0
        if light > n / 16:
            kept, total = 0, 0.0
            for i in range(n):
                if w[i] >= threshold:
                    w[kept], nu[kept], inverse[kept], following[kept] = w[i], nu[i], inverse[i], following[i]
                    for row in range(k):
                        chi[row, kept] = chi[row, i]
                    total += w[i]
                    kept += 1
            n = kept
            if total != 1.0:
                for i in range(n):
                    w[i] /= total
    return mean, variance, log_p, log_p_0, gamma, run_length


# --- message passing with n hypotheses -----------------------------------------------------------------------------------


@_compiled
def _message_passing_gaussian(ys, sigma, mu_0, sigma_0, p_c, most):
    mean, variance, log_p, log_p_0, gamma, run_length = _room(ys.size)
    rho, precision = (sigma / sigma_0) ** 2, 1.0 / sigma
    share_0, log_norm = rho / (rho + 1.0), -math.log(sigma) - HALF_LOG_2_PI
    height_0, gain_0 = math.sqrt(share_0), 1.0 / (rho + 1.0)
    log_height_0 = math.log(height_0) + log_norm
    w, p, mu, nu, gain = np.empty(most), np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    w[0], mu[0], nu[0], n = 1.0, mu_0, rho, 1
    for t in range(ys.size):
        y, evidence = ys[t], 0.0
        for i in range(n):
            gain[i] = 1.0 / (nu[i] + 1.0)
            share = nu[i] * gain[i]
            z = (y - mu[i]) * precision
            p[i] = w[i] * (math.exp(-0.5 * z * z * share) * math.sqrt(share))
            evidence += p[i]
        z = (y - mu_0) * precision
        exponent_0 = -0.5 * z * z * share_0
        if evidence > FAR:
            log_evidence, p_0 = math.log(evidence), height_0 * math.exp(exponent_0)
        else:
            log_evidence, evidence, p_0 = _gaussian_far(w, mu, nu, n, y, precision, exponent_0, height_0, p)
        norm = 1.0 / (p_c * p_0 + (1.0 - p_c) * evidence)
        change, factor = p_c * p_0 * norm, (1.0 - p_c) * norm
        log_p[t], log_p_0[t], gamma[t] = log_evidence + log_norm, exponent_0 + log_height_0, change
        for i in range(n):
            weight = factor * p[i]
            w[i] = weight if weight >= NOTHING else 0.0
            mu[i] += (y - mu[i]) * gain[i]
            nu[i] += 1.0
        # The new hypothesis takes a free place, or that of the lightest, or none
        place = n
        if t == 0:
            place, change = 0, 1.0
        elif n < most:
            n += 1
        else:
            place = 0
            for i in range(1, n):
                if w[i] < w[place] or (w[i] == w[place] and nu[i] > nu[place]):
                    place = i
            kept = 1.0 / (1.0 - min(w[place], change))
            if change < w[place]:
                place = -1
            for i in range(n):
                w[i] *= kept
            change *= kept
        if place >= 0:
            w[place], nu[place], gain[place], mu[place] = change, rho + 1.0, gain_0, mu_0 + (y - mu_0) * gain_0
        m = within = seen = 0.0
        for i in range(n):
            m += w[i] * mu[i]
            within += w[i] * gain[i]
            seen += w[i] * nu[i]
        between = 0.0
        for i in range(n):
            between += w[i] * (mu[i] - m) * (mu[i] - m)
        mean[t], variance[t], run_length[t] = m, within * sigma * sigma + between, seen - rho
    return mean, variance, log_p, log_p_0, gamma, run_length


@_compiled
def _message_passing_categorical(ys, k, s, p_c, most):
    mean, variance, log_p, log_p_0, gamma, run_length = _room_for_rows(ys.size, k)
    nu_0, p_0 = k * s, 1.0 / k
    log_prior = math.log(p_0)
    w, p, nu, inverse, following = np.empty(most), np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    chi = np.empty((k, most))
    w[0], nu[0], inverse[0], following[0], n = 1.0, nu_0, 1.0 / nu_0, 1.0 / (nu_0 + 1.0), 1
    chi[:, 0] = s
    for t in range(ys.size):
        y, evidence = ys[t], 0.0
        for i in range(n):
            p[i] = w[i] * (chi[y, i] * inverse[i])
            evidence += p[i]
        norm = 1.0 / (p_c * p_0 + (1.0 - p_c) * evidence)
        change, factor = p_c * p_0 * norm, (1.0 - p_c) * norm
        log_p[t], log_p_0[t], gamma[t] = math.log(evidence), log_prior, change
        for i in range(n):
            weight = factor * p[i]
            w[i] = weight if weight >= NOTHING else 0.0
            chi[y, i] += 1.0
            nu[i] += 1.0
            inverse[i] = following[i]
            following[i] = 1.0 / (nu[i] + 1.0)
        place = n
        if t == 0:
            place, change = 0, 1.0
        elif n < most:
            n += 1
        else:
            place = 0
            for i in range(1, n):
                if w[i] < w[place] or (w[i] == w[place] and nu[i] > nu[place]):
                    place = i
            kept = 1.0 / (1.0 - min(w[place], change))
            if change < w[place]:
                place = -1
            for i in range(n):
                w[i] *= kept
            change *= kept
        if place >= 0:
            w[place], nu[place], inverse[place], following[place] = (
                change,
                nu_0 + 1.0,
                1.0 / (nu_0 + 1.0),
                1.0 / (nu_0 + 2.0),
            )
            for row in range(k):
                chi[row, place] = s
            chi[y, place] += 1.0
        seen = 0.0
        for i in range(n):
            seen += w[i] * nu[i]
        run_length[t] = seen - nu_0
        for row in range(k):
            m = 0.0
            for i in range(n):
                p[i] = chi[row, i] * inverse[i]
                m += w[i] * p[i]
            spread = 0.0
            for i in range(n):
                spread += w[i] * (p[i] * (1.0 - p[i]) * following[i] + (p[i] - m) * (p[i] - m))
            mean[t, row], variance[t, row] = m, spread
    return mean, variance, log_p, log_p_0, gamma, run_length


# --- stratified optimal resampling ---------------------------------------------------------------------------------------


@_compiled
def _hypothesis_to_drop(w, n, u):
    """Optimal resampling of n weights to n - 1: sets those that survive by chance to c, returns the one that does not.

    c solves sum_i min(w_i / c, 1) = n - 1, so the light weights, below c, add up to c times their number less one.
    """
    c, heavy = 2.0, 0
    while True:
        light_sum, light = 0.0, 0
        for i in range(n):
            light_sum += w[i] if w[i] < c else 0.0
            light += 1 if w[i] < c else 0
        if (n - light <= heavy and c < 2.0) or light <= 1:  # heavy only grows, but for rounding at a tie
            break
        heavy = n - light
        c = light_sum / (light - 1)
    distance = light_sum / (light - 1) if light > 1 else 0.0
    point, passed, dropped = distance * u, 0.0, -1
    for i in range(n):
        if w[i] < c:
            passed += w[i]
            if light > 1 and passed > point:
                light -= 1
                point += distance
                w[i] = distance
            else:
                dropped = i
    return dropped


@_compiled
def _stratified_resampling_gaussian(ys, sigma, mu_0, sigma_0, p_c, most, seed):
    mean, variance, log_p, log_p_0, gamma, run_length = _room(ys.size)
    rho, precision, state = (sigma / sigma_0) ** 2, 1.0 / sigma, seed
    share_0, log_norm = rho / (rho + 1.0), -math.log(sigma) - HALF_LOG_2_PI
    height_0, gain_0 = math.sqrt(share_0), 1.0 / (rho + 1.0)
    log_height_0 = math.log(height_0) + log_norm
    room = most + 1
    w, p, mu, nu, gain = np.empty(room), np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    w[0], mu[0], nu[0], n = 1.0, mu_0, rho, 1
    for t in range(ys.size):
        y, evidence = ys[t], 0.0
        for i in range(n):
            gain[i] = 1.0 / (nu[i] + 1.0)
            share = nu[i] * gain[i]
            z = (y - mu[i]) * precision
            p[i] = w[i] * (math.exp(-0.5 * z * z * share) * math.sqrt(share))
            evidence += p[i]
        z = (y - mu_0) * precision
        exponent_0 = -0.5 * z * z * share_0
        if evidence > FAR:
            log_evidence, p_0 = math.log(evidence), height_0 * math.exp(exponent_0)
        else:
            log_evidence, evidence, p_0 = _gaussian_far(w, mu, nu, n, y, precision, exponent_0, height_0, p)
        norm = 1.0 / (p_c * p_0 + (1.0 - p_c) * evidence)
        change, factor = p_c * p_0 * norm, (1.0 - p_c) * norm
        log_p[t], log_p_0[t], gamma[t] = log_evidence + log_norm, exponent_0 + log_height_0, change
        if t == 0:
            n, change = 0, 1.0
        lightest = change
        for i in range(n):
            w[i] = factor * p[i]
            lightest = min(lightest, w[i])
            mu[i] += (y - mu[i]) * gain[i]
            nu[i] += 1.0
        w[n], nu[n], gain[n], mu[n] = change, rho + 1.0, gain_0, mu_0 + (y - mu_0) * gain_0
        n += 1
        if lightest < NOTHING:
            kept = 0
            for i in range(n):
                if w[i] >= NOTHING:
                    w[kept], mu[kept], nu[kept], gain[kept] = w[i], mu[i], nu[i], gain[i]
                    kept += 1
            n = kept
        if n > most:
            state += _GOLDEN
            dropped = _hypothesis_to_drop(w, n, _unit(state))
            n -= 1
            for i in range(dropped, n):
                w[i], mu[i], nu[i], gain[i] = w[i + 1], mu[i + 1], nu[i + 1], gain[i + 1]
        total = m = within = seen = 0.0
        for i in range(n):
            total += w[i]
            m += w[i] * mu[i]
            within += w[i] * gain[i]
            seen += w[i] * nu[i]
        total = 1.0 / total
        m *= total
        between = 0.0
        for i in range(n):
            between += w[i] * (mu[i] - m) * (mu[i] - m)
            w[i] *= total
        mean[t], variance[t], run_length[t] = m, (within * sigma * sigma + between) * total, seen * total - rho
    return mean, variance, log_p, log_p_0, gamma, run_length


@_compiled
def _stratified_resampling_categorical(ys, k, s, p_c, most, seed):
    mean, variance, log_p, log_p_0, gamma, run_length = _room_for_rows(ys.size, k)
    nu_0, p_0, state = k * s, 1.0 / k, seed
    log_prior, room = math.log(p_0), most + 1
    w, p, nu, inverse, following = np.empty(room), np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    chi = np.empty((k, room))
    w[0], nu[0], inverse[0], following[0], n = 1.0, nu_0, 1.0 / nu_0, 1.0 / (nu_0 + 1.0), 1
    chi[:, 0] = s
    for t in range(ys.size):
        y, evidence = ys[t], 0.0
        for i in range(n):
            p[i] = w[i] * (chi[y, i] * inverse[i])
            evidence += p[i]
        norm = 1.0 / (p_c * p_0 + (1.0 - p_c) * evidence)
        change, factor = p_c * p_0 * norm, (1.0 - p_c) * norm
        log_p[t], log_p_0[t], gamma[t] = math.log(evidence), log_prior, change
        if t == 0:
            n, change = 0, 1.0
        lightest = change
        for i in range(n):
            w[i] = factor * p[i]
            lightest = min(lightest, w[i])
            chi[y, i] += 1.0
            nu[i] += 1.0
            inverse[i] = following[i]
            following[i] = 1.0 / (nu[i] + 1.0)
        w[n], nu[n], inverse[n], following[n] = change, nu_0 + 1.0, 1.0 / (nu_0 + 1.0), 1.0 / (nu_0 + 2.0)
        for row in range(k):
            chi[row, n] = s
        chi[y, n] += 1.0
        n += 1
        if lightest < NOTHING:
            kept = 0
            for i in range(n):
                if w[i] >= NOTHING:
                    w[kept], nu[kept], inverse[kept], following[kept] = w[i], nu[i], inverse[i], following[i]
                    for row in range(k):
                        chi[row, kept] = chi[row, i]
                    kept += 1
            n = kept
        if n > most:
            state += _GOLDEN
            dropped = _hypothesis_to_drop(w, n, _unit(state))
            n -= 1
            for i in range(dropped, n):
                w[i], nu[i], inverse[i], following[i] = w[i + 1], nu[i + 1], inverse[i + 1], following[i + 1]
            for row in range(k):
                for i in range(dropped, n):
                    chi[row, i] = chi[row, i + 1]
        total = seen = 0.0
        for i in range(n):
            total += w[i]
            seen += w[i] * nu[i]
        total = 1.0 / total
        run_length[t] = seen * total - nu_0
        for i in range(n):
            w[i] *= total
        for row in range(k):
            m = 0.0
            for i in range(n):
                p[i] = chi[row, i] * inverse[i]
                m += w[i] * p[i]
            spread = 0.0
            for i in range(n):
                spread += w[i] * (p[i] * (1.0 - p[i]) * following[i] + (p[i] - m) * (p[i] - m))
            mean[t, row], variance[t, row] = m, spread
    return mean, variance, log_p, log_p_0, gamma, run_length


# --- merging -------------------------------------------------------------------------------------------------------------


@_compiled
def _merge_gaussian(ys, sigma, mu_0, sigma_0, p_c, most):
    mean, variance, log_p, log_p_0, gamma, run_length = _room(ys.size)
    rho, precision = (sigma / sigma_0) ** 2, 1.0 / sigma
    share_0, log_norm = rho / (rho + 1.0), -math.log(sigma) - HALF_LOG_2_PI
    height_0, gain_0 = math.sqrt(share_0), 1.0 / (rho + 1.0)
    log_height_0 = math.log(height_0) + log_norm
    room = most + 1
    w, p, mu, nu, gain, r = np.empty(room), np.empty(room), np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    w[0], mu[0], nu[0], r[0], n = 1.0, mu_0, rho, 0.0, 1
    for t in range(ys.size):
        y, evidence = ys[t], 0.0
        for i in range(n):
            gain[i] = 1.0 / (nu[i] + 1.0)
            share = nu[i] * gain[i]
            z = (y - mu[i]) * precision
            p[i] = w[i] * (math.exp(-0.5 * z * z * share) * math.sqrt(share))
            evidence += p[i]
        z = (y - mu_0) * precision
        exponent_0 = -0.5 * z * z * share_0
        if evidence > FAR:
            log_evidence, p_0 = math.log(evidence), height_0 * math.exp(exponent_0)
        else:
            log_evidence, evidence, p_0 = _gaussian_far(w, mu, nu, n, y, precision, exponent_0, height_0, p)
        norm = 1.0 / (p_c * p_0 + (1.0 - p_c) * evidence)
        change, factor = p_c * p_0 * norm, (1.0 - p_c) * norm
        log_p[t], log_p_0[t], gamma[t] = log_evidence + log_norm, exponent_0 + log_height_0, change
        if t == 0:
            n, change = 0, 1.0
        lightest = change
        for i in range(n):
            w[i] = factor * p[i]
            lightest = min(lightest, w[i])
            mu[i] += (y - mu[i]) * gain[i]
            nu[i] += 1.0
            r[i] += 1.0
        w[n], nu[n], gain[n], mu[n], r[n] = change, rho + 1.0, gain_0, mu_0 + (y - mu_0) * gain_0, 1.0
        n += 1
        if lightest < NOTHING:
            kept = 0
            for i in range(n):
                if w[i] >= NOTHING:
                    w[kept], mu[kept], nu[kept], gain[kept], r[kept] = w[i], mu[i], nu[i], gain[i], r[i]
                    kept += 1
            n = kept
        if n > most:
            # The pair of neighbours that costs least
            least, i = np.inf, 0
            root = math.sqrt(w[0])
            for j in range(n - 1):
                apart = (mu[j] - mu[j + 1]) * precision
                spread = math.log(nu[j] * gain[j + 1])
                next_root = math.sqrt(w[j + 1])
                cost = root * next_root * (apart * apart + (gain[j] + gain[j + 1]) * spread * spread)
                root = next_root
                if cost < least:
                    least, i = cost, j
            both = w[i] + w[i + 1]
            a, b = w[i] / both, w[i + 1] / both
            apart = (mu[i] - mu[i + 1]) * precision
            w[i], mu[i], r[i] = both, a * mu[i] + b * mu[i + 1], a * r[i] + b * r[i + 1]
            gain[i] = a * gain[i] + b * gain[i + 1] + (a * apart) * (b * apart)
            nu[i] = 1.0 / gain[i]
            n -= 1
            for j in range(i + 1, n):
                w[j], mu[j], nu[j], gain[j], r[j] = w[j + 1], mu[j + 1], nu[j + 1], gain[j + 1], r[j + 1]
        m = within = seen = 0.0
        for i in range(n):
            m += w[i] * mu[i]
            within += w[i] * gain[i]
            seen += w[i] * r[i]
        between = 0.0
        for i in range(n):
            between += w[i] * (mu[i] - m) * (mu[i] - m)
        mean[t], variance[t], run_length[t] = m, within * sigma * sigma + between, seen
    return mean, variance, log_p, log_p_0, gamma, run_length


@_compiled
def _merge_categorical(ys, k, s, p_c, most):
    mean, variance, log_p, log_p_0, gamma, run_length = _room_for_rows(ys.size, k)
    nu_0, p_0 = k * s, 1.0 / k
    log_prior, room = math.log(p_0), most + 1
    w, p, nu, inverse, following = np.empty(room), np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    r, apart, share = np.empty(room), np.empty(room), np.empty((k, room))
    chi = np.empty((k, room))
    w[0], nu[0], inverse[0], following[0], r[0], n = 1.0, nu_0, 1.0 / nu_0, 1.0 / (nu_0 + 1.0), 0.0, 1
    chi[:, 0] = s
    for t in range(ys.size):
        y, evidence = ys[t], 0.0
        for i in range(n):
            p[i] = w[i] * (chi[y, i] * inverse[i])
            evidence += p[i]
        norm = 1.0 / (p_c * p_0 + (1.0 - p_c) * evidence)
        change, factor = p_c * p_0 * norm, (1.0 - p_c) * norm
        log_p[t], log_p_0[t], gamma[t] = math.log(evidence), log_prior, change
        if t == 0:
            n, change = 0, 1.0
        lightest = change
        for i in range(n):
            w[i] = factor * p[i]
            lightest = min(lightest, w[i])
            chi[y, i] += 1.0
            nu[i] += 1.0
            r[i] += 1.0
            inverse[i] = following[i]
            following[i] = 1.0 / (nu[i] + 1.0)
        w[n], nu[n], inverse[n], following[n], r[n] = change, nu_0 + 1.0, 1.0 / (nu_0 + 1.0), 1.0 / (nu_0 + 2.0), 1.0
        for row in range(k):
            chi[row, n] = s
        chi[y, n] += 1.0
        n += 1
        if lightest < NOTHING:
            kept = 0
            for i in range(n):
                if w[i] >= NOTHING:
                    w[kept], nu[kept], inverse[kept], following[kept], r[kept] = w[i], nu[i], inverse[i], following[i], r[i]
                    for row in range(k):
                        chi[row, kept] = chi[row, i]
                    kept += 1
            n = kept
        for row in range(k):
            for i in range(n):
                share[row, i] = chi[row, i] * inverse[i]
        if n > most:
            # The pair of neighbours that costs least
            for i in range(n - 1):
                apart[i] = 0.0
            for row in range(k):
                for i in range(n - 1):
                    difference = share[row, i] - share[row, i + 1]
                    apart[i] += difference * difference / (w[i] * share[row, i] + w[i + 1] * share[row, i + 1])
            least, i = np.inf, 0
            root = math.sqrt(w[0])
            for j in range(n - 1):
                spread = math.log(following[j] * (nu[j + 1] + 1.0))
                next_root = math.sqrt(w[j + 1])
                variances = (k - 1) * (following[j] + following[j + 1])
                cost = root * next_root * ((w[j] + w[j + 1]) * apart[j] + variances * spread * spread)
                root = next_root
                if cost < least:
                    least, i = cost, j
            # The pair becomes one, with its mean and its total variance
            both = w[i] + w[i + 1]
            a, b = w[i] / both, w[i + 1] / both
            distance = spread_i = spread_j = 0.0
            for row in range(k):
                p_i, p_j = share[row, i], share[row, i + 1]
                distance += (p_i - p_j) * (p_i - p_j)
                spread_i += p_i * (1.0 - p_i)
                spread_j += p_j * (1.0 - p_j)
                share[row, i] = a * p_i + b * p_j
            spread_i, spread_j = spread_i * following[i], spread_j * following[i + 1]
            total = a * spread_i + b * spread_j + a * b * distance
            nu[i] = (a * nu[i] * spread_i + b * nu[i + 1] * spread_j) / total
            inverse[i], following[i] = 1.0 / nu[i], 1.0 / (nu[i] + 1.0)
            w[i], r[i] = both, a * r[i] + b * r[i + 1]
            n -= 1
            for j in range(i + 1, n):
                w[j], nu[j], inverse[j], following[j], r[j] = w[j + 1], nu[j + 1], inverse[j + 1], following[j + 1], r[j + 1]
            for row in range(k):
                chi[row, i] = share[row, i] * nu[i]
                for j in range(i + 1, n):
                    chi[row, j], share[row, j] = chi[row, j + 1], share[row, j + 1]
        seen = 0.0
        for i in range(n):
            seen += w[i] * r[i]
        run_length[t] = seen
        for row in range(k):
            m = 0.0
            for i in range(n):
                m += w[i] * share[row, i]
            spread = 0.0
            for i in range(n):
                p_i = share[row, i]
                spread += w[i] * (p_i * (1.0 - p_i) * following[i] + (p_i - m) * (p_i - m))
            mean[t, row], variance[t, row] = m, spread
    return mean, variance, log_p, log_p_0, gamma, run_length


# --- particle filtering ----------------------------------------------------------------------------------------------------


@_compiled
def _particle_filter_gaussian(ys, sigma, mu_0, sigma_0, p_c, n, resample_below, seed):
    mean, variance, log_p, log_p_0, gamma, run_length = _room(ys.size)
    rho, precision, state = (sigma / sigma_0) ** 2, 1.0 / sigma, seed
    share_0, log_norm = rho / (rho + 1.0), -math.log(sigma) - HALF_LOG_2_PI
    height_0, gain_0 = math.sqrt(share_0), 1.0 / (rho + 1.0)
    log_height_0 = math.log(height_0) + log_norm
    w, p, mu, nu, gain, draws = np.full(n, 1.0 / n), np.empty(n), np.full(n, mu_0), np.full(n, rho), np.empty(n), np.empty(n)
    for t in range(ys.size):
        y, evidence = ys[t], 0.0
        for i in range(n):
            gain[i] = 1.0 / (nu[i] + 1.0)
            share = nu[i] * gain[i]
            z = (y - mu[i]) * precision
            p[i] = w[i] * (math.exp(-0.5 * z * z * share) * math.sqrt(share))
            evidence += p[i]
        z = (y - mu_0) * precision
        exponent_0 = -0.5 * z * z * share_0
        if evidence > FAR:
            log_evidence, p_0 = math.log(evidence), height_0 * math.exp(exponent_0)
        else:
            log_evidence, evidence, p_0 = _gaussian_far(w, mu, nu, n, y, precision, exponent_0, height_0, p)
        change, stay = p_c * p_0, 1.0 - p_c
        norm = 1.0 / (change + stay * evidence)  # the new weights' sum
        log_p[t], log_p_0[t], gamma[t] = log_evidence + log_norm, exponent_0 + log_height_0, change * norm
        first = mu_0 + (y - mu_0) * gain_0
        squares = 0.0
        for i in range(n):
            stayed = stay * p[i]
            weight = stayed + change * w[i]
            state += _GOLDEN
            if _unit(state) * weight >= stayed:
                mu[i], nu[i], gain[i] = first, rho + 1.0, gain_0
            else:
                mu[i] += (y - mu[i]) * gain[i]
                nu[i] += 1.0
            weight *= norm
            w[i] = weight
            squares += weight * weight
        if resample_below * n * squares >= 1.0:
            for i in range(n):
                draws[i] = 0.0
            for i in range(1, n):
                w[i] += w[i - 1]
            for _ in range(n):
                state += _GOLDEN
                x, low, high = _unit(state) * w[n - 1], 0, n - 1
                while low < high:
                    middle = (low + high) // 2
                    if w[middle] > x:
                        high = middle
                    else:
                        low = middle + 1
                draws[low] += 1.0
            empty = 0
            for i in range(n):
                while draws[i] > 1.0:
                    while draws[empty] > 0.0:
                        empty += 1
                    mu[empty], nu[empty], gain[empty] = mu[i], nu[i], gain[i]
                    draws[empty] = 1.0
                    draws[i] -= 1.0
            for i in range(n):
                w[i] = 1.0 / n
        m = within = seen = 0.0
        for i in range(n):
            m += w[i] * mu[i]
            within += w[i] * gain[i]
            seen += w[i] * nu[i]
        between = 0.0
        for i in range(n):
            between += w[i] * (mu[i] - m) * (mu[i] - m)
        mean[t], variance[t], run_length[t] = m, within * sigma * sigma + between, seen - rho
    return mean, variance, log_p, log_p_0, gamma, run_length


@_compiled
def _particle_filter_categorical(ys, k, s, p_c, n, resample_below, seed):
    mean, variance, log_p, log_p_0, gamma, run_length = _room_for_rows(ys.size, k)
    nu_0, p_0, state = k * s, 1.0 / k, seed
    log_prior, change, stay = math.log(p_0), p_c / k, 1.0 - p_c
    w, p, nu, draws = np.full(n, 1.0 / n), np.empty(n), np.full(n, nu_0), np.empty(n)
    inverse, following, chi = np.full(n, 1.0 / nu_0), np.full(n, 1.0 / (nu_0 + 1.0)), np.full((k, n), s)
    for t in range(ys.size):
        y, evidence = ys[t], 0.0
        for i in range(n):
            p[i] = w[i] * (chi[y, i] * inverse[i])
            evidence += p[i]
        norm = 1.0 / (change + stay * evidence)
        log_p[t], log_p_0[t], gamma[t] = math.log(evidence), log_prior, change * norm
        squares = 0.0
        for i in range(n):
            stayed = stay * p[i]
            weight = stayed + change * w[i]
            state += _GOLDEN
            if _unit(state) * weight >= stayed:
                nu[i] = nu_0
                for row in range(k):
                    chi[row, i] = s
            weight *= norm
            w[i] = weight
            squares += weight * weight
        for i in range(n):
            chi[y, i] += 1.0
            nu[i] += 1.0
        if resample_below * n * squares >= 1.0:
            for i in range(n):
                draws[i] = 0.0
            for i in range(1, n):
                w[i] += w[i - 1]
            for _ in range(n):
                state += _GOLDEN
                x, low, high = _unit(state) * w[n - 1], 0, n - 1
                while low < high:
                    middle = (low + high) // 2
                    if w[middle] > x:
                        high = middle
                    else:
                        low = middle + 1
                draws[low] += 1.0
            empty = 0
            for i in range(n):
                while draws[i] > 1.0:
                    while draws[empty] > 0.0:
                        empty += 1
                    nu[empty] = nu[i]
                    for row in range(k):
                        chi[row, empty] = chi[row, i]
                    draws[empty] = 1.0
                    draws[i] -= 1.0
            for i in range(n):
                w[i] = 1.0 / n
        seen = 0.0
        for i in range(n):
            inverse[i] = 1.0 / nu[i]
            following[i] = 1.0 / (nu[i] + 1.0)
            seen += w[i] * nu[i]
        run_length[t] = seen - nu_0
        for row in range(k):
            m = 0.0
            for i in range(n):
                p[i] = chi[row, i] * inverse[i]
                m += w[i] * p[i]
            spread = 0.0
            for i in range(n):
                spread += w[i] * (p[i] * (1.0 - p[i]) * following[i] + (p[i] - m) * (p[i] - m))
            mean[t, row], variance[t, row] = m, spread
    return mean, variance, log_p, log_p_0, gamma, run_length


# --- one belief ------------------------------------------------------------------------------------------------------------


@_compiled
def _varsmile_gaussian(ys, sigma, mu_0, sigma_0, m):
    mean, variance, log_p, log_p_0, gamma, run_length = _room(ys.size)
    rho, precision = (sigma / sigma_0) ** 2, 1.0 / sigma
    share_0, log_norm, log_m = rho / (rho + 1.0), -math.log(sigma) - HALF_LOG_2_PI, math.log(m)
    log_height_0 = 0.5 * math.log(share_0) + log_norm
    mu, nu, r = mu_0, rho, 0.0
    for t in range(ys.size):
        y = ys[t]
        share = nu / (nu + 1.0)
        z, z_0 = (y - mu) * precision, (y - mu_0) * precision
        log_now = 0.5 * (math.log(share) - z * z * share) + log_norm
        log_prior = log_height_0 - 0.5 * z_0 * z_0 * share_0
        change = 1.0 / (1.0 + math.exp(log_now - log_prior - log_m))
        stay = 1.0 - change
        kept, reset = stay * nu, change * rho
        nu = kept + reset + 1.0
        gain = 1.0 / nu
        mu = (kept * mu + reset * mu_0 + y) * gain
        r = stay * r + 1.0
        mean[t], variance[t], log_p[t], log_p_0[t], gamma[t], run_length[t] = (
            mu,
            sigma * sigma * gain,
            log_now,
            log_prior,
            change,
            r,
        )
    return mean, variance, log_p, log_p_0, gamma, run_length


@_compiled
def _varsmile_categorical(ys, k, s, m):
    mean, variance, log_p, log_p_0, gamma, run_length = _room_for_rows(ys.size, k)
    nu_0, log_prior, odds = k * s, -math.log(k), m / k
    chi, nu, r = np.full(k, s), nu_0, 0.0
    for t in range(ys.size):
        y = ys[t]
        p = chi[y] / nu
        norm = 1.0 / (p + odds)
        stay, change = p * norm, odds * norm
        nu = stay * nu + change * nu_0 + 1.0
        r = stay * r + 1.0
        inverse, following = 1.0 / nu, 1.0 / (nu + 1.0)
        for row in range(k):
            chi[row] = stay * chi[row] + change * s
        chi[y] += 1.0
        for row in range(k):
            share = chi[row] * inverse
            mean[t, row], variance[t, row] = share, share * (1.0 - share) * following
        log_p[t], log_p_0[t], gamma[t], run_length[t] = math.log(p), log_prior, change, r
    return mean, variance, log_p, log_p_0, gamma, run_length


@_compiled
def _nas10_star_gaussian(ys, sigma, mu_0, sigma_0, p_c):
    mean, variance, log_p, log_p_0, gamma, run_length = _room(ys.size)
    rho, precision = (sigma / sigma_0) ** 2, 1.0 / sigma
    share_0, log_norm, log_m = rho / (rho + 1.0), -math.log(sigma) - HALF_LOG_2_PI, math.log(p_c) - math.log1p(-p_c)
    log_height_0, gain_0 = 0.5 * math.log(share_0) + log_norm, 1.0 / (rho + 1.0)
    mu, r = mu_0, 0.0
    for t in range(ys.size):
        y, nu = ys[t], rho + r
        gain = 1.0 / (nu + 1.0)
        share = nu * gain
        z, z_0 = (y - mu) * precision, (y - mu_0) * precision
        log_now = 0.5 * (math.log(share) - z * z * share) + log_norm
        log_prior = log_height_0 - 0.5 * z_0 * z_0 * share_0
        change = 1.0 / (1.0 + math.exp(log_now - log_prior - log_m))
        stay = 1.0 - change
        mu = stay * (mu + (y - mu) * gain) + change * (mu_0 + (y - mu_0) * gain_0)
        r = stay * (r + 1.0) + change
        mean[t], variance[t], log_p[t], log_p_0[t], gamma[t], run_length[t] = (
            mu,
            sigma * sigma / (rho + r),
            log_now,
            log_prior,
            change,
            r,
        )
    return mean, variance, log_p, log_p_0, gamma, run_length


@_compiled
def _nas12_star_gaussian(ys, sigma, mu_0, sigma_0, p_c):
    mean, variance, log_p, log_p_0, gamma, run_length = _room(ys.size)
    rho, precision = (sigma / sigma_0) ** 2, 1.0 / sigma
    share_0, log_norm, log_m = rho / (rho + 1.0), -math.log(sigma) - HALF_LOG_2_PI, math.log(p_c) - math.log1p(-p_c)
    log_height_0, gain_0 = 0.5 * math.log(share_0) + log_norm, 1.0 / (rho + 1.0)
    mu, nu = mu_0, rho
    for t in range(ys.size):
        y = ys[t]
        gain = 1.0 / (nu + 1.0)
        share = nu * gain
        z, z_0 = (y - mu) * precision, (y - mu_0) * precision
        log_now = 0.5 * (math.log(share) - z * z * share) + log_norm
        log_prior = log_height_0 - 0.5 * z_0 * z_0 * share_0
        change = 1.0 / (1.0 + math.exp(log_now - log_prior - log_m))
        stay = 1.0 - change
        stayed, changed = mu + (y - mu) * gain, mu_0 + (y - mu_0) * gain_0
        apart = (stayed - changed) * precision
        mu = stay * stayed + change * changed
        spread = stay * gain + change * gain_0 + (stay * apart) * (change * apart)
        nu = 1.0 / spread
        mean[t], variance[t], log_p[t], log_p_0[t], gamma[t], run_length[t] = (
            mu,
            sigma * sigma * spread,
            log_now,
            log_prior,
            change,
            nu - rho,
        )
    return mean, variance, log_p, log_p_0, gamma, run_length


@_compiled
def _leaky_gaussian(ys, omega):
    mean, run_length = np.empty(ys.size), np.empty(ys.size)
    mu = nu = 0.0
    for t in range(ys.size):
        nu = omega * nu + 1.0
        mu += (ys[t] - mu) / nu
        mean[t], run_length[t] = mu, nu
    return mean, run_length


@_compiled
def _leaky_categorical(ys, k, omega):
    mean, run_length = np.empty((ys.size, k)), np.empty(ys.size)
    chi, nu = np.zeros(k), 0.0
    for t in range(ys.size):
        nu = omega * nu + 1.0
        inverse = 1.0 / nu
        for row in range(k):
            chi[row] *= omega
        chi[ys[t]] += 1.0
        for row in range(k):
            mean[t, row] = chi[row] * inverse
        run_length[t] = nu
    return mean, run_length


# --- SMiLe -----------------------------------------------------------------------------------------------------------------


@_compiled
def _smile_gaussian(ys, sigma, mu_0, sigma_0, m):
    mean, variance, log_p, log_p_0, gamma, run_length = _room(ys.size)
    rho, precision = (sigma / sigma_0) ** 2, 1.0 / sigma
    share_0, log_norm = rho / (rho + 1.0), -math.log(sigma) - HALF_LOG_2_PI
    log_height_0 = 0.5 * math.log(share_0) + log_norm
    mu, nu, r = mu_0, rho, 0.0
    for t in range(ys.size):
        y = ys[t]
        share = nu / (nu + 1.0)
        z, z_0 = (y - mu) * precision, (y - mu_0) * precision
        log_p[t] = 0.5 * (math.log(share) - z * z * share) + log_norm
        log_p_0[t] = log_height_0 - 0.5 * z_0 * z_0 * share_0
        # Confidence-corrected surprise KL[N(mu, sigma^2 / nu) || N(y, sigma^2)] and the bound it sets
        log_nu, squared = math.log1p(nu - 1.0), z * z
        surprise = 0.5 * (1.0 / nu - 1.0 + log_nu + squared)
        largest = 0.5 * (nu - 1.0 - log_nu + nu * squared)
        bound = largest * (m / (m + 1.0 / surprise)) if surprise > 0.0 else 0.0
        # Regula falsi (Illinois) for sqrt(KL[pi_change || pi]) = sqrt(bound)
        change = 0.0
        if bound > 0.0:
            target, low, high = math.sqrt(bound), 0.0, 1.0
            f_low, f_high = -target, math.sqrt(max(largest, 0.0)) - target
            change, moved = 1.0, 0
            for _ in range(100 if f_high > 0.0 else 0):
                before = change
                change = (low * f_high - high * f_low) / (f_high - f_low)
                if not low < change < high:
                    change = 0.5 * (low + high)
                inverse = 1.0 / (nu + change * (1.0 - nu))
                step, ratio = change * inverse, change * (nu - 1.0) * inverse
                f = math.sqrt(max(0.5 * (ratio - math.log1p(ratio) + nu * squared * step * step), 0.0)) - target
                if abs(f) <= 1e-13 * target + 1e-15 / target or abs(change - before) <= 1e-14 * change:
                    break
                if f < 0.0:
                    f_high *= 0.5 if moved == -1 else 1.0
                    low, f_low, moved = change, f, -1
                else:
                    f_low *= 0.5 if moved == 1 else 1.0
                    high, f_high, moved = change, f, 1
        nu = (1.0 - change) * nu + change
        mu += change / nu * (y - mu)
        r = (1.0 - change) * r + change
        mean[t], variance[t], gamma[t], run_length[t] = mu, sigma * sigma / nu, change, r
    return mean, variance, log_p, log_p_0, gamma, run_length


@_compiled
def _log_gamma_and_digamma(x):
    """Both for x > 0, with the recurrence and one logarithm shared: Stirling's series above 10."""
    product, numerator = 1.0, 0.0  # of x (x + 1) ..., and of 1/x + 1/(x + 1) + ... over it
    while x < 10.0:
        numerator = numerator * x + product
        product *= x
        x += 1.0
    u, log_x = 1.0 / x, math.log(x)
    v = u * u
    series = 1.0 / 156.0 - v * (3617.0 / 122400.0)
    series = series * v - 691.0 / 360360.0
    series = series * v + 1.0 / 1188.0
    series = series * v - 1.0 / 1680.0
    series = series * v + 1.0 / 1260.0
    series = series * v - 1.0 / 360.0
    series = series * v + 1.0 / 12.0
    log_gamma = (x - 0.5) * log_x - x + HALF_LOG_2_PI + series * u - math.log(product)
    slope = 1.0 / 12.0 - v * (3617.0 / 8160.0)
    slope = slope * v - 691.0 / 32760.0
    slope = slope * v + 1.0 / 132.0
    slope = slope * v - 1.0 / 240.0
    slope = slope * v + 1.0 / 252.0
    slope = slope * v - 1.0 / 120.0
    slope = slope * v + 1.0 / 12.0
    return log_gamma, log_x - 0.5 * u - slope * v - numerator / product


@_compiled
def _smile_categorical(ys, k, s, m):
    mean, variance, log_p, log_p_0, gamma, run_length = _room_for_rows(ys.size, k)
    nu_0, log_prior = k * s, -math.log(k)
    # The scaled likelihood is Dirichlet(1, ..., 2 at y, ..., 1): log Gamma(1) = log Gamma(2) = 0
    log_gamma_total, psi_total = _log_gamma_and_digamma(k + 1.0)
    psi_1, psi_2 = _log_gamma_and_digamma(1.0)[1], _log_gamma_and_digamma(2.0)[1]
    chi, nu, r = np.full(k, s), nu_0, 0.0
    for t in range(ys.size):
        y = ys[t]
        log_p[t], log_p_0[t] = math.log(chi[y] / nu), log_prior
        # Confidence-corrected surprise KL[pi || P~], KL[P~ || pi], and log of pi's norm, which stays fixed below
        log_gamma_nu, psi_nu = _log_gamma_and_digamma(nu)
        norm, forward, backward = log_gamma_nu, 0.0, 0.0
        for row in range(k):
            log_gamma_row, psi_row = _log_gamma_and_digamma(chi[row])
            norm -= log_gamma_row
            one = 2.0 if row == y else 1.0
            forward += (chi[row] - one) * (psi_row - psi_nu)
            backward += (one - chi[row]) * ((psi_2 if row == y else psi_1) - psi_total)
        surprise = forward + norm - log_gamma_total
        largest = backward + log_gamma_total - norm
        bound = largest * (m / (m + 1.0 / surprise)) if surprise > 0.0 else 0.0
        change = 0.0
        if bound > 0.0:
            target, low, high = math.sqrt(bound), 0.0, 1.0
            f_low, f_high = -target, math.sqrt(max(largest, 0.0)) - target
            change, moved = 1.0, 0
            for _ in range(100 if f_high > 0.0 else 0):
                before = change
                change = (low * f_high - high * f_low) / (f_high - f_low)
                if not low < change < high:
                    change = 0.5 * (low + high)
                total = nu + change * (k + 1.0 - nu)
                log_gamma_nu, psi_nu = _log_gamma_and_digamma(total)
                divergence = log_gamma_nu - norm
                for row in range(k):
                    more = change * ((2.0 if row == y else 1.0) - chi[row])
                    log_gamma_row, psi_row = _log_gamma_and_digamma(chi[row] + more)
                    divergence += more * (psi_row - psi_nu) - log_gamma_row
                f = math.sqrt(max(divergence, 0.0)) - target
                if abs(f) <= 1e-13 * target + 1e-15 / target or abs(change - before) <= 1e-14 * change:
                    break
                if f < 0.0:
                    f_high *= 0.5 if moved == -1 else 1.0
                    low, f_low, moved = change, f, -1
                else:
                    f_low *= 0.5 if moved == 1 else 1.0
                    high, f_high, moved = change, f, 1
        nu = (1.0 - change) * nu + change * (k + 1.0)
        r = (1.0 - change) * r + change
        inverse, following = 1.0 / nu, 1.0 / (nu + 1.0)
        for row in range(k):
            chi[row] = (1.0 - change) * chi[row] + (2.0 * change if row == y else change)
            share = chi[row] * inverse
            mean[t, row], variance[t, row] = share, share * (1.0 - share) * following
        gamma[t], run_length[t] = change, r
    return mean, variance, log_p, log_p_0, gamma, run_length


# --- one signature for all: kernel(learner, ys) ----------------------------------------------------------------------------


def _seed_word() -> np.uint64:
    """What `volatilis.run(..., seed=0)` starts its generator from."""
    return np.random.SeedSequence(0).generate_state(1, np.uint64)[0]


def _wrap(kernel: Any, fields: tuple[str, ...], sampled: bool) -> Callable[[Any, np.ndarray], Readouts]:
    def run(learner: Any, ys: np.ndarray) -> Readouts:
        hyper_parameters = [getattr(learner, name) for name in fields]
        seed = [_seed_word()] if sampled else []
        return Readouts(*kernel(ys, *learner.family, *hyper_parameters, *seed))

    return run


def _leaky_on_gaussian(learner: Any, ys: np.ndarray) -> Readouts:
    mean, run_length = _leaky_gaussian(ys, learner.omega)
    none = np.empty(0)
    return Readouts(mean, none, none, none, none, run_length)


def _leaky_on_categorical(learner: Any, ys: np.ndarray) -> Readouts:
    mean, run_length = _leaky_categorical(ys, learner.family.k, learner.omega)
    none = np.empty(0)
    return Readouts(mean, none, none, none, none, run_length)


_PARTICLES = ("p_c", "n", "resample_below")

KERNELS: dict[tuple[str, str], Callable[[Any, np.ndarray], Readouts]] = {
    ("ExactBayes", "Gaussian"): _wrap(_exact_bayes_gaussian, ("p_c", "cutoff"), False),
    ("ExactBayes", "Categorical"): _wrap(_exact_bayes_categorical, ("p_c", "cutoff"), False),
    ("VarSMiLe", "Gaussian"): _wrap(_varsmile_gaussian, ("m",), False),
    ("VarSMiLe", "Categorical"): _wrap(_varsmile_categorical, ("m",), False),
    ("MessagePassing", "Gaussian"): _wrap(_message_passing_gaussian, ("p_c", "n"), False),
    ("MessagePassing", "Categorical"): _wrap(_message_passing_categorical, ("p_c", "n"), False),
    ("ParticleFilter", "Gaussian"): _wrap(_particle_filter_gaussian, _PARTICLES, True),
    ("ParticleFilter", "Categorical"): _wrap(_particle_filter_categorical, _PARTICLES, True),
    ("StratifiedResampling", "Gaussian"): _wrap(_stratified_resampling_gaussian, ("p_c", "n"), True),
    ("StratifiedResampling", "Categorical"): _wrap(_stratified_resampling_categorical, ("p_c", "n"), True),
    ("Merge", "Gaussian"): _wrap(_merge_gaussian, ("p_c", "n"), False),
    ("Merge", "Categorical"): _wrap(_merge_categorical, ("p_c", "n"), False),
    ("SMiLe", "Gaussian"): _wrap(_smile_gaussian, ("m",), False),
    ("SMiLe", "Categorical"): _wrap(_smile_categorical, ("m",), False),
    ("Leaky", "Gaussian"): _leaky_on_gaussian,
    ("Leaky", "Categorical"): _leaky_on_categorical,
    ("Nas10Star", "Gaussian"): _wrap(_nas10_star_gaussian, ("p_c",), False),
    ("Nas12Star", "Gaussian"): _wrap(_nas12_star_gaussian, ("p_c",), False),
}

SAMPLERS = ("ParticleFilter", "StratifiedResampling")


def learner_for(pair: tuple[str, str], n: int = 20, p_c: float = 0.01, sigma: float = 1.0) -> Any:
    """The learner that a pair is measured with; n is the number of hypotheses or particles, where it has them."""
    learner, family_name = getattr(volatilis, pair[0]), pair[1]
    family = volatilis.Gaussian(sigma=sigma) if family_name == "Gaussian" else volatilis.Categorical(k=5)
    if pair[0] == "VarSMiLe":
        return learner(family, m=p_c / (1.0 - p_c))
    if pair[0] == "SMiLe":
        return learner(family, m=0.1)
    if pair[0] == "Leaky":
        return learner(family, omega=0.9)
    if pair[0] in ("MessagePassing", "Merge", *SAMPLERS):
        return learner(family, p_c=p_c, n=n)
    return learner(family, p_c=p_c)


def observations_for(pair: tuple[str, str], length: int, seed: int = 1, p_c: float = 0.01, sigma: float = 1.0) -> np.ndarray:
    """A sequence whose mean, or whose category probabilities, change with probability p_c."""
    rng = np.random.default_rng(seed)
    epoch = np.cumsum(rng.random(length) < p_c)
    if pair[1] == "Gaussian":
        return rng.normal(0.0, 1.0, epoch[-1] + 1)[epoch] + sigma * rng.normal(size=length)
    cumulative = np.cumsum(rng.dirichlet(np.ones(5), epoch[-1] + 1), axis=1)[epoch]
    return np.minimum((rng.random(length)[:, None] >= cumulative).sum(axis=1), 4)


# --- the same numbers --------------------------------------------------------------------------------------------------------


def library(learner: Any, ys: np.ndarray) -> Readouts:
    """The library's run, as a kernel's."""
    trace = volatilis.run(learner, ys)
    none = np.empty(0)
    if not hasattr(trace, "adaptation_rate"):
        return Readouts(trace.mean, none, none, none, none, trace.run_length)
    out = trace._outputs
    return Readouts(trace.mean, trace.variance, out.log_p, out.log_p_0, trace.adaptation_rate, trace.run_length)


def check(length: int = 3000) -> dict[tuple[str, str], float]:
    """Kernels and library agree on every readout; returns the largest relative difference of each pair.

    The bar is 1e-8. The samplers draw the same numbers in the same order and so meet it too, unless rounding once decides a
    draw the other way; then their means must agree as two runs with different seeds do.
    """
    worst = {}
    for pair, kernel in KERNELS.items():
        for n, p_c, sigma in ((20, 0.01, 1.0), (3, 0.1, 0.1), (1, 0.05, 0.5)):
            case = f"{pair} with n = {n}, p_c = {p_c}, sigma = {sigma}"
            learner, ys = learner_for(pair, n, p_c, sigma), observations_for(pair, length, n, p_c, sigma)
            ours, theirs = library(learner, ys), kernel(learner, ys)
            apart = {name: _largest_difference(getattr(ours, name), getattr(theirs, name)) for name in Readouts._fields}
            if pair[0] in SAMPLERS and not max(apart.values()) <= 1e-8:
                squared = float(np.mean((ours.mean - theirs.mean) ** 2))
                other = volatilis.run(learner, ys, seed=1)
                assert squared <= 3.0 * float(np.mean((ours.mean - other.mean) ** 2)), f"{case}: mean squared {squared}"
            else:
                for name, difference in apart.items():
                    assert difference <= 1e-8, f"{case}: {name} differs by {difference}"
            worst[pair] = max(worst.get(pair, 0.0), *apart.values())
    return worst


def _largest_difference(a: np.ndarray, b: np.ndarray) -> float:
    """Relative, with an allowance of rounding for numbers near zero."""
    assert a.shape == b.shape, f"shapes {a.shape} and {b.shape}"
    return float(np.max(np.abs(a - b) / (np.maximum(np.abs(a), np.abs(b)) + 1e-6), initial=0.0))


# --- how fast ----------------------------------------------------------------------------------------------------------------


class Timing(NamedTuple):
    """Seconds per observation, medians, and their ratio."""

    ratio: float
    library: float
    kernel: float


def ratios(
    length: int = 100_000, repeats: int = 5, n: int = 20, pairs: list[tuple[str, str]] | None = None
) -> dict[tuple[str, str], Timing]:
    """Time library and kernel side by side, by turns, after a warm-up."""
    result = {}
    for pair in pairs or KERNELS:
        learner, kernel = learner_for(pair, n), KERNELS[pair]
        factor = 0.1 if pair == ("SMiLe", "Categorical") else 1.0 if hasattr(learner, "n") or pair[0] == "ExactBayes" else 10.0
        ys = observations_for(pair, max(int(factor * length), 1))  # each for about as long
        volatilis.run(learner, ys[:1000])
        kernel(learner, ys[:1000])
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(repeats):
            for turn, function in enumerate((volatilis.run, kernel)):
                start = time.perf_counter()
                function(learner, ys)
                times[turn].append((time.perf_counter() - start) / len(ys))
        ours, theirs = (statistics.median(t) for t in times)
        result[pair] = Timing(ours / theirs, ours, theirs)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("-n", type=int, default=20, help="hypotheses or particles")
    options = parser.parse_args()
    apart = check()
    print(f"{'learner':22}{'family':13}{'library ns':>11}{'kernel ns':>11}{'ratio':>7}{'differ by':>11}")
    for pair, timing in ratios(options.length, options.repeats, options.n).items():
        times = f"{1e9 * timing.library:11.1f}{1e9 * timing.kernel:11.1f}{timing.ratio:7.2f}"
        print(f"{pair[0]:22}{pair[1]:13}{times}{apart[pair]:11.0e}")


if __name__ == "__main__":
    main()
