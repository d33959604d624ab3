"""What the design promises about the code itself: layers, names, sizes, generated files, examples.

It reads sources and compiled objects; what operations compute is tested elsewhere. The order of the
Python layers is read from docs/design/modules.md, so that the page cannot go stale.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import installed
import tessella as ts
from conftest import sampled
from stub_places import place_stubs
from tessella import _core, catalogue, errors, namespace
from tessella.kinds import Elementwise
from tessella.records import OPS

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "tessella"
CORE = ROOT / "src" / "core"
MOST_LINES = 500
FORBIDDEN = {"utils", "common", "helpers", "misc"}


def tracked(*suffixes: str) -> list[Path]:
    """Give the files that git knows or would add."""
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    return [ROOT / name for name in names if name.endswith(suffixes) and (ROOT / name).is_file()]


# --- layers --------------------------------------------------------------------------------------


def documented_order() -> list[str]:
    """Read the Python layers from docs/design/modules.md: the first words of the block's lines."""
    page = (ROOT / "docs" / "design" / "modules.md").read_text()
    block = re.search(r"```text\n(.*?)```", page, re.DOTALL)
    assert block, "docs/design/modules.md has no block of layers"
    return [line.split()[0] for line in block[1].splitlines() if line.strip()]


def module_name(path: Path) -> str:
    """Give a module's name within the package: ops.creation."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imported_modules(path: Path, known: set[str]) -> Iterator[str]:
    """Give the package's modules that a file imports, anywhere but for type checking."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            inside = name.removeprefix("tessella.")
            while inside != name and inside:
                if inside in known:
                    yield inside
                    break
                inside = inside.rpartition(".")[0]


def test_python_modules_import_only_what_stands_above_them() -> None:
    order = documented_order()
    files = {module_name(path): path for path in tracked(".py") if path.is_relative_to(PACKAGE)}
    modules = {name: path for name, path in files.items() if name and name != "ops"}
    for name in sorted(set(modules) ^ set(order)):
        assert name in order, f"add {name} to docs/design/modules.md, below what it imports"
        assert name in modules, f"docs/design/modules.md names {name}, which there is not"
    assert len(order) == len(modules)
    upwards = [
        f"{name} imports {other}"
        for name, path in modules.items()
        for other in imported_modules(path, set(modules))
        if order.index(other) >= order.index(name)
    ]
    assert not upwards


def includes(path: Path) -> list[str]:
    """Give what a C++ file includes, as written."""
    return re.findall(r'^\s*#\s*include\s+([<"][^>"]+[>"])', path.read_text(), re.MULTILINE)


# The core's folders from below; files that lie in none stand beside memory/.
FOLDERS = (
    {"system", "simd"},
    {"core", "memory"},
    {"csv", "kernels"},
    {"launch"},
    {"tensor"},
    {"bind"},
)


def test_the_core_includes_downwards() -> None:
    rank = {name: i for i, names in enumerate(FOLDERS) for name in names}
    paths = [path for path in tracked(".cpp", ".h") if path.is_relative_to(CORE)]
    assert {path.parent.name for path in paths} == set(rank)
    found = [
        (path, (path.parent / name[1:-1]).resolve())
        for path in paths
        for name in includes(path)
        if name.startswith('"')
    ]
    assert len(found) > 500 and all(other.is_file() for _, other in found)
    assert not [
        f"{path.relative_to(CORE)} includes {other.relative_to(CORE)}"
        for path, other in found
        if rank[other.parent.name] > rank[path.parent.name]
    ]


def test_only_tensor_and_bind_include_python() -> None:
    offenders = [
        str(path.relative_to(ROOT))
        for path in tracked(".cpp", ".h")
        if path.is_relative_to(CORE) and path.parent.name not in ("tensor", "bind")
        if any("Python.h" in name or "nanobind" in name for name in includes(path))
    ]
    assert not offenders


def test_code_of_one_instruction_set_includes_no_standard_library() -> None:
    """std templates make weak symbols, and the linker may keep those of a wrong ISA."""
    allowed = {"<stdint.h>", "<stddef.h>", "<string.h>", "<immintrin.h>", "<arm_neon.h>"}
    offenders = [
        f"{path.relative_to(ROOT)} {name}"
        for path in tracked(".cpp", ".h")
        if path.parent in (CORE / "kernels", CORE / "simd") and path.name != "isa.cpp"
        for name in includes(path)
        if name.startswith("<") and name not in allowed
    ]
    assert not offenders


def kernel_objects(isa: str) -> list[Path]:
    """Give the compiled kernels of an ISA, of the build that the core comes from.

    An editable install copies the core out of its build: then it is the newest finished one.
    """
    own = Path(_core.__file__).resolve().parent
    if not (own / "build.ninja").is_file():
        finished = [path for path in ROOT.glob("build/*/_core*.so") if path.parent.name != "asan"]
        own = max(finished, key=lambda path: path.stat().st_mtime).parent
    return sorted(own.glob(f"CMakeFiles/kernels_{isa}.dir/**/*.o"))


