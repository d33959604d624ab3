"""fit: the training loop as one would write it, with what one would forget.

A run is the model, the optimizer, the data's position and the figures so far; `Run.save` writes all
of it into one file. What is left of an interrupted run gives the bits that it would have given.
"""

from __future__ import annotations

import math
import os
import signal
import threading
from itertools import islice
from time import perf_counter

from tessella import compiler, errors, io, memory, progress, training_errors
from tessella._core import Tensor
from tessella.arguments import to_bool, to_float, to_int
from tessella.data.datasets import Dataset, IterableDataset
from tessella.hints import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping
from tessella.histories import History, line_of
from tessella.io.replacements import check_target
from tessella.located import located
from tessella.modes import no_grad
from tessella.nn.clip import clip_grad_norm_
from tessella.nn.modules import Module
from tessella.optim.lr_scheduler import ReduceLROnPlateau
from tessella.standins import Standin
from tessella.trees import flatten

if TYPE_CHECKING:
    from tessella.optim.lr_scheduler import LRScheduler
    from tessella.optim.optimizer import Optimizer

Measure = Callable[..., Tensor]  # of a prediction and its targets
# What a row has beside metrics.
FIGURES = ("epoch", "loss", "val_loss", "seconds", "samples/s", "memory")


@located("fit")
def fit(
    model: Module,
    data: Iterable[object],
    loss: Measure,
    optimizer: Optimizer,
    *,
    epochs: int = 1,
    validation: Iterable[object] | None = None,
    metrics: Mapping[str, Callable[..., Tensor | float]] | None = None,
    scheduler: LRScheduler | None = None,
    clip: float | None = None,
    patience: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool | str = True,
    compile: bool = True,
    after_epoch: Callable[[dict[str, float]], object] | None = None,
) -> History:
    """Train a model; give what was measured in each epoch.

    Batches are pairs (inputs, targets), or tensors that are their own targets. `loss` and the
    `metrics` are called with the model's output and the targets; metrics are means over samples,
    measured on the validation data. `scheduler` steps after each epoch; `clip` limits the norm of
    all gradients. With `patience`, training ends after so many epochs without a smaller loss
    (validation's, if there is any), and the model gets the parameters of the best one back.

    `checkpoint` names a file that is written after each epoch, and on Ctrl-C, which ends training
    after the step at hand. With `resume`, a run goes on from that file if it is there, with the
    bits that it would have had without a stop. `after_epoch` is called with the figures of each
    epoch, when they have been shown.

    Steps are compiled, which changes no bit; `compile=False` runs them as they are written, for a
    model that reads values or has steps that differ in what they do.

    >>> model = nn.Linear(1, 1)
    >>> x = ts.arange(8.0).reshape(8, 1) / 8
    >>> history = ts.fit(model, [(x, 2 * x)], nn.functional.mse_loss,
    ...                  ts.optim.SGD(model.parameters(), lr=0.5), epochs=50, progress=False)
    >>> history["loss"][-1] < 0.01
    True
    """
    run = Run(model, data, optimizer, scheduler, patience)
    metrics = check_call(loss, validation, metrics, clip, checkpoint, resume, after_epoch)
    learn, update = steps(model, loss, optimizer, clip, compile)
    if checkpoint is not None and resume and os.path.exists(checkpoint):
        run.load(checkpoint)
    with Interrupt() as interrupt, Display(progress, to_epochs("epochs", epochs), data) as display:
        while run.epoch < epochs and not run.history.reason:
            display.begin(run.epoch + 1)
            model.train()
            start = perf_counter() - run.seconds  # of an epoch that goes on: as if without a stop
            with memory.track() as figures:
                for batch in run.batches():
                    inputs, targets = split(batch)
                    value = finite(learn(inputs, targets), run, batch)
                    update()
                    run.add(value, count(inputs, targets))
                    display.advance(run)
                    if interrupt.is_asked:
                        break
            run.seconds = perf_counter() - start
            if interrupt.is_asked:
                run.stop(f"interrupted in epoch {run.epoch + 1}", checkpoint)
                break
            run.end_epoch(evaluate(model, validation, loss, metrics), figures.peak)
            display.end(run)
            if after_epoch is not None:
                after_epoch(run.history.rows[-1])
            if checkpoint is not None:
                run.save(checkpoint)
    run.restore_best()
    return run.history


