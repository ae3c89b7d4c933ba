"""What ``help(torch.add)`` shows besides the docstring that is written: parameters, result, an example, its import.

`_base.docstrings` says when it is put together.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

from .registry import PUBLIC, REGISTRY

_NAMES = """
input: the operand
other: the second operand: a tensor whose shape broadcasts with that of the first, or a number
self: the tensor
tensors: the tensors
out: a tensor that takes the result; it is resized if its shape is another
dim: the dimension, or for some functions several, counted from 0, or from -1 at the end
axis: NumPy's name of ``dim``
dims: the dimensions
keepdim: whether the reduced dimensions stay, with size 1
dtype: the dtype of the result, in which it is computed
device: where the result lies: "cpu", or "meta" for a tensor without data
requires_grad: whether the result is a leaf whose operations are recorded
pin_memory: for CUDA only; it must be False
layout: ``torch.strided``
memory_format: the order of the elements in memory
generator: where random numbers are drawn from; by default the global generator
size: the shape of the result, as integers or as one tuple
fill_value: the number that all elements are
weight: the weights; for a loss, the factor of each class or element
bias: what is added to each channel of the result
stride: the distance of neighbouring windows, an integer or one for each dimension
padding: how many elements are added on both sides, an integer or one for each dimension
dilation: the distance of the elements of a window
groups: into how many independent groups the channels fall
kernel_size: the size of a window, an integer or one for each dimension
output_size: the size of the result's last dimensions
output_padding: what is added to one side of the result
ceil_mode: whether the size of the result is rounded up
return_indices: whether the places of the maxima are returned too
count_include_pad: whether padding counts in a mean
divisor_override: the divisor of the mean, in place of the window's size
inplace: whether ``input`` itself is overwritten
training: whether this is training; otherwise dropout and its like do nothing and norms take running statistics
train: as ``training``
p: the order of the norm, or for dropout the probability
eps: what is added so that nothing is divided by zero
target: what the result should have been
reduction: "mean", "sum" or "none"
size_average: of PyTorch 0.3: use ``reduction``
reduce: of PyTorch 0.3: use ``reduction``; for scatter the reduction's name
margin: the margin of the loss
alpha: the factor of the second operand, or of the product
beta: the factor of ``input``, or the function's parameter
A: a matrix, or a batch of shape (*, m, n)
B: the right-hand side, a matrix or a batch
upper: whether the upper triangle is meant and not the lower one
left: whether the system is A X = B and not X A = B
hermitian: whether the matrix is Hermitian, so that one triangle is read
check_errors: whether a failure raises an error
rtol: the relative tolerance
atol: the absolute tolerance
equal_nan: whether two NaN are equal
driver: the name of a LAPACK routine, for CUDA only
full_matrices: whether the factors are square
n: the length of the transformed signal, or the degree, or the number of repetitions
s: the lengths of the transformed signal, one for each dimension
norm: the normalization: "forward", "backward" or "ortho"
d: the distance of two samples
value: the number, or the factor
tensor1: the first factor
tensor2: the second factor
exponent: the exponent, a tensor or a number
rounding_mode: None for true division, "trunc" or "floor"
decimals: the number of decimals
min: the lower bound, a tensor or a number
max: the upper bound, a tensor or a number
condition: where the first value is taken, a tensor of bools
index: the places, a tensor of integers
indices: the places, tensors of integers
indices_or_sections: the number of parts, or the places where they begin
src: the values that are written
source: the values that are written, or where they come from
destination: where the dimensions go
mask: a tensor of bools
values: the values
accumulate: whether the values are added and not written
include_self: whether the elements that are there take part
start: the first number, or the first place
end: the end, which for ``arange`` is not reached
steps: the number of elements
step: the distance of two elements
base: the base of the powers
diagonal: which diagonal: 0 is the main one, above it positive
offset: which diagonal: 0 is the main one, above it positive
dim0: the first dimension
dim1: the first of two dimensions
dim2: the second of two dimensions
start_dim: the first dimension
end_dim: the last dimension
chunks: the number of parts
sections: the number of parts, or their sizes
split_size: the size of a part, or a list of sizes
split_size_or_sections: the size of a part, or a list of sizes
split_sizes: the sizes of the parts
shifts: how far the elements move
repeats: how often an element is repeated
storage_offset: the place of the first element in memory
length: the number of elements
shape: the shape
sorted: whether the results are in order
stable: whether equal elements keep their order
descending: whether the largest come first
largest: whether the largest are meant and not the smallest
k: how many
q: the quantile, from 0 to 1, or a tensor of them
return_inverse: whether it is told which one each element is
return_counts: whether it is told how often each one comes
bins: the number of bins, or their bounds
correction: what is subtracted from the number of elements in the divisor
unbiased: whether the divisor is N - 1
interpolation: how to find a quantile between two elements
mat1: the first matrix
mat2: the second matrix
mat: the matrix
vec: the vector
vec1: the first vector
vec2: the second vector
batch1: the first batch of matrices
batch2: the second batch of matrices
x: the operand
y: the second operand
x1: the first points, of shape (*, n, d)
x2: the second points, of shape (*, m, d)
a: the first operand
b: the second operand
input1: the first operand
input2: the second operand
hx: the state before
running_mean: the mean of earlier batches, updated in training
running_var: the variance of earlier batches, updated in training
momentum: the weight of this batch in the running statistics
normalized_shape: the last dimensions, over which is normalized
num_groups: into how many groups the channels fall
align_corners: whether the corners of the input and of the result are the same points
mode: the name of the method
padding_mode: what lies outside: "zeros", "border" or "reflection"
grid: the places that are sampled, from -1 to 1
theta: the affine matrices
scale_factor: how many times larger the result is
pad: how many elements are added before and after, from the last dimension on
padding_idx: the row that has no gradient
max_norm: the largest norm of a row; larger ones are scaled down in place
norm_type: the order of the norm
scale_grad_by_freq: whether gradients are divided by how often a row is taken
sparse: whether the gradient is a sparse tensor
ignore_index: the class that does not count
label_smoothing: how much of the target is spread over all classes
pos_weight: the factor of positive examples
log_target: whether the target is a logarithm
log_input: whether the input is a logarithm
threshold: the threshold
third: the second operand in PyTorch 0.4's order, ``add(input, alpha, other)``
negative_slope: the slope below zero
lambd: the half width of the flat part
lower: the lower bound of the slope
min_val: the lower bound
max_val: the upper bound
approximate: "none" or "tanh"
num_classes: the number of classes; by default one more than the largest
num_samples: how many are drawn
replacement: whether one may be drawn again
window_length: the number of elements
periodic: whether the window repeats after its length
query: the queries, of shape (*, L, E)
key: the keys, of shape (*, S, E)
attn_mask: what is added to the scores, or where they count
dropout_p: the probability of dropout
is_causal: whether later places do not count
anchor: the first of the three
positive: what should be near
negative: what should be far
swap: whether the nearer of both distances counts
pivot: whether rows are exchanged
ord: the norm's order: a number, or its name
tol: the tolerance
"""


def whole(text: str, names: tuple[str, ...]) -> str:
    """A docstring with what is not in it yet, of the function of these public names."""
    space, _, name = names[-1].rpartition(".")
    function = PUBLIC[space][name]
    text = inspect.cleandoc(text)
    parts = [text.partition("\n>>>")[0].rstrip()] if "\n>>>" in text else [text]
    examples = text[len(parts[0]) :].strip("\n") or _example(names)
    if examples and "wengert" not in examples:
        examples = f">>> import wengert as torch\n{examples}"
    if "Args:" not in text:
        parts.append(_parameters(function))
    if "Returns:" not in text:
        parts.append(_result(function, name, text))
    return "\n\n".join(part for part in [*parts, examples] if part)


def _parameters(function: Any) -> str:
    meanings = dict(line.split(": ", 1) for line in _NAMES.strip().splitlines())
    lines = []
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.VAR_KEYWORD or p.name.startswith("_"):
            continue
        facts = [] if p.annotation is p.empty or "Any" in str(p.annotation) else [_named(p.annotation)]
        if p.annotation is p.empty and p.name in ("input", "self", "out"):
            facts.append("Tensor" if p.name != "out" else "Tensor | None")
        facts += [] if p.default is p.empty else [f"default {p.default!r}"]
        star = "*" if p.kind is p.VAR_POSITIONAL else ""
        head = f"{star}{p.name} ({', '.join(facts)})".removesuffix(" ()").replace("DType", "dtype")
        meaning = meanings.get(p.name, "")
        wrapped = textwrap.wrap(f"{head}: {meaning}." if meaning else head, 108, subsequent_indent="    ")
        lines += [f"    {line}" for line in wrapped]
    return "\n".join(["Args:", *lines]) if lines else ""


def _named(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _result(function: Any, name: str, text: str) -> str:
    signature = inspect.signature(function)
    info = next((i for _, i in REGISTRY.here() if function in (i.op, vars(i).get("method"))), None)
    kind = "" if info is None else info.kind
    returned = _named(signature.return_annotation) if signature.return_annotation is not signature.empty else "Tensor"
    if returned == "None":
        return ""
    words = "a tensor or several, as described above" if returned in ("Any", "tuple") else returned
    if name.endswith("_") and not name.endswith("__"):
        words = "Tensor: the first argument, overwritten"
    elif name.endswith("_like"):
        words = "Tensor: of the shape of ``input``"
    elif "keepdim" in signature.parameters and returned == "Tensor":
        words = "Tensor: without the dimensions ``dim``, or with size 1 in their places if ``keepdim`` is true"
    elif kind == "binary" or "broadcasting" in text:
        words = "Tensor: of the shape to which the operands broadcast"
    elif kind == "unary":
        words = "Tensor: of the shape of ``input``"
    elif "size" in signature.parameters and returned == "Tensor":
        words = "Tensor: of the shape ``size``"
    return f"Returns:\n    {words}."


def _example(names: tuple[str, ...]) -> str:
    from .examples import EXAMPLES

    calls = [f"{name}(" for name in (*names, *(f".{name.rpartition('.')[2]}" for name in names))]
    blocks = EXAMPLES.strip().split("\n\n")
    return next((block for call in calls for block in blocks if call in block), "") or _example_of_form(names)


def _example_of_form(names: tuple[str, ...]) -> str:
    """The first example of the function of which this is the form in place (``exp_``) or the copying one."""
    full = next((name for name in names if not name.startswith("Tensor.")), "")  # an example calls no method
    space, _, name = full.rpartition(".")
    plain = name.removesuffix("_").removesuffix("_copy")
    shown = "" if plain == name else inspect.getdoc(PUBLIC[space].get(plain)) or ""
    call = re.search(rf"^>>> [^\n]*\b{plain}\(.*?(?=\n>>>|\n\n|\Z)", shown, re.DOTALL | re.MULTILINE)
    return re.sub(rf"\b{plain}\(", f"{name}(", call[0]) if call else ""
