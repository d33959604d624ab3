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
import sys
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType

from tessella import _core, exceptions
from tessella.compiler.held import (
    ABSENT,
    FIELD,
    MAPPINGS,
    MOST_ITEMS,
    PARTS,
    Place,
    behind,
    is_array,
    is_constant,
    is_filled,
    is_ours,
    is_restless,
    items_of,
    layers,
    module_of,
    named_in,
    parts_of,
    static_attribute,
)
from tessella.compiler.reads import arguments_of, reads_of
from tessella.compiler.restless import (
    holds_source,
    is_clock,
    is_source,
    refuse_clock,
    refuse_restless,
)
from tessella.hints import Any
from tessella.standins import Standin

MOST_REACHED = 10_000  # objects behind names and in containers
UNWATCHED = ("retains_grad", "grad_fn")  # of a tensor
Tensor = _core.Tensor


class Watch:
    """Places in Python that a function reads."""

    def __init__(self, function: Any) -> None:
        self._places: dict[tuple[str, int, str], Place] = {}
        self._functions: dict[Any, list[Any]] = {}  # by their code: whose closures are watched
        self._reached: dict[int, Any] = {}  # objects that names lead to, by their ids
        self._walked: dict[int, Any] = {}  # containers that were looked through, likewise
        self._owners: dict[int, Any] = {}  # objects whose methods are called by name, likewise
        self.has_missed = False  # there were more than are looked at
        self._loose: set[str] = set()  # attributes that are read of some of them
        self._is_inside = False  # the outermost frame of the user's was seen
        # Codes of functions that are made in the call, with their variables that are not.
        self._made: dict[Any, set[str]] = {}
        self._sought: dict[Any, list[Any]] = {}  # by their code: who refers to it
        self._methods: set[tuple[type, CodeType]] = set()  # that were looked for in classes
        self._owner = getattr(function, "__self__", None)  # of a method that is compiled
        self.has_loaded = False  # a module was imported in the call
        self._rest: list[Place] = []  # that the core cannot look at
        self._threads: int | None = None  # how many there were, if the call asks
        self.bumped_at = ""  # the line that changed a module or a parameter group
        self.raised: list[exceptions.TessellaError] = []  # in the call; it may have caught them
        self.restless = ""  # what may hold something that gives something else at each call
        self._is_by_name = False  # attributes are read by names that are computed
        self._is_by_type = False  # attributes are read of types of objects
        self._add_function(function)

    def holds(self, is_rest: bool = False) -> bool:
        """Tell whether everything is as it was; or only what the core does not look at itself."""
        if self._threads not in (None, _core.num_threads()):
            return False
        return all(place.holds() for place in (self._rest if is_rest else self._places.values()))

    def changed(self, how: str) -> str:
        """Name something that is not as it was, and say so; nothing if there is no such thing."""
        if self._threads not in (None, _core.num_threads()):
            return f"get_num_threads(), which is changed {how}"
        for place in self._places.values():
            if place.holds():
                continue
            name = place.name
            if place.kind == "attribute":
                name = f"{getattr(place.holder, '__name__', type(place.holder).__name__)}.{name}"
            if is_restless(place.items):
                return f"{name}, which holds more than {MOST_ITEMS} items, or too deep ones"
            return f"{name}, which is changed {how}"
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
            refuse_restless(name, value)
        elif is_source(value):
            self.restless = self.restless or name
            return
        self._places[key] = place = Place(kind, holder, name, value)
        self._add_function(value)
        for each in parts_of(value) or () if isinstance(place.items, list) else ():
            self._add_function(each)
        if holds_source(value):
            self.restless = self.restless or name

    def add_frame(self, frame: Any) -> None:
        """Keep what the code of a frame reads."""
        code, locals_ = frame.f_code, frame.f_locals
        reads, arguments = reads_of(code), arguments_of(code)
        is_outermost, self._is_inside = not self._is_inside, True
        free = self._made.get(code, set(code.co_freevars))  # those that are made outside
        # Functions that are made in the call have variables that are made in it, too.
        self._made |= {each: free for each in code.co_consts if isinstance(each, CodeType)}
        if arguments and code not in self._made:
            self._add_method(locals_.get(arguments[0]), code)
        if code.co_freevars:
            self._find_function(frame)
        is_new = reads.is_by_name and not self._is_by_name
        self._is_by_name |= reads.is_by_name
        self._add_loose(reads.loose - self._loose, is_new)
        if reads.is_by_type and not self._is_by_type:
            self._is_by_type = True
            for each in list(self._reached.values()):
                self._reach_bases(each)
        for each in UNWATCHED:
            if each in reads.loose or any(each in chain[-1] for chain in reads.chains):
                self.restless = self.restless or each
        for kind, name, attributes in reads.chains:
            if (kind, name) == ("global", "super"):
                self._reach_bases(locals_.get(arguments[0]) if arguments else None)
            if kind == "global":
                value = frame.f_globals.get(name, ABSENT)
                if value is not ABSENT or name not in frame.f_builtins:
                    self.add("dict", frame.f_globals, name, value)
            elif kind == "import":
                value = imported(name, frame.f_globals)
                if value is None:
                    continue
            elif name in locals_ and (kind == "free" or (kind == "local" and name in arguments)):
                value = locals_[name]
            else:
                continue
            is_known = id(value) in self._reached or id(value) in self._owners
            is_given = kind == "local" and (is_outermost or is_known)
            is_outside = kind in ("global", "import") or (kind == "free" and name in free)
            is_outside |= value is self._owner
            end = self._follow(value, attributes, is_outside, is_given)
            if is_outside or is_given:  # else it may be made in the call
                self._reach(end, is_outside)

    def values(self) -> list[Any]:
        """Give what stands in the places, and what modules that stand there hold."""
        found = [place.value for place in self._places.values()]
        modules = [part for each in found if _is_module(each) for part in each.modules()]
        return [*found, *map(vars, modules)]

    def end(self) -> None:
        """Let go of what only a call that is recorded needs."""
        for held in (self._reached, self._walked, self._owners, self._sought, self._functions):
            held.clear()
        self._made.clear()
        self._methods.clear()

    def note_threads(self) -> None:
        """Keep how many threads there are."""
        if self._threads is None:
            self._threads = _core.num_threads()

    def _add_function(self, value: Any) -> None:
        """Keep the variables around a function, its code and its defaults."""
        while isinstance(value, partial):
            for name, given in value.keywords.items():
                self.add("dict", value.keywords, name, given)
            for given in value.args:
                if items_of(given) is not None:
                    self.add("itself", given, "args", given)
            value = value.func
        for each in behind(value):
            if items_of(each) is not None:
                self.add("itself", each, "__self__", each)
        function = _plain(value)
        if is_ours(module_of(type(function))):  # a compiled function
            *_, function = layers(function)
        if not isinstance(function, FunctionType):
            return
        known = self._functions.setdefault(function.__code__, [])
        if any(each is function for each in known):
            return
        known.append(function)
        if isinstance(value, MethodType):
            refuse_restless(function.__name__, value.__self__)
        is_own = function.__code__.co_filename.startswith(exceptions.PACKAGE)
        if not is_own:
            self._reach(function, True)
        for name in () if is_own else PARTS:
            self.add("attribute", function, name, getattr(function, name))
        names = function.__code__.co_freevars
        for name, cell in zip(names, function.__closure__ or (), strict=True):
            value = cell.cell_contents if is_filled(cell) else ABSENT
            if is_own:  # its variables stay; functions of the user among them are watched
                self._add_function(value)
            else:
                self.add("cell", cell, name, value)

    def _add_method(self, owner: Any, code: CodeType) -> None:
        """Keep what a class has as a method, and its defaults: nobody may name it."""
        kind = owner if isinstance(owner, type) else type(owner)
        if (kind, code) in self._methods:
            return
        self._methods.add((kind, code))
        for cls in kind.__mro__:
            if is_ours(module_of(cls)) or module_of(cls) == "builtins":
                continue
            names = (code.co_name,) if code.co_name in vars(cls) else tuple(vars(cls))
            for name in names:
                found = vars(cls)[name]
                function = next((x for x in layers(found) if _has_code(x, code)), None)
                if function is not None:
                    self.add("attribute", cls, name, found)
                    self._add_function(function)
                    return

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
            function = _plain(value)
            is_one = isinstance(function, FunctionType) and function.__code__ is frame.f_code
            if is_one and _is_of(function, frame):
                self._add_function(value)

    def _follow(
        self, value: Any, attributes: tuple[str, ...], is_outside: bool, is_given: bool
    ) -> Any:
        """Keep what the attributes behind a name are; give what the last one is, if it is known.

        What is neither from outside nor given to the call may be made in it.
        """
        for at, name in enumerate(attributes):
            if isinstance(value, Standin):  # whose attributes are those of what it stands for
                value = value.function
            if (is_outside or is_given) and parts_of(value) is not None:
                self._reach(value, is_outside)  # a method of a container gives what it holds
            if isinstance(value, ModuleType):
                found = getattr(value, name, ABSENT)
                refuse_clock(value, name)
                if is_ours(value.__name__) or found is ABSENT:
                    return None
                self.add("dict", vars(value), name, found)
                value = found
                continue
            refuse_clock(value, name)
            if name == "__class__":
                value = type(value)
                continue
            if name == "__dict__":  # all of its own, by computed names
                return value
            if isinstance(value, Tensor) and (at or is_outside):
                self._add_state(value, name)
            found = static_attribute(value, name)
            if is_ours(module_of(type(value))) and not _is_users(value, name, found):
                return value
            if _is_computed(found):  # its code is seen; what it gives has no name
                self._add_loose(set(attributes[at + 1 :]) - self._loose)
                self._reach(found, is_outside)
                return value
            if found is not ABSENT or is_outside or is_given:
                self.add("attribute", value, name, found, is_outside)
            if found is ABSENT:  # code of its class may give it, which reads what it has
                self._add_loose(set(attributes[at + 1 :]) - self._loose)
                return value
            if isinstance(found, FunctionType) and (is_outside or is_given):
                self._owners[id(value)] = value
            value = found
        return value

    def _add_state(self, x: Any, name: str) -> None:
        """Keep what Python reads of a tensor that is not an argument."""
        if name in ("requires_grad", "requires_grad_"):
            self.add("tensor", x, "requires_grad", x.requires_grad)
        elif name == "is_leaf":
            self.add("tensor", x, "is_leaf", x.is_leaf)
        elif name in getattr(x, "__dict__", ()):
            self.add("attribute", x, name, x.__dict__[name])

    def _reach(self, value: Any, is_outside: bool) -> None:
        """Look at an object, and at those in a container, for attributes that code reads of some.

        Of modules of the package, which count changes of their own, what they hold is looked at;
        of tensors that are no arguments, whether they need gradients.
        """
        todo = [value]
        while todo:
            value = todo.pop()
            if id(value) in self._reached or id(value) in self._walked:
                continue
            parts = parts_of(value)
            if parts is None:
                todo += behind(value)
            todo += _hooked(value)
            if parts is None and _is_module(value) and is_ours(module_of(type(value))):
                parts = [*vars(value).values(), *self._look(value, self._loose)]
            is_seen = _has_attributes(value) or (is_outside and isinstance(value, Tensor))
            if parts is not None:
                if len(parts) > MOST_ITEMS:  # from outside, it is a place that never holds
                    self.has_missed |= not is_outside and any(map(_has_attributes, parts))
                    continue
                self._walked[id(value)] = value
                keys = value if isinstance(value, MAPPINGS) else ()
                todo += [each for each in (*parts, *keys) if not is_constant(each)]
                if _has_own(value):
                    todo += self._look(value, self._loose)
            elif is_seen and len(self._reached) >= MOST_REACHED:
                self.has_missed = True
                return
            elif is_seen:
                self._reached[id(value)] = value
                todo += self._look(value, self._loose)
                if self._is_by_type:
                    self._reach_bases(value)

    def _reach_bases(self, owner: Any) -> None:
        """Look at the classes that `super()` gives attributes of."""
        for each in (owner if isinstance(owner, type) else type(owner)).__mro__:
            self._reach(each, True)

    def _look(self, value: Any, names: set[str]) -> list[Any]:
        """Keep some attributes of an object that has them, and give them."""
        found = []
        if self._is_by_name and not isinstance(value, ModuleType | Tensor):
            names = names.union(named_in(value))
            self._add_own(value)
        for name in names:
            if isinstance(value, Tensor):
                self._add_state(value, name)
                found += [own[name]] if name in (own := getattr(value, "__dict__", {})) else []
                continue
            own = static_attribute(value, name)
            if own is not ABSENT and is_clock(value, name):
                self.restless = self.restless or name
            is_method = isinstance(value, type | ModuleType) and callable(own)
            if own is ABSENT or _is_computed(own) or is_method:
                continue
            if is_ours(module_of(type(value))) and not _is_users(value, name, own):
                continue
            holder = vars(value) if isinstance(value, ModuleType) else value
            kind = "attribute" if holder is value else "dict"
            self.add(kind, holder, name, own, is_outside=False)
            found.append(own)
        return found

    def _add_own(self, value: Any) -> None:
        """Keep which attributes an object has of its own: others may come that are asked for."""
        own = getattr(value, "__dict__", None)
        if type(own) is dict and not is_ours(module_of(type(value))):
            self.add("names", value, "__dict__", tuple(own), is_outside=False)

    def _add_loose(self, names: set[str], is_by_name: bool = False) -> None:
        """Look for attributes that nobody has read so far at all objects that were reached."""
        self._loose |= names
        known = [*self._reached.values(), *filter(_is_module, self._walked.values())]
        for value in known if names or is_by_name else ():
            for each in self._look(value, names):
                self._reach(each, False)