def check_call(
    loss: Any, validation: Any, metrics: Any, clip: Any, checkpoint: Any, resume: Any, after: Any
) -> dict[str, Measure]:
    """Check what a run is not made of; give the metrics."""
    try:
        named = {} if metrics is None else metrics
        if not isinstance(named, dict) or not all(isinstance(name, str) for name in named):
            raise errors.wrong_type("metrics", metrics, "a dict of names and functions")
        for name in named:
            if name in FIGURES:
                raise errors.wrong_value("a name of metrics", name, f"none of {', '.join(FIGURES)}")
        measures = [(f"metrics[{name!r}]", measure) for name, measure in named.items()]
        for name, measure in [("loss", loss), *measures]:
            if not callable(measure):
                raise errors.wrong_type(name, measure, "a function of prediction and target")
        if isinstance(loss, type):
            raise training_errors.class_for_object("loss", loss, f"nn.{loss.__name__}()")
        if validation is not None:
            check_batches("validation", validation)
        elif named:
            raise training_errors.metrics_without_data()
        if clip is not None and not to_float("clip", clip) > 0:
            raise errors.wrong_value("clip", clip, "above 0")
        if checkpoint is not None and not isinstance(checkpoint, str | os.PathLike):
            raise errors.wrong_type("checkpoint", checkpoint, "a path")
        if checkpoint is not None:
            check_target(checkpoint)
        if to_bool("resume", resume) and checkpoint is None:
            raise training_errors.resume_without_file()
        if after is not None and not callable(after):
            raise errors.wrong_type("after_epoch", after, "a function of an epoch's figures")
    except errors.TessellaError as error:
        raise error.locate("fit", []) from None
    return named


def check_batches(name: str, data: Any) -> None:
    """Require what can be walked through, without beginning to: a loader counts its epochs."""
    kind = type(data)
    if not hasattr(kind, "__iter__") and not hasattr(kind, "__getitem__"):
        raise errors.wrong_type(name, data, "batches, such as a DataLoader").locate("fit", [])
    if isinstance(data, Tensor):
        raise training_errors.one_tensor(name).locate("fit", [])
    if isinstance(data, tuple) and data and all(isinstance(x, Tensor) for x in data):
        raise training_errors.one_batch(name, len(data)).locate("fit", [])
    if isinstance(data, Dataset) and not isinstance(data, IterableDataset):
        raise training_errors.samples_for_batches(name).locate("fit", [])


def walk(name: str, data: Any) -> Iterator[Any]:
    """Begin an epoch."""
    try:
        return iter(data)
    except TypeError as error:  # of a 0-d array
        wrong = errors.wrong_type(name, data, "batches, such as a DataLoader").locate("fit", [])
        raise wrong from error


def evaluate(
    model: Module, data: Iterable[Any] | None, loss: Measure, metrics: dict[str, Measure]
) -> dict[str, float]:
    """Give means over samples of the loss and of metrics, without training."""
    if data is None:
        return {}
    sums, samples = dict.fromkeys(["val_loss", *metrics], 0.0), 0
    mode = model.training
    model.eval()
    try:
        with no_grad():
            for batch in walk("validation", data):
                inputs, targets = split(batch)
                prediction, size = model(inputs), count(inputs, targets)
                for name, measure in {"val_loss": loss, **metrics}.items():
                    sums[name] += measured(name, measure(prediction, targets)) * size
                samples += size
    finally:
        model.train(mode)
    if not samples:
        raise training_errors.no_data("validation", data).locate("fit", [])
    return {name: value / samples for name, value in sums.items()}


def measured(name: str, value: Any) -> float:
    """Require what a metric gives to be a number."""
    try:
        return to_float(name, value)
    except errors.TessellaError as error:
        raise error.relocate("fit", []) from None


def split(batch: Any) -> tuple[Any, Any]:
    """Give inputs and targets."""
    if isinstance(batch, Tensor):
        return batch, batch
    if isinstance(batch, tuple | list) and len(batch) == 2:
        return batch[0], batch[1]
    raise training_errors.odd_batch(batch).locate("fit", [])


def count(inputs: object, targets: object) -> int:
    """Give the number of samples of a batch: how many its first tensor with axes has."""
    leaves = flatten((inputs, targets))[0]
    return next((x.shape[0] for x in leaves if isinstance(x, Tensor) and x.ndim), 1)


