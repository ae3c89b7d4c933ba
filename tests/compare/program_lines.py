"""The lines that random programs are drawn from (``random_programs``), each a word; ``lambda_x:`` is ``lambda x:``.

``a`` and ``b`` are variables that are there; ``d`` is a new one.
"""

# Of plain programs: methods of ``a``, writes, places, functions, passes.
READ = """
sin() exp() tanh() neg() relu() sigmoid() abs() sqrt() square() clone() detach() contiguous() sum() mean() prod()
max() min() var() norm() cumsum(0) softmax(-1) log_softmax(0) logsumexp(0) sum(0) sum(-1,keepdim=True) amax(0)
max(0)[0] sort()[0] flip(0) t() T view(-1) reshape(-1) unsqueeze(0) squeeze() unsqueeze(-1) flatten()
transpose(0,-1) expand(2,3) diagonal() double() float() long() bool() data unbind(0)[0] chunk(2)[0] split(1)[-1]
narrow(0,0,1) select(0,0) [0] [:1] [...,0] [None] [::2] [[0,0]] as_strided((2,),(1,)) swapaxes(0,-1) repeat(2)
roll(1) tril() cumprod(-1) diff() argmax() new_zeros(2) type_as(b) expand_as(b) view_as(b) index_select(0,L([0,0]))
gather(0,L([0])) masked_fill(L([True]),2.) clamp(-.5,.5) pow(2) lerp(b,.3) dot(b) outer(b) matmul(b) atan2(b)
where(a>0,b) logaddexp(b) hypot(b) cummax(0)[0] topk(1)[0] det() erf() xlogy(b) reciprocal() rsqrt() log1p()
sub(b,alpha=2) addmm(a,b) cdist(b) take(L([0])) scatter(0,L([0]),b) index_add(0,L([0]),b) masked_select(b>0)
movedim(0,-1) diag() tile(2) to(L([1.]))
"""
WRITE = """
add_(1) mul_(2) mul_(b) add_(b) sub_(b,alpha=.5) div_(2) copy_(b) zero_() fill_(2.) exp_() sin_() sqrt_() relu_()
tanh_() sigmoid_() clamp_(-.5,.5) neg_() pow_(2) addcmul_(a,b) lerp_(b,.5) masked_fill_(L([True]),0.)
index_add_(0,L([0]),b) scatter_(0,L([0]),1.) unsqueeze_(0) requires_grad_(False) tril_() reciprocal_()
mul_(2).add_(1) copy_(1) floor_() addmm_(a,b) squeeze_() t_() abs_() round_() square_() trunc_()
"""
PLACES = """
[0] [:1] [...] [...,0] [[0]] [::2] [None] [0,0]
"""
CALLS = """
stack([a,b]) cat([a,b]) where(a>0,a,b) maximum(a,b) outer(a,b) zeros_like(a) ones_like(a,requires_grad=True)
nn.functional.mse_loss(a,b) nn.functional.layer_norm(a,(3,)) nn.functional.normalize(a,dim=0) nn.functional.gelu(a)
nn.functional.linear(a,b) nn.functional.pad(a,(1,1)) nn.functional.softplus(a) tensordot(a,b,1)
broadcast_tensors(a,b)[0] linalg.norm(a) linalg.inv(a+4*T.eye(3)) fft.rfft(a).abs() einsum('i,i->',a,b)
autograd.grad(a.sum(),b,allow_unused=True)[0] autograd.grad(a,b,retain_graph=True)[0]
autograd.grad(a.sum(),b,create_graph=True)[0] nn.functional.smooth_l1_loss(a,b)
"""
PASSES = """
a.sum().backward() a.backward() a.sum().backward(retain_graph=True) a.backward(T.ones_like(a)) a.retain_grad()
a.sum().backward(create_graph=True) T.autograd.backward([a.sum(),b.sum()]) a.register_hook(lambda_g) a.grad=None
a.detach().zero_() a.data.mul_(2) a.requires_grad=False
"""
SECOND = """
d=a*2 d=a.exp() d=a*b d=a+b d=a.sum() d=a/2 d=a.view(-1) d=a.t() d=a@b d=a.relu() a.sum().backward()
a.sum().backward(retain_graph=True) d=T.autograd.grad(a.sum(),b,retain_graph=True,allow_unused=True)[0]
d=T.autograd.grad((a*a).sum(),a,create_graph=True)[0]
d=T.autograd.grad(a.sum(),b,create_graph=True,allow_unused=True)[0] a.pow(3).sum().backward(create_graph=True)
a.grad=None d=a.grad d=a.detach() d=a.softmax(-1)
"""
HOOKS = """
d=a*2 d=a*b d=a.exp() d=a[0] d=a.view(-1) d=a.unbind(0)[0] d=T.cat([a,b]) a.register_hook(H('t'))
a.register_hook(lambda_g:g*2) a.grad_fn.register_hook(N('post')) a.grad_fn.register_prehook(P('pre')) a.retain_grad()
a.register_post_accumulate_grad_hook(A('acc')) a.sum().backward() a.sum().backward(retain_graph=True) d=a.mul_(2)
d=a.add_(b) d=T.autograd.grad(a.sum(),b,allow_unused=True,retain_graph=True)[0] d=a+b d=a.clone() d=a.max(0)[0]
"""
FUNCTIONS = """
d=Double.apply(a) d=Same.apply(a) d=Two.apply(a,b)[0] d=Two.apply(a,b)[1] d=Part.apply(a) d=Write.apply(a)
d=None_.apply(a) d=Write.apply(a.clone()) d=Product.apply(a,b) a.add_(1) a.mul_(b) a[0]=1. d=a*2 d=a*b
a.sum().backward() d=a.detach() d=T.autograd.grad(a.sum(),b,create_graph=True,allow_unused=True)[0]
a.sum().backward(retain_graph=True) d=a.view(-1) d=a[0] with_T.no_grad():d=Double.apply(a) d=Two.apply(a,a)[0]
d=Same.apply(a.clone()) d=Product.apply(a,a)
"""
LAYOUTS = """
d=F.conv2d(a,W) d=F.max_pool2d(a,2) d=F.avg_pool2d(a,2) d=F.relu(a) d=a+b d=a*2 d=a.permute(0,2,3,1) d=a.contiguous()
d=a.to(memory_format=T.channels_last) d=F.batch_norm(a,None,None,training=True) d=a.mean((2,3)) d=a.transpose(1,2)
d=a.sum(1) d=F.interpolate(a,scale_factor=2) d=F.pad(a,(1,1,1,1)) d=T.cat([a,b],1) d=F.group_norm(a,1) d=a.flatten(1)
d=a.reshape(-1) a.sum().backward() a.pow(2).sum().backward() a.mul_(2) d=F.softmax(a,1) d=a.clone()
d=T.empty_like(a).fill_(1.) d=a[:,::2] d=a.expand(2,-1,-1,-1) d=F.adaptive_avg_pool2d(a,1)
d=F.unfold(a,2) d=a.view(-1) d=a.amax((1,2))
"""
HALF = """
d=a*b d=a+b d=a@b.t() d=a.sum() d=a.exp() d=a.float() d=a.half() d=a.bfloat16() d=F.relu(a) d=F.softmax(a,-1) d=a*2
d=a/3 d=F.layer_norm(a,(3,)) d=F.linear(a,b) d=a.mean(0) d=T.cat([a,b]) d=T.where(a>0,a,b) a.mul_(2) a.add_(b)
a.sum().backward() d=a.sqrt() d=a.to(b.dtype) d=F.gelu(a) d=F.mse_loss(a,b) d=a.pow(2) d=a.max(-1)[0] d=a.clamp(-1,1)
d=a.tanh() d=a[0] a.float().pow(2).sum().backward() d=T.stack([a,a]) d=a.cumsum(0) d=a.norm() d=a.view(-1)
"""
THREADS = """
d=TH(lambda:a*2) d=TH(lambda:a*b) TH(lambda:a.sum().backward(retain_graph=True)) d=a.exp() d=a+b d=a[0] d=a*b
TH(lambda:a.sum().backward()) with_T.no_grad():d=TH(lambda:a*2) d=TH(lambda:a.mul_(2)) d=TH(lambda:a.view(-1))
a.add_(1) d=TH(lambda:T.autograd.grad(a.sum(),b,allow_unused=True,retain_graph=True)[0])
a.sum().backward(retain_graph=True) d=a.detach()
"""
# PyTorch's own results are wrong or refused for flip, roll, cumprod and var of one number in vmap, and wrong for the
# third derivative of layer_norm.
INSIDE = """
x.sin() x*x x*x.sum() x.exp() x.tanh()*x (x**3) x.cumsum(0) x.softmax(0) x.int().float()*x (x>0)*x x.double()*2
x.float().double()*x T.where(x>0,x*x,x) x.sort(0)[0]*x x.max(0)[0]*x x.norm()*x x.prod(0)*x T.cat([x,x*x])[1:]
T.stack([x,x.sin()]).prod(0) x.clone().mul_(x) x.clone().add_(x.sin()).cos() x.unsqueeze(0).mul(x).sum(0)
(x.unsqueeze(-1)*x).sum(-1) x.clamp(-.5,.5)*x x.abs().sqrt() x.detach()*x F.softplus(x) F.gelu(x) x.logsumexp(0)*x
x.gather(0,T.zeros_like(x).long())*x T.fmod(x,.7)*x x.index_fill(0,T.tensor([0]),2.)*x T.zeros_like(x).add_(x).mul_(x)
x.sigmoid().log() T.outer(x.view(-1),x.view(-1)).sum(0) x.round()*x x.sgn()*x.square() T.atan2(x,x*x+1) x.expm1()
T.hypot(x,x+2) x.lerp(x*x,.3) x.masked_fill(x>.5,0.)*x x.pow(x.abs()) x.diff(dim=0) x.mean(0)+x*x x.argmax(0)*x
x.cosh().reciprocal() x.unbind(0)[0]*x x.split(1)[0]*x x.squeeze()*x x.expand_as(x).sum(0)*x x.median(0)[0]*x
x.cummax(0)[0]*x T.erf(x)*x x.view_as(x)*x x.copysign(x*x) x.scatter(0,T.zeros_like(x).long(),x*x)*x T.minimum(x,x*x)
x.nan_to_num()*x x.logaddexp(x*x) x.tril()*x x.trunc()+x*x
"""
OUTSIDE = [
    "T.func.grad(lambda x:({}).sum())",
    "T.func.jacrev(lambda x:({}))",
    "T.func.jacfwd(lambda x:({}))",
    "T.func.vmap(lambda x:({}))",
    "(lambda x:T.func.vjp(lambda x:({}),x)[0])",
    "T.func.hessian(lambda x:({}).sum())",
    "(lambda x:T.func.jvp(lambda x:({}),(x,),(T.ones_like(x),))[1])",
    "(lambda x:(lambda p:p[1](p[0])[0])(T.func.vjp(lambda x:({}),x)))",
]


