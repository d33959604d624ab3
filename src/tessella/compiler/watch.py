"""watch: what a function reads in Python beyond its arguments, so that a change of it is noticed.

While a call is recorded, every frame of the user's code is seen. Its instructions tell which
globals it reads, which variables of the functions around it, and which attributes of those and of
its arguments. What they were is kept; a program is only repeated while they are the same: numbers
and text by value, lists, dicts and arrays by what they hold, everything else by being the same
object. Modules and optimizers of the package count their changes themselves.
"""

from __future__ import annotations

import dis
import gc
import os
import sys
from collections import deque
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType

from tessella import _core, changes, exceptions, threads
from tessella.compiler import capture_errors
from tessella.hints import Any, Callable

MOST_ITEMS = 1000  # of a container whose items are compared
_CONSTANT = (int, float, complex, str, bytes, type(None))
_ABSENT = object()
_DEFAULTS = ("__defaults__", "__kwdefaults__")
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_INSTALLED = _LIBRARY + "site-packages" + os.sep
# Modules whose functions give something else at each call.
_RESTLESS = ("_random", "datetime", "numpy.random", "random", "secrets", "time", "uuid")


class Place:
    """Where something stands: a key of a dict, a cell, or an attribute; and what stood there."""

    __slots__ = ("holder", "items", "kind", "name", "value")

    def __init__(self, kind: str, holder: Any, name: str, value: Any) -> None:
        self.kind = kind
        self.holder = holder
        self.name = name
        self.value = value
        self.items = items_of(value)

    def holds(self) -> bool:
        """Tell whether it is as it was."""
        if self.kind == "dict":
            now = self.holder.get(self.name, _ABSENT)
        elif self.kind == "cell":
            now = self.holder.cell_contents if _is_filled(self.holder) else _ABSENT
        else:
            now = static_attribute(self.holder, self.name)
        if now is not self.value and not _same(now, self.value):
            return False
        return self.items is None or _same_items(items_of(now), self.items)


