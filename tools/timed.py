"""Runs a command, prints how long it took under a name, and passes its exit code on.

``python tools/timed.py --most 240 NAME COMMAND …`` fails above so many seconds on 2 cores. They are
counted as the processors' time over 2, so that a busy machine fails nothing; what only waits, such
as a disk, is not counted.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

CORES = 2


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=float, metavar="SECONDS", help="the limit, on 2 cores")
    parser.add_argument("name")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


def main() -> int:
    """Run the command and report it."""
    given = parse_arguments()
    start = time.monotonic()
    code = subprocess.run(given.command, check=False).returncode
    taken = time.monotonic() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    share = (used.ru_utime + used.ru_stime) / CORES
    print(f"{given.name}: {taken:.0f} s, {share:.0f} s of each of {CORES} cores", flush=True)
    if given.most is not None and share > given.most:
        print(f"{given.name}: more than {given.most:g} s of each of {CORES} cores", file=sys.stderr)
        return code or 1
    return code


if __name__ == "__main__":
    sys.exit(main())
