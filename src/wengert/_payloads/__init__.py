"""What a tensor may hold besides an array: duals, batches, arrays without data, sparse arrays, bfloat16."""
