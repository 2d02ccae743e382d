"""Tables as they are written: pandas up to 3.0 reads some numbers one bit off unless told not to, and 3.1 minds being told."""

from __future__ import annotations

import pathlib

import pandas as pd
from pyarrow import csv


def read_table(path: pathlib.Path) -> pd.DataFrame:
    delimiter = "\t" if ".tsv" in path.suffixes else ","
    return csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=delimiter)).to_pandas()
