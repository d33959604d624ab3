"""Modules: parts, walks, modes, moves, containers, text."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import tessella as ts
from tessella import changes, errors, nn


class Net(nn.Module):
    """Two layers, a shared one, a buffer that is saved and one that is not."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(2, 3)
        self.body = nn.Sequential(nn.ReLU(), nn.Linear(3, 3))
        self.again = self.up
        self.scale: Any = nn.Parameter(ts.ones(3))
        self.register_buffer("mean", ts.zeros(3))
        self.register_buffer("cache", ts.zeros(1), persistent=False)

    def forward(self, x: ts.Tensor) -> Any:
        """Compute."""
        return self.body(self.up(x)) * self.scale + self.mean


# --- parts ----------------------------------------------------------------------------------------


def test_parts_are_found_by_path_in_the_order_of_pytorch() -> None:
    net = Net()
    names = [name for name, _ in net.named_parameters()]
    assert names == ["scale", "up.weight", "up.bias", "body.1.weight", "body.1.bias"]
    assert [name for name, _ in net.named_buffers()] == ["mean", "cache"]
    assert [name for name, _ in net.named_children()] == ["up", "body"]
    assert [name for name, _ in net.named_modules()] == ["", "up", "body", "body.0", "body.1"]
    with_shared = [name for name, _ in net.named_modules(remove_duplicate=False)]
    assert with_shared == ["", "up", "body", "body.0", "body.1", "again"]
    own = [name for name, _ in net.named_parameters(prefix="net", recurse=False)]
    assert own == ["net.scale"]
    assert list(net.state_dict()) == [
        "scale", "mean", "up.weight", "up.bias", "body.1.weight", "body.1.bias",
        "again.weight", "again.bias",
    ]  # fmt: skip


def test_parts_are_got_by_path() -> None:
    net = Net()
    assert net.get_submodule("body.1") is net.body[1] and net.get_submodule("") is net
    assert net.get_parameter("up.weight") is net.up.weight
    assert net.get_buffer("mean") is net.mean
    with pytest.raises(errors.UnknownName, match=r"'body\.7' names no module: body has none"):
        net.get_submodule("body.7")
    with pytest.raises(errors.UnknownName, match=r"'up\.mean' names no buffer"):
        net.get_buffer("up.mean")


def test_a_module_that_holds_itself_is_walked_once() -> None:
    net = nn.Sequential(nn.Linear(1, 1))
    net.add_module("self", net)
    assert [name for name, _ in net.named_modules()] == ["", "0"]
    assert len(list(net.named_modules(remove_duplicate=False))) == 2
    assert list(net.state_dict()) == ["0.weight", "0.bias"]


def test_deep_networks_are_walked_without_recursion() -> None:
    net: nn.Module = nn.Linear(1, 1)
    for _ in range(3000):
        net = nn.Sequential(net)
    assert len(list(net.modules())) == 3001 and len(list(net.parameters())) == 2
    assert net.train().training and "…" in repr(net)


def test_parts_are_replaced_and_deleted() -> None:
    net = Net()
    net.up = nn.Linear(2, 5)
    assert net.get_parameter("up.weight").shape == (5, 2) and net.again.weight.shape == (3, 2)
    del net.mean
    assert [name for name, _ in net.named_buffers()] == ["cache"]
    net.scale = None
    assert "scale" not in dict(net.named_parameters())
    net.scale = nn.Parameter(ts.zeros(3))
    assert "scale" in dict(net.named_parameters())
    net.cache = ts.ones(2)
    assert net.get_buffer("cache").tolist() == [1.0, 1.0]


def test_every_change_of_parts_is_counted() -> None:
    net = Net()
    for change in (
        lambda: setattr(net, "up", nn.Identity()),
        lambda: delattr(net, "again"),
        lambda: net.register_buffer("more", ts.zeros(1)),
        lambda: net.train(False),
        lambda: net.requires_grad_(False),
        lambda: net.register_forward_hook(lambda *call: None),
        lambda: net.to("float64"),
    ):
        before = changes.count()
        change()
        assert changes.count() != before


def test_buffers_may_be_made_by_their_class() -> None:
    net = nn.Module()
    net.kept, net.passing = nn.Buffer(ts.ones(2)), nn.Buffer(ts.ones(3), persistent=False)
    assert [name for name, _ in net.named_buffers()] == ["kept", "passing"]
    assert list(net.state_dict()) == ["kept"]


