"""Imports of PyTorch's modules: they find what stands for them, or say what to write."""

from __future__ import annotations

import importlib

import pytest

import tessella as ts
from tessella import spellings


@pytest.mark.parametrize("statement", [
    "import tessella.utils.data; assert tessella.utils.data is tessella.data",
    "import tessella.utils; assert tessella.utils.data is tessella.data",
    "from tessella.utils.data import DataLoader, Dataset; assert DataLoader is ts.data.DataLoader",
    "from tessella.utils.checkpoint import checkpoint; assert checkpoint is ts.checkpoint",
    "from tessella.nn.parameter import Parameter; assert Parameter is ts.nn.Parameter",
    "import tessella.nn.utils as utils; assert utils is ts.nn.utils",
    "from tessella.nn.utils.rnn import pad_sequence as f; assert f is ts.nn.utils.rnn.pad_sequence",
    "import tessella.backends.cudnn as cudnn; cudnn.benchmark = True",
    "import tessella.backends.cudnn as cudnn; assert not cudnn.deterministic",
    "assert not ts.backends.mps.is_available() and not ts.mps.is_available()",
    "from tessella.cuda import is_available; assert not is_available()",
    "ts.cuda.manual_seed(1); ts.cuda.manual_seed_all(1); ts.cuda.empty_cache()",
])  # fmt: skip
def test_modules_of_pytorch_are_found(statement: str) -> None:
    exec(statement, {"ts": ts})


@pytest.mark.parametrize(("statement", "owner", "key"), [
    ("from tessella.autograd import Variable", "tessella.autograd", "autograd.Variable"),
    ("from tessella.nn import Conv3d", "tessella.nn", "nn.Conv3d"),
    ("from tessella.nn.utils import weight_norm", "tessella.nn.utils", "nn.utils.weight_norm"),
    ("from tessella.nn.utils.rnn import pack_padded_sequence", "tessella.nn.utils.rnn",
     "nn.utils.rnn.pack_padded_sequence"),
    ("import tessella.nn.parallel", "tessella.nn", "nn.parallel"),
    ("from tessella import jit", "tessella", "ts.jit"),
    ("from tessella.distributions import Normal", "tessella", "ts.distributions"),
    ("from tessella.utils.tensorboard import SummaryWriter", "tessella.utils", "utils.tensorboard"),
    ("from tessella.cuda.amp import autocast, GradScaler", "tessella.cuda", "cuda.amp"),
    ("import tessella.distributed", "tessella", "ts.distributed"),
    ("import tessella.multiprocessing as mp", "tessella", "ts.multiprocessing"),
    ("from tessella.profiler import profile", "tessella", "ts.profiler"),
    ("from tessella.optim.swa_utils import AveragedModel", "tessella.optim", "optim.swa_utils"),
    ("from tessella.optim.lr_scheduler import _LRScheduler", "tessella.optim.lr_scheduler",
     "optim.lr_scheduler._LRScheduler"),
    ("from tessella.nn.attention import sdpa_kernel", "tessella.nn.attention",
     "nn.attention.sdpa_kernel"),
    ("from tessella.nn.modules.utils import _pair", "tessella.nn.modules", "nn.modules.utils"),
])  # fmt: skip
def test_import_of_what_is_not_here_says_what_to_write(
    statement: str, owner: str, key: str
) -> None:
    with pytest.raises(ImportError) as caught:
        exec(statement, {})
    row, name = spellings.ABSENT[key], key.rpartition(".")[2]
    assert str(caught.value) == (
        f"cannot import {name!r} from {owner}\n  at <string>:1\n"
        f"  hint: in PyTorch {row.torch} {row.why}; {row.cure()}"
    )


def test_import_of_what_nobody_knows_fails_as_any_other() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'tessella\.nothing'$"):
        import tessella.nothing  # type: ignore[import-not-found]  # noqa: F401
    with pytest.raises(ImportError, match=r"^cannot import name 'nothing' from 'tessella\.nn'"):
        from tessella.nn import nothing  # type: ignore[attr-defined]  # noqa: F401


@pytest.mark.parametrize(("statement", "hint"), [
    ("from tessella.utils.data.dataset import Dataset", "from tessella.utils.data import Dataset"),
    ("from tessella.utils.data.sampler import Sampler", "from tessella.utils.data import Sampler"),
    ("from tessella.nn.utils.clip_grad import clip_grad_norm_",
     "from tessella.nn.utils import clip_grad_norm_"),
    ("from tessella.autograd.function import Function", "from tessella.autograd import Function"),
    ("from tessella.optim.adamw import AdamW", "from tessella.optim import AdamW"),
    ("from tessella.nn.modules import Linear", "from tessella.nn import Linear"),
    ("from tessella.nn.modules.linear import Linear", "from tessella.nn import Linear"),
    ("from tessella.optim.sgd_of_mine import (\n    SGD,\n    Nobody,\n)",
     "from tessella.optim import SGD"),
])  # fmt: skip
def test_import_from_another_module_says_where_the_name_is(statement: str, hint: str) -> None:
    with pytest.raises(ts.errors.MissingImport) as caught:
        exec(statement, {})
    assert caught.value.hint == f"write {hint}"


def test_import_of_names_that_no_module_has_fails_as_any_other() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'tessella.optim.nothing'"):
        exec("from tessella.optim.nothing import Nobody", {})
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'tessella.optim.nothing'"):
        importlib.import_module("tessella.optim.nothing")
