"""The text of docs/from_pytorch.md: which calls of PyTorch mean something else, and what to write.

Most rows are those that the errors show: refusals of declarations, and the names in spellings.py.
The rest, OTHERS, is about calls that run, or that are refused where no declaration is.
"""

from __future__ import annotations

from collections.abc import Iterable

from tessella import namespace, spellings
from tessella.declarations import KEYWORDS, Refusal

HEAD = """\
# From PyTorch

<!-- Written by tools/generate.py, from the errors themselves and from tools/migration.py: change
those, not this page. -->

Most PyTorch programs run once their imports are changed. Where a call means something else, either
an error shows what to write, or the call is listed below among those that *run*: read those first.
[Limits](limits.md) lists what is missing.

Imports work with the name of the package changed: `from tessella.utils.data import DataLoader`,
`import tessella.backends.cudnn`. Tensors follow the array API standard; PyTorch's spellings work
wherever they do not contradict it: `dim` and `keepdim`, an axis by position, sizes and axes as
separate arguments, methods that end in `_`, `x.float()`, `x.view(…)`.

Weights come along: `model.load_state_dict(ts.load("model.pt"))` reads what
`torch.save(model.state_dict(), …)` wrote, without PyTorch ([Files](files.md)). Safetensors files
work both ways.

## What runs and means something else

No error or warning points these out. Most often the meaning is that of the standard or of NumPy.
"""
SEEN = """Some of them:

```pycon
>>> import numpy
>>> import tessella as ts
>>> import tessella.nn.functional as F
>>> from tessella import nn, optim
>>> ts.tensor([1e20, -1e20, float("nan"), 2.9]).to(ts.int32).tolist()
[2147483647, -2147483648, 0, 2]
>>> x = ts.ones(2, 3)
>>> (x * ts.tensor(2.0, dtype=ts.float64)).dtype, (x * 2.0).dtype
(float64, float32)
>>> ts.tensor([200, 100], dtype=ts.uint8).sum(), x.sum(dim=()).shape
(tensor uint64 () 300, (2, 3))
>>> square = ts.arange(9.0).reshape(3, 3)
>>> ts.array_equal(ts.cross(square, ts.ones(3, 3)), ts.cross(square, ts.ones(3, 3), dim=-1))
True
>>> square[ts.tensor([1, 0, 1], dtype=ts.uint8)].shape, square[[[0, 1], [1, 2]]].shape
((3, 3), (2, 2, 3))
>>> (ts.arange(3) // 0).tolist(), (ts.tensor([1, -1, 2]) ** -1).tolist()
([0, 0, 0], [1, -1, 0])
>>> nan = ts.tensor(float("nan"))
>>> ts.nanmedian(ts.tensor([1.0, 2.0, nan])), ts.sign(nan), ts.heaviside(nan, ts.tensor(0.5))
(tensor float32 () 1.5000, tensor float32 () nan, tensor float32 () nan)
>>> inf = float("inf")
>>> (ts.tensor([inf, 3.0]) // ts.tensor([2.0, -inf])).tolist()
[inf, -0.0]
>>> ts.mode(ts.tensor([nan, nan, 1.0])).values, ts.sgn(nan)
(tensor float32 () 1., tensor float32 () nan)
>>> ts.can_cast(ts.float32, ts.float16), ts.tensor([1, 0], dtype=ts.uint8).any().dtype
(False, bool)
>>> next(reversed(square)), ts.real(square) is square
(tensor float32 (3,) [6., 7., 8.], False)
>>> first, second = ts.sort(x)
>>> ts.histogram(x, 2).hist.dtype
int64
>>> ts.meshgrid(ts.arange(2), ts.arange(3))[0].shape
(3, 2)
>>> b, i = ts.ones(2, 3, 4), ts.tensor([0, 1])
>>> b[0, :, i].shape, b[0][:, i].shape
((2, 3), (3, 2))
>>> square[[i, i]].shape, square[i, i].shape
((2, 2, 3), (2,))
>>> ties = ts.tensor([1.0, 2.0, 2.0, 3.0], requires_grad=True)
>>> ts.quantile(ties, 0.5).backward()
>>> ties.grad.tolist()
[0.0, 1.0, 0.0, 0.0]
>>> F.huber_loss(ts.ones(2), ts.ones(2, dtype=ts.float64)).dtype
float64
>>> ts.array_equal(F.softmax(x), F.softmax(x, dim=-1))
True
>>> nn.Linear(3, 2)(x.double()).dtype
float64
>>> attention = nn.MultiheadAttention(4, 2)
>>> attention(*[ts.ones(1, 1, 4)] * 3, key_padding_mask=ts.tensor([[True]]))[1].tolist()
[[[0.0]]]
>>> optimizer = optim.SGD(attention.parameters(), lr=0.5)
>>> base = [group["lr"] for group in optimizer.param_groups]
>>> optimizer.param_groups[0]["lr"] = 0.1
>>> base
[tensor float64 () 0.1000]
```
"""
RAISING = """## What raises

These would give something else than in PyTorch, or nothing that is here. The error shows what to
write.
"""
RAISED = """Some of them:

```pycon
>>> def raises(call):
...     try:
...         call()
...     except ts.errors.TessellaError:
...         return True
>>> i = ts.arange(3)
>>> def assign():
...     i[0] = 2.5
>>> class Net(nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.layers = [nn.Linear(2, 2)]
>>> loss = (x.requires_grad_() + 1).sum()
>>> loss.backward()
>>> calls = [assign, lambda: x + numpy.ones(3), Net, nn.Softmax, loss.backward]
>>> calls += [lambda: F.mse_loss(ts.ones(64, 1), ts.ones(64))]
>>> calls += [lambda: nn.LSTM(3, 2)(x.detach().double())]
>>> calls += [lambda: (i > 0) + (i < 2), lambda: ts.ones(2, 3, 4).T]
>>> [raises(call) for call in calls]
[True, True, True, True, True, True, True, True, True]
```
"""
KEYWORD = """## Keywords

These keywords of PyTorch's work too. Another one that is not here raises, and the error shows the
signature.
"""

