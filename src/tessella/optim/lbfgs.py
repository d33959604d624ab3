"""LBFGS: Newton's method with a Hessian that is guessed from the last few steps.

It evaluates the loss itself, by a closure, and decides by its values: a step reads numbers on the
host and stands outside a compiled one.
"""

from __future__ import annotations

from tessella import _core, optimizer_errors
from tessella._core import Tensor
from tessella.arguments import to_count, to_float, to_int, to_word
from tessella.hints import Any, Callable, Sequence
from tessella.modes import enable_grad, no_grad
from tessella.ops.complexes import view_as_real
from tessella.ops.creation import zeros_like
from tessella.ops.joining import concat
from tessella.ops.matmul import vecdot
from tessella.optim.groups import Group, placed
from tessella.optim.optimizer import Optimizer, explained
from tessella.optim.options import Options, Params, at_least_zero
from tessella.optim.searches import Point, armijo, strong_wolfe

SEARCHES = ("strong_wolfe", "armijo")
LEAST_CURVATURE = 1e-10
PASTS = ("old_stps", "old_dirs", "ro")  # of the last steps
LAST = ("d", "t", "prev_flat_grad")  # of the last step alone


class LBFGS(Optimizer):
    """Newton's method with a guessed Hessian; `step` takes a closure that gives the loss.

    `line_search_fn` is None (steps of `lr`), "strong_wolfe", or "armijo", which goes back until
    the loss falls enough. There is one parameter group. If the closure raises, parameters and
    state are as they were.

    A step does at most `max_iter` iterations and, by default, 5 / 4 as many evaluations
    (`max_eval`). It ends where no gradient's size is above `tolerance_grad`, or moves or losses
    change by less than `tolerance_change`. The Hessian is guessed from the last `history_size`
    iterations.

    >>> x = ts.tensor([-1.0, 2.0], requires_grad=True)
    >>> optimizer = ts.optim.LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((x - 3) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> first = optimizer.step(closure)
    >>> [round(each, 5) for each in x.tolist()]
    [3.0, 3.0]
    """

    shaping = ("max_iter", "max_eval", "tolerance_grad", "tolerance_change", "history_size",
               "line_search_fn")  # fmt: skip

    @explained
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        most = to_int("max_iter", max_iter)
        super().__init__(params, {
            "lr": at_least_zero("lr", lr),
            "max_iter": most,
            "max_eval": most * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        })  # fmt: skip

    def regroup(self, groups: list[Group]) -> list[Group]:
        """Take the parameters; there are no others beside them."""
        if len(groups) > 1:
            raise optimizer_errors.one_group()
        return super().regroup(groups)

    def needs(self, options: Options) -> dict[str, float]:
        """Check the options; states grow with the steps."""
        for name in ("max_iter", "max_eval"):
            to_int(name, options[name])
        to_count("history_size", options["history_size"])
        for name in ("tolerance_grad", "tolerance_change"):
            to_float(name, options[name])
        if options["line_search_fn"] is not None:
            to_word("line_search_fn", options["line_search_fn"], list(SEARCHES))
        return {}

    def adopt(self, saved: Options, begins: dict[str, float]) -> dict[str, object]:
        """Check that the parts of a saved state belong together."""
        pasts: list[Any] = [saved[name] for name in PASTS if name in saved]
        are_pasts = all(isinstance(past, list) and len(past) == len(pasts[0]) for past in pasts)
        tensors = [x for past in pasts if are_pasts for x in past]
        last = [saved[name] for name in LAST if name in saved]
        if last:
            tensors += [saved.get("d"), saved.get("prev_flat_grad")]
        is_whole = len(pasts) in (0, len(PASTS)) and len(last) in (0, len(LAST))
        if not (is_whole and are_pasts and all(isinstance(x, Tensor) for x in tensors)):
            raise optimizer_errors.not_history()
        for name in ("t", "n_iter", "func_evals", "prev_loss"):
            if name in saved:
                to_float(name, saved[name])
        return super().adopt(saved, begins)

    @explained
    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor:
        """Do up to `max_iter` iterations; give the loss before the first."""
        if not callable(closure):
            raise optimizer_errors.needs_closure()
        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        run = _Run(group.plain(), dict(state), closure)
        loss: Tensor = run.go()
        state.update(run.state)
        return loss


