"""Data: sets of samples, loaders, tables of comma-separated values, files, small sets.

The names of sets, samplers and the loader are PyTorch's (`torch.utils.data`).
"""

from tessella import spellings
from tessella.data.collation import default_collate, default_convert
from tessella.data.datasets import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from tessella.data.delimited import read_csv
from tessella.data.embedded import (
    Labelled,
    Text,
    load_diabetes,
    load_digits,
    load_iris,
    load_text,
)
from tessella.data.idx import load_idx, load_mnist
from tessella.data.loaders import DataLoader
from tessella.data.parts import split
from tessella.data.preparation import MinMax, OneHot, Standardize, min_max, one_hot, standardize
from tessella.data.samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from tessella.data.tables import Table
from tessella.data.workers import WorkerInfo, get_worker_info
from tessella.hints import TYPE_CHECKING

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "Labelled",
    "MinMax",
    "OneHot",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Standardize",
    "Subset",
    "SubsetRandomSampler",
    "Table",
    "TensorDataset",
    "Text",
    "WeightedRandomSampler",
    "WorkerInfo",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "load_diabetes",
    "load_digits",
    "load_idx",
    "load_iris",
    "load_mnist",
    "load_text",
    "min_max",
    "one_hot",
    "random_split",
    "read_csv",
    "split",
    "standardize",
]
__dir__ = __all__.copy

if not TYPE_CHECKING:  # for a type checker there are the names above only
    __getattr__ = spellings.refuser(__name__)
