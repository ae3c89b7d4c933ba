# Made by tools/make_stubs.py; do not edit.
from ...utils.serialization import config as config
