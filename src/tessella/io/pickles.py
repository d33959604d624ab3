"""A machine for pickles that can make containers, numbers and text, and what it is told to.

Pickle is a language for a machine with a stack. Python's own machine can name any function and call
it; this one knows the names in a table, and a name that is not there ends it. It reads protocols 2
to 5, keeps nothing that is larger than what it was given, and calls nothing but the table's
functions: each says what it costs, so that a short pickle cannot have much work done.
"""

from __future__ import annotations

import struct

from tessella.dtypes import DType
from tessella.hints import Any, Callable, NoReturn
from tessella.io import file_errors

_KEYS = (str, int, float, bytes, complex, DType)  # bool is an int


class Builder:
    """What a name of the table stands for: a function that is called in its place, or a class."""

    def __init__(self, name: str, build: Callable[..., Any] | None) -> None:
        self.name = name
        self.build = build

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Machine:
    """Runs one pickle.

    `find` gives what a global stands for, or None; `load` gives what a persistent id stands for.
    """

    def __init__(
        self, data: bytes, name: str, find: Callable[[str, str], Any], load: Callable[[Any], Any]
    ) -> None:
        self.data = data
        self.name = name  # of the file
        self.find = find
        self.load = load
        self.place = 0
        self.began = 0  # where the opcode that runs stands
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self.credit = 8 * len(data) + 1000  # items that builders may still handle
        self.copies = 0  # bytes of tensors that they may still copy

    def run(self) -> Any:
        """Run to the end; give the object."""
        while True:
            self.began = self.place
            code = self.take(1)[0]
            if code == 0x2E:  # STOP
                break
            step = _STEPS.get(code)
            if step is None:
                self.fail(f"opcode {bytes([code])!r} is none that containers and tensors need")
            step(self)
        if len(self.stack) != 1 or self.marks or self.place != len(self.data):
            self.fail("it ends with something left over")
        return self.pop()

    def fail(self, why: str) -> NoReturn:
        """Refuse the pickle at the opcode that runs."""
        raise file_errors.bad_pickle(self.name, self.began, why)

    def spend(self, count: int) -> None:
        """Count items that a builder handles."""
        self.credit -= count
        if self.credit < 0:
            self.fail("it would build much more than it holds")

    def spend_bytes(self, count: int) -> None:
        """Count bytes of tensors that a builder copies."""
        self.copies -= count
        if self.copies < 0:
            self.fail("it would copy much more than the file holds")

    # --- bytes and values ------------------------------------------------------------------------

    def take(self, count: int) -> bytes:
        """Read bytes."""
        start, self.place = self.place, self.place + count
        if self.place > len(self.data):
            self.fail("it ends in the middle of an opcode")
        return self.data[start : self.place]

    def number(self, count: int) -> int:
        """Read a length or a place."""
        return int.from_bytes(self.take(count), "little")

    def line(self) -> str:
        """Read text up to the end of a line."""
        end = self.data.find(b"\n", self.place, self.place + 1000)
        if end < 0:
            self.fail("a name has no end")
        return self.text(self.take(end + 1 - self.place)[:-1])

    def text(self, raw: bytes) -> str:
        """Decode text."""
        try:
            return raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            self.fail("its text is no UTF-8")

    def push(self, value: Any) -> None:
        """Put a value on the stack."""
        self.stack.append(value)

    def pop(self) -> Any:
        """Take a value off the stack."""
        floor = self.marks[-1] if self.marks else 0
        if len(self.stack) <= floor:
            self.fail("it takes a value where there is none")
        return self.stack.pop()

    def top(self) -> Any:
        """Look at the last value."""
        value = self.pop()
        self.stack.append(value)
        return value

    def pop_marked(self) -> list[Any]:
        """Take the values since the last mark."""
        if not self.marks:
            self.fail("it goes back to a mark where there is none")
        start = self.marks.pop()
        values = self.stack[start:]
        del self.stack[start:]
        return values

    # --- what opcodes do -------------------------------------------------------------------------

    def mark(self) -> None:
        """Remember where the stack ends."""
        self.marks.append(len(self.stack))

    def get(self, count: int) -> None:
        """Give a value that was remembered."""
        key = self.number(count)
        if key not in self.memo:
            self.fail("it asks for what it has not remembered")
        self.push(self.memo[key])

    def put(self, count: int) -> None:
        """Remember a value."""
        self.memo[self.number(count)] = self.top()

    def append(self, values: list[Any]) -> None:
        """Put values at the end of a list."""
        target = self.top()
        if type(target) is not list:
            self.fail("it appends to what is no list")
        target.extend(values)

    def set_items(self, flat: list[Any]) -> None:
        """Put keys and values into a dict."""
        target = self.top()
        if not isinstance(target, dict) or len(flat) % 2:
            self.fail("it sets items of what is no dict")
        for i in range(0, len(flat), 2):
            self.check_key(flat[i])
            target[flat[i]] = flat[i + 1]

    def check_key(self, key: Any) -> None:
        """Refuse keys whose hash may take long, or that have none."""
        parts = key if type(key) is tuple else (key,)
        self.spend(len(parts))
        if not all(part is None or isinstance(part, _KEYS) for part in parts):
            self.fail("the key of a dict or set is no plain value")

    def add_items(self, values: list[Any]) -> None:
        """Put values into a set."""
        target = self.top()
        if type(target) is not set:
            self.fail("it adds to what is no set")
        for value in values:
            self.check_key(value)
            target.add(value)

    def find_global(self, module: Any, name: Any) -> None:
        """Give what a name stands for in the table."""
        if not isinstance(module, str) or not isinstance(name, str):
            self.fail("the name of a global is no text")
        found = self.find(module, name)
        if found is None:
            raise file_errors.refused_global(self.name, self.began, f"{module}.{name}")
        self.push(found)

    def reduce(self) -> None:
        """Call a builder."""
        arguments, builder = self.pop(), self.pop()
        if not isinstance(builder, Builder) or builder.build is None:
            self.fail("it calls what cannot be called")
        if type(arguments) is not tuple:
            self.fail("it calls with something that is no tuple")
        try:
            self.push(builder.build(self, *arguments))
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, file_errors.FormatError):
                raise
            self.fail(f"the arguments of {builder.name} are none that it takes")

    def build(self) -> None:
        """Set the attributes of an object: those of PyTorch's state dicts say nothing we need."""
        state = self.pop()
        if not isinstance(self.top(), dict) or not isinstance(state, dict):
            self.fail("it sets the attributes of an object")

    def skip_frame(self) -> None:
        """Go past the length of a frame."""
        self.number(8)

    def check_protocol(self) -> None:
        """Refuse protocols that this machine does not know."""
        if not 2 <= self.number(1) <= 5:
            self.fail("its protocol is not one of 2 to 5")


