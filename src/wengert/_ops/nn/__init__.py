"""Layers, activations and losses."""