REFUSED = [
    (lambda net: setattr(net, "scale", ts.ones(3)),
     r"Net: scale is a parameter, and .*Tensor is none"),
    (lambda net: setattr(net, "mean", 3), "mean is a buffer: it must be a tensor or None, got int"),
    (lambda net: setattr(net, "layers", [nn.ReLU()]),
     "layers is a list with 1 module or parameter, which would not be trained, saved or moved"),
    (lambda net: setattr(net, "table", {"a": nn.Parameter(ts.ones(1))}), "table is a dict with 1"),
    (lambda net: net.register_parameter("a.b", None), "the name 'a.b' has a dot"),
    (lambda net: net.register_buffer("", None), "the name '' is empty"),
    (lambda net: net.add_module("forward", None), "the name 'forward' is that of Net.forward"),
    (lambda net: net.add_module(3, None), "the name 3 is no text"),
    (lambda net: net.add_module("part", ts.ones(1)), "part must be a module"),
    (lambda net: net.register_parameter("p", ts.ones(1)), "p is a parameter, and"),
    (lambda net: net.register_buffer("b", [1.0]), "b is a buffer: it must be a tensor or None"),
    (lambda net: nn.Parameter([1.0]), "Parameter: data must be a tensor, got list"),  # type: ignore[arg-type]
    (lambda net: nn.Parameter(ts.ones(1, dtype=ts.int64)), "int64"),
    (lambda net: nn.Linear(-1, 2), "Linear: in_features is -1"),
    (lambda net: nn.Linear(2, 1.5),  # type: ignore[arg-type]
     "Linear: out_features must be an integer"),
    (lambda net: nn.Softmax(), "Softmax: dim is missing"),
    (lambda net: nn.Module()(1), "Module: Module has no forward"),
]  # fmt: skip


@pytest.mark.parametrize(("do", "message"), REFUSED)
def test_what_cannot_be_a_part_is_refused(do: Any, message: str) -> None:
    net = Net()
    before = list(net.state_dict())
    with pytest.raises(errors.TessellaError, match=message) as caught:
        do(net)
    assert "hint: " in str(caught.value)
    assert list(net.state_dict()) == before


# --- modes and moves ------------------------------------------------------------------------------


def test_modes_reach_all_parts() -> None:
    net = Net()
    assert net.eval() is net and not any(part.training for part in net.modules())
    assert all(part.training for part in net.train().modules())


def test_parameters_are_frozen_and_their_gradients_forgotten() -> None:
    net = Net()
    net(ts.ones(1, 2)).sum().backward()
    assert all(x.grad is not None for x in net.parameters())
    net.zero_grad()
    assert all(x.grad is None for x in net.parameters())
    net.requires_grad_(False)
    assert not net(ts.ones(1, 2)).requires_grad


def test_a_conversion_keeps_the_objects_and_converts_gradients_too() -> None:
    net = Net()
    net(ts.ones(1, 2)).sum().backward()
    parts = list(net.parameters())
    net.register_buffer("count", ts.tensor(3))
    want = [x.detach().to(ts.float64) for x in parts]
    assert net.double() is net
    assert all(x is y for x, y in zip(net.parameters(), parts, strict=True))
    assert all(x.array_equal(y) for x, y in zip(parts, want, strict=True))
    assert {x.dtype for x in parts} == {x.grad.dtype for x in parts} == {ts.float64}  # type: ignore
    assert net.mean.dtype is ts.float64 and net.count.dtype is ts.int64
    assert all(x.is_leaf and x.requires_grad for x in parts)
    net.zero_grad()
    net(ts.ones(1, 2, dtype=ts.float64)).sum().backward()
    assert net.scale.grad.dtype is ts.float64
    assert net.half().scale.dtype is ts.float16 and net.bfloat16().scale.dtype is ts.bfloat16
    assert net.float().scale.dtype is ts.float32 and net.cpu() is net


def test_a_network_moves_to_an_allocator() -> None:
    arena = ts.memory.Arena("1MB")
    net = Net().to(arena)
    assert {x.allocator for x in net.parameters()} == {arena}
    net(ts.ones(1, 2)).sum().backward()
    assert net.scale.grad is not None and net.scale.grad.allocator == arena


def test_a_move_that_fails_moves_nothing() -> None:
    arena = ts.memory.Arena(64, growable=False)
    net = Net()
    with pytest.raises(errors.OutOfMemory):
        net.to(arena)
    assert all(x.allocator == ts.memory.heap for x in net.parameters())


