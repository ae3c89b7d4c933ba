"""Conversion of objects to files and back: the parts of ``serialization`` and ``safetensors``.

The contents of a file are not trusted: a size is compared with the rest of the file before memory is allocated.
"""
