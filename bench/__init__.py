"""The benchmark harness: Tessella and its peers on the same work, side by side.

`python -m bench` runs every row, `python -m bench --rows gemm,reduce` some of them, and writes what
it found into the README and docs/benchmarks.md; `--check` then exits with 1 when a bar is missed.
One process for each thread setting times all contenders, interleaved; what counts is the ratio of
medians inside one process, never an absolute time.

To add a row, write one file in `rows/` that defines a `Row`, and list it in `rows/__init__.py`.
What is aimed for beyond its bars goes into `aims.py`. What rows race is in `programs/`; what they
start in new processes, in `probes/`.
"""
