"""The names that each module of ops/ brings when it is loaded: at the first use of one.

Written by tools/generate.py from the table of operations; change that, not this.
"""

FUNCTIONS = {
    "activation": """
        celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid
        logsigmoid mish prelu relu relu6 selu silu softshrink softsign swish tanhshrink threshold
    """,
    "blas": """
        get_blas set_blas
    """,
    "choices": """
        multinomial rand_like randint_like randn_like
    """,
    "complexes": """
        adjoint complex isreal polar view_as_complex view_as_real
    """,
    "composite": """
        allclose array_equal broadcast_arrays broadcast_shapes broadcast_tensors cartesian_prod
        combinations contiguous flatten isclose logsumexp make_contiguous matrix_transpose meshgrid
        moveaxis movedim shape_match tril triu unbind unstack
    """,
    "conversion": """
        is_complex is_floating_point is_tensor nelement numel
    """,
    "diagonals": """
        block_diag diag diag_embed diagflat trace tril_indices triu_indices vander
    """,
    "distinct": """
        unique unique_consecutive
    """,
    "einsum": """
        einsum
    """,
    "formulas": """
        addcdiv addcmul clamp_max clamp_min deg2rad degrees float_power fmax fmin frac frexp
        heaviside isneginf isposinf ldexp lerp rad2deg radians sinc
    """,
    "histograms": """
        bucketize histc histogram
    """,
    "norms": """
        cdist dist norm renorm
    """,
    "ordering": """
        argsort flat_reverse flat_sort msort sort topk
    """,
    "padding": """
        pad
    """,
    "placing": """
        diagonal_scatter put_along_axis select_scatter slice_scatter
    """,
    "products": """
        addbmm addmm addmv addr baddbmm cross inner kron vdot
    """,
    "ranks": """
        kthvalue median mode nanmedian nanquantile quantile
    """,
    "regions": """

    """,
    "running": """
        cummax cummin logcumsumexp
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
    "slopes": """
        gradient
    """,
    "special": """
        bitwise_count erfinv gcd i0 i1 lcm log_ndtr logaddexp2 logit ndtr ndtri xlogy
    """,
    "splitting": """
        chunk dsplit hsplit narrow select split tensor_split vsplit
    """,
    "statistics": """
        corrcoef cov cumulative_trapezoid trapezoid trapz
    """,
    "summaries": """
        aminmax nan_to_num nanmean nansum std_mean var_mean
    """,
    "types": """
        can_cast finfo iinfo isdtype result_type
    """,
}

METHODS = {
    "activation": """
        celu celu_ elu elu_ gelu gelu_ glu hardshrink hardshrink_ hardsigmoid hardsigmoid_ hardswish
        hardswish_ hardtanh hardtanh_ leaky_relu leaky_relu_ log_sigmoid log_sigmoid_ logsigmoid
        logsigmoid_ mish mish_ prelu prelu_ relu relu6 relu6_ relu_ selu selu_ silu silu_ softshrink
        softshrink_ softsign softsign_ swish swish_ tanhshrink tanhshrink_ threshold threshold_
    """,
    "blas": """

    """,
    "choices": """
        bernoulli_ multinomial normal_ random_ uniform_
    """,
    "complexes": """
        adjoint isreal isreal_ view_as_complex view_as_real
    """,
    "composite": """
        allclose array_equal contiguous flatten isclose isclose_ logsumexp make_contiguous moveaxis
        movedim tril tril_ triu triu_ unbind unstack
    """,
    "conversion": """
        bfloat16 bool byte cdouble cfloat char cpu dim double element_size float half int is_complex
        is_floating_point is_signed long ndimension nelement new_empty new_full new_ones new_tensor
        new_zeros numel short storage_offset stride to type type_as
    """,
    "diagonals": """
        diag diag_embed diagflat trace
    """,
    "distinct": """
        unique unique_consecutive
    """,
    "einsum": """

    """,
    "formulas": """
        addcdiv addcdiv_ addcmul addcmul_ clamp_max clamp_max_ clamp_min clamp_min_ deg2rad deg2rad_
        degrees degrees_ float_power float_power_ fmax fmax_ fmin fmin_ frac frac_ frexp heaviside
        heaviside_ isneginf isneginf_ isposinf isposinf_ ldexp ldexp_ lerp lerp_ rad2deg rad2deg_
        radians radians_ sinc sinc_
    """,
    "histograms": """
        histc
    """,
    "norms": """
        dist norm renorm renorm_
    """,
    "ordering": """
        argsort flat_reverse flat_reverse_ flat_sort flat_sort_ msort sort topk
    """,
    "padding": """
        pad
    """,
    "placing": """
        diagonal_scatter select_scatter slice_scatter
    """,
    "products": """
        addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_ cross inner kron vdot
    """,
    "ranks": """
        kthvalue median mode nanmedian nanquantile quantile
    """,
    "regions": """

    """,
    "running": """
        cummax cummin logcumsumexp logcumsumexp_
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
    "slopes": """

    """,
    "special": """
        bitwise_count bitwise_count_ erfinv erfinv_ gcd gcd_ i0 i0_ i1 i1_ lcm lcm_ log_ndtr
        log_ndtr_ logaddexp2 logaddexp2_ logit logit_ ndtr ndtr_ ndtri ndtri_ xlogy xlogy_
    """,
    "splitting": """
        chunk dsplit hsplit narrow select split tensor_split vsplit
    """,
    "statistics": """
        corrcoef cov
    """,
    "summaries": """
        aminmax nan_to_num nan_to_num_ nanmean nansum std_mean var_mean
    """,
    "types": """

    """,
}
