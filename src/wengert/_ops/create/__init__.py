"""Operators that create tensors, and conversions between dtypes."""