# Differences that no error shows, or that one shows where it happens: what is written in PyTorch,
# whether it runs here, what to write, and why.
OTHERS = (
    # tensors
    ("`x.to(torch.int32)` of floats that it cannot hold", "runs", "",
     "gives any number; here the nearest that it can hold, and 0 for NaN"),
    ("`i[0] = 2.5`, i of integers", "raises", "`i[0] = int(2.5)`", "leaves the fraction out"),
    ("`i // 0`, `i % 0` of integers", "runs", "",
     "raises; here 0, as arithmetic reads no values"),
    ("`inf // 2`, `3.0 // -inf`", "runs", "",
     "gives NaN and -1, as Python does; here inf and -0, which the standard allows too"),
    ("`i ** -1` of integers", "runs", "`i.float() ** -1`", "raises; here 0, but for 1 and -1"),
    ("`mask1 + mask2`, `mask1 * mask2` of bools", "raises",
     "`ts.logical_or(mask1, mask2)`, `ts.logical_and(mask1, mask2)`", 'is "or" and "and"'),
    ("`x.T` of one axis, or of three and more", "raises", "`x`, or `x.permute(2, 1, 0)`",
     "reverses all axes"),
    ("`x + numpy.ones(3)`", "raises", "`x + ts.asarray(numpy.ones(3))`", "takes arrays"),
    ("`x * y`, y of shape () and a wider dtype of the same kind", "runs", "`x * y.to(x.dtype)`",
     "has the dtype of x; here that of y, as for any other shape"),
    ("`x.sum()`, `x.prod()`, `x.cumsum(0)`, x of uint8", "runs", "`x.sum(dtype=ts.int64)`",
     "is int64; here uint64, as in NumPy and the standard, and a difference below 0 wraps"),
    ("`x.sum(dim=())`, also `mean` and `amax`", "runs", "`x.sum()`",
     "reduces all axes; here none, as in NumPy"),
    ("`torch.cross(x, y)`", "runs", "`ts.cross(x, y, dim=…)`",
     "takes the first axis of size 3; here the last, as in NumPy and the standard"),
    ("`b[0, :, i]`, i a tensor of indices", "runs", "`b[0][:, i]`",
     "has the axis of i where i stands; here in front, as in NumPy and the standard"),
    ("`x[i]`, i of uint8", "runs", "`x[i.bool()]`",
     "takes it for a mask, and warns; here for indices, as in NumPy and the standard"),
    ("`x[[[0, 1], [1, 2]]]`", "runs", "`x[[0, 1], [1, 2]]`",
     "takes the inner lists for one index each; here all for one of shape (2, 2), as in NumPy"),
    ("`x[[i, i]]`, i a tensor of indices", "runs", "`x[i, i]`",
     "takes one index for each axis; here one of all tensors in the list, as in NumPy"),
    ("`torch.nanmedian(x)`", "runs", '`ts.nanquantile(x, 0.5, method="lower")`',
     "gives the lower of the two in the middle; here their mean, as in NumPy"),
    ("`torch.sign(x)`, `torch.sgn(x)`, `torch.heaviside(x, y)` of NaN", "runs", "",
     "gives 0; here NaN, as in NumPy and the standard"),
    ("`torch.mode(x)` with NaN", "runs", "",
     "may give NaN, by where it stands; here NaN is equal to none, and not frequent"),
    ("`x.flip(0)`, `fliplr`, `flipud`, `rot90`", "runs", "`x.flip(0).clone()`",
     "copies; here a view, as in NumPy"),
    ("`reversed(x)`", "runs", "`x.flip(0)`", "is a tensor; here an iterator, as Python has it"),
    ("`torch.real(x)`, `torch.conj(x)`, x not complex", "runs", "`x`", "is x; here a copy"),
    ("`torch.can_cast(torch.float32, torch.float16)`", "runs", "",
     "is True within a kind; here if promotion gives it, as in the standard"),
    ("`x.any()`, `x.all()` of uint8", "runs", "", "is uint8; here bool"),
    ("`v, i = torch.sort(x)`, x of two rows", "runs", "`ts.sort(x), ts.argsort(x)`",
     "gives values and indices; here both are rows of the values"),
    ("`torch.histogram(x, 10).hist`", "runs", "`hist.to(x.dtype)`",
     "has the dtype of x; here it counts in int64, as in NumPy. With `density` they agree"),
    ("`torch.meshgrid(x, y)`", "runs", '`ts.meshgrid(x, y, indexing="ij")`',
     'is "ij"; here "xy", as in the standard'),
    ("`F.softmax(x)`, `F.log_softmax(x)`", "runs", "`F.softmax(x, dim=-1)`",
     "guesses the axis, and warns; here it is the last"),
    ("`torch.manual_seed(0)`", "runs", "", "begins another stream of numbers"),
    # gradients
    ("`loss.backward()` twice", "raises", "`loss.backward(retain_graph=True)` the first time",
     "raises only where an operation saved something"),
    ("`x.grad`, held while `backward` adds to it", "runs", "",
     "changes; here the tensor that you hold stays as it was"),
    ("gradients of `torch.quantile(x, 0.5)`, `torch.median(x)` at ties", "runs", "",
     "are shared by equal elements; here one has it all"),
    ("results of `inference_mode`", "runs", "",
     "refuses to record them later; here they are tensors like any other"),
    # networks and losses
    ("`self.layers = [nn.Linear(2, 2)]`", "raises", "`nn.ModuleList([nn.Linear(2, 2)])`",
     "hides the modules, which are not trained, saved or moved"),
    ("`nn.Softmax()`", "raises", "`nn.Softmax(dim=-1)`", "guesses the axis, and warns"),
    ("`nn.Linear(3, 2)(x.double())`, and convolutions", "runs", "`x.float()` or `model.double()`",
     "raises; here it computes in float64. Recurrent layers and `nn.MultiheadAttention` raise"),
    ("`model.load_state_dict(state)` that does not fit", "raises", "",
     "raises too, with a part copied; here nothing is"),
    ("`F.dropout2d(x)`, x of (N, C, L)", "runs", "`F.dropout1d(x)`",
     "warns, and takes it so; here it is taken for (C, H, W)"),
    ("`nn.MultiheadAttention` with a query that may look nowhere", "runs", "",
     "gives NaN; here zeros, also as weights"),
    ("`F.mse_loss(pred, target)` of (64, 1) and (64,), and other losses", "raises",
     "`target.unsqueeze(1)` or `pred.squeeze(1)`", "broadcasts, and warns"),
    ("`F.huber_loss(x, y)`, `F.soft_margin_loss`, `F.hinge_embedding_loss`, y of a wider dtype",
     "runs", "`y.to(x.dtype)`", "has the dtype of x; here that of both, as other losses"),
    ("`size_average=` and `reduce=` of losses", "raises", "`reduction=`", "takes them still"),
    ("`F.binary_cross_entropy(x, y)`, x outside of [0, 1]", "runs", "",
     "raises; here it gives NaN, as no value is read"),
    ("`F.gaussian_nll_loss` with a negative `var`", "runs", "",
     "raises; here it counts as `eps`, as no value is read"),
    # data and training
    ("`DataLoader(…, num_workers=2)`", "runs", "",
     "starts processes; here threads, which share the data set: nothing is pickled"),
    ("`DataLoader(…, multiprocessing_context=…)`", "raises", "", "chooses how processes start"),
    ('`rates.append(group["lr"])`', "runs", '`rates.append(group["lr"].item())`',
     "keeps a number; here a 0-d tensor of float64, which schedules write into, as are `momentum` "
     "and the like. A number that is written to it goes into it"),
    ('`base = [g["lr"] for g in groups]` before a warm-up by hand', "runs",
     '`base = [float(g["lr"]) for g in groups]`',
     'keeps the rates as they were; here they follow what is written to `g["lr"]` later'),
    ("an optimizer made before `model.to(…)`", "runs", "make it after",
     "makes states in the first step; here with the optimizer"),
    ("`foreach`, `fused`, `capturable` of optimizers", "runs", "",
     "chooses an implementation; here there is one, which is fused"),
    ("`differentiable=True` of optimizers", "raises", "",
     "records the step; here parameters are written in place"),
    ("steps of half parameters", "runs", "",
     "rounds after every operation; here once for each number that is written"),
    ("the norm of half gradients", "runs", "", "is a half; here a float32"),
    ("`step` in the states of optimizers", "runs", "",
     "is float32; here float64, and either loads"),
    ("OneCycleLR after `total_steps`", "runs", "", "raises; here the rate stays what it was"),
    ("`schedule.step(epoch)`", "runs", "", "warns; here it goes there"),
)  # fmt: skip


