"""`python -m tests.fuzz --minutes 60`: as many wild cases as there is time for; prints those that fail, with their seeds."""

from __future__ import annotations

import argparse
import sys
import time

from .cases import PAIRS, make
from .checks import problems


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (default: 10)")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first case (default: 0)")
    parser.add_argument("--case", type=int, help="run this one case alone")
    parser.add_argument("--most", type=int, default=20, help="stop after so many failures (default: 20)")
    options = parser.parse_args()
    if options.case is not None:
        case = make(options.case)
        print(case)
        return _report(problems(case))
    start, seed, failures = time.monotonic(), options.first, 0
    said = start
    while time.monotonic() < start + 60.0 * options.minutes and failures < options.most:
        if time.monotonic() > said + 60.0:
            said = time.monotonic()
            print(f"{(said - start) / 60.0:.0f} minutes, {seed - options.first} cases", file=sys.stderr, flush=True)
        case = make(seed)
        found = problems(case)
        if found:
            failures += 1
            print(case, *(f"    {problem}" for problem in found), sep="\n", flush=True)
        seed += 1
    print(f"{seed - options.first} cases over {len(PAIRS)} pairs of family and learner, {failures} with problems")
    return 1 if failures else 0


def _report(found: list[str]) -> int:
    print(*(found or ["no problem"]), sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
