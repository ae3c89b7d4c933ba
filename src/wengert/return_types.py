"""``torch.return_types``: the classes of the named tuples that functions of several results return.

>>> import wengert as torch
>>> isinstance(torch.tensor([3., 1.]).sort(), torch.return_types.sort)
True
"""

from ._base.late_names import import_all
from ._kinds.return_types import ReturnType, type_of_outs

import_all.run()  # operators' modules make them
for _each in ReturnType.__subclasses__():  # all that have ``out=``, whether a program has used it or not
    if not _each.__name__.endswith(("_out", "histogramdd")):
        type_of_outs(_each)
all_return_types = sorted(ReturnType.__subclasses__(), key=lambda each: each.__name__)
globals().update({each.__name__: each for each in all_return_types})

__all__ = ["all_return_types", *(each.__name__ for each in all_return_types)]  # noqa: PLE0604
