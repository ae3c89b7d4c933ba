# Made by tools/make_stubs.py; do not edit.
from ..nn import attention as attention
from ..nn import functional as functional
from ..nn import init as init
from ..nn import modules as modules
from ..nn import parallel as parallel
from ..nn import parameter as parameter
from ..nn import utils as utils
from ..nn.modules.activation import CELU as CELU
from ..nn.modules.activation import ELU as ELU
from ..nn.modules.activation import GELU as GELU
from ..nn.modules.activation import GLU as GLU
from ..nn.modules.activation import Hardshrink as Hardshrink
from ..nn.modules.activation import Hardsigmoid as Hardsigmoid
from ..nn.modules.activation import Hardswish as Hardswish
from ..nn.modules.activation import Hardtanh as Hardtanh
from ..nn.modules.activation import LeakyReLU as LeakyReLU
from ..nn.modules.activation import LogSigmoid as LogSigmoid
from ..nn.modules.activation import LogSoftmax as LogSoftmax
from ..nn.modules.activation import Mish as Mish
from ..nn.modules.activation import PReLU as PReLU
from ..nn.modules.activation import RReLU as RReLU
from ..nn.modules.activation import ReLU as ReLU
from ..nn.modules.activation import ReLU6 as ReLU6
from ..nn.modules.activation import SELU as SELU
from ..nn.modules.activation import SiLU as SiLU
from ..nn.modules.activation import Sigmoid as Sigmoid
from ..nn.modules.activation import Softmax as Softmax
from ..nn.modules.activation import Softmax2d as Softmax2d
from ..nn.modules.activation import Softmin as Softmin
from ..nn.modules.activation import Softplus as Softplus
from ..nn.modules.activation import Softshrink as Softshrink
from ..nn.modules.activation import Softsign as Softsign
from ..nn.modules.activation import Tanh as Tanh
from ..nn.modules.activation import Tanhshrink as Tanhshrink
from ..nn.modules.activation import Threshold as Threshold
from ..nn.modules.adaptive import AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss
from ..nn.modules.attention import MultiheadAttention as MultiheadAttention
from ..nn.modules.batchnorm import BatchNorm1d as BatchNorm1d
from ..nn.modules.batchnorm import BatchNorm2d as BatchNorm2d
from ..nn.modules.batchnorm import BatchNorm3d as BatchNorm3d
from ..nn.modules.batchnorm import LazyBatchNorm1d as LazyBatchNorm1d
from ..nn.modules.batchnorm import LazyBatchNorm2d as LazyBatchNorm2d
from ..nn.modules.batchnorm import LazyBatchNorm3d as LazyBatchNorm3d
from ..nn.modules.batchnorm import SyncBatchNorm as SyncBatchNorm
from ..nn.modules.channelshuffle import ChannelShuffle as ChannelShuffle
from ..nn.modules.container import Container as Container
from ..nn.modules.container import ModuleDict as ModuleDict
from ..nn.modules.container import ModuleList as ModuleList
from ..nn.modules.container import ParameterDict as ParameterDict
from ..nn.modules.container import ParameterList as ParameterList
from ..nn.modules.container import Sequential as Sequential
from ..nn.modules.conv import Conv1d as Conv1d
from ..nn.modules.conv import Conv2d as Conv2d
from ..nn.modules.conv import Conv3d as Conv3d
from ..nn.modules.conv import ConvTranspose1d as ConvTranspose1d
from ..nn.modules.conv import ConvTranspose2d as ConvTranspose2d
from ..nn.modules.conv import ConvTranspose3d as ConvTranspose3d
from ..nn.modules.conv import LazyConv1d as LazyConv1d
from ..nn.modules.conv import LazyConv2d as LazyConv2d
from ..nn.modules.conv import LazyConv3d as LazyConv3d
from ..nn.modules.conv import LazyConvTranspose1d as LazyConvTranspose1d
from ..nn.modules.conv import LazyConvTranspose2d as LazyConvTranspose2d
from ..nn.modules.conv import LazyConvTranspose3d as LazyConvTranspose3d
from ..nn.modules.distance import CosineSimilarity as CosineSimilarity
from ..nn.modules.distance import PairwiseDistance as PairwiseDistance
from ..nn.modules.dropout import AlphaDropout as AlphaDropout
from ..nn.modules.dropout import Dropout as Dropout
from ..nn.modules.dropout import Dropout1d as Dropout1d
from ..nn.modules.dropout import Dropout2d as Dropout2d
from ..nn.modules.dropout import Dropout3d as Dropout3d
from ..nn.modules.dropout import FeatureAlphaDropout as FeatureAlphaDropout
from ..nn.modules.flatten import Flatten as Flatten
from ..nn.modules.flatten import Unflatten as Unflatten
from ..nn.modules.fold import Fold as Fold
from ..nn.modules.fold import Unfold as Unfold
from ..nn.modules.instancenorm import InstanceNorm1d as InstanceNorm1d
from ..nn.modules.instancenorm import InstanceNorm2d as InstanceNorm2d
from ..nn.modules.instancenorm import InstanceNorm3d as InstanceNorm3d
from ..nn.modules.instancenorm import LazyInstanceNorm1d as LazyInstanceNorm1d
from ..nn.modules.instancenorm import LazyInstanceNorm2d as LazyInstanceNorm2d
from ..nn.modules.instancenorm import LazyInstanceNorm3d as LazyInstanceNorm3d
from ..nn.modules.linear import Bilinear as Bilinear
from ..nn.modules.linear import Identity as Identity
from ..nn.modules.linear import LazyLinear as LazyLinear
from ..nn.modules.linear import Linear as Linear
from ..nn.modules.linear_cross_entropy import LinearCrossEntropyLoss as LinearCrossEntropyLoss
from ..nn.modules.linear_cross_entropy import LinearCrossEntropyOptions as LinearCrossEntropyOptions
from ..nn.modules.loss import BCELoss as BCELoss
from ..nn.modules.loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from ..nn.modules.loss import CTCLoss as CTCLoss
from ..nn.modules.loss import CosineEmbeddingLoss as CosineEmbeddingLoss
from ..nn.modules.loss import CrossEntropyLoss as CrossEntropyLoss
from ..nn.modules.loss import GaussianNLLLoss as GaussianNLLLoss
from ..nn.modules.loss import HingeEmbeddingLoss as HingeEmbeddingLoss
from ..nn.modules.loss import HuberLoss as HuberLoss
from ..nn.modules.loss import KLDivLoss as KLDivLoss
from ..nn.modules.loss import L1Loss as L1Loss
from ..nn.modules.loss import MSELoss as MSELoss
from ..nn.modules.loss import MarginRankingLoss as MarginRankingLoss
from ..nn.modules.loss import MultiLabelMarginLoss as MultiLabelMarginLoss
from ..nn.modules.loss import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from ..nn.modules.loss import MultiMarginLoss as MultiMarginLoss
from ..nn.modules.loss import NLLLoss as NLLLoss
from ..nn.modules.loss import NLLLoss2d as NLLLoss2d
from ..nn.modules.loss import PoissonNLLLoss as PoissonNLLLoss
from ..nn.modules.loss import SmoothL1Loss as SmoothL1Loss
from ..nn.modules.loss import SoftMarginLoss as SoftMarginLoss
from ..nn.modules.loss import TripletMarginLoss as TripletMarginLoss
from ..nn.modules.loss import TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss
from ..nn.modules.module import Module as Module
from ..nn.modules.normalization import CrossMapLRN2d as CrossMapLRN2d
from ..nn.modules.normalization import GroupNorm as GroupNorm
from ..nn.modules.normalization import LayerNorm as LayerNorm
from ..nn.modules.normalization import LocalResponseNorm as LocalResponseNorm
from ..nn.modules.normalization import RMSNorm as RMSNorm
from ..nn.modules.padding import CircularPad1d as CircularPad1d
from ..nn.modules.padding import CircularPad2d as CircularPad2d
from ..nn.modules.padding import CircularPad3d as CircularPad3d
from ..nn.modules.padding import ConstantPad1d as ConstantPad1d
from ..nn.modules.padding import ConstantPad2d as ConstantPad2d
from ..nn.modules.padding import ConstantPad3d as ConstantPad3d
from ..nn.modules.padding import ReflectionPad1d as ReflectionPad1d
from ..nn.modules.padding import ReflectionPad2d as ReflectionPad2d
from ..nn.modules.padding import ReflectionPad3d as ReflectionPad3d
from ..nn.modules.padding import ReplicationPad1d as ReplicationPad1d
from ..nn.modules.padding import ReplicationPad2d as ReplicationPad2d
from ..nn.modules.padding import ReplicationPad3d as ReplicationPad3d
from ..nn.modules.padding import ZeroPad1d as ZeroPad1d
from ..nn.modules.padding import ZeroPad2d as ZeroPad2d
from ..nn.modules.padding import ZeroPad3d as ZeroPad3d
from ..nn.modules.pixelshuffle import PixelShuffle as PixelShuffle
from ..nn.modules.pixelshuffle import PixelUnshuffle as PixelUnshuffle
from ..nn.modules.pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from ..nn.modules.pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from ..nn.modules.pooling import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from ..nn.modules.pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from ..nn.modules.pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from ..nn.modules.pooling import AdaptiveMaxPool3d as AdaptiveMaxPool3d
from ..nn.modules.pooling import AvgPool1d as AvgPool1d
from ..nn.modules.pooling import AvgPool2d as AvgPool2d
from ..nn.modules.pooling import AvgPool3d as AvgPool3d
from ..nn.modules.pooling import FractionalMaxPool2d as FractionalMaxPool2d
from ..nn.modules.pooling import FractionalMaxPool3d as FractionalMaxPool3d
from ..nn.modules.pooling import LPPool1d as LPPool1d
from ..nn.modules.pooling import LPPool2d as LPPool2d
from ..nn.modules.pooling import LPPool3d as LPPool3d
from ..nn.modules.pooling import MaxPool1d as MaxPool1d
from ..nn.modules.pooling import MaxPool2d as MaxPool2d
from ..nn.modules.pooling import MaxPool3d as MaxPool3d
from ..nn.modules.pooling import MaxUnpool1d as MaxUnpool1d
from ..nn.modules.pooling import MaxUnpool2d as MaxUnpool2d
from ..nn.modules.pooling import MaxUnpool3d as MaxUnpool3d
from ..nn.modules.rnn import GRU as GRU
from ..nn.modules.rnn import GRUCell as GRUCell
from ..nn.modules.rnn import LSTM as LSTM
from ..nn.modules.rnn import LSTMCell as LSTMCell
from ..nn.modules.rnn import RNN as RNN
from ..nn.modules.rnn import RNNBase as RNNBase
from ..nn.modules.rnn import RNNCell as RNNCell
from ..nn.modules.rnn import RNNCellBase as RNNCellBase
from ..nn.modules.sparse import Embedding as Embedding
from ..nn.modules.sparse import EmbeddingBag as EmbeddingBag
from ..nn.modules.transformer import Transformer as Transformer
from ..nn.modules.transformer import TransformerDecoder as TransformerDecoder
from ..nn.modules.transformer import TransformerDecoderLayer as TransformerDecoderLayer
from ..nn.modules.transformer import TransformerEncoder as TransformerEncoder
from ..nn.modules.transformer import TransformerEncoderLayer as TransformerEncoderLayer
from ..nn.modules.upsampling import Upsample as Upsample
from ..nn.modules.upsampling import UpsamplingBilinear2d as UpsamplingBilinear2d
from ..nn.modules.upsampling import UpsamplingNearest2d as UpsamplingNearest2d
from ..nn.parallel.data_parallel import DataParallel as DataParallel
from ..nn.parameter import Buffer as Buffer
from ..nn.parameter import Parameter as Parameter
from ..nn.parameter import UninitializedBuffer as UninitializedBuffer
from ..nn.parameter import UninitializedParameter as UninitializedParameter

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveLogSoftmaxWithLoss",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AlphaDropout",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "Buffer",
    "CELU",
    "CTCLoss",
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Container",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "CrossMapLRN2d",
    "DataParallel",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "ELU",
    "Embedding",
    "EmbeddingBag",
    "FeatureAlphaDropout",
    "Flatten",
    "Fold",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "GELU",
    "GLU",
    "GRU",
    "GRUCell",
    "GaussianNLLLoss",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "Identity",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "KLDivLoss",
    "L1Loss",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "LSTM",
    "LSTMCell",
    "LayerNorm",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
    "LeakyReLU",
    "Linear",
    "LinearCrossEntropyLoss",
    "LinearCrossEntropyOptions",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "MultiheadAttention",
    "NLLLoss",
    "NLLLoss2d",
    "PReLU",
    "PairwiseDistance",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "PixelShuffle",
    "PixelUnshuffle",
    "PoissonNLLLoss",
    "RMSNorm",
    "RNN",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
    "RReLU",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "SELU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "SyncBatchNorm",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "Unflatten",
    "Unfold",
    "UninitializedBuffer",
    "UninitializedParameter",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "attention",
    "functional",
    "init",
    "modules",
    "parallel",
    "parameter",
    "utils",
]
