"""Declarations of operators, the functions made from them, the slow path, and ``out=``."""
