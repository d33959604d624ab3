"""watch: what a function reads in Python beyond its arguments, so that a change of it is noticed.

While a call is recorded, every frame of the user's code is seen. Its instructions tell which
globals it reads, which variables of the functions around it, and which attributes of those and of
its arguments. An attribute of something without a name (an item, what a local name stands for) is
looked for at all objects that names lead to, and at those in their containers. What they were is
kept; a program is only repeated while they are the same (held.py). Modules and optimizers of the
package count their changes themselves.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from collections import namedtuple
from functools import partial
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType

from tessella import _core, changes, exceptions, threads
from tessella.compiler import capture_errors
from tessella.compiler.held import (
    CONSTANT,
    MOST_ITEMS,
    Restless,
    is_array,
    is_ours,
    items_of,
    module_of,
    parts_of,
    same,
    same_items,
)
from tessella.compiler.reads import arguments_of, reads_of
from tessella.hints import Any, Callable

MOST_REACHED = 10_000  # objects behind names and in containers
_ABSENT = object()
_FIELD: Any = type(vars(namedtuple("Fields", "one"))["one"])  # of named tuples
Tensor = _core.Tensor
_DEFAULTS = ("__defaults__", "__kwdefaults__")
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_INSTALLED = _LIBRARY + "site-packages" + os.sep
# Modules whose functions give something else at each call, and methods of their classes.
_RESTLESS = ("_random", "datetime", "numpy.random", "random", "secrets", "time", "uuid")
_CLOCKS = ("now", "today", "utcnow")


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
        elif self.kind == "itself":
            now = self.holder
        elif self.kind == "tensor":
            now = getattr(self.holder, self.name)
        elif self.kind == "cell":
            now = self.holder.cell_contents if _is_filled(self.holder) else _ABSENT
        else:
            now = static_attribute(self.holder, self.name)
        if now is not self.value and not same(now, self.value):
            return False
        return self.items is None or same_items(items_of(now), self.items)

    def exported(self) -> list[tuple[Any, ...]]:
        """Give what the core can look at: who holds what, lists with their items; or nothing."""
        own = self.holder if self.kind == "dict" else None
        if self.kind == "attribute":
            own = getattr(self.holder, "__dict__", None)
        found: list[tuple[Any, ...]] = []
        if self.value is _ABSENT:
            return found
        if self.kind == "cell":
            found = [(self.holder, None, self.value)]
        elif self.name in _DEFAULTS and isinstance(self.holder, FunctionType):
            found = [(self.holder, self.name, self.value)]
        elif type(own) is dict and own.get(self.name, _ABSENT) is self.value:
            found = [(own, self.name, self.value)]
        if self.items is None:
            return found
        is_known = type(self.value) is list and isinstance(self.items, list)
        is_known &= bool(found) or self.kind == "itself"
        if not is_known or any(below is not None for _, below in self.items):
            return []
        return [*found, (self.value, None, tuple(each for each, _ in self.items))]


class Watch:
    """Places in Python that a function reads."""

    def __init__(self, function: Any) -> None:
        self._places: dict[tuple[str, int, str], Place] = {}
        self._functions: dict[Any, list[Any]] = {}  # by their code: whose closures are watched
        self._reached: dict[int, Any] = {}  # objects that names lead to, by their ids
        self._loose: set[str] = set()  # attributes that are read of some of them
        self._is_inside = False  # the outermost frame of the user's was seen
        self._made: set[Any] = set()  # codes of functions that are made in the call
        self._sought: dict[Any, list[Any]] = {}  # by their code: who refers to it
        self._owner = getattr(function, "__self__", None)  # of a method that is compiled
        self.has_loaded = False  # a module was imported in the call
        self._rest: list[Place] = []  # that the core cannot look at
        self._threads: int | None = None  # how many there were, if the call asks
        self.bumped_at = ""  # the line that changed a module or a parameter group
        self._add_function(function)

    def holds(self, is_rest: bool = False) -> bool:
        """Tell whether everything is as it was; or only what the core does not look at itself."""
        if self._threads not in (None, _core.num_threads()):
            return False
        return all(place.holds() for place in (self._rest if is_rest else self._places.values()))

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
            if isinstance(place.items, Restless):
                return f"{name}, which holds more than {MOST_ITEMS} items: they are not compared"
            return f"{name}, which is changed"
        return ""

    def has_toggled(self) -> bool:
        """Tell whether a tensor needs gradients now and did not when the call began, or reverse."""
        return any(not each.holds() for each in self._places.values() if each.kind == "tensor")

    def exported(self) -> tuple[list[tuple[Any, ...]], bool]:
        """Give the places that the core can look at itself, and whether there are others."""
        found: list[tuple[Any, ...]] = []
        self._rest = []
        for place in self._places.values():
            rows = place.exported()
            found += rows
            if not rows:
                self._rest.append(place)
        return found, bool(self._rest) or self._threads is not None

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
        reads, arguments = reads_of(code), arguments_of(code)
        is_outermost, self._is_inside = not self._is_inside, True
        for name in reads.imports:
            if name in _RESTLESS:
                raise capture_errors.restless_inside(name)
        # Functions that are made in the call have variables that are made in it, too.
        self._made.update(each for each in code.co_consts if isinstance(each, CodeType))
        if code.co_freevars:
            self._find_function(frame)
        self._add_loose(reads.loose - self._loose)
        for kind, name, attributes in reads.chains:
            if kind == "global":
                value = frame.f_globals.get(name, _ABSENT)
                if value is not _ABSENT or name not in frame.f_builtins:
                    self.add("dict", frame.f_globals, name, value)
            elif name in locals_ and (kind == "free" or (kind == "local" and name in arguments)):
                value = locals_[name]
            else:
                continue
            end = self._follow(value, attributes, kind != "local" or value is self._owner)
            if kind != "local" or is_outermost:  # else it may be made in the call
                self._reach(end)

    def end(self) -> None:
        """Let go of what only a call that is recorded needs."""
        self._reached.clear()
        self._sought.clear()

    def note_threads(self) -> None:
        """Keep how many threads there are."""
        if self._threads is None:
            self._threads = _core.num_threads()

    def _add_function(self, value: Any) -> None:
        """Keep the variables around a function, and its defaults."""
        while isinstance(value, partial):
            for name, given in value.keywords.items():
                self.add("dict", value.keywords, name, given)
            for given in value.args:
                if items_of(given) is not None:
                    self.add("itself", given, "args", given)
            value = value.func
        function = getattr(value, "__func__", value)
        if not isinstance(function, FunctionType):
            return
        known = self._functions.setdefault(function.__code__, [])
        if any(each is function for each in known):
            return
        known.append(function)
        if isinstance(value, MethodType):
            _refuse_restless(function.__name__, value.__self__)
        is_own = function.__code__.co_filename.startswith(exceptions.PACKAGE)
        for name in () if is_own else _DEFAULTS:
            self.add("attribute", function, name, getattr(function, name))
        names = function.__code__.co_freevars
        for name, cell in zip(names, function.__closure__ or (), strict=True):
            value = cell.cell_contents if _is_filled(cell) else _ABSENT
            if is_own:  # its variables stay; functions of the user among them are watched
                self._add_function(value)
            else:
                self.add("cell", cell, name, value)

    def _find_function(self, frame: Any) -> None:
        """Find the function of a frame whose code reads variables around it."""
        code = frame.f_code
        if code in self._made or self._knows(frame):
            return
        near = list(frame.f_back.f_locals.values()) if frame.f_back else []
        if code.co_argcount:  # a method
            owner = type(frame.f_locals.get(code.co_varnames[0]))
            near.append(getattr(owner, code.co_name, None))
        self._take(near, frame)
        if self._knows(frame):
            return
        if code not in self._sought:  # once: all objects that there are have to be looked at
            found = gc.get_referrers(code)
            self._sought[code] = [each for each in found if isinstance(each, FunctionType)]
        self._take(self._sought[code], frame)

    def _knows(self, frame: Any) -> bool:
        """Tell whether the function of a frame is watched."""
        return any(_is_of(each, frame) for each in self._functions.get(frame.f_code, ()))

    def _take(self, values: list[Any], frame: Any) -> None:
        """Watch those of some values that can be the function of a frame."""
        for value in values:
            if getattr(value, "__code__", None) is frame.f_code and _is_of(value, frame):
                self._add_function(value)

    def _follow(self, value: Any, attributes: tuple[str, ...], is_outside: bool) -> Any:
        """Keep what the attributes behind a name are; give what the last one is, if it is known."""
        for at, name in enumerate(attributes):
            if isinstance(value, ModuleType):
                if value.__name__ in _RESTLESS:
                    raise capture_errors.restless_inside(f"{value.__name__}.{name}")
                if is_ours(value.__name__) or not hasattr(value, name):
                    return None
                self.add("dict", vars(value), name, getattr(value, name))
                value = getattr(value, name)
                continue
            if isinstance(value, type) and module_of(value) in _RESTLESS and name in _CLOCKS:
                raise capture_errors.restless_inside(f"{value.__name__}.{name}")
            if isinstance(value, Tensor) and (at or is_outside):
                self._add_state(value, name)
            if is_ours(module_of(type(value))):
                return value
            found = static_attribute(value, name)
            if isinstance(found, property):
                return None
            self.add("attribute", value, name, found, is_outside)
            if found is _ABSENT:
                return None
            value = found
        return value

    def _add_state(self, x: Any, name: str) -> None:
        """Keep what Python reads of a tensor that is not an argument."""
        if name in ("requires_grad", "requires_grad_"):
            self.add("tensor", x, "requires_grad", x.requires_grad)
        elif name in getattr(x, "__dict__", ()):
            self.add("attribute", x, name, x.__dict__[name])

    def _reach(self, value: Any) -> None:
        """Look at an object, and at those in a container, for attributes that code reads of some.

        Of modules of the package, which count changes of their own, what they hold is looked at.
        """
        todo = [value]
        seen: dict[int, Any] = {}  # they are held, so that no other gets their ids
        while todo and len(self._reached) + len(seen) < MOST_REACHED:
            value = todo.pop()
            if id(value) in self._reached or id(value) in seen:
                continue
            parts = parts_of(value)
            if parts is None and _is_module(value) and is_ours(module_of(type(value))):
                parts = list(vars(value).values())
            if parts is not None:
                seen[id(value)] = value
                todo += parts if len(parts) <= MOST_ITEMS else ()
            elif _has_attributes(value):
                self._reached[id(value)] = value
                todo += self._look(value, self._loose)

    def _look(self, value: Any, names: set[str]) -> list[Any]:
        """Keep some attributes of an object that has them, and give them."""
        found = []
        for name in names:
            own = static_attribute(value, name)
            if own is not _ABSENT and not isinstance(own, property):
                self.add("attribute", value, name, own, is_outside=False)
                found.append(own)
        return found

    def _add_loose(self, names: set[str]) -> None:
        """Look for attributes that nobody has read so far at all objects that were reached."""
        self._loose |= names
        for value in list(self._reached.values()) if names else ():
            for each in self._look(value, names):
                self._reach(each)


def _is_of(function: Any, frame: Any) -> bool:
    """Tell whether a frame can be one of a function: the variables around it are the same."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return all(
        (cell.cell_contents if _is_filled(cell) else _ABSENT) is frame.f_locals.get(name, _ABSENT)
        for name, cell in cells
    )


