"""New tensors, and tensors of other dtypes."""