@pytest.mark.parametrize("dtype", [ts.int32, ts.bool, "uint8"])
def test_weights_are_not_cut_off_to_integers(dtype: Any) -> None:
    net = Net()
    before = net.scale.tolist()
    with pytest.raises(errors.DTypeMismatch, match=r"Module.to: not defined for (int|bool|uint)"):
        net.to(dtype)
    with pytest.raises(errors.DTypeMismatch, match="hint: weights are floats or complex numbers"):
        net.to(ts.ones(1, dtype=dtype))
    assert {x.dtype for x in net.parameters()} == {ts.float32} and net.scale.tolist() == before


def test_a_function_is_applied_to_the_parts_first_in_their_order() -> None:
    shared, seen = nn.Tanh(), list[str]()
    net = nn.Sequential(nn.Sequential(nn.Linear(1, 1), shared), nn.ReLU(), shared, shared)
    assert net.apply(lambda part: seen.append(type(part).__name__)) is net
    # As in PyTorch: what several modules hold is visited for each of them.
    assert seen == ["Linear", "Tanh", "Sequential", "ReLU", "Tanh", "Sequential"]
    net.add_module("self", net)
    assert net.apply(lambda part: None) is net
    with pytest.raises(errors.ArgumentError, match=r"Module.apply: fn must be a function"):
        net.apply(3)  # type: ignore[arg-type]


def test_a_name_is_registered_for_one_kind_of_part() -> None:
    net = Net()
    net.plain = 3
    parts = {"parameter": nn.Parameter(ts.ones(2)), "buffer": ts.ones(2), "module": nn.ReLU()}
    registered = {
        "scale": "parameter",
        "mean": "buffer",
        "up": "module",
        "plain": "plain attribute",
    }
    for name, kind in registered.items():
        before = getattr(net, name)
        for other, part in parts.items():
            register = getattr(net, f"register_{other}")
            if other == kind:
                register(name, before)
            else:
                with pytest.raises(errors.InvalidArgument, match=f"'{name}' is that of a {kind}"):
                    register(name, part)
            assert getattr(net, name) is before
    assert [name for name, _ in net.named_buffers(recurse=False)] == ["mean", "cache"]
    net.bias = None
    net.register_buffer("bias", ts.ones(1))


# --- copies, pickles, cycles ----------------------------------------------------------------------


def test_copies_and_pickles_are_independent_and_keep_what_is_shared() -> None:
    net = Net()
    net(ts.ones(1, 2))
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.up is other.again and other.up is not net.up
        assert other.up.weight.array_equal(net.up.weight)
        with ts.no_grad():
            other.up.weight.fill_(7)
        assert not (net.up.weight == 7).any()
        assert isinstance(other.scale, nn.Parameter) and list(other.state_dict()) == list(
            net.state_dict()
        )


def test_networks_are_freed_without_the_collector() -> None:
    gc.disable()
    try:
        net = Net()
        net.register_forward_hook(lambda module, args, out: None)
        net(ts.ones(1, 2)).sum().backward()
        alive = weakref.ref(net)
        del net
        assert alive() is None
    finally:
        gc.enable()


def test_what_a_module_gave_is_not_kept() -> None:
    net = Net()
    out = net(ts.ones(1, 2))
    alive = weakref.ref(out)
    del out
    assert alive() is None


# --- containers -----------------------------------------------------------------------------------


def test_sequential_is_a_list_of_modules() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    net.append(nn.Linear(3, 1))
    assert len(net) == 3 and type(net[-1]) is nn.Linear and [*net][1] is net[1]
    assert isinstance(net[:2], nn.Sequential) and len(net[:2]) == 2
    net[1] = nn.Tanh()
    net.insert(0, nn.Identity())
    assert [type(part).__name__ for part in net] == ["Identity", "Linear", "Tanh", "Linear"]
    assert list(net.state_dict()) == ["1.weight", "1.bias", "3.weight", "3.bias"]
    assert type(net.pop(0)) is nn.Identity
    del net[1:]
    assert list(dict(net.named_children())) == ["0"] and net(ts.ones(2)).shape == (3,)
    assert len(net + nn.ModuleList([nn.ReLU()])) == 2 and len(net) == 1
    named = nn.Sequential({"up": nn.Linear(2, 3), "act": nn.ReLU()})
    assert list(named.state_dict()) == ["up.weight", "up.bias"]
    with pytest.raises(errors.IndexOutOfBounds, match="index 9 is out of range for 1 item"):
        net[9]
    with pytest.raises(errors.ArgumentError, match="Sequential: module must be a module, got int"):
        nn.Sequential(3)  # type: ignore[call-overload]


