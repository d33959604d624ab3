"""Builds the public namespace and Tensor's methods from the table of operations."""

from __future__ import annotations

import importlib
import math
import os
import sys
from types import ModuleType

from tessella import (
    _core,
    access,
    autograd,
    catalogue,
    errors,
    exchange,
    hooks,
    imports,
    info,
    inplace,
    modes,
    ops,
    pickling,
    printing,
    spellings,
    tensors,
    threads,
)
from tessella._core import Tensor
from tessella.composites import COMPOSITES, Composite
from tessella.declarations import Refusal
from tessella.devices import CPU, Device
from tessella.dtypes import BY_TYPE_OF_C, DTYPES, DType
from tessella.hints import Any, NoReturn
from tessella.ops import (
    casting,
    creation,
    elementwise,
    fused,
    index,
    joining,
    matmul,
    movement,
    random,
    reduce,
)
from tessella.records import OPS, Op

# The modules of ops/ that are loaded with the package: what operators and everyday code use. The
# others are loaded when one of their names is first asked for; catalogue.py lists those.
TABLES = (casting, creation, elementwise, fused, index, joining, matmul, movement, random, reduce)

# Numbers, and the types that PyTorch's annotations name.
CONSTANTS: dict[str, Any] = {
    "Size": tuple,
    "__array_api_version__": info.VERSION,
    "device": Device,
    "dtype": DType,
    "e": math.e,
    "inf": math.inf,
    "nan": math.nan,
    "newaxis": None,
    "pi": math.pi,
}

# What is neither: the module that holds it, and its public names.
FUNCTIONS: dict[Any, tuple[str, ...]] = {
    info: ("__array_namespace_info__",),
    modes: ("enable_grad", "inference_mode", "is_grad_enabled", "no_grad", "set_grad_enabled"),
    random: ("Generator",),
    threads: ("get_num_threads", "num_threads", "set_num_threads"),
}  # fmt: skip

# Modules that are loaded when they are first used.
SUBPACKAGES: tuple[str, ...] = ("fft", "linalg", "nn.functional")  # with declared functions
MODULES: tuple[str, ...] = (  # without
    "autograd", "compiler", "data", "diagrams", "io", "memory", "metrics", "models", "nn", "optim",
    "testing", "text", "trees",
)  # fmt: skip

# Classes and functions that are loaded when they are first used, by their modules.
MEMBERS = {
    "DynamicArray": "dynamic",
    "History": "histories",
    "fit": "training",
    "checkpoint": "checkpoints",
    "compile": "compiler",
    "graph": "diagrams",
    **dict.fromkeys(("load", "save"), "io"),
    **dict.fromkeys(("grad", "hessian", "jacobian", "jvp", "value_and_grad", "vjp"), "transforms"),
}

# Names of the package by the module of ops/ that has them.
LATER = {name: module for module, names in catalogue.FUNCTIONS.items() for name in names.split()}

API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", info.VERSION)


def array_namespace(self: Tensor, *, api_version: str | None = None) -> ModuleType:
    """Give the module that holds the functions of the array API.

    >>> ts.zeros(2).__array_namespace__() is ts
    True
    """
    if api_version is not None and api_version not in API_VERSIONS:
        found = errors.wrong_value("api_version", api_version, f"one of {', '.join(API_VERSIONS)}")
        raise found.locate("__array_namespace__", [f"x  {self.dtype} {self.shape}"])
    return sys.modules["tessella"]


def show_in_notebook(self: Tensor) -> str:
    """Give HTML, with the values that `repr` shows."""
    html: str = load_module("notebooks").show(self)
    return html


