"""Wild parameters and observations for every family and learner: `python -m tests.fuzz --minutes 60`."""
