"""A first look: tensors, views, broadcasting, gradients, a timed product, a program, an error.

It is the smallest tour; the operation reference is docs/operations.md.
"""

from __future__ import annotations

import time

import tessella as ts


def show(code: str, value: object) -> None:
    """Print an expression and its value, indented below it."""
    print(f">>> {code}")
    print("    " + str(value).replace("\n", "\n    "))


def show_views() -> None:
    """Show that views share the memory of what they view."""
    x = ts.arange(24, dtype=ts.float32).reshape(2, 3, 4)
    show("x = ts.arange(24, dtype=ts.float32).reshape(2, 3, 4); x.strides", x.strides)
    view = x[1, :, ::-2].T
    show("view = x[1, :, ::-2].T", view)
    show("view.strides, view.data_ptr - x.data_ptr", (view.strides, view.data_ptr - x.data_ptr))
    view[0, 0] = -1.0
    show("view[0, 0] = -1.0; x[1, 0]", x[1, 0])


def show_arithmetic() -> None:
    """Show broadcasting and reductions."""
    x = ts.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    show("x - x.mean(axis=0)", x - x.mean(axis=0))
    show("x.exp().sum(axis=1, keepdims=True).shape", x.exp().sum(axis=1, keepdims=True).shape)


def show_product(size: int = 1024, repeats: int = 10) -> None:
    """Time a square float32 product; the best of some repeats is what the machine can do."""
    ts.manual_seed(0)
    a, b = ts.randn(size, size), ts.randn(size, size)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        a @ b
        seconds.append(time.perf_counter() - start)
    best = min(seconds)
    rate = 2 * size**3 / best / 1e9
    show(f"a @ b   # ({size}, {size}) float32", f"{best * 1e3:.2f} ms, {rate:.0f} GFLOP/s")
    show("a @ b.T is bit for bit a @ b.T.contiguous()",
         (a @ b.T).tolist() == (a @ b.T.contiguous()).tolist())  # fmt: skip


def show_gradients() -> None:
    """Show a gradient, and the graph that it went through."""
    w = ts.tensor([1.0, 2.0], requires_grad=True)
    loss = ((w * w).sum() - 1) ** 2
    show("loss = ((w * w).sum() - 1) ** 2; ts.graph(loss)", ts.graph(loss, names={"w": w}))
    loss.backward()
    show("loss.backward(); w.grad", w.grad)


def show_compile() -> None:
    """Show a compiled function: the same bits, as one program that runs tile by tile."""
    wave = ts.compile(lambda x: (x * 2).sin() + 1)
    x = ts.linspace(0, 1, 1000)
    first, _, third = wave(x), wave(x), wave(x)  # from the third call on the program runs
    show("wave = ts.compile(lambda x: (x * 2).sin() + 1); wave.program", wave.program)
    show("first.tolist() == third.tolist()", first.tolist() == third.tolist())


def show_error() -> None:
    """Show what a mistake looks like."""
    try:
        ts.ones(4, 18) @ ts.ones(19, 56)
    except ts.errors.ShapeError as error:
        show("ts.ones(4, 18) @ ts.ones(19, 56)", f"{type(error).__name__}: {error}")


def main() -> None:
    """Run the tour."""
    show_views()
    show_arithmetic()
    show_gradients()
    show_product()
    show_compile()
    show_error()


if __name__ == "__main__":
    main()
