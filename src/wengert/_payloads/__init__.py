"""Payloads other than plain arrays: duals, batches, arrays without data, sparse arrays, bfloat16."""