def _signed(raw: bytes) -> int:
    return int.from_bytes(raw, "little", signed=True)


def _tuple_of(count: int) -> Callable[[Machine], None]:
    def make(m: Machine) -> None:
        m.push(tuple([m.pop() for _ in range(count)][::-1]))

    return make


def _global_by_line(m: Machine) -> None:
    m.find_global(m.line(), m.line())


def _global_by_stack(m: Machine) -> None:
    name, module = m.pop(), m.pop()
    m.find_global(module, name)


def _set_item(m: Machine) -> None:
    value, key = m.pop(), m.pop()
    m.set_items([key, value])


def _frozen(m: Machine) -> None:
    values = m.pop_marked()
    for value in values:
        m.check_key(value)
    m.push(frozenset(values))


def _memoize(m: Machine) -> None:
    m.memo[len(m.memo)] = m.top()


_STEPS: dict[int, Callable[[Machine], Any]] = {
    ord(key): step
    for key, step in {
        "\x80": Machine.check_protocol,
        "\x95": Machine.skip_frame,
        "(": Machine.mark,
        "0": Machine.pop,
        "1": Machine.pop_marked,
        "2": lambda m: m.push(m.top()),
        "N": lambda m: m.push(None),
        "\x88": lambda m: m.push(True),
        "\x89": lambda m: m.push(False),
        "J": lambda m: m.push(_signed(m.take(4))),
        "K": lambda m: m.push(m.number(1)),
        "M": lambda m: m.push(m.number(2)),
        "\x8a": lambda m: m.push(_signed(m.take(m.number(1)))),
        "\x8b": lambda m: m.push(_signed(m.take(m.number(4)))),
        "G": lambda m: m.push(struct.unpack(">d", m.take(8))[0]),
        "\x8c": lambda m: m.push(m.text(m.take(m.number(1)))),
        "X": lambda m: m.push(m.text(m.take(m.number(4)))),
        "\x8d": lambda m: m.push(m.text(m.take(m.number(8)))),
        "C": lambda m: m.push(m.take(m.number(1))),
        "B": lambda m: m.push(m.take(m.number(4))),
        "\x8e": lambda m: m.push(m.take(m.number(8))),
        "\x96": lambda m: m.push(bytearray(m.take(m.number(8)))),
        "]": lambda m: m.push([]),
        "a": lambda m: m.append([m.pop()]),
        "e": lambda m: m.append(m.pop_marked()),
        "l": lambda m: m.push(m.pop_marked()),
        ")": lambda m: m.push(()),
        "t": lambda m: m.push(tuple(m.pop_marked())),
        "\x85": _tuple_of(1),
        "\x86": _tuple_of(2),
        "\x87": _tuple_of(3),
        "}": lambda m: m.push({}),
        "s": _set_item,
        "u": lambda m: m.set_items(m.pop_marked()),
        "\x8f": lambda m: m.push(set()),
        "\x90": lambda m: m.add_items(m.pop_marked()),
        "\x91": _frozen,
        "h": lambda m: m.get(1),
        "j": lambda m: m.get(4),
        "q": lambda m: m.put(1),
        "r": lambda m: m.put(4),
        "\x94": _memoize,
        "c": _global_by_line,
        "\x93": _global_by_stack,
        "R": Machine.reduce,
        "b": Machine.build,
        "Q": lambda m: m.push(m.load(m.pop())),
    }.items()
}
