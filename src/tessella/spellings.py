"""What PyTorch and NumPy spell otherwise: names that are not here, and properties that are called.

Calls of functions that are here and would mean something else are refused by their declarations
(`refuses=`); this is about names alone. docs/from_pytorch.md is made from both.
"""

from __future__ import annotations

import builtins
import sys
from importlib import import_module
from operator import attrgetter

from tessella import errors
from tessella._core import Tensor
from tessella.declarations import Refusal, refusal
from tessella.exceptions import alike
from tessella.hints import Callable, Iterable, NoReturn

# --- properties that PyTorch has as methods ------------------------------------------------------

SIZE = refusal("x.size()", "x.shape", "gives the shape; here x.size is the number of elements")


def size_of_axis(axis: object) -> Refusal:
    """Tell how the size of an axis is spelled here."""
    why = "gives the size of an axis; here x.size is the number of elements"
    return refusal(f"x.size({axis!r})", f"x.shape[{axis!r}]", why)


CALLED = (SIZE, size_of_axis(0))


class Count(builtins.int):
    """The number of elements. Calling it, as PyTorch's code does, raises an error that explains."""

    __slots__ = ()

    def __call__(self, *axis: object, **keywords: object) -> NoReturn:
        given = (*axis, *keywords.values())
        raise (size_of_axis(given[0]) if given else SIZE).error().locate("size", [])

    def __getitem__(self, axis: object) -> NoReturn:
        raise size_of_axis(axis).error().locate("size", [])

    def __reduce__(self) -> tuple[object, ...]:
        return builtins.int, (builtins.int(self),)


class Address(builtins.int):
    """Where the first element lies; PyTorch's code calls it."""

    __slots__ = ()

    def __call__(self) -> builtins.int:
        return builtins.int(self)

    __reduce__ = Count.__reduce__


class Flag(builtins.int):
    """True or False, of a property; PyTorch's code calls it."""

    __slots__ = ()

    def __call__(self) -> builtins.bool:
        return builtins.bool(self)

    def __eq__(self, other: object) -> builtins.bool:
        return self() == other

    __hash__ = builtins.int.__hash__

    def __repr__(self) -> builtins.str:
        return builtins.repr(self())

    def __reduce__(self) -> tuple[object, ...]:
        return builtins.bool, (self(),)


# --- names that are not here ---------------------------------------------------------------------

_HOST = "moves to a GPU; here tensors live in the memory of the host"
_OLD = "is an older spelling of a tensor of one dtype"
_SPACE = "is for three axes of space; here there are one and two"
_RESHAPES = "changes the shape of x itself; here it is a new tensor, to be assigned"
_HALVES = "computes in halves where that is safe; here float32 is computed in float32"

_OF_ONE_DTYPE = {
    "BFloat16": "bfloat16", "Bool": "bool", "Byte": "uint8", "Char": "int8", "Double": "float64",
    "Float": "float32", "Half": "float16", "Int": "int32", "Long": "int64", "Short": "int16",
}  # fmt: skip
# Methods that change the shape of a tensor in place in PyTorch, by what is passed.
_IN_PLACE = {"squeeze": "", "t": "", "transpose": "0, 1", "unsqueeze": "0"}

