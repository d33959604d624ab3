"""Code for PyTorch or NumPy runs with the same result, or raises and says what to write.

Every row of docs/from_pytorch.md is run: PyTorch's spelling must raise and show ours, ours must
run.
"""

from __future__ import annotations

import copy
import pickle
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy
import pytest

import tessella as ts
from cases import fast_path_off
from offered import offered_by_package, public_modules
from tessella import namespace, spellings
from tessella.declarations import Refusal
from tessella.namespace import refusals


def names() -> dict[str, Any]:
    """Give what the rows' expressions are about."""
    x = ts.tensor([[0.0, 2.0, 1.0], [5.0, 4.0, 3.0]])
    others = {"f": lambda x: (x * x).sum(), "model": ts.nn.Linear(3, 2)}
    return {"ts": ts, "torch": ts, "x": x, "v": x[0], "y": x + 1, "i": ts.tensor([0, 1])} | others


def text(row: Refusal) -> str:
    """Name a row by its call."""
    return row.torch


@pytest.mark.parametrize("row", refusals(), ids=text)
def test_call_that_means_something_else_shows_both_spellings(row: Refusal) -> None:
    for is_slow in (False, True):
        with pytest.raises((ts.errors.ArgumentError, ts.errors.UnknownName)) as caught:
            run(row.torch, is_slow)
        message = str(caught.value)
        assert f"in PyTorch {row.torch} {row.why}" in message
        assert all(here in message for here in row.here or ["leave it out"])
        assert "  at test_spellings.py:" in message or "  at <string>:" in message


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ("x.max(dim=0)", "x.max(axis=0), x.argmax(axis=0), or x.amax(dim=0)"),
        ("ts.min(x, -1)", "x.min(axis=-1), x.argmin(axis=-1), or x.amin(dim=-1)"),
        ("x.sort(0)", "x.sort(axis=0), x.argsort(axis=0)"),
        ("x.std(dim=0)", "x.std(dim=0, correction=1), or x.std(axis=0)"),
        ("x.var((0, 1))", "x.var(dim=(0, 1), correction=1), or x.var(axis=(0, 1))"),
        ("ts.std_mean(x, dim=0)",
         "ts.std_mean(x, dim=0, correction=1), or ts.std_mean(x, dim=0, correction=0)"),
        ("x.median(dim=0)", "x.median(axis=0), or x.kthvalue(1, dim=0)"),
        ("ts.arange(9.0).median(dim=0)", "x.median(axis=0), or x.kthvalue(5, dim=0)"),
        ("ts.median(input=x, dim=7)", "x.median(axis=7), or x.kthvalue(1, dim=7)"),
        ("x.nanmedian(0)", 'x.nanmedian(axis=0), or x.nanquantile(0.5, axis=0, method="lower")'),
        ("x.round(decimals=1)", "(x * 10).round() / 10"),
        ("x.round(decimals=-2)", "(x / 100).round() * 100"),
        ("x.round(decimals=0)", "x.round()"),
        ("ts.gradient(x, dim=[1])", "ts.gradient(x, axis=1)"),
        ("ts.gradient(v)", "ts.gradient(v, axis=0)"),
    ],
)  # fmt: skip
def test_hint_has_what_the_call_has(call: str, hint: str) -> None:
    with pytest.raises(ts.errors.ArgumentError) as caught:
        run(call)
    assert str(caught.value).endswith(f"hint: write {hint}")


def run(expression: str, is_slow: bool = False) -> Any:
    """Evaluate an expression, on the fast path or by the records."""
    if not is_slow:
        return eval(expression, names())
    with fast_path_off():
        return eval(expression, names())


@pytest.mark.parametrize("row", [*refusals(), *spellings.STANDARD], ids=text)
def test_spelling_that_is_shown_runs(row: Refusal) -> None:
    for here in row.here:
        run(here)


@pytest.mark.parametrize("row", spellings.STANDARD, ids=text)
def test_call_that_the_standard_defines_runs(row: Refusal) -> None:
    run(row.torch)


