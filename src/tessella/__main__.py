"""The command line: `python -m tessella demo | train | info`."""

from __future__ import annotations

import argparse
import sys

from tessella import errors
from tessella.commands import facts, tasks


def parser() -> argparse.ArgumentParser:
    """Give what reads the arguments."""
    top = argparse.ArgumentParser(prog="python -m tessella", description=__doc__)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands.add_parser("info", help="versions, instruction set, threads, memory")
    demo = commands.add_parser("demo", help="train the digits classifier and look at it")
    train = commands.add_parser("train", help="train a small model")
    train.add_argument("task", choices=sorted(tasks.TASKS), help="what to learn")
    for each in (demo, train):
        each.add_argument("--epochs", type=at_least(1), help="how often to go through the data")
        each.add_argument("--batch", type=at_least(1), help="samples in each step")
        each.add_argument("--lr", type=float, help="learning rate")
        each.add_argument("--seed", type=at_least(0), default=0, help="of all random numbers")
        each.add_argument("--threads", type=at_least(1), help="how many threads compute")
        each.add_argument("--checkpoint", metavar="FILE", help="written after each epoch")
        each.add_argument("--resume", action="store_true", help="go on from the checkpoint")
        each.add_argument("--eager", action="store_true", help="do not compile the steps")
        each.add_argument("--quiet", action="store_true", help="print the result only")
    return top


def at_least(least: int) -> type:
    """Give the type of an argument that is an integer of some size."""

    class Count(int):
        """An integer that is large enough; its name is what argparse tells users."""

        def __new__(cls, text: str) -> Count:
            value = int(text)
            if value < least:
                raise argparse.ArgumentTypeError(f"{value} is less than {least}")
            return super().__new__(cls, value)

    Count.__name__ = "integer"
    return Count


def main(arguments: list[str] | None = None) -> int:
    """Do what the arguments ask for; give the exit status."""
    reader = parser()
    given = reader.parse_args(arguments)
    if given.command != "info" and given.resume and not given.checkpoint:
        reader.error("--resume needs --checkpoint FILE, from which to go on")
    try:
        if given.command == "info":
            print(facts.describe())
            return 0
        return tasks.run(given)
    except (errors.TessellaError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
