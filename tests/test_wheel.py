"""The wheel in dist/, which `make wheel` has made: its tag, its metadata, and its life alone.

It is installed into a bare environment that has no compiler, no NumPy and nothing else. Of wheels
for other systems, which are built elsewhere, there is only what is asked for.
"""

from __future__ import annotations

import email
import os
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """
import sys
import tessella as ts
from tessella import nn, optim
import tessella.nn.functional as F

ts.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = optim.Adam(model.parameters(), lr=0.05)
x = ts.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = ts.tensor([[0.0], [1.0], [1.0], [0.0]])

@ts.compile
def step(x, y):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss

losses = [step(x, y).item() for _ in range(300)]
ts.save(model.state_dict(), "xor.safetensors")
model.load_state_dict(ts.load("xor.safetensors"))
images, labels = ts.data.load_digits()
print(losses[-1] < 0.01, images.shape, "numpy" in sys.modules, ts.__file__)
"""


@pytest.fixture(scope="module")
def wheel() -> Path:
    found = sorted((ROOT / "dist").glob("tessella-*.whl"))
    assert len(found) == 1, "run `make wheel`"
    return found[0]


def test_wheel_is_for_many_linuxes(wheel: Path) -> None:
    assert "-manylinux_" in wheel.name


def test_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
    tops = {name.partition("/")[0] for name in names}
    assert {top.partition("-")[0] for top in tops} == {"tessella"} and len(tops) == 2
    inside = {name.removeprefix("tessella/") for name in names if name.startswith("tessella/")}
    sources = {
        str(path.relative_to(ROOT / "src" / "tessella"))
        for path in (ROOT / "src" / "tessella").rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".so")
    }
    core = {name for name in inside if name.endswith(".so")}
    assert len(core) == 1 and inside - core == sources
    assert "py.typed" in inside


def test_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".dist-info/METADATA")]
        said = email.message_from_bytes(archive.read(name))
        assert any(each.endswith("licenses/LICENSE") for each in archive.namelist())
    assert said["Name"] == "tessella" and said["Requires-Python"] == ">=3.11"
    assert said["License-Expression"] == "MIT" and said["Description-Content-Type"]
    assert "Typing :: Typed" in said.get_all("Classifier", [])
    needed = [each for each in said.get_all("Requires-Dist", []) if "extra ==" not in each]
    assert needed == []


def test_the_description_links_to_nothing_that_a_wheel_lacks() -> None:
    said = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["readme"]
    assert "](" not in (ROOT / said).read_text()


def test_wheel_is_ready_to_be_uploaded(wheel: Path) -> None:
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_wheel_runs_alone(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=True, symlinks=True)
    python = tmp_path / "bare" / "bin" / "python"
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    alone = {**kept, "PATH": str(python.parent)}

    def run(*arguments: str) -> str:
        command = [str(python), *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("-m", "pip", "install", "-q", "--no-index", "--no-cache-dir", str(wheel))
    assert run("-m", "pip", "check").strip() == "No broken requirements found."
    learned, *_, has_numpy, place = run("-c", PROGRAM).split()
    assert (learned, has_numpy) == ("True", "False")
    assert Path(place).is_relative_to(tmp_path / "bare")
    assert "instruction set" in run("-m", "tessella", "info")


def test_wheels_for_other_systems_are_configured() -> None:
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]
    assert asked["build"] == ["cp311-*", "cp312-*", "cp313-*"]
    assert set(asked["linux"]["archs"]) == {"x86_64", "aarch64"}
    assert set(asked["macos"]["archs"]) == {"arm64", "x86_64"}
    assert asked["windows"]["archs"] == ["AMD64"]
    compilers = asked["windows"]["environment"]
    assert compilers["CC"] == compilers["CXX"] == "clang-cl"
    *_, tests = asked["test-command"].split()
    assert tests.startswith("{project}/") and (ROOT / tests.removeprefix("{project}/")).is_file()


def test_classifiers_name_what_was_tested() -> None:
    said = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    assert [each for each in said if each.startswith("Operating System")] == [
        "Operating System :: POSIX :: Linux"
    ]
    versions = [each.rpartition(" ")[2] for each in said if "Python :: 3." in each]
    assert versions == ["3.11"]
