"""Modules of convolutions, pools and borders: texts, states, initialisation, sizes and errors.

What their functions give is tested in test_convolution.py and test_pooling.py.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

import tessella as ts
from reference import assert_same_tensors
from tessella import nn

F: Any = nn.functional
N: Any = nn  # modules are called in more ways than their annotations tell

# The texts are those that torch shows.
TEXTS: dict[str, Any] = {
    "Conv2d(1, 32, kernel_size=(3, 3), stride=(1, 1))": lambda: nn.Conv2d(1, 32, 3),
    "Conv2d(4, 6, kernel_size=(3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2,"
    " bias=False, padding_mode=reflect)": lambda: nn.Conv2d(
        4, 6, (3, 2), (2, 1), (1, 0), (1, 2), 2, False, "reflect"
    ),
    "Conv1d(4, 6, kernel_size=(3,), stride=(1,), padding=same)": lambda: nn.Conv1d(
        4, 6, 3, padding="same"
    ),
    "ConvTranspose2d(4, 6, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1),"
    " output_padding=(1, 1))": lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, 1),
    "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)": lambda: (
        nn.MaxPool2d(2)
    ),
    "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))": lambda: nn.AvgPool1d(2),
    "AvgPool2d(kernel_size=2, stride=2, padding=0)": lambda: nn.AvgPool2d(2),
    "LPPool2d(norm_type=2, kernel_size=3, stride=None, ceil_mode=False)": lambda: nn.LPPool2d(2, 3),
    "AdaptiveAvgPool2d(output_size=(1, None))": lambda: nn.AdaptiveAvgPool2d((1, None)),
    "Unfold(kernel_size=2, dilation=1, padding=0, stride=1)": lambda: nn.Unfold(2),
    "Fold(output_size=4, kernel_size=2, dilation=1, padding=0, stride=1)": lambda: nn.Fold(4, 2),
    "Upsample(scale_factor=2.0, mode='nearest')": lambda: nn.Upsample(scale_factor=2),
    "PixelShuffle(upscale_factor=2)": lambda: nn.PixelShuffle(2),
    "ZeroPad2d((1, 1, 1, 1))": lambda: nn.ZeroPad2d(1),
    "ConstantPad1d(padding=(1, 2), value=3.5)": lambda: nn.ConstantPad1d((1, 2), 3.5),
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_those_of_torch(text: str) -> None:
    assert repr(TEXTS[text]()) == text


def test_state_has_torch_keys_and_shapes() -> None:
    shapes = {k: v.shape for k, v in nn.Conv2d(4, 6, (3, 2), groups=2).state_dict().items()}
    assert shapes == {"weight": (6, 2, 3, 2), "bias": (6,)}
    shapes = {k: v.shape for k, v in nn.ConvTranspose1d(4, 6, 3, groups=2).state_dict().items()}
    assert shapes == {"weight": (4, 3, 3), "bias": (6,)}
    assert list(nn.Conv1d(4, 6, 3, bias=False).state_dict()) == ["weight"]


@pytest.mark.parametrize(
    ("module", "fan"),
    [(lambda: nn.Conv2d(8, 64, 3, groups=2), 36), (lambda: nn.Conv1d(16, 64, 5), 80),
     (lambda: nn.ConvTranspose2d(8, 64, 3, groups=2), 288)],
)  # fmt: skip
def test_parameters_begin_uniform_in_the_bounds_of_torch(module: Any, fan: int) -> None:
    made, bound = module(), 1 / math.sqrt(fan)
    for parameter in (made.weight, made.bias):
        assert 0.9 * bound < parameter.detach().abs().max().item() <= bound
    assert abs(made.weight.detach().mean().item()) < bound / 5


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_borders_are_those_of_pad(mode: str) -> None:
    model = nn.Conv2d(2, 3, (3, 2), padding=(1, 2), padding_mode=mode)
    x = ts.randn(2, 2, 5, 6)
    wide = ts.pad(x, (2, 2, 1, 1), mode=mode)  # type: ignore[arg-type]
    assert_same_tensors(model(x), F.conv2d(wide, model.weight, model.bias))
    same = nn.Conv1d(2, 3, 4, padding="same", padding_mode=mode)
    assert same(ts.randn(2, 2, 9)).shape == (2, 3, 9)


def test_output_size_chooses_among_the_sizes_of_a_stride() -> None:
    model = nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1)
    x = ts.randn(1, 2, 4, 4)
    assert model(x).shape == (1, 3, 7, 7)
    assert model(x, output_size=(8, 7)).shape == (1, 3, 8, 7)
    assert model(x, output_size=(1, 3, 8, 8)).shape == (1, 3, 8, 8)
    with pytest.raises(ts.errors.InvalidArgument, match="output_size is 9"):
        model(x, output_size=(9, 7))
    with pytest.raises(ts.errors.TessellaError, match=r"^conv_transpose2d: "):
        model(ts.ones(3), output_size=(8, 7))
    with pytest.raises(ts.errors.InvalidArgument, match="output_size is"):
        model(x, output_size=7)


WRONG = [
    (lambda: N.Conv2d(3, 4, 3, groups=2), "Conv2d: in_channels is 3"),
    (lambda: N.Conv2d(4, 3, 3, groups=2), "Conv2d: out_channels is 3"),
    (lambda: N.Conv2d(4, 3, 0), "Conv2d: kernel_size is 0"),
    (lambda: N.Conv2d(4, 3, (1, 2, 3)), "Conv2d: kernel_size is"),
    (lambda: N.Conv2d(4, 3, 3, stride=2, padding="same"), "Conv2d: stride is"),
    (lambda: N.Conv2d(4, 3, 3, padding="full"), "Conv2d: padding is 'full'"),
    (lambda: N.Conv2d(4, 3, 3, padding_mode="edge"), "Conv2d: padding_mode is 'edge'"),
    (lambda: N.ConvTranspose1d(4, 3, 3, padding_mode="reflect"), "padding_mode is 'reflect'"),
    (lambda: N.Conv1d(-1, 3, 3), "Conv1d: in_channels is -1"),
    (lambda: N.Conv1d(2, 3, 3, bias=1), "Conv1d: bias must be True or False"),
    (lambda: N.ZeroPad2d((1, 2, 3)), "ZeroPad2d: padding is"),
    (lambda: N.ReflectionPad1d("1"), "ReflectionPad1d: padding must be"),
]


@pytest.mark.parametrize(("call", "text"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_arguments_are_refused_when_a_module_is_made(call: Any, text: str) -> None:
    with pytest.raises(ts.errors.TessellaError) as caught:
        call()
    assert text in str(caught.value)
    assert "  hint: " in str(caught.value)


def test_errors_know_the_module() -> None:
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(8, 2, 3))
    with pytest.raises(ts.errors.ShapeError) as caught:
        model(ts.ones(1, 1, 8, 8))
    text = str(caught.value)
    assert "x has 4 channels, and weight takes 8" in text
    assert "Conv2d(8, 2, kernel_size=(3, 3), stride=(1, 1))" in text


def test_a_small_network_learns() -> None:
    ts.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 2)
    )
    x = ts.randn(32, 1, 6, 6)
    target = (x[:, :, :3].sum(axis=(1, 2, 3)) > 0).astype(ts.int64)
    losses = []
    for _ in range(60):
        model.zero_grad()
        loss = F.cross_entropy(model(x), target)
        loss.backward()
        with ts.no_grad():
            for p in model.parameters():
                assert p.grad is not None
                p.sub_(p.grad * 0.2)
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 3


# What PyTorch gave for arange(6) of (1, 1, 2, 3), in rows.
RESIZED = {
    "size=(3, 4)": [0, 0, 1, 2, 0, 0, 1, 2, 3, 3, 4, 5],
    "scale_factor=(1, 1.5), mode='bilinear'":
        [0, 0.5, 1.1666666, 1.8333333, 3, 3.5, 4.1666665, 4.8333335],
    "scale_factor=(1, 1.5), mode='bilinear', recompute_scale_factor=True":
        [0, 0.625, 1.375, 2, 3, 3.625, 4.375, 5],
    "size=(2, 5), mode='bilinear', align_corners=True": [0, 0.5, 1, 1.5, 2, 3, 3.5, 4, 4.5, 5],
    "size=1, mode='bilinear', align_corners=True": [0],
    "size=(2, 4), mode='nearest-exact'": [0, 1, 1, 2, 3, 4, 4, 5],
}  # fmt: skip


@pytest.mark.parametrize("options", RESIZED)
def test_images_get_the_size_and_the_numbers_of_pytorch(options: str) -> None:
    x = ts.arange(6.0).reshape(1, 1, 2, 3)
    found = eval(f"nn.Upsample({options})", {"nn": nn})(x)
    assert found.flatten().tolist() == pytest.approx(RESIZED[options], rel=1e-6)
