"""Expressions that ``torch.export`` is tried on: functions and methods that models use, with their inputs."""

from __future__ import annotations

import re
from typing import Any

EXPRESSIONS = """
x + 1; x + y; x.add(y, alpha=2); 1 - x; x - y; x * 2.5; 2 * x; x / 2; 2 / x; x // 2; x % 2; x ** 2; 2 ** x; x ** y; -x; +x; abs(x)
x > 0; x >= y; x == 1; x != y; (x > 0) & (y > 0); (x > 0) | m; ~m; m ^ m; i & 3; i << 1; x @ y.mT; x.matmul(y.transpose(1, 2))
torch.add(x, y); torch.sub(x, 1); torch.rsub(x, 1); torch.mul(x, y); torch.div(x, y, rounding_mode="floor"); torch.true_divide(x, y)
x.relu(); F.relu(x); torch.relu(x); F.relu6(x); F.gelu(x); F.gelu(x, approximate="tanh"); F.silu(x); F.mish(x); F.elu(x); F.elu(x, 0.5)
F.leaky_relu(x, 0.2); F.leaky_relu(x); F.hardtanh(x); F.hardtanh(x, -2., 2.); F.hardswish(x); F.hardsigmoid(x); F.selu(x); F.celu(x)
F.softplus(x); F.softplus(x, 2, 10); F.softsign(x); F.tanhshrink(x); F.softshrink(x); F.hardshrink(x); F.logsigmoid(x); F.glu(x)
F.threshold(x, 0.1, 2.0); x.sigmoid(); torch.sigmoid(x); x.tanh(); F.softmax(x, -1); F.softmax(x, 1); x.softmax(2); F.softmax(x, dim=-1, dtype=torch.float64)
F.log_softmax(x, dim=1); torch.log_softmax(x, 1); F.softmin(x, 1); x.exp(); x.log(); x.log2(); x.log1p(); x.expm1(); x.sqrt(); x.rsqrt(); x.square()
x.sin(); x.cos(); x.tan(); x.erf(); x.floor(); x.ceil(); x.round(); torch.round(x, decimals=2); x.trunc(); x.sign(); x.reciprocal(); x.neg(); x.abs(); x.isnan(); x.isinf()
x.sum(); x.sum(1); x.sum((0, 1), keepdim=True); x.sum(dim=-1, dtype=torch.float64); x.mean(); x.mean(-1); x.mean(dim=(1, 2)); x.mean(1, True); x.prod(); x.prod(1)
x.var(); x.var(1); x.var(-1, unbiased=False); x.var(dim=1, correction=0, keepdim=True); x.std(); x.std(1); torch.var_mean(x, 1); x.std(-1, keepdim=True)
x.max(); x.max(1); x.max(dim=-1)[0]; x.min(); x.min(1)[1]; torch.max(x, y); x.amax(1); x.amin((1, 2), True); x.argmax(); x.argmax(-1); x.argmin(1, True)
x.any(); m.any(1); m.all(); m.all(-1, True); x.cumsum(1); x.cumprod(-1); x.logsumexp(1); x.norm(); x.norm(dim=1); x.norm(p=1, dim=-1, keepdim=True); torch.norm(x); torch.linalg.norm(x, dim=1)
torch.linalg.vector_norm(x, dim=-1); x.topk(2); x.topk(2, 1); x.sort(); x.sort(1, True); x.argsort(-1); x.cummax(1)[0]; x.median(); x.count_nonzero(); x.nansum()
x.view(6, 4); x.view(-1); x.view((2, -1)); x.reshape(4, 6); x.reshape(-1, 2); x.flatten(); x.flatten(1); torch.flatten(x, 0, 1); x.unflatten(2, (2, 2)); x.unsqueeze(0); x[:, None]; x.squeeze(); x.unsqueeze(1).squeeze(1)
x.transpose(0, 1); x.permute(2, 0, 1); x.permute((0, 2, 1)); torch.permute(x, (2, 1, 0)); x.mT; z.T; z.t(); x.swapaxes(0, 1); x.movedim(0, 1); x.expand(5, 2, 3, 4); x.expand(-1, -1, 4); z.expand_as(z); x.contiguous(); x.clone(); x.detach(); x.repeat(1, 2, 1); x.tile((2,)); x.flip(1); x.roll(1, 0); x.roll((1, 2), (0, 1))
x[0]; x[-1]; x[:, 1]; x[:, -1]; x[..., 0]; x[:, :, 1:3]; x[..., :2]; x[:, ::2]; x[1:]; x[0, 1]; x[0, 1, 2]; x[:, None, :, 0]; x[i]; x[:, i]; x[i, :, 0]; x[:, [0, 1]]; x[i, i]; x[None]; x[...]; x.select(1, 0); x.narrow(1, 0, 2); x.index_select(1, i)
x.split(1, 1); x.split([1, 2], dim=1); torch.split(x, 2, -1); x.chunk(2, -1); x.unbind(1); torch.unbind(x); torch.cat([x, y]); torch.cat((x, y), dim=-1); torch.stack([x, y]); torch.stack([x, y], 1); torch.hstack([z, z]); torch.vstack([z, z])
x.gather(1, g); torch.gather(x, 2, g); x.scatter(1, g, 1.0); x.scatter(1, g, y); x.scatter_add(1, g, y); x.masked_fill(m, 0.); x.masked_fill(m, float("-inf")); torch.where(m, x, y); torch.where(m, x, 0.); torch.where(m, 1., x); x.where(m, y); x.take_along_dim(g, 1); torch.tril(z); z.triu(1); z.tril(-1); z.diagonal(); torch.diag(z[0]); x.index_add(1, i, y[:, :2])
x.clamp(0, 1); x.clamp(min=0); x.clamp(max=1.); x.clamp_min(0); torch.clamp(x, -1, 1); torch.maximum(x, y); torch.minimum(x, y); torch.fmod(x, 2); torch.remainder(x, 2); torch.pow(x, 2); torch.pow(2, x); x.lerp(y, 0.5); torch.atan2(x, y); torch.addcmul(x, y, y, value=2); torch.addcdiv(x, y, y); x.logical_and(y); x.logical_not(); torch.isclose(x, y); x.nan_to_num(); torch.xlogy(x, y); x.floor_divide(2); x.frac(); torch.hypot(x, y)
torch.zeros(2, 3); torch.zeros((2, 3), dtype=torch.int64); torch.ones(3); torch.full((2,), 1.5); torch.arange(5); torch.arange(1, 5); torch.arange(0, 1, 0.25); torch.arange(x.size(1), device=x.device); torch.eye(3); torch.linspace(0, 1, 5); torch.zeros_like(x); torch.ones_like(x, dtype=torch.int64); torch.full_like(x, 2.); x.new_zeros(2, 3); x.new_ones((2,)); x.new_full((2,), 3.); torch.empty_like(x).fill_(0); torch.tensor(2.) + x; torch.randn_like(x) * 0; torch.rand(2) * 0
x.to(torch.float64); x.double(); x.long(); i.float(); x.half().float(); x.bool(); x.type_as(i); x.to(i.dtype); x.to(x.device); x.to(y); x.int(); x.type(torch.int64)
torch.mm(z, z.t()); z.mm(z.T); torch.bmm(x, y.transpose(1, 2)); torch.baddbmm(s, x, y.mT); torch.addmm(s[0], z, z.t()); torch.matmul(x, w); torch.dot(w, w); torch.outer(w, w); torch.einsum("bij,bkj->bik", x, y); torch.einsum("bij->ji", [x]); torch.tensordot(x, y, dims=([2], [2])); torch.mv(z, w); z @ w; torch.cdist(x, y); F.linear(x, z); F.linear(x, z, z[:, 0])
F.conv1d(x, k1); F.conv1d(x, k1, padding=1); F.conv1d(x, k1, b2, stride=2, padding=1); F.conv2d(im, k2); F.conv2d(im, k2, b2, 2, 1); F.conv2d(im, k2, padding="same"); F.conv2d(im, kg, groups=3); F.conv_transpose2d(im, kt, stride=2, padding=1, output_padding=1); F.conv_transpose1d(x, k1.transpose(0, 1)); F.conv3d(vol, k3)
F.max_pool2d(im, 2); F.max_pool2d(im, 3, 2, 1); F.max_pool2d(im, 2, return_indices=True); F.max_pool1d(x, 2); F.avg_pool2d(im, 2); F.avg_pool2d(im, 3, 1, 1, count_include_pad=False); F.avg_pool1d(x, 2); F.adaptive_avg_pool2d(im, 1); F.adaptive_avg_pool2d(im, (2, 3)); F.adaptive_avg_pool2d(im, (None, 2)); F.adaptive_avg_pool1d(x, 1); F.adaptive_max_pool2d(im, 2); F.max_pool3d(vol, 2); F.avg_pool3d(vol, 2)
F.layer_norm(x, (4,)); F.layer_norm(x, (3, 4), z, z, 1e-6); F.group_norm(im, 3); F.group_norm(im, 1, w3, w3); F.batch_norm(im, w3, w3 + 1); F.batch_norm(im, w3, w3 + 1, w3, w3, False, 0.2, 1e-3); F.instance_norm(im); F.rms_norm(x, (4,)); F.rms_norm(x, (4,), w, 1e-6); F.normalize(x); F.normalize(x, p=1.0, dim=-1)
F.embedding(i, z); F.prelu(x, w3); F.cross_entropy(x.transpose(1, 2), c[:2, None].expand(2, 3), ignore_index=1); F.embedding(i, z, padding_idx=0); F.one_hot(i, 4); F.dropout(x, 0.5, False); F.dropout2d(im, 0.5, False); F.alpha_dropout(x, 0.5, False); F.pad(x, (1, 1)); F.pad(x, (1, 0), value=2.); F.pad(im, (1, 1, 1, 1), mode="reflect"); F.pad(im, (1, 1, 1, 1), "replicate"); F.pixel_shuffle(im4, 2); F.pixel_unshuffle(im4, 2); F.unfold(im, 2); F.cosine_similarity(x, y); F.pairwise_distance(z, z); F.channel_shuffle(im4, 2)
F.interpolate(im, scale_factor=2); F.interpolate(im, size=(5, 7)); F.interpolate(im, scale_factor=2, mode="bilinear"); F.interpolate(im, size=8, mode="bilinear", align_corners=True); F.interpolate(im, scale_factor=2, mode="bicubic"); F.interpolate(x, scale_factor=2, mode="linear"); F.interpolate(im, scale_factor=2, mode="nearest-exact"); F.grid_sample(im, grid, align_corners=False); F.affine_grid(theta, (2, 3, 4, 4), align_corners=False)
F.scaled_dot_product_attention(x, x, x); F.scaled_dot_product_attention(x, y, y, is_causal=True); F.scaled_dot_product_attention(x, x, x, attn_mask=s); F.scaled_dot_product_attention(x, x, x, scale=0.5)
F.mse_loss(x, y); F.mse_loss(x, y, reduction="sum"); F.l1_loss(x, y); F.smooth_l1_loss(x, y); F.smooth_l1_loss(x, y, beta=0.5); F.huber_loss(x, y, delta=2.0); F.cross_entropy(z, c); F.cross_entropy(z, c, label_smoothing=0.1); F.nll_loss(z, c); F.nll_loss(z, c, reduction="none"); F.binary_cross_entropy(x.sigmoid(), y.sigmoid()); F.binary_cross_entropy_with_logits(x, y); F.kl_div(x, y, reduction="sum"); F.kl_div(x, y, reduction="batchmean"); F.poisson_nll_loss(x, y); F.cosine_embedding_loss(z, z, w3); F.margin_ranking_loss(x, y, x.sign()); F.triplet_margin_loss(z, z + 1, z * 2); F.hinge_embedding_loss(x, y.sign()); F.soft_margin_loss(x, y.sign()); F.multi_margin_loss(z, c); F.huber_loss(x, y)
x.add_(1); x.mul_(y); x.relu_(); F.relu(x, inplace=True); x.zero_(); x.fill_(2.); x.clamp_(0); x.copy_(y); x.masked_fill_(m, 0.); x.sub_(y).div_(2)
torch.meshgrid(w, w, indexing="ij"); torch.broadcast_tensors(z, w); torch.broadcast_to(w, (3, 4)); torch.cumsum(x, dim=0); torch.multinomial(z.softmax(-1), 1) * 0; torch.bernoulli(x.sigmoid()) * 0; torch.searchsorted(w, w); torch.fft.fft(x); torch.fft.rfft(x, dim=1); torch.view_as_real(torch.fft.fft(x)); torch.rot90(x); torch.cross(x[..., :3], y[..., :3], dim=-1); torch.kron(z, z); torch.trace(s[0]); torch.heaviside(x, y); torch.logical_or(x, y); torch.repeat_interleave(x, 2, dim=1); x.repeat_interleave(2, 0); torch.chunk(x, 2, dim=1); x.diff(); torch.bucketize(x, w); x.erfinv(); torch.polygamma(1, x); x.view_as(y); x.stride(0) + x; x.unfold(2, 2, 1); torch.as_strided(x, (2, 2), (1, 2)); torch.scalar_tensor(1.) + x; x.sum_to_size(1, 3, 4); torch.full((), 2.) * x; torch.outer(w, w)
z[z > 0] * 2; z.nonzero().shape[0]; torch.zeros(z.nonzero().shape[0] * 2 + 1); z[z > 0].sum() / z[z > 0].shape[0]; torch.unique(z).shape[0] * z; z.masked_select(z > 0).view(-1, 1); c.repeat_interleave(c); w * z[0, 0].item(); torch.bincount(c).shape[0] * c; c.tolist()[2] * c; w[:c.nonzero().shape[0]]; torch.cat([w, w[w > 0.15]]).shape[0] * w; z.nonzero(as_tuple=True)[0]; z[torch.where(z > 0)]; w[w > 0.15] + torch.ones(3); torch.zeros(max(z.nonzero().shape[0], 2)); torch.zeros(z.nonzero().shape[0] // 2); torch.unique_consecutive(c) * 2; torch.cat([w[w > 0.15], w[w <= 0.15]]); z.argwhere().shape[0] + z; w.narrow(0, 0, c.nonzero().shape[0]); F.pad(w, (0, c.nonzero().shape[0])); (c.nonzero().shape[0], c[1].item(), z[0, 0].item()); w * (w[0] > 0).item(); w[w > 0.15].mean()
"""  # noqa: E501
NAMES = "x y z w w3 m i g c s im im4 vol k1 k2 kg kt k3 b2 grid theta v"


