"""The modules of ``torch.nn``, each with arguments and inputs: what ``test_nn_modules.py`` goes through.

A case has a constructor from ``nn`` and inputs from NumPy's generator. Inputs are arrays; floating ones require grad.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Case:
    make: Callable[[Any], Any]
    inputs: Callable[[np.random.RandomState], tuple[Any, ...]]
    name: str = ""
    grads: int = 99  # how many of the floating inputs require grad, from the first
    tolerance: float = 1e-5


def normal(*shapes: Any) -> Callable[[np.random.RandomState], tuple[Any, ...]]:
    """Inputs that are normal numbers of these shapes."""
    return lambda rng: tuple(rng.standard_normal(s).astype(np.float32) for s in shapes)


def with_classes(shape: Any, classes: int, target_shape: Any) -> Any:
    return lambda rng: (rng.standard_normal(shape).astype(np.float32), rng.randint(0, classes, target_shape))


def with_signs(*shapes: tuple[int, ...]) -> Any:
    """Normal numbers, and signs: one each, or one for each row if there are two inputs."""
    signs = shapes[0] if len(shapes) == 1 else shapes[0][:1]
    return lambda rng: (*normal(*shapes)(rng), (rng.randint(0, 2, signs) * 2 - 1).astype(np.float32))


def integers(high: int, *shape: int) -> Any:
    return lambda rng: (rng.randint(0, high, shape),)


X = normal((3, 4))
PICTURE = normal((2, 3, 8, 8))
SIGNAL = normal((2, 3, 9))
VOLUME = normal((2, 3, 5, 6, 4))

# fmt: off  one line a case, where one is enough
ACTIVATIONS = {
    name: Case(lambda nn, name=name, args=args: getattr(nn, name)(*args), X, name)
    for name, args in {
        "CELU": (0.7,),
        "ELU": (1.3,),
        "GELU": (),
        "GLU": (),
        "Hardshrink": (),
        "Hardsigmoid": (),
        "Hardswish": (),
        "Hardtanh": (-0.5, 0.7),
        "LeakyReLU": (0.2,),
        "LogSigmoid": (),
        "LogSoftmax": (1,),
        "Mish": (),
        "PReLU": (),
        "RReLU": (),
        "ReLU": (),
        "ReLU6": (),
        "SELU": (),
        "SiLU": (),
        "Sigmoid": (),
        "Softmax": (-1,),
        "Softmin": (1,),
        "Softplus": (2.0, 1.0),
        "Softshrink": (),
        "Softsign": (),
        "Tanh": (),
        "Tanhshrink": (),
        "Threshold": (0.1, 20.0),
    }.items()
}

_LIST = [
    Case(lambda nn: nn.Linear(4, 5), X, "Linear"),
    Case(lambda nn: nn.Linear(4, 5, bias=False), normal((2, 3, 4)), "Linear_no_bias"),
    Case(lambda nn: nn.Bilinear(4, 5, 6), normal((3, 4), (3, 5)), "Bilinear"),
    Case(lambda nn: nn.Identity(3), X, "Identity"),
    Case(lambda nn: nn.Flatten(), PICTURE, "Flatten"),
    Case(lambda nn: nn.Unflatten(1, (2, 2)), X, "Unflatten"),
    Case(lambda nn: nn.Softmax2d(), PICTURE, "Softmax2d"),
    Case(lambda nn: nn.PReLU(3), PICTURE, "PReLU_by_channel"),
    Case(lambda nn: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2)), X, "Sequential"),
    # convolutions
    Case(lambda nn: nn.Conv1d(3, 4, 3, padding=1), SIGNAL, "Conv1d"),
    Case(lambda nn: nn.Conv1d(3, 4, 3, padding="same", dilation=2), SIGNAL, "Conv1d_same"),
    Case(lambda nn: nn.Conv2d(3, 4, 3, stride=2, padding=1), PICTURE, "Conv2d"),
    Case(lambda nn: nn.Conv2d(3, 6, (3, 2), groups=3, bias=False), PICTURE, "Conv2d_groups"),
    Case(lambda nn: nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"), PICTURE, "Conv2d_reflect"),
    Case(lambda nn: nn.Conv2d(3, 4, 3, padding=2, padding_mode="circular"), PICTURE, "Conv2d_circular"),
    Case(lambda nn: nn.Conv3d(3, 2, 2), VOLUME, "Conv3d"),
    Case(lambda nn: nn.ConvTranspose1d(3, 4, 3, stride=2), SIGNAL, "ConvTranspose1d"),
    Case(lambda nn: nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1), PICTURE, "ConvTranspose2d"),
    Case(lambda nn: nn.ConvTranspose3d(3, 2, 2), VOLUME, "ConvTranspose3d"),
    Case(lambda nn: nn.Unfold(3, padding=1, stride=2), PICTURE, "Unfold"),
    Case(lambda nn: nn.Fold((4, 5), (2, 2)), normal((1, 12, 12)), "Fold"),
    # pooling
    Case(lambda nn: nn.MaxPool1d(3, 2), SIGNAL, "MaxPool1d"),
    Case(lambda nn: nn.MaxPool2d(2), PICTURE, "MaxPool2d"),
    Case(lambda nn: nn.MaxPool2d(3, 2, 1, ceil_mode=True, return_indices=True), PICTURE, "MaxPool2d_indices"),
    Case(lambda nn: nn.MaxPool3d(2), VOLUME, "MaxPool3d"),
    Case(lambda nn: nn.AvgPool1d(3, 2), SIGNAL, "AvgPool1d"),
    Case(lambda nn: nn.AvgPool2d(3, 2, 1, count_include_pad=False), PICTURE, "AvgPool2d"),
    Case(lambda nn: nn.AvgPool3d(2), VOLUME, "AvgPool3d"),
    Case(lambda nn: nn.LPPool1d(2, 3), normal((2, 3, 9)), "LPPool1d", tolerance=1e-4),
    Case(lambda nn: nn.LPPool2d(2, 2), PICTURE, "LPPool2d", tolerance=1e-4),
    Case(lambda nn: nn.LPPool3d(2, 2), VOLUME, "LPPool3d", tolerance=1e-4),
    Case(lambda nn: nn.AdaptiveMaxPool1d(4), SIGNAL, "AdaptiveMaxPool1d"),
    Case(lambda nn: nn.AdaptiveMaxPool2d((3, None)), PICTURE, "AdaptiveMaxPool2d"),
    Case(lambda nn: nn.AdaptiveMaxPool3d(2), VOLUME, "AdaptiveMaxPool3d"),
    Case(lambda nn: nn.AdaptiveAvgPool1d(4), SIGNAL, "AdaptiveAvgPool1d"),
    Case(lambda nn: nn.AdaptiveAvgPool2d((3, 5)), PICTURE, "AdaptiveAvgPool2d"),
    Case(lambda nn: nn.AdaptiveAvgPool3d(2), VOLUME, "AdaptiveAvgPool3d"),
    Case(lambda nn: nn.FractionalMaxPool2d(2, output_size=4), PICTURE, "FractionalMaxPool2d"),
    Case(lambda nn: nn.FractionalMaxPool3d(2, output_size=2), VOLUME, "FractionalMaxPool3d"),
    # padding, sizes
    Case(lambda nn: nn.CircularPad1d(2), SIGNAL, "CircularPad1d"),
    Case(lambda nn: nn.CircularPad2d((1, 2, 0, 1)), PICTURE, "CircularPad2d"),
    Case(lambda nn: nn.CircularPad3d(1), VOLUME, "CircularPad3d"),
    Case(lambda nn: nn.ConstantPad1d(2, 3.5), SIGNAL, "ConstantPad1d"),
    Case(lambda nn: nn.ConstantPad2d(1, 3.5), PICTURE, "ConstantPad2d"),
    Case(lambda nn: nn.ConstantPad3d(1, 3.5), VOLUME, "ConstantPad3d"),
    Case(lambda nn: nn.ReflectionPad1d(2), SIGNAL, "ReflectionPad1d"),
    Case(lambda nn: nn.ReflectionPad2d((1, 2, 0, 1)), PICTURE, "ReflectionPad2d"),
    Case(lambda nn: nn.ReflectionPad3d(1), VOLUME, "ReflectionPad3d"),
    Case(lambda nn: nn.ReplicationPad1d(2), SIGNAL, "ReplicationPad1d"),
    Case(lambda nn: nn.ReplicationPad2d(2), PICTURE, "ReplicationPad2d"),
    Case(lambda nn: nn.ReplicationPad3d(1), VOLUME, "ReplicationPad3d"),
    Case(lambda nn: nn.ZeroPad1d(2), SIGNAL, "ZeroPad1d"),
    Case(lambda nn: nn.ZeroPad2d((1, 0, 2, 0)), PICTURE, "ZeroPad2d"),
    Case(lambda nn: nn.ZeroPad3d(1), VOLUME, "ZeroPad3d"),
    Case(lambda nn: nn.Upsample(scale_factor=2), PICTURE, "Upsample"),
    Case(lambda nn: nn.Upsample(size=(5, 11), mode="bilinear"), PICTURE, "Upsample_bilinear"),
    Case(lambda nn: nn.UpsamplingNearest2d(scale_factor=2), PICTURE, "UpsamplingNearest2d"),
    Case(lambda nn: nn.UpsamplingBilinear2d(size=12), PICTURE, "UpsamplingBilinear2d"),
    Case(lambda nn: nn.PixelShuffle(2), normal((1, 8, 3, 3)), "PixelShuffle"),
    Case(lambda nn: nn.PixelUnshuffle(2), PICTURE, "PixelUnshuffle"),
    Case(lambda nn: nn.ChannelShuffle(2), normal((1, 4, 3, 3)), "ChannelShuffle"),
    # normalisation
    Case(lambda nn: nn.BatchNorm1d(4), X, "BatchNorm1d"),
    Case(lambda nn: nn.BatchNorm1d(3), SIGNAL, "BatchNorm1d_signal"),
    Case(lambda nn: nn.BatchNorm2d(3), PICTURE, "BatchNorm2d"),
    Case(lambda nn: nn.BatchNorm2d(3, momentum=None, affine=False), PICTURE, "BatchNorm2d_mean_of_all"),
    Case(lambda nn: nn.BatchNorm2d(3, track_running_stats=False), PICTURE, "BatchNorm2d_untracked"),
    Case(lambda nn: nn.BatchNorm2d(3).eval(), PICTURE, "BatchNorm2d_eval"),
    Case(lambda nn: nn.BatchNorm2d(3, bias=False), PICTURE, "BatchNorm2d_no_bias"),
    Case(lambda nn: nn.BatchNorm3d(3), VOLUME, "BatchNorm3d"),
    Case(lambda nn: nn.SyncBatchNorm(3).eval(), PICTURE, "SyncBatchNorm"),
    Case(lambda nn: nn.InstanceNorm1d(3), SIGNAL, "InstanceNorm1d"),
    Case(lambda nn: nn.InstanceNorm2d(3, affine=True, track_running_stats=True), PICTURE, "InstanceNorm2d"),
    Case(lambda nn: nn.InstanceNorm2d(3), normal((3, 8, 8)), "InstanceNorm2d_unbatched"),
    Case(lambda nn: nn.InstanceNorm3d(3), VOLUME, "InstanceNorm3d"),
    Case(lambda nn: nn.LayerNorm(4), X, "LayerNorm"),
    Case(lambda nn: nn.LayerNorm((8, 8), bias=False), PICTURE, "LayerNorm_no_bias"),
    Case(lambda nn: nn.LayerNorm(4, elementwise_affine=False), X, "LayerNorm_plain"),
    Case(lambda nn: nn.GroupNorm(2, 4), normal((2, 4, 5)), "GroupNorm"),
    Case(lambda nn: nn.RMSNorm(4), X, "RMSNorm"),
    Case(lambda nn: nn.LocalResponseNorm(2), PICTURE, "LocalResponseNorm"),
    Case(lambda nn: nn.CrossMapLRN2d(3), PICTURE, "CrossMapLRN2d", grads=0),
    # dropout
    Case(lambda nn: nn.Dropout(0.3), X, "Dropout"),
    Case(lambda nn: nn.Dropout1d(0.3), SIGNAL, "Dropout1d"),
    Case(lambda nn: nn.Dropout2d(0.3), PICTURE, "Dropout2d"),
    Case(lambda nn: nn.Dropout3d(0.3), VOLUME, "Dropout3d"),
    Case(lambda nn: nn.AlphaDropout(0.3), X, "AlphaDropout"),
    Case(lambda nn: nn.FeatureAlphaDropout(0.3), PICTURE, "FeatureAlphaDropout"),
    # embeddings
    Case(lambda nn: nn.Embedding(7, 4), integers(7, 2, 5), "Embedding"),
    Case(lambda nn: nn.Embedding(7, 4, padding_idx=-1, max_norm=1.0), integers(7, 2, 5), "Embedding_max_norm"),
    Case(lambda nn: nn.EmbeddingBag(7, 4), integers(7, 2, 5), "EmbeddingBag"),
    Case(lambda nn: nn.EmbeddingBag(7, 4, mode="sum", padding_idx=0), integers(7, 2, 5), "EmbeddingBag_sum"),
    # recurrent
    Case(lambda nn: nn.RNN(4, 5, 2), normal((6, 3, 4)), "RNN"),
    Case(lambda nn: nn.RNN(4, 5, nonlinearity="relu", batch_first=True), normal((3, 6, 4)), "RNN_relu"),
    Case(lambda nn: nn.LSTM(4, 5), normal((6, 3, 4)), "LSTM"),
    Case(lambda nn: nn.LSTM(4, 5, 2, bidirectional=True, batch_first=True), normal((3, 6, 4)), "LSTM_both_ways"),
    Case(lambda nn: nn.LSTM(4, 5, proj_size=3, bias=False), normal((6, 3, 4)), "LSTM_projected"),
    Case(lambda nn: nn.LSTM(4, 5), normal((6, 4)), "LSTM_unbatched"),
    Case(lambda nn: nn.GRU(4, 5, 2, bidirectional=True), normal((6, 3, 4), (4, 3, 5)), "GRU"),
    Case(lambda nn: nn.RNNCell(4, 5), normal((3, 4), (3, 5)), "RNNCell"),
    Case(lambda nn: nn.RNNCell(4, 5, nonlinearity="relu", bias=False), normal((3, 4)), "RNNCell_relu"),
    Case(lambda nn: nn.LSTMCell(4, 5), normal((3, 4)), "LSTMCell"),
    Case(lambda nn: nn.GRUCell(4, 5), normal((3, 4), (3, 5)), "GRUCell"),
    Case(lambda nn: nn.GRUCell(4, 5), normal((4,), (5,)), "GRUCell_unbatched"),
    # attention
    Case(lambda nn: nn.MultiheadAttention(8, 2), normal((5, 3, 8), (6, 3, 8), (6, 3, 8)), "MultiheadAttention"),
    Case(
        lambda nn: nn.MultiheadAttention(8, 2, kdim=5, vdim=3, batch_first=True, add_bias_kv=True, add_zero_attn=True),
        normal((3, 5, 8), (3, 6, 5), (3, 6, 3)),
        "MultiheadAttention_other_sizes",
    ),
    Case(lambda nn: nn.TransformerEncoderLayer(8, 2, 16), normal((5, 3, 8)), "TransformerEncoderLayer"),
    Case(
        lambda nn: nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", batch_first=True, norm_first=True, bias=False),
        normal((3, 5, 8)),
        "TransformerEncoderLayer_norm_first",
    ),
    Case(lambda nn: nn.TransformerDecoderLayer(8, 2, 16), normal((5, 3, 8), (6, 3, 8)), "TransformerDecoderLayer"),
    Case(
        lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, nn.LayerNorm(8)),
        normal((3, 5, 8)),
        "TransformerEncoder",
    ),
    Case(
        lambda nn: nn.Transformer(8, 2, 1, 2, 16, batch_first=True),
        normal((3, 5, 8), (3, 4, 8)),
        "Transformer",
        tolerance=3e-5,
    ),
    # distances, losses
    Case(lambda nn: nn.PairwiseDistance(), normal((3, 4), (3, 4)), "PairwiseDistance"),
    Case(lambda nn: nn.CosineSimilarity(), normal((3, 4), (3, 4)), "CosineSimilarity"),
    Case(lambda nn: nn.L1Loss(), normal((3, 4), (3, 4)), "L1Loss"),
    Case(lambda nn: nn.MSELoss(reduction="none"), normal((3, 4), (3, 4)), "MSELoss"),
    Case(lambda nn: nn.SmoothL1Loss(beta=0.5), normal((3, 4), (3, 4)), "SmoothL1Loss"),
    Case(lambda nn: nn.HuberLoss(delta=0.5), normal((3, 4), (3, 4)), "HuberLoss"),
    Case(lambda nn: nn.CrossEntropyLoss(), with_classes((3, 4), 4, 3), "CrossEntropyLoss"),
    Case(
        lambda nn: nn.CrossEntropyLoss(label_smoothing=0.1, reduction="sum"),
        with_classes((2, 4, 3), 4, (2, 3)),
        "CrossEntropyLoss_smooth",
    ),
    Case(lambda nn: nn.NLLLoss(), with_classes((3, 4), 4, 3), "NLLLoss"),
    Case(
        lambda nn: nn.PoissonNLLLoss(full=True),
        lambda rng: (rng.standard_normal((3, 4)).astype(np.float32), rng.poisson(2, (3, 4)).astype(np.float32)),
        "PoissonNLLLoss",
    ),
    Case(
        lambda nn: nn.GaussianNLLLoss(full=True),
        lambda rng: (*normal((3, 4), (3, 4))(rng), rng.uniform(0.5, 2, (3, 4)).astype(np.float32)),
        "GaussianNLLLoss",
    ),
    Case(lambda nn: nn.KLDivLoss(reduction="batchmean", log_target=True), normal((3, 4), (3, 4)), "KLDivLoss"),
    Case(
        lambda nn: nn.BCELoss(),
        lambda rng: (rng.uniform(0.1, 0.9, (3, 4)).astype(np.float32), rng.randint(0, 2, (3, 4)).astype(np.float32)),
        "BCELoss",
        grads=1,
    ),
    Case(
        lambda nn: nn.BCEWithLogitsLoss(),
        lambda rng: (rng.standard_normal((3, 4)).astype(np.float32), rng.uniform(0, 1, (3, 4)).astype(np.float32)),
        "BCEWithLogitsLoss",
    ),
    Case(lambda nn: nn.HingeEmbeddingLoss(), with_signs((3, 4)), "HingeEmbeddingLoss"),
    Case(lambda nn: nn.SoftMarginLoss(), with_signs((3, 4)), "SoftMarginLoss", grads=1),
    Case(
        lambda nn: nn.MultiLabelMarginLoss(),
        lambda rng: (*normal((1, 4))(rng), np.array([[3, 0, -1, 1]])),
        "MultiLabelMarginLoss",
    ),
    Case(
        lambda nn: nn.MultiLabelSoftMarginLoss(),
        lambda rng: (*normal((3, 4))(rng), rng.randint(0, 2, (3, 4)).astype(np.float32)),
        "MultiLabelSoftMarginLoss",
    ),
    Case(lambda nn: nn.MultiMarginLoss(), with_classes((3, 4), 4, 3), "MultiMarginLoss"),
    Case(lambda nn: nn.CosineEmbeddingLoss(margin=0.2), with_signs((3, 4), (3, 4)), "CosineEmbeddingLoss"),
    Case(lambda nn: nn.MarginRankingLoss(0.3), with_signs((5,), (5,)), "MarginRankingLoss"),
    Case(lambda nn: nn.TripletMarginLoss(swap=True), normal((3, 4), (3, 4), (3, 4)), "TripletMarginLoss"),
    Case(
        lambda nn: nn.TripletMarginWithDistanceLoss(margin=0.7),
        normal((3, 4), (3, 4), (3, 4)),
        "TripletMarginWithDistanceLoss",
    ),
    Case(
        lambda nn: nn.CTCLoss(),
        lambda rng: (*normal((6, 2, 5))(rng), rng.randint(1, 5, (2, 3)), np.array([6, 5]), np.array([3, 2])),
        "CTCLoss",
    ),
    Case(
        lambda nn: nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 12], div_value=2.0),
        with_classes((9, 8), 20, 9),
        "AdaptiveLogSoftmaxWithLoss",
    ),
    # lazy
    Case(lambda nn: nn.LazyLinear(3), X, "LazyLinear"),
    Case(lambda nn: nn.LazyConv2d(4, 3, 2, bias=False), PICTURE, "LazyConv2d"),
    Case(lambda nn: nn.LazyConvTranspose1d(4, 3), SIGNAL, "LazyConvTranspose1d"),
    Case(lambda nn: nn.LazyBatchNorm2d(), PICTURE, "LazyBatchNorm2d"),
    Case(lambda nn: nn.LazyInstanceNorm1d(affine=True), SIGNAL, "LazyInstanceNorm1d"),
]

CASES = {**ACTIVATIONS, **{case.name: case for case in _LIST}}
