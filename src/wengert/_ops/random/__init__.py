"""Draws from the random stream."""
