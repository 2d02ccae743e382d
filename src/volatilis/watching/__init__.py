"""Streams of lines: an estimate and an alarm at each line, one small state per key, kept over kill -9."""

from volatilis.watching.order import Order, Summary
from volatilis.watching.watcher import watch

__all__ = ["Order", "Summary", "watch"]
