# Made by tools/make_stubs.py; do not edit.
from typing import Any
load: Any
save: Any
