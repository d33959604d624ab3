"""Mistakes of the first days: what is said of them, and the cure that is named."""

from __future__ import annotations

import io
from typing import Any

import numpy
import pytest

import tessella as ts
import tessella.nn.functional as F
from tessella import data, errors, nn

X, Y = ts.ones(8, 2), ts.ones(8, 1)
WEIGHT = ts.ones(3, requires_grad=True)
ANY: Any = ts  # what a checker of types would not let pass
BATCHES = [(X, Y)]
NET = nn.Linear(2, 1)
SGD = ts.optim.SGD(NET.parameters(), lr=0.1)
CYCLE: list[Any] = []  # a list that holds itself
CYCLE.append(CYCLE)


class Misshapen(ts.autograd.Function):
    """An operation whose gradient has a wrong shape."""

    @staticmethod
    def forward(ctx: Any, x: ts.Tensor) -> ts.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: ts.Tensor) -> ts.Tensor:
        return ts.ones(5)


def loaded(state: dict[str, Any]) -> ts.optim.SGD:
    """Give an optimizer that was told the state of its parameter."""
    made = ts.optim.SGD([nn.Parameter(ts.ones(2))], lr=0.1)
    made.load_state_dict({**made.state_dict(), "state": {0: state}})
    return made


def fitted(batches: Any, **more: Any) -> Any:
    """Train for two epochs."""
    return ts.fit(NET, batches, F.mse_loss, SGD, epochs=2, progress=False, **more)


