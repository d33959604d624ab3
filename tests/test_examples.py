"""The examples run and reach what they state: shortened here where they take long."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tessella as ts
from conftest import FULL
from tessella import compiler, data, nn
from tessella.compiler import Compiled
from worlds import frozen

FOLDER = Path(__file__).resolve().parent.parent / "examples"


@pytest.fixture(autouse=True)
def _see_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))


def load(name: str) -> Any:
    """Import an example."""
    sys.modules.pop(name, None)
    return __import__(name)


def test_xor_is_learned_from_nine_seeds_of_ten() -> None:
    assert load("xor").main() >= 9


def test_digits_are_recognised() -> None:
    assert load("digits").main() >= 0.98


def test_regression_explains_the_variance() -> None:
    assert load("regression").main() >= 0.4


def test_autoencoder_gives_images_back() -> None:
    assert load("autoencoder").main() <= 0.02


def test_lstm_goes_on_with_waves() -> None:
    steps, most = (600, 0.002) if FULL else (150, 0.05)
    assert load("lstm").main(steps) <= most


def test_convolutions_recognise_digits() -> None:
    epochs, least = (20, 0.985) if FULL else (4, 0.95)
    assert load("convolution").main(epochs) >= least


def test_gpt_learns_to_write() -> None:
    sizes, most = ((), 2.0) if FULL else ((150, 64, 2, 32), 2.7)
    assert load("gpt").main(*sizes) <= most


def fashion(folder: Path) -> Path:
    """Give Debian's folder of Fashion-MNIST, unpacked below another."""
    for command in (["apt-get", "download", "dataset-fashion-mnist"],
                    ["sh", "-c", "dpkg -x dataset-fashion-mnist_*.deb ."]):  # fmt: skip
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "usr/share/datasets/fashion-mnist"


def digits_as_idx(folder: Path) -> Path:
    """Write the handwritten digits as IDX files: 24 by 24 pixels in a frame, each fifth a test."""
    x, y = data.load_digits()
    images = (x.reshape(-1, 8, 8) * 15).to(ts.uint8).repeat_interleave(3, 1).repeat_interleave(3, 2)
    framed = ts.nn.functional.pad(images.float(), (2, 2, 2, 2)).to(ts.uint8)
    is_test = ts.arange(len(y)) % 5 == 0
    for part, chosen in (("train", ~is_test), ("t10k", is_test)):
        for kind, values in (("images", framed), ("labels", y.to(ts.uint8))):
            kept = values[chosen]
            head = bytes([0, 0, 8, kept.ndim]) + b"".join(n.to_bytes(4, "big") for n in kept.shape)
            path = folder / f"{part}-{kind}-idx{kept.ndim}-ubyte"
            path.write_bytes(head + bytes(memoryview(kept.contiguous())))
    return folder


@pytest.mark.parametrize(("model", "least"), [("dense", 0.88), ("convolutional", 0.91)])
def test_fashion_is_recognised(model: str, least: float, tmp_path: Path) -> None:
    # Without the full counts: digits, in files of the same form.
    folder = fashion(tmp_path) if FULL else digits_as_idx(tmp_path)
    epochs = 5 if model == "convolutional" and not FULL else 10
    assert load("fashion").main(folder, model, epochs) >= least


# --- compiled, which is the default, and as they are written -------------------------------------

SHORT: dict[str, tuple[Any, ...]] = {
    "xor": (1,), "digits": (1,), "regression": (2,), "autoencoder": (2,), "lstm": (8,),
    "convolution": (1,), "gpt": (8, 16, 2, 12), "fashion": ("dense", 1, 512),
    "fashion convolutional": ("convolutional", 1, 512),
}  # fmt: skip


def trace_of(
    name: str, args: tuple[Any, ...], compile: bool, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Run an example; give its result and the parameters that it ends with."""
    models: list[nn.Module] = []
    parameters = nn.Module.parameters

    def remember(self: nn.Module, *args: Any, **keywords: Any) -> Any:
        if not any(self is model for model in models):
            models.append(self)
        return parameters(self, *args, **keywords)

    with monkeypatch.context() as patch:
        patch.setattr(nn.Module, "parameters", remember)
        result = load(name).main(*args, compile=compile)
    assert models
    return frozen(result), [frozen(model) for model in models]


@pytest.mark.parametrize("name", SHORT)
def test_compiled_example_ends_with_the_bits_of_eager(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module, args = name.split()[0], SHORT[name]
    if module == "fashion":
        args = (digits_as_idx(tmp_path), *args)
    made: list[Compiled] = []

    def watched(function: Any) -> Compiled:
        made.append(Compiled(function))
        return made[-1]

    for holder in (ts, compiler):
        monkeypatch.setattr(holder, "compile", watched)
    compiled = trace_of(module, args, True, monkeypatch), capsys.readouterr().out
    assert made and all(each.program is not None for each in made)
    made.clear()
    assert compiled == (trace_of(module, args, False, monkeypatch), capsys.readouterr().out)
    assert not made


@pytest.mark.parametrize("name", sorted({name.split()[0] for name in SHORT}))
def test_eager_turns_compiling_off(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class StartedError(Exception):
        pass

    def start(seed: int) -> None:  # what every training calls first
        raise StartedError(sys._getframe(1).f_locals["compile"])

    monkeypatch.setattr(ts, "manual_seed", start)
    given = [name, "folder"] if name == "fashion" else [name]
    for flags, compiles in (([], True), (["--eager"], False)):
        monkeypatch.setattr(sys, "argv", given + flags)
        with pytest.raises(StartedError, match=str(compiles)):
            runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")


def test_every_example_is_run_both_ways() -> None:
    without_training = {"tensors"}
    names = {path.stem for path in FOLDER.glob("*.py")}
    assert names - without_training == {name.split()[0] for name in SHORT}


def test_tour_of_tensors_runs(capsys: pytest.CaptureFixture[str]) -> None:
    load("tensors").main()
    assert "first.tolist() == third.tolist()\n    True" in capsys.readouterr().out


def test_examples_are_short() -> None:
    long = [path.name for path in FOLDER.glob("*.py") if len(path.read_text().splitlines()) > 150]
    assert not long