# Names that would mean something else, or that there is no need for: by "x." those of a tensor, by
# "model." of a network, by "ts." of the package, by "nn." and so on of its modules.
ABSENT: dict[str, Refusal] = {
    "autograd.Variable": refusal("torch.autograd.Variable(x)", "x", "gives x"),
    "autograd.functional": refusal(
        "torch.autograd.functional.jacobian(f, x)", ("ts.jacobian(f)(x)", "ts.hessian(f)(x)"),
        "is where derivatives of functions are"),
    "autograd.gradcheck": refusal(
        "torch.autograd.gradcheck(f, x)", "ts.testing.check_grads(f, x.double())",
        "compares gradients with differences"),
    "autograd.gradgradcheck": refusal(
        "torch.autograd.gradgradcheck(f, x)", "ts.testing.check_grads(f, x.double(), order=2)",
        "compares second derivatives with differences"),
    "autograd.graph": refusal(
        "torch.autograd.graph", "ts.graph(model(x))", "looks into what was recorded"),
    "cuda.amp": refusal("torch.cuda.amp.GradScaler()", (), _HALVES),
    "model._buffers": refusal(
        "model._buffers", "dict(model.named_buffers(recurse=False))", "holds the buffers by name"),
    "model._get_name": refusal("model._get_name()", "type(model).__name__", "names the class"),
    "model._modules": refusal(
        "model._modules", "dict(model.named_children())", "holds the modules by name"),
    "model._parameters": refusal(
        "model._parameters", "dict(model.named_parameters(recurse=False))",
        "holds the parameters by name"),
    "model.compile": refusal("model.compile()", "ts.compile(model)", "compiles in place"),
    "model.register_backward_hook": refusal(
        "model.register_backward_hook(f)", "model.register_full_backward_hook(f)",
        "is an older spelling"),
    "model.register_state_dict_pre_hook": refusal(
        "model.register_state_dict_pre_hook(f)", "model.state_dict()",
        "calls f before each state_dict: call it yourself"),
    "model.share_memory": refusal(
        "model.share_memory()", "model", "shares parameters among processes; here threads do"),
    "model.to_empty": refusal(
        'model.to_empty(device="cpu")', (), "gives parameters memory; here they have it"),
    "model.type": refusal(
        "model.type(torch.double)", "model.to(ts.double)", "converts floating parameters"),
    "nn.Conv3d": refusal("torch.nn.Conv3d", ("ts.nn.Conv1d", "ts.nn.Conv2d"), _SPACE),
    "nn.DataParallel": refusal(
        "torch.nn.DataParallel(model)", "model", "shares batches among GPUs; here threads do"),
    "nn.EmbeddingBag": refusal(
        "torch.nn.EmbeddingBag(9, 4)(i)", "ts.nn.Embedding(9, 4)(i).mean(dim=1)",
        "gives means of rows: pad the bags to one length"),
    "nn.attention.sdpa_kernel": refusal(
        "torch.nn.attention.sdpa_kernel", (), "chooses an implementation; here there is one"),
    "nn.functional.gumbel_softmax": refusal(
        "torch.nn.functional.gumbel_softmax(x)",
        "ts.softmax(x - ts.log(-ts.log(ts.rand_like(x))), dim=-1)", "draws shares by scores"),
    "nn.modules.utils": refusal(
        "torch.nn.modules.utils._pair(3)", "(3, 3)", "repeats a number for each axis"),
    "nn.parallel": refusal(
        "torch.nn.parallel.DistributedDataParallel(model)", "model",
        "shares batches among processes; here threads do"),
    "nn.utils.rnn.pack_padded_sequence": refusal(
        "torch.nn.utils.rnn.pack_padded_sequence(x, lengths)", "model(x)",
        "leaves out the padding: run over it, and read outputs at lengths - 1"),
    "nn.utils.spectral_norm": refusal(
        "torch.nn.utils.spectral_norm(model)", "x / ts.linalg.matrix_norm(x, ord=2)",
        "divides the weight by its largest singular value at each call: do so in forward"),
    "nn.utils.weight_norm": refusal(
        "torch.nn.utils.weight_norm(model)", "ts.nn.functional.normalize(x, dim=1)",
        "gives rows of the weight a length that is learned: do so in forward"),
    "optim.lr_scheduler._LRScheduler": refusal(
        "torch.optim.lr_scheduler._LRScheduler", "ts.optim.lr_scheduler.LRScheduler",
        "is an older spelling"),
    "optim.swa_utils": refusal(
        "torch.optim.swa_utils.AveragedModel(model)", "ts.lerp(x, y, 0.1)",
        "keeps means of the parameters: compute them after each step"),
    **{f"ts.{kind}Tensor": refusal(
        f"torch.{kind}Tensor(x)", f"ts.tensor(x, dtype=ts.{dtype})", _OLD)
       for kind, dtype in _OF_ONE_DTYPE.items()},
    "ts.amp": refusal('torch.amp.autocast("cpu")', (), _HALVES),
    "ts.autocast": refusal('torch.autocast("cpu")', (), _HALVES),
    "ts.channels_last": refusal(
        "x.to(memory_format=torch.channels_last)", "x", "changes the order in memory only"),
    "ts.distributed": refusal(
        "torch.distributed.init_process_group()", (), "joins processes; here threads do the work"),
    "ts.distributions": refusal(
        "torch.distributions.Categorical(logits=x)",
        ("ts.softmax(x, dim=-1).multinomial(1)", "ts.log_softmax(x, dim=-1).gather(1, i[:, None])"),
        "draws, and gives logarithms of probabilities"),
    "ts.func": refusal(
        "torch.func.grad(f)(x)", ("ts.grad(f)(x)", "ts.vjp(f, x)", "ts.jacobian(f)(x)"),
        "is where derivatives of functions are, and functional_call, which is not here"),
    "ts.fx": refusal(
        "torch.fx.symbolic_trace(model)", "ts.graph(model(x))", "lists a model's operations"),
    "ts.get_float32_matmul_precision": refusal(
        "torch.get_float32_matmul_precision()", (),
        "tells how precise products are; here float32 is computed in float32"),
    "ts.get_rng_state": refusal(
        "torch.get_rng_state()", "ts.manual_seed(0).get_state()",
        "gives the default generator's state; here manual_seed seeds that generator and gives it: "
        "keep it, and ask it"),
    "ts.jit": refusal(
        "torch.jit.script(model)", "ts.compile(model)", "compiles"),
    "ts.logspace": refusal(
        "torch.logspace(0, 2, 3)", "10 ** ts.linspace(0, 2, 3)", "gives powers of ten"),
    "ts.multiprocessing": refusal(
        "torch.multiprocessing.spawn(f)", (), "starts processes; here threads do the work"),
    "ts.profiler": refusal(
        "torch.profiler.profile()", "ts.compile(f).profile(x)", "tells what takes how long"),
    "ts.promote_types": refusal(
        "torch.promote_types(torch.int8, torch.half)", "ts.result_type(ts.int8, ts.half)",
        "gives the dtype of both together"),
    "ts.range": refusal("torch.range(1, 3)", "ts.arange(1, 4)", "ends with the end itself"),
    "ts.set_default_device": refusal(
        'torch.set_default_device("cpu")', (), "says where tensors live; here there is one place"),
    "ts.set_default_dtype": refusal(
        "torch.set_default_dtype(torch.double)", ("ts.ones(2, dtype=ts.double)", "model.double()"),
        "changes the dtype of what is made later; here it is float32"),
    "ts.set_float32_matmul_precision": refusal(
        'torch.set_float32_matmul_precision("high")', (),
        "lets products be less precise; here float32 is computed in float32"),
    "ts.set_printoptions": refusal(
        "torch.set_printoptions(precision=2)", 'f"{x:.2f}"',
        "changes how tensors are shown later; here each text says how"),
    "ts.special": refusal(
        "torch.special.expit(x)", "ts.sigmoid(x)",
        "has further names of functions that are here too, but for gammaln and its like"),
    "ts.use_deterministic_algorithms": refusal(
        "torch.use_deterministic_algorithms(True)", (),
        "asks for the same results each time; here they always are, and ts.manual_seed(0) makes "
        "draws so"),
    "ts.version": refusal(
        "torch.version.cuda", "ts.__version__", "tells what it was built with"),
    "ts.vmap": refusal(
        "torch.vmap(f)(x)", "ts.stack([f(row) for row in x])",
        "maps over the first axis; here operations take leading axes as they come"),
    "utils.tensorboard": refusal(
        "torch.utils.tensorboard.SummaryWriter()", ("ts.fit", "ts.History"),
        "writes figures to be looked at; here fit shows them, and its History draws them"),
    "x.cuda": refusal("x.cuda()", "x", _HOST),
    "x.equal": refusal(
        "x.equal(y)", ("x.array_equal(y)", "x == y"), "tells whether all elements are equal"),
    "x.fill_diagonal_": refusal(
        "x.fill_diagonal_(0)", "x.diagonal().fill_(0)", "writes into the diagonal"),
    **{f"x.{name}_": refusal(
        f"x.{name}_({given})", f"x.{name}({given})", _RESHAPES)
       for name, given in _IN_PLACE.items()},
    "x.repeat": refusal(
        "x.repeat(2, 3)", ("x.tile(2, 3)", "x.repeat_interleave(2)"),
        "repeats the whole tensor, in NumPy each element"),
    "x.resize_": refusal(
        "x.resize_(3, 2)", "x.reshape(3, 2)", _RESHAPES),
}  # fmt: skip
MOVED = refusal("model.cuda()", "model", _HOST)
COMPILED = refusal(
    'torch.compile(f, mode="max-autotune")', "ts.compile(f)",
    "chooses a compiler, its effort, or how shapes may change; here is one, and each shape has a "
    "program")  # fmt: skip
