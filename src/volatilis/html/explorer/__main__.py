"""`python -m volatilis.html.explorer --out out/explorer`: build the page. Needs wasm-ld (Debian: lld)."""

from __future__ import annotations

import argparse
import gzip
import pathlib
import sys

from volatilis._core.files import whole_file
from volatilis.html.explorer import page

MOST = 1_500_000  # bytes, compressed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="out/explorer", help="the folder of index.html")
    parser.add_argument("--home", help="where a link to the documentation leads, such as ../index.html")
    given = parser.parse_args()
    folder = pathlib.Path(given.out)
    text = page(lambda name: print(f"\r{name:60}", end="", file=sys.stderr, flush=True), given.home).encode()
    print(file=sys.stderr)
    packed = len(gzip.compress(text, 9))
    if packed > MOST:
        sys.exit(f"the page has {packed:,} bytes compressed; at most {MOST:,} are accepted")
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(folder / "index.html") as file:
        file.write(text)
    print(f"{folder / 'index.html'}: {len(text):,} bytes, {packed:,} compressed")


if __name__ == "__main__":
    main()
