"""Array libraries: what one must offer so that tensors can hold its arrays."""
