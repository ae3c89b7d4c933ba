"""The version of wengert, for hatchling at build time and `torch_version` at run time."""

__version__ = "0.1.0"
