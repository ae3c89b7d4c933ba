# Made by tools/make_stubs.py; do not edit.
from __future__ import annotations
