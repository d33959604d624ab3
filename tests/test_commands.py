"""The command line: what it prints, and how it answers mistakes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tessella import __main__ as command_line


def run(*arguments: str) -> tuple[int, str, str]:
    """Run the command line in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tessella", *arguments], capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout, done.stderr


def test_the_demo_reaches_its_accuracy_and_shows_what_it_did(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command_line.main(["demo"]) == 0
    out, err = capsys.readouterr()
    accuracy = float(out.split("accuracy ")[-1].split()[0])
    assert accuracy >= 0.98
    assert err.count("epoch ") == 20 and "samples/s" in err
    assert "digits (rows) and what they were taken for (columns)" in out
    assert "memory: live" in out and "optimizer" in out and "weights" in out
    seconds = float(out.split("20 epochs in ")[1].split()[0])
    assert seconds < 20


@pytest.mark.parametrize(
    ("task", "epochs", "name", "least"), [("regression", "40", "r2", 0.35), ("xor", "2000", "", 0)]
)
def test_tasks_are_trained(
    task: str, epochs: str, name: str, least: float, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["train", task, "--epochs", epochs, "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.startswith(f"{epochs} epochs in ")
    if name:
        assert float(out.split(f"{name} ")[1].split()[0]) > least
    else:
        assert float(out.split("loss ")[1].split()[0]) < 1e-3


def test_the_same_seed_gives_the_same_figures(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for seed in ("3", "3", "4"):
        command_line.main(["train", "regression", "--epochs", "2", "--quiet", "--seed", seed])
        found.append(capsys.readouterr().out.split("s: ")[1].split("memory")[0])
    assert found[0] == found[1] != found[2]


def test_a_rate_of_zero_is_taken_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for epochs in ("1", "3"):
        command_line.main(["train", "xor", "--quiet", "--lr", "0", "--epochs", epochs])
        found.append(capsys.readouterr().out.split("loss ")[1].split()[0])
    assert found[0] == found[1], "nothing is learned"


def test_a_run_is_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "run.ts")
    arguments = ["train", "xor", "--quiet", "--checkpoint", file]
    command_line.main([*arguments, "--epochs", "3"])
    command_line.main([*arguments, "--epochs", "5", "--resume"])
    assert "5 epochs in" in capsys.readouterr().out


def test_facts_are_told() -> None:
    code, out, err = run("info")
    assert code == 0 and err == ""
    for name in ("tessella", "instruction set", "threads", "memory limit", "numpy", "other bits"):
        assert any(line.startswith(name) for line in out.splitlines()), name


MISTAKES = [
    (("train", "cats"), 2, "invalid choice: 'cats'"),
    (("train", "xor", "--epochs", "0"), 2, "0 is less than 1"),
    (("train", "xor", "--epochs", "many"), 2, "invalid integer value: 'many'"),
    ((), 2, "required: COMMAND"),
    (("train", "xor", "--resume"), 2, "--resume needs --checkpoint FILE"),
    (("train", "xor", "--epochs", "1", "--quiet", "--lr", "-1"), 1, "error: "),
    (
        ("train", "xor", "--epochs", "1", "--quiet", "--checkpoint", "/no/such/folder/x"),
        1,
        "error: ",
    ),
]


@pytest.mark.parametrize(("arguments", "code", "message"), MISTAKES)
def test_mistakes_are_answered_without_a_traceback(
    arguments: tuple[str, ...], code: int, message: str
) -> None:
    found, _, err = run(*arguments)
    assert found == code and message in err and "Traceback" not in err


def test_help_tells_what_there_is() -> None:
    code, out, _ = run("--help")
    assert code == 0 and all(word in out for word in ("demo", "train", "info"))
    assert "--checkpoint FILE" in run("train", "--help")[1]