Row = tuple[str, str, str, str]  # the call, what it does here, what to write, why


def row_of(row: Refusal, outcome: str) -> Row:
    """Give the cells of a difference that an error, or the standard, knows."""
    here = " or ".join(f"`{text}`" for text in row.here) or "leave it out"
    return f"`{row.torch}`", outcome, here, row.why


def table(rows: Iterable[Row], outcome: str) -> str:
    """Write the rows of one outcome as a table."""
    lines = ["| in PyTorch | write | what it does there, and here |", "|---|---|---|"]
    lines += [f"| {call} | {write} | {why} |" for call, does, write, why in rows if does == outcome]
    return "\n".join(lines) + "\n"


def keyword_lines() -> Iterable[str]:
    """Write PyTorch's keywords: those that work everywhere, then those of single functions."""
    everywhere = ", ".join(f"`{theirs}` for `{ours}`" for theirs, ours in KEYWORDS.items())
    yield f"- everywhere: {everywhere}"
    for each in sorted(namespace.declared(), key=lambda each: each.name):
        own = {k: v for k, v in each.keywords.items() if KEYWORDS.get(k) != v}
        if own:
            shown = ", ".join(f"`{theirs}` for `{ours}`" for theirs, ours in own.items())
            yield f"- `{each.name}`: {shown}"


def migration_page() -> str:
    """Give the whole page."""
    rows = [
        *(row_of(row, "raises") for row in namespace.refusals()),
        *(row_of(row, "runs") for row in spellings.STANDARD),
        *OTHERS,
    ]
    parts = [HEAD, table(rows, "runs"), SEEN, RAISING, table(rows, "raises"), RAISED, KEYWORD]
    return "\n".join([*parts, *keyword_lines()]) + "\n"
