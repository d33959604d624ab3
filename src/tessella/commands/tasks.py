"""`python -m tessella train` and `demo`: small models on the data inside the package."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from time import perf_counter

from tessella import data, memory, metrics, nn, optim, training
from tessella._core import Tensor
from tessella.commands import letters
from tessella.hints import Any, Callable
from tessella.histories import History, line_of
from tessella.modes import no_grad
from tessella.nn import functional
from tessella.ops.joining import concat
from tessella.ops.random import manual_seed
from tessella.sizes import counted, to_text
from tessella.tensors import tensor
from tessella.threads import set_num_threads


class Task:
    """A model, its data, its loss, and how it is trained.

    `samples` are drawn for each epoch, all that there are if it is None; `clip` limits gradients;
    `show` is called after each epoch with the model, the epoch's figures, and whether to compile.
    """

    def __init__(
        self,
        make: Callable[[], tuple[nn.Module, Any, Any]],
        loss: Callable[..., Any],
        measures: dict[str, Callable[..., Any]],
        *,
        epochs: int,
        batch: int,
        lr: float,
        samples: int | None = None,
        clip: float | None = None,
        show: Callable[[nn.Module, dict[str, Any], bool], None] | None = None,
    ) -> None:
        self.make, self.loss, self.measures = make, loss, measures
        self.epochs, self.batch, self.lr = epochs, batch, lr
        self.samples, self.clip, self.show = samples, clip, show


def make_xor() -> tuple[nn.Module, Any, Any]:
    """Two bits to their exclusive or."""
    x = tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    pairs = data.TensorDataset(x, tensor([[0.0], [1.0], [1.0], [0.0]]))
    model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
    return model, pairs, pairs


def shifted(images: Tensor) -> Tensor:
    """Give images (n, 64), and copies moved by one pixel each way: (5 n, 64)."""
    wide = functional.pad(images.reshape(-1, 8, 8), (1, 1, 1, 1))
    moves = ((1, 1), (0, 1), (2, 1), (1, 0), (1, 2))
    return concat([wide[:, i : i + 8, j : j + 8].reshape(-1, 64) for i, j in moves])


def make_digits() -> tuple[nn.Module, Any, Any]:
    """Images of handwritten digits, 8 x 8, to their number."""
    x, y = data.load_digits(split="train")
    test_x, test_y = data.load_digits(split="test")
    train = data.TensorDataset(shifted(x / 16), concat([y] * 5))
    model = nn.Sequential(
        nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.3),
        nn.Linear(256, 128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, 10),
    )  # fmt: skip
    return model, train, data.TensorDataset(test_x / 16, test_y)


def make_regression() -> tuple[nn.Module, Any, Any]:
    """Ten measurements of a patient to the progress of diabetes a year later, standardised."""
    parts = [data.load_diabetes(split=part) for part in ("train", "test")]
    inputs, targets = data.standardize(parts[0].x), data.standardize(parts[0].y.reshape(-1, 1))
    train, test = (data.TensorDataset(inputs(x), targets(y.reshape(-1, 1))) for x, y in parts)
    model = nn.Sequential(
        nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1)
    )
    return model, train, test


TASKS = {
    "xor": Task(make_xor, functional.mse_loss, {}, epochs=2000, batch=4, lr=0.01),
    "digits": Task(
        make_digits, functional.cross_entropy, {"accuracy": metrics.accuracy},
        epochs=20, batch=128, lr=2e-3,
    ),
    "regression": Task(
        make_regression, functional.huber_loss, {"r2": metrics.r2_score},
        epochs=60, batch=32, lr=3e-3,
    ),
    "gpt": Task(
        letters.make_letters, letters.letter_loss, {}, epochs=6, batch=8, lr=2e-3,
        samples=letters.SAMPLES, clip=1.0, show=letters.show_sample,
    ),
}  # fmt: skip

MOST_LINES = 20  # that tell of epochs
STATED = f"gpt, of letters, reaches a test loss of {letters.REACHED} in 3 minutes on two cores"


def run(given: Any) -> int:
    """Train as the arguments say, and tell what came of it."""
    file = getattr(given, "gguf", None)
    for path in filter(None, (file, given.checkpoint)):
        check_path(path)
    if given.threads:
        set_num_threads(given.threads)
    manual_seed(given.seed)
    is_demo = given.command == "demo"
    task = TASKS["digits" if is_demo else given.task]
    start = perf_counter()
    model, train, test = task.make()
    epochs = given.epochs or task.epochs
    optimizer = optim.Adam(model.parameters(), lr=task.lr if given.lr is None else given.lr)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    order = data.RandomSampler(train, num_samples=task.samples)

    step = -(-epochs // MOST_LINES)  # of more epochs every so many have a line

    def show(row: dict[str, Any]) -> None:
        if given.quiet or row["epoch"] % step:
            return
        if step > 1:
            print(line_of(row, epochs), file=sys.stderr, flush=True)
        if task.show is not None:
            task.show(model, row, given.eager)

    history = training.fit(
        model, data.DataLoader(train, given.batch or task.batch, sampler=order), task.loss,
        optimizer, epochs=epochs, validation=data.DataLoader(test, 128), metrics=task.measures,
        scheduler=scheduler, clip=task.clip, checkpoint=given.checkpoint, resume=given.resume,
        compile=not given.eager, after_epoch=show,
        progress=not given.quiet and step == 1,
    )  # fmt: skip
    seconds = perf_counter() - start
    if is_demo:
        show_digits(model, test)
        print(memory.report())
    if file:
        letters.save(model, file)
    print(result(history, seconds))
    return 0


def check_path(path: Any) -> None:
    """Require that a file can be written here, before hours are spent on what is to be in it."""
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(folder))
    if Path(path).is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder, and no file", str(path))
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "the folder may not be written", str(folder))


def result(history: History, seconds: float) -> str:
    """Give the last figures in a line."""
    if not history.rows:
        return history.reason or "nothing to do"
    last = history.rows[-1]
    names = [name for name in last if name not in ("epoch", "seconds", "samples/s", "memory")]
    shown = "  ".join(f"{name} {last[name]:.4g}" for name in names)
    end = f"  ({history.reason})" if history.reason else ""
    peak = to_text(int(max(history["memory"])))
    return f"{counted(int(last['epoch']), 'epoch')} in {seconds:.1f} s: {shown}  memory {peak}{end}"


def show_digits(model: nn.Module, test: Any) -> None:
    """Print which digits were taken for which."""
    images, labels = test.tensors
    model.eval()
    with no_grad():
        counts = metrics.confusion_matrix(model(images), labels, 10)
    print("\ndigits (rows) and what they were taken for (columns)")
    print(table(counts))


def table(counts: Tensor) -> str:
    """Give a square of counts as text; dots are zeros."""
    rows: Any = counts.tolist()
    lines = ["     " + "".join(f"{i:>4}" for i in range(len(rows)))]
    for i, row in enumerate(rows):
        lines.append(f"{i:>4} " + "".join(f"{n or '.':>4}" for n in row))
    return "\n".join(lines) + "\n"
