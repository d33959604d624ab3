# Each target sets up what it needs in .venv and works from a fresh clone.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .bench-venv
SEED ?= $(shell date +%j%H)
ROWS ?=
export PIP_DISABLE_PIP_VERSION_CHECK = 1

# `make test` samples the larger families of cases by the seed; `make proof` runs all of them.
PYTEST := TESSELLA_TEST_SEED=$(SEED) $(BIN)/python -m pytest -n 2 --dist worksteal

ASAN := build/asan

.PHONY: demo test test-interop test-browser proof peers bench lint format generate docs sanitize wheel clean

$(BIN)/installed: pyproject.toml CMakeLists.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python tools/dependencies.py dev | xargs $(BIN)/python -m pip install -q
	$(BIN)/python tools/timed.py --most 240 "clean build" $(BIN)/python -m pip install -q --no-build-isolation --no-deps -e .
	touch $@

demo: $(BIN)/installed
	$(BIN)/python -m tessella demo

test: wheel
	@echo "seed $(SEED): repeat with make test SEED=$(SEED)"
	$(PYTEST)

lint: $(BIN)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy tests tools bench examples docs
	git ls-files 'src/core/**.cpp' 'src/core/**.h' 'tests/cpp/*.cpp' | xargs $(BIN)/clang-format --dry-run -Werror
	$(BIN)/python tools/size.py

format: $(BIN)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	git ls-files 'src/core/**.cpp' 'src/core/**.h' 'tests/cpp/*.cpp' | xargs $(BIN)/clang-format -i

# What is derived: stubs, catalogue.py, docs/operations.md, docs/operations/ and docs/from_pytorch.md from the table
# of operations, docs/design/arena.svg from the compiler's plan, docs/design/tour.md from docs/tour.py.
generate: $(BIN)/installed
	$(BIN)/python tools/generate.py

# The documentation site, into build/site; a warning, such as a link that leads nowhere, is an error.
docs: $(BIN)/installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "The site is build/site/index.html. With search: $(BIN)/python -m http.server -d build/site, then http://localhost:8000"

# The tests over a core with ASan and UBSan, then the C++ tests over the same objects, and those of the
# pool under TSan.
sanitize: wheel
	mkdir -p $(ASAN)
	$(BIN)/cmake -S . -B $(ASAN) -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DPython_EXECUTABLE=$(abspath $(BIN)/python) -DTESSELLA_SANITIZE=address,undefined > $(ASAN)/configure.log
	$(BIN)/cmake --build $(ASAN)
	TESSELLA_TEST_SEED=$(SEED) $(BIN)/python tools/sanitize.py $(ASAN)
	$(BIN)/python tools/native.py tests $(ASAN) --sanitize address,undefined
	$(BIN)/python tools/native.py threads

# Full counts, each instruction set, sanitizers, every float32 value, ARM and an old processor emulated.
proof: wheel
	$(BIN)/python tools/proof.py

# The benchmark environment: the wheel beside NumPy, PyTorch, JAX and llama.cpp.
peers: wheel
	test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/pip install -q -r bench/requirements.txt
	$(BENCH)/bin/pip install -q --force-reinstall --no-deps dist/tessella-*.whl

# Memory shared with PyTorch and JAX, both ways.
test-interop: peers
	$(BENCH)/bin/pip install -q pytest hypothesis
	$(BENCH)/bin/python -m pytest tests/interop

# Pages that compiled functions write, in Debian's chromium without a window.
test-browser: $(BIN)/installed
	$(BIN)/python -m pytest tests/browser

bench: peers
	$(BENCH)/bin/python -m bench $(if $(ROWS),--rows "$(ROWS)") $(if $(CHECK),--check)

# A wheel that can be published: its tag says which systems it runs on.
wheel: $(BIN)/installed
	rm -rf dist build/wheel
	$(BIN)/python -m pip wheel -q --no-build-isolation --no-deps -w build/wheel .
	PATH=$(abspath $(BIN)):$$PATH $(BIN)/auditwheel repair -w dist build/wheel/*.whl
	$(BIN)/twine check --strict dist/*.whl
	$(BIN)/python tools/size.py --wheel dist

clean:
	rm -rf build dist $(VENV) $(BENCH)
