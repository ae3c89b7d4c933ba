"""Calls whose graphs of operators ``test_make_fx`` compares: what ``make_fx`` writes for each, as JSON."""

import json
import re

import torch
from torch import nn
from torch._decomp import decomposition_table
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F

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
x: x.softmax(-1)
x: F.log_softmax(x,-1)
x: x.sum(-1)
x: x.sum((-1,-2))
x: x.mean(-1)
x: x.mean((0,-1),keepdim=True)
x: x.max(-1)[0]
x: x.min(dim=-1).indices
x: x.argmax(-1)
x: x.amax(-1)
x: x.amin((-1,-2))
x: x.var(-1)
x: x.std(-1,unbiased=False)
x: x.transpose(-1,-2)
x: x.permute(0,-1,1)
x: torch.cat([x,x],-1)
x: torch.stack([x,x],-1)
x: x.unsqueeze(-1)
x: x.unsqueeze(-2).squeeze(-2)
x: x.cumsum(-1)
x: x.split(2,-1)[0]
x: x.chunk(2,-1)[1]
x: x.flatten(-2)
x: x.flatten(-2,-1)
x: x.narrow(-1,1,2)
x: x.select(-1,0)
x: x[...,-1]
x: x[...,:-1]
x: x[:,-2:]
x: x.logsumexp(-1)
x: x.norm(dim=-1)
x: torch.linalg.vector_norm(x,dim=-1)
x: x.gather(-1,torch.zeros(2,3,4,dtype=torch.int64))
x: x.index_select(-1,torch.tensor([0,1]))
x: x.sort(-1)[0]
x: x.sort(descending=True)[0]
x: x.argsort(-1)
x: x.topk(2,-1)[0]
x: [x.topk(2, sorted=False), {"a": x.max(1)}]
x: x.topk(2,dim=1)[0]
x: F.glu(x,-1)
x: x.prod(-1)
x: x.cumprod(-1)
x: x.flip(-1)
x: x.roll(1,-1)
x: x.unbind(-1)[0]
x: x.movedim(-1,0)
x: x.diagonal(0,-1,-2)
x: x.all(-1)
x: x.any(-1)
x: x.median(-1)[0]
x: x.kthvalue(2,-1)[0]
x: x.reshape(-1,4)
x: x.view(-1)
x: x.view(2,-1)
x: x.expand(-1,-1,4)
x: x.unflatten(-1,(2,2))
x: F.pad(x,(1,1),mode='replicate')
x: F.softmin(x,-1)
x: torch.einsum('bij,bjk->bik',x,x.transpose(1,2))
z: torch.einsum('ij,kj->ik',z,z)
z: torch.einsum('ij->ji',z)
z: torch.einsum('ij->',z)
z: torch.einsum('i,j->ij',z[0],z[1])
z: torch.einsum('ii->i',z[:3,:3])
x: torch.einsum('bhi,bhj->bij',x,x)
x: torch.einsum('...ij,...jk->...ik',x,x.transpose(1,2))
x,z: torch.einsum('bij,ij->b',x,z)
z: torch.einsum('ij,jk,kl->il',z,z.t(),z)
x: torch.addcmul(x,x,x)
x: torch.lerp(x,x*2,0.5)
x: x.masked_fill(x>0,-1e9).softmax(-1)
z: torch.triu(z,1)
x: x.new_zeros(2,3)
x: torch.zeros_like(x)+x
x: x.clone()
x: x.double()
x: x.bool()
x: x.sigmoid()*x.tanh()
x: x.sin()+x.cos()
x: -x
x: x.pow(3)
x: 2**x
x: x//2
x: x%2
x: torch.maximum(x,x*2)
x: x.round()
x: x.floor()
x: x==x
x: (x>0)&(x<1)
x: ~(x>0)
x: x.erf()
x: F.softsign(x)
x: F.tanhshrink(x)
x: F.hardsigmoid(x)
x: F.threshold(x,0.1,20)
im: F.adaptive_max_pool2d(im,2)
im: F.max_pool2d(im,3,2,1)
im: F.pixel_shuffle(im.repeat(1,4,1,1),2)
im: F.unfold(im,2)
im,k: F.conv2d(im,k,stride=2,padding=1,dilation=1)
im,k: F.conv2d(im,k,torch.ones(4))
im: F.interpolate(im,size=(4,4),mode='bilinear',align_corners=True)
im: F.interpolate(im,scale_factor=2,mode='nearest')
im: F.grid_sample(im,torch.zeros(2,2,2,2),align_corners=False)
x: F.layer_norm(x,(4,))
x: F.embedding(torch.tensor([0,1]),x[0])
z: z@z.t()
z: torch.mm(z,z.t())
z: z.mv(z[0])
z: z[0].dot(z[1])
z: torch.outer(z[0],z[1])
x: torch.matmul(x,x[0,0])
x,z: torch.matmul(x,z.t())
x: torch.bmm(x,x.transpose(1,2))
x: torch.baddbmm(x@x.transpose(1,2),x,x.transpose(1,2))
x: torch.tensordot(x,x,dims=([0,1],[0,1]))
z: torch.trace(z[:3,:3])
x: x.scatter(1,torch.zeros(2,1,4,dtype=torch.int64),0.0)
x: x.scatter_add(1,torch.zeros(2,1,4,dtype=torch.int64),x[:,:1])
x: x.index_add(1,torch.tensor([0]),x[:,:1])
x: x.where(x>0,0.)
x: x.nonzero()
x: x.tile(2)
x: x.repeat(2,1,1)
x: x.squeeze()
x: x.isnan()
x: x.sum()
x: x.mean()
x: x.max()
x: x.sign()
x: x.reciprocal()
x: x.clamp_min(0)
x: x.clamp(min=0.5)
x: torch.logical_and(x>0,x<1)
x: torch.atan2(x,x)
x: x.abs()
x: torch.full_like(x,2.)
x: torch.ones(2,3)
x: torch.arange(3)+x[0,:,0]
x: torch.eye(3)@x[0]
x: torch.linspace(0,1,4)*x
x: x.type(torch.float64)
x: x.half().float()
x: x.to(torch.int64)
x: x.view_as(x)
x: x.expand_as(x)
x: x.swapaxes(0,1)
x: x.ravel()
x: x.square()
im: F.batch_norm(im,None,None,training=True)
im: F.batch_norm(im,torch.zeros(3),torch.ones(3))
x: x.mT
x: F.selu(x)
im: F.avg_pool2d(im,2)
im: F.max_pool2d(im,2)
z: torch.linalg.qr(z)[0]
z: torch.linalg.matrix_norm(z)
x: F.relu6(x)
x: F.logsigmoid(x)
x: F.pad(x,(1,1))
x: F.pad(x,(1,1),value=2.)
x: x.norm()
x: x.std()
x: x.H if x.ndim==2 else x.mH
x: x.T if x.ndim==2 else x.permute(2,1,0)
x: x.clip(0,1)
x: x.hypot(x)
im: F.conv_transpose2d(im,torch.ones(3,2,2,2))
im: F.max_pool2d(im,2,return_indices=True)[1]
x: x.new_ones(3)
x: x.add_(1)
x: x.exp_()
x: x.relu_()
x: x.cumprod(0)
x: torch.bincount(torch.tensor([1,2]))
x: x.unfold(1,2,1)
x: torch.vstack([x,x])
x: torch.nan_to_num(x)
x: x.histc(3)
x: torch.block_diag(x[0],x[1])
x: F.fold(F.unfold(torch.ones(1,1,4,4),2),(4,4),2)*x.sum()
"""
# Functions of which ``torch.autograd.grad`` of the sum is taken: the graph has the backward pass too.
SLOPES = """
x: x.sin()
x: x*x
x: x*2
x: x+x
x: x/2
x: -x
x: x.log()
x: x.transpose(0,1)*2
x: x.view(-1)*2
x: x.abs()
x: F.dropout(x,0.5,False)
x: x.permute(2,0,1)
x: x.reshape(6,4)
x: x.cos()
x: x.exp()
x: x.sqrt()
x: x.relu()
x: F.leaky_relu(x)
x: x.sigmoid()
x: x.tanh()
x: x.softmax(-1)
x: F.log_softmax(x,-1)
x: x**2
x: x**3
x: x/(x+3)
x: 1/x
x: x-x*2
x: x.mean()
x: x.sum(1)
x: x.mean(1)
x: x.var(1)
x: x.std(1)
x: x.max(1)[0]
x: x.amax(1)
x: x.max()
x: x[:,1:]
x: x[0]
x: x[:,0]
x: x.select(1,0)
x: torch.cat([x,x*2],1)
x: torch.stack([x,x])
x: x.expand(2,2,3,4)
x: x.unsqueeze(0)
x: x.squeeze()
x: x.flatten(1)
x: F.gelu(x)
x: F.gelu(x,approximate='tanh')
x: F.silu(x)
x: F.elu(x)
x: F.softplus(x)
x: F.hardtanh(x)
x: F.hardswish(x)
x: F.hardsigmoid(x)
x: F.logsigmoid(x)
x: F.mish(x)
x: F.selu(x)
x: F.celu(x)
x: F.relu6(x)
x: F.softsign(x)
x: x.clamp(0,1)
x: x.clamp_min(0)
x: torch.where(x>0,x,x*2)
x: x.masked_fill(x>0,0.)
x: x.cumsum(1)
x: x.prod(1)
x: x.logsumexp(1)
x: x.norm()
x: x.norm(dim=1)
x: x.topk(2)[0]
x: x.sort(1)[0]
x: x.gather(1,torch.zeros(2,1,4,dtype=torch.int64))
x: x.index_select(1,torch.tensor([0,1]))
x: x[:,torch.tensor([0,1])]
x: x.repeat(1,2,1)
x: x.roll(1,1)
x: x.flip(1)
x: F.pad(x,(1,1))
x: x.split(2,1)[0]
x: x.chunk(2,-1)[1]
x: x.unbind(0)[0]
x: x.tril()
x: x.diagonal(0,1,2)
x: torch.matmul(x,x.transpose(1,2))
x: torch.bmm(x,x.transpose(1,2))
x,z: F.linear(x,z)
z,c: F.linear(z,z,z[:,0])
z,c: z@z.t()
z,c: z.mv(z[0])
z,c: z[0].dot(z[1])
z,c: torch.addmm(z[:,0],z,z.t())
z,c: F.cross_entropy(z,c)
z,c: F.nll_loss(z,c)
z,c: F.mse_loss(z,z*2)
z,c: F.l1_loss(z,z*2)
z,c: F.smooth_l1_loss(z,z*2)
z,c: F.huber_loss(z,z*2)
z,c: F.binary_cross_entropy_with_logits(z,z.detach())
z,c: F.embedding(c[:2],z)
x: F.layer_norm(x,(4,))
x,z: F.layer_norm(x,(4,),z[0],z[1])
im: F.group_norm(im,3)
im: F.batch_norm(im,None,None,training=True)
im: F.batch_norm(im,torch.zeros(3),torch.ones(3))
im,k: F.conv2d(im,k)
k,im: F.conv2d(im,k,padding=1)
im,k: F.conv_transpose2d(im,k[:3])
im: F.max_pool2d(im,2)
im: F.avg_pool2d(im,2)
im: F.adaptive_avg_pool2d(im,2)
im: F.adaptive_max_pool2d(im,2)
im: F.interpolate(im,scale_factor=2)
im: F.interpolate(im,scale_factor=2,mode='bilinear')
im: F.pixel_shuffle(im.repeat(1,4,1,1),2)
im: F.unfold(im,2)
x: x.double()
x: x.clone()
x: x.detach()*x
x: torch.einsum('bij,bkj->bik',x,x)
x: F.prelu(x,torch.tensor([0.2]))
x: F.glu(x)
x: x.erf()
x: x.rsqrt()
x: x.reciprocal()
x: x.tan()
x: x.atan2(x*2)
x: x.minimum(x*2)
x: torch.lerp(x,x*2,0.5)
x: torch.addcmul(x,x,x)
x: x.expm1()
x: x.log1p()
x: x.pow(x.detach())
x: 2**x
x: F.threshold(x,0.1,20)
"""

DIVISIONS = """
x: torch.ops.aten.silu.default(x)
z: torch.ops.aten.t.default(z)
x: torch.ops.aten.transpose.int(x,0,1)
x: torch.ops.aten.rsub.Scalar(x,2)
x: torch.ops.aten.addcmul.default(x,x,x,value=2)
x: torch.ops.aten.addcdiv.default(x,x,x)
x: torch.ops.aten.mse_loss.default(x,x)
x: torch.ops.aten.mse_loss.default(x,x,0)
x: torch.ops.aten.smooth_l1_loss.default(x,x)
x: torch.ops.aten.huber_loss.default(x,x)
x: torch.ops.aten.soft_margin_loss.default(x,x)
x: torch.ops.aten.hardsigmoid.default(x)
x: torch.ops.aten.hardswish.default(x)
x: torch.ops.aten.mish.default(x)
x: torch.ops.aten.frac.default(x)
x: torch.ops.aten.deg2rad.default(x)
z: torch.ops.aten.mv.default(z,z[0])
z: torch.ops.aten.dot.default(z[0],z[0])
z: torch.ops.aten.addmm.default(z[:,:3],z[:,:3],z[:,:3],beta=2,alpha=3)
x: torch.ops.aten.threshold.default(x,.5,2.)
x: torch.ops.aten.masked_fill.Scalar(x,x>.5,0)
x: torch.ops.aten.sigmoid_backward.default(x,x)
x: torch.ops.aten.tanh_backward.default(x,x)
x: torch.ops.aten.silu_backward.default(x,x)
x: torch.ops.aten.threshold_backward.default(x,x,.5)
x: torch.ops.aten.elu.default(x)
x: torch.ops.aten.gelu.default(x)
x: torch.ops.aten.gelu.default(x,approximate='tanh')
x: torch.ops.aten.leaky_relu.default(x)
x: torch.ops.aten._softmax.default(x,1,False)
x: torch.ops.aten._log_softmax.default(x,1,False)
x: torch.ops.aten.clamp_min.default(x,.5)
x: torch.ops.aten.clamp_max.default(x,.5)
x: torch.ops.aten.isneginf.default(x)
"""

MADE = """
x: torch.where(x>0,0.,x)
x: torch.ops.aten.alias(x)
x: x.new_zeros(x.size())
x: torch.empty_permuted((2,3),(0,1)).fill_(1)+x[0,0,0]
x: torch.scalar_tensor(3.)+x
x: torch.blackman_window(4)+x
x: F.dropout(x,.3)*F.alpha_dropout(x,.3,True)+F.dropout(x,1.)
x: F.feature_alpha_dropout(x,.3,True)+F.dropout(x.clone(),.5,inplace=True)
x: torch.nn.Sequential(torch.nn.ReLU(True),torch.nn.Dropout(0.))(x.clone())
x: torch.native_dropout(x,.3,True)[0]
x: F.relu6(x.clone(),True)+F.silu(x.clone(),True)+F.elu(x.clone(),2.,True)
x: F.selu_(x.clone())+F.leaky_relu(x.clone(),.2,True)
x: torch.ops.aten.gelu_(x.clone())+torch.ops.aten.relu6_(x.clone())+torch.ops.aten.elu_(x.clone(),1.,2.)
x: torch.ops.aten.add.Scalar(torch.ops.aten.empty_like.default(x).fill_(1),1)
x: x.clone().pow_(2).masked_fill_(x>0,1).eq_(1).lerp_(x,.5).floor_divide_(2).transpose_(0,1).swapaxes_(0,1)
x: x.clone().bernoulli_(.3)+x.clone().bernoulli_(x.sigmoid())+x.clone().random_(5)+x.clone().uniform_(0,2)
x: torch.add(x,1,out=torch.ones(2,3,4))+torch.pow(x,2,out=torch.ones(2,3,4))
x: torch.sum(x,0,out=torch.ones(3,4))
x: torch.logspace(0,1,4)+x
x: [y:=x.clone(),y.__setitem__(0,5),y.__setitem__((0,slice(1,2)),2.),y.__setitem__(...,torch.ones(4)),y][-1]
x: [y:=x.clone(),y.__setitem__((0,1,2),torch.tensor(3.)),y.__setitem__((slice(None),1),torch.ones(1,2,4)),y][-1]
x,i: [y:=x.clone(),y.__setitem__((slice(None),i),0),y.__setitem__([0],x[1]),y.__setitem__((0,i,None),1.),y][-1]
x: [y:=x.clone(),y.__setitem__(x>0,0.),y.__setitem__((0,x[0]>0),y[0][x[0]>0]*2),y.__setitem__((None,0),1.),y][-1]
x,i: x.repeat_interleave(i+1,0)+x.flatten().repeat_interleave(torch.ones(24,dtype=torch.int64))[0]
i: torch.repeat_interleave(i,output_size=1)
z,x: z[:,:3]@x+(z[0,:3]@x).sum()+z[0]@torch.ones(4,4)+(x[:1]@torch.ones(5,4,1)).sum()+(x[:,None]@x.mT).sum()
x,i: x.to(i).to("cpu",torch.float64).type_as(i).to(device="cpu",dtype=torch.int32)
"""

SIZES = """
x: x.cos() if x.shape[0]<20 and x.shape[0]*x.shape[1]>4 else x
x,z: x*z.size(0)+x.shape[-1]**.5
x: torch.zeros(x.shape)+torch.ones(x.size(0),3)+x.new_zeros(-x.shape[0]+2*x.numel()).sum()
x: torch.arange(x.size(0))[:,None]+x
x: x.reshape(x.shape[0]*x.shape[1])
x,z: [torch.cat([x,x]).mean(1),z.expand(z.shape)]
x,z: torch.cat([x,z])[:,None]*torch.cat([x,z]).view(-1,1,3)
x: (x.shape,x.shape[0]/5,-x.size(1)+7)
x,n: x.view(n)
x: x.masked_fill(x>0,x.shape[0])
x: [y:=x.clone(),y.__setitem__(0,x.size(0)),y.__setitem__((slice(None),0),1.),y][-1]
x: x.item() if x.numel()==1 else torch.zeros(x[0,0].to(torch.int64).item()+1)
x: [n:=x[0,0].to(torch.int64).item(),torch._check(n>=0),torch._check(n<4),torch.ones(n)][-1]
"""


def graph_of(call, slope=False, divided=False):
    """The lines of a graph, which computes what the call does."""
    torch.manual_seed(0)
    inputs = {
        "x": torch.randn(2, 3, 4), "im": torch.randn(2, 3, 6, 6), "k": torch.randn(4, 3, 3, 3),
        "z": torch.randn(3, 4), "c": torch.tensor([0, 1, 3]), "i": torch.tensor([0, 1]),
    }  # fmt: skip
    names, _, expression = call.partition(": ")
    expression = f"torch.autograd.grad(({expression}).sum(), {names.split(',')[0]})" if slope else expression
    function = eval(f"lambda {names}: {expression}", {"torch": torch, "F": torch.nn.functional})
    given = [inputs[name] for name in names.split(",")]
    if slope:
        given[0].requires_grad_()
    table = {}
    if divided:
        packet, overload = re.search(r"aten\.(\w+)\.(\w+)", call).groups()
        op = getattr(getattr(torch.ops.aten, packet), overload)
        table[op] = decomposition_table[op]
    graph = make_fx(function, decomposition_table=table)(*given)
    torch.manual_seed(0)
    result = graph(*given)
    torch.manual_seed(0)
    torch.testing.assert_close(result, function(*given), equal_nan=True)
    lines = [f"{n.name} = {n.target} {n.args} {n.kwargs}" for n in graph.graph.nodes if n.op == "call_function"]
    return [re.sub(r"<built-in function (\w+)>", r"\1", line) for line in lines]


def graph_of_sizes(call):
    """The lines of a graph for several sizes, and what they have to fulfil."""
    names, _, expression = call.partition(": ")
    function = eval(f"lambda {names}: {expression}", {"torch": torch})

    def given(rows):
        inputs = {"x": torch.arange(1.0, 1 + rows * 3).reshape(rows, 3), "z": torch.ones(rows + 2, 3), "n": rows * 3}
        return [inputs[name] for name in names.split(",")]

    graph = make_fx(function, tracing_mode="symbolic")(*given(4))
    for rows in (4, 6, 9):
        torch.testing.assert_close(graph(*given(rows)), function(*given(rows)))
    values = [n.meta["val"] for n in graph.graph.find_nodes(op="placeholder")]
    lines = [re.sub(r"<(?:built-in )?function (\w+)[^>]*>", r"\1", f"{n.target} {n.args}") for n in graph.graph.nodes]
    return lines + graph.shape_env.produce_guards(values, names.split(","))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.first, self.second = (
            nn.Linear(8, 24),
            nn.Linear(8, 8),
            nn.LayerNorm(8),
            nn.LayerNorm(8),
        )
        self.mlp = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8))

    def forward(self, x):
        q, k, v = (t.view(2, 4, 2, 4).transpose(1, 2) for t in self.qkv(self.first(x)).split(8, 2))
        scores = (q @ k.transpose(-2, -1)) * 0.5
        weights = scores.masked_fill(torch.tril(torch.ones(4, 4)) == 0, float("-inf")).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).contiguous().view(2, 4, 8))
        return x + self.mlp(self.second(x))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4).eval()
        self.back, self.head = nn.Conv2d(4, 3, 3, padding=1), nn.Linear(3, 2)

    def forward(self, x):
        x = F.relu(self.back(F.relu(self.norm(self.conv(x)))) + x)
        return self.head(F.adaptive_avg_pool2d(F.max_pool2d(x, 2), 1).flatten(1))


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(10, 8), nn.Linear(8, 10)

    def forward(self, x):
        return F.log_softmax(self.head(torch.tanh(self.table(x).mean(1))), -1)


STEPS = {  # a model and its examples: the graph of a whole training step
    "block": (Block, lambda: torch.randn(2, 4, 8)),
    "residual": (Residual, lambda: torch.randn(2, 3, 8, 8)),
    "words": (Words, lambda: torch.ones(2, 3, dtype=torch.int64)),
}


def graph_of_step(name):
    """The lines of the graph of a step of gradient descent."""
    torch.manual_seed(0)
    model, x = STEPS[name][0](), STEPS[name][1]()

    def step(parameters, x):
        loss = F.cross_entropy(torch.func.functional_call(model, parameters, (x,)).flatten(1), torch.tensor([0, 1]))
        slopes = torch.autograd.grad(loss, list(parameters.values()))
        return [p - 0.1 * g for p, g in zip(parameters.values(), slopes, strict=True)]

    parameters = dict(model.named_parameters())
    graph = make_fx(step)(parameters, x)
    torch.testing.assert_close(graph(parameters, x), step(parameters, x))
    return [f"{n.name} = {n.target} {n.args} {n.kwargs}" for n in graph.graph.nodes if n.op == "call_function"]


if __name__ == "__main__":
    found = {call: graph_of(call) for call in CALLS.strip().split("\n")}
    found |= {f"slope of {call}": graph_of(call, slope=True) for call in SLOPES.strip().split("\n")}
    found |= {f"divided {call}": graph_of(call, divided=True) for call in DIVISIONS.strip().split("\n")}
    found |= {call: graph_of(call) for call in MADE.strip().split("\n")}
    found |= {f"sizes of {call}": graph_of_sizes(call) for call in SIZES.strip().split("\n")}
    found |= {f"step of {name}": graph_of_step(name) for name in STEPS}
    print(json.dumps(found))  # noqa: T201
