"""The rows, in the order in which they run and are printed. A new row is a file and a line here."""

from bench.cases import Row
from bench.rows import (
    allocating,
    dynamic,
    eager,
    gemm,
    importing,
    lines,
    moving,
    reduce,
    size,
    sorting,
    steps,
    wild,
)

ROWS: tuple[Row, ...] = (
    importing.ROW,
    size.ROW,
    eager.SMALL,
    eager.MORE,
    steps.EAGER,
    steps.CONV,
    steps.LSTM,
    steps.ANOMALY,
    allocating.SCOPED,
    allocating.ALLOCATORS,
    gemm.ROW,
    gemm.SMALL,
    reduce.ROW,
    lines.ROW,
    sorting.SORT,
    sorting.ARGSORT,
    moving.INDEX,
    moving.JOIN,
    moving.CAST,
    moving.CUMULATIVE,
    dynamic.APPEND,
    dynamic.EXTEND,
    wild.ROW,
)