def steps(
    model: Module, loss: Measure, optimizer: Any, clip: float | None, compile: bool
) -> tuple[Callable[[Any, Any], Tensor], Callable[[], None]]:
    """Give the two halves of a step: gradients of a batch, and the update that they lead to."""

    def learn(inputs: Any, targets: Any) -> Tensor:
        optimizer.zero_grad()
        value = loss(model(inputs), targets)
        if not isinstance(value, Tensor) or value.size != 1 or not value.dtype.is_floating:
            raise training_errors.odd_loss(value).locate("fit", [])
        value.backward()
        return value

    def update() -> None:
        if clip is not None:
            clip_grad_norm_(model.parameters(), clip)
        optimizer.step()

    if not to_bool("compile", compile):
        return learn, update
    return advised(compiler.compile(learn)), advised(compiler.compile(update))


def advised(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a compiled function whose refusals say how to do without."""

    def call(*args: Any) -> Any:
        try:
            return function(*args)
        except errors.CaptureError as error:
            error.hint += "; or fit(…, compile=False)"
            raise

    return call


def finite(value: Tensor, run: Run, batch: object) -> float:
    """Refuse a loss that is not finite, before it changes a parameter."""
    number = float(value.item())
    if math.isfinite(number):
        return number
    given = [x for x in flatten(batch)[0] if isinstance(x, Tensor) and x.dtype.is_floating]
    odd = sum(int(x.isfinite().logical_not().sum().item()) for x in given)
    place = run.epoch + 1, run.step + 1
    total = sum(x.size for x in given)
    raise training_errors.not_finite(number, *place, odd, total).locate("fit", [])


class Run:
    """A training run: what it changes, and how far it is."""

    def __init__(
        self, model: Module, data: Any, optimizer: Any, scheduler: Any, patience: int | None
    ) -> None:
        if isinstance(model, Standin):
            raise training_errors.compiled_model().locate("fit", [])
        if not isinstance(model, Module):
            raise errors.wrong_type("model", model, "a module").locate("fit", [])
        if isinstance(optimizer, type):
            made = f"optim.{optimizer.__name__}(model.parameters())"
            error = training_errors.class_for_object("optimizer", optimizer, made)
            raise error.locate("fit", [])
        if not (hasattr(optimizer, "step") and hasattr(optimizer, "zero_grad")):
            error = errors.wrong_type("optimizer", optimizer, "an optimizer, of ts.optim")
            raise error.locate("fit", [])
        if not shares_parameters(model, optimizer):
            raise training_errors.other_parameters().locate("fit", [])
        check_batches("data", data)
        if isinstance(scheduler, type):
            made = f"optim.lr_scheduler.{scheduler.__name__}(optimizer)"
            error = training_errors.class_for_object("scheduler", scheduler, made)
            raise error.locate("fit", [])
        if scheduler is not None and not callable(getattr(scheduler, "step", None)):
            error = errors.wrong_type("scheduler", scheduler, "a schedule, of optim.lr_scheduler")
            raise error.locate("fit", [])
        if patience is not None and not to_epochs("patience", patience) > 0:
            raise errors.wrong_value("patience", patience, "1 epoch or more").locate("fit", [])
        self.model, self.data, self.optimizer = model, data, optimizer
        self.scheduler, self.patience = scheduler, patience
        self.epoch = self.step = self.samples = 0  # epochs done; steps and samples of this one
        self.total = self.seconds = 0.0
        self.history = History()
        self.best: dict[str, Any] = {}  # the model's state, of the epoch with the smallest loss
        self.best_loss, self.waited = math.inf, 0

    def batches(self) -> Iterable[Any]:
        """Give the batches of this epoch that are left."""
        goes_on_itself = hasattr(self.data, "load_state_dict")
        batches = walk("data", self.data)
        return islice(batches, 0 if goes_on_itself else self.step, None)

    def add(self, loss: float, samples: int) -> None:
        """Enter a step."""
        self.step += 1
        self.samples += samples
        self.total += loss * samples

    def end_epoch(self, measured: dict[str, float], peak: int) -> None:
        """Enter the figures of an epoch, and decide whether to go on."""
        if not self.samples:
            raise training_errors.no_data("data", self.data).locate("fit", [])
        self.epoch += 1
        row = {"epoch": self.epoch, "loss": self.total / self.samples, **measured,
               "seconds": self.seconds, "samples/s": self.samples / self.seconds,
               "memory": peak}  # fmt: skip
        self.history.append(row)
        watched = measured.get("val_loss", row["loss"])
        if isinstance(self.scheduler, ReduceLROnPlateau):
            self.scheduler.step(watched)
        elif self.scheduler is not None:
            self.scheduler.step()
        self.step = self.samples = 0
        self.total = self.seconds = 0.0
        if self.patience is not None:
            self._judge(watched)

    def _judge(self, watched: float) -> None:
        if watched < self.best_loss:
            self.best_loss, self.waited = watched, 0
            self.best = {name: x.clone() for name, x in self.model.state_dict().items()}
            return
        self.waited += 1
        assert self.patience is not None
        if self.waited >= self.patience:
            best = self.epoch - self.waited
            self.history.reason = f"no better than epoch {best} for {self.waited} epochs"

    def restore_best(self) -> None:
        """Give the model the parameters of its best epoch back, where they were kept."""
        if self.best and not self.history.reason.startswith("interrupted"):
            self.model.load_state_dict(self.best)

    def stop(self, reason: str, checkpoint: Any) -> None:
        """End early, and save where that is asked for."""
        if checkpoint is not None:
            self.save(checkpoint)
        self.history.reason = reason

    # --- files ---

    _PLAIN = ("epoch", "step", "samples", "total", "seconds", "best", "best_loss", "waited")

    def _parts(self) -> dict[str, Any]:
        parts = {"model": self.model, "optimizer": self.optimizer}
        if self.scheduler is not None:
            parts["scheduler"] = self.scheduler
        if hasattr(self.data, "load_state_dict"):
            parts["data"] = self.data
        return parts

    def save(self, path: Any) -> None:
        """Write the whole run into a file, which is replaced as a whole."""
        figures = {name: getattr(self, name) for name in self._PLAIN}
        figures |= {"rows": self.history.rows, "reason": self.history.reason}
        io.save_checkpoint(path, run=figures, **self._parts())

    def load(self, path: Any) -> None:
        """Take a run up again where it was saved."""
        saved = io.load(path)
        if isinstance(saved, dict) and "run" not in saved:  # before anything is restored
            raise training_errors.no_run(os.fspath(path)).locate("fit", [])
        figures: Any = io.load_checkpoint(path, **self._parts())["run"]
        for name in self._PLAIN:
            setattr(self, name, figures[name])
        self.history = History(figures["rows"])
        self.history.reason = figures["reason"]


def shares_parameters(model: Module, optimizer: Any) -> bool:
    """Tell whether an optimizer trains a part of a model; one that does not say is believed."""
    groups = getattr(optimizer, "param_groups", None)
    own = {id(p) for p in model.parameters()}
    return groups is None or not own or any(id(p) in own for g in groups for p in g["params"])


def to_epochs(name: str, value: Any) -> int:
    """Check a number of epochs."""
    try:
        return to_int(name, value)
    except errors.TessellaError as error:
        raise error.locate("fit", []) from None


def length_of(data: Any) -> int | None:
    """Give the number of batches, where it is known."""
    try:
        return len(data)
    except TypeError:
        return None


class Interrupt:
    """Ctrl-C as a question that is answered between steps; a second one interrupts at once."""

    is_asked = False

    def __enter__(self) -> Interrupt:
        self._before: Any = None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def _ask(self, number: int, frame: Any) -> None:
        if self.is_asked:
            raise KeyboardInterrupt
        self.is_asked = True

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


class Display:
    """The progress of a run, where somebody sees it."""

    def __init__(self, wanted: bool | str, epochs: int, data: Any) -> None:
        if epochs < 0:
            raise errors.wrong_value("epochs", epochs, "at least 0").locate("fit", [])
        if not isinstance(wanted, bool) and (not isinstance(wanted, str) or wanted != "lines"):
            rule = "True, False or 'lines'"
            raise errors.wrong_value("progress", wanted, rule).locate("fit", [])
        self._shown = progress.choose(wanted)
        self._epochs = epochs
        self._batches = length_of(data)

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *error: object) -> None:
        self._shown.close()

    def begin(self, epoch: int) -> None:
        """Begin an epoch."""
        self._shown.begin(epoch, self._epochs, self._batches)

    def advance(self, run: Run) -> None:
        """Show a step."""
        self._shown.advance(f"loss {run.total / max(run.samples, 1):.4g}")

    def end(self, run: Run) -> None:
        """Show an epoch."""
        self._shown.end(line_of(run.history.rows[-1], self._epochs))
