"""Prints the requirements of one dependency group of pyproject.toml, one a line, for pip."""

import pathlib
import sys
import tomllib


def main() -> None:
    """Print the group named on the command line."""
    project = tomllib.loads(pathlib.Path("pyproject.toml").read_text())
    print("\n".join(project["dependency-groups"][sys.argv[1]]))


if __name__ == "__main__":
    main()
