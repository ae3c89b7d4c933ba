"""Tensor, Node, saved values, views, writes in place, the backward pass. Knows operators by name only."""
