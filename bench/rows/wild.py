"""Row `wild`: small whole programs that nobody tuned for, eager, the same code for everybody."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bench.cases import Case, Row, Work, ahead
from bench.libraries import Libraries
from bench.programs import dynamics, gradients, learning, numerics
from bench.programs.namespace import Namespace, namespaces

Program = Callable[[Namespace], float]

# Programs and how far their answers may be apart: the random one draws other numbers everywhere.
PROGRAMS: dict[str, tuple[Program, float]] = {
    "cart-pole rollout": (dynamics.rollout, 1e-2),
    "Kalman filter": (dynamics.kalman, 1e-3),
    "Lorenz, Runge-Kutta": (dynamics.lorenz, 1e-2),
    "heat equation": (dynamics.heat, 1e-3),
    "k-means": (learning.kmeans, 1e-3),
    "tiny RNN": (learning.rnn, 1e-3),
    "Viterbi": (learning.viterbi, 0.0),
    "game of life": (numerics.life, 0.0),
    "power iteration": (numerics.power_iteration, 1e-3),
    "option pricing": (numerics.option_price, 0.05),
    "Mandelbrot": (numerics.mandelbrot, 1e-3),
}
# Those that need gradients, which NumPy has not: they take the library itself.
GRADIENTS: dict[str, tuple[Callable[[Any], float], float]] = {
    "GAN steps": (gradients.gan, 1e-3),
    "fit through a simulation": (gradients.trajectory, 1e-3),
}


def build(libs: Libraries, program: Program) -> dict[str, Work]:
    """The same program on each contender's namespace."""
    return {
        name: Work("program(xp)", {"program": program, "xp": xp})
        for name, xp in namespaces(libs).items()
    }


def build_gradients(libs: Libraries, program: Callable[[Any], float]) -> dict[str, Work]:
    """The same program on each library."""
    return {
        name: Work("program(library)", {"program": program, "library": library})
        for name, library in {"tessella": libs.ts, "torch": libs.torch}.items()
    }


ROW = Row(
    "wild",
    "small programs nobody tuned for",
    tuple(
        Case(name, partial(build, program=program), (ahead(1, "numpy", "torch"),), "", tolerance)
        for name, (program, tolerance) in PROGRAMS.items()
    )
    + tuple(
        Case(name, partial(build_gradients, program=program), (ahead(1, "torch"),), "", tolerance)
        for name, (program, tolerance) in GRADIENTS.items()
    ),
)
