"""The names that each module of ops/ brings when it is loaded: at the first use of one.

Written by tools/generate.py from the table of operations; change that, not this.
"""

FUNCTIONS = {
    "activation": """
        celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid
        logsigmoid mish prelu relu6 selu silu softshrink softsign swish tanhshrink threshold
    """,
    "blas": """
        get_blas set_blas
    """,
    "composite": """
        allclose array_equal broadcast_arrays broadcast_shapes broadcast_tensors contiguous flatten
        isclose logsumexp make_contiguous matrix_transpose meshgrid moveaxis movedim shape_match
        tril triu unbind unstack
    """,
    "conversion": """
        is_complex is_floating_point is_tensor nelement numel
    """,
    "diagonals": """
        block_diag diag diag_embed diagflat trace tril_indices triu_indices vander
    """,
    "einsum": """
        einsum
    """,
    "norms": """
        cdist norm
    """,
    "ordering": """
        argsort sort topk
    """,
    "padding": """
        pad
    """,
    "products": """
        addbmm addmm addmv addr baddbmm cross inner kron vdot
    """,
    "ranks": """
        kthvalue median mode nanmedian nanquantile quantile
    """,
    "scatter": """
        gather index_add index_copy index_fill index_put index_select masked_scatter masked_select
        scatter scatter_add scatter_reduce take_along_dim
    """,
    "selection": """

    """,
    "sets": """
        bincount isin searchsorted unique_all unique_counts unique_inverse unique_values
    """,
    "shaping": """
        as_strided atleast_1d atleast_2d atleast_3d expand fliplr flipud ravel rot90 t unflatten
    """,
    "splitting": """
        chunk dsplit hsplit narrow select split tensor_split vsplit
    """,
    "statistics": """
        corrcoef cov trapezoid
    """,
    "types": """
        can_cast finfo iinfo isdtype result_type
    """,
}

METHODS = {
    "activation": """
        celu elu elu_ gelu gelu_ glu hardshrink hardsigmoid hardswish hardtanh leaky_relu
        leaky_relu_ log_sigmoid logsigmoid mish mish_ prelu relu6 selu silu silu_ softshrink
        softsign swish swish_ tanhshrink threshold
    """,
    "blas": """

    """,
    "composite": """
        allclose array_equal contiguous flatten isclose logsumexp make_contiguous moveaxis movedim
        tril triu unbind unstack
    """,
    "conversion": """
        bfloat16 bool byte cdouble cfloat char cpu dim double element_size float half int is_complex
        is_floating_point is_signed long ndimension nelement new_empty new_full new_ones new_tensor
        new_zeros numel short storage_offset stride to type type_as
    """,
    "diagonals": """
        diag diag_embed diagflat trace
    """,
    "einsum": """

    """,
    "norms": """
        norm
    """,
    "ordering": """
        argsort sort topk
    """,
    "padding": """
        pad
    """,
    "products": """
        addbmm addmm addmv addr baddbmm vdot
    """,
    "ranks": """
        kthvalue median mode nanmedian nanquantile quantile
    """,
    "scatter": """
        gather index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_put
        index_put_ index_select masked_scatter masked_scatter_ masked_select scatter scatter_
        scatter_add scatter_add_ scatter_reduce scatter_reduce_ take_along_dim
    """,
    "selection": """

    """,
    "sets": """
        bincount
    """,
    "shaping": """
        as_strided atleast_1d atleast_2d atleast_3d expand expand_as fliplr flipud ravel reshape_as
        rot90 t unflatten view_as
    """,
    "splitting": """
        chunk dsplit hsplit narrow select split tensor_split vsplit
    """,
    "statistics": """

    """,
    "types": """

    """,
}