OF_COMPILE = ("backend", "disable", "dynamic", "fullgraph", "mode", "options")

# What NumPy's arrays have, and what does the same.
OF_NUMPY = {
    "argpartition": "ts.argsort(x)", "compress": "x[mask]", "copy": "x.clone()",
    "dump": "ts.save(x, path)", "flat": "x.reshape(-1)", "partition": "ts.sort(x)",
    "resize": "x.reshape(shape)", "tobytes": "bytes(x)", "tofile": "ts.io.save_npy(x, path)",
}  # fmt: skip

# What its namespace has, and other words for it.
OF_NAMESPACES = {
    "array": "ts.tensor(data), or ts.asarray(data) without a copy where that can be",
    "array_split": "ts.tensor_split(x, n)", "average": "(x * w).sum() / w.sum()",
    "digitize": "ts.bucketize(x, bins, right=True)",
    "genfromtxt": "ts.data.read_csv(path).to_tensor()",
    "get_default_dtype": "ts.float32, which is always the default", "identity": "ts.eye(n)",
    "loadtxt": "ts.data.read_csv(path).to_tensor()", "percentile": "ts.quantile(x, 0.9)",
    "power": "ts.pow(x, y)", "ptp": "x.max() - x.min()",
    "random": "ts.manual_seed(0), ts.rand(3), ts.randn(3) or ts.randint(0, 9, (3,))",
    "savez": 'ts.io.save_npz({"a": x}, path)', "seed": "ts.manual_seed(0)",
}  # fmt: skip
OF_BOTH = {"inverse": "ts.linalg.inv(x)", "logdet": "ts.log(ts.linalg.det(x))"}