def test_lists_and_dicts_of_parts() -> None:
    layers = nn.ModuleList([nn.Linear(1, 1)])
    layers += [nn.ReLU()]  # type: ignore[list-item]
    assert len(layers) == 2 and list(layers.state_dict()) == ["0.weight", "0.bias"]
    with pytest.raises(errors.ArgumentError, match="module must be a module"):
        layers.extend([nn.ReLU(), 4])  # type: ignore[list-item]
    assert len(layers) == 2, "none is added where one does not fit"
    table = nn.ModuleDict({"a": nn.ReLU()})
    table["b"] = nn.Linear(1, 2)  # type: ignore[assignment]
    assert list(table) == ["a", "b"] and "a" in table and len(table) == 2
    assert [name for name, _ in table.items()] == list(table.keys())
    assert type(table.pop("a")) is nn.ReLU and list(table.values()) == [table["b"]]
    table.clear()
    assert len(table) == 0
    with pytest.raises(errors.UnknownName, match="'zz' names no module"):
        table["zz"]
    weights = nn.ParameterList([ts.zeros(2), nn.Parameter(ts.ones(3))])
    weights.append(ts.zeros(1))
    weights[0] = ts.ones(5)
    assert [x.shape for x in weights] == [(5,), (3,), (1,)]
    assert [name for name, _ in weights.named_parameters()] == ["0", "1", "2"]
    named = nn.ParameterDict({"w": ts.zeros(2)})
    assert named["w"].requires_grad and list(named.state_dict()) == ["w"]


def test_dicts_of_parts_take_all_of_an_update_or_none() -> None:
    table, weights = nn.ModuleDict({"a": nn.ReLU()}), nn.ParameterDict({"a": ts.zeros(2)})
    wrong: list[tuple[Any, str]] = [
        ({"b": nn.Tanh(), "c": 3}, "c must be a module"),
        ({"b": nn.Tanh(), "c": None}, "c must be a module"),
        ({"b": nn.Tanh(), "c.d": nn.Tanh()}, "'c.d' has a dot"),
    ]  # fmt: skip
    for items, message in wrong:
        with pytest.raises(errors.TessellaError, match=message):
            table.update(items)
        with pytest.raises(errors.TessellaError):
            weights.update({"b": ts.ones(1), **dict.fromkeys(items, 3)})
        assert list(table) == list(weights) == ["a"]


def test_text_is_that_of_pytorch() -> None:
    assert repr(nn.Sequential(nn.Linear(2, 3, bias=False), nn.Sequential(nn.ReLU()))) == (
        "Sequential(\n"
        "  (0): Linear(in_features=2, out_features=3, bias=False)\n"
        "  (1): Sequential(\n"
        "    (0): ReLU()\n"
        "  )\n"
        ")"
    )
    assert repr(nn.ReLU(inplace=True)) == "ReLU(inplace=True)"
    assert repr(nn.LeakyReLU(0.2)) == "LeakyReLU(negative_slope=0.2)"
    assert repr(nn.Softmax(dim=1)) == "Softmax(dim=1)"
    assert repr(nn.Parameter(ts.zeros(1))).startswith("Parameter containing:\ntensor")


# --- single modules -------------------------------------------------------------------------------


def test_activations_write_in_place_where_asked() -> None:
    for kind in (nn.ReLU, nn.ReLU6, nn.ELU, nn.SELU, nn.CELU, nn.SiLU, nn.Mish, nn.LeakyReLU,
                 nn.Hardtanh, nn.Hardsigmoid, nn.Hardswish):  # fmt: skip
        x = ts.tensor([-2.0, -0.5, 0.5, 8.0])
        want = kind()(x.clone())
        assert kind(inplace=True)(x) is x and x.array_equal(want), kind.__name__
    x = ts.tensor([0.5, 2.0])
    assert nn.Threshold(1, 7, inplace=True)(x) is x and x.tolist() == [7.0, 2.0]


def test_linear_takes_any_leading_axes_and_gives_gradients() -> None:
    layer = nn.Linear(3, 5)
    x = ts.randn(2, 4, 3, requires_grad=True)
    assert layer.bias is not None
    out = layer(x)
    assert out.shape == (2, 4, 5)
    ts.testing.assert_close(out, x @ layer.weight.T + layer.bias)
    ts.testing.check_grads(
        lambda a, w, b: nn.functional.linear(a, w, b),
        [ts.randn(2, 3, dtype="float64"), ts.randn(4, 3, dtype="float64"),
         ts.randn(4, dtype="float64")],
    )  # fmt: skip
    assert nn.Linear(3, 2, bias=False).bias is None
    assert nn.Linear(0, 2)(ts.ones(4, 0)).shape == (4, 2)
    assert nn.Linear(2, 3, dtype=ts.float64).weight.dtype is ts.float64


