"""The command line: `python -m tessella demo | train | generate | estimate | info`."""

from __future__ import annotations

import argparse
import os
import sys

from tessella import errors, info
from tessella.commands import facts, tasks, writing

THREADS = "how many threads compute (as many as cores may be used)"
CACHES = ("float32", "float16", "bfloat16")


def parser() -> argparse.ArgumentParser:
    """Give what reads the arguments."""
    top = argparse.ArgumentParser(
        prog="python -m tessella",
        description="Tessella, a tensor library with automatic differentiation: "
        "train small models, let language models write, look at what is installed.",
    )
    top.add_argument("--version", action="version", version=f"tessella {info.version()}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("info", help="versions, instruction set, threads, memory")
    demo = commands.add_parser("demo", help="train the digits classifier and look at it")
    train = commands.add_parser("train", help="train a small model")
    train.add_argument("task", choices=sorted(tasks.TASKS), help=f"what to learn; {tasks.STATED}")
    train.add_argument("--gguf", metavar="FILE", help="write the model of gpt, for generate")
    add_training(demo, {"digits": tasks.TASKS["digits"]})
    add_training(train, tasks.TASKS)
    add_writing(commands.add_parser("generate", help="let a language model write"))
    add_model(commands.add_parser("estimate", help="the memory that a language model needs"))
    return top


def add_training(command: argparse.ArgumentParser, known: dict[str, tasks.Task]) -> None:
    """Add the options of what trains; defaults are those of the tasks."""

    def usual(name: str) -> str:
        values = {task: getattr(known[task], name) for task in sorted(known)}
        if len(values) == 1:
            return f" ({next(iter(values.values()))})"
        return f" ({', '.join(f'{task} {value}' for task, value in values.items())})"

    add = command.add_argument
    add("--epochs", type=at_least(1), help="how often to go through the data" + usual("epochs"))
    add("--batch", type=at_least(1), help="samples in each step" + usual("batch"))
    add("--lr", type=float, help="learning rate" + usual("lr"))
    add("--seed", type=at_least(0), default=0, help="of all random numbers (%(default)s)")
    add("--threads", type=at_least(1), help=THREADS)
    add("--checkpoint", metavar="FILE", help="written after each epoch")
    add("--resume", action="store_true", help="go on from the checkpoint")
    add("--eager", action="store_true", help="do not compile the steps")
    add("--quiet", action="store_true", help="print the result only")


def add_model(command: argparse.ArgumentParser) -> None:
    """Add a model and its context."""
    command.add_argument("model", metavar="MODEL", help="the folder of a model, or a GGUF file")
    command.add_argument(
        "--context",
        type=at_least(2),
        help="tokens that a text may have, its prompt included (the model's own)",
    )
    command.add_argument(
        "--cache", choices=CACHES, help="what keys and values are kept as (as the model computes)"
    )


def add_writing(command: argparse.ArgumentParser) -> None:
    """Add the options of what writes."""
    add_model(command)
    add = command.add_argument

    def real(name: str, usual: float, text: str) -> None:
        add(name, type=float, default=usual, help=f"{text} ({usual})")

    add("--prompt", required=True, metavar="TEXT", help="what to go on with")
    add("--chat", action="store_true", help="take the prompt for a question of a chat")
    add("--system", metavar="TEXT", help="what a chat begins with")
    add("--max-tokens", type=at_least(1), default=256, help="how many tokens at most (%(default)s)")
    real("--temperature", 0.8, "0 takes the most likely token")
    add("--top-k", type=at_least(0), default=0, help="draw from the k most likely tokens (0: all)")
    real("--top-p", 1.0, "from the fewest with this probability")
    real("--min-p", 0.0, "from those with this share of the likeliest's")
    real("--repetition-penalty", 1.0, "above 1: fewer repetitions")
    add("--seed", type=at_least(0), help="makes it repeatable (another one each time)")
    add("--stop", action="append", default=[], metavar="TEXT", help="end before this text")
    add("--threads", type=at_least(1), help=THREADS)
    add("--eager", action="store_true", help="do not compile the steps")
    add("--quiet", action="store_true", help="print the text only")


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


def check(reader: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if given.command in ("demo", "train") and given.resume and not given.checkpoint:
        reader.error("--resume needs --checkpoint FILE, from which to go on")
    if given.command == "train" and given.gguf and given.task != "gpt":
        reader.error("--gguf is for gpt: of the other tasks there are no such files")
    if given.command == "generate" and given.system is not None and not given.chat:
        reader.error("--system needs --chat: a text has no such beginning")


def main(arguments: list[str] | None = None) -> int:
    """Do what the arguments ask for; give the exit status."""
    reader = parser()
    given = reader.parse_args(arguments)
    if given.command is None:  # as git does it
        reader.print_help()
        return 1
    check(reader, given)
    try:
        if given.command == "info":
            print(facts.describe(), flush=True)
            return 0
        if given.command == "generate":
            return writing.generate(given)
        if given.command == "estimate":
            return writing.show_estimate(given)
        return tasks.run(given)
    except BrokenPipeError:  # of somebody who has read enough, such as head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes at its end
        return 141
    except (errors.TessellaError, OSError) as error:
        print(f"error: {told(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def told(error: Exception) -> str:
    """Give an error in one line: the lines of this package's own code help nobody."""
    if not isinstance(error, errors.TessellaError):
        return str(error)
    parts = [f"{error.operation}: {error.what}" if error.operation else error.what]
    parts += [f"in {place}" for place in error.places]
    return "; ".join([*parts, error.hint] if error.hint else parts)


if __name__ == "__main__":
    sys.exit(main())
