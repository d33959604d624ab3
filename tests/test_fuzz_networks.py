"""Random arguments at modules, optimizers, schedules, loaders, fit and files: a value or an error.

What the user's own code raises (a function, a dataset) passes through, and is kept out of here.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import tessella as ts
from conftest import FULL
from tessella import data, io, metrics, nn, optim
from tessella.optim import lr_scheduler
from test_fuzz import arguments, look_at, tensors

# The search is the same one each time: what a new one finds belongs to the proof, which has new
# seeds, and does not stop a change that has nothing to do with it.
STEADY = settings(derandomize=not FULL)

# Python itself refuses a wrong number or name of arguments.
REFUSED = re.compile(r"\w+(\.\w+)?\(\) (missing|takes|got)|unexpected keyword argument")


def attempt(use: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call, and let only Tessella's errors pass."""
    try:
        return use(*args, **named)
    except ts.errors.TessellaError as error:
        assert str(error)
    except TypeError as error:
        assert REFUSED.match(str(error)), error
    except FileNotFoundError:
        pass  # a text is a path, and the system's own error says that it is not there
    return None


def is_sure(value: Any) -> bool:
    """Tell whether a value is no function: what `list` or `len` raise when called is theirs."""
    return not callable(value) or isinstance(value, ts.Tensor)


def classes(home: ModuleType, base: type) -> dict[str, Any]:
    """Give the public classes of a module that are of a kind."""
    named = {name: getattr(home, name) for name in dir(home) if not name.startswith("_")}
    return {
        name: value
        for name, value in named.items()
        if isinstance(value, type) and issubclass(value, base)
    }


def functions(home: ModuleType) -> dict[str, Any]:
    """Give the public functions of a module or package."""
    named = {name: getattr(home, name) for name in home.__all__ if name[0].islower()}
    return {name: value for name, value in named.items() if callable(value)}


sizes = st.integers(1, 4)
options = st.one_of(
    sizes, sizes, st.sampled_from(["mean", "none", "same", "valid", "tanh", "reflect"]),
    st.booleans(), st.sampled_from([0.1, 0.5, 1e-5]), arguments,
)  # fmt: skip
# A user's function that gives anything.
said = arguments.map(lambda value: lambda *args, **named: value)
MODULES = classes(nn, nn.Module)