# Those with VNNI are compiled wherever the others are.
COMPILED = [*_core.supported_isas(), "avxvnni", "avx512vnni"]


@pytest.mark.parametrize("isa", COMPILED if "avx2" in COMPILED else COMPILED[:1])
def test_no_weak_symbol_leaks_from_an_instruction_set(isa: str) -> None:
    objects = kernel_objects(isa)
    assert objects
    listing = subprocess.run(["nm", "-C", *objects], capture_output=True, text=True, check=True)
    leaks = [
        line
        for line in listing.stdout.splitlines()
        if re.match(r"[0-9a-f ]{16} [VWuvw] ", line) and f"tessella::{isa}::" not in line
    ]
    assert not leaks


# --- names and sizes -----------------------------------------------------------------------------


def test_every_opcode_has_its_record_and_every_record_its_opcode() -> None:
    opcodes = {name for name, _ in _core.opcodes()}
    assert opcodes == {op.kernel for op in OPS.values() if isinstance(op, Elementwise)}


def test_opcodes_take_as_many_operands_as_their_records() -> None:
    assert {(n, a) for n, a in _core.opcodes()} == {
        (op.kernel, len(op.operands)) for op in OPS.values() if isinstance(op, Elementwise)
    }


def test_names_belong_to_one_operation() -> None:
    names = [name for op in OPS.values() for name in (op.name, *op.aliases)]
    assert len(names) == len(set(names))


def test_no_file_has_a_name_that_says_nothing() -> None:
    """But for stubs of modules that PyTorch calls so: type checkers find modules by files only."""
    stubs = place_stubs()
    paths = [path for path in tracked("") if str(path.relative_to(ROOT)) not in stubs]
    assert not [path for path in paths if FORBIDDEN & set(path.relative_to(ROOT).parts)]
    assert not [path for path in paths if path.stem in FORBIDDEN]


def test_no_module_hides_a_public_function() -> None:
    """`import tessella.x` would put the module where the function x was."""
    modules = {path.stem for path in PACKAGE.iterdir()}
    assert not modules & {
        *namespace.MEMBERS,
        *(name for name, value in namespace.public_names().items() if callable(value)),
    }


def test_files_are_short() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {count} lines"
        for path in tracked(".py", ".cpp", ".h", ".def")
        if (count := len(path.read_text().splitlines())) > MOST_LINES
    ]
    assert not long


def test_files_open_with_what_they_are() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in tracked(".py", ".cpp", ".h", ".def")
        if not path.read_text().startswith(('"""', "//", 'r"""', "#!"))
    ]
    assert not silent


# --- import and errors ---------------------------------------------------------------------------


