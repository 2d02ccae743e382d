"""Pictures: each draws one object into Matplotlib axes. No learner, no file access."""

from volatilis.plots.trace import draw_on_circle, draw_trace

__all__ = ["draw_on_circle", "draw_trace"]
