"""Small programs that overwrite tensors on the way to a result, as PyTorch runs them too.

Each takes the library, x of shape (2, 3) and y of shape (3,), both leaves, and gives one tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Program = Callable[[Any, Any, Any], Any]
PROGRAMS: dict[str, Program] = {}
X = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]
Y = [2.0, -0.5, 1.25]


def program(f: Program) -> Program:
    """Put a program into the table."""
    PROGRAMS[f.__name__] = f
    return f


@program
def a_row_is_written(xp: Any, x: Any, y: Any) -> Any:
    h = x * 2
    h[0] = y
    return h * h


@program
def a_view_sees_a_later_write(xp: Any, x: Any, y: Any) -> Any:
    h = x * 2
    v = h[0]
    h[0] = y
    return v * h


@program
def a_column_is_scaled(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h[:, 1].mul_(3)
    return h.exp()


@program
def a_view_sees_its_base_scaled(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    v = h[:, 1]
    h.mul_(2)
    return v * v


@program
def a_transposed_view_is_added_to(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h.transpose(0, 1).add_(y.view(3, 1))
    return h * h


@program
def a_view_of_a_view_is_scaled(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h[1][1:].mul_(y[1:])
    return h * h


@program
def a_number_is_written(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h[:, 0] = 5
    return h * x


@program
def a_row_is_copied_into(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h[0].copy_(y)
    return h.sin()


@program
def a_row_is_cleared(xp: Any, x: Any, y: Any) -> Any:
    h = x * y
    h[0].zero_()
    return h * h


@program
def a_view_is_filled(xp: Any, x: Any, y: Any) -> Any:
    h = x * y
    h[1, :2].fill_(7)
    return h * x


@program
def a_row_is_scaled_three_times(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    for _ in range(3):
        h[0].add_(y)
        h[:, 2].mul_(2)
    return h * h


@program
def a_row_takes_another(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h[0] = h[1]
    return h * h


@program
def rows_are_exchanged(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    first = h[0].clone()
    h[0] = h[1]
    h[1] = first * y
    return h * h


@program
def columns_move_by_one(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h[:, 1:] = h[:, :2].clone()
    return h * x


@program
def a_constant_takes_values_with_gradients(xp: Any, x: Any, y: Any) -> Any:
    h = xp.zeros(2, 3, dtype=xp.float64)
    h[0] = x[0]
    h[1] = y
    return h * h


@program
def a_view_of_a_constant_takes_gradients(xp: Any, x: Any, y: Any) -> Any:
    h = xp.zeros(2, 3, dtype=xp.float64)
    v = h[0]
    v.add_(y)
    h.add_(x)
    return v * h


@program
def another_shape_is_written_through(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h.view(6)[::2].mul_(y)
    return h * h


@program
def the_diagonal_is_scaled(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h.diagonal().mul_(y[:2])
    return h * h


@program
def a_changed_tensor_is_broadcast(xp: Any, x: Any, y: Any) -> Any:
    h = y * 1
    h.add_(1)
    return h.expand(2, 3) * x


@program
def views_cross_in_one_element(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    row, column = h[0], h[:, 0]
    row.mul_(2)
    column.add_(y[:2])
    row.mul_(3)
    return row * h


@program
def a_sum_is_taken_before_the_write(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    total = h.sum()
    h[0] = y
    return h * total


@program
def a_copy_keeps_the_old_values(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    old = h.clone()
    h[0] = y
    return old * h


@program
def negative_values_are_cut_off(xp: Any, x: Any, y: Any) -> Any:
    h = x - 1
    h.relu_()
    return h * y


@program
def a_function_is_applied_to_a_row(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h[0].exp_()
    return h * y


@program
def a_mask_is_cleared(xp: Any, x: Any, y: Any) -> Any:
    h = x * y
    h[x > 0.5] = 0
    return h * h


@program
def chosen_elements_are_written(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h[[1, 0], [2, 0]] = y[:2]
    return h * h


@program
def a_view_with_a_new_axis_is_scaled(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h.unsqueeze(0)[0, 1].mul_(y)
    return h * h


@program
def a_view_and_its_base_are_both_used(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    v = h[0]
    v += y
    v *= 2
    return (h * x)[0] * v


@program
def the_operator_writes_a_part(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h[0] *= y
    h[:, 0] -= h[:, 1]
    h /= 2
    return h * h


@program
def a_leaf_is_stepped_outside_the_graph(xp: Any, x: Any, y: Any) -> Any:
    with xp.no_grad():
        x.mul_(2)
        y[0] = 3
    return x * y


@program
def a_write_into_a_detached_twin_is_seen(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h.detach().mul_(2)
    return h * 3


@program
def a_view_made_outside_the_graph_is_constant(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    with xp.no_grad():
        v = h[0]
    return v * y


@program
def a_result_is_written_before_it_is_viewed(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h.mul_(2)
    v = h[1]
    h.mul_(3)
    return v * y


@program
def three_views_deep(xp: Any, x: Any, y: Any) -> Any:
    h = x * 1
    h.view(3, 2).transpose(0, 1)[1][1:].mul_(y[:2])
    return h * h


@program
def the_value_is_used_elsewhere_too(xp: Any, x: Any, y: Any) -> Any:
    part = y * 2
    h = x * 1
    h[0] = part
    part = part + 1
    return h * part


@program
def the_result_of_a_write_is_the_tensor(xp: Any, x: Any, y: Any) -> Any:
    h = (x * 1).mul_(2).add_(y)
    return h.sub_(1) * y