def _has_attributes(value: Any) -> bool:
    """Tell whether a value is an object of the user's with attributes: no tensor, no function."""
    kinds = (*CONSTANT, Tensor, type, ModuleType, FunctionType, MethodType)
    if isinstance(value, kinds) or is_array(value) or is_ours(module_of(type(value))):
        return False
    return hasattr(value, "__dict__") or hasattr(type(value), "__slots__")


def _is_module(value: Any) -> bool:
    """Tell whether a value is a module of `nn`, if anybody has loaded those."""
    found = sys.modules.get("tessella.nn.walks")
    return found is not None and isinstance(value, found.Owner)


# Python's import of a module, up to where the module is there.
_LOADING = sys.modules["_frozen_importlib"]._find_and_load.__code__
_COUNTING = threads.get_num_threads.__code__
_CHANGING = {each.__code__ for each in (changes.born, changes.bump, changes.switch)}


class watched:  # noqa: N801 - used like a function
    """Run what is inside with a watch on the frames of the user's code.

    What modules do while they are imported is not the function's work, nor is what others do while
    garbage is collected: it is not recorded.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._loading = 0  # imports within each other, and callbacks of the collector
        self._collecting = {getattr(each, "__code__", None) for each in gc.callbacks}
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
        self._watch.end()
        if self._error is not None and error[0] is None:
            raise self._error

    def _see(self) -> Callable[[Any, str, Any], None]:
        """Give the function that sees frames begin; what it finds is raised at the end."""

        def see(frame: Any, event: str, argument: Any) -> None:
            if frame.f_code is _LOADING and event in ("call", "return"):
                self._see_import(frame, event == "call")
            if frame.f_code in self._collecting and event in ("call", "return"):
                self._leave_out(event == "call")
                return
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
        self._leave_out(begins)

    def _leave_out(self, begins: bool) -> None:
        """Record nothing up to the end of what is not the function's work."""
        if begins and not self._loading:
            _core.pause_recording()
        self._loading += 1 if begins else -1
        if not begins and not self._loading:
            _core.resume_recording()


