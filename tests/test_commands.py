"""The command line: what it prints, and how it answers mistakes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

import pytest

import language_files as files
import tessella as ts
from conftest import FULL
from tessella import __main__ as command_line, training
from tessella.commands import letters, tasks
from tessella.compiler import run as compiler_run
from tessella.compiler.capture import capture


def run(*arguments: str, **variables: str) -> tuple[int, str, str]:
    """Run the command line in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tessella", *arguments], capture_output=True, text=True,
        timeout=300, env={**os.environ, **variables},
    )  # fmt: skip
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
    assert err == "" and out.startswith(f"{int(epochs):,} epochs in ")
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


def test_the_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        command_line.main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"tessella {ts.__version__}\n"


# --- a model of letters --------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an epoch of letters have few pieces, and a test few batches."""
    monkeypatch.setattr(tasks.TASKS["gpt"], "samples", 24)
    train, test = (letters.pieces(ts.data.load_text().ids[:n], 1) for n in (5000, 140))
    make = letters.make_letters
    monkeypatch.setattr(tasks.TASKS["gpt"], "make", lambda: (make()[0], train, test))


@pytest.mark.usefixtures("few")
def test_a_model_of_letters_is_trained_and_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "letters.gguf")
    assert command_line.main(["train", "gpt", "--epochs", "2", "--gguf", file]) == 0
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert [line.split("  ")[0] for line in lines if line.startswith("epoch ")] == [
        "epoch 1/2", "epoch 2/2",
    ]  # fmt: skip
    assert len([line for line in lines if line.startswith("    ")]) >= 2, "a sample for each epoch"
    loss, test_loss = (float(out.split(f" {name} ")[1].split()[0]) for name in ("loss", "val_loss"))
    assert out.startswith("2 epochs in ") and test_loss < 4.2 and loss < 4.3
    assert command_line.main(["generate", file, "--prompt", "ACT", "--seed", "0"]) == 0
    out, err = capsys.readouterr()
    assert len(out) == 128 - 3 + 1 and set(out) <= set(ts.data.load_text().letters)
    assert err.startswith("prompt 3 tokens, ")


def test_where_files_are_to_be_written_is_looked_at_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unasked(*args: Any, **keywords: Any) -> None:
        raise AssertionError("nothing is trained")

    monkeypatch.setattr(training, "fit", unasked)
    missing = str(tmp_path / "no" / "letters.gguf")
    for option in ("--gguf", "--checkpoint"):
        for path, message in (
            (missing, "no such folder"),
            (str(tmp_path), "a folder, and no file"),
        ):
            assert command_line.main(["train", "gpt", option, path]) == 1
            assert message in capsys.readouterr().err
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert command_line.main(["train", "gpt", "--gguf", str(tmp_path / "letters.gguf")]) == 1
    assert "the folder may not be written" in capsys.readouterr().err