@pytest.mark.parametrize(
    ("module", "tensors"),
    [
        (ts.nn.Linear(3, 2), {"input": ts.ones(4, 3)}),
        (ts.nn.Sequential(ts.nn.ReLU()), {"input": ts.ones(4)}),
        (ts.nn.LSTM(3, 2), {"input": ts.ones(4, 1, 3), "hx": None}),
        (ts.nn.MSELoss(), {"input": ts.ones(4), "target": ts.zeros(4)}),
        (ts.nn.CrossEntropyLoss(), {"input": ts.ones(2, 3), "target": ts.tensor([0, 2])}),
        (ts.nn.Bilinear(3, 2, 1), {"input1": ts.ones(4, 3), "input2": ts.ones(4, 2)}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_modules_take_the_keywords_of_pytorch(module: Any, tensors: dict[str, Any]) -> None:
    given = list(tensors.values())
    ts.testing.assert_close(module(**tensors), module(*given))
    with pytest.raises(ts.errors.ArgumentError, match="unexpected keyword argument 'inputs'"):
        module(inputs=given[0])
    with pytest.raises(ts.errors.ArgumentError):
        module(given[0], **tensors)


def test_a_module_of_the_user_has_its_own_keywords() -> None:
    class Twice(ts.nn.Module):
        def forward(self, x: ts.Tensor, input: float = 2.0) -> ts.Tensor:
            return x * input

    assert Twice()(x=ts.ones(1), input=3.0).item() == 3.0


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("x.unsqeeze(0)", "did you mean unsqueeze"),
        ("ts.concatenat", "did you mean concatenate"),
        ("ts.zeroes", "did you mean zeros?"),
        ("x.concat", r"it is a function: ts.concat(x, …)"),
        ("ts.view", r"call it as x.view(…)"),
        *((f"ts.{name}", f"read it as x.{name}") for name in ("ndim", "shape", "size", "T")),
        *((f"x.{name}()", f"write ts.linalg.{name}(…)") for name in ("det", "svd", "qr")),
        ("x.inverse()", "write ts.linalg.inv(x)"),
        ("ts.inverse", "write ts.linalg.inv(x)"),
        ("x.logdet()", "write ts.log(ts.linalg.det(x))"),
        ("x.fft()", "write ts.fft.fft(…)"),
        ("x.nothing_like_it", "dir(x) lists the names"),
        ("x.copy()", "NumPy's arrays have it; write x.clone()"),
        ("ts.det(x)", "write ts.linalg.det(…)"),
        ("ts.rfft(x)", "write ts.fft.rfft(…)"),
        ("ts.inverse(x)", "write ts.linalg.inv(x)"),
    ],
)
def test_unknown_name_suggests_ours(expression: str, hint: str) -> None:
    with pytest.raises(ts.errors.UnknownName) as caught:
        run(expression)
    owner = "tessella" if expression.startswith("ts") else "Tensor"
    assert caught.value.hint.startswith(hint)
    assert str(caught.value).startswith(f"{owner} has no attribute '")
    assert f"  hint: {hint}" in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("name", spellings.OF_NUMPY)
def test_name_of_numpy_is_not_ours_and_what_does_the_same_runs(name: str, tmp_path: Path) -> None:
    x = ts.arange(6.0)
    assert hasattr(numpy.ndarray, name) and not hasattr(x, name)
    names = {"ts": ts, "x": x, "mask": x > 2, "shape": (2, 3), "path": tmp_path / "x.npy"}
    eval(spellings.OF_NUMPY[name], names)


def test_hasattr_is_false_and_looks_for_no_suggestion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spellings, "suggest", lambda *_: pytest.fail("looked for a suggestion"))
    assert not hasattr(ts.ones(2), "unsqeeze")
    assert not hasattr(ts, "concatenat")
    assert getattr(ts.ones(2), "unsqeeze", 3) == 3


def test_names_of_protocols_give_the_plain_error() -> None:
    with pytest.raises(AttributeError) as caught:
        ts.ones(2).__nothing__  # type: ignore[attr-defined]  # noqa: B018
    assert type(caught.value) is AttributeError


def test_names_that_python_asks_the_package_for_give_the_plain_error() -> None:
    with pytest.raises(AttributeError) as caught:
        ts.__nothing__  # type: ignore[attr-defined]  # noqa: B018
    assert type(caught.value) is AttributeError
    assert str(caught.value) == "module 'tessella' has no attribute '__nothing__'"


