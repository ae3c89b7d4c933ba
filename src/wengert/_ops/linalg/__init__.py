"""Products, decompositions, matrix functions."""
