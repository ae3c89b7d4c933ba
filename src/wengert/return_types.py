"""``torch.return_types``: the classes of the named tuples that functions of several results return.

>>> import wengert as torch
>>> isinstance(torch.tensor([3., 1.]).sort(), torch.return_types.sort)
True
"""

from ._base.late_names import import_all
from ._kinds import return_types

import_all.run()  # operators' modules make them
all_return_types = [
    value
    for value in vars(return_types).values()
    if isinstance(value, type) and issubclass(value, return_types.ReturnType) and value is not return_types.ReturnType
]
globals().update({each.__name__: each for each in all_return_types})

__all__ = ["all_return_types", *(each.__name__ for each in all_return_types)]  # noqa: PLE0604
