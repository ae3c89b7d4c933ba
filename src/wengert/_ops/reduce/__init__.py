"""Operators along dims: sums, extrema, scans, sorts."""
