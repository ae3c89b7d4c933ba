"""Convolution on arrays: its three products and the columns and rows that they work on."""