# Calls that the array API standard defines: they run, with its meaning.
STANDARD = (
    refusal("torch.median(x)", 'ts.quantile(x, 0.5, method="lower")',
            "gives the lower of the two in the middle; here their mean, as in NumPy"),
    refusal("torch.equal(x, y)", ("ts.equal(x, y).all()", "ts.array_equal(x, y)"),
            "gives one bool; here it compares element by element, as x == y"),
    refusal("torch.sort(x)", "ts.sort(x), ts.argsort(x)",
            "gives values and indices; here the values"),
    refusal("x.nonzero()", "ts.argwhere(x)",
            "gives one tensor; here a tuple of indices, one tensor for each axis"),
    refusal("x.std()", "x.std(correction=1)", "divides by n - 1; here by n"),
    refusal("x.var()", "x.var(correction=1)", "divides by n - 1; here by n"),
)  # fmt: skip


def absent(owner: str, name: str) -> str:
    """Give the hint for a name of PyTorch that `owner` ("x", "ts", "nn", "model") lacks."""
    found = ABSENT.get(f"{owner}.{name}")
    if found is None:
        return ""
    return f"in PyTorch {found.torch} {found.why}; {found.cure()}"


def suggest(owner: str, name: str, own: Iterable[str], others: Iterable[str]) -> str:
    """Give the hint for a name that `owner` ("x" or "ts") lacks and the other may have."""
    if found := absent(owner, name):
        return found
    if owner == "x" and name in OF_NUMPY:
        return f"NumPy's arrays have it; write {OF_NUMPY[name]}"
    if owner == "ts" and name in OF_NAMESPACES:
        return f"write {OF_NAMESPACES[name]}"
    if owner in ("x", "ts"):
        if name in OF_BOTH:
            return f"write {OF_BOTH[name]}"
        for home in ("linalg", "fft", "nn.functional"):
            if name in import_module(f"tessella.{home}").__all__:
                return f"write ts.{home}.{name}(…)"
    if name in others:
        if owner == "x":
            return f"it is a function: ts.{name}(x, …)"
        is_method = callable(getattr(Tensor, name))
        return f"call it as x.{name}(…)" if is_method else f"read it as x.{name}"
    near = alike(name, own)
    listed = owner if owner in ("x", "ts", "model") else f"ts.{owner}"
    return f"did you mean {', '.join(near)}?" if near else f"dir({listed}) lists the names"


def refuser(module: str, hint: str = "") -> Callable[[str], NoReturn]:
    """Give the `__getattr__` of a module: its error says what to write, or gives the hint."""
    owner = module.removeprefix("tessella.")

    def refuse(name: str) -> NoReturn:
        if name.startswith("__"):  # what Python asks every module for
            raise AttributeError(name)

        def found() -> str:
            here = attrgetter(owner)(sys.modules["tessella"])
            return absent(owner, name) or hint or suggest(owner, name, dir(here), ())

        raise errors.unknown_name(module, name, found)

    return refuse
