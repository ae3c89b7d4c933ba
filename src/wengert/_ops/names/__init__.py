"""Operators under PyTorch's private, positional and symbolic names, and operators on sparse tensors."""
