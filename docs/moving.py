"""The picture that moves on the first page: python docs/moving.py writes docs/images/moving.svg, an animation without script."""

from __future__ import annotations

import pathlib

import numpy as np

import volatilis as vl

WIDTH, HEIGHT, BARS, SECONDS = 760.0, 260.0, 70.0, 12.0
BEGUN = 5.0  # seconds that have passed when the page opens: nobody looks at an empty picture first
STYLE = """
.dot { fill: #8a8f96; opacity: 0; animation: appear 12s linear infinite; }
.bar { fill: #d55e00; opacity: 0; animation: appear 12s linear infinite; }
.truth { fill: none; stroke: #8a8f96; stroke-width: 1.2; stroke-dasharray: 2 3; }
.estimate { fill: none; stroke: #0a84d0; stroke-width: 2.4; }
.words { font: 17px system-ui, sans-serif; fill: #7b828a; }
.curtain { animation: uncover 12s linear -5s infinite; }
@keyframes appear { 0%, 1% { opacity: 0; } 2%, 97% { opacity: 1; } 100% { opacity: 0; } }
@keyframes uncover { 0% { transform: scaleX(0); } 90%, 100% { transform: scaleX(1); } }
@media (max-width: 520px) { .words { font-size: 27px; } } /* of the picture, which is as wide as a phone */
@media (prefers-reduced-motion: reduce) { .dot, .bar { animation: none; opacity: 1; } .curtain { animation: none; } }
"""


def picture() -> str:
    """Observations appear one by one, the estimate follows, and bars show the Bayes Factor Surprise."""
    family, p_c = vl.Gaussian(sigma=0.35, mu_0=0.0, sigma_0=1.2), 0.03
    y, theta, _ = vl.ChangingEnvironment(family, p_c).sample(140, seed=11)
    trace = vl.run(vl.Merge(family, p_c=p_c, n=20), y)
    x = 10.0 + (WIDTH - 20.0) * (np.arange(y.size) + 0.5) / y.size
    low, high = min(y.min(), trace.mean.min()), max(y.max(), trace.mean.max())

    def up(values: np.ndarray) -> np.ndarray:
        return 34.0 + (HEIGHT - BARS - 44.0) * (1.0 - (values - low) / (high - low))

    surprise = np.clip(trace.log_bayes_factor_surprise, 0.0, None)
    bars = (BARS - 16.0) * surprise / surprise.max()
    delays = 0.9 * SECONDS * np.arange(y.size) / y.size - SECONDS * 0.015 - BEGUN
    dots = "".join(
        f'<circle class="dot" cx="{a:.1f}" cy="{b:.1f}" r="2.3" style="animation-delay:{d:.2f}s"/>'
        for a, b, d in zip(x, up(y), delays, strict=True)
    )
    columns = "".join(
        f'<rect class="bar" x="{a - 1.6:.1f}" y="{HEIGHT - 8.0 - b:.1f}" width="3.2" height="{b:.1f}" '
        f'style="animation-delay:{d:.2f}s"/>'
        for a, b, d in zip(x, bars, delays, strict=True)
        if b > 0.5
    )
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, up(trace.mean), strict=True))
    steps = " ".join(f"{a - 2.6:.1f},{b:.1f} {a + 2.6:.1f},{b:.1f}" for a, b in zip(x, up(theta), strict=True))
    size = f'viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" width="{WIDTH:.0f}" height="{HEIGHT:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><title>Observations, estimate and surprise</title>'
        f"<style>{STYLE}</style>"
        f'<clipPath id="seen"><rect class="curtain" x="0" y="0" width="{WIDTH:.0f}" height="{HEIGHT:.0f}"/></clipPath>'
        f'<g clip-path="url(#seen)"><polyline class="truth" points="{steps}"/>{dots}'
        f'<polyline class="estimate" points="{line}"/>{columns}</g>'
        f'<text class="words" x="12" y="2" dominant-baseline="text-before-edge">what is seen, what is believed</text>'
        f'<text class="words" x="12" y="{HEIGHT - BARS + 8.0:.0f}">surprise</text></svg>\n'
    )


if __name__ == "__main__":
    (pathlib.Path(__file__).resolve().parent / "images" / "moving.svg").write_text(picture(), encoding="utf-8")