METHODS: dict[str, Any] = {
    "at": tensors.at,
    "clear": inplace.zero_,
    "clear_": inplace.zero_,
    "backward": autograd.tensor_backward,
    "clone": tensors.clone,
    "copy_": inplace.copy_,
    "detach": tensors.detach,
    "detach_": autograd.detach_,
    "fill": inplace.fill_,
    "fill_": inplace.fill_,
    "flat_index": tensors.flat_index,
    "numpy": exchange.numpy_of,
    "read": access.read,
    "register_hook": hooks.register_hook,
    "register_post_accumulate_grad_hook": hooks.register_post_accumulate_grad_hook,
    "requires_grad_": autograd.requires_grad_,
    "retain_grad": hooks.retain_grad,
    "scale_": inplace.Twin(OPS["mul"], "scale_"),
    "to_device": tensors.to_device,
    "tolist": tensors.tolist,
    "where": tensors.where,
    "write": access.write,
    "zero_": inplace.zero_,
    "zero_grad": autograd.zero_grad,
}


# What Python tells of a tensor.
PROPERTIES: dict[str, Any] = {
    "allocator": property(
        lambda x: find("memory").allocator_of(x),
        doc="What its memory came from; None: it is shared or virtual.",
    ),
    "data": property(tensors.detach, tensors.set_data),
    "device": property(lambda x: CPU, doc="Where it lives: 'cpu', the memory of the host."),
    "imag": property(tensors.imaginary_part, tensors.set_imaginary_part),
    "is_cuda": property(lambda x: False, doc="Whether it lives on a GPU: no tensor does."),
    "real": property(tensors.real_part, tensors.set_real_part),
    "retains_grad": property(hooks.retains_grad),
}

# What Python, NumPy and the array API ask of a tensor, beside the slots of the core.
PROTOCOLS: dict[str, Any] = {
    "__array__": exchange.array_of,
    "__array_namespace__": array_namespace,
    "__copy__": pickling.copied,
    "__deepcopy__": pickling.deep_copied,
    "__dlpack__": exchange.dlpack,
    "__dlpack_device__": exchange.dlpack_device,
    "__format__": printing.formatted,
    "__reduce_ex__": pickling.reduced,
    "__reversed__": tensors.iterate_back,
    "_repr_html_": show_in_notebook,
}


# --- the whole table: what tests and tools begin with ---------------------------------------------


def load() -> dict[str, Any]:
    """Load every module of ops/ and every subpackage; give the subpackages."""
    import pkgutil

    for module in pkgutil.iter_modules(ops.__path__):
        fetch(module.name)
    return {name: load_module(name) for name in SUBPACKAGES}


def declared() -> list[Op | Composite]:
    """Give every operation and every composite that is loaded."""
    return [*OPS.values(), *COMPOSITES.values()]


def refusals() -> list[Refusal]:
    """Give every call that means something else in PyTorch, and raises."""
    rows = [row for each in declared() for row in each.refuses]
    return [*spellings.CALLED, *rows, *spellings.ABSENT.values(), spellings.MOVED,
            spellings.COMPILED]  # fmt: skip


def public_names() -> dict[str, Any]:
    """Give every public function, dtype and constant that is loaded, by its name."""
    names: dict[str, Any] = {dtype.name: dtype for dtype in DTYPES} | BY_TYPE_OF_C | CONSTANTS
    for module, members in FUNCTIONS.items():
        names.update({name: getattr(module, name) for name in members})
    for each in declared():
        names.update(functions_of(each))
    return names


def methods() -> dict[str, Any]:
    """Give every method of Tensor that Python adds and that is loaded, by its name."""
    names = dict(METHODS)
    for each in declared():
        names.update(methods_of(each))
    return names


# --- the names of one declaration -----------------------------------------------------------------


def functions_of(each: Op | Composite) -> dict[str, Any]:
    """Give the public functions that a declaration makes."""
    if not each.is_function or each.home:
        return {}
    return dict.fromkeys((each.name, *each.aliases), each.function)


def methods_of(each: Op | Composite) -> dict[str, Any]:
    """Give the methods of Tensor that a declaration makes."""
    names: dict[str, Any] = {}
    for name in (each.name, *each.aliases):
        if each.is_method and f"x.{name}" not in spellings.ABSENT:
            names[name] = each.function
        if each.has_twin:
            names[f"{name}_"] = inplace.Twin(each, f"{name}_")
    return names


# --- loading at first use -------------------------------------------------------------------------


