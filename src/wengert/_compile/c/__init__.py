"""Programs as C: fused loops, compiled by the compiler of this machine and called through ``ctypes``."""