def test_import_is_quick_and_loads_no_numpy(tmp_path: Path) -> None:
    code = (
        # The processor's time: the wall's would depend on what else the machine does.
        "import sys, time; start = time.process_time(); import tessella;"
        "print(time.process_time() - start, 'numpy' in sys.modules)"
    )
    environment = installed.lay_out(tmp_path)
    # Users have bytecode: it is written by the first run, and kept from other runs of the tests.
    environment |= {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    runs = [
        subprocess.run(
            [sys.executable, "-S", "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(4)
    ]
    assert {has_numpy for _, has_numpy in runs} == {"False"}
    assert min(float(seconds) for seconds, _ in runs) < 0.1


def in_a_new_process(code: str) -> str:
    command = [sys.executable, "-c", f"import sys, tessella as ts\n{code}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


# Modules of the standard library that take longer to load than ours.
HEAVY = {"collections", "contextlib", "dataclasses", "enum", "functools", "inspect", "re", "typing"}


def top_imports(path: Path) -> set[str]:
    """Give the packages that a module imports when it is loaded."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found


def test_import_loads_what_everyday_code_needs_and_no_more() -> None:
    code = "print(*(name for name in sys.modules if name.partition('.')[0] == 'tessella'))"
    loaded = set(in_a_new_process(code).split())
    later = {f"tessella.ops.{name}" for name in (*catalogue.FUNCTIONS, *catalogue.METHODS)}
    assert loaded and not later & loaded
    files = {path for path in tracked(".py") if path.is_relative_to(PACKAGE)}
    names = {f"tessella.{module_name(path)}".rstrip("."): path for path in files}
    heavy = {name: top_imports(names[name]) & HEAVY for name in loaded & names.keys()}
    assert len(heavy) > 20 and not any(heavy.values()), heavy


@pytest.mark.parametrize(
    "code, printed",
    [
        ("print(ts.sort(ts.tensor([2, 1])).tolist())", "[1, 2]"),
        ("print(ts.tensor([2, 1]).sort().tolist())", "[1, 2]"),
        ("print(ts.Tensor.sort(ts.tensor([2, 1])).tolist())", "[1, 2]"),
        ("print(ts.tensor([2.0, 1.0]).elu_().tolist())", "[2.0, 1.0]"),
        ("from tessella import sort; print(sort is ts.sort is ts.Tensor.sort)", "True"),
        ("print(hasattr(ts, 'sort'), hasattr(ts.Tensor, 'sort'))", "True True"),
        ("print('tessella.diagrams' in sys.modules, 'graph' in dir(ts))", "False True"),
        # No error was made on the way; from 3.13 on Python looks at its command's lines itself.
        ("print('linecache' in sys.modules and sys.version_info < (3, 13))", "False"),
        ("print({'sort', 'add', 'linalg'} <= {*dir(ts)}, 'sort' in dir(ts.Tensor))", "True True"),
    ],
)
def test_names_are_loaded_at_their_first_use(code: str, printed: str) -> None:
    assert in_a_new_process(code) == printed


FIRST_CALL = """
def operand(shape, dtype):
    if isinstance(shape, list):
        return [operand(each, dtype) for each in shape]
    return ts.ones(shape, dtype=dtype) if isinstance(shape, tuple) else shape

function = ts
for name in "NAME".split("."):
    function = getattr(function, name)
for case in function.record.samples:
    for dtype in (ts.float32, ts.int64):
        try:
            function(*(operand(shape, dtype) for shape in case.shapes), **case.params)
        except ts.errors.TessellaError:
            pass
"""


@pytest.mark.parametrize(
    "name", sampled([each.name for each in namespace.declared() if each.is_function], 24)
)
def test_the_first_call_needs_nothing_loaded_before(name: str) -> None:
    in_a_new_process(FIRST_CALL.replace("NAME", name))


@pytest.mark.parametrize("code", ["ts.tensor([1, 2]) + 0.5", "ts.exp(ts.tensor([1, 2]))",
                                  "ts.ones(2) @ ts.ones(2, dtype=ts.float64)", "-ts.tensor(2.5)",
                                  "ts.tensor([1, 2]) == ts.tensor([1.0, 2.5])"])  # fmt: skip
def test_the_first_operation_may_mix_dtypes(code: str) -> None:
    assert in_a_new_process(f"print({code})").startswith("tensor")


def test_names_that_are_not_loaded_yet_are_suggested() -> None:
    code = "try: ts.srot\nexcept ts.errors.UnknownName as error: print(error)"
    assert ", sort?" in in_a_new_process(code)


def test_the_core_alone_refuses_and_never_crashes() -> None:
    """A failed import may leave the core without its records: what they do is refused."""
    code = f"""
import importlib.util
spec = importlib.util.spec_from_file_location("tessella._core", {_core.__file__!r})
core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
x = core.empty((2,), {ts.float32.id})
calls = (lambda: x + x, lambda: -x, lambda: x[0], lambda: repr(x), lambda: list(x), lambda: x.T,
         lambda: x == x, lambda: bool(x), lambda: x.__iadd__(x), lambda: x.nothing)
refused = 0
for call in calls:
    try:
        call()
    except (RuntimeError, SystemError, AttributeError):
        refused += 1
print(refused == len(calls), x.dtype, x.shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True None (2,)\n", done.stderr


TREE = {
    "ShapeError": (ValueError, "shape"),
    "BroadcastError": (ValueError, "broadcast"),
    "InvalidArgument": (ValueError, "invalid_argument"),
    "IndexOutOfBounds": (IndexError, "index_out_of_bounds"),
    "Empty": (IndexError, "empty"),
    "DTypeMismatch": (TypeError, "dtype_mismatch"),
    "OutOfMemory": (MemoryError, "out_of_memory"),
    "CapacityOverflow": (MemoryError, "capacity_overflow"),
    "LengthOverflow": (OverflowError, "length_overflow"),
    "IllegalState": (RuntimeError, "illegal_state"),
    "PreconditionFailed": (RuntimeError, "precondition_failed"),
    "InplaceError": (RuntimeError, "inplace"),
    "AnomalyError": (ArithmeticError, "anomaly"),
    "UseAfterFree": (RuntimeError, "use_after_free"),
    "CaptureError": (RuntimeError, "capture"),
    "CheckFailed": (AssertionError, "check_failed"),
    "FormatError": (ValueError, "format"),
    "ArgumentError": (TypeError, "argument"),
    "ExchangeError": (BufferError, "exchange"),
    "UnknownKey": (KeyError, "unknown_key"),
    "UnknownName": (AttributeError, "unknown_name"),
    "MissingImport": (ImportError, "missing_import"),
    "MissingFile": (FileNotFoundError, "missing_file"),
}


@pytest.mark.parametrize("name", sorted(TREE))
def test_error_classes_have_their_base_and_code(name: str) -> None:
    base, code = TREE[name]
    error = getattr(ts.errors, name)
    assert issubclass(error, ts.errors.TessellaError) and issubclass(error, base)
    assert error.code == code


def test_error_tree_holds_nothing_else() -> None:
    found = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.TessellaError)
    }
    assert found == {"TessellaError", *TREE}