def inputs(torch: Any) -> dict[str, Any]:
    def filled(*shape: int) -> Any:
        count = 1
        for n in shape:
            count *= n
        return ((torch.arange(count, dtype=torch.float32) * 37 % 23) / 10 - 1).reshape(shape)

    return {
        "x": filled(2, 3, 4), "y": filled(2, 3, 4) + 0.3, "z": filled(3, 4), "w": torch.tensor([0.1, 0.2, 0.3, 0.5]),
        "w3": torch.tensor([0.1, 0.2, 0.3]), "m": filled(2, 3, 4) > 0, "i": torch.tensor([0, 1]),
        "g": torch.ones(2, 3, 4, dtype=torch.int64), "c": torch.tensor([0, 1, 3]), "s": filled(2, 3, 3),
        "im": filled(2, 3, 4, 4), "im4": filled(1, 4, 4, 4), "vol": filled(1, 2, 4, 4, 4), "k1": filled(2, 3, 3),
        "k2": filled(2, 3, 3, 3), "kg": filled(3, 1, 3, 3), "kt": filled(3, 2, 3, 3), "k3": filled(2, 2, 3, 3, 3),
        "b2": filled(2), "grid": filled(2, 3, 3, 2), "theta": filled(2, 2, 3), "v": filled(1, 4, 4),
    }  # fmt: skip


def all_expressions() -> list[str]:
    return [e.strip() for line in EXPRESSIONS.strip().split("\n") for e in line.split("; ")]


def module_of(torch: Any, expression: str) -> tuple[Any, tuple[Any, ...]]:
    """A module that computes an expression, and its inputs."""
    used = [n for n in NAMES.split() if re.search(rf"\b{n}\b", expression)]
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    text = f"class M(torch.nn.Module):\n    def forward(self, {', '.join(used)}):\n        return {expression}\n"
    exec(text, scope)
    given = inputs(torch)
    return scope["M"](), tuple([given[n] for n in used])