def static_attribute(owner: Any, name: str) -> Any:
    """Give an attribute without running code: of the object, of a slot, or of its classes."""
    own = getattr(owner, "__dict__", None)
    if own is not None and name in own:
        return own[name]
    for cls in (*(owner.__mro__ if isinstance(owner, type) else ()), *type(owner).__mro__):
        if name in cls.__dict__:
            found = cls.__dict__[name]
            if isinstance(found, MemberDescriptorType | _FIELD) or cls is FunctionType:
                return getattr(owner, name, _ABSENT)
            return found
    return _ABSENT


def is_users(file: str) -> bool:
    """Tell whether code is not of the package and not of Python's own library."""
    if file.startswith((exceptions.PACKAGE, "<frozen ")):
        return False
    return not file.startswith(_LIBRARY) or file.startswith(_INSTALLED)


def _refuse_restless(name: str, value: Any) -> None:
    """Refuse what gives something else at each call: iterators, clocks, Python's random numbers."""
    if hasattr(value, "__next__") and not _takes_text(value):
        raise capture_errors.iterator_inside(name)
    owner = getattr(value, "__self__", None)
    restless = (value, owner) if _is_random(owner) else (value,)
    for each in restless:
        kind = module_of(type(each))
        is_source = _is_random(each) or kind.startswith("numpy.random") or each is os.urandom
        is_function = not isinstance(each, type) and module_of(each) in _RESTLESS
        if is_source or is_function or kind in _RESTLESS:
            raise capture_errors.restless_inside(name)


def _takes_text(value: Any) -> bool:
    """Tell whether a value is a file to write into: an iterator too, but it is not read."""
    is_closed_to_writes = isinstance(value, io.IOBase) and not value.closed and not value.writable()
    return hasattr(value, "write") and not is_closed_to_writes


def _is_random(value: Any) -> bool:
    """Tell whether a value is a generator of Python's, if anybody has loaded those."""
    found = sys.modules.get("random")
    return found is not None and isinstance(value, found.Random)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
