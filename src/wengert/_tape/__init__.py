"""Tensor, Node, saved values, views, writes in place, the backward pass. Operators are known here by name only."""