def _is_of(function: Any, frame: Any) -> bool:
    """Tell whether a frame can be one of a function: the variables around it are the same."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return all(
        (cell.cell_contents if is_filled(cell) else ABSENT) is frame.f_locals.get(name, ABSENT)
        for name, cell in cells
    )


def _has_code(value: Any, code: CodeType) -> bool:
    """Tell whether a value is a function of some code."""
    return isinstance(value, FunctionType) and value.__code__ is code


def _has_attributes(value: Any) -> bool:
    """Tell whether a value is an object of the user's with attributes: no tensor, no array."""
    if isinstance(value, (Tensor, MethodType)) or is_constant(value) or is_array(value):
        return False
    owner = value if isinstance(value, type) else type(value)
    if isinstance(value, ModuleType):
        return not is_ours(value.__name__)
    if is_ours(module_of(owner)) or module_of(owner) == "builtins":
        return isinstance(value, FunctionType) and bool(vars(value))
    return hasattr(value, "__dict__") or hasattr(owner, "__slots__")


def _is_computed(found: Any) -> bool:
    """Tell whether an attribute is what code gives: a property, or a descriptor of the user's."""
    if isinstance(found, property):
        return True
    kind = type(found)
    is_plain = isinstance(found, type) or kind.__module__ in ("builtins", "functools")
    return hasattr(kind, "__get__") and not is_plain and not isinstance(found, FIELD)