class _Run:
    """One step: the parameters as one vector, and copies of the state until it ends well."""

    def __init__(
        self, options: dict[str, Any], state: dict[str, Any], closure: Callable[[], Any]
    ) -> None:
        self.options, self.state, self.closure = options, state, closure
        self.params: list[Tensor] = options["params"]
        # Of the last steps: how parameters moved, how gradients turned, 1 / their product.
        self.moves, self.turns, self.weights = (list(state.get(name, ())) for name in PASTS)
        self.evaluations = 0
        self.first_loss: Any = None

    def go(self) -> Any:
        """Iterate; where that fails, put the parameters back."""
        with no_grad(), placed(self.params[0]) as self.scope:
            start = self.vector(self.params)
            try:
                self.iterate(start)
            except BaseException:
                self.place(start)
                raise
        return self.first_loss

    def iterate(self, x: Tensor) -> None:
        """Do the iterations, and set the state."""
        options, state = self.options, self.state
        at = self.evaluate(x, None, 0.0)
        for left in reversed(range(options["max_iter"])):
            if not self.goes_on(at):
                break
            if "prev_flat_grad" in state:
                self.remember(state["d"] * state["t"], at.gradient - state["prev_flat_grad"])
            direction = self.direction(at.gradient)
            start = Point(0.0, at.loss, dot(at.gradient, direction), at.gradient)
            if start.slope > -options["tolerance_change"]:
                break
            state["n_iter"] = state.get("n_iter", 0) + 1
            found = self.search(start, x, direction, left)
            x = x + direction * found.t
            self.place(x)
            state.update(d=kept(direction), t=found.t, prev_flat_grad=kept(at.gradient))
            is_still = greatest(direction) * found.t <= options["tolerance_change"]
            fall, at = abs(found.loss - at.loss), found
            is_over = self.evaluations >= options["max_eval"]
            if is_over or is_still or (left and fall < options["tolerance_change"]):
                break
        state["func_evals"] = state.get("func_evals", 0) + self.evaluations
        state.update(old_stps=self.moves, old_dirs=self.turns, ro=self.weights, prev_loss=at.loss)

    def goes_on(self, at: Point) -> bool:
        """Tell whether there is a way down."""
        return at.is_finite and greatest(at.gradient) > self.options["tolerance_grad"]

    def search(self, start: Point, x: Tensor, direction: Tensor, left: int) -> Point:
        """Find how far to go; so many iterations are left after this one."""
        rate: float = self.options["lr"]
        if self.state["n_iter"] == 1:
            rate *= min(1.0, 1.0 / float(start.gradient.abs().sum().item()))
        name = self.options["line_search_fn"]

        def evaluate(t: float) -> Point:
            return self.evaluate(x, direction, t)

        if name == "strong_wolfe":
            return strong_wolfe(evaluate, start, rate, 25, self.options["tolerance_change"])
        if name == "armijo":
            return armijo(evaluate, start, rate)
        # After the last iteration nobody asks for the loss there.
        return evaluate(rate) if left else Point(rate, start.loss, start.slope, start.gradient)

    def evaluate(self, x: Tensor, direction: Tensor | None, t: float) -> Point:
        """Call the closure at a place of the line, as the user's code runs: in its scope."""
        if direction is not None:
            self.place(x + direction * t)
        self.evaluations += 1
        with enable_grad(), placed(handle=self.scope):
            loss = self.closure()
        if self.first_loss is None:
            self.first_loss = loss
        gradient = self.vector([p.grad for p in self.params])
        slope = 0.0 if direction is None else dot(gradient, direction)
        return Point(t, to_float("the closure's loss", loss), slope, gradient)

    # --- the Hessian that is guessed --------------------------------------------------------------

    def direction(self, gradient: Tensor) -> Tensor:
        """Give minus the product of inverse Hessian and gradient, by the two-loop recursion."""
        found = -gradient
        pairs = list(zip(self.moves, self.turns, self.weights, strict=True))
        factors = []
        for s, y, weight in reversed(pairs):
            factors.append(vecdot(s, found) * weight)
            found = found - y * factors[-1]
        if pairs:
            _, y, weight = pairs[-1]
            found = found / (weight * vecdot(y, y))
        for (s, y, weight), factor in zip(pairs, reversed(factors), strict=True):
            found = found + s * (factor - vecdot(y, found) * weight)
        return found

    def remember(self, s: Tensor, y: Tensor) -> None:
        """Keep a move and how the gradient turned, if they say that the function is convex."""
        if not dot(s, y) > LEAST_CURVATURE:
            return
        most = self.options["history_size"]
        for past, new in ((self.moves, s), (self.turns, y), (self.weights, 1 / vecdot(s, y))):
            past.append(kept(new))
            del past[:-most]

    # --- parameters as a vector -------------------------------------------------------------------

    def vector(self, tensors: Sequence[Tensor | None]) -> Tensor:
        """Join parameters, or gradients, into one vector; where there is none, zeros."""
        parts = [
            parts_of(zeros_like(p) if x is None else x).reshape(-1)
            for p, x in zip(self.params, tensors, strict=True)
        ]
        return concat(parts)

    def place(self, x: Tensor) -> None:
        """Write a vector into the parameters."""
        begin = 0
        for p in map(parts_of, self.params):
            p.copy_(x[begin : begin + p.size].reshape(p.shape))
            begin += p.size


def parts_of(x: Tensor) -> Tensor:
    """View a tensor as real numbers."""
    plain = x.detach()
    return view_as_real(plain) if plain.dtype.is_complex else plain


def dot(x: Tensor, y: Tensor) -> float:
    """Read the product of two vectors."""
    return float(vecdot(x, y).item())


def greatest(x: Tensor) -> float:
    """Read the greatest magnitude."""
    return float(x.abs().max().item()) if x.size else 0.0


def kept(x: Tensor) -> Tensor:
    """Count a tensor as an optimizer's."""
    _core.mark_kind(x, "optimizer")
    return x
