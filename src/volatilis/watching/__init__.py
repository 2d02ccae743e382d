"""Streams of lines: an estimate and an alarm at each line, one small state per key, kept over kill -9."""

from volatilis.watching.request import Summary, WatchRequest
from volatilis.watching.watcher import NoGoodLineError, watch

__all__ = ["NoGoodLineError", "Summary", "WatchRequest", "watch"]