# Dtypes that change, complex numbers, blocks, hooks, functions of users, transforms and writes by index in one program.
MIXED = """
d=a*b d=a+b d=a-2 d=a*(1+2j) d=a.to(T.complex64) d=a.real d=a.imag d=a.conj() d=a.abs() d=a.double() d=a.half()
d=a.float() d=a.to(b.dtype) d=T.view_as_real(a) d=a.conj().mul(b) d=a.mH d=a.resolve_conj() d=a.sgn() d=a[0]
d=a[...,:2] d=a[a.abs()>.5] d=a[T.tensor([0,0])] d=a.unbind(0)[0] d=a.chunk(2)[0] d=a.t() d=a.view(-1) d=a.reshape(-1)
d=a.unsqueeze(0) d=a.diagonal() d=a.detach() d=a.clone() d=a.sum(0) d=a.mean() a[0]=b a[...]=2. a[a.abs()>.5]=0.
a[T.tensor([0,0])]=1. a[:,0]=b[...,0] a[-1].mul_(2) a.view(-1)[0]=3. a[0,...]+=1 a.mul_(2) a.add_(b) a.mul_(b)
a.copy_(b) a.zero_() a.exp_() a.div_(2) a.masked_fill_(a.abs()>1,.5) a.real.mul_(2)
with_T.no_grad():d=a*b;d.requires_grad_() with_T.enable_grad():d=a*a with_T.set_grad_enabled(False):d=a.exp()
a.register_hook(H('t')) a.register_hook(lambda_g:g*2) a.register_hook(lambda_g:g.conj()) a.retain_grad()
a.grad_fn.register_hook(N('post')) a.grad_fn.register_prehook(P('pre')) a.grad=None d=Double.apply(a) d=Same.apply(a)
d=Two.apply(a,b)[1] d=Write.apply(a) d=Product.apply(a,b) d=Part.apply(a) d=Write.apply(a.clone())
d=Product.apply(a,a).sum() d=a.grad d=a.data a.abs().sum().backward() a.sum().abs().backward(retain_graph=True)
a.backward(T.ones_like(a)) d=a.abs().square().sum()
d=T.autograd.grad(a.abs().sum(),b,allow_unused=True,retain_graph=True)[0] a.sum().backward()
T.sum(a*b).abs().backward() d=T.autograd.grad(a.abs().square().sum(),a,create_graph=True)[0]
d=T.autograd.grad(a,a,T.ones_like(a))[0] d=T.func.vmap(lambda_x:x*x.sum())(a)
d=T.func.grad(lambda_x:(x*x).abs().sum())(a) d=T.func.vjp(lambda_x:x*x,a)[1](a)[0]
d=T.func.vmap(T.func.grad(lambda_x:x.abs().sum()))(a) d=T.func.vmap(lambda_x:x.clone().mul_(2))(a) d=T.cat([a,b])
d=T.stack([a,b]) d=a@b.t() d=F.softmax(a,-1) d=F.relu(a) d=a.cumsum(0) d=a.pow(2) d=a.sqrt() d=T.complex(a,b)
d=T.fft.fft(a) d=T.fft.irfft(a) d=a.index_put((T.tensor([0]),),b[0]) d=a.gather(0,L([[0]])) d=a.scatter(0,L([[0]]),2.)
d=a.index_select(0,L([0,0])) d=a.flip(0) d=a.roll(1,0) d=a.max() d=a.var() d=a.sort(0)[0] d=a.prod() d=a.type_as(b)
d=a.contiguous() d=a.squeeze(0) d=a.movedim(0,-1) with_T.no_grad():a.mul_(2);d=a+1 with_T.no_grad():a[0]=1.
"""
# Writes to views of views, with hooks on what is written and on what was read before.
VIEWS = """
d=a[0] d=a[1:] d=a.view(-1) d=a.t() d=a.transpose(0,-1) d=a.unsqueeze(0) d=a.diagonal() d=a.unbind(0)[0] d=a.split(1)[0]
d=a.chunk(2)[0] d=a.narrow(0,0,1) d=a.detach() d=a[...,0] d=a.squeeze() d=a.flatten() d=a*2 d=a+b d=a.clone() d=a._base
a.mul_(2) a.mul_(b) a.add_(1) a.copy_(b) a[0]=b a[...]=1. a.zero_() a.exp_()
a.view(-1).mul_(2) a[0].add_(b) a.t()[0].mul_(3) a.detach().mul_(2) a.data.mul_(2)
a.register_hook(H('t')) a.register_hook(lambda_g:g*2) a.grad_fn.register_hook(N('post')) a.retain_grad() d=a.grad
a.grad_fn.register_prehook(P('pre')) with_T.no_grad():a.mul_(2) with_T.no_grad():d=a[0] with_T.no_grad():a[0]=2.
a.sum().backward() a.sum().backward(retain_graph=True) d=T.autograd.grad(a.sum(),b,allow_unused=True)[0]
d=T.autograd.grad((a*a).sum(),b,create_graph=True,allow_unused=True)[0] a.sum().backward(inputs=[b]) d=Write.apply(a)
with_T.inference_mode():d=a[0] d=a.as_strided((2,),(1,)) d=a.expand(2,*a.shape) d=a.real
"""
# Passes for some inputs, many cotangents at once, gradients of intermediate results.
INPUTS = """
d=a*2 d=a*b d=a.exp() d=a[0] d=a.sum() d=a.view(-1) d=T.cat([a,b]) d=a.unbind(0)[0] d=a.max(0)[0] d=a@b.t() a.mul_(2)
a.retain_grad() d=a.grad a.grad=None a.sum().backward(inputs=[b],retain_graph=True) a.sum().backward(inputs=[a,b])
a.sum().backward(inputs=b) a.sum().backward(inputs=[]) T.autograd.backward([a.sum(),b.sum()],inputs=[a,b])
d=T.autograd.grad(a,b,T.stack([T.ones_like(a),a.detach()]),is_grads_batched=True,retain_graph=True,allow_unused=True)[0]
d=T.autograd.grad(a,b,a.new_ones(3,*a.shape),is_grads_batched=True,create_graph=True,allow_unused=True)[0]
d=T.autograd.grad([a.sum(),b.sum()],[a,b],retain_graph=True,allow_unused=True)[1]
d=T.autograd.grad([a,b],[b],[T.ones_like(a),T.ones_like(b)],allow_unused=True)[0]
d=T.autograd.grad(a.sum(),[a,b],allow_unused=True,materialize_grads=True)[1] d=Double.apply(a) d=Two.apply(a,b)[1]
d=T.autograd.grad(a.sum(),[b,b],retain_graph=True)[1] a.register_hook(lambda_g:g*2)
a.register_post_accumulate_grad_hook(A('acc')) a.sum().backward() a.sum().backward(retain_graph=True,create_graph=True)
"""
OUT = """
d=T.empty(0) d=T.zeros(3) d=T.zeros(3,dtype=T.float64) d=T.zeros(3,2).t() d=a.detach() d=a.double() d=a>0 d=a[0] d=a.t()
d=T.zeros(2,3,2)[...,0] d=a.long() d=T.add(a,b,out=b) T.add(a,a,out=b) T.mul(a,2,out=b) T.sub(a,b,out=a) T.exp(a,out=b)
T.sin(a,out=a) T.sum(a,0,out=b) T.sum(a,-1,keepdim=True,out=b) T.mean(a,0,out=b) T.matmul(a,b,out=b) T.mm(a,a.t(),out=b)
T.cat([a,a],out=b) T.stack([a,a],out=b) T.max(a,0,out=(b,T.empty(0,dtype=T.int64)))
T.sort(a,0,out=(b,T.empty(0,dtype=T.int64))) T.where(a>0,a,2.,out=b) T.gt(a,0,out=b) T.cumsum(a,0,out=b)
T.clamp(a,-1,1,out=b) T.pow(a,2,out=b) T.div(a,2,out=b) T.index_select(a,0,L([0]),out=b) T.gather(a,0,L([0]),out=b)
T.arange(3,out=b) T.linspace(0,1,3,out=b) T.abs(a,out=b) T.zeros(3,out=b) T.full((2,3),2.,out=b) T.outer(a,a,out=b)
T.addmm(a,a,a,out=b) T.tril(a,out=b) T.logical_not(a,out=b) T.argmax(a,0,out=b) T.amax(a,0,out=b) T.round(a,out=b)
T.maximum(a,a,out=b) T.lerp(a,a,.5,out=b) T.prod(a,0,out=b) T.all(a,0,out=b) T.var(a,0,out=b) T.nonzero(a,out=b)
T.take(a,L([0]),out=b) T.cross(a,a,out=b) T.fft.fft(a,out=b) T.softmax(a,-1,out=b)
T.topk(a,1,out=(b,T.empty(0,dtype=T.int64))) T.eye(3,out=b) T.masked_select(a,a>0,out=b) T.hypot(a,a,out=b)
T.eq(a,a,out=b) T.logsumexp(a,0,out=b) T.bitwise_not(a,out=b) with_T.no_grad():T.add(a,a,out=b) a.sum().backward()
a.mul_(2)
"""
COMPLEX = """
d=a*b d=a+b d=a/b d=a-1j d=a.conj() d=a.real d=a.imag d=a.abs() d=a.angle() d=T.view_as_real(a) d=T.view_as_complex(a)
d=a.mH d=a.H d=a@b.mH d=a.conj().t() d=a.resolve_conj() d=a.conj_physical() a.conj_physical_() a.mul_(1j) a.real.mul_(2)
a.imag.zero_() a.real=b.real a.imag=b.real d=a.exp() d=a.sqrt() d=a.log() d=a.pow(2) d=a**b d=a.sgn() d=a.reciprocal()
d=a.sin() d=a.tanh() d=a.prod() d=a.cumprod(0) d=a.sum(0) d=a.mean() d=a.var() d=a.norm() d=T.linalg.vector_norm(a,1)
d=T.polar(a.abs(),a.angle()) d=T.complex(a.real,b.real) d=T.fft.fft(a) d=T.fft.ifft(a) d=T.fft.rfft(a.real)
d=T.where(a.real>0,a,b) d=a[0] a[0]=b[0] a.copy_(b) a.copy_(b.real) d=a.conj().imag d=a.is_conj() d=a.imag.is_neg()
d=a.resolve_neg() d=a.vdot(b) d=a.dot(b) d=T.linalg.solve(a,b*a) d=a.view(-1) d=a.unbind(0)[0] d=a.clone() d=a.detach()
d=a.to(T.complex128) d=a.double() d=a.square() d=a.rsqrt() d=a.sigmoid() d=a.lerp(b,.5) d=T.addcmul(a,a,b,value=2j)
d=T.cat([a,b]) d=T.einsum('ij,kj->ik',a,b.conj()) d=T.kron(a,b) d=a.neg().real d=a.cumsum(0) d=T.isreal(a) d=a.diff()
a.abs().sum().backward() a.sum().backward() a.real.sum().backward(retain_graph=True) a.backward(T.ones_like(a))
a.sum().imag.backward(retain_graph=True) d=T.autograd.grad(a,b,T.ones_like(a),create_graph=True,allow_unused=True)[0]
d=T.autograd.grad(a.abs().sum(),b,create_graph=True,allow_unused=True)[0] a.register_hook(H('t')) a.mul_(b) a.div_(2j)
d=T.func.vmap(lambda_x:x*x.conj())(a) d=T.func.jvp(lambda_x:x*x,(a,),(b,))[1] d=T.func.vjp(lambda_x:x.exp(),a)[1](b)[0]
"""
# Inside of a level of forward mode, which the first line opens.
FORWARD = """
d=FW.make_dual(a.clone(),b.clone()) d=FW.make_dual(a.detach().clone(),b.clone()) d=FW.make_dual(a.exp(),T.ones_like(a))
d=FW.unpack_dual(a).tangent d=FW.unpack_dual(b).tangent d=FW.unpack_dual(a)[1] d=FW.unpack_dual(b)[1]
d=FW.unpack_dual(a).primal d=a*b d=a+b d=a.exp() d=a.sin() d=a[0] d=a.view(-1) d=a.t() d=a.sum() d=a@b.t() a.mul_(2)
a.mul_(b) a.copy_(b) a[0]=b a[0].mul_(2) a.view(-1).add_(1) a.t().mul_(b) d=a.softmax(-1) d=a.detach() d=a.clone()
d=T.cat([a,b]) d=a.cumsum(0) d=a.max(0)[0] a.zero_() d=a.unbind(0)[0] d=a.norm() d=T.where(a>0,a,b)
d=F.layer_norm(a,(3,)) d=Cube.apply(a) d=Double.apply(a) with_T.no_grad():d=a*b a.sum().backward(retain_graph=True)
d=a.pow(3) d=a.prod(0) d=a.tril() d=a.diagonal() d=a.double()
d=T.autograd.grad(a.sum(),b,create_graph=True,allow_unused=True)[0] d=a.index_select(0,L([0,0])) d=a.gather(0,L([[0]]))
d=a.transpose(0,-1) d=T.stack([a,b]) d=F.gelu(a) d=a.var() d=a.sort(0)[0] d=a.logsumexp(0) d=a.expand(2,*a.shape)
d=T.zeros_like(a) d=a.new_zeros(3) d=a>b d=a.long() d=a.abs() d=a/b d=T.linalg.inv(a)
d=a.clamp(-1,1) a.clamp_(-1,1) d=Mul.apply(a,b) a.add_(b) a[...,0]=b
"""
CHECKPOINTS = """
d=CK(lambda_x:x.sin()*x,a) d=CK(lambda_x,y:(x*y).tanh(),a,b) d=RE(lambda_x:x.sin()*x,a)
d=RE(lambda_x,y:(x*y).tanh(),a,b) d=CK(lambda_x:CK(lambda_y:y.tanh(),x)*x,a) d=RE(lambda_x:RE(lambda_y:y.tanh(),x)*x,a)
d=CK(lambda_x:Cube.apply(x),a) d=CK(lambda_x:F.dropout(x*x,.5),a) d=RE(lambda_x:F.dropout(x*x,.5),a)
d=CK(lambda_x:x.clone().mul_(2)*x,a) d=CK(lambda_x:x*b,a) d=RE(lambda_x:x*b,a) d=CK(lambda_x,y:(x.sin(),y*x),a,b)[1]
d=RE(lambda_x,y:(x.sin(),y*x),a,b)[1] d=CK(lambda_x:x[0].tanh(),a) d=RE(lambda_x:x.view(-1),a) d=CK(T.sin,a)
d=CK(lambda_x:x.detach()*x,a) d=a*b d=a+b d=a[0] a.sum().backward() a.sum().backward(retain_graph=True) a.mul_(2)
d=a.detach() a.retain_grad() a.register_hook(H('t')) d=T.autograd.grad(a.sum(),b,retain_graph=True,allow_unused=True)[0]
d=a.grad a.grad_fn.register_hook(N('post')) d=T.autograd.grad(a.sum(),b,create_graph=True,allow_unused=True)[0]
with_T.no_grad():d=CK(lambda_x:x*x,a) d=T.rand(3) with_T.no_grad():a.mul_(2)
"""
SPARSE = """
d=F.embedding(L([0,1,1]),a,sparse=True) d=F.embedding(L([[0,1],[1,0]]),a,sparse=True) d=F.embedding(L([0]),a)
d=F.embedding_bag(L([[0,1]]),a,sparse=True,mode='sum') d=F.embedding(L([0,2]),a,padding_idx=2,sparse=True) d=a.grad
d=a.to_sparse() d=a.to_dense() d=a.coalesce() d=a.values() d=a.indices() d=a*b d=a+b d=a*2 d=a/2 d=a@b
d=T.sparse.mm(a,b) d=T.sparse.sum(a) d=T.sparse.sum(a,0) d=a.t() d=a.sum() d=a.neg() d=a.abs() d=a.sqrt() d=a.clone()
d=a.detach() d=-a d=a.double() d=a[0] d=a.to_sparse_csr() d=a.to_sparse(1) d=a.is_coalesced() d=a._nnz()
d=a.sparse_dim() d=a.pow(2) d=a-b d=T.sparse_coo_tensor(L([[0,1],[1,0]]),L([1.,2.]),(3,3)) d=a.sparse_mask(b.coalesce())
a.sum().backward() a.grad=None a.sum().backward(retain_graph=True) a.to_dense().sum().backward()
T.sparse.sum(a).backward() a.mul_(2) a.add_(b) a.zero_() T.optim.SGD([a],lr=.1).step()
T.optim.SGD([a],lr=.1,momentum=.9).step() T.optim.SparseAdam([a],lr=.1).step() T.optim.Adagrad([a],lr=.1).step()
d=T.cat([a,b]) d=T.stack([a,b]) d=a.index_select(0,L([0])) d=a.transpose(0,1) d=a.relu()
d=T.autograd.grad(a.sum(),b,allow_unused=True)[0] a.register_hook(H('t')) d=T.zeros_like(a) d=T.sparse.softmax(a,1)
d=T.sparse.addmm(b,a,b) d=a.unsqueeze(0) d=a.sin() d=a.isnan() d=a==b
T.nn.utils.clip_grad_norm_([a],1.)
"""
NESTED = """
d=T.nested.nested_tensor([a,b]) d=T.nested.nested_tensor([a,b],layout=T.jagged) d=T.nested.as_nested_tensor([a,b])
d=T.nested.as_nested_tensor([a,b],layout=T.jagged) d=T.nested.nested_tensor([a,b],requires_grad=True) d=a*2 d=a+b d=a*b
d=T.nested.as_nested_tensor([a,b,a],layout=T.jagged) d=a.unbind()[0] d=a.to_padded_tensor(0.) d=a.values() d=a.offsets()
d=T.nested.to_padded_tensor(a,0.) d=F.relu(a) d=F.linear(a,b) d=a.sum() d=a.sin() d=a.exp() d=-a d=a/2 d=a.clone() d=a-b
d=a.detach() d=F.softmax(a,-1) d=F.layer_norm(a,(3,)) d=a.transpose(1,2) d=a@b d=a.mean() d=a.sum(-1)
d=a.float() d=a.double() d=a.size(0) d=a.numel() d=a.is_nested d=a.dim() d=a[0] d=F.gelu(a) d=a.abs()
d=a.contiguous() d=T.zeros_like(a) d=a.to(T.float64) d=a.pow(2) d=a.sqrt() d=a.sigmoid() d=a.tanh()
a.values().sum().backward() a.sum().backward() a.to_padded_tensor(0.).sum().backward() a.unbind()[0].sum().backward()
d=T.autograd.grad(a.sum(),b,allow_unused=True)[0] a.mul_(2) a.relu_() d=a.grad d=a.max()
d=a.chunk(1,0)[0] d=T.nested.narrow(a,0,L([0,1]),L([1,2]),layout=T.jagged) d=a.sum(1) d=a.sum(0) d=a.any() d=a.isnan()

"""
# Functions of users with rules for vmap and forward mode, in transforms.
RULED = """
Cube.apply(x)*x Cube.apply(Cube.apply(x)) Made.apply(x)+x.sum() Made.apply(x.sin())*x Mul.apply(x,x.sin())
Mul.apply(x,x) Mul.apply(x.sum(),x) Cube.apply(x.sum())*x Mul.apply(x,T.ones_like(x)) Made.apply(Cube.apply(x))
Mul.apply(Made.apply(x),x) Cube.apply(x.unsqueeze(0)).sum(0) Cube.apply(x.detach())*x
T.func.grad(lambda_y:Cube.apply(y).sum())(x) T.func.vjp(Made.apply,x)[1](x)[0] T.func.jvp(Cube.apply,(x,),(x,))[1]
T.func.vmap(Cube.apply)(T.stack([x,x])).sum(0) T.func.vmap(Mul.apply,(None,0))(x,T.stack([x,x])).sum(0)
x.clone().mul_(Cube.apply(x))
"""