class Watch:
    """Places in Python that a function reads."""

    def __init__(self, function: Any) -> None:
        self._places: dict[tuple[str, int, str], Place] = {}
        self._functions: dict[Any, Any] = {}  # by their code: whose closures can be watched
        self._made: set[Any] = set()  # codes of functions that are made in the call
        self._owner = getattr(function, "__self__", None)  # of a method that is compiled
        self.has_loaded = False  # a module was imported in the call
        self._threads: int | None = None  # how many there were, if the call asks
        self.bumped_at = ""  # the line that changed a module or a parameter group
        self._add_function(function)

    def holds(self) -> bool:
        """Tell whether everything is as it was."""
        if self._threads not in (None, _core.num_threads()):
            return False
        return all(place.holds() for place in self._places.values())

    def changed(self) -> str:
        """Name something that is not as it was, and say so; nothing if there is no such thing."""
        if self._threads not in (None, _core.num_threads()):
            return "get_num_threads(), which is changed"
        for place in self._places.values():
            if place.holds():
                continue
            name = place.name
            if place.kind == "attribute":
                name = f"{getattr(place.holder, '__name__', type(place.holder).__name__)}.{name}"
            if isinstance(place.items, _Restless):
                return f"{name}, which holds more than {MOST_ITEMS} items: they are not compared"
            return f"{name}, which is changed"
        return ""

    def exported(self) -> tuple[list[tuple[Any, ...]], bool]:
        """Give the places that the core can look at itself, and whether there are others."""
        found: list[tuple[Any, ...]] = []
        for place in self._places.values():
            own = place.holder if place.kind == "dict" else None
            if place.kind == "attribute":
                own = getattr(place.holder, "__dict__", None)
            if place.items is not None:
                continue
            if place.kind == "cell":
                found.append((place.holder, None, place.value))
            elif place.name in _DEFAULTS and isinstance(place.holder, FunctionType):
                found.append((place.holder, place.name, place.value))
            elif type(own) is dict and own.get(place.name, _ABSENT) is place.value:
                found.append((own, place.name, place.value))
        return found, len(found) < len(self._places) or self._threads is not None

    def add(self, kind: str, holder: Any, name: str, value: Any, is_outside: bool = True) -> None:
        """Keep what stands in a place; one that may be made in the call may hold an iterator."""
        key = (kind, id(holder), name)
        if key in self._places or isinstance(value, ModuleType):
            return
        if is_outside:
            _refuse_restless(name, value)
        elif hasattr(value, "__next__"):
            return
        self._places[key] = place = Place(kind, holder, name, value)
        self._add_function(value)
        for each, _ in place.items if isinstance(place.items, list) else ():
            self._add_function(each)

    def add_frame(self, frame: Any) -> None:
        """Keep what the code of a frame reads."""
        code, locals_ = frame.f_code, frame.f_locals
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        # Functions that are made in the call have variables that are made in it, too.
        self._made.update(each for each in code.co_consts if isinstance(each, CodeType))
        if code.co_freevars:
            self._find_function(frame)
        for kind, name, attributes in reads_of(code):
            if kind == "global" and name in frame.f_globals:
                value = frame.f_globals[name]
                self.add("dict", frame.f_globals, name, value)
            elif name in locals_ and (kind == "free" or (kind == "local" and name in arguments)):
                value = locals_[name]
            else:
                continue
            self._follow(value, attributes, kind != "local" or value is self._owner)

    def note_threads(self) -> None:
        """Keep how many threads there are."""
        if self._threads is None:
            self._threads = _core.num_threads()

    def _add_function(self, value: Any) -> None:
        """Keep the variables around a function, and its defaults."""
        function = getattr(value, "__func__", value)
        if not isinstance(function, FunctionType) or function.__code__ in self._functions:
            return
        self._functions[function.__code__] = function
        if isinstance(value, MethodType):
            _refuse_restless(function.__name__, value.__self__)
        is_ours = function.__code__.co_filename.startswith(exceptions.PACKAGE)
        for name in () if is_ours else _DEFAULTS:
            self.add("attribute", function, name, getattr(function, name))
        names = function.__code__.co_freevars
        for name, cell in zip(names, function.__closure__ or (), strict=True):
            if not _is_filled(cell):
                continue
            if is_ours:  # its variables stay; functions of the user among them are watched
                self._add_function(cell.cell_contents)
            else:
                self.add("cell", cell, name, cell.cell_contents)

    def _find_function(self, frame: Any) -> None:
        """Find the function of a frame whose code reads variables around it."""
        code = frame.f_code
        if code in self._functions or code in self._made:
            return
        if code.co_argcount:  # a method
            owner = type(frame.f_locals.get(code.co_varnames[0]))
            self._take(getattr(owner, code.co_name, None), code)
        for value in list(frame.f_back.f_locals.values()) if frame.f_back else ():
            self._take(value, code)
        if code not in self._functions:
            for value in gc.get_referrers(code):
                self._take(value, code)

    def _take(self, value: Any, code: Any) -> None:
        if getattr(value, "__code__", None) is code:
            self._add_function(value)

    def _follow(self, value: Any, attributes: tuple[str, ...], is_outside: bool) -> None:
        """Keep what the attributes behind a name are."""
        for name in attributes:
            if isinstance(value, ModuleType):
                if value.__name__ in _RESTLESS:
                    raise capture_errors.restless_inside(f"{value.__name__}.{name}")
                if is_ours(value.__name__) or not hasattr(value, name):
                    return
                self.add("dict", vars(value), name, getattr(value, name))
                value = getattr(value, name)
            else:
                if is_ours(module_of(type(value))):
                    return
                found = static_attribute(value, name)
                if isinstance(found, property) or found is _ABSENT:
                    return
                self.add("attribute", value, name, found, is_outside)
                value = found


