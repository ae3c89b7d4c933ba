"""Operators that reduce, scan or sort along dims."""
