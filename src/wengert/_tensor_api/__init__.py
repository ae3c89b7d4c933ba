"""The Python side of a tensor: construction, printing, protocols, storage, public names, overrides."""