@pytest.mark.parametrize("name", MODULES)
@settings(STEADY, max_examples=STEADY.max_examples // 2)
@given(given_=st.lists(options, max_size=4), calls=st.lists(st.lists(arguments, max_size=3)),
       x=tensors())  # fmt: skip
def test_modules_take_or_refuse_anything(
    name: str, given_: list[Any], calls: list[list[Any]], x: ts.Tensor
) -> None:
    with ts.memory.limit("1GB"):
        module = attempt(MODULES[name], *given_)
        if not isinstance(module, nn.Module):
            return
        assert repr(module)
        for args in [[x], *calls[:3]]:
            look_at(attempt(module, *args))


def parameters() -> list[ts.Tensor]:
    """Give what an optimizer may have, with gradients."""
    x = ts.ones(2, 3, requires_grad=True)
    x.grad = ts.ones(2, 3)
    return [x]


OPTIMIZERS = classes(optim, optim.Optimizer)
keys = st.sampled_from(
    ["lr", "betas", "momentum", "eps", "amsgrad", "centered", "max_iter", "params", "nesterov",
     "history_size", "line_search_fn", "initial_accumulator_value", "maximize", "other"]
)  # fmt: skip
states = st.sampled_from(
    [
        "step",
        "exp_avg",
        "momentum_buffer",
        "square_avg",
        "sum",
        "old_stps",
        "ro",
        "d",
        "t",
        "n_iter",
    ]
)


def saved_states(draw: st.DrawFn, saved: dict[str, Any]) -> Any:
    """Draw a state dict of which a part is replaced by anything."""
    places = [saved, saved["state"], *saved["state"].values(), *saved["param_groups"]]
    place = draw(st.sampled_from([each for each in places if isinstance(each, dict)]))
    place[draw(st.sampled_from([*place, 0]) | keys | states)] = draw(arguments)
    return saved


@pytest.mark.parametrize("name", OPTIMIZERS)
@STEADY
@given(rest=st.lists(options, max_size=3), bare=st.booleans(), first=arguments, more=st.data())
def test_optimizers_take_or_refuse_anything(
    name: str, rest: list[Any], bare: bool, first: Any, more: st.DataObject
) -> None:
    optimizer = attempt(OPTIMIZERS[name], first if bare else parameters(), *rest)
    if not isinstance(optimizer, optim.Optimizer) or name == "Optimizer":  # that one has no update
        return
    closure = more.draw(said | arguments.filter(is_sure))
    attempt(optimizer.step, closure)
    attempt(optimizer.add_param_group, first)
    group = {"params": parameters(), more.draw(keys): more.draw(arguments)}
    attempt(optimizer.add_param_group, group)
    attempt(optimizer.load_state_dict, first)
    state = more.draw(st.composite(saved_states)(optimizer.state_dict()))  # type: ignore[arg-type]
    before = repr(optimizer.state_dict())
    if attempt(lambda: [optimizer.load_state_dict(state)]) is None:
        assert repr(optimizer.state_dict()) == before
    attempt(optimizer.register_step_pre_hook, more.draw(said | arguments.filter(is_sure)))
    attempt(optimizer.step, *([lambda: ts.ones(())] if name == "LBFGS" else []))
    assert repr(optimizer)


# LRScheduler is what others derive from: Python's NotImplementedError says so.
SCHEDULES = {
    name: getattr(lr_scheduler, name) for name in lr_scheduler.__all__ if name != "LRScheduler"
}


@pytest.mark.parametrize("name", SCHEDULES)
@STEADY
@given(rest=st.lists(options.filter(is_sure) | said, max_size=4), more=st.data())
def test_schedules_take_or_refuse_anything(name: str, rest: list[Any], more: st.DataObject) -> None:
    optimizer = optim.SGD(parameters(), lr=0.1, momentum=0.9)
    parts = [lr_scheduler.StepLR(optimizer, 2), lr_scheduler.ConstantLR(optimizer)]
    first: dict[str, list[Any]] = {
        "ChainedScheduler": [parts],
        "SequentialLR": [optimizer, parts, [2]],
    }
    is_made = name in first and more.draw(st.booleans())
    schedule = attempt(SCHEDULES[name], *(first[name] if is_made else [optimizer, *rest]))
    if schedule is None:
        return
    optimizer.step()
    attempt(schedule.step, *rest[:1])
    attempt(schedule.load_state_dict, *rest[:1])
    saved, before = schedule.state_dict(), repr(schedule.state_dict())
    saved[more.draw(st.sampled_from(list(saved)))] = more.draw(arguments)
    if attempt(lambda: [schedule.load_state_dict(saved)]) is None:
        assert repr(schedule.state_dict()) == before
    attempt(schedule.step, *([1.0] if name == "ReduceLROnPlateau" else []))


FUNCTIONS = {
    f"{home.__name__}.{name}": value
    for home in (nn.init, nn.utils, metrics, data)
    for name, value in functions(home).items()
}


@pytest.mark.parametrize("name", FUNCTIONS)
@STEADY
@given(x=tensors(), rest=st.lists(options, max_size=3), bare=st.booleans(), more=st.data())
def test_functions_of_networks_take_or_refuse_anything(
    name: str, x: ts.Tensor, rest: list[Any], bare: bool, more: st.DataObject
) -> None:
    function = FUNCTIONS[name]
    names = list(inspect.signature(function).parameters)[1:]
    named = more.draw(st.dictionaries(st.sampled_from(names), options, max_size=2)) if names else {}
    look_at(attempt(function, *(rest if bare else [x, *rest[:1]]), **named))


# A WorkerInfo is made by a loader; the others are what users derive from.
ABSTRACT = ("WorkerInfo", "Dataset", "IterableDataset", "Sampler")
LOADERS = {name: value for name, value in classes(data, object).items() if name not in ABSTRACT}
OPTIONS = (
    "batch_size", "shuffle", "sampler", "batch_sampler", "collate_fn", "drop_last", "timeout",
    "worker_init_fn", "generator", "prefetch_factor", "num_workers", "in_order",
)  # fmt: skip


def walk(made: Any) -> Any:
    """Take a few batches; an error with the place of a sample is that of the dataset given."""
    try:
        return list(zip(range(3), made, strict=False))
    except (TypeError, KeyError, IndexError) as error:
        if isinstance(error, ts.errors.TessellaError) or not hasattr(error, "__notes__"):
            raise
        assert error.__notes__[0].startswith("in sample"), error
    return None


@pytest.mark.parametrize("name", LOADERS)
@STEADY
@given(x=tensors(), rest=st.lists(options, max_size=4), bare=st.booleans(), more=st.data())
def test_loaders_take_or_refuse_anything(
    name: str, x: ts.Tensor, rest: list[Any], bare: bool, more: st.DataObject
) -> None:
    rows = data.TensorDataset(x if x.ndim else ts.arange(6))
    given_, named = (rest if bare else [rows, *rest[:2]]), {}
    if name == "DataLoader":
        values = options.filter(is_sure) | said
        named = more.draw(st.dictionaries(st.sampled_from(OPTIONS), values, max_size=2))
    made = attempt(LOADERS[name], *given_, **named)
    if made is None:
        return
    assert repr(made)
    if isinstance(made, data.DataLoader):
        if made.num_workers < 5:
            attempt(walk, made)
        attempt(made.load_state_dict, *rest[:1])
    elif isinstance(made, data.Sampler):
        attempt(lambda: list(zip(range(3), made, strict=False)))
    if name == "Subset" and bare:
        return  # what a set of the user's own says of an index is its own
    methods = ("__getitem__", "__len__", "__call__", "fit", "inverse", "load_state_dict", "take",
               "select", "drop", "to_tensor", "one_hot", "encode", "decode")  # fmt: skip
    for method in methods:
        if hasattr(made, method) and not isinstance(made, data.Sampler):
            attempt(getattr(made, method), *([] if method == "__len__" else rest[:1]))


# --- training, files ------------------------------------------------------------------------------


@STEADY
@given(x=tensors(), args=st.lists(arguments, max_size=2), model=arguments | st.just(None))
def test_summaries_take_or_refuse_anything(x: ts.Tensor, args: list[Any], model: Any) -> None:
    network = nn.Sequential(nn.Linear(3, 2), nn.Flatten(), nn.Softmax(-1))
    for given_ in (model, network):
        found = attempt(nn.summary, given_, *(args or [x]))
        assert found is None or repr(found)
    assert network.training


def fit_call() -> dict[str, Any]:
    """Give arguments that fit takes."""
    model, x = nn.Linear(3, 1), ts.ones(2, 3)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    return {
        "model": model, "data": [(x, ts.ones(2, 1))], "loss": nn.functional.mse_loss,
        "optimizer": optimizer, "validation": [(x, ts.ones(2, 1))], "metrics": {},
        "scheduler": lr_scheduler.StepLR(optimizer, 1), "clip": 1.0, "patience": 2,
        "checkpoint": None, "resume": False, "progress": False, "epochs": 1,
    }  # fmt: skip


@pytest.mark.parametrize("name", list(fit_call()))
@STEADY
@given(value=arguments.filter(is_sure), answer=said)
def test_fit_takes_or_refuses_anything(name: str, value: Any, answer: Any) -> None:
    call = fit_call()
    if name == "checkpoint" and isinstance(value, str):
        return  # a path like any other
    if name == "epochs" and isinstance(value, int) and value > 3:
        value = 3
    call[name] = {"a": answer} if name == "metrics" and value is None else value
    if name in ("data", "validation") and isinstance(value, ts.Tensor):
        call[name] = [value]
    history = attempt(ts.fit, **call)
    assert history is None or repr(history) is not None
    if name == "loss":
        attempt(ts.fit, **{**call, "loss": answer})


@STEADY
@given(rows=arguments, row=st.dictionaries(st.sampled_from(["epoch", "loss", "memory"]), arguments),
       name=arguments)  # fmt: skip
def test_histories_take_or_refuse_anything(rows: Any, row: dict[str, Any], name: Any) -> None:
    for given_ in (rows, [row], None):
        history = attempt(ts.History, given_)
        if history is not None:
            attempt(history.append, rows)
            attempt(history.__getitem__, name)
            assert repr(history) is not None


FILES = functions(io)


@pytest.mark.parametrize("name", FILES)
@STEADY
@given(args=st.lists(arguments | said, min_size=1, max_size=2), more=st.data())
def test_functions_of_files_take_or_refuse_anything(
    name: str, args: list[Any], more: st.DataObject, files: str
) -> None:
    # A text would be a path like any other: one that is there takes its place.
    path = os.path.join(files, "x")
    if name in ("save", "save_file", "save_npy", "save_npz"):
        attempt(FILES[name], args[0], path)
    else:
        attempt(FILES[name], path, *args[1:])
    attempt(FILES[name], *[path if isinstance(each, str) else each for each in args])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make a folder with a file that all may read and replace."""
    folder = str(tmp_path_factory.mktemp("files"))
    ts.save({"a": ts.ones(2)}, os.path.join(folder, "x"))
    return folder
