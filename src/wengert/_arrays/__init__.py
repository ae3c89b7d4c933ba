"""NumPy only: what NumPy lacks or is slow at, threads, fused bodies, convolution, random streams. Knows no tensor."""
