"""The paper, whole: its figures, its claims, its mistakes mended."""
