"""fit: what it trains, measures, saves, resumes and refuses; histories; progress; metrics."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, cast

import pytest

import tessella as ts
from tessella import data, errors, nn, progress, training
from tessella.nn import functional as F


def parts(seed: int = 0, lr: float = 0.05) -> tuple[nn.Module, data.DataLoader, Any, Any]:
    """Give a model, batches, an optimizer and a schedule, the same for every seed."""
    ts.manual_seed(seed)
    x = ts.randn(50, 3)
    y = x @ ts.tensor([[1.0], [-2.0], [0.5]]) + 0.1 * ts.randn(50, 1)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = ts.optim.Adam(model.parameters(), lr=lr)
    loader = data.DataLoader(data.TensorDataset(x, y), 8, shuffle=True)
    return model, loader, optimizer, ts.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)


def numbers(model: nn.Module) -> list[Any]:
    """Give all parameters as lists."""
    return [x.tolist() for x in model.parameters()]


QUIET: dict[str, Any] = {"progress": False}


def test_it_trains_and_tells_of_every_epoch() -> None:
    model, loader, optimizer, scheduler = parts()
    history = ts.fit(
        model, loader, F.mse_loss, optimizer, epochs=6, scheduler=scheduler,
        validation=loader, metrics={"r2": ts.metrics.r2_score}, clip=1.0, **QUIET,
    )  # fmt: skip
    assert history["epoch"] == [1, 2, 3, 4, 5, 6] and len(history) == 6
    assert history["loss"][-1] < history["loss"][0] / 4 and history["r2"][-1] > 0.5
    assert history.columns == ["epoch", "loss", "val_loss", "r2", "seconds", "samples/s", "memory"]
    assert all(value > 0 for value in history["samples/s"] + history["memory"])
    assert optimizer.param_groups[0]["lr"].item() == pytest.approx(0.05 / 8)
    lines = repr(history).splitlines()
    assert len(lines) == 7 and lines[0].split() == history.columns
    assert model.training


def test_it_does_what_a_loop_by_hand_does() -> None:
    model, loader, optimizer, _ = parts()
    ts.fit(model, loader, F.mse_loss, optimizer, epochs=3, **QUIET)
    other, batches, adam, _ = parts()
    for _ in range(3):
        for x, y in batches:
            adam.zero_grad()
            F.mse_loss(other(x), y).backward()
            adam.step()
    assert numbers(model) == numbers(other)


def test_tensors_are_their_own_targets() -> None:
    ts.manual_seed(0)
    model = nn.Linear(4, 4)
    x = ts.randn(32, 4)
    optimizer = ts.optim.SGD(model.parameters(), lr=0.5)
    history = ts.fit(model, [x], F.mse_loss, optimizer, epochs=40, validation=[x], **QUIET)
    assert history["val_loss"][-1] < history["val_loss"][0] / 2


def test_validation_leaves_no_trace() -> None:
    class Noted(nn.Linear):
        modes: list[bool] = []

        def forward(self, x: ts.Tensor) -> ts.Tensor:
            self.modes.append(self.training and ts.is_grad_enabled())
            return super().forward(x)

    model = Noted(1, 1)
    batch = (ts.ones(2, 1), ts.ones(2, 1))
    optimizer = ts.optim.SGD(model.parameters(), lr=0.1)
    ts.fit(model, [batch], F.mse_loss, optimizer, epochs=2, validation=[batch, batch], **QUIET)
    assert Noted.modes == [True, False, False] * 2 and model.training


def test_early_stopping_gives_the_best_parameters_back() -> None:
    model = nn.Linear(1, 1)
    optimizer = ts.optim.SGD(model.parameters(), lr=0.0)
    losses = iter([3.0, 1.0, 2.0, 2.0, 2.0, 2.0])
    seen: list[Any] = []

    def measure(prediction: ts.Tensor, target: ts.Tensor) -> ts.Tensor:
        if ts.is_grad_enabled():
            return prediction.sum() * 0
        with ts.no_grad():
            model.weight.fill_(float(len(seen)))
        seen.append(numbers(model))
        return ts.tensor(next(losses))

    batch = (ts.ones(1, 1), ts.ones(1, 1))
    history = ts.fit(model, [batch], measure, optimizer, epochs=50, validation=[batch],
                     patience=3, compile=False, **QUIET)  # fmt: skip
    assert history["epoch"] == [1, 2, 3, 4, 5]
    assert history.reason == "no better than epoch 2 for 3 epochs"
    assert repr(history).endswith(history.reason) and numbers(model) == seen[1]


def test_a_plateau_schedule_sees_the_loss() -> None:
    model = nn.Linear(1, 1)
    optimizer = ts.optim.SGD(model.parameters(), lr=1.0)
    schedule = ts.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    batch = (ts.zeros(1, 1), ts.zeros(1, 1))
    with ts.no_grad():
        model.bias.fill_(0.0)  # type: ignore[union-attr]
    ts.fit(model, [batch], F.mse_loss, optimizer, epochs=3, scheduler=schedule, **QUIET)
    assert optimizer.param_groups[0]["lr"].item() == pytest.approx(0.01)


def test_a_function_is_called_after_each_epoch() -> None:
    model, loader, optimizer, _ = parts()
    seen: list[dict[str, Any]] = []
    history = ts.fit(
        model, loader, F.mse_loss, optimizer, epochs=3, after_epoch=seen.append, **QUIET
    )
    assert seen == history.rows and len(seen) == 3


def test_a_loss_that_cannot_be_compiled_is_refused_with_the_way_out() -> None:
    model = nn.Linear(1, 1)
    optimizer = ts.optim.SGD(model.parameters(), lr=1.0)
    batch = (ts.ones(1, 1), ts.ones(1, 1))

    def measure(prediction: ts.Tensor, target: ts.Tensor) -> ts.Tensor:
        return prediction.sum() * (1.0 if prediction.sum().item() > 0 else 2.0)

    with pytest.raises(ts.errors.CaptureError) as caught:
        ts.fit(model, [batch], measure, optimizer, **QUIET)
    text = str(caught.value)
    assert "item() cannot be part of a compiled function" in text and "test_fit.py:" in text
    assert text.endswith("use where(…); or fit(…, compile=False)")
    ts.fit(model, [batch], measure, optimizer, compile=False, **QUIET)


@pytest.mark.parametrize("clip", [None, 0.1])
def test_compiled_training_has_the_bits_of_eager(clip: float | None) -> None:
    def run(compile: bool) -> list[Any]:
        model, loader, optimizer, scheduler = parts()
        history = ts.fit(model, loader, F.mse_loss, optimizer, epochs=3, scheduler=scheduler,
                         clip=clip, compile=compile, **QUIET)  # fmt: skip
        return [numbers(model), history["loss"]]

    assert run(True) == run(False)


# --- checkpoints ----------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [1, 6, 7, 9, 14, 20])
@pytest.mark.filterwarnings("ignore:.* was recorded at each:RuntimeWarning")
def test_a_run_that_was_stopped_goes_on_with_the_same_bits(stop: int, tmp_path: Path) -> None:
    def run(file: str, asks: int) -> tuple[list[Any], list[Any]]:
        model, loader, optimizer, scheduler = parts()
        steps = 0

        def loss(prediction: ts.Tensor, target: ts.Tensor) -> ts.Tensor:
            nonlocal steps
            steps += ts.is_grad_enabled()
            if steps == asks and ts.is_grad_enabled():
                os.kill(os.getpid(), signal.SIGINT)
            return F.mse_loss(prediction, target) + 0 * ts.rand(()).detach()

        history = ts.fit(
            model, loader, loss, optimizer, epochs=3, scheduler=scheduler, patience=9,
            validation=loader, checkpoint=tmp_path / file, resume=True, **QUIET,
        )  # fmt: skip
        assert ("interrupted" in history.reason) == bool(asks)
        return numbers(model), [history["loss"], history["val_loss"]] if not asks else []

    whole = run("whole.ts", 0)
    run("parts.ts", stop)
    assert run("parts.ts", 0) == whole


@pytest.mark.filterwarnings("ignore:.* was recorded at each:RuntimeWarning")
def test_lists_of_batches_are_taken_up_where_they_were_left(tmp_path: Path) -> None:
    def run(asks: int) -> tuple[list[Any], list[float]]:
        model, loader, optimizer, _ = parts()
        batches = list(loader)
        seen = 0

        def loss(prediction: ts.Tensor, target: ts.Tensor) -> ts.Tensor:
            nonlocal seen
            seen += 1
            if seen == asks:
                signal.raise_signal(signal.SIGINT)
            return F.mse_loss(prediction, target)

        history = ts.fit(model, batches, loss, optimizer, epochs=2, resume=True,
                         checkpoint=tmp_path / ("b" if asks else "a"), **QUIET)  # fmt: skip
        return numbers(model), [] if asks else history["loss"]

    whole = run(0)
    run(4)
    os.rename(tmp_path / "b", tmp_path / "a")
    assert run(0) == whole


def test_more_epochs_go_on_from_a_finished_run(tmp_path: Path) -> None:
    model, loader, optimizer, _ = parts()
    file = tmp_path / "run.ts"
    ts.fit(model, loader, F.mse_loss, optimizer, epochs=2, checkpoint=file, **QUIET)
    model, loader, optimizer, _ = parts()
    history = ts.fit(model, loader, F.mse_loss, optimizer, epochs=4, checkpoint=file, resume=True,
                     **QUIET)  # fmt: skip
    again, batches, adam, _ = parts()
    whole = ts.fit(again, batches, F.mse_loss, adam, epochs=4, **QUIET)
    assert numbers(model) == numbers(again) and history["loss"] == whole["loss"]


def test_a_checkpoint_of_another_model_changes_nothing(tmp_path: Path) -> None:
    model, loader, optimizer, _ = parts()
    file = tmp_path / "run.ts"
    ts.fit(model, loader, F.mse_loss, optimizer, epochs=1, checkpoint=file, **QUIET)
    other = nn.Linear(3, 1)
    before = numbers(other)
    adam = ts.optim.Adam(other.parameters())
    with pytest.raises(errors.TessellaError):
        ts.fit(other, loader, F.mse_loss, adam, checkpoint=file, resume=True, **QUIET)
    assert numbers(other) == before


def test_two_interrupts_end_at_once_and_the_handler_is_put_back() -> None:
    model, loader, optimizer, _ = parts()
    before = signal.getsignal(signal.SIGINT)

    def loss(prediction: ts.Tensor, target: ts.Tensor) -> ts.Tensor:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        return F.mse_loss(prediction, target)

    with pytest.raises(KeyboardInterrupt):
        ts.fit(model, loader, loss, optimizer, **QUIET)
    assert signal.getsignal(signal.SIGINT) is before


def test_it_works_in_other_threads() -> None:
    found: list[Any] = []

    def work() -> None:
        model, loader, optimizer, _ = parts()
        found.append(ts.fit(model, loader, F.mse_loss, optimizer, epochs=2, **QUIET))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(found[0]) == 2


# --- refusals -------------------------------------------------------------------------------------


def refused(batches: Any, loss: Any = F.mse_loss, **keywords: Any) -> None:
    """Train a small model."""
    model = nn.Linear(1, 1)
    ts.fit(model, batches, loss, ts.optim.SGD(model.parameters(), lr=0.1), **QUIET, **keywords)


PAIR = (ts.ones(1, 1), ts.ones(1, 1))
REFUSED = [
    (lambda: refused([]), errors.InvalidArgument, "fit: data has no batches"),
    (lambda: refused([PAIR], validation=[]), errors.InvalidArgument, "validation has no batches"),
    (lambda: refused(["text"]), errors.ArgumentError, "fit: a batch is str"),
    (lambda: refused([(1, 2, 3)]), errors.ArgumentError, "fit: a batch is a tuple of 3"),
    (lambda: refused([[1, 2, 3]]), errors.ArgumentError, "fit: a batch is a list of 3"),
    (lambda: refused(ts.ones(3, 1)), errors.ArgumentError,
     "fit: data is one tensor, whose rows are not batches"),
    (lambda: refused([PAIR], lambda p, t: 3.0), errors.ArgumentError, "the loss is float"),
    (lambda: refused([(ts.ones(2, 1), ts.ones(2, 1))], lambda p, t: p - t),
     errors.ArgumentError, "not a tensor of one number"),
    (lambda: ts.fit(3, [PAIR], F.mse_loss, None),  # type: ignore[arg-type]
     errors.ArgumentError, "fit: model must be a module, got int"),
    (lambda: ts.fit(nn.Linear(1, 1), [PAIR], F.mse_loss, None),  # type: ignore[arg-type]
     errors.ArgumentError, "fit: optimizer must be an optimizer"),
    (lambda: refused(3), errors.ArgumentError, "fit: data must be batches, such as a DataLoader"),
    (lambda: refused(PAIR), errors.ArgumentError,
     "fit: data is a tuple of 2 tensors, which is one batch and not several"),
    (lambda: refused([PAIR], validation=PAIR), errors.ArgumentError,
     "fit: validation is a tuple of 2 tensors"),
    (lambda: refused([PAIR], 3), errors.ArgumentError, "fit: loss must be a function of"),
    (lambda: refused([PAIR], metrics={"a": 3}), errors.ArgumentError,
     r"fit: metrics\['a'\] must be a function of prediction and target, got int"),
    (lambda: refused([PAIR], validation=[PAIR], metrics={"a": lambda p, t: "x"}),
     errors.ArgumentError, "fit: a must be a real number, got str"),
    (lambda: refused([PAIR], scheduler=range(3)), errors.ArgumentError, "scheduler must be a"),
    (lambda: refused([PAIR], clip=0), errors.InvalidArgument, "fit: clip is 0"),
    (lambda: refused([PAIR], patience=0), errors.InvalidArgument, "fit: patience is 0"),
    (lambda: refused([PAIR], checkpoint=3), errors.ArgumentError, "checkpoint must be a path"),
    (lambda: refused([PAIR], after_epoch=3), errors.ArgumentError,
     "fit: after_epoch must be a function of an epoch's figures"),
    (lambda: refused([PAIR], resume=1), errors.ArgumentError, "resume must be True or False"),
    (lambda: refused([(ts.ones(0, 1), ts.ones(0, 1))], lambda p, t: p.sum()),
     errors.InvalidArgument, "fit: data has no batches"),
    (lambda: refused([PAIR], resume=True), errors.InvalidArgument,
     "fit: resume=True without a checkpoint"),
    (lambda: refused([PAIR], metrics={"a": F.mse_loss}), errors.InvalidArgument,
     "fit: metrics are measured on validation data, and there are none"),
    (lambda: refused([PAIR], checkpoint="no/such/folder/run"), errors.MissingFile,
     "fit: there is no folder .*no/such/folder to save run in"),
    (lambda: refused([PAIR], checkpoint="."), errors.InvalidArgument, "fit: .* is a folder"),
    (lambda: refused(ts.data.TensorDataset(*PAIR)), errors.ArgumentError,
     "fit: data is a data set, which gives samples and not batches"),
    (lambda: refused([PAIR], validation=ts.data.TensorDataset(*PAIR)), errors.ArgumentError,
     "fit: validation is a data set"),
    (lambda: refused([PAIR], nn.MSELoss), errors.ArgumentError, "fit: loss is the class MSELoss"),
    (lambda: ts.fit(nn.Linear(1, 1), [PAIR], F.mse_loss, ts.optim.Adam),  # type: ignore[arg-type]
     errors.ArgumentError, "fit: optimizer is the class Adam"),
    (lambda: ts.fit(nn.Linear(1, 1), [PAIR], F.mse_loss,
                    ts.optim.Adam(nn.Linear(1, 1).parameters())),
     errors.InvalidArgument, "fit: the optimizer has none of the model's parameters"),
    (lambda: ts.fit(cast(Any, ts.compile(nn.Linear(1, 1))), [PAIR], F.mse_loss, None),  # type: ignore[arg-type]
     errors.ArgumentError, "fit: model is a compiled function"),
    (lambda: refused(F.mse_loss), errors.ArgumentError,
     "fit: data must be batches, such as a DataLoader, got Caller"),
    (lambda: refused([PAIR], epochs=-1), errors.InvalidArgument, "fit: epochs is -1"),
    (lambda: refused([PAIR], epochs=1.5), errors.ArgumentError, "epochs must be an integer"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED)
def test_what_cannot_be_trained_is_refused(call: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "hint: " in str(caught.value)


def test_a_loss_that_is_not_finite_stops_before_the_step() -> None:
    model, loader, optimizer, _ = parts()
    before = numbers(model)
    with pytest.raises(errors.IllegalState, match="the loss is nan in epoch 1, step 1") as caught:
        ts.fit(model, loader, lambda p, t: (p * float("nan")).sum(), optimizer, **QUIET)
    assert "detect_anomaly" in str(caught.value) and numbers(model) == before


def test_a_batch_that_is_not_finite_is_told_apart_from_a_loss_that_is_not() -> None:
    model, _, optimizer, _ = parts()
    x, y = ts.ones(4, 3), ts.zeros(4, 1)
    x[1, 0], x[3, 1] = float("nan"), float("inf")
    with pytest.raises(errors.IllegalState, match="the loss is nan in epoch 1, step 1") as caught:
        ts.fit(model, [(x, y)], nn.functional.mse_loss, optimizer, **QUIET)
    assert "hint: 2 of the 16 numbers in the batch are NaN or infinite: fill" in str(caught.value)


# --- histories and progress -----------------------------------------------------------------------


def test_histories_refuse_columns_that_they_do_not_have() -> None:
    history = ts.History([{"epoch": 1, "loss": 2.0}, {"epoch": 2, "loss": 1.0, "more": 3}])
    assert history["more"] == [None, 3] and "more" in repr(history)
    with pytest.raises(errors.InvalidArgument, match="History: name is 'acc'"):
        history["acc"]
    with pytest.raises(errors.ArgumentError, match="History: row must be a dict of names and"):
        ts.History(cast(Any, [3]))


def test_a_plot_needs_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(errors.PreconditionFailed, match="matplotlib is not installed"):
        ts.History([{"epoch": 1, "loss": 2.0}]).plot()


def test_a_plot_draws_losses_and_metrics() -> None:
    class Axes:
        def __init__(self) -> None:
            self.drawn: dict[str, Any] = {}

        def plot(self, x: Any, y: Any, label: str) -> None:
            self.drawn[label] = (x, y)

        def set_xlabel(self, text: str) -> None: ...

        def legend(self) -> None: ...

    axes = Axes()
    history = ts.History([{"epoch": 1, "loss": 2.0, "seconds": 0.1, "memory": 5}])
    sys.modules.setdefault("matplotlib", type(sys)("matplotlib"))
    sys.modules.setdefault("matplotlib.pyplot", type(sys)("matplotlib.pyplot"))
    try:
        sys.modules["matplotlib"].pyplot = sys.modules["matplotlib.pyplot"]  # type: ignore
        assert history.plot(axes=axes) is axes and axes.drawn == {"loss": ([1], [2.0])}
    finally:
        if not hasattr(sys.modules["matplotlib"], "__file__"):
            del sys.modules["matplotlib"], sys.modules["matplotlib.pyplot"]


def test_logs_get_a_line_for_each_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    model, loader, optimizer, _ = parts()
    ts.fit(model, loader, F.mse_loss, optimizer, epochs=2, validation=loader)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and lines[0].startswith("epoch 1/2  loss ")
    assert "val_loss" in lines[1] and "samples/s" in lines[1] and "memory" in lines[1]


class Bar:
    """Stands for tqdm."""

    made: list[Bar] = []

    def __init__(self, total: int | None, desc: str, leave: bool) -> None:
        self.total, self.desc, self.count, self.is_open = total, desc, 0, True
        Bar.made.append(self)

    @staticmethod
    def write(text: str) -> None:
        """Print."""
        print(text)

    def set_postfix_str(self, text: str, refresh: bool) -> None:
        """Show."""
        assert text.startswith("loss ")

    def update(self) -> None:
        """Move."""
        self.count += 1

    def close(self) -> None:
        """End."""
        self.is_open = False


def test_terminals_get_a_bar_where_tqdm_is_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = type(sys)("tqdm")
    module.tqdm = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm", module)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    model, loader, optimizer, _ = parts()
    ts.fit(model, loader, F.mse_loss, optimizer, epochs=2)
    assert [(bar.total, bar.desc, bar.count, bar.is_open) for bar in Bar.made] == [
        (7, "1/2", 7, False), (7, "2/2", 7, False),
    ]  # fmt: skip
    assert capsys.readouterr().out.count("epoch ") == 2
    assert type(progress.choose("lines")) is progress.Lines
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    assert type(progress.choose(True)) is progress.Lines


def test_evaluation_means_are_over_samples() -> None:
    model = nn.Identity()
    batches = [(ts.ones(3, 1), ts.zeros(3, 1)), (ts.full((1, 1), 3.0), ts.zeros(1, 1))]
    found = training.evaluate(model, batches, F.mse_loss, {})
    assert found == {"val_loss": (3 * 1.0 + 9.0) / 4}


def test_samples_are_counted_in_nested_inputs_or_else_in_targets() -> None:
    x, y = ts.ones(3, 2), ts.ones(3)
    nested = [(x, "text"), {"scale": ts.tensor(2.0), "x": x}, ["some", "words", "here"]]
    assert [training.count(inputs, y) for inputs in (x, *nested)] == [3] * 4
    assert training.count("text", "text") == 1


# --- metrics --------------------------------------------------------------------------------------


def test_metrics_refuse_numbers_that_are_no_classes() -> None:
    one = ts.tensor([[0.9], [0.2]])
    with pytest.raises(errors.ShapeError, match="accuracy: prediction has one score for each"):
        ts.metrics.accuracy(one, ts.tensor([1, 0]))
    with pytest.raises(errors.DTypeMismatch, match="float32 and has no axis of classes") as caught:
        ts.metrics.accuracy(one.squeeze(-1), ts.tensor([1, 0]))
    assert "hint: compare it first: probability > 0.5" in str(caught.value)
    assert ts.metrics.accuracy(one > 0.5, ts.tensor([[1], [1]])).item() == 0.5


def test_scores_of_places_are_those_of_cross_entropy() -> None:
    target = ts.tensor([[0, 2, 1, 1], [2, 2, 0, 1]])
    scores = F.one_hot(target, 3).moveaxis(-1, 1).astype(ts.float32)
    assert scores.shape == (2, 3, 4) and ts.metrics.accuracy(scores, target).item() == 1
    assert ts.metrics.confusion_matrix(scores, target, 3).diagonal().tolist() == [2, 3, 3]
    assert ts.metrics.accuracy(ts.tensor([0.1, 0.9]), ts.tensor(1)).item() == 1


def test_metrics_refuse_shapes_that_do_not_fit() -> None:
    assert ts.metrics.accuracy(ts.tensor([0, 1]), ts.tensor([0, 0])).item() == 0.5
    with pytest.raises(errors.InvalidArgument, match=r"accuracy: target.shape is \(3,\)"):
        ts.metrics.accuracy(ts.ones(2, 4), ts.tensor([0, 1, 2]))
    with pytest.raises(errors.InvalidArgument, match=r"r2_score: target.shape is \(2, 1\)"):
        ts.metrics.r2_score(ts.ones(2), ts.ones(2, 1))
    counts = ts.metrics.confusion_matrix(ts.tensor([[2.0, 1.0], [0.0, 1.0]]), ts.tensor([1, 1]), 2)
    assert counts.tolist() == [[0, 0], [1, 1]]
    with pytest.raises(errors.ArgumentError, match="accuracy: target must be a tensor, got int"):
        ts.metrics.accuracy(ts.ones(2), cast(Any, 3))
    with pytest.raises(errors.InvalidArgument, match="a class of prediction is 3"):
        ts.metrics.confusion_matrix(ts.tensor([0, 3]), ts.tensor([0, 0]), 2)
    assert not ts.metrics.r2_score(ts.ones(2, requires_grad=True), ts.arange(2.0)).requires_grad
