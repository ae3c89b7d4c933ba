"""The command line, `python -m wengert`: one module per sub-command, imported when it is called.

`tour` shows what the library does, `run` runs a program written for PyTorch, `info` describes the installation,
`show` prints how an operator is made, `explain` a page about an error, or why a program fails; `progress` draws the bar
of the tour, whose pictures are `wengert.explain.svg`'s. The arguments are read in `wengert.__main__`.
"""


class UsageError(Exception):
    """A mistake of the user, such as a folder that cannot be written. It is shown as one line, with exit code 2."""
