"""Streams of lines: an estimate and an alarm at each line, one small state per key, kept over kill -9."""

from volatilis.watching.watcher import Order, Summary, watch

__all__ = ["Order", "Summary", "watch"]
