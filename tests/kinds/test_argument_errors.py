"""Errors of public functions in place of those that NumPy, SciPy and Python raise inside of them."""

from __future__ import annotations

import sys
import traceback
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import wengert
import wengert as torch
from wengert._kinds.argument_parser import _table
from wengert._kinds.argument_parser import refusal as said

CALLS = {
    "diagonal_scatter(): argument 'src' (position 2) must be Tensor, not int": lambda x: torch.diagonal_scatter(x, 1),
    "cumsum(): argument 'dim' (position 2) must be int, not str": lambda x: torch.cumsum(x, "a"),  # type: ignore[arg-type]
    "gather(): argument 'index' (position 3) must be Tensor, not float": lambda x: torch.gather(x, 0, 1.5),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("text", CALLS)
def test_the_argument_is_named_and_nothing_waits_for_the_collector(text: str, no_gc: None) -> None:
    x = torch.ones(3, 3)
    alive = weakref.ref(x)
    with pytest.raises(TypeError) as raised:
        CALLS[text](x)
    assert str(raised.value) == text
    del raised, x
    assert alive() is None


def test_errors_of_the_program_itself_stand() -> None:
    class Own(ValueError):
        pass

    def hook(g: Any) -> Any:
        raise Own("mine")

    x = torch.ones(2, requires_grad=True)
    x.register_hook(hook)
    with pytest.raises(Own, match="mine"):
        x.sum().backward()
    with pytest.raises(ZeroDivisionError):
        torch.func.grad(lambda x: x.sum() / (1 // 0))(x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        torch.cumsum(x, 0, foo=1)  # type: ignore[call-arg]


def test_numpys_dtypes_may_be_equal_without_being_identical() -> None:
    other = np.dtype("f8").newbyteorder("=")
    a = np.ones(3).view(np.dtype(other.str))
    assert (torch.from_numpy(a) + torch.ones(3, dtype=torch.float64)).dtype is torch.float64


def test_a_warning_that_the_program_makes_an_error_stays_what_it_is() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="degrees of freedom"):
            torch.var(torch.ones(1))


# which two of several shapes PyTorch names
UNEQUAL = {
    (2, 3): lambda o: torch.broadcast_tensors(o(2), o(1), o(3), o(4)),
    (3, 4): lambda o: torch.where(o(1) > 0, o(3), o(4)),
    (2, 5): lambda o: torch.addcmul(o(2), o(5), o(7)),
    (5, 7): lambda o: torch.normal(o(5), o(7)),
    (6, 4): lambda o: o(4).masked_fill(o(6) > 0, 1.0),
    (4, 6): lambda o: o(4).copy_(o(6)),
    (7, 2): lambda o: torch.nn.functional.pairwise_distance(o(7, 2), o(2, 2)),
}


@pytest.mark.parametrize("sizes", UNEQUAL)
def test_the_first_two_shapes_that_do_not_broadcast_are_named(sizes: tuple[int, int]) -> None:
    a, b = sizes
    text = rf"tensor a \({a}\) must match the size of tensor b \({b}\) at non-singleton dimension 0"
    with pytest.raises(RuntimeError, match=text):
        UNEQUAL[sizes](torch.ones)


# What one of Python's or NumPy's errors came out of once; the class and the first sentence are PyTorch's.
REFUSED = {
    "torch.result_type(x, None)": "TypeError: result_type() received an invalid combination of arguments - got "
    "(Tensor, NoneType), but expected one of:",
    "F.hinge_embedding_loss(1.5, 3)": "TypeError: hinge_embedding_loss(): argument 'input' (position 1) must be "
    "Tensor, not float",
    "F.gumbel_softmax('a')": "TypeError: empty_like(): argument 'input' (position 1) must be Tensor, not str",
    "torch.FloatTensor(2, 2**63)": "TypeError: new(): argument 'size' failed to unpack the object at pos 2 with error "
    '"Overflow when unpacking long long',
    "torch.nn.utils.rnn.pad_sequence([x, 3])": "TypeError: expected Tensor as element 1 in argument 0, but got int",
    "torch.nn.utils.rnn.pack_padded_sequence(3, [1])": "TypeError: _pack_padded_sequence(): argument 'input' "
    "(position 1) must be Tensor, not int",
    "torch.nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 2), 3)": "RuntimeError: 'lengths' argument should be a "
    "1D CPU int64 tensor, but got 0D cpu Long tensor",
    "torch.autograd.grad('sum', x)": "AssertionError: Expected output to be a torch.Tensor",
    "torch.autograd.backward([x.sum(), 3])": "AssertionError: Expected output to be a torch.Tensor",
    "F.avg_pool2d(torch.ones(1, 4, 4), 1.5)": "TypeError: avg_pool2d(): argument 'kernel_size' (position 2) must be "
    "tuple of ints, not float",
    "F.max_pool2d(torch.ones(1, 4, 4), 2, (2.0, 2))": "TypeError: max_pool2d(): argument 'stride' (position 3) must be "
    "tuple of ints, but found element of type float at pos 0",
    "F.avg_pool1d(torch.ones(1, 1, 4), 2, 1, 0.5)": "TypeError: avg_pool1d(): argument 'padding' (position 4) must be "
    "tuple of ints, not float",
    "F.adaptive_avg_pool2d(torch.ones(1, 4, 4), (1.5, 2))": "TypeError: adaptive_avg_pool2d(): argument 'output_size' "
    "(position 2) must be tuple of ints, but found element of type float at pos 0",
    "F.max_pool1d(torch.ones(1, 4), True, 1)": "TypeError: max_pool1d(): argument 'kernel_size' (position 2) must be "
    "tuple of ints, not bool",
    "torch.Tensor.item((1,))": "TypeError: descriptor 'item' for 'torch._C.TensorBase' objects doesn't apply to a "
    "'tuple' object",
    "torch.Tensor.bool(3)": "TypeError: descriptor 'bool' for 'torch._C.TensorBase' objects doesn't apply to a 'int' "
    "object",
    "torch.ones(2, out=3)": "TypeError: ones(): argument 'out' must be Tensor, not int",
    "torch.atan(x, out=[x])": "TypeError: atan(): argument 'out' must be Tensor, not list",
    "torch.eye(2).to_sparse_csc({'a': 1})": "TypeError: to_sparse_csc(): argument 'dense_dim' (position 1) must be "
    "int, not dict",
    "torch.eye(2).to_sparse_csc(True)": "TypeError: to_sparse_csc(): argument 'dense_dim' (position 1) must be int, "
    "not bool",
    "torch.fft.fftfreq(4, 'a')": "TypeError: fft_fftfreq(): argument 'd' (position 2) must be float, not str",
    "torch.fft.fftn(x, torch.ones(1, 1, 2))": "TypeError: fft_fftn(): argument 's' (position 2) must be tuple of ints, "
    "not Tensor",
    "torch.nn.functional.avg_pool1d(x, 2, torch.ones(3))": "TypeError: avg_pool1d(): argument 'stride' (position 3) "
    "must be tuple of ints, not Tensor",
    "torch.sparse.mm(3, x)": "TypeError: _sparse_mm(): argument 'sparse' (position 1) must be Tensor, not int",
    "torch.sparse.sum(3)": "TypeError: _sparse_sum(): argument 'input' (position 1) must be Tensor, not int",
    "torch.sparse.addmm(x, 3, x)": "TypeError: _sparse_addmm(): argument 'mat1' (position 2) must be Tensor, not int",
    "torch.nn.functional.multi_margin_loss(torch.nn.ReLU(), x)": "TypeError: multi_margin_loss(): argument 'input' "
    "(position 1) must be Tensor, not ReLU",
    "torch.lcm_(torch.ones(2, 3), torch.tensor([6, 9]))": "RuntimeError: The size of tensor a (3) must match the size "
    "of tensor b (2) at non-singleton dimension 1",
    "torch.broadcast_shapes((2, -1))": "ValueError: Attempting to broadcast a dimension with negative length!",
    "torch.broadcast_shapes((1,), 0.5)": "RuntimeError: Input shapes should be of type ints, a tuple of ints, or a "
    "list of ints, got 0.5",
    "torch.tensor([[1., 2.], object()])": "RuntimeError: Could not infer dtype of object",
    "torch.tensor([0., [None]])": "RuntimeError: Could not infer dtype of NoneType",
    "torch.tensor([[1., 2.], torch.ones(2, 3)])": "ValueError: only one element tensors can be converted to Python "
    "scalars",
    "torch.tensor([[[1, 2], [3]], 2.0])": "ValueError: expected sequence of length 2 at dim 2 (got 1)",
    "torch.tensor([3., range(3), 2.])": "TypeError: must be real number, not range",
    "torch.tensor([True, torch.arange(3)])": "TypeError: only integer tensors of a single element can be converted to "
    "an index",
    "torch.addmm(torch.ones(2, 2) > 0, torch.ones(2, 2), torch.ones(2, 2))": "RuntimeError: self and mat2 must have "
    "the same dtype, but got Bool and Float",
    "torch.futures.Future().then(3)": "TypeError: then(): incompatible function arguments",
    "torch.overrides.has_torch_function(3)": "TypeError: expected a sequence",
    "torch.nn.init.calculate_gain({})": "ValueError: Unsupported nonlinearity {}",
    "torch.distributions.CorrCholeskyTransform()(3)": "TypeError: tanh(): argument 'input' (position 1) must be "
    "Tensor, not int",
    "torch.nn.UninitializedParameter().materialize(torch.float32)": "TypeError: empty(): argument 'size' (position 1) "
    "must be tuple of ints, not torch.dtype",
    "torch.tensor([[1.], 'a'])": "TypeError: new(): invalid data type 'str'",
    "torch.clamp(x, min='a')": "TypeError: clamp() received an invalid combination of arguments - got (Tensor, "
    "min=str), but expected one of:",
    "torch.rand([2], out=x, generator=3, dtype=torch.float32)": "TypeError: rand() received an invalid combination of "
    "arguments - got (list, dtype=torch.dtype, generator=int, out=Tensor), but expected one of:",
    "torch.arange(1.5, end=x, layout=torch.strided)": "TypeError: arange() received an invalid combination of "
    "arguments - got (float, layout=torch.layout, end=Tensor), but expected one of:",
    "torch.bernoulli(x, 'a', generator=torch.Generator())": "TypeError: bernoulli() received an invalid combination of "
    "arguments - got (Tensor, str, generator=torch._C.Generator), but expected one of:",
    "torch.zeros(2, 'a')": "TypeError: zeros(): argument 'size' failed to unpack the object at pos 2 with error \"type "
    'must be tuple of ints,but got str"',
    "torch.zeros('a', 2)": "TypeError: zeros() takes 1 positional argument but 2 were given",
    "torch.ones(2, dtype='a', pin_memory=True)": "TypeError: ones(): argument 'dtype' must be torch.dtype, not str",
    "torch.special.zeta('a', x)": "TypeError: special_zeta() received an invalid combination of arguments - got (str, "
    "Tensor), but expected one of:",
    "torch.greater(x, {})": "TypeError: greater() received an invalid combination of arguments - got (Tensor, dict), "
    "but expected one of:",
    "x.greater({})": "TypeError: greater() received an invalid combination of arguments - got (dict), but expected one "
    "of:",
    "x.add()": "TypeError: add() received an invalid combination of arguments - got (), but expected (Tensor other, *, "
    "Number alpha = 1)",
    "x.gcd()": 'TypeError: gcd() missing 1 required positional arguments: "other"',
    "torch.Tensor.gcd(x, other='a')": "TypeError: gcd(): argument 'other' must be Tensor, not str",
    "x.transpose(0)": 'TypeError: transpose() missing 1 required positional arguments: "dim1"',
    "x.erf_(1)": "TypeError: TensorBase.erf_() takes no arguments (1 given)",
    "torch._foreach_add([x], 'a')": "TypeError: _foreach_add() received an invalid combination of arguments - got "
    "(list, str), but expected one of:",
    "torch.can_cast(torch.float32, to=[])": "TypeError: can_cast(): argument 'to' must be torch.dtype, not list",
    "x.rot90(1, 1)": "TypeError: rot90(): argument 'dims' (position 2) must be tuple of ints, not int",
    "x.prod(0, 1)": "TypeError: prod(): argument 'keepdim' (position 2) must be bool, not int",
    "x.all(0, 1)": "TypeError: all() received an invalid combination of arguments - got (int, int), but expected one "
    "of:",
    "x.amax(0, keepdim=1)": "TypeError: amax(): argument 'keepdim' must be bool, not int",
    "torch.mode(x, 0, 1)": "TypeError: mode(): argument 'keepdim' (position 3) must be bool, not int",
    "x.sum(0, 0)": "TypeError: sum(): argument 'keepdim' (position 2) must be bool, not int",
    "x.var(0, keepdim=1)": "TypeError: var() received an invalid combination of arguments - got (int, keepdim=int), "
    "but expected one of:",
    "x.topk(1, 0, 1)": "TypeError: topk(): argument 'largest' (position 3) must be bool, not int",
    "torch.unique(x, 1)": "TypeError: _unique2(): argument 'sorted' must be bool, not int",
    "x.clamp_(0, 1, 2)": "TypeError: clamp_() received an invalid combination of arguments - got (int, int, int), but "
    "expected one of:",
    "torch.svd(x, 1)": "TypeError: svd(): argument 'some' (position 2) must be bool, not int",
    "x.nan_to_num('a')": "TypeError: nan_to_num(): argument 'nan' (position 1) must be float, not str",
    "torch.hann_window(4, 1)": "TypeError: hann_window() received an invalid combination of arguments - got (int, "
    "int), but expected one of:",
    "torch.isclose(x, x, equal_nan=1)": "TypeError: isclose(): argument 'equal_nan' must be bool, not int",
    "x.nonzero(as_tuple=1)": "TypeError: nonzero(): argument 'as_tuple' must be bool, not int",
    "torch.multinomial(x, 1, 1)": "TypeError: multinomial(): argument 'replacement' (position 3) must be bool, not int",
    "x.to(torch.float32, non_blocking=1)": "TypeError: to() received an invalid combination of arguments - got "
    "(torch.dtype, non_blocking=int), but expected one of:",
    "x.diagonal(torch.tensor([1]))": "TypeError: diagonal(): argument 'offset' (position 1) must be int, not Tensor",
    "x.chunk(torch.tensor([1]))": "TypeError: chunk(): argument 'chunks' (position 1) must be int, not Tensor",
    "x.flip(True)": "TypeError: flip(): argument 'dims' (position 1) must be tuple of ints, not bool",
    "x.roll(True)": "TypeError: roll(): argument 'shifts' (position 1) must be tuple of ints, not bool",
    "x.diff(0.5)": "TypeError: diff(): argument 'n' (position 1) must be int, not float",
    "x.reshape(shape=6)": "TypeError: reshape(): argument 'shape' must be tuple of ints, not int",
    "x.resize_(size=3)": "TypeError: resize_(): argument 'size' must be tuple of ints, not int",
    "x.as_strided(2, 1)": "TypeError: as_strided(): argument 'size' (position 1) must be tuple of ints, not int",
    "x.unsafe_split((1, 1))": "TypeError: unsafe_split(): argument 'split_size' (position 1) must be int, not tuple",
    "x.vsplit(0)": "RuntimeError: torch.vsplit attempted to split along dimension 0, but the size of the dimension 2 "
    "is not divisible by the split_size 0!",
    "x.sum_to_size()": 'TypeError: sum_to_size() missing 1 required positional arguments: "size"',
    "x[2**63]": "ValueError: Overflow when unpacking long long",
    "x.sum(2**63)": "ValueError: Overflow when unpacking long long",
    "x.sum((0, 2**63))": "TypeError: sum(): argument 'dim' failed to unpack the object at pos 2 with error "
    '"Overflow when unpacking long long',
    "x.diag_embed(2**63)": "ValueError: Overflow when unpacking long long",
    "x.view(2**63)": "TypeError: view(): argument 'size' failed to unpack the object at pos 1 with error \"Overflow "
    "when unpacking long long",
    "x.long() < 2**64": "OverflowError: int too big to convert",
    "x.long().fill_(-2**64)": "OverflowError: can't convert negative int to unsigned",
    "torch.full((2,), 2**64, dtype=torch.int64)": "OverflowError: int too big to convert",
    "torch.tensor(torch.float32)": "RuntimeError: Could not infer dtype of torch.dtype",
    "torch.tensor([torch.Generator()])": "RuntimeError: Could not infer dtype of torch._C.Generator",
    "torch.tensor('a', device={})": "TypeError: tensor(): argument 'device' must be torch.device, not dict",
    "torch.as_tensor('a', device=x)": "TypeError: as_tensor(): argument 'device' must be torch.device, not Tensor",
    "torch.asarray(x, copy='a')": "TypeError: asarray(): argument 'copy' must be bool, not str",
    "torch.linspace(0, 'a', -1)": "TypeError: linspace() received an invalid combination of arguments - got (int, "
    "str, int), but expected one of:",
    "x.to_sparse(1.5)": "TypeError: to_sparse() received an invalid combination of arguments - got (float), but "
    "expected one of:",
    "x.new([1], 'a', device='cpu')": "TypeError: new() received an invalid combination of arguments - got (list, "
    "str, device=str), but expected one of:",
    "torch.frombuffer(bytearray(8), dtype=torch.float32, count=1.5)": "TypeError: frombuffer(): argument 'count' "
    "must be int, not float",
    "torch.trapz(x, dim=0, axis=1)": "TypeError: trapz() received an invalid combination of arguments - got (Tensor, "
    "axis=int, dim=int), but expected one of:",
    "F.conv2d(x.long(), torch.ones(2, 3, 2, 2), torch.ones(2))": "RuntimeError: Input type (long int) and bias type "
    "(float) should be the same",
    "F.layer_norm(x, (3,), torch.ones(3).double())": "RuntimeError: mixed dtype (CPU): expect parameter to have "
    "scalar type of Float",
    "F.group_norm(x.long(), 2)": "RuntimeError: Expected number of channels in input to be divisible by num_groups, "
    "but got input of shape [2, 3] and num_groups=2",
    "torch.group_norm(x, 0)": "RuntimeError: Expected num groups to be greater than 0, got 0",
    "torch.mm(x, x.double())": "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
    "F.linear(x, torch.ones(2, 2).double())": "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x2)",
    "F.pairwise_distance(x, 3)": "TypeError: pairwise_distance(): argument 'x2' (position 2) must be Tensor, not int",
    "F.poisson_nll_loss(x, 3)": "TypeError: poisson_nll_loss(): argument 'target' (position 2) must be Tensor, not int",
}


def refusal(library: Any, code: str) -> str:
    try:
        eval(code, {"torch": library, "x": library.ones(2, 3), "F": library.nn.functional})
    except Exception as error:  # noqa: BLE001  it is compared
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return ""


@pytest.mark.parametrize("code", REFUSED)
def test_the_error_is_pytorchs(code: str) -> None:
    torch.ones(2).sum()
    assert refusal(torch, code) == REFUSED[code]


@pytest.mark.parametrize("code", REFUSED)
def test_the_error_of_pytorch_is_that(code: str, request: pytest.FixtureRequest) -> None:
    assert refusal(request.getfixturevalue("torch"), code).rstrip(".").split(". ")[0] == REFUSED[code]


def test_the_whole_text_is_pytorchs(torch: Any) -> None:
    for code in ("torch.index_fill(x, 0, 'a', 1)", "torch.max(x, dim='a', out=3)", "torch.where(x, 'a')"):
        texts = []
        for library in (torch, wengert):
            with pytest.raises(TypeError) as error:
                eval(code, {"torch": library, "x": library.ones(2)})
            texts.append(str(error.value))
        assert texts[0] == texts[1]


def test_keywords_given_by_an_unpacked_dict() -> None:
    given = {"dim": 1.5}
    with pytest.raises(TypeError, match=r"cumsum\(\): argument 'dim' must be int, not float"):
        eval("torch.cumsum(*args, **given)", {"torch": wengert, "args": (wengert.ones(2),), "given": given})


TAKE_NOTHING = {".sum_to_size", ".flip", ".tile", ".resize_", ".multinomial", ".permute"}  # any number of dims


@pytest.mark.filterwarnings("ignore:torch.lu_solve is deprecated:UserWarning")
def test_every_method_refuses_a_call_without_arguments() -> None:
    """``REQUIRED`` in the place of an argument is found wherever the argument is used."""
    failed = 0
    for name in _table():
        if name[0] == "." and name[1] != "_" and name not in TAKE_NOTHING and said(name, (), {}):
            with pytest.raises(TypeError):
                eval(f"x{name}()", {"x": wengert.ones(2, 2)})
            failed += 1
    assert failed > 150


def test_an_error_that_is_replaced_shows_one_frame_too() -> None:
    with pytest.raises(TypeError) as raised:
        wengert.zeros_like(wengert.ones(2), pin_memory=True, requires_grad=3)  # type: ignore[arg-type]
    assert len(list(traceback.walk_tb(raised.value.__traceback__))) == 2


def test_another_error_shows_one_frame_and_leaves_nothing(no_gc: None) -> None:
    x = torch.ones(3)
    alive = weakref.ref(x)
    with pytest.raises(TypeError) as raised:
        torch.Tensor.bool([x])  # type: ignore[arg-type]
    lines = [line for _, line in traceback.walk_tb(raised.value.__traceback__)]
    assert len(lines) == 2
    assert raised.value.__suppress_context__ and sys.exception() is None
    del raised, x
    assert alive() is None


def test_nested_sequences_of_several_kinds() -> None:
    assert torch.tensor([[1.0, 2.0], torch.tensor([3.0, 4.0])]).tolist() == [[1, 2], [3, 4]]
    assert torch.tensor([[1, 2], np.array([3, 4]), range(2)]).tolist() == [[1, 2], [3, 4], [0, 1]]


def test_what_is_too_large_for_memory_is_pytorchs_error() -> None:
    """Programs that look for the largest batch that fits catch a RuntimeError, and look for words in it."""
    x = torch.zeros(1).expand(2**45)
    row = torch.zeros(2**23, 1, requires_grad=True)
    for call in (
        lambda: x * 2, lambda: x.clone(), lambda: torch.cat([x, x]), lambda: row @ row.T, lambda: x.double(),
        lambda: torch.nn.functional.pad(torch.zeros(1), (2**45, 0)), lambda: torch.randperm(2**45), lambda: x.exp(),
        lambda: torch.nn.Linear(1, 2**45), lambda: torch.nn.Upsample(size=2**45)(torch.zeros(1, 1, 1)),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="DefaultCPUAllocator: can't allocate memory: you tried to allocate"):
            call()


def test_numbers_of_numpy_have_the_dtype_of_pythons_in_promotion() -> None:
    x = torch.ones(2)
    assert torch.result_type(x, np.int64(2)) is torch.result_type(x, np.float64(2)) is torch.float32
    assert torch.result_type(x.long(), np.float32(2)) is torch.float32
    assert torch.result_type(np.bool_(True), x.int()) is torch.int32
