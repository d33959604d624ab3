"""Written by `make generate` from imports.PLACES; change that, not this."""

from tessella.nn.toolbox import (
    clip_grad_norm_ as clip_grad_norm_,
    clip_grad_value_ as clip_grad_value_,
    clip_grads_with_norm_ as clip_grads_with_norm_,
    get_total_norm as get_total_norm,
    parameters_to_vector as parameters_to_vector,
    vector_to_parameters as vector_to_parameters,
)
from tessella.nn.utils import rnn as rnn