# Python's import of a module, up to where the module is there.
_LOADING = sys.modules["_frozen_importlib"]._find_and_load.__code__
_COUNTING = threads.get_num_threads.__code__
_CHANGING = {each.__code__ for each in (changes.born, changes.bump, changes.switch)}


class watched:  # noqa: N801 - used like a function
    """Run what is inside with a watch on the frames of the user's code.

    What modules do while they are imported is not the function's work: it is not recorded.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._loading = 0  # imports within each other
        self._new: list[Any] = []  # modules and parameter groups that the call makes
        self._error: Any = None

    def __enter__(self) -> None:
        self._before = sys.getprofile()
        sys.setprofile(self._see())

    def __exit__(self, *error: Any) -> None:
        if self._before is None or callable(self._before):
            sys.setprofile(self._before)
        else:
            self._before.enable()  # of cProfile, which is no function
        if self._error is not None and error[0] is None:
            raise self._error

    def _see(self) -> Callable[[Any, str, Any], None]:
        """Give the function that sees frames begin; what it finds is raised at the end."""

        def see(frame: Any, event: str, argument: Any) -> None:
            if frame.f_code is _LOADING and event in ("call", "return"):
                self._see_import(frame, event == "call")
            if frame.f_code is _COUNTING:
                self._watch.note_threads()
            if frame.f_code in _CHANGING and event == "call" and not self._loading:
                self._see_change(frame)
            if event != "call" or self._loading or not is_users(frame.f_code.co_filename):
                return
            try:
                self._watch.add_frame(frame)
            except exceptions.CaptureError as error:
                self._error = self._error or error.locate(frame.f_code.co_name, [])

        return see

    def _see_change(self, frame: Any) -> None:
        """Note where something is changed that was there before the call."""
        owner = frame.f_locals["owner"]
        if frame.f_code is changes.born.__code__:
            self._new.append(owner)
        elif owner is not None and all(owner is not each for each in self._new):
            self._watch.bumped_at = self._watch.bumped_at or exceptions.user_site()

    def _see_import(self, frame: Any, begins: bool) -> None:
        if begins and not self._loading:
            self._watch.has_loaded |= frame.f_locals.get("name") not in sys.modules
            _core.pause_recording()
        self._loading += 1 if begins else -1
        if not begins and not self._loading:
            _core.resume_recording()


_READS: dict[Any, list[tuple[str, str, tuple[str, ...]]]] = {}
_SILENT = ("CACHE", "PRECALL", "PUSH_NULL", "NOP", "COPY", "RESUME", "EXTENDED_ARG")


def reads_of(code: Any) -> list[tuple[str, str, tuple[str, ...]]]:
    """Give what code reads: ("global", "free" or "local", name, the attributes behind it)."""
    if code in _READS:
        return _READS[code]
    found: dict[tuple[str, str, tuple[str, ...]], None] = {}
    current: tuple[str, str, tuple[str, ...]] | None = None
    for each in dis.get_instructions(code):
        name = each.opname
        if current and name in ("LOAD_ATTR", "LOAD_METHOD"):
            current = (current[0], current[1], (*current[2], str(each.argval)))
            continue
        if name in _SILENT:
            continue
        if current:
            found[current] = None
        current = None
        if name in ("LOAD_GLOBAL", "LOAD_NAME"):
            current = ("global", str(each.argval), ())
        elif name in ("LOAD_DEREF", "LOAD_CLASSDEREF"):
            current = ("free", str(each.argval), ())
        elif name.startswith("LOAD_FAST"):
            last = each.argval[-1] if isinstance(each.argval, tuple) else each.argval
            current = ("local", str(last), ())
    if ("global", "getattr", ()) in found:  # by name: any text of the code may be one
        names = [each for each in code.co_consts if isinstance(each, str) and each.isidentifier()]
        for kind, name, behind in list(found):
            found.update(dict.fromkeys((kind, name, (*behind, each)) for each in names))
    _READS[code] = list(found)
    return _READS[code]


def static_attribute(owner: Any, name: str) -> Any:
    """Give an attribute without running code: of the object, of a slot, or of its classes."""
    own = getattr(owner, "__dict__", None)
    if own is not None and name in own:
        return own[name]
    for cls in (*(owner.__mro__ if isinstance(owner, type) else ()), *type(owner).__mro__):
        if name in cls.__dict__:
            found = cls.__dict__[name]
            if isinstance(found, MemberDescriptorType) or cls is FunctionType:
                return getattr(owner, name, _ABSENT)
            return found
    return _ABSENT


def is_users(file: str) -> bool:
    """Tell whether code is not of the package and not of Python's own library."""
    if file.startswith((exceptions.PACKAGE, "<frozen ")):
        return False
    return not file.startswith(_LIBRARY) or file.startswith(_INSTALLED)


