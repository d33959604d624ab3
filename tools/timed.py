"""Runs a command, prints how long it took under a name, and passes its exit code on."""

import subprocess
import sys
import time


def main() -> int:
    """Run argv[2:] and report it as argv[1]."""
    start = time.monotonic()
    code = subprocess.run(sys.argv[2:], check=False).returncode
    print(f"{sys.argv[1]}: {time.monotonic() - start:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
