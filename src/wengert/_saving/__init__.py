"""Conversion of objects to files and back: the parts of ``serialization`` and ``safetensors``.

``records``     the zip file of a checkpoint, read and written
``replacing``   a file that is replaced as a whole or not at all
``reading``     a checkpoint's storages, read or mapped when its pickle names them
``storages``    storages of a file, and tensors on them, checked against what the file holds
``pickling``    tensors as pickle writes them, and classes under PyTorch's names
``admitted``    what a checkpoint may name and call
``unpickling``  the unpickler that runs no code, and the classes behind PyTorch's names
``places``      ``map_location``
``legacy``      the formats before PyTorch 1.6

The contents of a file are not trusted: a size is compared with the rest of the file before memory is allocated.
"""