def module_of(value: Any) -> str:
    """Give the name of the module that a function or a class is of."""
    name = getattr(value, "__module__", None)
    return name if isinstance(name, str) else ""


def is_ours(module: str) -> bool:
    """Tell whether a module belongs to the package."""
    return module == "tessella" or module.startswith("tessella.")


def _refuse_restless(name: str, value: Any) -> None:
    """Refuse what gives something else at each call: iterators, clocks, Python's random numbers."""
    if hasattr(value, "__next__"):
        raise capture_errors.iterator_inside(name)
    owner = getattr(value, "__self__", None)
    restless = (value, owner) if _is_random(owner) else (value,)
    for each in restless:
        kind = module_of(type(each))
        is_source = _is_random(each) or kind.startswith("numpy.random")
        is_function = not isinstance(each, type) and module_of(each) in _RESTLESS
        if is_source or is_function or kind in _RESTLESS:
            raise capture_errors.restless_inside(name)


def _is_random(value: Any) -> bool:
    """Tell whether a value is a generator of Python's, if anybody has loaded those."""
    found = sys.modules.get("random")
    return found is not None and isinstance(value, found.Random)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def items_of(value: Any, depth: int = 4) -> Any:
    """Give what a container or an array holds, to be compared; None if it cannot change."""
    if isinstance(value, tuple) and all(isinstance(each, _CONSTANT) for each in value):
        return None
    if isinstance(value, list | tuple | set | frozenset | deque):
        if len(value) <= MOST_ITEMS:
            return [(each, items_of(each, depth - 1) if depth else None) for each in value]
        return _Restless()
    if isinstance(value, dict) and not is_ours(module_of(type(value))):
        if len(value) <= MOST_ITEMS:
            below = depth - 1
            return [((k, v), items_of(v, below) if depth else None) for k, v in value.items()]
        return _Restless()
    if isinstance(value, bytearray):
        return bytes(value)
    return digest(value) if is_array(value) else None


class _Restless:
    """What a container holds that is too large to compare: never the same."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__


def is_array(value: Any) -> bool:
    """Tell whether a value is an array of NumPy or its like; not the class of such."""
    return hasattr(type(value), "__array_interface__")


def digest(array: Any) -> Any:
    """Give what tells an array from others."""
    import hashlib  # arrays are rare, and it takes long to load

    return array.shape, str(array.dtype), hashlib.blake2b(array.tobytes()).digest()


def _same_items(now: Any, items: Any) -> bool:
    if not isinstance(items, list):
        return bool(now == items)
    return isinstance(now, list) and len(now) == len(items) and all(map(_same_item, now, items))


def _same_item(now: tuple[Any, Any], before: tuple[Any, Any]) -> bool:
    return _same(now[0], before[0]) and (before[1] is None or _same_items(now[1], before[1]))


def _same(x: Any, y: Any) -> bool:
    """Compare two values: constants by their digits, tuples by their items."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if isinstance(x, float):
        return bool(x.hex() == y.hex())
    if isinstance(x, tuple):
        return len(x) == len(y) and all(map(_same, x, y))
    return isinstance(x, _CONSTANT) and bool(x == y)