def test_version_is_that_of_the_installed_package(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ts.__version__ == metadata.version("tessella")

    def unknown(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", unknown)
    assert ts.__version__ == "0+unknown"


@pytest.mark.parametrize("name", public_modules())
def test_completion_of_a_module_shows_what_it_offers(name: str) -> None:
    module = public_modules()[name]
    assert dir(module) == sorted(module.__all__)
    for each in dir(module):
        getattr(module, each)


def test_completion_of_the_package_shows_what_it_offers() -> None:
    shown = {name for name in dir(ts) if not name.startswith("_")}
    modules = {name for name in public_modules() if "." not in name}
    wanted = offered_by_package().keys() | namespace.LATER.keys() | modules
    assert shown == {name for name in wanted if not name.startswith("_")}
    assert not shown & {"install", "find", "names", "catalogue", "data_errors", "namespace"}
    assert {"__name__", "__doc__", "__version__", "__array_api_version__"} <= {*dir(ts)}


class Broken(ts.Tensor):
    """A subclass with a property that fails."""

    @property
    def secret(self) -> int:
        raise AttributeError("my own")


def test_property_of_a_subclass_keeps_its_own_error() -> None:
    x = Broken(ts.ones(2))
    with pytest.raises(AttributeError, match=r"^my own$"):
        _ = x.secret
    with pytest.raises(ts.errors.UnknownName, match=r"^Broken has no attribute 'secrt'"):
        _ = x.secrt  # type: ignore[attr-defined]  # it is not there


# --- arguments in PyTorch's order and with its keywords -------------------------------------------


@pytest.mark.parametrize(("expression", "expected"), [
    ("ts.diff(x, 2)", [[-3.0], [0.0]]),
    ("x.diff(1, 0)", [[5.0, 2.0, 2.0]]),
    ("ts.arange(0, end=3)", [0, 1, 2]),
    ("ts.linspace(0, end=1, steps=3)", [0.0, 0.5, 1.0]),
    ("ts.eye(n=2, m=1)", [[1.0], [0.0]]),
    ("ts.pow(x[0], exponent=2)", [0.0, 4.0, 1.0]),
    ("ts.matmul(input=x, other=y[0])", [8.0, 23.0]),
    ("ts.mm(input=x, mat2=y.T)", [[8.0, 14.0], [23.0, 62.0]]),
    ("ts.mv(x, vec=y[0])", [8.0, 23.0]),
    ("ts.dot(x[0], tensor=y[0])", 8.0),
    ("ts.tensordot(x, y, dims=2)", 70.0),
    ("ts.searchsorted(ts.arange(3), i, right=True)", [1, 2]),
    ("x.flip(0, 1)", [[3.0, 4.0, 5.0], [1.0, 2.0, 0.0]]),
    ("x[None, :, None].squeeze(0, 2)", [[0.0, 2.0, 1.0], [5.0, 4.0, 3.0]]),
    ('ts.meshgrid([i, i], indexing="ij")[0]', [[0, 0], [1, 1]]),
    ('ts.einsum("ij,ij->i", [x, y])', [8.0, 62.0]),
    ("ts.argsort(x, 1, True)", [[1, 2, 0], [0, 1, 2]]),
    ("ts.isclose(x[0], x[0] + 0.1, 0.0, 0.2)", [True, True, True]),
    ("ts.tensor(ts.linalg.svd(ts.ones(3, 1), False).U.shape)", [3, 1]),
    ("x.where(x > 1, other=-y)", [[-1.0, 2.0, -2.0], [5.0, 4.0, 3.0]]),
])  # fmt: skip
def test_call_of_pytorch_gives_what_it_gives_there(expression: str, expected: Any) -> None:
    assert run(expression).tolist() == run(expression, True).tolist() == expected


@pytest.mark.parametrize(("call", "what", "hint"), [
    ("ts.nn.Linear(3, 2, foo=1)", "Linear: got an unexpected keyword argument 'foo'",
     "the signature is Linear(in_features, out_features, bias=True, device=None, dtype=None)"),
    ("ts.nn.Linear(3)", "Linear: missing 1 required positional argument: 'out_features'",
     "the signature is Linear(in_features, "),
    ("ts.nn.RNN(3, 4, proj_size=2)", "RNN: got an unexpected keyword argument 'proj_size'",
     "the signature is RNN(input_size, hidden_size, "),
    ("ts.optim.SGD([y.requires_grad_()], lr=0.1, foo=2)",
     "SGD: got an unexpected keyword argument 'foo'", "the signature is SGD(params, lr="),
    ("model()", "Linear: missing 1 required positional argument: 'x'",
     "the signature is Linear(x)"),
    ("ts.autograd.grad((y.requires_grad_() * y).sum(), y, is_grads_batched=True)",
     "grad: is_grads_batched is True", "ts.jacobian(f)(x) gives one gradient for each result"),
    ("(x > 0).fill_(1)", "fill_: 1 does not fit bool", "write True"),
    ("x.copy_(x[0])", "copy_: the result has shape (3,), the target (2, 3)",
     "copy_ takes a tensor of the same shape; x[...] = source broadcasts"),
    ("x.var(dim=0, unbiased=True)", "var: in PyTorch x.var(unbiased=True) divides by n - 1",
     "write x.var(correction=1)"),
    ("ts.checkpoint(f, x, context_fn=f)", "checkpoint: context_fn is 'given'",
     "open what it gives inside f"),
])  # fmt: skip
def test_call_that_is_refused_says_what_to_write(call: str, what: str, hint: str) -> None:
    with pytest.raises(ts.errors.TessellaError) as caught:
        run(call)
    assert str(caught.value).startswith(what) and hint in caught.value.hint


class Bad(ts.nn.Linear):
    """A layer of a user, which calls what it must not."""

    def forward(self, x: ts.Tensor, y: ts.Tensor) -> ts.Tensor:  # type: ignore[override]
        nothing: Any = None
        return x + len(nothing)


def test_errors_of_users_modules_stay_as_they_are() -> None:
    for args in ((), (ts.ones(2), ts.ones(2))):
        with pytest.raises(TypeError) as caught:
            Bad(2, 2)(*args)
        assert type(caught.value) is TypeError


def test_keywords_of_pytorch_that_change_no_result() -> None:
    x = ts.ones(3, requires_grad=True)
    f = lambda x: (x * x).sum()  # noqa: E731
    ts.checkpoint(f, x, use_reentrant=False, determinism_check="none", debug=True).backward()
    assert x.grad is not None and x.grad.tolist() == [2.0, 2.0, 2.0]
    assert x.numpy(force=True).tolist() == [1.0, 1.0, 1.0]
    assert ts.zeros(3).copy_(x.detach(), non_blocking=True).tolist() == [1.0, 1.0, 1.0]
    assert ts.finfo(ts.float32).tiny == 2.0**-126


# --- properties that are called ------------------------------------------------------------------


def test_size_is_an_int_wherever_one_is_wanted() -> None:
    x = ts.zeros(2, 3)
    assert isinstance(x.size, int) and x.size == 6 and repr(x.size) == "6"
    assert ts.zeros(x.size).shape == (6,) and x.reshape(x.size).shape == (6,)
    assert type(x.size + 1) is int and type(copy.copy(x.size)) is int
    assert type(pickle.loads(pickle.dumps(x.size))) is int


def test_flag_is_read_as_here_and_called_as_in_pytorch() -> None:
    x = ts.zeros(2, 3)
    assert x.is_contiguous and x.is_contiguous() is True and repr(x.is_contiguous) == "True"
    assert not x.T.is_contiguous and x.T.is_contiguous() is False
    assert x.T.is_contiguous == False and str(x.T.is_contiguous) == "False"  # noqa: E712
    assert pickle.loads(pickle.dumps(x.is_contiguous)) is True


def test_parts_of_complex_numbers_are_views() -> None:
    z = ts.tensor([1 + 2j, 3 - 1j])
    assert (z.real + 1).tolist() == [2.0, 4.0] and z.imag.tolist() == [2.0, -1.0]
    z.real = ts.tensor([5.0, 6.0])
    z.imag[0] = 9
    assert z.tolist() == [5 + 9j, 6 - 1j]
    w = ts.tensor([1 + 2j], requires_grad=True)
    (w * w).real.sum().backward()
    assert w.grad is not None and w.grad.tolist() == [2 - 4j]
    f = ts.compile(lambda z: z.real * 2 + z.imag)
    assert [f(z).tolist() for _ in range(2)] == [[19.0, 11.0]] * 2
    x = ts.ones(2)
    assert x.real is x
    with pytest.raises(ts.errors.DTypeMismatch, match="imag: not defined for float32"):
        _ = x.imag
    with pytest.raises(ts.errors.DTypeMismatch, match="imag: not defined for float32"):
        x.imag = x


def test_data_shares_the_memory_and_is_outside_the_graph() -> None:
    x = ts.ones(2, requires_grad=True)
    x.data.mul_(3)
    x.data[0] = 5
    assert x.tolist() == [5.0, 3.0] and not x.data.requires_grad and x.is_leaf
    with pytest.raises(ts.errors.ArgumentError) as caught:
        x.data = ts.zeros(2)
    message = str(caught.value)
    assert message.startswith(
        "data: in PyTorch x.data = y gives x other memory\n    x  float32 (2,)"
    )
    assert message.endswith("  hint: write x.detach().copy_(y)")


def test_data_may_be_written_in_place() -> None:
    x = ts.ones(2, 2, requires_grad=True)
    x.data -= 0.5
    x.data *= 4
    assert x.tolist() == [[2.0, 2.0], [2.0, 2.0]] and x.requires_grad and x.is_leaf
    for other in (x.detach().T, x.detach()[0], x.detach().clone(), x.detach().view(ts.int32), 3):
        with pytest.raises(ts.errors.ArgumentError, match=r"x.data = y gives x other memory"):
            x.data = other  # type: ignore[assignment]


def test_what_is_written_through_data_is_noticed_by_backward() -> None:
    x = ts.ones(2, requires_grad=True)
    y = (x * x).sum()
    x.data.add_(1)
    with pytest.raises(ts.errors.InplaceError):
        y.backward()


# --- modules -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("expression", "hint"), [
    ("ts.cuda.current_device()", 'tensors live in the memory of the host: write "cpu"'),
    ("ts.nn.functional.conv3d", "did you mean conv2d, conv1d?"),
    ("ts.nn.Liner", "did you mean Linear"),
    ("ts.optim.Adma", "did you mean Adam"),
    ("ts.data.DataLaoder", "did you mean DataLoader"),
    ("ts.utils.nothing", "dir(ts.utils) lists the names"),
    ("ts.nn.utils.rnn.unpad_sequence", "did you mean pad_sequence"),
    ("ts.linalg.choleski", "did you mean cholesky"),
    ("ts.fft.fft2", "did you mean fft"),
    ("ts.nn.init.xavier_uniform", "did you mean xavier_uniform_"),
    ("ts.optim.lr_scheduler.StepsLR", "did you mean StepLR"),
])  # fmt: skip
def test_unknown_name_of_a_module_suggests_ours(expression: str, hint: str) -> None:
    with pytest.raises(ts.errors.UnknownName, match=f"^tessella.{expression.split('.')[1]}") as e:
        run(expression)
    assert f"  hint: {hint}" in str(e.value)