def _is_users(value: Any, name: str, found: Any) -> bool:
    """Tell whether an attribute of a module of the package is an object that its user put there."""
    if isinstance(value, Tensor):
        return getattr(value, "__dict__", {}).get(name, ABSENT) is found
    if not _is_module(value) or vars(value).get(name, ABSENT) is not found:
        return False
    is_own = is_ours(module_of(type(found))) or name in _KEPT
    return not is_own and (parts_of(found) is not None or _has_attributes(found))


# What modules of the package keep for themselves: changes of it are counted.
_KEPT = ("_hooks", "_persistence")


def _has_own(value: Any) -> bool:
    """Tell whether a container has attributes beside what it holds."""
    return bool(getattr(value, "__dict__", None)) and not is_ours(module_of(type(value)))


def _is_module(value: Any) -> bool:
    """Tell whether a value is a module of `nn`, if anybody has loaded those."""
    found = sys.modules.get("tessella.nn.walks")
    return found is not None and isinstance(value, found.Owner)


def _hooked(value: Any) -> list[Any]:
    """Give the hooks of a module, or of a leaf."""
    hooks = None
    if _is_module(value):
        hooks = value._hooks
    elif isinstance(value, Tensor):
        hooks = _core.leaf_hooks(value)
    return [] if hooks is None else list(hooks.functions())


def imported(name: str, own: dict[str, Any]) -> Any:
    """Give a module by its name in an import, of code with these globals; None if there is none."""
    level = len(name) - len(name.lstrip("."))
    if level:
        package = str(own.get("__package__") or "").rsplit(".", level - 1)[0]
        name = f"{package}.{name[level:]}".rstrip(".")
    return sys.modules.get(name)


def _plain(value: Any) -> Any:
    """Give the function of a method; everything else as it is."""
    return value.__func__ if isinstance(value, MethodType) else value
