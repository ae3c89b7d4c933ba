"""Examples of functions that are made by the dozen and have no docstring of their own to hold one.

Each calls its function by name, by which it is found. A form such as ``exp_`` or ``view_copy`` that has none shows the
example of ``exp`` or ``view``.
"""

EXAMPLES = """
>>> torch.dropout(torch.ones(2), 0.5, False)
tensor([1., 1.])

>>> torch.feature_dropout(torch.ones(1, 2), 0.5, False)
tensor([[1., 1.]])

>>> torch.alpha_dropout(torch.ones(2), 0.5, False)
tensor([1., 1.])

>>> torch.feature_alpha_dropout(torch.ones(1, 2), 0.5, False)
tensor([[1., 1.]])

>>> torch.neg_(torch.tensor([1., -2.]))
tensor([-1.,  2.])

>>> torch.tensor([-2., 0.]).sgn_()
tensor([-1.,  0.])

>>> torch.abs_(torch.tensor([-1., 2.]))
tensor([1., 2.])

>>> torch.tensor([-2., 0.]).sign_()
tensor([-1.,  0.])

>>> torch.tensor([0., 0.5]).erfinv_()
tensor([0.0000, 0.4769])

>>> torch.tensor([1., 4.]).lgamma_()
tensor([0.0000, 1.7918])

>>> torch.tensor([1., 0.5]).digamma_()
tensor([-0.5772, -1.9635])

>>> torch.atleast_1d(torch.tensor(1))
tensor([1])

>>> torch.atleast_2d(torch.tensor([1, 2]))
tensor([[1, 2]])

>>> torch.atleast_3d(torch.tensor([1, 2])).shape
torch.Size([1, 2, 1])

>>> torch.hsplit(torch.arange(4), 2)
(tensor([0, 1]), tensor([2, 3]))

>>> torch.vsplit(torch.tensor([[1, 2], [3, 4]]), 2)
(tensor([[1, 2]]), tensor([[3, 4]]))

>>> [part.shape for part in torch.dsplit(torch.ones(1, 1, 4), 2)]
[torch.Size([1, 1, 2]), torch.Size([1, 1, 2])]

>>> torch.diagonal_copy(torch.tensor([[1, 2], [3, 4]]))
tensor([1, 4])

>>> torch.view_copy(torch.arange(4), (2, 2))
tensor([[0, 1],
        [2, 3]])

>>> torch.permute_copy(torch.tensor([[1, 2]]), (1, 0))
tensor([[1],
        [2]])

>>> torch.transpose_copy(torch.tensor([[1, 2]]), 0, 1)
tensor([[1],
        [2]])

>>> torch.unsqueeze_copy(torch.tensor([1, 2]), 0)
tensor([[1, 2]])

>>> torch.squeeze_copy(torch.tensor([[1, 2]]))
tensor([1, 2])

>>> torch.expand_copy(torch.tensor([[1], [2]]), (2, 2))
tensor([[1, 1],
        [2, 2]])

>>> torch.as_strided_copy(torch.arange(4), (2,), (2,))
tensor([0, 2])

>>> torch.unfold_copy(torch.arange(4), 0, 2, 2)
tensor([[0, 1],
        [2, 3]])

>>> torch.slice_copy(torch.arange(4), 0, 1, 3)
tensor([1, 2])

>>> torch.select_copy(torch.tensor([[1, 2], [3, 4]]), 0, 1)
tensor([3, 4])

>>> torch.alias_copy(torch.tensor([1, 2]))
tensor([1, 2])

>>> torch.detach_copy(torch.ones(2))
tensor([1., 1.])

>>> torch.tril_indices(2, 2)
tensor([[0, 1, 1],
        [0, 0, 1]])

>>> torch.triu_indices(2, 2)
tensor([[0, 0, 1],
        [0, 1, 1]])

>>> torch.conv1d(torch.arange(4.).view(1, 1, 4), torch.ones(1, 1, 2))
tensor([[[1., 3., 5.]]])

>>> torch.conv3d(torch.ones(1, 1, 2, 2, 2), torch.ones(1, 1, 2, 2, 2)).flatten()
tensor([8.])

>>> torch.conv_transpose1d(torch.tensor([[[1., 2.]]]), torch.ones(1, 1, 2))
tensor([[[1., 3., 2.]]])

>>> torch.conv_transpose2d(torch.tensor([[[[3.]]]]), torch.ones(1, 1, 1, 2))
tensor([[[[3., 3.]]]])

>>> torch.conv_transpose3d(torch.ones(1, 1, 1, 1, 1), torch.ones(1, 1, 1, 1, 2)).flatten()
tensor([1., 1.])

>>> torch.max_pool3d(torch.arange(8.).view(1, 2, 2, 2), 2)
tensor([[[[7.]]]])

>>> x, h, w = torch.ones(1, 1), torch.zeros(1, 1), torch.ones(3, 1)
>>> torch.gru_cell(x, h, w, w)
tensor([[0.2048]])

>>> x, h, w = torch.ones(1, 1), torch.zeros(1, 1), torch.ones(1, 1)
>>> torch.rnn_tanh_cell(x, h, w, w)
tensor([[0.7616]])

>>> x, h, w = torch.ones(1, 1), torch.zeros(1, 1), torch.ones(1, 1)
>>> torch.rnn_relu_cell(x, h, w, w)
tensor([[1.]])

>>> torch.nn.functional.max_pool2d_with_indices(torch.arange(4.).view(1, 2, 2), 2)
(tensor([[[3.]]]), tensor([[[3]]]))

>>> torch.nn.functional.max_pool3d_with_indices(torch.arange(8.).view(1, 2, 2, 2), 2)[1]
tensor([[[[7]]]])

>>> torch.nn.functional.avg_pool3d(torch.arange(8.).view(1, 2, 2, 2), 2)
tensor([[[[3.5000]]]])

>>> _ = torch.manual_seed(0)
>>> torch.nn.functional.fractional_max_pool2d_with_indices(torch.arange(9.).view(1, 3, 3), 2, 1)[0]
tensor([[[8.]]])

>>> torch.nn.functional.adaptive_max_pool1d_with_indices(torch.tensor([[1., 3., 2., 0.]]), 2)
(tensor([[3., 2.]]), tensor([[1, 2]]))

>>> torch.nn.functional.adaptive_max_pool2d_with_indices(torch.arange(4.).view(1, 2, 2), 1)
(tensor([[[3.]]]), tensor([[[3]]]))

>>> torch.nn.functional.adaptive_max_pool3d_with_indices(torch.arange(8.).view(1, 2, 2, 2), 1)[1]
tensor([[[[7]]]])

>>> torch.fft.ifft(torch.tensor([2., 0.]))
tensor([1.-0.j, 1.-0.j])

>>> torch.fft.rfft(torch.tensor([1., 2.]))
tensor([ 3.+0.j, -1.+0.j])

>>> torch.fft.irfft(torch.tensor([3., -1.]))
tensor([1., 2.])

>>> torch.fft.hfft(torch.tensor([1., 2.]))
tensor([ 3., -1.])

>>> torch.fft.ihfft(torch.tensor([3., -1.])).real
tensor([1., 2.])

>>> torch.fft.fftn(torch.ones(1, 2))
tensor([[2.+0.j, 0.+0.j]])

>>> torch.fft.fft2(torch.ones(1, 2))
tensor([[2.+0.j, 0.+0.j]])

>>> torch.fft.ifftn(torch.tensor([[2., 0.]]))
tensor([[1.+0.j, 1.+0.j]])

>>> torch.fft.ifft2(torch.tensor([[2., 0.]]))
tensor([[1.+0.j, 1.+0.j]])

>>> torch.fft.rfftn(torch.ones(1, 2))
tensor([[2.+0.j, 0.+0.j]])

>>> torch.fft.rfft2(torch.ones(1, 2))
tensor([[2.+0.j, 0.+0.j]])

>>> torch.fft.irfftn(torch.tensor([[2., 0.]]))
tensor([[1., 1.]])

>>> torch.fft.irfft2(torch.tensor([[2., 0.]]))
tensor([[1., 1.]])

>>> torch.fft.hfftn(torch.tensor([[1., 2.]]))
tensor([[ 3., -1.]])

>>> torch.fft.hfft2(torch.tensor([[1., 2.]]))
tensor([[ 3., -1.]])

>>> torch.fft.ihfftn(torch.tensor([[3., -1.]])).real
tensor([[1., 2.]])

>>> torch.fft.ihfft2(torch.tensor([[3., -1.]])).real
tensor([[1., 2.]])

>>> torch.special.airy_ai(torch.tensor([0., 1.]))
tensor([0.3550, 0.1353])

>>> torch.special.bessel_j0(torch.tensor([0., 1.]))
tensor([1.0000, 0.7652])

>>> torch.special.bessel_j1(torch.tensor([0., 1.]))
tensor([0.0000, 0.4401])

>>> torch.special.bessel_y0(torch.tensor([1., 2.]))
tensor([0.0883, 0.5104])

>>> torch.special.bessel_y1(torch.tensor([1., 2.]))
tensor([-0.7812, -0.1070])

>>> torch.special.modified_bessel_k0(torch.tensor([1., 2.]))
tensor([0.4210, 0.1139])

>>> torch.special.modified_bessel_k1(torch.tensor([1., 2.]))
tensor([0.6019, 0.1399])

>>> torch.special.scaled_modified_bessel_k0(torch.tensor([1., 2.]))
tensor([1.1445, 0.8416])

>>> torch.special.scaled_modified_bessel_k1(torch.tensor([1., 2.]))
tensor([1.6362, 1.0335])

>>> torch.special.spherical_bessel_j0(torch.tensor([0., 1.]))
tensor([1.0000, 0.8415])

>>> torch.special.chebyshev_polynomial_t(torch.tensor([0.5, 2.]), 3)
tensor([-1., 26.])

>>> torch.special.shifted_chebyshev_polynomial_t(torch.tensor([0.5, 2.]), 3)
tensor([-0., 99.])

>>> torch.special.chebyshev_polynomial_u(torch.tensor([0.5, 2.]), 3)
tensor([-1., 56.])

>>> torch.special.shifted_chebyshev_polynomial_u(torch.tensor([0.5, 2.]), 3)
tensor([ -0., 204.])

>>> torch.special.chebyshev_polynomial_v(torch.tensor([0.5, 2.]), 3)
tensor([-1., 41.])

>>> torch.special.shifted_chebyshev_polynomial_v(torch.tensor([0.5, 2.]), 3)
tensor([  1., 169.])

>>> torch.special.chebyshev_polynomial_w(torch.tensor([0.5, 2.]), 3)
tensor([-1., 71.])

>>> torch.special.shifted_chebyshev_polynomial_w(torch.tensor([0.5, 2.]), 3)
tensor([ -1., 239.])

>>> torch.special.hermite_polynomial_h(torch.tensor([0.5, 2.]), 3)
tensor([-5., 40.])

>>> torch.special.hermite_polynomial_he(torch.tensor([0.5, 2.]), 3)
tensor([-1.3750,  2.0000])

>>> torch.special.laguerre_polynomial_l(torch.tensor([0.5, 2.]), 3)
tensor([-0.1458, -0.3333])

>>> torch.special.legendre_polynomial_p(torch.tensor([0.5, 2.]), 3)
tensor([-0.4375, 17.0000])

>>> torch.tensor([0, 5]).bitwise_not_()
tensor([-1, -6])

>>> torch.tensor([0., 5.]).logical_not_()
tensor([1., 0.])

>>> x, where = torch.arange(8.).view(1, 1, 2, 2, 2), torch.zeros(1, 1, 3)
>>> torch.nn.functional.fractional_max_pool3d(x, 1, 1, _random_samples=where).flatten()
tensor([7.])

>>> x, where = torch.arange(8.).view(1, 1, 2, 2, 2), torch.zeros(1, 1, 3)
>>> torch.nn.functional.fractional_max_pool3d_with_indices(x, 1, 1, _random_samples=where)[1].flatten()
tensor([7])

>>> torch.special.modified_bessel_i0(torch.tensor([0., 1.]))
tensor([1.0000, 1.2661])

>>> torch.special.modified_bessel_i1(torch.tensor([0., 1.]))
tensor([0.0000, 0.5652])

>>> torch.solve(torch.eye(2), torch.eye(2))
Traceback (most recent call last):
RuntimeError: This function was deprecated since version 1.9 and is now removed. ...

>>> torch.lstsq(torch.eye(2), torch.eye(2))
Traceback (most recent call last):
RuntimeError: This function was deprecated since version 1.9 and is now removed. ...

>>> torch.eig(torch.eye(2), torch.eye(2))
Traceback (most recent call last):
RuntimeError: This function was deprecated since version 1.9 and is now removed. ...

>>> torch.matrix_rank(torch.eye(2), torch.eye(2))
Traceback (most recent call last):
RuntimeError: This function was deprecated since version 1.9 and is now removed. ...

>>> torch.symeig(torch.eye(2), torch.eye(2))
Traceback (most recent call last):
RuntimeError: This function was deprecated since version 1.9 and is now removed. ...
"""
