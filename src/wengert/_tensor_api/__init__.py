"""What a tensor is to Python and NumPy: making, printing, protocols, storage, public names, overrides."""
