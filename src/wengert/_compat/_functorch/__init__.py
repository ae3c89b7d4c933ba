"""``torch._functorch``, where programs find ``torch.func``'s functions by their private place."""

from wengert._compat import open_rows

open_rows(globals())
