"""The graph of recorded operations to look at: as text, DOT, SVG and HTML.

parts.py is the data, walk.py walks the nodes, texts.py and drawing.py show them, layers.py
says where boxes stand.
"""

from __future__ import annotations

from tessella.diagrams.graphs import Graph as Graph
from tessella.diagrams.walk import graph as graph

__all__ = ["Graph", "graph"]
__dir__ = __all__.copy