class Later:
    """A method of Tensor whose module is loaded when the method is first asked for."""

    def __init__(self, name: str, module: str) -> None:
        self.name = name
        self.module = module

    def __get__(self, x: Tensor | None, owner: type[Tensor]) -> Any:
        fetch(self.module)
        return getattr(owner if x is None else x, self.name)


def load_module(name: str) -> Any:
    """Load a module of the package; what it keeps is on the heap, whatever the user's scope."""
    scope = _core.swap_allocator(None)
    _core.pause_recording()  # nor is it part of what a compiled function does
    try:
        return importlib.import_module(f"tessella.{name}")
    finally:
        _core.resume_recording()
        _core.swap_allocator(scope)


def fetch(module: str) -> None:
    """Load a module of ops/ and put its names where users find them."""
    name = load_module(f"ops.{module}").__name__
    public = vars(sys.modules["tessella"])
    for each in declared():
        if each.module == name:
            public.update(functions_of(each))
            for method, function in methods_of(each).items():
                setattr(Tensor, method, function)


def find(name: str) -> Any:
    """Give a name of the package that is not loaded yet; refuse one that does not exist."""
    if name in SUBPACKAGES or name in MODULES:
        return load_module(name)
    if name in MEMBERS:
        found = getattr(load_module(MEMBERS[name]), name)
        vars(sys.modules["tessella"])[name] = found
        return found
    if name in imports.PLACES:
        return imports.load(f"tessella.{name}")
    if name == "__version__":
        return info.version()
    if name.startswith("__"):  # what Python asks every module for
        raise AttributeError(f"module 'tessella' has no attribute {name!r}")
    module = LATER.get(name)
    if module is None:
        raise errors.unknown_name(
            "tessella", name, lambda: spellings.suggest("ts", name, names(), dir(Tensor))
        )
    fetch(module)
    return vars(sys.modules["tessella"])[name]


def names() -> list[str]:
    """List the names of the package, loaded or not: what dir(tessella) gives."""
    package = vars(sys.modules["tessella"])
    loaded = {name for name in package if name.startswith("__")} | {*package["__all__"]}
    later = {*LATER, *(name for name in SUBPACKAGES if "." not in name), *MODULES, *MEMBERS}
    return sorted({*loaded, *public_names(), *later, "__version__"})


def refuse_attribute(x: Tensor, name: str) -> NoReturn:
    """Refuse an attribute that tensors do not have."""
    kind = type(x)
    raise errors.unknown_name(
        kind.__name__, name, lambda: spellings.suggest("x", name, dir(kind), names())
    )


def report_shortage() -> tuple[list[str], str]:
    """Say who holds memory where it ends, and what would have fitted, which networks know."""
    import gc  # nobody needs it before

    objects = gc.get_objects()
    has_networks = "tessella.nn" in sys.modules
    advice = load_module("nn.shortages").advise(objects) if has_networks else ""
    return load_module("holders").shortage(objects), advice


def install(module: dict[str, Any]) -> None:
    """Put the names where users find them, and tell the core its operators."""
    imports.install()
    for owner, later in catalogue.METHODS.items():
        for name in later.split():
            setattr(Tensor, name, Later(name, owner))
    module.update(public_names())
    for name, function in (methods() | PROPERTIES | PROTOCOLS).items():
        setattr(Tensor, name, function)
    node: Any = _core.Node
    node.__repr__ = lambda node: f"<Node {node.name}>"
    Tensor.__array_ufunc__ = None  # NumPy's operators leave the work to ours
    for op in OPS.values():
        _core.set_slot(op.name, op.function)
    errors.set_reporter(report_shortage)
    threads.check_environment()
    if "TESSELLA_MEMORY_LIMIT" in os.environ:
        find("memory")
    _core.set_hook("anomaly", lambda *call: load_module("anomalies").judge(*call))
    _core.set_hook("repr", printing.represent)
    _core.set_hook("iterate", tensors.iterate)
    _core.set_hook("contains", tensors.contains)
    _core.set_hook("size", spellings.Count)
    _core.set_hook("address", spellings.Address)
    _core.set_hook("flag", spellings.Flag)
    _core.set_hook("unknown", refuse_attribute)