# A call, the error, what it says, and the cure.
MISTAKES: list[tuple[Any, type[errors.TessellaError], str, str]] = [
    (lambda: F.cross_entropy(ts.ones(2, 5, 7), ts.zeros(2, 5, dtype=ts.int64)),
     errors.ShapeError, r"cross_entropy: target has shape \(2, 5\), x \(2, 5, 7\)",
     "where classes stand last: x.flatten(0, -2), target.flatten()"),
    (lambda: nn.BatchNorm2d(3)(ts.ones(2, 4, 5, 5)), errors.ShapeError,
     r"running_mean has shape \(3,\), and x 4 channels, on axis 1", "num_features=4"),
    (lambda: ANY.ones(2, 3, 4).sum(1, 2), errors.ArgumentError,
     "keepdims must be True or False, got int", "several axes are one argument: axis=(0, 1)"),
    (lambda: (WEIGHT > 0).sum().backward(), errors.IllegalState,
     "x does not require gradients", "int64 has none: comparisons, counts and indices end"),
    (lambda: Misshapen.apply(WEIGHT).sum().backward(), errors.BroadcastError,
     r"a rule of gradients gave shape \(5,\) for an input of shape \(3,\)", "its input's shape"),
    (lambda: ANY.nn.functional.mse_loss(None, Y), errors.ArgumentError,
     "got NoneType", "a function without a return gives None"),
    (lambda: ANY.nn.functional.mse_loss(nn.Linear(2, 1), Y), errors.ArgumentError,
     "got tessella.nn.linear.Linear", "it is a module: call it on a tensor first"),
    (lambda: ANY.nn.utils.clip_grad_norm_(nn.Linear(1, 1), 1.0),
     errors.ArgumentError, "parameters is a module", "parameters=model.parameters()"),
    (lambda: ANY.nn.MSELoss(X, Y), errors.ArgumentError,
     "MSELoss: a tensor is given where the loss is made", "nn.MSELoss()(pred, target)"),
    (lambda: ANY.ones(2, 3, 4).transpose(2, 0, 1), errors.ArgumentError,
     "4 arguments given, 3 taken", "permute gives all axes an order"),
    (lambda: ts.tensor(numpy.array(["a"])), errors.ExchangeError,
     "the array's dtype is <U1, which no tensor has", "make it numbers first"),
    (lambda: nn.Parameter(ts.arange(3)), errors.DTypeMismatch,
     r"Parameter: int64 tensors have no gradients\n    data  int64 \(3,\)", "use astype first"),
    (lambda: ts.normal(0.0, -1.0, (2,)), errors.InvalidArgument, "std is -1.0", "at least 0"),
    (lambda: ts.concat([ts.ones(2, 3), ts.ones(2, 4)]), errors.ShapeError,
     r"xs  2: float32 \(2, 3\), float32 \(2, 4\)", "all sizes but that of axis 0"),
    (lambda: ANY.nn.Sequential([nn.ReLU()]), errors.ArgumentError,
     "module must be a module, got list", "nn.Sequential(*layers)"),
    (lambda: ANY.nn.Sequential(ts.relu), errors.ArgumentError,
     "module must be a module, got Function", "nn.ReLU() for ts.relu"),
    (lambda: ANY.ones(3).size[0], errors.ArgumentError, "x.size is the number", "x.shape[0]"),
    (lambda: ANY.seed(1), errors.UnknownName, "no attribute 'seed'", "ts.manual_seed(0)"),
    (lambda: ANY.array([1]), errors.UnknownName, "no attribute 'array'", "ts.tensor(data)"),
    (lambda: ts.tensor([1.5], dtype=ts.int32), errors.InvalidArgument,
     "1.5 does not fit int32", "ts.asarray(…).astype(ts.int32) leaves its fraction out"),
    (lambda: ts.tensor([300], dtype=ts.int8), errors.InvalidArgument,
     "300 does not fit int8", "take a wider dtype"),
    (lambda: data.random_split(data.TensorDataset(X, Y), [0.5, 0.4]), errors.InvalidArgument,
     "the fractions sum to 0.9", "fractions that sum to 1"),
    (lambda: ts.models.GPT(ts.models.GPTConfig(n_embd=50, n_head=4)), errors.FormatError,
     "GPT: n_embd is 50, and n_head 4", "the first must be a multiple"),
    (lambda: ts.models.Llama(ts.models.LlamaConfig(hidden_size=50, num_attention_heads=4)),
     errors.FormatError, "Llama: hidden_size is 50, and num_attention_heads 4", "a multiple"),
    (lambda: ANY.optim.SGD(nn.Linear(2, 1), lr=0.1), errors.ArgumentError,
     "params must be tensors or dicts in a list", "pass model.parameters()"),
    (lambda: ANY.nn.Linear(2, 3, bias=3), errors.ArgumentError,
     r"Linear: bias must be True or False, got int\n  at test_first_mistakes", "bias=3 was given"),
    (lambda: ANY.load(X), errors.ArgumentError,
     "load: path must be a path or a binary file, got Te", "a path is text"),
    (lambda: ANY.save({"x": X}, X), errors.ArgumentError,
     "save: path must be a path or a binary file, got Te", "a path is text"),
    (lambda: ANY.data.read_csv(X), errors.ArgumentError,
     "data.read_csv: path must be a path, or a file that is open, got Te", "was given"),
    (lambda: X.__dlpack__(max_version=ANY.tensor([1])), errors.ArgumentError,
     "max_version must be a pair", "was given"),
    (lambda: ANY.ones(1).__dlpack__(dl_device=1), errors.ArgumentError,
     "dl_device must be a pair", "=1"),
    (lambda: ANY.Tensor(2, 3), errors.ArgumentError, "takes one tensor, got 2", "ts.empty(2, 3)"),
    (lambda: ts.linalg.svd(ts.zeros((1,) * 63)), errors.InvalidArgument, "x.ndim is 63", "62"),
    (lambda: float(ts.tensor(1j)), errors.ArgumentError, "of a complex number", "x.real"),
    (lambda: format(X, "zz"), errors.InvalidArgument, "specification is 'zz'", "float32"),
    (lambda: nn.functional.one_hot(ts.tensor([0]), 0), errors.IndexOutOfBounds,
     "for 0 classes", "there are no classes"),
    (lambda: ts.vander(ts.arange(3.0), 2**45), errors.OutOfMemory, "vander", ""),
    (lambda: ANY.fit(NET, BATCHES), errors.ArgumentError,
     r"^fit: missing 2 required positional arguments: 'loss' and 'optimizer'\n  at test_first_mis",
     "the signature is fit(model, data, loss, optimizer, *, epochs=1, "),
    (lambda: ANY.save(X), errors.ArgumentError,
     "^save: missing 1 required positional argument: 'path'", "the signature is save(obj, path)"),
    (lambda: ANY.data.DataLoader(BATCHES, batch=2), errors.ArgumentError,
     "^DataLoader: got an unexpected keyword argument 'batch'", "DataLoader(dataset, batch_size"),
    (lambda: ANY.nn.utils.clip_grad_norm_([WEIGHT]), errors.ArgumentError,
     "^clip_grad_norm_: missing 1", "clip_grad_norm_(parameters, max_norm, norm_type=2.0"),
    *((lambda name=name: getattr(ts, name).nothing, errors.UnknownName,
       f"tessella.{name} has no attribute 'nothing'", f"dir(ts.{name}) lists the names")
      for name in ("memory", "metrics", "testing", "io", "text", "models")),
    (lambda: ANY.memory.limits, errors.UnknownName, "no attribute 'limits'", "mean limit?"),
    (lambda: ANY.ones(3).__delitem__(0), errors.InvalidArgument,
     r"^delitem: a tensor keeps its elements\n    x    float32 \(3,\)\n    key  0\n", "x[mask]"),
    (lambda: X[ANY.ones(2).numpy():], errors.ArgumentError,
     "getitem: start must be an integer or None, got numpy.ndarray", "start="),
    (lambda: ts.metrics.accuracy(ts.ones(4, 3), ts.ones(4, 1, dtype=ts.int64)), errors.ShapeError,
     r"accuracy: target is \(4, 1\)", "target.squeeze(1)"),
    (lambda: ANY.testing.assert_close(X, X, msg=3), errors.ArgumentError,
     "msg must be text, or a function of a text, got int", "msg=3"),
    (lambda: fitted(BATCHES, scheduler=ts.optim.lr_scheduler.StepLR), errors.ArgumentError,
     "fit: scheduler is the class StepLR", "scheduler=optim.lr_scheduler.StepLR(optimizer)"),
    (lambda: fitted(pair for pair in BATCHES), errors.InvalidArgument,
     "fit: data is an iterator, which is used up", "data=list(batches)"),
    (lambda: fitted(BATCHES, validation=iter(BATCHES)), errors.InvalidArgument,
     "fit: validation is an iterator, which is used up", "validation=list(batches)"),
    (lambda: nn.ModuleDict({"a": nn.ReLU()})["b"], errors.UnknownKey,
     "ModuleDict: 'b' names no module", "it has a"),
    (lambda: nn.ParameterDict().pop("b"), errors.UnknownKey,
     "ParameterDict: 'b' names no parameter", "it is empty"),
    (lambda: NET.load_state_dict({"weight": numpy.ones((1, 2)), "bias": numpy.ones(1)}),
     errors.InvalidArgument, "weight  is numpy.ndarray, not a tensor", "ts.asarray(value)"),
    (lambda: ts.repeat(ts.zeros(99_999), ts.full((99_999,), 2**24)), errors.OutOfMemory,
     "repeat", ""),
    (lambda: ANY.concat(X, X), errors.ArgumentError, "xs must be a list or tuple of tensors",
     "several tensors are one argument: xs="),
    (lambda: ts.dot(ts.ones(2, 2), ts.ones(2, 2)), errors.InvalidArgument, "a.ndim is 2", "a @ b"),
    (lambda: (X > 0) + (X > 0), errors.DTypeMismatch, "add: not defined for bool", "x | y"),
    (lambda: NET.load_state_dict({f"module.{k}": x for k, x in NET.state_dict().items()}),
     errors.InvalidArgument, "2 missing, 2 unexpected", "removeprefix('module.')"),
    (lambda: ts.load(io.BytesIO(b"a,b\n1,2\n3,4\n")), errors.FormatError,
     "it is text, not a file of tensors", "ts.data.read_csv"),
    (lambda: ANY.io.save_npz(ts, "x.npz"), errors.ArgumentError, "must be a dict", "was given"),
    (lambda: ANY.nn.utils.get_total_norm([X], numpy.ones((2, 2))), errors.ArgumentError,
     "norm_type must be", "was given"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "call"), [
    ("assert_close", lambda: ts.testing.assert_close(CYCLE, CYCLE)),
    ("check_grads", lambda: ts.testing.check_grads(ts.sin, (CYCLE,))),
    ("check_grads", lambda: ts.testing.check_grads(lambda x: CYCLE, (X.double(),))),
    ("data.default_collate", lambda: data.default_collate([CYCLE, CYCLE])),
    ("data.default_convert", lambda: data.default_convert(CYCLE)),
    ("SGD.load_state_dict", lambda: loaded({"history": CYCLE})),
])  # fmt: skip
def test_a_container_in_itself_is_refused(name: str, call: Any) -> None:
    with pytest.raises(errors.InvalidArgument, match=f"^{name}: a container is nested too deep"):
        call()


@pytest.mark.parametrize(("call", "kind", "message", "cure"), MISTAKES)
def test_a_mistake_is_named_with_its_cure(call: Any, kind: Any, message: str, cure: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        call()
    assert cure in str(caught.value).split("hint: ")[1]
