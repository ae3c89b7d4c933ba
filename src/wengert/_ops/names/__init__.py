"""PyTorch's other names of operators that are declared elsewhere."""
