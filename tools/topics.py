"""What the topics of the operation reference are called, and what each says before its entries.

A topic is a module of ops/ or a subpackage, and its page has the name of that file.
"""

TOPICS = {
    "activation": (
        "Activations",
        "Functions between the layers of networks, element by element. Most are one pass.",
    ),
    "blas": (
        "Plugging in a BLAS",
        "Large products by another library: off by default, outside the promise of the same bits.",
    ),
    "casting": (
        "Changing the dtype",
        "Operands of different dtypes are changed so before an operation, to what both fit in.",
    ),
    "choices": (
        "Random numbers for a tensor",
        "In the shape of another tensor, into one that is there, and indices drawn by weights.",
    ),
    "complexes": (
        "Complex numbers",
        "Complex numbers from their parts, and their parts as real numbers.",
    ),
    "composite": (
        "Comparing, broadcasting, axes, grids",
        "Whether tensors are alike, shapes that go together, axes moved and merged, triangles, "
        "grids, combinations.",
    ),
    "conversion": (
        "PyTorch's dtypes and sizes",
        "Other dtypes and devices by PyTorch's names, and tensors made after another one.",
    ),
    "creation": (
        "New tensors",
        "Tensors from sizes and numbers. `spec` makes one that has a shape and no memory.",
    ),
    "diagonals": (
        "Diagonals and triangles",
        "Reading them, and matrices made of them.",
    ),
    "distinct": (
        "Different elements",
        "Different elements or slices by PyTorch's names: `unique`, in order, and "
        "`unique_consecutive`.",
    ),
    "einsum": (
        "Einsum",
        "Sums of products whose axes are named by letters.",
    ),
    "elementwise": (
        "Arithmetic, element by element",
        "One element of the result from one of each operand: arithmetic, comparisons, logic, bits, "
        "roundings, powers, logarithms and angles.",
    ),
    "exchange": (
        "Memory of other libraries",
        "Tensors over memory that NumPy or another library has made, without a copy.",
    ),
    "fft": (
        "Fourier transforms",
        "Discrete Fourier transforms, in `ts.fft`. They need NumPy, which is imported at the first "
        "one.",
    ),
    "formulas": (
        "Formulas, element by element",
        "Interpolation, scaled products, one-sided limits, angles, powers of two.",
    ),
    "functional": (
        "Functions of networks",
        "Layers and losses as functions: `import tessella.nn.functional as F`.",
    ),
    "fused": (
        "Softmax",
        "Softmax and its logarithm, each in one pass without overflow.",
    ),
    "histograms": (
        "Histograms",
        "Counts of elements by the interval that they lie in.",
    ),
    "index": (
        "Places and indices",
        "Elements taken by index tensors or masks, and the places of those that are not 0. "
        "`x[indices]` and `x[mask]` take them too.",
    ),
    "info": (
        "The array API",
        "What the namespace says about itself to code that is written for the standard.",
    ),
    "joining": (
        "Joining and repeating",
        "Tensors made of several, or of one several times over, or shifted: they copy.",
    ),
    "linalg": (
        "Linear algebra",
        "Matrices and batches of them, in `ts.linalg`: the array API's functions, and more of "
        "NumPy's and PyTorch's.",
    ),
    "matmul": (
        "Products of matrices",
        "Matrices, vectors and batches of them. `a @ b` is `matmul`.",
    ),
    "methods": (
        "Other methods",
        "Methods of `Tensor` that are not operations: gradients, copies, single elements.",
    ),
    "modes": (
        "Recording gradients",
        "Whether gradients are recorded: contexts and decorators, for each thread apart.",
    ),
    "movement": (
        "Views",
        "Other shapes and orders of the same elements: views of one memory where strides allow it.",
    ),
    "norms": (
        "Norms and distances",
        "Norms of vectors, and distances between them. Norms of matrices are in "
        "[linear algebra](linalg.md).",
    ),
    "ordering": (
        "Sorting",
        "Along an axis, stable in either direction; NaN is greater than every number.",
    ),
    "padding": (
        "Padding",
        "Tensors with a border: of one value, or of what lies inside.",
    ),
    "placing": (
        "Writing into a part",
        "Values put into a slice or a diagonal of a copy, or in place.",
    ),
    "products": (
        "Sums with products",
        "A product of matrices added to a tensor, and products of other kinds.",
    ),
    "random": (
        "Random numbers",
        "Generators, and tensors drawn from them: a seed always gives the same numbers.",
    ),
    "ranks": (
        "Medians and quantiles",
        "Elements chosen by their rank along axes, and what lies between them.",
    ),
    "reduce": (
        "Sums, means, extremes",
        "Many elements to one, over any axes, and cumulative sums and products.",
    ),
    "running": (
        "Running extremes",
        "The largest or smallest so far along an axis, with its place, and sums of exponentials.",
    ),
    "scatter": (
        "Gather and scatter",
        "Elements read from, and written or added to, the places that index tensors say, by "
        "PyTorch's names.",
    ),
    "sets": (
        "Sets",
        "Which elements there are, how often, and where; and searching in sorted ones.",
    ),
    "shaping": (
        "Shapes",
        "Shapes by other names: expanded, parted axes, axes turned, any strides.",
    ),
    "slopes": (
        "Slopes of samples",
        "Differences of neighbours, divided by their distance.",
    ),
    "special": (
        "Special functions",
        "Functions of statistics, analysis and number theory, element by element.",
    ),
    "splitting": (
        "Parts of a tensor",
        "One slice along an axis, some of them, or all in pieces. All are views.",
    ),
    "statistics": (
        "Covariance and integrals",
        "Covariance, correlation, and integrals by trapezoids.",
    ),
    "summaries": (
        "Without NaN, and two at once",
        "Sums and means of what is not NaN; minimum and maximum, or mean and variance, together.",
    ),
    "tensors": (
        "Tensors from data",
        "Tensors from numbers, lists and arrays.",
    ),
    "threads": (
        "Threads",
        "How many threads operations may use.",
    ),
    "types": (
        "Questions about dtypes",
        "Their limits, their kinds, and what several of them are together.",
    ),
}  # fmt: skip
