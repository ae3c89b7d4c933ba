"""The version, in its only place: hatchling reads this file when it builds, `torch_version` when it runs."""

__version__ = "0.1.0"
