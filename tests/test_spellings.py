"""Code for PyTorch or NumPy runs with the same result, or raises and says what to write.

Every row of docs/from_pytorch.md is run: PyTorch's spelling must raise and show ours, ours must
run.
"""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy
import pytest

import tessella as ts
from cases import fast_path_off
from tessella import spellings
from tessella.declarations import Refusal
from tessella.namespace import refusals


def names() -> dict[str, Any]:
    """Give what the rows' expressions are about."""
    x = ts.tensor([[0.0, 2.0, 1.0], [5.0, 4.0, 3.0]])
    others = {"f": lambda x: (x * x).sum(), "model": ts.nn.Linear(3, 2)}
    return {"ts": ts, "torch": ts, "x": x, "y": x + 1, "i": ts.tensor([0, 1]), **others}


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
        assert all(here in message for here in row.here)
        assert "  at test_spellings.py:" in message or "  at <string>:" in message


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


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("x.unsqeeze(0)", "did you mean unsqueeze"),
        ("ts.concatenat", "did you mean concatenate"),
        ("x.concat", r"it is a function: ts.concat(x, …)"),
        ("ts.view", r"call it as x.view(…)"),
        ("x.nothing_like_it", "docs/operations.md lists the names"),
        ("x.copy()", "NumPy's arrays have it; write x.clone()"),
    ],
)
def test_unknown_name_suggests_ours(expression: str, hint: str) -> None:
    with pytest.raises(ts.errors.UnknownName) as caught:
        run(expression)
    owner = "tessella" if expression.startswith("ts") else "Tensor"
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


def test_data_shares_the_memory_and_is_outside_the_graph() -> None:
    x = ts.ones(2, requires_grad=True)
    x.data.mul_(3)
    x.data[0] = 5
    assert x.tolist() == [5.0, 3.0] and not x.data.requires_grad and x.is_leaf
    with pytest.raises(ts.errors.ArgumentError) as caught:
        x.data = ts.zeros(2)  # type: ignore[misc]  # it is what must not be done
    message = str(caught.value)
    assert message.startswith(
        "data: in PyTorch x.data = y gives x other memory\n    x  float32 (2,)"
    )
    assert message.endswith("  hint: write x.detach().copy_(y)")


def test_what_is_written_through_data_is_noticed_by_backward() -> None:
    x = ts.ones(2, requires_grad=True)
    y = (x * x).sum()
    x.data.add_(1)
    with pytest.raises(ts.errors.InplaceError):
        y.backward()


# --- modules -------------------------------------------------------------------------------------


@pytest.mark.parametrize("statement", [
    "import tessella.utils.data; assert tessella.utils.data is tessella.data",
    "import tessella.utils; assert tessella.utils.data is tessella.data",
    "from tessella.utils.data import DataLoader, Dataset; assert DataLoader is ts.data.DataLoader",
    "from tessella.utils.checkpoint import checkpoint; assert checkpoint is ts.checkpoint",
    "from tessella.nn.parameter import Parameter; assert Parameter is ts.nn.Parameter",
    "import tessella.nn.utils as utils; assert utils is ts.nn.utils",
    "from tessella.nn.utils.rnn import pad_sequence as f; assert f is ts.nn.utils.rnn.pad_sequence",
    "import tessella.backends.cudnn as cudnn; cudnn.benchmark = True",
    "assert not ts.backends.mps.is_available() and not ts.mps.is_available()",
    "from tessella.cuda import is_available; assert not is_available()",
    "ts.cuda.manual_seed(1); ts.cuda.manual_seed_all(1); ts.cuda.empty_cache()",
])  # fmt: skip
def test_modules_of_pytorch_are_found(statement: str) -> None:
    exec(statement, {"ts": ts})


@pytest.mark.parametrize(("statement", "owner", "key"), [
    ("from tessella.autograd import Variable", "tessella.autograd", "autograd.Variable"),
    ("from tessella.nn import Conv3d", "tessella.nn", "nn.Conv3d"),
    ("from tessella.nn.utils import weight_norm", "tessella.nn.utils", "nn.utils.weight_norm"),
    ("from tessella.nn.utils.rnn import pack_padded_sequence", "tessella.nn.utils.rnn",
     "nn.utils.rnn.pack_padded_sequence"),
    ("import tessella.nn.parallel", "tessella.nn", "nn.parallel"),
    ("from tessella import jit", "tessella", "ts.jit"),
    ("from tessella.distributions import Normal", "tessella", "ts.distributions"),
    ("from tessella.utils.tensorboard import SummaryWriter", "tessella.utils", "utils.tensorboard"),
])  # fmt: skip
def test_import_of_what_is_not_here_says_what_to_write(
    statement: str, owner: str, key: str
) -> None:
    with pytest.raises(ImportError) as caught:
        exec(statement, {})
    row, name = spellings.ABSENT[key], key.rpartition(".")[2]
    assert str(caught.value) == (
        f"cannot import {name!r} from {owner}\n  at <string>:1\n"
        f"  hint: in PyTorch {row.torch} {row.why}; write {', or '.join(row.here)}"
    )


def test_import_of_what_nobody_knows_fails_as_any_other() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'tessella\.nothing'$"):
        import tessella.nothing  # type: ignore[import-not-found]  # noqa: F401
    with pytest.raises(ImportError, match=r"^cannot import name 'nothing' from 'tessella\.nn'"):
        from tessella.nn import nothing  # type: ignore[attr-defined]  # noqa: F401


@pytest.mark.parametrize(("expression", "hint"), [
    ("ts.cuda.current_device()", 'tensors live in the memory of the host: write "cpu"'),
    ("ts.nn.functional.conv3d", "did you mean conv2d, conv1d?"),
    ("ts.nn.Liner", "did you mean Linear"),
    ("ts.optim.Adma", "did you mean Adam"),
    ("ts.data.DataLaoder", "did you mean DataLoader"),
    ("ts.utils.nothing", "docs/operations.md lists the names"),
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
