"""Slow and naive versions of what the library computes, sharing no code with it."""
