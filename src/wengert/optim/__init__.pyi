# Made by tools/make_stubs.py; do not edit.
from ..optim import adadelta as adadelta
from ..optim import adafactor as adafactor
from ..optim import adagrad as adagrad
from ..optim import adam as adam
from ..optim import adamax as adamax
from ..optim import adamw as adamw
from ..optim import asgd as asgd
from ..optim import lbfgs as lbfgs
from ..optim import lr_scheduler as lr_scheduler
from ..optim import muon as muon
from ..optim import nadam as nadam
from ..optim import optimizer as optimizer
from ..optim import radam as radam
from ..optim import rmsprop as rmsprop
from ..optim import rprop as rprop
from ..optim import sgd as sgd
from ..optim import sparse_adam as sparse_adam
from ..optim import swa_utils as swa_utils
from ..optim.adadelta import Adadelta as Adadelta
from ..optim.adafactor import Adafactor as Adafactor
from ..optim.adagrad import Adagrad as Adagrad
from ..optim.adam import Adam as Adam
from ..optim.adamax import Adamax as Adamax
from ..optim.adamw import AdamW as AdamW
from ..optim.asgd import ASGD as ASGD
from ..optim.lbfgs import LBFGS as LBFGS
from ..optim.muon import Muon as Muon
from ..optim.nadam import NAdam as NAdam
from ..optim.optimizer import Optimizer as Optimizer
from ..optim.radam import RAdam as RAdam
from ..optim.rmsprop import RMSprop as RMSprop
from ..optim.rprop import Rprop as Rprop
from ..optim.sgd import SGD as SGD
from ..optim.sparse_adam import SparseAdam as SparseAdam

__all__ = [
    "ASGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGS",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "SparseAdam",
    "adadelta",
    "adafactor",
    "adagrad",
    "adam",
    "adamax",
    "adamw",
    "asgd",
    "lbfgs",
    "lr_scheduler",
    "muon",
    "nadam",
    "optimizer",
    "radam",
    "rmsprop",
    "rprop",
    "sgd",
    "sparse_adam",
    "swa_utils",
]
