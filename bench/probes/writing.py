"""Prints by how many bytes resident memory grows, at the most, from the import to written tokens.

Arguments: who writes, and the file of the model.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from bench.cases import SUBJECT
from bench.libraries import LLAMA_CPP_MODULE, cores
from bench.probes.resident import FIELDS, resident
from bench.programs.writing import LlamaCpp, Tessella

if __name__ == "__main__":
    is_ours = sys.argv[1] == SUBJECT
    library = importlib.import_module(SUBJECT if is_ours else LLAMA_CPP_MODULE)
    kind = Tessella if is_ours and library.models else LlamaCpp  # models: imported when asked for
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    writer = kind(library, Path(sys.argv[2]), cores())
    writer.read()
    for _ in range(3):
        writer.write()
    print(resident(FIELDS["peak"]) - before)
