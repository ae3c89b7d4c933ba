"""``make_fx`` beside PyTorch's: the operators below autograd, their overloads and arguments, to the character."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest

import wengert

CALLS = """
im,k: F.conv2d(im,k,None,2,1)
x,z: F.layer_norm(x,(4,),z[0],z[1])
x: F.gelu(x)
x: F.gelu(x,approximate='tanh')
z,c: F.cross_entropy(z,c)
z,c: F.nll_loss(z,c)
im: F.adaptive_avg_pool2d(im,2)
im: F.group_norm(im,3)
i,z: F.embedding(i,z)
x: F.log_softmax(x,1)
x,z: F.linear(x,z)
z: F.linear(z,z,z[:,0])
x: F.mse_loss(x,x*2)
x: F.dropout(x,0.5,False)
x: F.silu(x)
x: F.leaky_relu(x,.2)
x: F.elu(x)
x: F.softplus(x)
x: F.hardtanh(x)
im: F.interpolate(im,scale_factor=2)
im: F.interpolate(im,scale_factor=2,mode='bilinear')
x: x.var(1)
x: x.mean(1)
x: x.max(1)[0]
x: x.flatten(1)
x: x.permute(1,0,2).reshape(3,8)
x: torch.cat([x,x])
x: torch.stack([x,x])
x: x[:,1:]
x,i: x[:,i]
x: x.split([1,2],1)[1]
x: x.transpose(0,1)
x: x>0
x: torch.where(x>0,x,x*2)
x: x.masked_fill(x>0,0.)
x: x.clamp(0,1)
x: x**2
x: 1-x
x: x/2
x: x.unsqueeze(0).squeeze(0)
x: x.expand(2,2,3,4)
x: x.repeat(1,2,1)
z: z.tril()
x: x.cumsum(1)
x: x.topk(2)[0]
x,z: F.prelu(x,z[:,0])
x: F.binary_cross_entropy_with_logits(x,x)
x: F.l1_loss(x,x*2)
x: F.smooth_l1_loss(x,x*2)
x: F.huber_loss(x,x*2)
x: F.glu(x)
im,k: F.conv_transpose2d(im,k.transpose(0,1),stride=2)
x,k: F.conv1d(x,k[:,:,0])
x: x.to(torch.float64)
x: x.norm(dim=1)
x: x.logsumexp(1)
x: x.gather(1,torch.zeros(2,3,4,dtype=torch.int64))
x: F.relu(x)
x: F.hardswish(x)
x: F.mish(x)
z: torch.addmm(z[0,:3],z,z.t())
x: x.abs().rsqrt()
x: x.argmax(1)
x: x.amax(1)
x: x+torch.ones(4)
x: x+torch.arange(4)
im: F.max_pool2d(im, 2, 2)
im: F.avg_pool2d(im, 3, 1, 1)
x: x.softmax(2)
x: x @ x.transpose(1, 2)
x: x.sum(1)
x: x.std(1)
"""


def nodes_of(lib: Any, call: str) -> list[str]:
    make_fx = import_module(f"{lib.__name__}.fx.experimental.proxy_tensor").make_fx
    lib.manual_seed(0)
    inputs = {
        "x": lib.randn(2, 3, 4), "im": lib.randn(2, 3, 6, 6), "k": lib.randn(4, 3, 3, 3), "z": lib.randn(3, 4),
        "c": lib.tensor([0, 1, 3]), "i": lib.tensor([0, 1]),
    }  # fmt: skip
    names, _, expression = call.partition(": ")
    function = eval(f"lambda {names}: {expression}", {"torch": lib, "F": lib.nn.functional})
    given = [inputs[name] for name in names.split(",")]
    graph = make_fx(function)(*given)
    lib.testing.assert_close(graph(*given), function(*given))
    lines = [f"{n.name} = {n.target} {n.args} {n.kwargs}" for n in graph.graph.nodes if n.op == "call_function"]
    return [re.sub(r"<built-in function (\w+)>", r"\1", line).replace("wengert", "torch") for line in lines]


@pytest.mark.parametrize("call", CALLS.strip().split("\n"))
def test_the_operators_below_autograd_are_pytorchs(torch: Any, call: str) -> None:
    assert nodes_of(wengert, call) == nodes_of(torch, call)
