"""The lines of random programs on objects beside tensors, and on what programs see of tensors (``program_lines``).

``K`` is a list of handles, ``m`` a module, ``o`` its optimizer, ``GR`` the names in a graph, ``SL`` saves and loads.
"""

# Every kind of hook; handles that are removed in the middle; what is done to saved tensors; the graph itself.
HANDLES = """
d=a*2 d=a*b d=a.exp() d=a[0] d=a.sum() d=a+b d=a.unbind(0)[0] d=a.max(0)[0] d=a.clone() d=a@b.t() d=a.view(-1)
K.append(a.register_hook(H('t'))) K.append(a.register_hook(lambda_g:g*2)) K.append(a.register_hook(lambda_g:None))
K.append(a.grad_fn.register_hook(N('post'))) K.append(a.grad_fn.register_hook(lambda_x,y:tuple(g*2$for$g$in$x)))
K.append(a.grad_fn.register_prehook(P('pre'))) K.append(a.grad_fn.register_prehook(lambda_y:tuple(g*3$for$g$in$y)))
K.append(a.register_post_accumulate_grad_hook(A('acc')))
K.append(a.register_post_accumulate_grad_hook(lambda_x:setattr(x,'grad',None)))
K.append(T.autograd.graph.register_multi_grad_hook((a,b),P('all')))
K.append(T.autograd.graph.register_multi_grad_hook((a,b),H('any'),mode='any')) K.pop().remove() K[0].remove()
K.append(a.register_hook(lambda_g:K[0].remove())) a.retain_grad() d=a.grad a.grad=None
with_T.autograd.graph.saved_tensors_hooks(PK,UP):d=a*b with_T.autograd.graph.saved_tensors_hooks(PK,UP):d=a.exp()
with_T.autograd.graph.save_on_cpu():d=a*b with_T.autograd.graph.disable_saved_tensors_hooks('no'):d=a.exp()
with_T.autograd.graph.allow_mutation_on_saved_tensors():d=a*b;a.mul_(2);d.sum().backward()
a.grad_fn._raw_saved_self.register_hooks(PK,UP) a.grad_fn._raw_saved_result.register_hooks(PK,UP)
d=a.grad_fn._saved_self d=a.grad_fn._saved_result d=GR(a) d=a.grad_fn.name() d=a.grad_fn.next_functions[0][0].name()
d=a.grad_fn.metadata a.sum().backward() a.sum().backward(retain_graph=True) a.sum().backward(create_graph=True)
a.mul_(2) a.add_(b) d=T.autograd.grad(a.sum(),b,allow_unused=True,retain_graph=True)[0] a.register_hook('no')
a.register_hook(lambda_g:g[:1]) T.autograd.graph.increment_version(a) d=T.autograd.graph.get_gradient_edge(a).output_nr
a.register_hook(lambda_g:g.double()) a.register_hook(lambda_g:1) d=a.sin().mul(b).grad_fn.next_functions[1][1]
T.autograd.backward(T.autograd.graph.get_gradient_edge(a),T.ones_like(a)) a.detach_() d=a.detach().requires_grad_()
"""
# Functions of users with everything that ctx has.
CONTEXT = """
d=Flag.apply(a)[0] d=Flag.apply(a)[1] d=Needs.apply(a,b) d=Needs.apply(a,2.) d=Absent.apply(a,b)[0]
d=Absent.apply(a,b)[1] d=Once.apply(a) d=Setup.apply(a,b) d=Setup.apply(a,3.) d=Many.apply(a,b,2)[0]
d=Many.apply(a,b,2)[1] d=Many.apply(a,b,2)[2] d=View.apply(a) d=Wrong.apply(a) d=Few.apply(a,b) d=Extra.apply(a)
d=Shape.apply(a) d=Kept.apply(a) d=Dirty.apply(a,b) d=Dirty.apply(a.clone(),b)[0] d=Dirty.apply(a*1,b)[1]
d=Cube.apply(a) d=Mul.apply(a,b) d=Same.apply(a) d=Write.apply(a.clone()) d=Product.apply(a,b) a.add_(1) a.mul_(b)
a[0]=1. d=a*2 d=a*b a.sum().backward() a.sum().backward(retain_graph=True) a.pow(2).sum().backward(create_graph=True)
a.backward(b) d=T.autograd.grad(a.sum(),b,create_graph=True,allow_unused=True)[0] a.grad=None d=a.grad d=GR(a)
d=a.detach() d=a[0] d=T.autograd.grad(a.sum(),b,retain_graph=True,allow_unused=True,materialize_grads=True)[0]
d=a.view(-1) d=a.grad_fn.name() a.register_hook(H('t')) a.grad_fn.register_hook(N('post'))
with_T.no_grad():d=Setup.apply(a,b) d=Double()(a) with_T.inference_mode():d=Flag.apply(a)[0]
d=T.func.vjp(lambda_x:Setup.apply(x,x),a)[1](b)[0] d=T.func.grad(lambda_x:Setup.apply(x,x).sum())(a)
d=T.func.jvp(Cube.apply,(a,),(b,))[1] d=Flag.apply(a)[0]*a d=T.func.grad(lambda_x:Needs.apply(x,x).sum())(a)
d=a.grad_fn.saved_tensors[0] d=Setup.apply(a=a,b=b) d=Needs.apply()
"""
MODULES = """
d=m(a) d=m(a)*2 m(a).sum().backward() m(a).pow(2).sum().backward() m.train() m.eval() m.zero_grad()
m.requires_grad_(False) m.requires_grad_() m[0].weight.requires_grad_(False) o.step() o.step() o.zero_grad()
o.zero_grad(set_to_none=False) o=T.optim.SGD(m.parameters(),lr=.1,momentum=.9,nesterov=True)
o=T.optim.Adam(m.parameters(),lr=.1,amsgrad=True)
o=T.optim.AdamW([{'params':m[0].parameters()},{'params':m[3].parameters(),'lr':.5}],weight_decay=.1)
o=T.optim.RMSprop(m.parameters(),centered=True,momentum=.5) o=T.optim.Adagrad(m.parameters(),lr_decay=.1)
o=T.optim.Adadelta(m.parameters()) o=T.optim.Adamax(m.parameters()) o=T.optim.NAdam(m.parameters())
o=T.optim.RAdam(m.parameters(),maximize=True) o=T.optim.Rprop(m.parameters()) o=T.optim.ASGD(m.parameters())
o.load_state_dict(o.state_dict()) o.param_groups[0]['lr']=.01 o.add_param_group({'params':[a]}) o=copy.deepcopy(o)
o=pickle.loads(pickle.dumps(o)) m=copy.deepcopy(m) m=pickle.loads(pickle.dumps(m)) S=m.state_dict()
m.load_state_dict(S) S=copy.deepcopy(m.state_dict()) S=SL(m.state_dict()) m.load_state_dict({},strict=False)
m.load_state_dict({'x':a}) m=SL(m) m.double() m.float() m.half() m.bfloat16() m.to(T.float64) m.apply(lambda_x:None)
d=repr(m) d=repr(o) K.append(m.register_forward_hook(lambda_m,x,y:y*2))
K.append(m[0].register_forward_pre_hook(lambda_m,x:(x[0]+1,))) K.append(m[1].register_full_backward_hook(B('full')))
K.append(m[0].register_full_backward_pre_hook(B2('fullpre')))
K.append(m.register_full_backward_hook(lambda_m,x,y:tuple(g*2$for$g$in$x))) K.pop().remove() K[0].remove()
K.append(m.register_state_dict_pre_hook(lambda_m,x,y:told('sd',[]))) K.append(o.register_step_post_hook(B3('step')))
d=T.func.functional_call(m,dict(m.named_parameters()),(a,)) d=T.nn.utils.parameters_to_vector(m.parameters())
T.nn.utils.clip_grad_norm_(m.parameters(),1.) T.nn.utils.clip_grad_value_(m.parameters(),.1) d=list(m.state_dict())
T.nn.utils.vector_to_parameters(T.nn.utils.parameters_to_vector(m.parameters())*2,m.parameters())
m[0].weight.data.mul_(2) m[0].weight=T.nn.Parameter(m[0].weight*2) m[0].weight=a m[0].bias=None m[3].weight=m[0].weight
m[0]=T.nn.Linear(3,4,bias=False) m[2]=T.nn.GELU() m[2]=T.nn.Dropout(.5) m[1]=T.nn.LayerNorm(4) m.append(T.nn.Tanh())
m.register_buffer('x',a) m.register_parameter('y',T.nn.Parameter(a)) m[1]=T.nn.BatchNorm1d(4,affine=False) del$m[2]
with_T.no_grad():m[0].weight.add_(1.) with_T.no_grad():d=m(a) with_T.inference_mode():d=m(a) with_T.no_grad():o.step()
T.nn.init.constant_(m[0].weight,.5) T.nn.init.xavier_uniform_(m[0].weight) T.nn.init.kaiming_normal_(m[3].weight)
T.nn.utils.parametrizations.weight_norm(m[0]) T.nn.utils.parametrizations.spectral_norm(m[0])
d=dict(m.named_children()).keys() o.step(lambda:m(a).sum()) s=T.optim.lr_scheduler.StepLR(o,1,.5) s.step()
s=T.optim.lr_scheduler.CosineAnnealingLR(o,3) s.load_state_dict(s.state_dict())
s=T.optim.lr_scheduler.ExponentialLR(o,.9) d=s.get_last_lr() d=m[0](a).detach()
s=T.optim.lr_scheduler.OneCycleLR(o,.5,5) s=T.optim.lr_scheduler.ReduceLROnPlateau(o,patience=0) s.step(1.)
s=T.optim.lr_scheduler.LambdaLR(o,lambda_x:1/(x+1)) d=F.cross_entropy(m(a),L([0,1,2,0])) d=F.mse_loss(m(a),a)
a.sum().backward() s=T.optim.lr_scheduler.LinearLR(o) s=T.optim.lr_scheduler.CyclicLR(o,.1,.5,2)
d=F.nll_loss(F.log_softmax(m(a),-1),L([2,1,1,0]))
"""
SAVING = """
d=copy.deepcopy(a) d=copy.copy(a) d=pickle.loads(pickle.dumps(a)) d=SL(a) d=SL([a,b])[0] d=SL({'x':a,'y':a[0]})['y']
d=copy.deepcopy([a,a])[1] d=SL((a,a.view(-1)))[1] d=pickle.loads(pickle.dumps([a[0],a]))[0] d=a[0] d=a.t() d=a.view(-1)
d=a.double() d=a.half() d=a.bool() d=a.long() d=a.to(T.complex64) d=a.conj() d=a.expand(2,*a.shape) d=a.detach() d=a*2
d=T.nn.Parameter(a) d=T.nn.Parameter(a,requires_grad=False) a.mul_(2) a.add_(b) a.sum().backward() d=a.grad d=a[::2]
with_T.no_grad():a.mul_(2) d=a.imag d=a.storage_offset() a.x=1 d=getattr(a,'x',None) d=a.to_sparse() d=a[:0]
d=copy.deepcopy(a).requires_grad_() a.register_hook(H('t')) d=a.sum() d=a.clone().requires_grad_()
d=SL([a,a.detach()])[1] d=type(a).__name__ d=SLW(a) d=T.tensor(a) d=T.as_tensor(a) d=T.asarray(a) d=a.new_tensor(b)
d=T.from_numpy(a.numpy()) d=a.numpy().tolist() d=a.tolist() d=T.frombuffer(bytearray(8),dtype=T.float32)
"""
DTYPES = """
d=a+b d=a-b d=a*b d=a/b d=a//b d=a%b d=a**b d=a+1 d=a*2. d=a-1j d=a/2 d=a//2 d=a%2 d=a**2 d=2**a d=1-a d=1/a d=a@b.t()
d=a&b d=a|b d=a^b d=~a d=-a d=+a d=a<<1 d=a>>1 d=a==b d=a<b d=a>=.5 d=a!=1 d=a.to(b) d=a.to(b.dtype) d=a.half()
d=a.bfloat16() d=a.float() d=a.double() d=a.int() d=a.short() d=a.to(T.int8) d=a.byte() d=a.bool() d=a.long()
d=a.cfloat() d=a.to(T.uint16) d=a.sum() d=a.mean() d=a.prod() d=a.max() d=a.min() d=a.var() d=a.std() d=a.norm()
d=a.cumsum(0) d=a.any() d=a.all() d=a.argmax() d=a.sort()[0] d=a.abs() d=a.sqrt() d=a.exp() d=a.sigmoid() d=a.floor()
d=a.round() d=a.sign() d=a.clamp(0,1) d=a.clamp(-.5,.5) d=a.clamp(a,b) d=T.where(a>0,a,b) d=T.where(a>0,1,b)
d=T.where(a>0,a,.5) d=T.cat([a,b]) d=T.stack([a,b]) d=T.maximum(a,b) d=T.fmod(a,b) d=T.remainder(a,2)
d=T.div(a,b,rounding_mode='floor') d=T.true_divide(a,2) d=T.div(a,b,rounding_mode='trunc') d=T.floor_divide(a,b)
d=T.result_type(a,b) d=T.promote_types(a.dtype,b.dtype) d=a.type() d=T.can_cast(a.dtype,b.dtype)
d=a.is_floating_point() d=a.element_size() d=T.add(a,b,alpha=2) d=T.sub(a,b,alpha=.5) d=T.bitwise_and(a,1) d=T.gcd(a,b)
d=T.lerp(a,b,.5) d=T.addcmul(a,a,b,value=2) d=T.pow(a,-1) d=T.pow(a,.5) d=a.bincount() a+=b a-=1 a*=2 a/=2 a//=2 a%=2
a**=2 a&=b a|=1 a<<=1 a.add_(b,alpha=2) a.mul_(.5) a.copy_(b) a.fill_(2) a.fill_(.5) a.fill_(True) a.zero_() a[0]=b[0]
a[a>0]=1 a[0]=.5 a.masked_fill_(a>0,.5) a.clamp_(0,1) a.sub_(b) a.div_(b) a.pow_(2) a.sum().backward()
d=a.detach().requires_grad_() a.float().sum().backward() d=a.sum(dtype=T.float64) d=a.cumprod(0) d=a.nansum()
d=a.mean(dtype=T.float32) d=a.prod(dtype=T.int32) d=a.softmax(-1) d=F.softmax(a,-1,dtype=T.float64) d=a.logical_not()
d=a.dot(b) d=a.view(T.int32) d=a.view(T.uint8) d=a.view(T.int16) d=a.unique() d=a.median() d=a.histc(4)
d=T.bitwise_xor(a,b) d=a.nonzero() d=T.full_like(a,2) d=T.full((2,),True) d=T.arange(0,2,.5) d=T.arange(3)
d=T.tensor([1,2.]) d=T.tensor([True,2]) d=T.ones_like(a) d=T.linspace(0,1,3,dtype=a.dtype) d=a.new_full((2,),1.5)
d=T.zeros(2,dtype=b.dtype) d=a.matmul(b) d=a.t()@b d=a.trunc() d=T.scalar_tensor(2) d=a.sum(0)*b d=a.flip(0) d=a.diff()
d=a.outer(b) d=T.atan2(a,b) d=T.hypot(a,b) d=T.copysign(a,b) d=T.ldexp(a,b) d=T.heaviside(a,b) d=T.logical_xor(a,b)
d=T.isclose(a,b) d=T.allclose(a,b) d=T.equal(a,b) d=a.frac() d=a.lgamma()
"""
INDEX = """
d=a[0] d=a[-1] d=a[1:] d=a[:0] d=a[::2] d=a[...,0] d=a[None] d=a[:,None] d=a[[0,1]] d=a[[0,-1],[1,0]]
d=a[L([[0,1],[1,0]])] d=a[L([0]),:] d=a[:,L([0,0])] d=a[...,L([1,0])] d=a[L([0,1]),L([1,0])]
d=a[L([0,1]),None,L([1,0])] d=a[a>0] d=a[a[0]>0] d=a[:,a[0]>0] d=a[L([True,False])] d=a[0,L([0,1])] d=a[None,L([0])]
d=a[L(0)] d=a[L([])] d=a[[]] d=a[True] d=a[False] d=a[0,0] d=a[5] d=a[0,0,0,0] d=a[L([7])] d=a[1.] d=a['x'] d=a[::-1]
d=a[L([0.])] d=a[slice(0,2,2)] d=a[(0,)] d=a[...] d=a[L([0,1]),:,L([0,1])] d=a[1:,L([0])] d=a[L([[0],[1]]),L([[0,1]])]
d=a[:,:,None][0] d=a[L([0],dtype=T.int32)] d=a[L([1]).byte()] a[0]=b a[0]=1. a[1:]=b[1:] a[:0]=1. a[::2]=2.
a[...,0]=b[...,0] a[[0,1]]=3. a[[0,0]]=b[0] a[L([0,1]),L([1,0])]=L([5.,6.]) a[a>0]=0. a[a>0]=b[a>0] a[a[0]>0]=1.
a[:,a[0]>0]=2. a[None]=b a[True]=1. a[False]=1. a[L(0)]=b[0] a[5]=1. a[0,0]=b[0,0] a[[]]=1. a[a>9]=L([])
a[0]=[1.,2.,3.] a[0]=L([1,2,3]) a[L([0,1]),None]=b a[...]=b a['x']=1 a[0]+=1 a[[0,0]]+=1 a[a>0]*=2 a[:,1:]-=b[:,1:]
a[0][0]=3. a.t()[0]=b.t()[1] a[L([[0],[1]]),L([[0,1]])]=1. a[0,...]=b[0] a[1:].mul_(2) a[0].copy_(b[1])
a.index_put_((L([0,0]),),b[0],accumulate=True) a.index_put_((L([0,1]),L([0,1])),L([1.,2.]))
a.index_copy_(0,L([0]),b[:1]) a.index_fill_(0,L([1]),2.) a.index_add_(0,L([0,1]),b[:2],alpha=2)
a.masked_scatter_(a>0,b.clone()) a.masked_fill_(a>0,b.sum()) a.put_(L([0,1]),L([1.,2.]))
a.put_(L([0,0]),L([1.,2.]),accumulate=True) a.scatter_(0,L([[0,1,0]]),b) a.scatter_add_(1,L([[0],[0]]),b)
a.scatter_(0,L([[0,1,0]]),b,reduce='add') a.scatter_reduce_(0,L([[0,1,0]]),b,'amax')
a.scatter_reduce_(0,L([[0,0,0]]),b,'mean') a.scatter_reduce_(0,L([[0,1,0]]),b,'prod',include_self=False)
a.index_reduce_(0,L([0]),b[:1],'prod') a.fill_diagonal_(2.) d=a.scatter_reduce(0,L([[0,0,0]]),b,'sum')
d=a.scatter_reduce(1,L([[0,0],[1,1]]),b,'amin') d=a.index_reduce(0,L([0,0]),b[:2],'mean')
d=a.take_along_dim(a.argsort(0),0) d=a.gather(1,L([[0],[1]])) d=a.take(L([0,-1])) d=a.index_select(-1,L([0,0]))
d=a.masked_select(a>0) d=a.select_scatter(b[0],0,0) d=a.slice_scatter(b[:1],0,0,1) d=a.diagonal_scatter(b.diagonal())
d=T.argwhere(a>0) d=a.nonzero() d=T.where(a>0)[0] d=a.unfold(0,2,1) d=a.narrow(1,0,2) d=a.diagonal() d=a.tril()
d=a.view(-1)[L([0,3])] d=T.tril_indices(2,2) d=T.searchsorted(a[0].sort()[0],b[0]) d=T.bucketize(a,L([0.,1.]))
d=F.one_hot(L([0,2])) d=F.embedding(L([0,1]),a) d=T.meshgrid(a[0],b[0],indexing='ij')[1] a.sum().backward()
a.pow(2).sum().backward(retain_graph=True) d=a.clone() d=a*2 d=a.detach() d=a.t() with_T.no_grad():a[0]=1.
d=T.autograd.grad((a*a).sum(),b,create_graph=True,allow_unused=True)[0] d=a.double() d=a.long()
with_T.no_grad():a[[0]]=b[[1]] d=GR(a) d=T.func.vmap(lambda_x:x[L([0,1])])(a) d=T.func.vmap(lambda_x:x[x.argmax()])(a)
d=T.func.grad(lambda_x:x[[0,0]].pow(2).sum())(a) d=T.func.vmap(lambda_x,y:x.index_put((L([0]),),y[:1]))(a,b)
d=T.func.jvp(lambda_x:x[:,L([0])]*x,(a,),(b,))[1] d=a.isin(b)
"""
MEMORY = """
d=a[0] d=a[:,1:] d=a[::2] d=a.t() d=a.view(-1) d=a.expand(2,*a.shape) d=a.as_strided((2,2),(1,1))
d=a.as_strided((3,),(1,),1) d=a.unfold(0,2,1) d=a.flatten() d=a.reshape(-1) d=a.contiguous() d=a.clone() d=a.detach()
d=a.data d=a.unsqueeze(0) d=a.squeeze() d=a.view(T.int32) d=a.view(a.shape) d=a.movedim(0,-1)
d=a.permute(*range(a.dim())[::-1]) d=a.narrow(0,0,1) d=a.select(-1,0) d=a[:0] d=T.empty(0) d=T.zeros(0,3)
d=T.zeros(2,0) d=T.tensor(2.) d=T.zeros(2,3).t() d=T.zeros(3,1).expand(3,4) d=T.empty_strided((2,3),(1,2)).zero_()
a.set_(b) a.set_() a.data=b a.data=b.clone() a.data=b.double() a.data.mul_(2)
a.data[0]=1. a.resize_(0) a.t_() a.squeeze_() a.unsqueeze_(0) a.transpose_(0,-1) a.swapaxes_(0,-1) a.swapdims_(0,1)
a.as_strided_((2,),(1,)) a.mul_(2) a.add_(b) a.copy_(b) a.zero_() a.add_(1) a.exp_() a.clamp_(-1,1) a[0]=b[0]
a.view(-1)[0]=2. a.detach().mul_(2) a.detach_() d=a.detach().requires_grad_() a.requires_grad_(False) a.grad=b
a.grad=b.clone() a.grad=T.ones_like(a) a.grad=1 a.grad.mul_(2) a.retain_grad() d=a.grad d=a.stride()
d=a.storage_offset() d=a.is_contiguous() d=a._is_view() d=a._base d=a.data_ptr()==b.data_ptr() d=a.numel()
d=a.untyped_storage().nbytes() d=a.is_set_to(b) d=a.is_inference() d=a.is_leaf d=a._version d=a.nbytes d=a.itemsize
d=T.equal(a,b) d=a.ndim d=a*2 d=a+b d=a*b d=a.exp() d=a.sum() d=a.sum(0) d=a.mean() d=a.max() d=a.min(0)[0] d=a.prod()
d=a.softmax(0) d=a.cumsum(0) d=a.any() d=a.argmax() d=a@b d=a.t()@b d=T.cat([a,b]) d=T.stack([a,b]) d=T.cat([a,a[:0]])
d=a.sort()[0] d=a.var() d=a.std(0) d=a.logsumexp(0) d=a.norm() d=a.median() d=a.relu() d=T.zeros_like(a)
d=T.empty_like(a).fill_(1) d=a.new_ones(2,3) d=a.flip(0) d=a.roll(1) d=a.repeat(2,1) d=a.chunk(2)[0] d=a.split(1)[0]
d=a.tril() a.sum().backward() a.sum().backward(retain_graph=True) a.backward(T.ones_like(a))
d=T.autograd.grad(a.sum(),b,allow_unused=True,retain_graph=True)[0] with_T.no_grad():a.mul_(2) with_T.no_grad():d=a[0]
with_T.no_grad():a.t_() with_T.no_grad():a.copy_(b) with_T.no_grad():d=a.view(-1) with_T.inference_mode():d=a[0]
with_T.inference_mode():d=a*2 with_T.inference_mode():a.mul_(2) with_T.inference_mode():d=a.detach() d=GR(a)
with_T.inference_mode(False):d=a*2 with_T.enable_grad():d=a*2 with_T.set_grad_enabled(False):d=a.view(-1)
d=T.is_inference_mode_enabled() T.add(a,b,out=a) T.mul(a,2,out=b) T.sum(a,0,out=b) d=T.add(a,b,out=T.empty(0))
T.cat([a,a],out=b) T.exp(a,out=a[0]) d=T.broadcast_to(a,(2,3,3)) d=a.tile(2) d=a.repeat_interleave(2) d=a.T d=a.mT
d=a.H d=a.unflatten(0,(1,-1)) d=a.ravel() d=a.diag() d=a.swapaxes(0,-1)
"""
PRINTED = """
d=a*1e5 d=a*1e-5 d=a*1e10 d=a/0 d=a*float('nan') d=a.long() d=a.bool() d=a.half() d=a.double() d=a.bfloat16()
d=a.cfloat()*1j d=a.int() d=a.byte() d=a[:0] d=a.sum() d=a[0] d=a.t() d=a.round() d=a.floor() d=a*0 d=-a*0
d=a.expand(2,*a.shape) d=a.unsqueeze(-1) d=a.sqrt() d=a.log() d=str(a) d=repr(a) d=f'{a}' d=f'{a.sum()}'
d=f'{a.sum():.3f}' d=f'{a:>5}' d='%s'%a d=format(a) d=a.tolist() d=a.item() d=a.sum().item() d=bool(a) d=int(a)
d=float(a.sum()) d=len(a) d=list(a) d=a.shape d=a.size() d=a.size(0) d=a.dtype d=a.device d=a.layout d=a.type()
d=hash(a)==id(a) d=2$in$a d=a$in$[b] d=a.grad_fn.name() d=str(a.grad_fn)[:20] d=GR(a) d=T.is_tensor(a) d=a.dim()
d=a.__len__() d=complex(a.sum()) d=a.sum().__index__() d=repr(T.nn.Parameter(a)) d=repr([a,b]) d=repr({'x':a})
d=repr((a,)) d=T.arange(1001) d=T.arange(1001).float() d=T.zeros(30,40) d=T.rand(3,400) T.set_printoptions(precision=2)
T.set_printoptions(sci_mode=True) T.set_printoptions(profile='default') T.set_printoptions(linewidth=40)
T.set_printoptions(threshold=5,edgeitems=1) T.set_printoptions(sci_mode=False) T.set_printoptions(profile='full')
T.set_printoptions(profile='short') d=a*b d=a+b d=a.exp() d=a.view(-1) d=a.detach() d=a.clone()
d=a.detach().requires_grad_() d=a.to_sparse() d=a.to_sparse_csr() d=a.conj() d=a.neg() d=a.softmax(0)
d=T.tensor([1e-8,1.,1e8]) d=T.tensor([float('inf'),1.]) d=T.tensor([[1,-200],[3,4]]) d=T.tensor([1.5,2.,float('nan')])
d=T.tensor([]) d=T.tensor([[]]) d=T.zeros(2,0,3) d=T.tensor(1e-7) d=T.tensor(123456789.) d=T.tensor([0.1,1000.])
d=T.tensor([1e4,1.]) d=T.tensor([99999.,1.5]) d=T.tensor(3) d=T.tensor(True) d=T.tensor(1+2j) d=T.tensor([1+2j,1e6j])
d=T.finfo(T.float16) d=T.iinfo(T.int8) d=T.Size([2,3]) d=T.float32 d=T.strided d=T.device('cpu')
d=T.tensor([1e38,1e-38]) d=a*a.grad a.sum().backward() d=a.grad a.mul_(2) d=T.max(a,0) d=a.sort() d=a.unbind()
d=T.tensor([-0.,0.]) d=a.max(0).indices d=a.topk(1) d=T.nested.nested_tensor([a,b]) d=T.eye(3)*a d=a.storage_offset()
d=T.empty(2,device='meta') d=T.tensor(5,dtype=T.uint16)
"""
# Gradients of gradients of many operators; functional; forward over reverse.
ORDERS = """
d=G(T.sin,a) d=G(T.tanh,a) d=G(T.sigmoid,a) d=G(T.softmax,a,-1) d=G(T.log_softmax,a,-1) d=G(T.logsumexp,a,0)
d=G(T.cumprod,a,0) d=G(T.prod,a) d=G(T.norm,a) d=G(T.var,a) d=G(T.std,a,0) d=G(T.mul,a,b) d=G(T.div,a,b)
d=G(T.pow,a,2.5) d=G(T.pow,a.abs(),b) d=G(T.atan2,a,b) d=G(T.matmul,a,b) d=G(T.cdist,a,b) d=G(T.det,a)
d=G(T.inverse,a+3*T.eye(3)) d=G(T.logdet,a@a.t()+T.eye(3)) d=G(T.cholesky_inverse,a@a.t()+T.eye(3))
d=G(T.linalg.cholesky,a@a.t()+T.eye(3)) d=G(F.gelu,a) d=G(T.linalg.solve,a+3*T.eye(3),b) d=G(T.linalg.svdvals,a)
d=G(T.linalg.eigvalsh,a+a.t()) d=G(T.matrix_exp,a) d=G(T.linalg.norm,a) d=G(F.softplus,a) d=G(F.silu,a) d=G(F.elu,a)
d=G(F.selu,a) d=G(F.leaky_relu,a) d=G(F.hardswish,a) d=G(F.mish,a) d=G(F.layer_norm,a,(3,)) d=G(F.mse_loss,a,b)
d=G(F.smooth_l1_loss,a,b) d=G(F.huber_loss,a,b) d=G(F.cosine_similarity,a,b) d=G(F.cross_entropy,a,b.softmax(-1))
d=G(F.kl_div,a,b.softmax(-1)) d=G(F.binary_cross_entropy_with_logits,a,b) d=G(F.logsigmoid,a) d=G(F.hardtanh,a)
d=G(F.linear,a,b) d=G(F.bilinear,a,b,a.expand(2,3,3)) d=G(T.einsum,'ij,jk->ik',a,b) d=G(T.where,a>0,a,b)
d=G(T.lerp,a,b,.3) d=G(T.cross,a,b) d=G(T.cummax,a,0) d=G(T.sort,a) d=G(T.topk,a,2) d=G(T.median,a) d=G(T.max,a)
d=G(T.amax,a,0) d=G(T.gather,a,0,L([[0]])) d=G(T.flip,a,(0,)) d=G(T.erf,a) d=G(T.lgamma,a.abs()+1)
d=G(T.digamma,a.abs()+1) d=G(T.special.i0,a) d=G(T.sinc,a) d=G(T.logaddexp,a,b) d=G(T.hypot,a,b) d=G(T.addcdiv,a,b,a+3)
d=G(T.baddbmm,a[None],a[None],b[None]) d=G(T.trace,a) d=G(T.kron,a,b) d=G(T.renorm,a,2,0,1.) d=G(T.cov,a)
d=G(T.corrcoef,a) d=G(T.fft.fft,a) d=G(T.fft.rfft,a) d=G(T.stft,a[0],2) d=G(T.nan_to_num,a) d=G(T.clamp,a,-1,1)
d=G(T.trapezoid,a) d=G(T.cumsum,a,0) d=G(T.logcumsumexp,a,0) d=T.autograd.functional.hessian(lambda_x:(x*x*b).sum(),a)
d=T.autograd.functional.jacobian(lambda_x:x.exp(),a,create_graph=True)
d=T.autograd.functional.vhp(lambda_x:x.pow(3).sum(),a,b)[1] d=T.autograd.functional.hvp(lambda_x:x.pow(3).sum(),a,b)[1]
d=T.autograd.functional.jvp(lambda_x:x*x,a,b)[1] d=T.autograd.functional.vjp(lambda_x:x*b,a,a)[1]
d=T.autograd.functional.jacobian(lambda_x:x*b,a,vectorize=True)
d=T.func.jvp(T.func.grad(lambda_x:x.pow(3).sum()),(a,),(b,))[1]
d=T.func.vmap(T.func.hessian(lambda_x:x.sin().prod()))(a)
d=T.func.jacrev(lambda_x:T.func.jacfwd(lambda_y:y*x)(x))(a[0])
d=T.func.linearize(lambda_x:x*x,a.detach())[1](b.detach()) d=T.func.vmap(lambda_x,y:x*y,in_dims=(0,None))(a,b)
d=T.func.vmap(lambda_x:x.sum(),in_dims=1,out_dims=0)(a) d=T.func.vmap(lambda_x:(x,x*2),out_dims=(0,1))(a)[1]
d=T.func.functionalize(lambda_x:x.clone().mul_(2))(a) d=T.func.grad_and_value(lambda_x:x.pow(2).sum())(a)[1]
d=T.func.grad(lambda_x,y:(x*y).sum(),argnums=(0,1))(a,b)[1] d=T.func.vjp(lambda_x:(x,x*2),a)[1]((a,b))[0]
d=T.autograd.grad(a.sum(),b) d=T.autograd.grad(a,b) d=T.autograd.grad(a.sum(),[a,b],allow_unused=True)
d=T.autograd.grad([a.sum(),a.prod()],[a],[None,T.tensor(2.)],retain_graph=True)[0] d=T.autograd.grad(a,a,b.detach())[0]
d=T.autograd.grad(a.sum(),a,T.ones(2)) d=T.autograd.grad(a.sum(),b,materialize_grads=True,retain_graph=True)[0]
d=T.autograd.grad(a.detach(),a) d=T.autograd.grad(a.sum(),[]) d=T.autograd.grad([],[a]) a.sum().backward()
a.pow(3).sum().backward(create_graph=True) a.sum().backward(T.tensor(2.),retain_graph=True) a.backward() a.grad=None
d=a.grad d=a*2 d=a.sin() d=a*b d=a.detach() a.mul_(2) d=a.double() d=GR(a) d=FWD(lambda_x:x.sin()*x,a,b)
d=FWD(lambda_x:x.softmax(-1),a,b) d=FWD(lambda_x:x@x,a,b) d=FWD(lambda_x:F.layer_norm(x,(3,)),a,b)
d=FWD(lambda_x:x.clone().mul_(x),a,b) d=FWD(lambda_x:x.det(),a,b) d=FWD(lambda_x:x.var(0),a,b)
d=FWD(lambda_x:T.cat([x,x*2]),a,b) d=FWD(lambda_x:x[0].mul(x),a,b) d=FWD(lambda_x:x.max(0)[0],a,b)
d=FWD(lambda_x:T.linalg.inv(x+3*T.eye(3)),a,b) d=FWD(lambda_x:x.norm(),a,b) d=FWD(lambda_x:F.gelu(x),a,b)
d=FWD(lambda_x:x.view(-1),a,b)
"""
