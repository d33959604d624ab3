"""Linear algebra: the array API's extension, and more of NumPy's and PyTorch's names.

Decompositions and what is made of them call LAPACK through NumPy, imported at that moment.
"""

from tessella import spellings
from tessella.hints import TYPE_CHECKING
from tessella.linalg.factors import cholesky, qr, svd, svdvals
from tessella.linalg.inverses import det, inv, slogdet, solve, solve_triangular
from tessella.linalg.norms import cond, matrix_norm, norm, vector_norm
from tessella.linalg.products import diagonal, matrix_power, multi_dot, trace
from tessella.linalg.ranks import lstsq, matrix_rank, pinv
from tessella.linalg.spectra import eig, eigh, eigvals, eigvalsh
from tessella.ops.composite import matrix_transpose
from tessella.ops.matmul import matmul, outer, tensordot, vecdot
from tessella.ops.products import cross

__all__ = [
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "solve_triangular", "svd",
    "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip
__dir__ = __all__.copy

if not TYPE_CHECKING:  # for a type checker there are the names above only
    __getattr__ = spellings.refuser(__name__)
