"""Streams of lines: an estimate and an alarm at each line, one small state per key, kept over kill -9."""

from volatilis.watching.request import Summary, WatchRequest
from volatilis.watching.watcher import watch

__all__ = ["Summary", "WatchRequest", "watch"]
