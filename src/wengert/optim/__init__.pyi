# Made by tools/make_stubs.py; do not edit.
from ..optim import adadelta as adadelta, adafactor as adafactor, adagrad as adagrad, adam as adam, adamax as adamax, adamw as adamw, asgd as asgd, lbfgs as lbfgs, lr_scheduler as lr_scheduler, muon as muon, nadam as nadam, optimizer as optimizer, radam as radam, rmsprop as rmsprop, rprop as rprop, sgd as sgd, sparse_adam as sparse_adam, swa_utils as swa_utils
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
