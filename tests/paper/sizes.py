"""A size of `volatilis paper` for tests: everything is there, nothing takes long."""

from __future__ import annotations

from volatilis.paper.settings import Size

TINY = Size("tiny", 2, 120, 160, (1, 60), (1, 60), 3, 1, 100, 1, 80, 3)