# --- types that annotations and arguments name ----------------------------------------------------


def test_types_have_the_names_of_pytorch() -> None:
    assert ts.float is ts.float32 and ts.long is ts.int64 and ts.half is ts.float16
    assert ts.zeros(2, dtype=ts.long).dtype is ts.int64 and isinstance(ts.float, ts.dtype)
    assert isinstance(ts.zeros(2).shape, ts.Size) and ts.Size([2, 3]) == (2, 3)


def test_device_is_a_name_that_can_be_asked() -> None:
    device = ts.device("cuda:0" if ts.cuda.is_available() else "cpu")
    x = ts.zeros(2, device=device).to(device)
    assert x.device == device == "cpu" and x.device.type == "cpu"
    assert not x.is_cuda and pickle.loads(pickle.dumps(device)) == device
    with pytest.raises(ts.errors.InvalidArgument, match="device: device is 'cuda'"):
        ts.device("cuda")


def test_names_that_layers_and_losses_of_users_call() -> None:
    named: dict[str, Any] = {"data": [1, 2]}
    assert ts.as_tensor([1, 2], dtype=ts.float).dtype is ts.float32
    assert ts.as_tensor(**named).tolist() == [1, 2]
    assert ts.nn.init._calculate_fan_in_and_fan_out(ts.ones(4, 3, 2)) == (6, 8)
    x = ts.ones(2, requires_grad=True)
    assert ts.autograd.grad(x.sum(), x, None, True, False, True)[0].tolist() == [1.0, 1.0]
    with pytest.raises(ts.errors.InvalidArgument, match=r"^grad: only_inputs is False"):
        ts.autograd.grad(x.sum(), x, only_inputs=False)
