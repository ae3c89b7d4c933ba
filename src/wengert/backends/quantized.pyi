# Made by tools/make_stubs.py; do not edit.
from builtins import list as _list, str as _str
engine: _str
supported_engines: _list