def test_linear_takes_the_weights_of_one_output() -> None:
    x, weight = ts.randn(4, 3), ts.randn(3)
    out = nn.functional.linear(x, weight, ts.tensor(2.0))
    assert out.shape == (4,) and out.array_equal(x @ weight + 2)
    with pytest.raises(errors.ShapeError, match="linear: x has 3 features, and weight takes 5"):
        nn.functional.linear(x, ts.ones(5))


def test_linear_has_the_bits_of_its_two_operations() -> None:
    for shape in ((7,), (5, 7), (3, 70, 7), (2, 3, 4, 7)):
        for dtype in ("float32", "float64", "bfloat16", "int64", "complex64"):
            x, weight = (ts.randn(s).mul(9).to(dtype) for s in (shape, (33, 7)))
            bias = ts.randn(33).to(dtype)
            want = x @ weight.T + bias
            for layer in (weight, weight.T.contiguous().T, weight.flip(0).flip(0)):
                assert nn.functional.linear(x, layer, bias).array_equal(want), (shape, dtype)
            assert nn.functional.linear(x, weight).array_equal(x @ weight.T)


def test_shapes_are_changed_by_modules() -> None:
    assert nn.Unflatten(1, (3, 4))(nn.Flatten()(ts.ones(2, 3, 4))).shape == (2, 3, 4)
    assert nn.Flatten(0, 1)(ts.ones(2, 3, 4)).shape == (6, 4)
    assert nn.Bilinear(2, 3, 4)(ts.ones(5, 2), ts.ones(5, 3)).shape == (5, 4)


def test_trained_weights_are_a_kind_of_parameter_in_gradients() -> None:
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    x = ts.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = ts.tensor([[0.0], [1.0], [1.0], [0.0]])
    first = last = 0.0
    for i in range(300):
        net.zero_grad()
        loss = (net(x) - y).square().mean()
        loss.backward()
        with ts.no_grad():
            for p in net.parameters():
                assert p.grad is not None
                p -= 0.3 * p.grad
        first, last = (loss.item(), 0.0) if i == 0 else (first, loss.item())
    assert last < first / 2


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: nn.ModuleList(3), "ModuleList: parts must be a list"),  # type: ignore[arg-type]
        (lambda: nn.ParameterDict("ab"), "ParameterDict: items must be a dict, or pairs of names"),  # type: ignore[arg-type]
        (lambda: nn.BatchNorm2d(3)("x"), "BatchNorm2d: x must be a tensor, got str"),  # type: ignore[arg-type]
        (lambda: nn.Embedding(5, 3, _weight=0.0),  # type: ignore[arg-type]
         "Embedding: _weight must be a tensor, got float"),
        (lambda: nn.ConvTranspose1d(2, 2, 2)(0.0, [1]),  # type: ignore[arg-type]
         "conv_transpose1d: x must be a tensor, got float"),
        (lambda: nn.utils.rnn.pad_sequence(5),  # type: ignore[arg-type]
         "pad_sequence: sequences must be a list of tensors, got int"),
        (lambda: nn.functional.linear(ts.ones(2), ts.ones(2), ts.float32),  # type: ignore[arg-type]
         "linear: bias must be a tensor or a number, got tessella.dtypes.DType"),
        (lambda: nn.Flatten()(None), "flatten: x must be a tensor, got NoneType"),  # type: ignore[arg-type]
        (lambda: nn.ReLU(inplace=True)("x"), "relu: x must be a tensor or a number, got str"),  # type: ignore[arg-type]
        (lambda: ts.optim.Optimizer([ts.ones(2, requires_grad=True)], 3),  # type: ignore[arg-type]
         "Optimizer: defaults must be a dict of options, got int"),
        (lambda: nn.functional.gaussian_nll_loss(ts.ones(2), ts.ones(2), None),  # type: ignore[arg-type]
         "gaussian_nll_loss: var must be a real number, got NoneType"),
    ],
)  # fmt: skip
def test_what_is_no_part_or_tensor_is_named(use: Callable[[], Any], message: str) -> None:
    with pytest.raises(errors.ArgumentError) as caught:
        use()
    assert str(caught.value).startswith(message), caught.value