@pytest.mark.usefixtures("few")
def test_a_model_of_letters_is_resumed_with_the_same_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "run.ts")
    kept = ["--checkpoint", file]
    train = ["train", "gpt", "--quiet", "--epochs", "2"]

    def figures(*more: str) -> str:
        assert command_line.main([*train, *more]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out.split(": ")[1].split("  memory")[0]

    want = figures()
    assert figures("--eager") == want
    fit = training.fit
    monkeypatch.setattr(training, "fit", lambda *a, **k: fit(*a, **{**k, "epochs": 1}))
    assert figures(*kept) != want, "one epoch of the two"
    monkeypatch.setattr(training, "fit", fit)
    assert figures(*kept, "--resume") == want


def test_letters_reach_the_stated_loss(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    more, most = [], letters.REACHED
    if not FULL:  # some steps, which learn how often each letter is
        monkeypatch.setattr(tasks.TASKS["gpt"], "samples", 400)
        more, most = ["--epochs", "1"], 3.2
    seconds = process_time()
    assert command_line.main(["train", "gpt", "--quiet", *more]) == 0
    seconds = process_time() - seconds
    out = capsys.readouterr().out
    assert float(out.split("val_loss ")[1].split()[0]) <= most
    assert seconds < 2 * 180, "of processors: 3 minutes on two, if nothing else runs"


# --- compiled, or not ----------------------------------------------------------------------------


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Collect the names of functions that the compiler records."""
    names: set[str] = set()

    def noted(function: Any, *rest: Any) -> Any:
        names.add(function.__name__)
        return capture(function, *rest)

    monkeypatch.setattr(compiler_run, "capture", noted)
    return names


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["demo", "--epochs", "1"], {"learn", "update"}),
        (["train", "digits", "--epochs", "1", "--quiet"], {"learn", "update"}),
        (["train", "regression", "--epochs", "1", "--quiet"], {"learn", "update"}),
        (["train", "xor", "--epochs", "3"], {"learn", "update"}),
        (["train", "gpt", "--epochs", "1"], {"learn", "update", "_advance"}),
        (["generate", "m.gguf", "--prompt", "the", "--max-tokens", "5"], {"_advance"}),
        (["generate", "m.gguf", "--prompt", "hi", "--chat", "--max-tokens", "5"], {"_advance"}),
    ],
)
def test_steps_are_compiled_unless_they_are_said_to_be_eager(
    arguments: list[str],
    names: set[str],
    recorded: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    files.byte_gguf(tmp_path / "m.gguf")
    assert command_line.main([*arguments, "--eager"]) == 0
    assert recorded == set()
    assert command_line.main(arguments) == 0
    assert recorded == names


# --- text ----------------------------------------------------------------------------------------


def test_text_is_written_and_figures_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(files.byte_gguf(tmp_path / "m.gguf"))
    arguments = ["generate", model, "--prompt", "the he", "--max-tokens", "20"]
    options: dict[str, Any] = {"temperature": 0.8, "top_k": 20, "top_p": 0.9, "min_p": 0.01,
                               "repetition_penalty": 1.1, "seed": 3}  # fmt: skip
    for name, value in options.items():
        arguments += [f"--{name.replace('_', '-')}", str(value)]
    want = "".join(ts.models.load(model).write("the he", 20, **options))
    threads = ts.get_num_threads()
    for more in ([], ["--eager"], ["--quiet"], ["--threads", str(threads), "--context", "50"]):
        assert command_line.main([*arguments, *more]) == 0
        out, err = capsys.readouterr()
        assert out == want + "\n"
        if "--quiet" in more:
            assert err == ""
        else:
            assert err.startswith("prompt 4 tokens, ") and err.count("tokens/s") == 2
            assert "; memory " in err and " mapped\n" in err and err.count("\n") == 1
    half = ts.models.load(model, dtype=ts.float16)
    want_half = "".join(half.write("the he", 20, **options))
    assert command_line.main([*arguments, "--quiet", "--cache", "float16"]) == 0
    assert capsys.readouterr().out == want_half + "\n"
    stop = want[3:5]
    assert command_line.main([*arguments, "--quiet", "--stop", stop, "--stop", "\0\0\0"]) == 0
    assert capsys.readouterr().out == want[: want.index(stop)] + "\n"


def test_letters_that_standard_output_has_no_bytes_for_are_replaced(tmp_path: Path) -> None:
    model = str(files.byte_gguf(tmp_path / "m.gguf"))
    arguments = ["generate", model, "--prompt", "the", "--seed", "0", "--max-tokens", "60"]
    want = "".join(ts.models.load(model).write("the", 60, seed=0, temperature=0.8))
    code, out, err = run(*arguments, PYTHONIOENCODING="ascii")
    assert not want.isascii() and code == 0 and "Traceback" not in err
    assert out == want.encode("ascii", "replace").decode() + "\n"


def test_chats_are_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(files.byte_gguf(tmp_path / "m.gguf"))
    arguments = ["generate", model, "--quiet", "--max-tokens", "9", "--temperature", "0"]
    command_line.main([*arguments, "--prompt", "hi", "--chat", "--system", "be"])
    answer = capsys.readouterr().out
    command_line.main([*arguments, "--prompt", "system: be\nuser: hi\nassistant:"])
    assert answer == capsys.readouterr().out != ""


def test_memory_is_told_before_anything_is_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(files.byte_gguf(tmp_path / "m.gguf"))
    assert command_line.main(["estimate", model, "--context", "100"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.startswith(f"{model}: ") and "context of 100 tokens" in out
    assert "largest context that fits: 128 tokens" in out
    assert command_line.main(["estimate", model, "--context", "100", "--cache", "float16"]) == 0
    half = str(ts.models.estimate(model, 100, dtype=ts.float16)).splitlines()[3]
    assert half in capsys.readouterr().out and half not in out


def test_what_is_missing_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = str(files.byte_gguf(tmp_path / "m.gguf"))
    folder = str(files.save_folder(tmp_path / "folder", files.llama_config(files.TOKENS)))
    nothing = str(tmp_path / "nothing.gguf")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for given, message in (
        ([nothing, "--prompt", "a"], f"models.load: there is no {nothing}; a model is "),
        ([folder, "--prompt", "a"], 'not installed; pip install "tessella[tokenizers]"'),
        ([model, "--prompt", "a", "--chat"], 'not installed; pip install "tessella[jinja2]"'),
        ([model, "--prompt", "a", "--context", "500"], "context is 500; it must be from 2 to 128"),
        ([model, "--prompt", "a" * 200], "a prompt has 200 tokens, and the context 128; "),
        ([model, "--prompt", "a", "--temperature", "-1"], "temperature is -1.0; "),
    ):
        assert command_line.main(["generate", *given]) == 1
        out, err = capsys.readouterr()
        assert out == "" and err.startswith("error: ") and err.count("\n") == 1
        assert message in err


def test_facts_are_told() -> None:
    code, out, err = run("info")
    assert code == 0 and err == ""
    for name in ("tessella", "instruction set", "threads", "memory limit", "numpy", "other bits"):
        assert any(line.startswith(name) for line in out.splitlines()), name


MISTAKES = [
    (("train", "cats"), 2, "invalid choice: 'cats'"),
    (("train", "xor", "--epochs", "0"), 2, "0 is less than 1"),
    (("train", "xor", "--epochs", "many"), 2, "invalid integer value: 'many'"),
    (("train", "xor", "--resume"), 2, "--resume needs --checkpoint FILE"),
    (("train", "xor", "--gguf", "x"), 2, "--gguf is for gpt"),
    (("generate", "x"), 2, "required: --prompt"),
    (("generate", "x", "--prompt", "a", "--system", "b"), 2, "--system needs --chat"),
    (("estimate", "x", "--cache", "int8"), 2, "invalid choice: 'int8'"),
    (("estimate", "x", "--context", "1"), 2, "1 is less than 2"),
    (("estimate", "/no/such/file"), 1, "error: "),
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


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main([]) == 1, "as git does"
    out, err = capsys.readouterr()
    assert out == command_line.parser().format_help() and err == ""


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        ("demo", ["through the data (20)"]),
        ("train", ["(digits 20, gpt 6, regression 60, xor 2000)", "numbers (0)"]),
        ("generate", ["at most (256)", "likely token (0.8)", "probability (1.0)"]),
    ],
)
def test_help_tells_the_defaults(
    command: str, texts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command_line.main([command, "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert all(text in told for text in texts)


def test_many_epochs_have_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["train", "xor", "--epochs", "50"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("  ")[0] for line in lines] == [f"epoch {i}/50" for i in range(3, 50, 3)]
    assert all("loss " in line and "samples/s " in line for line in lines)
    assert command_line.main(["train", "xor", "--epochs", "1"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("epoch 1/1  loss ") and out.startswith("1 epoch in ")


def test_help_tells_what_there_is() -> None:
    code, out, _ = run("--help")
    names = ("demo", "train", "info", "generate", "estimate")
    assert code == 0 and all(word in out for word in names)
    told = " ".join(run("train", "--help")[1].split())
    assert "--checkpoint FILE" in told and f"a test loss of {letters.REACHED}" in told
    assert "--repetition-penalty" in run("generate", "--help")[1]
    page = Path(__file__).resolve().parent.parent / "docs" / "language_models.md"
    assert f"at most {letters.REACHED} nats" in " ".join(page.read_text().split())


def test_a_reader_who_has_read_enough_ends_it_quietly() -> None:
    """As `python -m tessella info | head -1` does."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "tessella", "info"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")
